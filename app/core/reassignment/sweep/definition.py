"""What a reassignment sweep varies: the cluster as it is, the axes, and the change that each scenario makes."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import INT32_MAX, Int32s, Int64s, padded, unpadded
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.resources import StatedLimit
from app.core.reassignment.sweep.loads import (
    LIMIT_AXES,
    SweptLoads,
    loads_document,
    read_limit_axis,
    read_loads,
    with_axes,
)
from app.core.reassignment.sweep.objective import SweptObjective, read_balance, read_objective
from app.core.reassignment.sweep.sets import SweptSets, is_set_axis, read_set_axis, read_sets
from app.core.reassignment.sweep.weights import is_weight_axis, read_weight_axis, weights_of_axes
from app.core.sweeps.axes import Axis, Grid, read_axis
from app.core.sweeps.fields import as_integer
from app.errors import Json
from app.errors.reassignments import UnknownBroker
from app.errors.requests import ConflictingFields, ImpossibleValue, UnknownAxis

REMOVE, ADD = "remove_broker", "add_brokers"
NAMES = (REMOVE, ADD, *LIMIT_AXES)
EACH = "each"
"""Instead of a list of brokers to remove: every broker of the cluster."""
MOST_ADDED = 10_000
_LARGEST_VALUE: Mapping[str, int] = {REMOVE: INT32_MAX, ADD: MOST_ADDED}


@dataclass(frozen=True, slots=True)
class SweptBroker:
    """A broker that has replicas or may receive some.

    Parameters
    ----------
    rack : None if it has none, or is offline and its rack is unknown.
    receives : whether it may receive new replicas; a fenced or offline broker only keeps those that it has.
    weight : counts are balanced in proportion to it.
    """

    id: int
    rack: str | None
    receives: bool = True
    weight: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False)
class SweptCluster:
    """The brokers, and the current replicas of the partitions that may move.

    Parameters
    ----------
    brokers : by ascending id.
    counts_racks : whether racks are constrained; a broker without a rack is then offline, in a rack of its own.
    spans_all : whether a partition must span the racks that exist before a broker is removed, not only the remaining.
    topics : names. starts : (topics + 1,) int64, the first row of each topic.
    replicas : (rows, largest factor) int32 positions in `brokers`, preferred leader first, padded with `NO_REPLICA`.
    size_bytes : (rows,) int64; 0 if unknown.
    base, base_bytes : (brokers,) int64 replicas of partitions that may not move, and their bytes.
    weight_of_added : of each added broker.
    """

    brokers: tuple[SweptBroker, ...] = field(repr=False)
    counts_racks: bool
    spans_all: bool
    topics: tuple[str, ...] = field(repr=False)
    starts: Int64s = field(repr=False)
    replicas: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    base_bytes: Int64s = field(repr=False)
    weight_of_added: Fraction = Fraction(1)

    @cached_property
    def racks(self) -> tuple[str, ...]:
        """The racks that are constrained, by name; empty if none is."""
        if not self.counts_racks:
            return ()
        return tuple(sorted({broker.rack for broker in self.brokers if broker.rack is not None}))


@dataclass(frozen=True, slots=True)
class BrokerChange:
    """The broker that a scenario removes, None for none, and the number of brokers that it adds."""

    removed: int | None
    added: int


@dataclass(frozen=True, eq=False)
class ReassignmentSweepDefinition:
    """A cluster, and every combination of the axes' values, the last axis varying fastest.

    Parameters
    ----------
    loads : what partitions load on brokers; None if the sweep has none. objective : limits and goals.
    balance : None is tight if brokers are added, and keep otherwise.
    racks_of_added : the racks of added brokers, in rotation; None chooses the racks with the fewest brokers.
    minimises_bytes : whether the moved bytes are minimised, or the moved replicas.
    sets : of brokers, those that no axis varies; None if no scenario has any.
    """

    cluster: SweptCluster
    loads: SweptLoads | None = field(repr=False)
    grid: Grid
    objective: SweptObjective
    balance: Balance | None
    racks_of_added: tuple[str, ...] | None
    minimises_bytes: bool
    sets: SweptSets | None = None

    def change(self, index: int) -> BrokerChange:
        """The change of scenario `index`. Raises IndexError beyond the last."""
        values: Mapping[str, Any] = self.grid.values(index)  # whole numbers: `read_axes` validates them
        return BrokerChange(values.get(REMOVE), values.get(ADD, 0))

    def limits(self, index: int) -> Mapping[str, StatedLimit]:
        """The limits of scenario `index` by resource. Raises IndexError beyond the last."""
        return with_axes(self.objective.limits, self.grid.values(index))

    def weighted(self, index: int) -> "ReassignmentSweepDefinition":
        """The definition with the weights of scenario `index`. Raises IndexError beyond the last."""
        weights = weights_of_axes(self.grid.values(index))
        if not weights:
            return self
        brokers = tuple(
            replace(broker, weight=weights.get(broker.id, broker.weight)) for broker in self.cluster.brokers
        )
        return replace(self, cluster=replace(self.cluster, brokers=brokers))

    def sets_of(self, index: int) -> SweptSets | None:
        """The broker sets of scenario `index`. Raises `DuplicateBroker` if two have a broker in common."""
        if self.sets is None:
            return None
        sets = self.sets.varied(self.grid.values(index))
        sets.require_disjoint(("broker_sets",))
        return sets

    def balance_of(self, change: BrokerChange) -> Balance:
        """The balance constraint of a scenario; without one, added brokers receive their share."""
        return self.balance or (TIGHT if change.added else KEEP)


def read_definition(definition: Mapping[str, Any]) -> ReassignmentSweepDefinition:
    """Read a sweep's JSON: axes, balance, racks_of_added, minimise, and the cluster in `resolved`, validated before.

    Raises as `read_axes` does.
    """
    racks = definition.get("racks_of_added")
    resolved = definition["resolved"]
    return ReassignmentSweepDefinition(
        cluster=_read_cluster(resolved),
        loads=read_loads(resolved.get("loads")),
        objective=read_objective(definition),
        grid=Grid(resolved_axes(definition)),
        balance=read_balance((definition.get("balance") or {}).get("replicas")),
        racks_of_added=None if racks is None else tuple(racks),
        minimises_bytes=definition["minimise"] == "bytes" and resolved["sizes_known"],
        sets=read_sets(definition),
    )


def resolved_axes(definition: Mapping[str, Any]) -> tuple[Axis, ...]:
    """The axes of a sweep's JSON, without reading its cluster. Raises as `read_axes` does."""
    return read_axes(definition["axes"], [broker["id"] for broker in definition["resolved"]["brokers"]])


