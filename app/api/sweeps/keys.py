"""Requests for sweeps over a dataset of keys."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.sweeps.fields import KnownKind, Submission
from app.core.keys.partitioners import PARTITIONERS
from app.services.bodies import Request as RequestModel
from app.services.fields import PRINTABLE, Int32, Labels
from app.services.keys import Count, PartitionerName

Printable = Annotated[str, Field(min_length=1, max_length=4096, pattern=PRINTABLE)]
Partitioners = Annotated[list[PartitionerName], Field(min_length=1, max_length=len(PARTITIONERS))]
Counts = Annotated[list[Count], Field(max_length=32)]
Heaviest = Annotated[Int32, Field(ge=0, le=100)]


class DatasetRequest(RequestModel):
    """The location and the format of a dataset of keys."""

    path: Printable
    """A file, a folder of them, or a URI that Spark can read, under one of `RACKPLAN_DATASET_ROOTS`. Files whose names
    begin with `_` or `.` are ignored; of a folder of Parquet or Arrow files, those that end with `.parquet`, `.pq` or
    `.arrow` are read."""
    format: Literal["parquet", "arrow", "csv", "json_lines", "lines"]
    """`csv` has a header line, and an empty field is a record without key; `lines` has one key a line."""
    key_column: Printable | None = None
    """The column of the keys; lines have no columns."""
    value_column: Printable | None = None
    """The column of the values, as text or bytes, or of their lengths, as integers. A record's bytes include its
    key and its value; by default its key alone."""
    key_encoding: Literal["utf8", "base64", "int32", "int64"] = "utf8"
    """`utf8` hashes text and bytes as they are; numbers, from integers or their digits, are hashed as Java's
    serialisers encode them, big-endian."""


class KeySkewChanges(RequestModel):
    """The partitioners and the partition counts."""

    partitioners: Partitioners | None = None
    """Names of partitioners; null keeps them."""
    partitions: Count | None = None
    """Partition count from which moves are counted; null keeps it."""
    compare_partitions: Counts | None = None
    """Other partition counts; null keeps them."""
    heaviest: Heaviest | None = None
    """Number of heaviest keys to list; null keeps it."""


class KeySkewSweepRequest(Submission, KeySkewChanges):
    """A sweep over a dataset of keys: a scenario is a partitioner at a partition count."""

    kind: Annotated[Literal["key_skew"], KnownKind]
    """Kind of the sweep."""
    dataset: DatasetRequest
    """Location and format of the keys."""
    partitioners: Partitioners = Field(default_factory=lambda: ["murmur2"])
    """A partitioner that is listed twice is measured once."""
    partitions: Count
    """The count from which moves are counted."""
    compare_partitions: Counts = Field(default_factory=list)
    """Other counts: their balance, and the shares of records and keys that move."""
    heaviest: Heaviest = 20
    """The number of heaviest keys to list."""
    labels: Labels = Field(default_factory=dict)
