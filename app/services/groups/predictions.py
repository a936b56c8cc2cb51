"""What one assignor makes of a group, until its members have handed over."""

from dataclasses import dataclass

import numpy as np

from app.core.groups.arrays.owned import owned_assignment
from app.core.groups.lifecycle.rebalance import GroupRebalance, rebalance
from app.core.groups.measures.handover import Handover, handover
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import ASSIGNORS, Assignor
from app.services.groups.members import ListedMember
from app.services.groups.requests import Balance
from app.services.groups.sources import GroupSource


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What one assignor makes of a group.

    Parameters
    ----------
    members : as it sees them. rebalance : None where partitions are shared, and nothing is handed over.
    assignment : once all phases are over. handover : from what members own to it.
    """

    assignor: Assignor
    members: tuple[Member, ...]
    answer: GroupAssignment
    rebalance: GroupRebalance | None
    assignment: GroupAssignment
    handover: Handover | None

    @property
    def moved(self) -> int | None:
        """Partitions that go from one member to another; None where they are shared."""
        return None if self.handover is None else self.handover.moved

    @property
    def revoked(self) -> int | None:
        """Partitions that members give up on the way, over all phases; None where they are shared."""
        return None if self.rebalance is None else sum(phase.revoked for phase in self.rebalance.phases)


def warm_up() -> None:
    """Load the compiled loops, so that no caller waits for them."""
    replicas = np.array([[0, 1], [1, 2], [2, 0]], np.int32)
    metadata = GroupMetadata({0: "a", 1: "b", 2: "c"}, {name: TopicMetadata(name, replicas) for name in "tu"})
    owned = (Owned("t", np.array([1, 2], np.int32)),)
    first = Member("m0", ("t", "u"), "a", owned=owned, generation_id=1)
    lag = {"t": np.ones(3, np.int64)}
    # Equal and unequal subscriptions are assigned by loops of their own, and loads by another.
    balances: tuple[Balance, ...] = ("partitions", "lag")
    for topics, balance in zip((("t", "u"), ("t",)), balances, strict=True):
        listed = [ListedMember(first), ListedMember(Member("m1", topics, "b"))]
        for assignor in ASSIGNORS.values():
            predict(assignor, GroupSource(listed, metadata, lag, balance=balance))


def predict(assignor: Assignor, source: GroupSource) -> Prediction:
    """Have an assignor assign the group, and the members hand over. Raises what the assignor does."""
    members = tuple(listed.seen_by(assignor) for listed in source.listed)
    metadata = source.metadata
    if not assignor.is_exclusive or not members:
        answer = source.assign(assignor)(members, metadata)
        return Prediction(assignor, members, answer, None, answer, None)
    done = rebalance(members, metadata, assign=source.assign(assignor), protocol=assignor.protocol)
    moved = handover(metadata, owned_assignment(members, metadata), done.assignment)
    return Prediction(assignor, members, done.answer, done, done.assignment, moved)
