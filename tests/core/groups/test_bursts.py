"""A burst: one rebalance from the members before it to the members after it."""

import numpy as np
from hypothesis import given

from app.core.groups.lifecycle.events import Burst, Join, Leave, SingleEvent
from app.core.groups.lifecycle.rebalance import Protocol, rebalance
from app.core.groups.lifecycle.steps import apply_events
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import ASSIGNORS
from app.core.model import padded
from tests import draws as st
from tests.profiles import costly


@given(
    partitions=st.integers(1, 9),
    before=st.integers(1, 4),
    joining=st.integers(0, 4),
    leaving=st.integers(0, 3),
    assignor=st.sampled_from(["uniform", "server-range"]),
)
@costly(150)
def test_it_is_one_rebalance_of_the_remaining_members(
    partitions: int, before: int, joining: int, leaving: int, assignor: str
) -> None:
    """Whatever the order of joins and leaves: the coordinator sees only the members at its end."""
    known = GroupMetadata({}, {"t": TopicMetadata("t", padded([[1]] * partitions))})
    members = [
        Member(f"m{i}", ("t",), owned=(Owned("t", np.arange(i, partitions, before, dtype=np.int32)),))
        for i in range(before)
    ]
    joined = [Member(f"n{i}", ("t",)) for i in range(joining)]
    left = {member.id for member in members[: min(leaving, before - 1)]}
    events: list[SingleEvent] = [*map(Join, joined), *map(Leave, sorted(left))]
    assign, protocol = ASSIGNORS[assignor].assign, Protocol.RECONCILED
    (step,) = apply_events(members, known, [Burst(tuple(events))], assign=assign, protocol=protocol, has_interval=True)
    remaining = [member for member in (*members, *joined) if member.id not in left]
    if not events:
        assert step.rebalances == ()
        return
    expected = rebalance(remaining, known, assign=assign, protocol=protocol)
    assert [member.id for member in step.members] == [member.id for member in remaining]
    assert step.assignment.members == expected.assignment.members
    assert step.assignment.partitions.tolist() == expected.assignment.partitions.tolist()
    apart = apply_events(members, known, [Burst(tuple(events))], assign=assign, protocol=protocol)
    assert len(apart) == len(events)
