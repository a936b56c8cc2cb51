"""Sweeps over reassignments of one cluster: each change of brokers as a problem, its solution, and its figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_RACK, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.places import cheapest, movement_costs
from app.core.reassignment.counts.weighted import shares_of_weights
from app.core.reassignment.domains import NoLegalPlacement as NoDomain
from app.core.reassignment.domains import PartitionKind, ProblemBrokers, RackRule, find_domains, problem_by_factor
from app.core.reassignment.model import MovementProblem
from app.core.reassignment.resources import NO_CAPACITY, NO_LIMIT, RESOURCES
from app.core.reassignment.resources.model import MILLION
from app.core.reassignment.sweep.definition import (
    BrokerChange,
    ReassignmentSweepDefinition,
    SweptBroker,
    SweptCluster,
    added_brokers,
    read_definition,
)
from app.core.reassignment.sweep.loads import OF_CAPACITY
from app.core.reassignment.sweep.placing import SweptPlacement, place
from app.core.reassignment.sweep.sets import SweptSets
from app.core.replica_lists import distinct_values, not_among, per_broker
from app.errors import Json
from app.errors.reassignments import NotFeasible

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
)
"""The figures of a scenario, besides `feasible` and `violated_limits`.

`brokers` counts those that may receive replicas after the change; the smallest and largest count, its spread and the
largest bytes are over them, and before the change over those that may receive replicas now. `lower_bound_bytes` is a
lower bound on the moved bytes within the constraints; `gap` is the relative optimality gap of what is minimised, bytes
or replicas. `short_of_racks` counts partitions in fewer racks than their replicas could span before the change; None if
racks are not constrained. The utilisation of a resource is the largest share of its capacity that any broker needs
after the change; None if the loads or the capacities are unknown. `topic_excess` counts the replicas outside the bands
of their topics; None if topics are not balanced.
"""


class ReassignmentSweep:
    """The scenarios of a definition, each solved as a reassignment and verified.

    Examples
    --------
    >>> from app.core.sweeps import score
    >>> sweep = read_sweep(
    ...     {
    ...         "axes": {"remove_broker": [0], "add_brokers": [0, 1]},
    ...         "minimise": "bytes",
    ...         "resolved": {
    ...             "brokers": [{"id": i, "rack": None, "receives": True} for i in range(3)],
    ...             "counts_racks": False,
    ...             "spans_all": True,
    ...             "topics": [{"name": "orders", "replicas": [[0, 1], [1, 2]], "size_bytes": [70, 30]}],
    ...             "base": [0, 0, 0],
    ...             "base_bytes": [0, 0, 0],
    ...             "sizes_known": True,
    ...         },
    ...     }
    ... )
    >>> [(row.document["axes"]["add_brokers"], row.document["moved_bytes"]) for row in score(sweep, 0, sweep.count)]
    [(0, 70), (1, 70)]
    """

    without_figures: Mapping[str, Json] = MappingProxyType({"feasible": None})

    def __init__(self, definition: ReassignmentSweepDefinition) -> None:
        self.definition = definition

    @property
    def count(self) -> int:
        """The number of scenarios."""
        return self.definition.grid.size

    def coordinates(self, index: int) -> dict[str, Json]:
        """The value of each axis."""
        return {"axes": self.definition.grid.values(index)}

    def figures(self, index: int) -> Mapping[str, Json]:
        """The figures of scenario `index`. Raises `NotFeasible`, `ImpossibleValue` as `problem_of` does."""
        definition, change = self.definition.weighted(index), self.definition.change(index)
        cluster, problem = definition.cluster, problem_of(definition, change, definition.sets_of(index))
        solution = place(definition, index, problem)
        moved = not_among(solution.replicas, problem.current).sum(axis=1)
        receives = np.array([broker.receives for broker in cluster.brokers], np.bool_)
        return {
            "brokers": int(np.count_nonzero(problem.target)),
            "moved_replicas": int(moved.sum()),
            "moved_bytes": int((moved * cluster.size_bytes).sum()),
            "lower_bound_bytes": _bytes_lower_bound(definition, problem, solution),
            "optimal": solution.certificate.optimal,
            "gap": solution.certificate.gap,
            **_balance_figures(cluster, cluster.replicas, receives, "before"),
            **_balance_figures(cluster, solution.replicas, problem.target, "after"),
            **_load_figures(definition, problem, change, solution),
            "short_of_racks": _short_of_racks(cluster, problem, solution.replicas),
        }


def read_sweep(definition: Mapping[str, Any]) -> ReassignmentSweep:
    """A sweep's JSON as what executors score. Raises as `read_definition` does."""
    return ReassignmentSweep(read_definition(definition))


