"""Sweeps over reassignments of a cluster: each broker removed in turn, brokers added, and the movement."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, cast
from uuid import UUID

import orjson

from app.core.kafka_versions import release_of
from app.core.model import Cluster
from app.core.sweeps import Grid
from app.errors.every import Json, NotFeasible, UnknownRack
from app.formats.snapshots import snapshot_json
from app.formats.tables.scenario_tables import Column
from app.services import snapshots
from app.services.limits import Limits
from app.services.plans import Allowance
from app.services.reassignment import PLANNER, ReassignmentRequest, brokers_of, check, scope_of
from app.services.reassignment.problem.loads import loads_of, with_recorded_rates
from app.services.reassignment.problem.resolve import resolve as resolve_request
from app.services.reassignment.problem.resources import resources_of
from app.services.reassignment.sweep import NUMBERS, SweptRequests, read_sweep
from app.services.reassignment.sweep.axes import ADD, base_request, resolved_axes
from app.services.sweeps.kind import Definition, SweepKind
from app.store.sweeps import Sweep
from app.store.unit import UnitOfWork

_FRACTIONS = (
    "gap",
    "unwritable_during_restart",
    "loss_probability",
    *(name for name in NUMBERS if name.endswith("_utilisation")),
)


def resolve(uow: UnitOfWork, definition: Definition, limits: Limits) -> Definition:
    """Validate a definition, and add the cluster of its snapshot unless it has it already.

    `warnings` list gaps in the snapshot, and the values assumed instead. A reassignment in progress counts as
    complete unless the definition states otherwise.

    Raises
    ------
    SnapshotNotFound, LimitExceeded
    UnknownAxis, EmptyAxis, ImpossibleValue, UnknownBroker, ConflictingFields : of the axes.
    UnknownRack : brokers are added in a rack that has none.
    Failures of a plan's request, except `NotFeasible`, with which a scenario fails alone.
    """
    if not is_resolved(definition):
        snapshot, cluster = snapshots.load(uow, UUID(definition["snapshot_id"]))
        definition = resolved_on(cluster, definition, limits) | {"snapshot_content_hash": snapshot.content_hash}
    else:
        cluster = snapshot_json.of_members(definition["resolved"]["cluster"])
    _require_possible(definition, cluster, limits)
    return definition


def is_resolved(definition: Definition) -> bool:
    """Whether a definition has its cluster; definitions of earlier releases had the needed parts of it."""
    return "cluster" in (definition.get("resolved") or {})


def resolved_on(cluster: Cluster, definition: Definition, limits: Limits) -> dict[str, Json]:
    """The definition with the brokers and partitions of a cluster. Raises as `resolve` does."""
    request = with_recorded_rates(base_request(definition), cluster)
    brokers, scope = brokers_of(request, cluster), scope_of(request, cluster, Allowance(limits, is_job=True))
    loads = loads_of(request, brokers, scope)
    resources = resources_of(request, brokers, scope, loads)
    cautions = (*brokers.cautions, *scope.cautions, *loads.sizes.cautions, *resources.cautions)
    added = {broker.id for broker in brokers.added}
    return {
        **definition,
        "warnings": [vars(caution) for caution in cautions],
        "resolved": {
            "brokers": [{"id": broker.id, "rack": broker.rack} for broker in brokers.known if broker.id not in added],
            "cluster": orjson.loads(snapshot_json.write(replace(cluster, groups=()))),
        },
    }


def _require_possible(definition: Definition, cluster: Cluster, limits: Limits) -> None:
    """Validate the fields that all scenarios share, and the ids on axes. Raises as `resolve` does."""
    requests = SweptRequests.of(definition)
    for axis in requests.grid.axes:
        if axis.path == ADD:
            most = max(cast("Sequence[int]", axis.values))
            limits.check_number("brokers", len(requests.brokers) + most, path=("axes", ADD))
    racks = sorted({broker.rack for broker in requests.brokers if broker.rack is not None})
    for position, rack in enumerate(requests.racks_of_added or ()):
        if rack not in racks:
            detail = f"no broker is in rack {rack}; the racks are {', '.join(racks) or 'none'}"
            raise UnknownRack(detail, path=("racks_of_added", position), value=rack)
    base, values = requests.base, requests.sample()
    requests.require_consistent(base.topics or [topic.name for topic in cluster.topics])
    with requests.located(values), suppress(NotFeasible):
        request = requests.with_values(values)
        check(request, limits)
        version = release_of(base.kafka_version, cluster.kafka_version)
        resolve_request(request, cluster, Allowance(limits, is_job=True), version)


def columns(definition: Definition) -> list[Column]:
    """The axes in their order, then the figures."""
    return [
        *(Column.axis(axis.path, _type_of(axis.path)) for axis in resolved_axes(definition)),
        *(Column.figure(name, "double" if name in _FRACTIONS else "int64") for name in NUMBERS),
        Column.figure("optimal", "bool"),
        Column.figure("feasible", "bool"),
    ]


def _type_of(path: str) -> Literal["double", "int64"] | None:
    """The type of the column of an axis; sets are text."""
    section = path.partition(".")[0]
    if section in ("broker_sets", "topic_sets"):
        return None
    return "double" if section in ("limits", "weights") else "int64"


def request_of(sweep: Sweep, index: int) -> ReassignmentRequest:
    """One scenario as a plan of a reassignment: the same change of the same snapshot."""
    return SweptRequests.of(sweep.definition).request(index)


KIND = SweepKind(
    name="reassignment",
    read_sweep=read_sweep,
    resolve=resolve,
    count=lambda definition: Grid(resolved_axes(definition)).size,
    counted_by=("axes",),
    changes=("axes", "balance", "limits", "minimise", "racks_of_added"),
    numbers=NUMBERS,
    columns=columns,
    planner=PLANNER,
    request=request_of,
    has_feasibility=True,
    is_resolved=is_resolved,
)
