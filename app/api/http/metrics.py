"""The metrics of `/metrics`, in Prometheus' text format.

Events of this process are counted as they happen; jobs, sweeps and the queue, which workers share, are read from the
database when metrics are scraped. Labels are operations, kinds, states and codes of failures: their values are bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.services.plans.pipeline import PlanOutcome
from app.slots.admission import Occupancy
from app.store.activity import Activity

disable_created_metrics()  # type: ignore[no-untyped-call] # it has no annotations; a line a series that nothing reads

# Six buckets, and no status: every operation has such a histogram, and a scrape all of them.
_REQUEST_SECONDS = Histogram(
    "rackplan_request_seconds",
    "Seconds that requests took, by operation.",
    ("method", "route"),
    buckets=(0.01, 0.05, 0.25, 1, 10),
)
_REQUESTS = Counter("rackplan_requests", "Requests, by operation and status.", ("method", "route", "status"))
_PLANS = Counter(
    "rackplan_plans",
    "Attempts of this process to make a plan, by kind and outcome (ok or a code).",
    ("kind", "outcome"),
)
_SOLVER_SECONDS = Histogram(
    "rackplan_solver_seconds",
    "Seconds in the solver for plans of this process, by kind.",
    ("kind",),
    buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120),
)
_DATABASE_UP = Gauge("rackplan_database_up", "1 if the jobs, sweeps and queue could be read for this scrape, else 0.")


_SLOTS = Gauge("rackplan_slots", "Requests that are served at the same time at most, by lane.", ("lane",))
_OCCUPIED_SLOTS = Gauge("rackplan_occupied_slots", "Requests that are being served, by lane.", ("lane",))
_EXPECTED_WAIT = Gauge("rackplan_expected_wait_seconds", "Expected wait of another request, by lane.", ("lane",))
_WAITING_REQUESTS = Gauge("rackplan_waiting_requests", "Requests that wait for a slot, by lane.", ("lane",))
_STOPPED_SLOTS = Counter(
    "rackplan_stopped_slots",
    "Processes of slots that ended before their request was answered, by reason: deadline, memory, crash or client.",
    ("reason",),
)
for _reason in ("deadline", "memory", "crash", "client"):  # a series that appears with its first event has no increase
    _STOPPED_SLOTS.labels(_reason)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request that was answered, and measure it."""
    _REQUEST_SECONDS.labels(method, route).observe(seconds)
    _REQUESTS.labels(method, route, status).inc()


def count_plan(outcome: PlanOutcome) -> None:
    """Count one attempt to make a plan."""
    _PLANS.labels(outcome.kind, outcome.code).inc()
    if outcome.solver_seconds is not None:
        _SOLVER_SECONDS.labels(outcome.kind).observe(outcome.solver_seconds)


def count_stopped_slot(reason: str) -> None:
    """Count a process of a slot that was stopped, or has ended, before its request was answered."""
    _STOPPED_SLOTS.labels(reason).inc()


def exposition(activity: Activity | None, lanes: Mapping[str, Occupancy], *, dropped_log_lines: int) -> bytes:
    """All metrics as text.

    Parameters
    ----------
    lanes : slots and queues of this process by the kind of work.
    activity : counts from the database; None if it could not be read, for which `rackplan_database_up` is 0 and the
        metrics of jobs, sweeps and the queue are absent.
    dropped_log_lines : lines of the log of this process that were dropped.
    """
    _DATABASE_UP.set(activity is not None)
    for lane, occupancy in lanes.items():
        _SLOTS.labels(lane).set(occupancy.slots)
        _OCCUPIED_SLOTS.labels(lane).set(occupancy.occupied)
        _WAITING_REQUESTS.labels(lane).set(occupancy.queued)
        _EXPECTED_WAIT.labels(lane).set(occupancy.expected_wait_s)
    # A registry of its own: these are values of one scrape, and no other scrape sees them.
    of_scrape = CollectorRegistry()
    of_scrape.register(_Scraped([_dropped(dropped_log_lines), *([] if activity is None else _of_activity(activity))]))
    return generate_latest() + generate_latest(of_scrape)


class _Scraped(Collector):
    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def _dropped(lines: int) -> Metric:
    text = "Lines of the log of this process that were dropped because the reader of the log was too slow."
    return CounterMetricFamily("rackplan_dropped_log_lines", text, value=lines)


def _of_activity(activity: Activity) -> list[Metric]:
    """Metrics of values by a label or several, in this order."""
    queued = {task: due.tasks for task, due in activity.queue.items()}
    ages = {task: due.oldest_s for task, due in activity.queue.items()}
    by_state = ("kind", "state", "code")
    rows: Sequence[tuple[str, str, Sequence[str], Mapping[Any, float]]] = (
        ("jobs", "Jobs by kind, state and code of the failure.", by_state, activity.jobs),
        ("sweeps", "Sweeps by kind, state and code of the failure.", by_state, activity.sweeps),
        ("webhook_deliveries", "Stored deliveries to webhooks, by state.", ("state",), activity.deliveries),
        (
            "scenarios_per_second",
            "Scenarios scored per second in the last minute, by kind.",
            ("kind",),
            activity.scenarios_per_s,
        ),
        ("queue_length", "Tasks on the queue that are due and no worker runs, by task.", ("task",), queued),
        ("queue_oldest_seconds", "Seconds that the oldest of these tasks has been due.", ("task",), ages),
    )
    metrics: list[Metric] = []
    for name, text, labels, values in rows:
        family = GaugeMetricFamily(f"rackplan_{name}", text, labels=labels)
        for stated, value in values.items():
            family.add_metric([stated] if isinstance(stated, str) else stated, value)
        metrics.append(family)
    return metrics
