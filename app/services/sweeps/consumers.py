"""Sweeps over the consumers of groups: a scenario is a group at a capacity, an allowed delay and spare consumers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from app.core.consumers.sweep import AXES, NUMBERS, read_sweep
from app.errors import Failure, Json
from app.errors.requests import ConflictingFields
from app.formats.tables.scenario_tables import Column
from app.services.consumers import PLANNER, READER, ConsumersRequest
from app.services.consumers.requests import rates_of
from app.services.consumers.snapshot_series import with_rates
from app.services.limits import Limits
from app.services.plans import Plan, as_json, make_plan
from app.services.snapshots import first_repeated
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
    What `rates_of` and `with_rates` do, with the group's path.
    LimitExceeded : all groups together have too many rates.
    """
    given = cast("Mapping[str, Any]", definition)
    for name in _LISTS:
        if (twice := first_repeated(given[name])) is not None:
            detail = f"{given[name][twice]} is listed twice"
            raise ConflictingFields(detail, path=(name, twice), value=given[name][twice])
    if given.get("max") is not None and given["max"] < given["min"]:
        raise ConflictingFields(f"max is {given['max']}, and min is {given['min']}", path=("max",), value=given["max"])
    if "resolved" in definition:
        return definition
    series = {name: _series(uow, name, each) for name, each in given["groups"].items()}
    groups = [*_groups(series, limits)]
    limits.check_number(
        "partitions", sum(len(each["rates"]) * len(each["rates"][0]) for each in groups), path=("groups",)
    )
    return {**definition, "groups": series, "resolved": {"groups": groups}}


@contextmanager
def _of_group(name: str) -> Iterator[None]:
    """Failures of a series have the path of its group."""
    try:
        yield
    except Failure as failure:
        failure.path = ("groups", name, *failure.path[1:])
        raise


def _series(uow: "UnitOfWork", name: str, given: Mapping[str, Any]) -> Mapping[str, Json]:
    """A series with the rates of its snapshots, if it states some."""
    if given.get("snapshots") is None:
        return given
    with _of_group(name):
        read = as_json(with_rates(uow, _request({"series": given, "capacity_bytes_per_s": 1}).series, None, ()))
    return {field: value for field, value in read.items() if value is not None}


def _groups(series: Mapping[str, Any], limits: Limits) -> Iterator[dict[str, Any]]:
    for name, each in series.items():
        with _of_group(name):
            rates = rates_of(_request({"series": each, "capacity_bytes_per_s": 1}), limits)
        yield {"group": name, "step_s": rates.step_s, "rates": rates.bytes_per_s.tolist()}


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
