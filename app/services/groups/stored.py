"""The group of a stored plan: members and metadata, read from the stored request again."""

from dataclasses import dataclass, field
from typing import Any

from app.core.groups.model import GroupMetadata, Member
from app.core.groups.registry import ASSIGNORS, Assignor
from app.core.model import Cluster
from app.services.groups.requests import READER
from app.services.groups.sources import source_of
from app.store.plans import NewPlan, PlanHead


@dataclass(frozen=True, slots=True, eq=False)
class StoredGroup:
    """A group as it was planned. The plan's rows name places in `members`, which are as the assignor sees them."""

    assignor: Assignor
    members: tuple[Member, ...] = field(repr=False)
    metadata: GroupMetadata = field(repr=False)


def stored_group(head: PlanHead | NewPlan, cluster: Cluster | None) -> StoredGroup:
    """The group of a plan; `cluster` is that of its snapshot, None where it was made from none."""
    source = source_of(READER.validate_python(head.request), cluster)
    assignor = ASSIGNORS[str(head.answer["assignor"])]
    return StoredGroup(assignor, tuple(listed.seen_by(assignor) for listed in source.listed), source.metadata)


def member_ids(head: PlanHead | NewPlan) -> list[str]:
    """The members' ids at those places, from the answer alone."""
    loads: Any = head.answer["loads"]
    return [member["member_id"] for member in loads["per_member"]]
