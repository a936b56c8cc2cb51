"""Sweeps over reassignments of a cluster: each broker removed in turn, brokers added, and what moves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from app.core.measures.tally import positions_of
from app.core.model import Broker
from app.core.reassignment.sweep import NUMBERS, read_sweep
from app.core.reassignment.sweep_definition import (
    ADD,
    SweptBroker,
    SweptCluster,
    added_brokers,
    read_definition,
    resolved_axes,
    resolved_document,
)
from app.core.replicas.rack_modes import RackMode
from app.core.sweeps import Grid
from app.errors import Json
from app.errors.reassignments import UnknownRack
from app.formats.tables.scenario_tables import Column
from app.services import snapshots
from app.services.limits import Limits
from app.services.plans import Allowance, Plan, make_plan
from app.services.reassignment import (
    PLANNER,
    BalanceRequest,
    BrokerTable,
    Evenness,
    PartitionScope,
    PartitionSizes,
    ReassignmentRequest,
    Tolerance,
    brokers_of,
    check,
    replicas_of_others,
    scope_of,
    sizes_of,
)
from app.services.sweeps.kind import SweepKind
from app.store.sweeps import Sweep

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


def resolve(uow: "UnitOfWork", definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """Validate a definition, and resolve the brokers and partitions of the snapshot unless they are resolved already.

    `warnings` list what the snapshot does not record, and what is assumed instead. A reassignment in progress counts as
    complete.

    Raises
    ------
    SnapshotNotFound, UnknownTopic, DuplicateTopic, BrokersWithoutRack, LimitExceeded
    UnknownAxis, EmptyAxis, ImpossibleValue, UnknownBroker, ConflictingFields : of the axes.
    UnknownRack : brokers are added in a rack that has none.
    """
    if "resolved" not in definition:
        definition = _resolved(uow, definition, limits)
    known = cast("Any", definition)["resolved"]["brokers"]
    for axis in resolved_axes(definition):
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
        *(Column.axis(axis.path, "int64") for axis in resolved_axes(definition)),
        *(Column.figure(name, "double" if name == "gap" else "int64") for name in NUMBERS),
        Column.figure("optimal", "bool"),
    ]


def opened(uow: "UnitOfWork", sweep: Sweep, index: int, limits: Limits) -> Plan:
    """One scenario as a plan of a reassignment: the same change of the same snapshot."""
    given = cast("Mapping[str, Any]", sweep.definition)
    definition = read_definition(given)
    change = definition.change(index)
    request = replace(
        _request(given),
        add_brokers=[Broker(broker.id, broker.rack) for broker in added_brokers(definition, change)],
        remove_brokers=[] if change.removed is None else [change.removed],
        balance=BalanceRequest(replicas=_evenness((given.get("balance") or {}).get("replicas"))),
        labels={"sweep": str(sweep.id), "scenario": str(index)},
    )
    return make_plan(uow, PLANNER, request, limits)


def _request(given: Mapping[str, Any]) -> ReassignmentRequest:
    """The request that all scenarios have in common."""
    return ReassignmentRequest(
        snapshot_id=UUID(given["snapshot_id"]),
        topics=given.get("topics"),
        rack_mode=RackMode(given["rack_mode"]),
        minimise=given["minimise"],
        running_reassignment="merge",
    )


def _evenness(value: Any) -> Evenness | None:
    return Tolerance(value["tolerance"]) if isinstance(value, Mapping) else value


def _resolved(uow: "UnitOfWork", definition: Mapping[str, Json], limits: Limits) -> dict[str, Json]:
    given = cast("Mapping[str, Any]", definition)
    request = _request(given)
    check(request, limits)
    snapshot, cluster = snapshots.load(uow, UUID(given["snapshot_id"]))
    brokers, scope = brokers_of(request, cluster), scope_of(request, cluster, Allowance(limits, is_job=True))
    sizes = sizes_of(request, scope)
    cluster_now = _cluster(request, brokers, scope, sizes)
    return {
        **definition,
        "snapshot_content_hash": snapshot.content_hash,
        "warnings": [caution.as_json() for caution in (*brokers.cautions, *scope.cautions, *sizes.cautions)],
        "resolved": resolved_document(cluster_now) | {"sizes_known": sizes.unknown == 0},
    }


def _cluster(
    request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope, sizes: PartitionSizes
) -> SweptCluster:
    receives = brokers.may_receive.tolist()
    return SweptCluster(
        brokers=tuple(
            SweptBroker(broker.id, broker.rack, can) for broker, can in zip(brokers.known, receives, strict=True)
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


KIND = SweepKind(
    name="reassignment",
    read_sweep=read_sweep,
    resolve=resolve,
    count=scenarios,
    counted_by=("axes",),
    changes=("axes", "balance", "minimise", "racks_of_added"),
    numbers=NUMBERS,
    columns=columns,
    opened=opened,
)
