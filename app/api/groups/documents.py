"""What group plans look like as JSON."""

from typing import Any, Literal

from pydantic import BaseModel

from app.api.plan_documents import CertificateDocument, FailureDocument, WholePlan
from app.api.snapshots import WarningDocument
from app.core.groups.measures.handover import Handover
from app.core.groups.measures.violations import GroupViolation

Assigned = dict[str, dict[str, list[int]]]
"""Partitions by member and topic: members in the group's order, the rest in the order of Kafka's own lists."""


class LocalityCounts(BaseModel):
    """Where partitions are read: in a rack with a replica, in another rack, or unknown."""

    in_rack: int
    cross_rack: int
    unknown: int
    in_rack_share: float | None


class LocalityDocument(LocalityCounts):
    """Where partitions are read, also by bytes/s if these are known."""

    bytes_per_s: LocalityCounts | None = None


class EvennessDocument(BaseModel):
    """The balance of members. `spread` is the largest difference between two members that could share partitions."""

    min: int
    max: int
    spread: int
    total: int


class MemberLoad(BaseModel):
    """The load of one member."""

    member_id: str
    group_instance_id: str | None
    rack_id: str | None
    partitions: int
    lag: int | None = None
    bytes_per_s: int | None = None
    in_rack: int
    cross_rack: int
    unknown: int


class Loads(BaseModel):
    """The balance of members, by each known weight."""

    partitions: EvennessDocument
    lag: EvennessDocument | None = None
    bytes_per_s: EvennessDocument | None = None


class LoadsDocument(Loads):
    """The balance of members, and the load of each."""

    per_member: list[MemberLoad]


class OptimumDocument(LocalityDocument):
    """The optimal assignment of the group, given the partitions that its members own."""

    balance: Literal["partitions", "lag", "bytes_per_s"]
    moved: int
    spread: int
    largest_load: int | None = None
    certificate: CertificateDocument


class PhaseDocument(BaseModel):
    """One round of joining and assigning; `pending` partitions were revoked and are assigned by the next one."""

    assignment: Assigned
    revoked: int
    added: int
    pending: int


class RebalanceDocument(BaseModel):
    """A rebalance, until no member has to revoke a partition; not `settled` if that does not happen."""

    settled: bool
    phases: list[PhaseDocument]


class TopicChangeDocument(BaseModel):
    """A change of a topic: `appeared`, `vanished`, `partitions` or `racks`; the first partitions are listed."""

    topic: str
    what: Literal["appeared", "vanished", "partitions", "racks"]
    partitions: list[int]
    count: int


class StepTriggerDocument(BaseModel):
    """Whether new metadata makes the leader rebalance; `unseen` are changes that a leader without rack ignores."""

    would_rebalance: bool
    because: list[TopicChangeDocument]
    unseen: list[TopicChangeDocument]


class TriggerDocument(StepTriggerDocument):
    """Whether the leader rebalances, and which member leads."""

    leader: str | None


class UncoveredPartition(BaseModel):
    """A partition that no member of a share group reads."""

    topic: str
    partition: int


class MembersPerPartition(BaseModel):
    """Members of a partition of a share group."""

    min: int
    max: int


class BestSharingDocument(BaseModel):
    """The best possible: the smallest largest load that covers every partition, and the smallest spread with it."""

    uncovered: int
    largest_load: int
    spread: int


class SharingDocument(BaseModel):
    """How a share group covers its partitions: those of subscribed topics that may be assigned. `spread` is the largest
    − smallest number of partitions of a member."""

    partitions: int
    uncovered: int
    uncovered_partitions: list[UncoveredPartition]
    members_per_partition: MembersPerPartition
    largest_load: int
    spread: int
    best: BestSharingDocument


class StepDocument(BaseModel):
    """One event and its effects. A rolling restart has a step for each member, with the same `event_index`.

    In a share group nothing is handed over: `added` and `revoked` are pairs of a member and a partition, and `failures`
    are those of Kafka's own assignor, after which members keep what they have.
    """

    event_index: int
    event: dict[str, Any]
    assignment: Assigned
    moved: int | None
    revoked: int
    handover: Handover | None
    locality_before: LocalityCounts
    locality: LocalityDocument
    optimum: OptimumDocument | None
    rebalances: list[RebalanceDocument]
    trigger: StepTriggerDocument | None
    sharing: SharingDocument | None
    added: int | None
    failures: list[FailureDocument]


class ComparedAssignor(BaseModel):
    """One line of the comparison; all figures are null if the assignor fails."""

    assignor: str
    runs_on: Literal["leader", "coordinator", "nowhere"]
    protocol: Literal["eager", "cooperative", "reconciled"]
    rack_aware: bool
    in_rack: int | None
    cross_rack: int | None
    unknown: int | None
    in_rack_share: float | None
    bytes_per_s: LocalityCounts | None = None
    moved: int | None
    revoked: int | None
    phases: int | None
    loads: Loads | None
    error: FailureDocument | None


class GroupPlanDocument(WholePlan):
    """The assignment after the group has rebalanced. `phases[0].assignment` is the assignor's first answer."""

    assignor: str
    protocol: Literal["eager", "cooperative", "reconciled"]
    assignment: Assigned
    phases: list[PhaseDocument]
    settled: bool
    locality: LocalityDocument
    loads: LoadsDocument
    moved: int | None
    revoked: int | None
    handover: Handover | None
    optimum: OptimumDocument | None
    sharing: SharingDocument | None
    comparison: list[ComparedAssignor]
    steps: list[StepDocument]
    trigger: TriggerDocument | None
    violations: list[GroupViolation]
    warnings: list[WarningDocument]
    request: dict[str, Any]
