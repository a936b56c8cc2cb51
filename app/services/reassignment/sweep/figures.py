"""The figures of a scenario: movement of its reassignment, and the brokers' balance before and after it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.core.measures.placement import measure
from app.core.model import NO_RACK, NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.plan import Moves, Plan
from app.core.reassignment.resource_problem import NO_CAPACITY, NO_LIMIT, RESOURCES
from app.core.replica_lists import distinct_values, per_broker
from app.errors import Json
from app.services.fields import min_isr_of
from app.services.plans import as_json
from app.services.reassignment.problem.problem import ReassignmentProblem, tally_of
from app.services.reassignment.problem.resources import in_unit
from app.services.reassignment.reports.report import certificate_of
from app.services.reassignment.requests.parts import RESOURCES as OF_CAPACITY
from app.services.reassignment.solve import relaxed_by

NUMBERS = (
    "brokers",
    "moved_replicas",
    "moved_bytes",
    "lower_bound_bytes",
    "gap",
    "smallest_before",
    "largest_before",
    "spread_before",
    "smallest_after",
    "largest_after",
    "spread_after",
    "largest_bytes_before",
    "largest_bytes_after",
    "short_of_racks",
    *(f"{name}_utilisation" for name in OF_CAPACITY),
    "topic_excess",
    "offline_after_rack_loss",
    "unwritable_after_rack_loss",
    "unwritable_after_broker_loss",
    "unwritable_during_restart",
    "replica_sets",
    "loss_probability",
)
"""The numbers among the figures of a scenario.

`brokers` counts those that may receive replicas after the change; the smallest and largest count, its spread and the
largest bytes are over them, and before the change over brokers that may receive replicas now. `lower_bound_bytes` is a
lower bound on the moved bytes within the constraints; `gap` is the relative optimality gap of the minimised bytes
or replicas. `short_of_racks` counts partitions in fewer racks than their replicas could span before the change; None if
racks are not constrained. The utilisation of a resource is the largest share of its capacity that any broker needs
after the change; None if the loads or the capacities are unknown. `topic_excess` counts the replicas outside the bands
of their topics; None if topics are not balanced. Losses are by the worst rack or broker, and None if they depend
on `min.insync.replicas` that are unknown; `loss_probability` is the probability that three lost brokers lose data.
"""


def figures_of(problem: ReassignmentProblem, found: Plan, *, receives_now: Bools) -> Mapping[str, Json]:
    """All figures of a scenario, and the constraints that could not hold.

    Parameters
    ----------
    receives_now : (brokers,) bool, brokers that may receive replicas before the change.
    """
    after, brokers = found.leaders.after, problem.brokers
    certificate, relaxed = certificate_of(problem, found, Moves.of(problem, after)), relaxed_by(problem, found)
    of_movement = ("moved_replicas", "moved_bytes", "lower_bound_bytes", "optimal", "gap")
    loads = problem.resources.broker_loads(after)
    return {
        "brokers": int(np.count_nonzero(brokers.may_receive)),
        **{name: getattr(certificate, name) for name in of_movement},
        **_balance(problem, problem.before, receives_now, "before"),
        **_balance(problem, after, brokers.may_receive, "after"),
        "feasible": not relaxed,
        "relaxed": as_json(relaxed),
        "violated_limits": _violated(problem, loads),
        **{f"{name}_utilisation": _utilisation(problem, loads, name) for name in OF_CAPACITY},
        "topic_excess": found.placement.topic_excess,
        "short_of_racks": _short_of_racks(problem, after),
        **_losses(problem, after),
    }


def _losses(problem: ReassignmentProblem, after: Int32s) -> dict[str, Json]:
    """The worst losses of racks and brokers, and the replica sets."""
    measures = measure(tally_of(problem, problem.as_ids(after)), min_isr_of(problem.scope.described))
    losses, sets = measures.losses, measures.copysets
    if losses is None or sets is None:
        raise RuntimeError("losses are measured with what is known of min.insync.replicas")
    return {
        "offline_after_rack_loss": losses.worst("racks", "offline"),
        "unwritable_after_rack_loss": losses.worst("racks", "unwritable"),
        "unwritable_after_broker_loss": losses.worst("brokers", "unwritable"),
        "unwritable_during_restart": losses.share_during_restart,
        "replica_sets": sets.sets,
        "loss_probability": sets.loss_probability[3],
    }


def _balance(problem: ReassignmentProblem, replicas: Int32s, is_counted: Bools, when: str) -> dict[str, Json]:
    """The smallest and largest count, the spread and the largest bytes over some brokers; None if there are none."""
    sizes, brokers = problem.sizes, len(is_counted)
    counts = (problem.movement.base + per_broker(replicas, brokers))[is_counted]
    stored = (sizes.others.per_broker(sizes.of_others) + per_broker(replicas, brokers, sizes.size_bytes))[is_counted]
    figures = (counts.min(), counts.max(), np.ptp(counts), stored.max()) if len(counts) else (None,) * 4
    names = ("smallest", "largest", "spread", "largest_bytes")
    return {
        f"{name}_{when}": None if figure is None else int(figure) for name, figure in zip(names, figures, strict=True)
    }


def _short_of_racks(problem: ReassignmentProblem, replicas: Int32s) -> int | None:
    racks = len(problem.brokers.racks)
    if not racks:
        return None
    rack = np.append(problem.brokers.rack_of, np.int32(NO_RACK))[replicas]
    spanned = distinct_values(np.where((replicas != NO_REPLICA) & (rack < racks), rack, NO_RACK))
    return int(np.count_nonzero(spanned < np.minimum(problem.movement.factors, racks)))


def _violated(problem: ReassignmentProblem, loads: Int64s) -> list[Mapping[str, Any]]:
    """By resource whose limit is exceeded: how many brokers are above theirs, and the one farthest above."""
    violated, limits = list[Mapping[str, Any]](), problem.limits
    for column, name in enumerate(RESOURCES):
        upper = limits.upper[:, column]
        above = np.where((upper < NO_LIMIT) & ~problem.brokers.is_removed, np.maximum(loads[:, column] - upper, 0), 0)
        if above.any():
            worst = int(above.argmax())
            violated.append(
                {
                    "resource": name,
                    "brokers": int(np.count_nonzero(above)),
                    "broker": int(problem.brokers.ids[worst]),
                    "value": in_unit(int(loads[worst, column]), column),
                    "limit": in_unit(int(upper[worst]), column),
                    "soft": bool(limits.is_soft[column]),
                }
            )
    return violated


def _utilisation(problem: ReassignmentProblem, loads: Int64s, name: str) -> float | None:
    column, resources = RESOURCES.index(name), problem.resources
    capacity = resources.capacity[:, column]
    counted = ~problem.brokers.is_removed & (capacity > NO_CAPACITY)
    if name not in resources.names or not counted.any():
        return None
    return round(float((loads[counted, column] / capacity[counted]).max()), 6)
