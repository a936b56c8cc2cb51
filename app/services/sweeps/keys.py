"""Sweeps over a dataset of keys: how partitioners and partition counts spread it, measured in one pass on Spark.

A scenario is a partitioner at a partition count. Moves are counted from the first count, `partitions`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from app.core.keys.partitioners import require_partitions
from app.core.keys.sweep import NUMBERS, DatasetSums, scenario_rows
from app.errors import Json
from app.errors.requests import ConflictingFields, DatasetEmpty, ImpossibleValue, NotForThisKind
from app.formats.tables.scenario_tables import Column
from app.services.dataset_roots import is_uri, located
from app.services.limits import Limits
from app.services.plans import Plan
from app.services.sweeps.kind import SweepKind
from app.store.sweeps import Sweep

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


def resolve(_: "UnitOfWork", definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """Validate a definition, and resolve the dataset's location; whether it exists is checked by the worker.

    Raises
    ------
    DatasetNotAllowed : it is outside of the operator's roots. InvalidPartitions.
    ImpossibleValue : a clone sets a field to null.
    ConflictingFields : Arrow files that are not local, a column of lines, or no column of another format.
    LimitExceeded : all scenarios together have more partitions than one answer may have.
    """
    given = cast("Mapping[str, Any]", definition)
    dataset = given["dataset"]
    for name in ("partitioners", "partitions", "compare_partitions", "heaviest"):
        if given[name] is None:
            raise ImpossibleValue(f"{name} is null; a key_skew sweep needs it", path=(name,), value=None)
    require_partitions(given["partitions"], path=("partitions",))
    for index, count in enumerate(given["compare_partitions"]):
        require_partitions(count, path=("compare_partitions", index))
    answered = len(given["partitioners"]) * sum(counts(definition))
    limits.check_number("sync_partitions", answered, path=("partitions",))
    has_columns = dataset["format"] != "lines"
    if not has_columns and "value_column" in dataset:
        detail = "a dataset of lines has no columns: each line is a key"
        raise ConflictingFields(detail, path=("dataset", "value_column"))
    if has_columns != ("key_column" in dataset):
        detail = f"a dataset of {dataset['format']} " + (
            "has its keys in a column: key_column names it" if has_columns else "has no columns: each line is a key"
        )
        raise ConflictingFields(detail, path=("dataset", "key_column"))
    location = located(dataset["path"], limits.dataset_roots)
    if dataset["format"] == "arrow" and is_uri(location):
        raise ConflictingFields("Arrow files are read from folders, not from URIs", path=("dataset", "format"))
    distinct = {**definition, "partitioners": list(dict.fromkeys(given["partitioners"]))}
    return {**distinct, "resolved": {"location": location, "roots": list(limits.dataset_roots)}}


def counts(definition: Mapping[str, Json]) -> list[int]:
    """The partition counts, each once; moves are counted from the first."""
    given = cast("Mapping[str, Any]", definition)
    return list(dict.fromkeys([given["partitions"], *given["compare_partitions"]]))


def scenarios(definition: Mapping[str, Json]) -> int:
    """The number of scenarios: partitioners × partition counts."""
    return len(cast("Sequence[str]", definition["partitioners"])) * len(counts(definition))


def columns(_: Mapping[str, Json]) -> list[Column]:
    """The axes, then the figures."""
    integers = ("heaviest_partition_records", "records_without_partition")
    return [
        Column.axis("partitioner", "string"),
        Column.axis("partitions", "int64"),
        *(Column.figure(name, "int64") for name in ("records", "records_without_key", "keys")),
        *(Column.figure(name, "int64" if name in integers else "double") for name in NUMBERS),
        *(Column.figure(name, "int64") for name in ("heaviest_partition", "suggested_partitions")),
    ]


def opened(_: "UnitOfWork", __: Sweep, ___: int, ____: Limits) -> Plan:
    """Raise `NotForThisKind`: such a scenario places nothing that a plan could contain."""
    detail = "a scenario of a key_skew sweep places no replicas and no members, so there is no plan of it"
    raise NotForThisKind(detail, kind="key_skew", operation="get_scenario")


def rows(definition: Mapping[str, Json], dataset_sums: DatasetSums) -> list[dict[str, Json]]:
    """Every scenario's row, partitioner by partitioner. Raises `DatasetEmpty` if there is no record."""
    given = cast("Mapping[str, Any]", definition)
    if not dataset_sums.records:
        path = given["dataset"]["path"]
        raise DatasetEmpty(f"{path} has no records", path=("dataset", "path"), value=path)
    return scenario_rows(dataset_sums, given["partitioners"], counts(definition))


KIND = SweepKind(
    name="key_skew",
    read_sweep=None,
    resolve=resolve,
    count=scenarios,
    counted_by=("partitioners",),
    changes=("partitioners", "partitions", "compare_partitions", "heaviest"),
    numbers=NUMBERS,
    columns=columns,
    opened=opened,
)
