"""Sweeps over reassignments of a cluster: each broker removed in turn, so many added, and what has to move for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from app.core.measures.tally import positions_of
from app.core.model import Broker
from app.core.reassignment.what_if.arrivals import arrivals
from app.core.reassignment.what_if.axes import ADD, count
from app.core.reassignment.what_if.documents import axes_of, read_what_ifs, standing_document
from app.core.reassignment.what_if.scoring import NUMBERS, score_what_ifs
from app.core.reassignment.what_if.standing import Standing, StandingBroker
from app.core.replicas.rack_modes import RackMode
from app.errors import Json, UnknownRack
from app.formats.scenario_tables import Column
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
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep


def resolve(uow: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """The definition with the brokers and the partitions as the snapshot has them; a cluster that is there already is
    kept.

    `warnings` say what the snapshot does not record, and what is taken instead. A reassignment that is under way counts
    as done.

    Raises
    ------
    SnapshotNotFound, UnknownTopic, DuplicateTopic, BrokersWithoutRack, LimitExceeded
    UnknownAxis, EmptyAxis, ImpossibleValue, UnknownBroker, ConflictingFields : of the axes.
    UnknownRack : brokers are added in a rack where none stands.
    """
    if "resolved" not in definition:
        definition = _resolved(uow, definition, limits)
    known = cast("Any", definition)["resolved"]["brokers"]
    for axis in axes_of(definition):
        if axis.path == ADD:
            limits.check_number("brokers", len(known) + max(cast("Sequence[int]", axis.values)), path=("axes", ADD))
    racks = sorted({broker["rack"] for broker in known if broker["rack"] is not None})
    for place, rack in enumerate(cast("Any", definition).get("racks_of_added") or ()):
        if rack not in racks:
            detail = f"no broker stands in the rack {rack}; the racks are {', '.join(racks) or 'none'}"
            raise UnknownRack(detail, path=("racks_of_added", place), value=rack)
    return definition


def scenarios(definition: Mapping[str, Json]) -> int:
    """How many there are."""
    return count(axes_of(definition))


def score(definition: Mapping[str, Json], start: int, stop: int) -> list[dict[str, Json]]:
    """Reassign for scenarios start … stop − 1."""
    return score_what_ifs(read_what_ifs(definition), start, stop)


def columns(definition: Mapping[str, Json]) -> list[Column]:
    """The axes in their order, then the figures."""
    return [
        *(Column.axis(axis.path, "int64") for axis in axes_of(definition)),
        *(Column.figure(name, "double" if name == "gap" else "int64") for name in NUMBERS),
        Column.figure("optimal", "bool"),
    ]


def opened(uow: UnitOfWork, sweep: Sweep, index: int, limits: Limits) -> Plan:
    """One scenario as a plan of a reassignment: the same change of the same snapshot."""
    asked = cast("Mapping[str, Any]", sweep.definition)
    what_ifs = read_what_ifs(asked)
    trial = what_ifs.trial(index)
    request = replace(
        _request(asked),
        add_brokers=[Broker(its.id, its.rack) for its in arrivals(what_ifs, trial)],
        remove_brokers=[] if trial.removed is None else [trial.removed],
        balance=BalanceRequest(replicas=_evenness((asked.get("balance") or {}).get("replicas"))),
        labels={"sweep": str(sweep.id), "scenario": str(index)},
    )
    return make_plan(uow, PLANNER, request, limits)


def _request(asked: Mapping[str, Any]) -> ReassignmentRequest:
    """What every scenario asks for."""
    return ReassignmentRequest(
        snapshot_id=UUID(asked["snapshot_id"]),
        topics=asked.get("topics"),
        rack_mode=RackMode(asked["rack_mode"]),
        minimise=asked["minimise"],
        running_reassignment="merge",
    )


def _evenness(told: Any) -> Evenness | None:
    return Tolerance(told["tolerance"]) if isinstance(told, Mapping) else told


def _resolved(uow: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> dict[str, Json]:
    asked = cast("Mapping[str, Any]", definition)
    request = _request(asked)
    check(request, limits)
    snapshot, cluster = snapshots.load(uow, UUID(asked["snapshot_id"]))
    brokers, scope = brokers_of(request, cluster), scope_of(request, cluster, Allowance(limits, is_job=True))
    sizes = sizes_of(request, scope)
    standing = _standing(request, brokers, scope, sizes)
    return {
        **definition,
        "snapshot_content_hash": snapshot.content_hash,
        "warnings": [its.as_json() for its in (*brokers.cautions, *scope.cautions, *sizes.cautions)],
        "resolved": standing_document(standing) | {"sizes_known": sizes.unknown == 0},
    }


def _standing(
    request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope, sizes: PartitionSizes
) -> Standing:
    receives = brokers.target.tolist()
    return Standing(
        brokers=tuple(
            StandingBroker(broker.id, broker.rack, can) for broker, can in zip(brokers.known, receives, strict=True)
        ),
        counts_racks=bool(brokers.racks),
        spans_all=request.rack_mode is RackMode.ENFORCED,
        topics=scope.topics,
        starts=scope.starts,
        homes=positions_of(scope.before, brokers.ids),
        size_bytes=sizes.size_bytes,
        base=replicas_of_others(brokers, scope.others, None),
        base_bytes=replicas_of_others(brokers, scope.others, sizes.of_others),
    )
