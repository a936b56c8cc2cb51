"""Two ids of topics or of members in one bucket: the coordinator's own maps decide, over several rebalances."""

from base64 import urlsafe_b64encode
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from app.core.groups.lifecycle.events import Event, Join, Leave
from app.core.groups.lifecycle.rebalance import Protocol, rebalance
from app.core.groups.lifecycle.steps import apply_events
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import assignor_for
from app.core.kafka_versions import KafkaVersion
from tests import draws as st
from tests.core.groups.coordinator_by_hand import Coordinator, Target, TimelineTable
from tests.profiles import costly

NAMES = ("orders", "payments", "audit", "clicks", "stock", "returns")
MEMBERS = ("m0", "m1", "m2", "a", "q", "Q", "1", "A", "Aa", "BB", "AaAa", "BBBB")
"""Of one bucket of 16 are a, q, Q, 1 and A, of one hash code Aa and BB, and AaAa and BBBB."""


def topic_id(bucket: int, number: int) -> str:
    """An id whose hash code's low bits select a bucket: a half of zeros, and a small number."""
    return urlsafe_b64encode(bytes(8) + (bucket + 16 * number).to_bytes(8, "big")).decode().rstrip("=")


@st.composite
def groups(draw: st.DrawFn) -> tuple[dict[str, tuple[str, int]], list[tuple[str, ...]]]:
    """Topics in one or two buckets, and the members of a group before each of its rebalances."""
    count = draw(st.integers(2, len(NAMES)))
    numbers = draw(st.permutations(range(1, count + 1)))
    topics = {
        name: (topic_id(draw(st.sampled_from([3, 3, 3, 9])), number), draw(st.integers(1, 5)))
        for name, number in zip(NAMES, numbers, strict=False)
    }
    every = draw(st.permutations(MEMBERS))
    first = every[: draw(st.integers(1, 5))]
    memberships = [tuple(first)]
    for _ in range(draw(st.integers(1, 4))):
        now = list(memberships[-1])
        others = [member for member in every if member not in now]
        if len(now) > 1 and draw(st.booleans()):
            now.remove(draw(st.sampled_from(now)))
        elif others:
            now.append(draw(st.sampled_from(others)))
        memberships.append(tuple(now))
    return topics, memberships


def by_member(assignment: GroupAssignment) -> dict[str, Target]:
    answer: dict[str, Target] = {}
    for place, member in enumerate(assignment.members):
        own: Target = {}
        for entry in range(int(assignment.offsets[place]), int(assignment.offsets[place + 1])):
            topic = assignment.topics[assignment.topic_index[entry]]
            own.setdefault(topic, set()).add(int(assignment.partitions[entry]))
        answer[member] = own
    return answer


@costly()
@pytest.mark.parametrize("version", ["4.0.0", "4.1"])
@given(group=groups())
def test_every_rebalance_is_the_coordinators(
    version: str, group: tuple[dict[str, tuple[str, int]], list[tuple[str, ...]]]
) -> None:
    """A group that starts empty, then joins and leaves: the replay equals the collections, step by step."""
    topics, memberships = group
    coordinator = Coordinator(topics, to_owners=version != "4.0.0")
    metadata = GroupMetadata(
        {},
        {name: TopicMetadata(name, np.empty((count, 0), np.int32), topic) for name, (topic, count) in topics.items()},
    )
    assign = assignor_for("uniform", KafkaVersion.of(version)).assign
    subscription = tuple(topics)
    first = [Member(member, subscription) for member in memberships[0]]
    done = rebalance(first, metadata, assign=assign, protocol=Protocol.RECONCILED)
    assert by_member(done.assignment) == coordinator.rebalance(memberships[0], subscription)
    happening: list[Event] = []
    for before, after in pairwise(memberships):
        happening += [Leave(member) for member in before if member not in after]
        happening += [Join(Member(member, subscription)) for member in after if member not in before]
    steps = apply_events(done.members, metadata, happening, assign=assign, protocol=Protocol.RECONCILED)
    changed = [after for before, after in pairwise(memberships) if before != after]
    is_arbitrary = done.answer.arbitrary_choices > 0
    for step, members in zip(steps, changed, strict=True):
        answered = coordinator.rebalance(members, subscription)
        is_arbitrary |= any(done.answer.arbitrary_choices for done in step.rebalances)
        if is_arbitrary and by_member(step.assignment) != answered:
            return  # members of one slot: a table that was larger has them in another order
        assert by_member(step.assignment) == answered


