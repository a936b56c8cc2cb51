"""The classic range assignor: KIP-881's promises, examples by hand, Kafka's walk, and its answers."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from app.core.groups.classic.range import assign
from app.core.groups.model import GroupMetadata, Member
from app.core.jvm import JavaHashMap, JavaHashSet
from app.core.jvm.hashes import STRING, utf16_order
from app.core.model import unpadded
from tests.core.groups.assignor_cases import Lists, classic_groups, differing, lists, metadata, written


def in_line(members: list[Member]) -> list[Member]:
    """Members as they stand in line; of one instance id, as they are listed."""
    static = [member for member in members if member.group_instance_id is not None]
    others = [member for member in members if member.group_instance_id is None]
    by_instance = sorted(static, key=lambda member: utf16_order(member.group_instance_id or ""))
    return by_instance + sorted(others, key=lambda member: utf16_order(member.id))


class Topic:
    """A topic as it is dealt out by hand."""

    def __init__(self, name: str, known: GroupMetadata, readers: list[Member]) -> None:
        self.name = name
        self.readers = in_line(readers)
        rows = unpadded(known.topics[name].replicas)
        self.racks = [{rack for broker in row if (rack := known.rack_of.get(broker)) is not None} for row in rows]
        self.owner: list[str | None] = [None] * len(rows)
        self.received = Counter[str]()
        self.quota, self.extra = divmod(len(rows), len(readers))

    def matters(self) -> bool:
        """Whether racks distinguish its partitions."""
        everywhere = set[str]().union(*self.racks)
        wanted = {member.rack_id for member in self.readers if member.rack_id}
        return bool(everywhere & wanted) and any(racks != everywhere for racks in self.racks)

    def room(self, member: Member) -> int:
        """How many more a member may have."""
        return max(0, self.quota + (self.extra > 0) - self.received[member.id])

    def matches(self, member: Member, partition: int) -> bool:
        """Whether a member has no rack, or the rack of a replica."""
        return not member.rack_id or member.rack_id in self.racks[partition]

    def give(self, member: Member, partitions: list[int]) -> None:
        """Partitions to a member."""
        for partition in partitions:
            self.owner[partition] = member.id
        self.received[member.id] += len(partitions)
        self.extra -= bool(partitions) and self.received[member.id] > self.quota

    def deal(self, *, by_rack: bool) -> None:
        """Each member in line takes partitions up to its share."""
        for member in self.readers:
            free = [partition for partition, owner in enumerate(self.owner) if owner is None]
            fitting = [partition for partition in free if not by_rack or self.matches(member, partition)]
            self.give(member, fitting[: self.room(member)])


def by_hand(members: list[Member], known: GroupMetadata) -> Lists:
    """The assignment, as slowly as Kafka makes it."""
    group: JavaHashMap[str, Member] = JavaHashMap(STRING)
    subscribed: JavaHashSet[str] = JavaHashSet(STRING)
    for member in members:
        group[member.id] = member
    for member in group.values():
        for name in member.topics:
            subscribed.add(name)
    topics: JavaHashMap[str, Topic] = JavaHashMap(STRING)
    for name in subscribed:
        if name in known.topics and len(known.topics[name].replicas):
            topics[name] = Topic(name, known, [member for member in group.values() if name in member.topics])
    rack_aware = any(topic.matters() for topic in topics.values())
    if rack_aware:
        deal_by_rack(list(topics.values()))
    for topic in topics.values():
        topic.deal(by_rack=False)
    answer: Lists = {
        member.id: [
            (topic.name, partition)
            for topic in topics.values()
            for partition, owner in enumerate(topic.owner)
            if owner == member.id
        ]
        for member in members
    }
    if rack_aware:
        return {
            member: sorted(own, key=lambda place: (utf16_order(place[0]), place[1])) for member, own in answer.items()
        }
    return answer


def deal_by_rack(topics: list[Topic]) -> None:
    """Co-partitioned topics together, others by themselves if racks distinguish their partitions."""
    alike: dict[tuple[frozenset[str], int], list[Topic]] = {}
    for topic in topics:
        if any(member.rack_id for member in topic.readers):
            key = frozenset(member.id for member in topic.readers), len(topic.owner)
            alike.setdefault(key, []).append(topic)
    for together in alike.values():
        if len(together) > 1:
            deal_together(together)
        elif together[0].matters():
            together[0].deal(by_rack=True)


def deal_together(topics: list[Topic]) -> None:
    """Each partition number to the first in line that matches all topics and is below its share."""
    for partition in range(len(topics[0].owner)):
        for member in topics[0].readers:
            if all(topic.matches(member, partition) and topic.room(member) for topic in topics):
                for topic in topics:
                    topic.give(member, [partition])
                break


class TestPromises:
    """Laws of every group."""

    @given(classic_groups())
    def test_every_partition_goes_to_one_subscriber(self, group: tuple[list[Member], GroupMetadata]) -> None:
        members, known = group
        answer = lists(assign(members, known))
        topics_of = {member.id: member.topics for member in members}
        assert list(answer) == [member.id for member in members]
        assert all(topic in topics_of[member] for member, own in answer.items() for topic, _ in own)
        read = {name for member in members for name in member.topics if name in known.topics}
        expected = {(name, partition) for name in read for partition in range(len(known.topics[name].replicas))}
        assert Counter(place for own in answer.values() for place in own) == Counter(expected)

    @given(classic_groups())
    def test_shares_of_a_topic_differ_by_one_at_most(self, group: tuple[list[Member], GroupMetadata]) -> None:
        members, known = group
        answer = lists(assign(members, known))
        for name in known.topics:
            shares = [
                sum(topic == name for topic, _ in answer[member.id]) for member in members if name in member.topics
            ]
            assert not shares or max(shares) - min(shares) <= 1

    @given(classic_groups())
    def test_co_partitioned_topics_are_dealt_out_alike(self, group: tuple[list[Member], GroupMetadata]) -> None:
        members, known = group
        answer = lists(assign(members, known))
        dealt: dict[tuple[frozenset[str], int], set[tuple[str | None, ...]]] = {}
        for name, topic in known.topics.items():
            owner = {p: member for member, own in answer.items() for read, p in own if read == name}
            key = frozenset(member.id for member in members if name in member.topics), len(topic.replicas)
            dealt.setdefault(key, set()).add(tuple(map(owner.get, range(len(topic.replicas)))))
        assert all(len(patterns) == 1 for patterns in dealt.values())

    @given(classic_groups())
    def test_a_topic_is_read_across_racks_only_where_those_in_its_rack_have_their_share(
        self, group: tuple[list[Member], GroupMetadata]
    ) -> None:
        members, known = group
        # A topic that every member reads and that is the only one: nothing else speaks against its racks.
        for name in known.topics:
            readers = [Member(m.id, (name,), m.rack_id, m.group_instance_id) for m in members]
            if not readers:
                continue
            topic = Topic(name, known, readers) if len(known.topics[name].replicas) else None
            if topic is None or not topic.matters():
                continue
            answer = lists(assign(readers, known))
            for member in readers:
                for _, partition in answer[member.id]:
                    if not topic.matches(member, partition):
                        local = [other for other in readers if topic.matches(other, partition)]
                        assert all(len(answer[other.id]) >= topic.quota for other in local)

    @given(classic_groups(unique_instances=True))
    def test_the_order_in_which_members_are_listed_decides_nothing_but_the_lists_order(
        self, group: tuple[list[Member], GroupMetadata]
    ) -> None:
        members, known = group
        there, back = lists(assign(members, known)), lists(assign(members[::-1], known))
        assert {member: sorted(own) for member, own in there.items()} == {
            member: sorted(own) for member, own in back.items()
        }

    @given(classic_groups())
    def test_it_is_what_kafkas_walk_finds(self, group: tuple[list[Member], GroupMetadata]) -> None:
        assert lists(assign(*group)) == by_hand(*group)

    def test_it_is_what_kafkas_walk_finds_among_many(self) -> None:
        """Long queues, large tables, racks beyond a machine word's bits, and broker ids that no table could hold."""
        draw = np.random.default_rng(7)
        for _ in range(12):
            racks, n_members = int(draw.integers(2, 90)), int(draw.integers(1, 60))
            spread = int(draw.choice([1, 40_000_000]))
            rack_of = {broker * spread: f"r{draw.integers(racks)}" for broker in range(40)}
            sizes = draw.choice([11, 37, 80], 14)
            rows = {f"t{i}": draw.integers(0, 42, (size, 3)) * spread for i, size in enumerate(sizes)}
            known = metadata(rack_of, {name: row.tolist() for name, row in rows.items()})
            kinds = [tuple(f"t{i}" for i in range(14) if draw.random() < 0.6) for _ in range(3)]
            members = [
                Member(
                    f"c{i}",
                    kinds[draw.integers(3)],
                    rack_id=f"r{draw.integers(racks)}" if draw.random() < 0.9 else None,
                )
                for i in range(n_members)
            ]
            assert lists(assign(members, known)) == by_hand(members, known)