def read_axes(axes: Mapping[str, Json], brokers: Sequence[int]) -> tuple[Axis, ...]:
    """Read the axes in their order: whole numbers of brokers, limits, sets and weights.

    Parameters
    ----------
    brokers : the ids that may be removed, ascending.

    Raises
    ------
    UnknownAxis, EmptyAxis, ImpossibleValue : the axis does not exist, has no values, or one that is not possible.
    UnknownBroker : a removed broker does not exist. ConflictingFields : a value is listed twice.

    Examples
    --------
    >>> [axis.values for axis in read_axes({"remove_broker": "each", "add_brokers": {"from": 0, "to": 2}}, [1, 2, 5])]
    [(1, 2, 5), (0, 1, 2)]
    """
    return tuple(_read_axis(name, values, brokers) for name, values in axes.items())


def _read_axis(name: str, values: Json, brokers: Sequence[int]) -> Axis:
    if is_set_axis(name):
        listed = read_set_axis(name, values, frozenset(brokers))
        _require_distinct(name, [str(value) for value in listed])
        return Axis(name, listed)
    if is_weight_axis(name):
        weights = read_weight_axis(name, values, frozenset(brokers))
        _require_distinct(name, weights)
        return Axis(name, weights)
    if name not in NAMES:
        known = ", ".join((*NAMES, "broker_sets.<name>", "topic_sets.<topic>", "weights.<broker>"))
        detail = f"axis {name} is unknown; reassignment sweeps have {known}"
        raise UnknownAxis(detail, path=("axes", name), value=name, known=list(NAMES))
    if name == REMOVE and values == EACH:
        return Axis(name, tuple(brokers))
    if name in LIMIT_AXES:
        amounts = read_limit_axis(name, values)
        _require_distinct(name, amounts)
        return Axis(name, amounts)
    numbers = tuple(
        as_integer(value, ("axes", name, position), minimum=0, maximum=_LARGEST_VALUE[name])
        for position, value in enumerate(read_axis(name, values).values)
    )
    _require_distinct(name, numbers)
    if name == REMOVE:
        _require_known(numbers, frozenset(brokers))
    return Axis(name, numbers)


def _require_distinct(name: str, values: Sequence[float | str]) -> None:
    seen: set[float | str] = set()
    for position, value in enumerate(values):
        if value in seen:
            raise ConflictingFields(f"{value} is listed twice", path=("axes", name, position), value=value)
        seen.add(value)