def test_a_topic_that_was_assigned_later_is_in_front() -> None:
    """The order of one bucket follows the rebalances, and not the ids: 4 partitions, of two topics."""
    ids = {"orders": topic_id(3, 1), "payments": topic_id(3, 2)}
    metadata = GroupMetadata({}, {name: TopicMetadata(name, np.empty((2, 0), np.int32), ids[name]) for name in ids})
    coordinator = Coordinator({name: (ids[name], 2) for name in ids}, to_owners=True)
    coordinator.rebalance(["a"], tuple(ids))
    expected = coordinator.rebalance(["a", "b"], tuple(ids))
    assign = assignor_for("uniform", KafkaVersion.of("4.1")).assign
    done = rebalance([Member("a", tuple(ids))], metadata, assign=assign, protocol=Protocol.RECONCILED)
    (step,) = apply_events(
        done.members, metadata, [Join(Member("b", tuple(ids)))], assign=assign, protocol=Protocol.RECONCILED
    )
    assert by_member(step.assignment) == expected


def test_a_member_that_joins_is_behind_those_of_its_bucket() -> None:
    """Ids of one bucket of 16: by the slots of the group's own table, and "q", which joins, as the last."""
    topic = topic_id(3, 1)
    metadata = GroupMetadata({}, {"orders": TopicMetadata("orders", np.empty((3, 0), np.int32), topic)})
    assign = assignor_for("uniform", KafkaVersion.of("4.1")).assign
    owned = [Owned("orders", np.arange(3, dtype=np.int32))]
    there = [Member("a", ("orders",), owned=owned, generation_id=1), Member("A", ("orders",), generation_id=1)]
    assert list(TimelineTable(["a", "A"])) == ["A", "a"]
    for members in (there, there[::-1]):
        answer = assign([Member("q", ("orders",)), *members], metadata)
        assert by_member(answer) == {"a": {"orders": {0}}, "A": {"orders": {1}}, "q": {"orders": {2}}}
        assert answer.arbitrary_choices == 0


@pytest.mark.parametrize(("ids", "choices"), [(("Aa", "BB"), 1), (("a", "A"), 0), (("a", "b"), 0)])
@pytest.mark.parametrize("assignor", ["uniform", "simple"])
def test_only_members_of_one_slot_too_are_undecided(assignor: str, ids: tuple[str, str], choices: int) -> None:
    """The last that joined is then the first, and a plan says that the order of the two decides."""
    topic = TopicMetadata("orders", np.empty((2, 0), np.int32), topic_id(3, 1))
    assign = assignor_for(assignor, KafkaVersion.of("4.4")).assign
    members = [Member(each, ("orders",)) for each in ids]
    answer, reverse = (assign(listed, GroupMetadata({}, {"orders": topic})) for listed in (members, members[::-1]))
    assert answer.arbitrary_choices == reverse.arbitrary_choices == choices
    assert (by_member(answer) != by_member(reverse)) == bool(choices)
    if choices:
        assert by_member(answer)[ids[-1]] == {"orders": {0}}


@pytest.mark.parametrize(("bucket", "is_known", "choices"), [(3, False, 1), (3, True, 0), (4, False, 0)])
def test_topics_of_one_bucket_without_history_are_undecided(bucket: int, is_known: bool, choices: int) -> None:
    """A member keeps two of four partitions: those of the topic that was assigned to it last, which is unknown."""
    ids = {"orders": topic_id(3, 1), "payments": topic_id(bucket, 2)}
    topics = {name: TopicMetadata(name, np.empty((2, 0), np.int32), ids[name]) for name in ids}
    owned = [Owned(name, np.arange(2, dtype=np.int32)) for name in ids]
    since = {"orders": (1, 0), "payments": (2, 0)} if is_known else {}
    members = [Member("a", tuple(ids), owned=owned, owned_since=since), Member("b", tuple(ids))]
    answer = assignor_for("uniform", KafkaVersion.of("4.4")).assign(members, GroupMetadata({}, topics))
    assert answer.arbitrary_choices == choices
    if is_known:
        assert by_member(answer)["a"] == {"payments": {0, 1}}


@pytest.mark.parametrize(("assignor", "version"), [("server-range", "4.4"), ("simple", "4.0")])
def test_of_others_no_order_decides(assignor: str, version: str) -> None:
    """So that these are not asked a second time, though two members share every slot."""
    topic = TopicMetadata("orders", np.empty((3, 0), np.int32), topic_id(3, 1))
    assign = assignor_for(assignor, KafkaVersion.of(version)).assign
    members = [Member(each, ("orders",)) for each in ("Aa", "BB")]
    answers = [assign(listed, GroupMetadata({}, {"orders": topic})) for listed in (members, members[::-1])]
    assert by_member(answers[0]) == by_member(answers[1])
    assert [answer.arbitrary_choices for answer in answers] == [0, 0]
