"""Sweeps over the consumers of groups: a scenario is a group at a capacity, an allowed delay and spare consumers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from app.core.consumers.sweep import AXES, NUMBERS, read_sweep
from app.errors import Failure, Json
from app.errors.requests import ConflictingFields
from app.formats.tables.scenario_tables import Column
from app.services.bodies import stated
from app.services.consumers import PLANNER, READER, ConsumersRequest
from app.services.consumers.requests import rates_of
from app.services.limits import Limits
from app.services.plans import Plan, as_json, make_plan
from app.services.snapshots import require_distinct
from app.services.sweeps.kind import SweepKind
from app.store.sweeps import Sweep

if TYPE_CHECKING:
    from app.store.database import UnitOfWork

_WHOLE = ("most_consumers", "lost_bytes_per_s")
_LISTS = ("capacities_bytes_per_s", "delays_s", "spares")


def resolve(uow: "UnitOfWork", definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """Validate a definition, and read the rates of each group, unless they are resolved already.

    Raises
    ------
    ConflictingFields : a value is listed twice, or `max` is below `min`.
    As reading snapshots and `rates_of`, with the group's path.
    LimitExceeded : all groups together have too many rates.
    """
    given = cast("Mapping[str, Any]", definition)
    for name in _LISTS:
        require_distinct("", given[name], ConflictingFields, name)
    if given.get("max") is not None and given["max"] < given["min"]:
        raise ConflictingFields(f"max is {given['max']}, and min is {given['min']}", path=("max",), value=given["max"])
    if "resolved" in definition:
        return definition
    found = [*_groups(uow, given, limits)]
    groups = [rates for _, rates in found]
    limits.check_number(
        "partitions", sum(len(each["rates"]) * len(each["rates"][0]) for each in groups), path=("groups",)
    )
    series = dict(zip(given["groups"], [read for read, _ in found], strict=True))
    return {**definition, "groups": series, "resolved": {"groups": groups}}


def _groups(
    uow: "UnitOfWork", given: Mapping[str, Any], limits: Limits
) -> Iterator[tuple[Mapping[str, Json], dict[str, Any]]]:
    """Of each group its series, with rates in place of snapshots, and its rates."""
    for name, series in given["groups"].items():
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


def columns(_: Mapping[str, Json]) -> list[Column]:
    """The axes, then the figures."""
    return [
        Column.axis("group", "string"),
        *(Column.axis(name, "int64" if name == "spare" else "double") for name in AXES[1:]),
        *(Column.figure(name, "int64" if name in _WHOLE else "double") for name in NUMBERS),
    ]


def opened(uow: "UnitOfWork", sweep: Sweep, index: int, limits: Limits) -> Plan:
    """One scenario as a plan of consumers."""
    definition = cast("Mapping[str, Any]", sweep.definition)
    axes: Any = read_sweep(definition).grid.values(index)
    fields = {name: axes[name] for name in AXES[1:]} | {
        "series": definition["groups"][axes["group"]],
        "min": definition["min"],
        "max": definition.get("max"),
        "labels": {"sweep": str(sweep.id), "scenario": str(index)},
    }
    return make_plan(uow, PLANNER, _request(fields), limits)


KIND = SweepKind(
    name="consumers",
    read_sweep=read_sweep,
    resolve=resolve,
    count=lambda definition: read_sweep(definition).count,
    counted_by=("groups",),
    changes=_LISTS,
    numbers=NUMBERS,
    columns=columns,
    opened=opened,
)
