"""Sweeps over a dataset of keys: how partitioners and partition counts spread it, measured in one pass on Spark.

A scenario is a partitioner at a partition count. Moves are counted from the first count, `partitions`.

Datasets are read under the roots that the operator configures, and nowhere else. A root is a folder, or the beginning
of a URI up to a `/`. Folders are compared after links and `..` are resolved. A path outside of the roots is rejected
before its existence is checked, so that an answer says nothing about the machine.

"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, cast

from app.core.keys.partitioners import require_partitions
from app.core.keys.sweep import NUMBERS, DatasetSums, scenario_rows
from app.errors import FieldPath, Json
from app.errors.quotation import quoted
from app.errors.requests import ConflictingFields, DatasetEmpty, DatasetNotAllowed, ImpossibleValue, NotForThisKind
from app.formats.scenario_tables import Column
from app.services.limits import Limits
from app.services.plans import Plan
from app.services.sweeps.kind import SweepKind
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep


def resolve(_: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
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


def opened(_: UnitOfWork, __: Sweep, ___: int, ____: Limits) -> Plan:
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
    module="keys",
    resolve=resolve,
    count=scenarios,
    counted_by=("partitioners",),
    changes=("partitioners", "partitions", "compare_partitions", "heaviest"),
    numbers=NUMBERS,
    columns=columns,
    opened=opened,
)


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PATTERN = re.compile(r"[*?\[\]{}\\]")
"""Characters that file systems behind a URI read as a pattern, which could match paths outside of a root."""
LOCAL = "file://"


def is_uri(path: str) -> bool:
    """Whether Spark reads it through its own file systems."""
    return _URI.match(path) is not None and not path.lower().startswith(LOCAL)


def located(path: str, roots: Sequence[str], *, field: FieldPath = ("dataset", "path")) -> str:
    """The location of an allowed dataset: a folder or file with links resolved, or the URI unchanged.

    Raises
    ------
    DatasetNotAllowed : it is under no root, is not absolute, or is a URI with a pattern or `..`.
    """
    if is_uri(path):
        parts = path.split("/")
        is_plain = not _PATTERN.search(path) and ".." not in parts and "." not in parts
        if is_plain and any(_is_under(path, root) for root in roots if is_uri(root)):
            return path
    else:
        resolved = os.path.realpath(_local(path))
        folders = [os.path.realpath(_local(root)) for root in roots if not is_uri(root)]
        if PurePath(_local(path)).is_absolute() and any(
            PurePath(resolved).is_relative_to(folder) for folder in folders
        ):
            return resolved
    allowed = f"under {', '.join(roots)}" if roots else "nowhere: RACKPLAN_DATASET_ROOTS is empty"
    detail = f"datasets are read {allowed}; {quoted(path)} is not there"
    raise DatasetNotAllowed(detail, path=field, value=path, roots=list(roots))


def _local(path: str) -> str:
    return path[len(LOCAL) :] if path.lower().startswith(LOCAL) else path


def _is_under(uri: str, root: str) -> bool:
    return uri.rstrip("/") == root.rstrip("/") or uri.startswith(root.rstrip("/") + "/")
