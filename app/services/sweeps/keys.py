"""Sweeps over a dataset of keys: how partitioners and partition counts spread it, measured in one pass on Spark.

A scenario is a partitioner at a partition count. Moves are counted from the first count, `partitions`.
"""

from app.core.keys.partitioners import require_partitions
from app.core.keys.sweep import NUMBERS, DatasetSums, scenario_rows
from app.errors.every import ConflictingFields, DatasetEmpty, ImpossibleValue, Json
from app.formats.tables.scenario_tables import Column
from app.services.dataset_roots import is_uri, located
from app.services.limits import Limits
from app.services.sweeps.kind import Definition, SweepKind
from app.store.unit import UnitOfWork


def resolve(_: UnitOfWork, definition: Definition, limits: Limits) -> Definition:
    """Validate a definition, and resolve the dataset's location; whether it exists is checked by the worker.

    Raises
    ------
    DatasetNotAllowed : it is outside of the operator's roots. InvalidPartitions.
    ImpossibleValue : a clone sets a field to null.
    ConflictingFields : Arrow files that are not local, a column of lines, or no column of another format.
    LimitExceeded : all scenarios together have more partitions than one answer may have.
    """
    dataset = definition["dataset"]
    for name in ("partitioners", "partitions", "compare_partitions", "heaviest"):
        if definition[name] is None:
            raise ImpossibleValue(f"{name} is null; a key_skew sweep needs it", path=(name,), value=None)
    require_partitions(definition["partitions"], path=("partitions",))
    for index, count in enumerate(definition["compare_partitions"]):
        require_partitions(count, path=("compare_partitions", index))
    answered = len(definition["partitioners"]) * sum(counts(definition))
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
    distinct = {**definition, "partitioners": list(dict.fromkeys(definition["partitioners"]))}
    return {**distinct, "resolved": {"location": location, "roots": list(limits.dataset_roots)}}


def counts(definition: Definition) -> list[int]:
    """The partition counts, each once; moves are counted from the first."""
    return list(dict.fromkeys([definition["partitions"], *definition["compare_partitions"]]))


def scenarios(definition: Definition) -> int:
    """The number of scenarios: partitioners × partition counts."""
    return len(definition["partitioners"]) * len(counts(definition))


def columns(_: Definition) -> list[Column]:
    """The axes, then the figures."""
    integers = ("heaviest_partition_records", "records_without_partition")
    return [
        Column.axis("partitioner", "string"),
        Column.axis("partitions", "int64"),
        *(Column.figure(name, "int64") for name in ("records", "records_without_key", "keys")),
        *(Column.figure(name, "int64" if name in integers else "double") for name in NUMBERS),
        *(Column.figure(name, "int64") for name in ("heaviest_partition", "suggested_partitions")),
    ]


def rows(definition: Definition, dataset_sums: DatasetSums) -> list[dict[str, Json]]:
    """Every scenario's row, partitioner by partitioner. Raises `DatasetEmpty` if there is no record."""
    if not dataset_sums.records:
        path = definition["dataset"]["path"]
        raise DatasetEmpty(f"{path} has no records", path=("dataset", "path"), value=path)
    return scenario_rows(dataset_sums, definition["partitioners"], counts(definition))


KIND = SweepKind(
    name="key_skew",
    read_sweep=None,
    resolve=resolve,
    count=scenarios,
    counted_by=("partitioners",),
    changes=("partitioners", "partitions", "compare_partitions", "heaviest"),
    numbers=NUMBERS,
    columns=columns,
)