def _require_known(ids: Sequence[int], brokers: Collection[int]) -> None:
    for position, broker in enumerate(ids):
        if broker not in brokers:
            detail = f"there is no broker {broker} in the snapshot"
            raise UnknownBroker(detail, path=("axes", REMOVE, position), value=broker)


def added_brokers(definition: ReassignmentSweepDefinition, change: BrokerChange) -> tuple[SweptBroker, ...]:
    """The brokers that a change adds; their ids follow the largest id of the cluster.

    They get the racks of `racks_of_added` in rotation. If that is None, each gets the rack that has the fewest brokers
    by then, the removed broker not counted, of equal ones the first by name; none if no broker has a rack.

    Raises `ImpossibleValue` if the ids would exceed the largest broker id.
    """
    brokers = definition.cluster.brokers
    first = max((broker.id for broker in brokers), default=-1) + 1
    if first + change.added - 1 > INT32_MAX:
        detail = f"{change.added} brokers after id {first - 1} would exceed {INT32_MAX}, the largest broker id"
        raise ImpossibleValue(detail, path=("axes", ADD), value=change.added, maximum=INT32_MAX - first + 1)
    brokers_in = Counter({broker.rack: 0 for broker in brokers if broker.rack is not None})
    brokers_in.update(broker.rack for broker in brokers if broker.rack is not None and broker.id != change.removed)
    added = []
    for number in range(change.added):
        rack = _next_rack(definition.racks_of_added, brokers_in, number)
        if rack is not None:
            brokers_in[rack] += 1
        added.append(SweptBroker(first + number, rack, weight=definition.cluster.weight_of_added))
    return tuple(added)


def _next_rack(rotation: Sequence[str] | None, brokers_in: Counter[str], number: int) -> str | None:
    if rotation is not None:
        return rotation[number % len(rotation)]
    return min(brokers_in, key=lambda rack: (brokers_in[rack], rack), default=None)


def resolved_document(cluster: SweptCluster, loads: SweptLoads | None = None) -> dict[str, Json]:
    """The cluster and its loads as JSON, so that executors need nothing else: replicas by broker id, topic by topic."""
    ids = np.array([*(broker.id for broker in cluster.brokers), -1], np.int32)
    bounds = pairwise(cluster.starts.tolist())
    return {
        "brokers": [
            {"id": broker.id, "rack": broker.rack, "receives": broker.receives} | _weight("weight", broker.weight)
            for broker in cluster.brokers
        ],
        "counts_racks": cluster.counts_racks,
        "spans_all": cluster.spans_all,
        "topics": [
            {
                "name": name,
                "replicas": unpadded(ids[cluster.replicas[start:stop]]),
                "size_bytes": cluster.size_bytes[start:stop].tolist(),
            }
            for name, (start, stop) in zip(cluster.topics, bounds, strict=True)
        ],
        "base": cluster.base.tolist(),
        "base_bytes": cluster.base_bytes.tolist(),
        **_weight("weight_of_added", cluster.weight_of_added),
        **({} if loads is None else {"loads": loads_document(loads)}),
    }


def _weight(name: str, weight: Fraction) -> dict[str, Json]:
    """A weight as JSON, which has no fractions; nothing if it is that of all brokers without one."""
    return {} if weight == 1 else {name: str(weight)}


def _read_cluster(resolved: Mapping[str, Any]) -> SweptCluster:
    topics = resolved["topics"]
    ids = np.array([broker["id"] for broker in resolved["brokers"]], np.int32)
    lists: Sequence[Sequence[int]] = [row for topic in topics for row in topic["replicas"]]
    sizes = [size for topic in topics for size in topic["size_bytes"]]
    return SweptCluster(
        brokers=tuple(
            SweptBroker(broker["id"], broker["rack"], broker["receives"], Fraction(broker.get("weight", 1)))
            for broker in resolved["brokers"]
        ),
        weight_of_added=Fraction(resolved.get("weight_of_added", 1)),
        counts_racks=resolved["counts_racks"],
        spans_all=resolved["spans_all"],
        topics=tuple(topic["name"] for topic in topics),
        starts=np.cumsum([0, *(len(topic["replicas"]) for topic in topics)], dtype=np.int64),
        replicas=positions_of(padded(lists), ids),
        size_bytes=np.array(sizes, np.int64),
        base=np.array(resolved["base"], np.int64),
        base_bytes=np.array(resolved["base_bytes"], np.int64),
    )