def problem_of(
    definition: ReassignmentSweepDefinition, change: BrokerChange, sets: SweptSets | None = None
) -> MovementProblem:
    """The reassignment problem of a change; positions are those of the cluster's brokers, then of the added ones.

    Raises
    ------
    NotFeasible : the remaining brokers have no legal placement of some partition. ImpossibleValue : as `added_brokers`.
    """
    cluster, added = definition.cluster, added_brokers(definition, change)
    brokers = (*cluster.brokers, *added)
    ids = np.array([broker.id for broker in brokers], np.int32)
    remains = np.ones(len(ids), np.bool_) if change.removed is None else ids != change.removed
    receives = remains & np.array([broker.receives for broker in brokers], np.bool_)
    rack_of = rack_indices(cluster, brokers)
    usable_racks = len(np.unique(rack_of[receives]))
    to_span = len(cluster.racks) if cluster.spans_all else usable_racks
    base = np.pad(cluster.base, (0, len(added)))
    weight = cluster.size_bytes if definition.minimises_bytes else np.ones(len(cluster.replicas), np.int64)
    factors = (cluster.replicas != NO_REPLICA).sum(axis=1)
    eligible = ProblemBrokers(ids, rack_of, base, receives, may_keep=remains)
    try:
        if sets is not None:
            problem = _problem_of_sets(definition, sets, eligible, factors, weight)
        else:
            problem = problem_by_factor(eligible, cluster.replicas, factors, weight, RackRule(max(to_span, 1)))
    except NoDomain as short:
        raise _not_feasible(cluster, change, short, receiving_racks=rack_of[receives]) from None
    return replace(problem, share=shares_of_weights([broker.weight for broker in brokers], remains))


def _problem_of_sets(
    definition: ReassignmentSweepDefinition, sets: SweptSets, brokers: ProblemBrokers, factors: Int64s, weight: Int64s
) -> MovementProblem:
    """The problem in which each partition is on the brokers of its set alone. Raises `NoDomain`."""
    cluster = definition.cluster
    of_broker, of_row = sets.of_brokers(brokers.ids), np.repeat(sets.of_topics(cluster.topics), np.diff(cluster.starts))
    keys, kind_of = np.unique(np.column_stack([factors, of_row]), axis=0, return_inverse=True)
    kinds = []
    for factor, index in keys.tolist():
        inside = of_broker == index
        # If racks need not all be spanned, those of the set are.
        racks = len(cluster.racks) if cluster.spans_all else len(np.unique(brokers.rack_of[brokers.target & inside]))
        kinds.append(PartitionKind(factor, brokers.may_keep & inside, brokers.target & inside, to_span=max(racks, 1)))
    rule = RackRule(max(len(cluster.racks), 1))
    kinds_of_rows = kind_of.reshape(-1).astype(np.int32)
    domains, domain_of = find_domains(kinds, kinds_of_rows, cluster.replicas, brokers.rack_of, rule)
    return MovementProblem(
        broker_ids=brokers.ids,
        rack_of=brokers.rack_of,
        target=brokers.target,
        base=brokers.base,
        domains=domains,
        domain_of=domain_of,
        current=cluster.replicas,
        is_copied=np.zeros(cluster.replicas.shape, np.bool_),
        must_keep=np.full(len(cluster.replicas), NO_REPLICA, np.int32),
        weight=weight,
    )


def rack_indices(cluster: SweptCluster, brokers: Sequence[SweptBroker]) -> Int32s:
    """(brokers,) int32 as `MovementProblem.rack_of`: racks by name; a broker of unknown rack has a rack of its own."""
    if not cluster.racks:
        return np.zeros(len(brokers), np.int32)
    index_of = {rack: index for index, rack in enumerate(cluster.racks)}
    singletons = iter(range(len(cluster.racks), len(cluster.racks) + len(brokers)))
    return np.array(
        [next(singletons) if broker.rack is None else index_of[broker.rack] for broker in brokers], np.int32
    )


def _not_feasible(
    cluster: SweptCluster, change: BrokerChange, short: NoDomain, *, receiving_racks: Int32s
) -> NotFeasible:
    topic = cluster.topics[int(np.searchsorted(cluster.starts, short.row, side="right")) - 1]
    factor = int((cluster.replicas[short.row] != NO_REPLICA).sum())
    detail = f"{short.needed} {short.what} are needed for factor {factor} on topic {topic}; {short.there} are left"
    lost = [rack for index, rack in enumerate(cluster.racks) if index not in receiving_racks]
    if lost:
        detail += f" ({', '.join(lost[:5])} {'has' if len(lost) == 1 else 'have'} no broker that receives)"
    return NotFeasible(detail, topic=topic, needed=short.needed, there=short.there, removed=change.removed)


