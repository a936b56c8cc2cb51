"""The difference of a reassignment from another plan or from a snapshot."""

from pydantic import BaseModel, Field

from app.api.plan_documents import DiffSummary
from app.core.measures.transfers import PartitionTransfer
from app.services.reassignment import SHOWN_FLOWS, BrokerFlow, BrokerTransfer


class LoadChange(BaseModel):
    """The load of a resource of a broker on both sides: bytes, bytes/s, vCPU, or a count."""

    before: float | None
    """Load before; null if it is unknown there, as of a broker that only one of two plans has."""
    after: float | None
    """Load after the plan; null if it is unknown."""


class CrossRackChange(BaseModel):
    """Bytes/s between racks on both sides."""

    before_bytes_per_s: int
    """Bytes/s before."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class ReassignmentDiffSummary(DiffSummary):
    """Counts of differences over all of a cluster; bytes are those of replicas whose size is known."""

    moved_bytes: int
    """Bytes of the replicas added, those of known size."""
    unknown_size_replicas: int
    """Of the replicas added, those of unknown size."""
    brokers: list[BrokerTransfer]
    """By ascending id."""
    flows: list[BrokerFlow] = Field(description=f"The largest first, {SHOWN_FLOWS} at most.")
    flows_in_all: int
    """Number of flows, listed or not."""
    loads: dict[str, dict[str, LoadChange]] | None
    """By broker id and resource, as each plan states its loads; null against another snapshot."""
    cross_rack: CrossRackChange | None
    """Bytes/s between racks, as each plan states them; null if either does not."""


class ReassignmentDiffDocument(BaseModel):
    """The partitions that differ, by topic and partition id, with the racks that they span."""

    summary: ReassignmentDiffSummary
    """Counts and bytes over all partitions, not only those of the page."""
    items: list[PartitionTransfer]
    """Differing partitions, by topic and partition id."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""
