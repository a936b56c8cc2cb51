"""An estate: the groups of a cluster, and everything that is tried on each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.core.groups.model import GroupMetadata, Member
from app.core.groups.registry import Assignor
from app.errors import Json


@dataclass(frozen=True, slots=True, eq=False)
class EstateGroup:
    """A group as it was recorded; its members own what they were assigned."""

    id: str
    members: tuple[Member, ...]

    def known_to(self, metadata: GroupMetadata) -> GroupMetadata:
        """The part of the metadata that the group's leader asks for, and what its members own beside it."""
        names = {topic for member in self.members for topic in member.topics}
        names |= {run.topic for member in self.members for run in member.owned}
        return replace(metadata, topics={name: its for name, its in metadata.topics.items() if name in names})


@dataclass(frozen=True, slots=True, eq=False)
class Estate:
    """Groups, and what is tried on each: every assignor with every number of members lost and added.

    Parameters
    ----------
    metadata : of every topic that some group subscribes to or owns.
    members_lost, members_added : how many; seed : what draws who is lost.
    """

    metadata: GroupMetadata
    groups: tuple[EstateGroup, ...]
    assignors: tuple[Assignor, ...]
    members_lost: tuple[int, ...]
    members_added: tuple[int, ...]
    seed: int

    @property
    def count(self) -> int:
        """How many scenarios there are."""
        return len(self.groups) * len(self.assignors) * len(self.members_lost) * len(self.members_added)

    def trial(self, index: int) -> "Trial":
        """Scenario `index`: groups vary slowest, then assignors, members lost and members added."""
        rest, added = divmod(index, len(self.members_added))
        rest, lost = divmod(rest, len(self.members_lost))
        group, assignor = divmod(rest, len(self.assignors))
        return Trial(self.groups[group], self.assignors[assignor], self.members_lost[lost], self.members_added[added])


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One scenario: a group under an assignor, with so many members lost, and then so many added."""

    group: EstateGroup
    assignor: Assignor
    lost: int
    added: int

    @property
    def axes(self) -> Mapping[str, Json]:
        """The scenario by its coordinates."""
        return {
            "group": self.group.id,
            "assignor": self.assignor.name,
            "members_lost": self.lost,
            "members_added": self.added,
        }