def _bytes_lower_bound(
    definition: ReassignmentSweepDefinition, problem: MovementProblem, solution: SweptPlacement
) -> int:
    """A lower bound on the moved bytes; without the balance constraint if replicas are minimised instead of bytes."""
    if definition.minimises_bytes:
        return solution.certificate.lower_bound
    weighed = replace(problem, weight=definition.cluster.size_bytes)
    free = np.zeros(len(problem.broker_ids), np.int64)
    return int(cheapest(weighed, movement_costs(weighed), free)[0].sum())


def _balance_figures(
    cluster: SweptCluster, replicas: Int32s, is_counted: NDArray[np.bool_], when: str
) -> dict[str, Json]:
    """The smallest and largest count, the spread and the largest bytes over some brokers; None if there are none."""
    brokers, added = len(is_counted), len(is_counted) - len(cluster.base)
    counts = (np.pad(cluster.base, (0, added)) + per_broker(replicas, brokers))[is_counted]
    stored_bytes = np.pad(cluster.base_bytes, (0, added)) + per_broker(replicas, brokers, cluster.size_bytes)
    if not len(counts):
        return dict.fromkeys(f"{name}_{when}" for name in ("smallest", "largest", "spread", "largest_bytes"))
    smallest, largest = int(counts.min()), int(counts.max())
    return {
        f"smallest_{when}": smallest,
        f"largest_{when}": largest,
        f"spread_{when}": largest - smallest,
        f"largest_bytes_{when}": int(stored_bytes[is_counted].max()),
    }


def _short_of_racks(cluster: SweptCluster, problem: MovementProblem, replicas: Int32s) -> int | None:
    racks = len(cluster.racks)
    if not racks:
        return None
    rack = np.where(replicas == NO_REPLICA, NO_RACK, problem.rack_of[replicas])
    spanned = distinct_values(np.where(rack < racks, rack, NO_RACK))
    return int(np.count_nonzero(spanned < np.minimum(problem.factors, racks)))


def _load_figures(
    definition: ReassignmentSweepDefinition, problem: MovementProblem, change: BrokerChange, placement: SweptPlacement
) -> dict[str, Json]:
    """Feasibility, the limits that are exceeded, and the largest utilisation of each resource."""
    violated = _violated(problem, placement)
    stays = problem.broker_ids != (-1 if change.removed is None else change.removed)
    return {
        "feasible": all(limit["soft"] for limit in violated),
        "violated_limits": violated,
        **{
            f"{name}_utilisation": _utilisation(definition, placement, RESOURCES.index(name), stays)
            for name in OF_CAPACITY
        },
        "topic_excess": placement.topic_excess,
    }


def _violated(problem: MovementProblem, placement: SweptPlacement) -> list[dict[str, Any]]:
    """By resource whose limit is exceeded: how many brokers are above theirs, and the one farthest above."""
    limits, loads = placement.limits, placement.loads
    if limits is None or loads is None:
        return []
    violated = []
    for column, name in enumerate(RESOURCES):
        upper = limits.upper[:, column]
        above = np.where(upper < NO_LIMIT, np.maximum(loads[:, column] - upper, 0), 0)
        if not above.any():
            continue
        worst, unit = int(above.argmax()), MILLION if name == "cpu" else 1
        violated.append(
            {
                "resource": name,
                "brokers": int(np.count_nonzero(above)),
                "broker": int(problem.broker_ids[worst]),
                "value": _in_unit(int(loads[worst, column]), unit),
                "limit": _in_unit(int(upper[worst]), unit),
                "soft": bool(limits.is_soft[column]),
            }
        )
    return violated


def _utilisation(
    definition: ReassignmentSweepDefinition, placement: SweptPlacement, column: int, stays: NDArray[np.bool_]
) -> float | None:
    loads, known = placement.loads, () if definition.loads is None else definition.loads.known
    if loads is None or placement.capacity is None or RESOURCES[column] not in known:
        return None
    capacity = placement.capacity[:, column]
    counted = stays & (capacity > NO_CAPACITY)
    if not counted.any():
        return None
    return round(float((loads[counted, column] / capacity[counted]).max()), 6)


def _in_unit(amount: int, unit: int) -> Json:
    return amount if unit == 1 else round(amount / unit, 3)