THREE_RACKS = {0: "a", 1: "b", 2: "c"}


class TestExamples:
    """Small groups that can be checked by eye."""

    def test_ranges_where_there_are_no_racks(self) -> None:
        known = metadata({}, {"t0": [[], [], []], "t1": [[], [], []]})
        members = [Member("C0", ("t0", "t1")), Member("C1", ("t0", "t1"))]
        assert written(assign(members, known)) == {"C0": "t0-0 t0-1 t1-0 t1-1", "C1": "t0-2 t1-2"}

    def test_a_static_member_keeps_its_place_under_another_member_id(self) -> None:
        known = metadata({}, {"t0": [[], [], []]})
        before = [Member("C0", ("t0",), group_instance_id="I0"), Member("C1", ("t0",), group_instance_id="I1")]
        after = [Member("C3", ("t0",), group_instance_id="I0"), Member("C2", ("t0",), group_instance_id="I1")]
        assert written(assign(before, known)) == {"C0": "t0-0 t0-1", "C1": "t0-2"}
        assert written(assign(after, known)) == {"C3": "t0-0 t0-1", "C2": "t0-2"}

    def test_static_members_stand_before_the_others(self) -> None:
        known = metadata({}, {"t0": [[]]})
        members = [Member("C0", ("t0",)), Member("C9", ("t0",), group_instance_id="z")]
        assert written(assign(members, known)) == {"C0": "", "C9": "t0-0"}

    def test_each_reads_in_its_rack_where_a_partition_has_one_replica(self) -> None:
        """Kafka's own example of KIP-881: leaders walk the racks a, b, c from topic to topic."""
        known = metadata(
            THREE_RACKS,
            {"t1": [[p % 3] for p in range(6)], "t2": [[p % 3] for p in range(7)], "t3": [[1], [2]]},
        )
        names = ("t1", "t2", "t3")
        members = [Member(f"C{i}", names, rack_id=rack) for i, rack in enumerate("abc")]
        assert written(assign(members, known)) == {
            "C0": "t1-0 t1-3 t2-0 t2-3 t2-6",
            "C1": "t1-1 t1-4 t2-1 t2-4 t3-0",
            "C2": "t1-2 t1-5 t2-2 t2-5 t3-1",
        }

    def test_one_partition_is_read_across_racks_where_it_has_two(self) -> None:
        """The same with two replicas each: t2-6 is in a and b, whose members have their share when its turn comes."""
        twice = [[0, 1], [1, 2], [2, 0]]
        known = metadata(
            THREE_RACKS,
            {
                "t1": [twice[p % 3] for p in range(6)],
                "t2": [twice[p % 3] for p in range(7)],
                "t3": [twice[1], twice[2]],
            },
        )
        names = ("t1", "t2", "t3")
        members = [Member(f"C{i}", names, rack_id=rack) for i, rack in enumerate("abc")]
        assert written(assign(members, known)) == {
            "C0": "t1-0 t1-2 t2-0 t2-2 t2-3 t3-1",
            "C1": "t1-1 t1-3 t2-1 t2-4 t3-0",
            "C2": "t1-4 t1-5 t2-5 t2-6",
        }

    def test_co_partitioning_comes_before_racks(self) -> None:
        """Partition 0 of t0 is in rack a, of t1 in rack b: no member has both near, so that ranges decide."""
        known = metadata({0: "a", 1: "b"}, {"t0": [[0], [1]], "t1": [[1], [0]]})
        members = [Member("C0", ("t0", "t1"), rack_id="b"), Member("C1", ("t0", "t1"), rack_id="a")]
        assert written(assign(members, known)) == {"C0": "t0-0 t1-0", "C1": "t0-1 t1-1"}

    def test_a_member_without_a_rack_matches_any(self) -> None:
        known = metadata({0: "a", 1: "b"}, {"t0": [[1], [0], [1]]})
        members = [Member("C0", ("t0",)), Member("C1", ("t0",), rack_id="b"), Member("C2", ("t0",), rack_id="")]
        assert written(assign(members, known)) == {"C0": "t0-0", "C1": "t0-2", "C2": "t0-1"}

    @pytest.mark.parametrize("rack", ["c", "", None])
    def test_racks_are_off_where_no_members_rack_holds_a_replica(self, rack: str | None) -> None:
        known = metadata({0: "a", 1: "b"}, {"t0": [[1], [0]]})
        members = [Member("C0", ("t0",), rack_id=rack), Member("C1", ("t0",), rack_id=rack)]
        assert written(assign(members, known)) == {"C0": "t0-0", "C1": "t0-1"}

    def test_racks_are_off_where_all_partitions_are_on_all_of_them(self) -> None:
        known = metadata({0: "a", 1: "b"}, {"t0": [[0, 1], [1, 0]]})
        members = [Member("C0", ("t0",), rack_id="b"), Member("C1", ("t0",), rack_id="a")]
        assert written(assign(members, known)) == {"C0": "t0-0", "C1": "t0-1"}

    def test_one_topic_that_racks_distinguish_has_others_dealt_out_by_rack_too(self) -> None:
        """t0 and t1 alone would go in ranges: rack a holds all of their replicas, and C0 is not there."""
        everywhere = {"t0": [[0], [0]], "t1": [[0], [0]]}
        members = [Member("C0", ("t0", "t1", "t2"), rack_id="b"), Member("C1", ("t0", "t1", "t2"), rack_id="a")]
        alone = assign(members, metadata({0: "a", 1: "b"}, everywhere))
        beside = assign(members, metadata({0: "a", 1: "b"}, everywhere | {"t2": [[0], [1], [1]]}))
        assert written(alone)["C0"].split() == ["t0-0", "t1-0"]
        assert written(beside) == {"C0": "t0-1 t1-1 t2-1 t2-2", "C1": "t0-0 t1-0 t2-0"}

    def test_no_members_are_given_nothing(self) -> None:
        answer = assign([], metadata(THREE_RACKS, {"t0": [[0]]}))
        assert (list(answer.members), answer.partitions.tolist()) == ([], [])


class TestVectors:
    """Kafka's own answers, to the order of each list."""

    def test_it_answers_as_kafka_did(self) -> None:
        assert differing("consumer_range") == {}
