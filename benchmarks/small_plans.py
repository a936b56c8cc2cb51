"""A thousand partitions over HTTP, planned and stored, beside the same INSERT by the same server without planning."""

from collections.abc import Callable, Iterator
from functools import partial
from math import isclose

from benchmarks import baseline, service
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.request import PLANS, TopicRequest
from benchmarks.service import Service

PARTITIONS = 1_000
TARGET_RATIO = 1.5
WARM_UPS = 10
RUNS = {
    TopicRequest("admin_utils", "even", 42, PARTITIONS): 200,
    TopicRequest("striped", "even", 42, PARTITIONS): 200,
    TopicRequest("admin_utils", "even", None, PARTITIONS): 100,
    TopicRequest("striped", "even", None, PARTITIONS): 100,
    # Where racks are uneven the outcomes are too many to enumerate, and its envelope has to be sampled.
    TopicRequest("striped", "uneven", None, PARTITIONS): 30,
}


def run() -> Iterator[Result]:
    """Each algorithm with a seed and without one, in threads: the slots' application has no baseline."""
    with service.running(RACKPLAN_SOLVER_PROCESSES="0") as running:
        for request, runs in RUNS.items():
            yield _measured(running, request, runs=runs)


def _measured(running: Service, request: TopicRequest, *, runs: int) -> Result:
    kept_before = running.kept_plans()
    calls: dict[str, Callable[[], object]] = {
        path: partial(request.post, running.client, path) for path in (PLANS, baseline.PATH)
    }
    planned, prepared = (len(request.post(running.client, path)) for path in calls)
    # A seed that is derived from the request differs with the label, and so do some counts.
    assert isclose(planned, prepared, rel_tol=0.01), "the baseline answers something else"
    times = interleaved(calls, runs=runs, warm_ups=WARM_UPS)
    assert running.kept_plans() - kept_before == 2 * (1 + WARM_UPS + runs), "not every request was stored"
    return Result(
        name="POST /v1/plans/replicas",
        parameters=request.parameters,
        times=times[PLANS],
        floor=Floor("the same server doing the same INSERT without planning", times[baseline.PATH]),
        is_in_process=False,
        target_ratio=TARGET_RATIO,
        facts={"answer_bytes": planned},
    )
