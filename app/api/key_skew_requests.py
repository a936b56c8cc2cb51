"""A sweep over a dataset of keys, as requests write it."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.fields import Int32, Labels
from app.api.fields import Request as RequestModel
from app.api.keys import Count, PartitionerName
from app.api.sweep_kind_field import KnownKind
from app.core.keys.partitioners import PARTITIONERS
from app.services.sweeps import SweepRequest

Printable = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Partitioners = Annotated[list[PartitionerName], Field(min_length=1, max_length=len(PARTITIONERS))]
Counts = Annotated[list[Count], Field(max_length=32)]
Heaviest = Annotated[Int32, Field(ge=0, le=100)]


class DatasetRequest(RequestModel):
    """Where keys are, and how they are written there."""

    path: Printable = Field(
        description="A file, a folder of them, or a URI that Spark can read, under one of `RACKPLAN_DATASET_ROOTS`. "
        "Files whose names begin with `_` or `.` are left out; of a folder of Parquet or Arrow files, those are read "
        "that end with `.parquet`, `.pq` or `.arrow`."
    )
    format: Literal["parquet", "arrow", "csv", "json_lines", "lines"] = Field(
        description="`csv` has a header line, and its empty fields are records without key; `lines` has a key a line."
    )
    key_column: Printable | None = Field(None, description="Where the keys are; lines have no columns.")
    value_column: Printable | None = Field(
        None,
        description="Where the values are, as text or bytes, or their lengths, as integers. A record's bytes are those "
        "of its key and of its value; of its key alone where this is left out.",
    )
    key_encoding: Literal["utf8", "base64", "int32", "int64"] = Field(
        "utf8",
        description="`utf8` takes text and bytes as they are; numbers, from integers or their digits, are hashed as "
        "Java's serialisers write them, big-endian.",
    )


class KeySkewChanges(RequestModel):
    """Who places the keys, and on how many partitions."""

    partitioners: Partitioners | None = None
    partitions: Count | None = None
    compare_partitions: Counts | None = None
    heaviest: Heaviest | None = None


class KeySkewSweepRequest(KeySkewChanges):
    """A sweep over a dataset of keys: a scenario is a partitioner at a partition count."""

    kind: Annotated[Literal["key_skew"], KnownKind]
    dataset: DatasetRequest
    partitioners: Partitioners = Field(
        default_factory=lambda: ["murmur2"], description="One that is listed twice is measured once."
    )
    partitions: Count = Field(description="The count that moves are counted from.")
    compare_partitions: Counts = Field(
        default_factory=list, description="Other counts: how even they are, and what share of records and keys moves."
    )
    heaviest: Heaviest = Field(20, description="How many of the heaviest keys are named.")
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """As the service knows it: what was left out is the default."""
        definition = self.model_dump(mode="json", exclude_none=True, exclude={"kind", "labels"})
        return SweepRequest(self.kind, definition, self.labels)
