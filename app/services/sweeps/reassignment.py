"""Sweeps over reassignments of a cluster: each broker removed in turn, brokers added, and what moves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import UUID

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, Broker, Cluster
from app.core.reassignment.resources import RESOURCES, StatedLimit
from app.core.reassignment.sweep import NUMBERS, read_sweep
from app.core.reassignment.sweep.definition import (
    ADD,
    SweptBroker,
    SweptCluster,
    added_brokers,
    read_definition,
    resolved_axes,
    resolved_document,
)
from app.core.reassignment.sweep.loads import LIMIT_AXES, SweptLoads, read_loads
from app.core.reassignment.sweep.objective import require_consistent
from app.core.reassignment.sweep.sets import BROKERS_OF, is_set_axis, require_consistent_sets
from app.core.reassignment.sweep.weights import is_weight_axis, weights_of_axes
from app.core.replicas.rack_modes import RackMode
from app.core.sweeps import Grid
from app.errors import Json
from app.errors.reassignments import CapacityMissing, UnknownRack
from app.formats.tables.scenario_tables import Column
from app.services import snapshots
from app.services.limits import Limits
from app.services.plans import Allowance, Plan, make_plan
from app.services.reassignment import (
    PLANNER,
    BrokerTable,
    PartitionScope,
    PartitionSizes,
    ReassignmentRequest,
    brokers_of,
    check,
    replicas_of_others,
    scope_of,
)
from app.services.reassignment.problem.capacities import capacity_of
from app.services.reassignment.problem.loads import IngressRates, loads_of, with_recorded_rates
from app.services.reassignment.problem.resources import NAMED_TOPICS, Resources, resources_of
from app.services.reassignment.problem.weights import WEIGHTS, as_written, stated_weights
from app.services.reassignment.requests.broker_sets import TopicSetsRequest, check_broker_sets
from app.services.reassignment.requests.resources import EVERY, Limit, LimitsRequest
from app.services.sweeps.kind import SweepKind
from app.store.sweeps import Sweep

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


_FRACTIONS = ("gap", *(name for name in NUMBERS if name.endswith("_utilisation")))
_STATED = (
    *("topics", "rack_mode", "minimise", "balance", "objective", "limits"),
    *("capacity", "ingress_bytes_per_s", "consumers", "follower_fetching", "cpu_model", "growth"),
)
"""The fields that a sweep and a plan have alike."""


def resolve(uow: "UnitOfWork", definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """Validate a definition, and resolve the brokers and partitions of the snapshot unless they are resolved already.

    `warnings` list what the snapshot does not record, and what is assumed instead. A reassignment in progress counts as
    complete.

    Raises
    ------
    SnapshotNotFound, UnknownTopic, DuplicateTopic, BrokersWithoutRack, LimitExceeded
    UnknownAxis, EmptyAxis, ImpossibleValue, UnknownBroker, ConflictingFields : of the axes.
    UnknownRack : brokers are added in a rack that has none.
    SizesMissing, RatesMissing, CapacityMissing : what is limited or balanced, or a weight, is not known.
    """
    resolved: Any = definition.get("resolved")
    if resolved is None or "loads" not in resolved:  # also a sweep that was stored before it had loads
        definition = _resolved(uow, definition, limits)
    known = cast("Any", definition)["resolved"]["brokers"]
    axes = resolved_axes(definition)
    require_consistent(definition, axes, read_loads(cast("Any", definition)["resolved"]["loads"]))
    topics = [topic["name"] for topic in cast("Any", definition)["resolved"]["topics"]]
    require_consistent_sets(definition, axes, [broker["id"] for broker in known], topics)
    for axis in axes:
        if axis.path == ADD:
            limits.check_number("brokers", len(known) + max(cast("Sequence[int]", axis.values)), path=("axes", ADD))
    racks = sorted({broker["rack"] for broker in known if broker["rack"] is not None})
    for position, rack in enumerate(cast("Any", definition).get("racks_of_added") or ()):
        if rack not in racks:
            detail = f"no broker is in rack {rack}; the racks are {', '.join(racks) or 'none'}"
            raise UnknownRack(detail, path=("racks_of_added", position), value=rack)
    return definition


def scenarios(definition: Mapping[str, Json]) -> int:
    """The number of scenarios."""
    return Grid(resolved_axes(definition)).size


def columns(definition: Mapping[str, Json]) -> list[Column]:
    """The axes in their order, then the figures."""
    return [
        *(Column.axis(axis.path, _type_of(axis.path)) for axis in resolved_axes(definition)),
        *(Column.figure(name, "double" if name in _FRACTIONS else "int64") for name in NUMBERS),
        Column.figure("optimal", "bool"),
        Column.figure("feasible", "bool"),
    ]


def _type_of(path: str) -> Literal["double", "int64"] | None:
    """The type of the column of an axis; sets are text."""
    return None if is_set_axis(path) else "double" if path in LIMIT_AXES or is_weight_axis(path) else "int64"


def opened(uow: "UnitOfWork", sweep: Sweep, index: int, limits: Limits) -> Plan:
    """One scenario as a plan of a reassignment: the same change of the same snapshot."""
    labels = {"sweep": str(sweep.id), "scenario": str(index)}
    request = replace(request_of(cast("Mapping[str, Any]", sweep.definition), index), labels=labels)
    return make_plan(uow, PLANNER, request, limits)


def request_of(given: Mapping[str, Any], index: int) -> ReassignmentRequest:
    """The request for the plan of one scenario of a resolved definition."""
    definition = read_definition(given)
    change = definition.change(index)
    stated, sets = _request(given), definition.sets_of(index)
    if sets is not None:
        topics: TopicSetsRequest = "topic_name_hash" if sets.topics is None else sets.topics
        stated = replace(stated, broker_sets=dict(sets.brokers), topic_sets=topics)
    weights = weights_of_axes(definition.grid.values(index))
    if weights:
        others = stated.balance.weights
        by_id = {} if others is None or isinstance(others, str) else others
        by_id = {**by_id, **{str(broker): float(weight) for broker, weight in weights.items()}}
        stated = replace(stated, balance=replace(stated.balance, weights=by_id))
    return replace(
        stated,
        add_brokers=[Broker(broker.id, broker.rack) for broker in added_brokers(definition, change)],
        remove_brokers=[] if change.removed is None else [change.removed],
        limits=_limits(definition.limits(index)),
    )


def _request(given: Mapping[str, Any]) -> ReassignmentRequest:
    """The request that all scenarios have in common."""
    stated = {name: given[name] for name in _STATED if given.get(name) is not None}
    common = {"snapshot_id": given["snapshot_id"], "running_reassignment": "merge"}
    return PLANNER.restored(stated | common)


def _limits(limits: Mapping[str, StatedLimit]) -> LimitsRequest:
    stated: Any = {name: Limit(limit.share, limit.absolute, limit.soft) for name, limit in limits.items()}
    return LimitsRequest(**stated)


def _resolved(uow: "UnitOfWork", definition: Mapping[str, Json], limits: Limits) -> dict[str, Json]:
    given = cast("Mapping[str, Any]", definition)
    request = _request(given)
    check(request, limits)
    _check_sets(given)
    snapshot, cluster = snapshots.load(uow, UUID(given["snapshot_id"]))
    return resolved_on(cluster, definition, limits) | {"snapshot_content_hash": snapshot.content_hash}


def resolved_on(cluster: Cluster, definition: Mapping[str, Json], limits: Limits) -> dict[str, Json]:
    """The definition with the brokers and partitions of a cluster. Raises as `resolve` does."""
    given = cast("Mapping[str, Any]", definition)
    request = with_recorded_rates(_request(given), cluster)
    brokers, scope = brokers_of(request, cluster), scope_of(request, cluster, Allowance(limits, is_job=True))
    loads = loads_of(request, brokers, scope)
    sizes = loads.sizes
    resources = resources_of(request, brokers, scope, sizes, loads.rates)
    cluster_now = replace(
        _cluster(request, brokers, scope, sizes, stated_weights(request, brokers, resources.capacity)),
        weight_of_added=_weight_of_added(request, adds=ADD in given["axes"]),
    )
    return {
        **definition,
        "warnings": [
            caution.as_json() for caution in (*brokers.cautions, *scope.cautions, *sizes.cautions, *resources.cautions)
        ],
        "resolved": resolved_document(cluster_now, _loads(request, scope, sizes, loads.rates, resources))
        | {"sizes_known": sizes.unknown == 0},
    }


def _check_sets(given: Mapping[str, Any]) -> None:
    """Raise what is wrong with the stated sets by themselves; topics may be bound to sets that axes vary."""
    axes, stated = given["axes"], given.get("broker_sets") or {}
    varied = {name.removeprefix(BROKERS_OF): [-1 - at] for at, name in enumerate(axes) if name.startswith(BROKERS_OF)}
    check_broker_sets({**varied, **stated}, given.get("topic_sets") or {})


def _cluster(
    request: ReassignmentRequest,
    brokers: BrokerTable,
    scope: PartitionScope,
    sizes: PartitionSizes,
    weights: Sequence[Fraction],
) -> SweptCluster:
    receives = brokers.may_receive.tolist()
    return SweptCluster(
        brokers=tuple(
            SweptBroker(broker.id, broker.rack, can, weight)
            for broker, can, weight in zip(brokers.known, receives, weights, strict=True)
        ),
        counts_racks=bool(brokers.racks),
        spans_all=request.rack_mode is RackMode.ENFORCED,
        topics=scope.topics,
        starts=scope.starts,
        replicas=positions_of(scope.before, brokers.ids),
        size_bytes=sizes.size_bytes,
        base=replicas_of_others(brokers, scope.others, None),
        base_bytes=replicas_of_others(brokers, scope.others, sizes.of_others),
    )


def _weight_of_added(request: ReassignmentRequest, *, adds: bool) -> Fraction:
    """The weight of each added broker: of `*`, else 1. Raises `CapacityMissing`."""
    stated = request.balance.weights
    if not isinstance(stated, str):
        return as_written((stated or {}).get(EVERY, 1))
    disk_bytes = capacity_of(request.capacity.get(EVERY))[RESOURCES.index("disk")]
    if adds and not disk_bytes:
        detail = "brokers weigh by disk_bytes, and that of added brokers is unknown; capacity states it for *"
        raise CapacityMissing(detail, path=WEIGHTS, value=stated, field="disk_bytes")
    return Fraction(max(int(disk_bytes), 1))


def _loads(
    request: ReassignmentRequest,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
    resources: Resources,
) -> SweptLoads:
    """What partitions load on brokers, as executors need it."""
    names = [*scope.topics, *(topic.name for topic in scope.others)]
    model = resources.cpu_model
    factors = np.count_nonzero(scope.before != NO_REPLICA, axis=1).astype(np.int64)
    unrated = [name for name in names if rates is None or name not in rates.reported]
    return SweptLoads(
        known=resources.names,
        ingress=resources.scope.ingress,
        reads=resources.scope.reads,
        retained=resources.scope.size_bytes,
        base=resources.row_loads(factors).base,
        capacity=resources.capacity,
        of_added=capacity_of(request.capacity.get(EVERY)),
        cpu=(model.per_byte_in, model.per_byte_out, model.per_partition),
        follower_fetching=resources.follower_fetching,
        unknown_sizes=sizes.unknown,
        unknown_rates=tuple(unrated[:NAMED_TOPICS]),
    )


KIND = SweepKind(
    name="reassignment",
    read_sweep=read_sweep,
    resolve=resolve,
    count=scenarios,
    counted_by=("axes",),
    changes=("axes", "balance", "limits", "minimise", "racks_of_added"),
    numbers=NUMBERS,
    columns=columns,
    opened=opened,
    has_feasibility=True,
)
