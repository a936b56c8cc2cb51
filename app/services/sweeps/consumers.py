"""Sweeps over the consumers of groups: a scenario is a group at a capacity, an allowed delay and spare consumers."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.core.consumers.sweep import AXES, NUMBERS, read_sweep
from app.errors.every import ConflictingFields, Failure, Json
from app.formats.tables.scenario_tables import Column
from app.services.bodies import stated
from app.services.consumers import PLANNER, READER, ConsumersRequest
from app.services.consumers.requests import check_bounds, rates_of
from app.services.limits import Limits
from app.services.plans import as_json
from app.services.snapshots import require_distinct
from app.services.sweeps.kind import Definition, SweepKind
from app.store.sweeps import Sweep
from app.store.unit import UnitOfWork

_WHOLE = ("most_consumers", "lost_bytes_per_s")
_LISTS = ("capacities_bytes_per_s", "delays_s", "spares")


def resolve(uow: UnitOfWork, definition: Definition, limits: Limits) -> Definition:
    """Validate a definition, and read the rates of each group, unless they are resolved already.

    Raises
    ------
    ConflictingFields : a value is listed twice, or `max` is below `min`.
    As reading snapshots and `rates_of`, with the group's path.
    LimitExceeded : all groups together have too many rates.
    """
    for name in _LISTS:
        require_distinct("", definition[name], ConflictingFields, name)
    check_bounds(definition["min"], definition.get("max"))
    if "resolved" in definition:
        return definition
    found = [*_groups(uow, definition, limits)]
    groups = [rates for _, rates in found]
    limits.check_number(
        "partitions", sum(len(each["rates"]) * len(each["rates"][0]) for each in groups), path=("groups",)
    )
    series = dict(zip(definition["groups"], [read for read, _ in found], strict=True))
    return {**definition, "groups": series, "resolved": {"groups": groups}}


def _groups(
    uow: UnitOfWork, definition: Definition, limits: Limits
) -> Iterator[tuple[Mapping[str, Json], dict[str, Any]]]:
    """Of each group its series, with rates in place of snapshots, and its rates."""
    for name, series in definition["groups"].items():
        try:
            request = _request({"series": series, "capacity_bytes_per_s": 1}).on_newest(uow)
            rates = rates_of(request, limits)
        except Failure as failure:
            failure.path = ("groups", name, *failure.path[1:])
            raise
        read = as_json(stated(request.series)) if series.get("snapshots") else series
        yield read, {"group": name, "step_s": rates.step_s, "rates": rates.bytes_per_s.tolist()}


def _request(fields: Mapping[str, Any]) -> ConsumersRequest:
    return READER.validate_python(fields)


def columns(_: Definition) -> list[Column]:
    """The axes, then the figures."""
    return [
        Column.axis("group", "string"),
        *(Column.axis(name, "int64" if name == "spare" else "double") for name in AXES[1:]),
        *(Column.figure(name, "int64" if name in _WHOLE else "double") for name in NUMBERS),
    ]


def request_of(sweep: Sweep, index: int) -> ConsumersRequest:
    """One scenario as a plan of consumers."""
    definition: Definition = sweep.definition
    axes: Any = read_sweep(definition).grid.values(index)
    of_all = {"series": definition["groups"][axes["group"]], "min": definition["min"], "max": definition.get("max")}
    return _request({name: axes[name] for name in AXES[1:]} | of_all)


KIND = SweepKind(
    name="consumers",
    read_sweep=read_sweep,
    resolve=resolve,
    count=lambda definition: read_sweep(definition).count,
    counted_by=("groups",),
    changes=_LISTS,
    numbers=NUMBERS,
    columns=columns,
    planner=PLANNER,
    request=request_of,
)
