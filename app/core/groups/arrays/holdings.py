"""That members hold partitions which others may hold too, as arrays: what they own, and answers that share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.owned import OwnedRuns
from app.core.groups.model import GroupAssignment, Member
from app.core.model import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """Three arrays of one length: who holds (index of a member), of which topic (index), which partition (number)."""

    members: Int64s
    topics: Int64s
    partitions: Int64s

    def __len__(self) -> int:
        return len(self.members)

    def chosen(self, places: NDArray[np.bool_] | Int64s) -> Self:
        """Those that a mask or indices choose."""
        return type(self)(self.members[places], self.topics[places], self.partitions[places])

    @classmethod
    def joined(cls, parts: Sequence["Holdings"]) -> Self:
        """Those of several, one behind the other."""
        members, topics, partitions = zip(
            *((part.members, part.topics, part.partitions) for part in parts), strict=True
        )
        return cls(np.concatenate(members), np.concatenate(topics), np.concatenate(partitions))

    @classmethod
    def of(cls, assignment: GroupAssignment) -> Self:
        """What an assignment gives to whom."""
        members = np.repeat(np.arange(len(assignment.members), dtype=np.int64), np.diff(assignment.offsets))
        return cls(members, assignment.topic_index.astype(np.int64), assignment.partitions.astype(np.int64))

    def numbers(self) -> tuple[Int64s, int, int]:
        """A number for each that tells member, topic and partition in this order; the least partition, and the range.

        The numbers stay below 2⁶³ for whatever members, topics and partition numbers fit in memory.
        """
        least = int(self.partitions.min(initial=0))
        width = int(self.partitions.max(initial=0)) - least + 1
        height = int(self.topics.max(initial=0)) + 1
        return (self.members * height + self.topics) * width + (self.partitions - least), least, width

    def distinct(self) -> Self:
        """Without what is said twice, in the order in which it is said first."""
        numbers, _, _ = self.numbers()
        _, first = np.unique(numbers, return_index=True)
        return self if len(first) == len(numbers) else self.chosen(np.sort(first))

    def assignment(
        self, members: Sequence[str], topics: Sequence[str], *, without_partitions: Sequence[tuple[int, int]] = ()
    ) -> GroupAssignment:
        """What each member gets: topics in the order of `topics`, partitions ascending, nothing twice.

        Of `without_partitions` only what still holds is said.
        """
        numbers, least, width = self.numbers()
        # Not `np.unique`, which puts integers through a hash table: a second for a million.
        numbers = np.sort(numbers)
        numbers = numbers[np.diff(numbers, prepend=-1) > 0]
        places, partitions = np.divmod(numbers, width)
        owners, topic_index = np.divmod(places, int(self.topics.max(initial=0)) + 1)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(members)))]).astype(np.int64)
        held = set(zip(owners.tolist(), topic_index.tolist(), strict=True)) if without_partitions else set()
        return GroupAssignment(
            members,
            topics,
            offsets,
            topic_index.astype(np.int32),
            (partitions + least).astype(np.int32),
            without_partitions=[pair for pair in without_partitions if pair not in held],
        )


@dataclass(frozen=True, slots=True, eq=False)
class OwnedPartitions:
    """What the members of a group own of some topics.

    Parameters
    ----------
    holdings : in the order of the members, and of each in the order in which it lists them; nothing twice.
    without_partitions : (member, topic) indices where a member names a topic as owned and no partition of it.
    """

    holdings: Holdings
    without_partitions: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, members: Sequence[Member], index_of: Mapping[str, int]) -> Self:
        """Read it; `index_of` has the topics that count, by their index."""
        owners, topics, partitions, bare = [], [], [], []
        known: dict[int, Int64s] = {}
        for index, member in enumerate(members):
            if isinstance(member.owned, OwnedRuns):
                # The names are the same sequence for all members of an assignment.
                names = member.owned.topics
                if id(names) not in known:
                    known[id(names)] = np.array([index_of.get(name, -1) for name in names], np.int64)
                topics.append(known[id(names)][member.owned.topic_index])
                partitions.append(member.owned.partitions)
                owners.append((index, len(member.owned.partitions)))
                continue
            for run in member.owned:
                topic = index_of.get(run.topic, -1)
                topics.append(np.full(len(run.partitions), topic, np.int64))
                partitions.append(run.partitions)
                owners.append((index, len(run.partitions)))
                if topic >= 0 and not len(run.partitions):
                    bare.append((index, topic))
        who = np.array(owners, np.int64).reshape(-1, 2)
        nothing = np.empty(0, np.int64)
        everything = Holdings(
            np.repeat(who[:, 0], who[:, 1]),
            np.concatenate([nothing, *topics]),
            np.concatenate([nothing, *partitions]).astype(np.int64),
        )
        return cls(everything.chosen(everything.topics >= 0).distinct(), bare)
