"""Share groups: coverage against the best possible, and events; laws, then examples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given

from app.core.groups.lifecycle.events import Event, Join, Leave, Replace, RollingRestart, TopicGrown
from app.core.groups.lifecycle.steps import apply_share_events, with_shared
from app.core.groups.measures.sharing import best_sharing, coverage, member_partitions, restricted, shared_assignment
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import assignor_for
from app.core.groups.server.group import id_of_topic
from app.core.kafka_versions import KafkaVersion
from app.errors.requests import ConflictingFields
from tests import draws as st
from tests.profiles import costly

RELEASES = ["4.0.0", "4.1", "4.2"]
TOPICS = ("t0", "t1", "t2")


def metadata_of(**partitions: int) -> GroupMetadata:
    topics = {name: TopicMetadata(name, np.empty((count, 0), np.int32)) for name, count in partitions.items()}
    return GroupMetadata({}, topics)


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[Member], GroupMetadata]:
    sizes = draw(st.tuples(*[st.integers(1, 3)] * 3))
    lists = draw(st.lists(st.sets(st.sampled_from(TOPICS), min_size=1), min_size=1, max_size=4))
    members = [Member(f"m{number}", tuple(sorted(topics))) for number, topics in enumerate(lists)]
    return members, metadata_of(**dict(zip(TOPICS, sizes, strict=True)))


@given(group=groups())
def test_the_best_is_that_of_a_search_through_every_assignment_of_one_member_a_partition(
    group: tuple[list[Member], GroupMetadata],
) -> None:
    """The smallest largest load by brute force; then members may read more, which closes the spread."""
    members, metadata = group
    subscribers = {
        (topic, number): [place for place, member in enumerate(members) if topic in member.topics]
        for topic in TOPICS
        for number in range(len(metadata.topics[topic].replicas))
    }
    choices = [places for places in subscribers.values() if places]
    if np.prod([len(places) for places in choices]) > 20_000:
        choices = choices[:6]
        metadata = metadata_of(t0=1, t1=1, t2=1)
        choices = [[p for p, m in enumerate(members) if topic in m.topics] for topic in TOPICS]
        choices = [places for places in choices if places]
    largest = min(max(np.bincount(chosen, minlength=len(members))) for chosen in product(*choices))
    best = best_sharing(members, metadata)
    assert best.largest_load == largest
    reach = min(sum(len(metadata.topics[topic].replicas) for topic in member.topics) for member in members)
    assert best.spread == max(largest - reach, 0)


@pytest.mark.parametrize("release", RELEASES)
@given(group=groups())
def test_kafka_covers_every_partition_and_is_no_better_than_the_best(
    release: str, group: tuple[list[Member], GroupMetadata]
) -> None:
    members, metadata = group
    assignment = assignor_for("simple", KafkaVersion.of(release)).assign(members, metadata)
    measured, best = coverage(members, metadata, assignment), best_sharing(members, metadata)
    assert measured.uncovered == ()
    assert measured.fewest_members >= 1
    assert measured.largest_load >= best.largest_load
    assert 0 <= measured.spread <= measured.largest_load


@pytest.mark.parametrize("release", ["4.1", "4.2"])
@given(group=groups(), data=st.data())
def test_only_assignable_partitions_are_assigned(
    release: str, group: tuple[list[Member], GroupMetadata], data: st.DataObject
) -> None:
    members, metadata = group
    allowed = {
        name: sorted(data.draw(st.sets(st.sampled_from(range(len(topic.replicas))))))
        for name, topic in metadata.topics.items()
        if data.draw(st.booleans())
    }
    restrict = assignor_for("simple", KafkaVersion.of(release)).restricted
    assert restrict is not None
    assign = restrict({id_of_topic(metadata.topics[name]): frozenset(ids) for name, ids in allowed.items()})
    assignment = assign(members, metadata)
    assert all(number in allowed.get(topic, ()) for _, topic, number in member_partitions(assignment))
    measured = coverage(members, metadata, assignment, allowed)
    assert measured.uncovered == ()
    assert measured.largest_load >= best_sharing(members, restricted(metadata, allowed)).largest_load


@costly()
@pytest.mark.parametrize("release", RELEASES)
@given(group=groups())
def test_events_leave_no_partition_without_a_member(release: str, group: tuple[list[Member], GroupMetadata]) -> None:
    members, metadata = group
    assign = assignor_for("simple", KafkaVersion.of(release)).assign
    started = with_shared(members, assign(members, metadata))
    happening: list[Event] = [
        Join(Member("new", TOPICS)),
        TopicGrown("t0", 5),
        RollingRestart(),
        Replace("new-restarted", Member("newer", TOPICS)),
        Leave("m0-restarted"),
    ]
    before = member_partitions(shared_assignment(started))
    for step in apply_share_events(started, metadata, happening, assign=assign):
        assert step.failures == ()
        assert coverage(step.members, step.metadata, step.assignment).uncovered == ()
        after = member_partitions(step.assignment)
        assert (step.added, step.removed) == (len(after - before), len(before - after))
        before = after


class TestExamples:
    def test_idle_members_share_a_partition(self) -> None:
        """Two partitions and three members: 4.2 gives each partition two members, so that one member has both."""
        members, metadata = [Member(name, ("t0",)) for name in "abc"], metadata_of(t0=2)
        assignment = assignor_for("simple", KafkaVersion.of("4.2")).assign(members, metadata)
        measured, best = coverage(members, metadata, assignment), best_sharing(members, metadata)
        assert (measured.fewest_members, measured.most_members) == (2, 2)
        assert (measured.largest_load, measured.spread) == (2, 1)
        assert (best.largest_load, best.spread) == (1, 0)

    def test_members_keep_what_they_have_where_kafka_fails(self) -> None:
        """`step2-leave-join-003` of the measured cases: a partition that no longer exists counts towards a quota."""
        owned = {"node_11": 2, "pod-49.svc": 0, "47": 0, "25": 0}
        members = [Member(name, ("t0",), owned=(Owned("t0", np.array([p], np.int32)),)) for name, p in owned.items()]
        metadata = GroupMetadata({}, {"t0": TopicMetadata("t0", np.empty((1, 0), np.int32), "AAAAAAAAAAAAAAAAAAAAJg")})
        joining: list[Event] = [Join(Member("new-734", ("t0",))), Leave("node_11")]
        assign = assignor_for("simple", KafkaVersion.of("4.2")).assign
        failing, repaired = apply_share_events(members, metadata, joining, assign=assign)
        assert [failure.kafka.exception for failure in failing.failures] == ["NoSuchElementException"]
        assert (failing.added, failing.removed) == (0, 0)
        assert repaired.failures == ()
        assert ("new-734", "t0", 0) in member_partitions(repaired.assignment)

    def test_an_empty_group_has_nothing(self) -> None:
        metadata = metadata_of(t0=2)
        assign = assignor_for("simple", KafkaVersion.of("4.2")).assign
        started = with_shared([Member("a", ("t0",))], assign([Member("a", ("t0",))], metadata))
        (step,) = apply_share_events(started, metadata, [Leave("a")], assign=assign)
        assert (step.members, step.removed) == ((), 2)
        assert best_sharing((), metadata).largest_load == 0

    def test_an_impossible_event_is_named_with_its_place(self) -> None:
        assign = assignor_for("simple", KafkaVersion.of("4.2")).assign
        with pytest.raises(ConflictingFields) as raised:
            apply_share_events([Member("a", ("t0",))], metadata_of(t0=1), [Leave("b")], assign=assign)
        assert raised.value.path[:2] == ("events", 0)
