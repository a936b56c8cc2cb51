"""The sticky assignor: its promises as laws, groups by hand, Kafka's faults, its steps one by one, the vectors."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from app.core.groups.arrays.owned import OwnedRuns, owned_after
from app.core.groups.classic import sticky
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.sticky_builders.general_state_kernel import TREEIFIED, find, first_of, record
from app.core.groups.sticky_builders.group import NumberedPartitions
from app.core.groups.sticky_builders.reassignment import TreeifiedSets, no_movements
from app.core.jvm import JavaHashSet
from app.core.jvm.hashes import TOPIC_PARTITION
from app.errors.kafka import AssignorLosesCount, AssignorNeverEnds, KafkaRefuses, NoMembers, OwnedPartitionMissing
from app.formats.groups.assignor_user_data import read_sticky
from tests import draws as st
from tests.conformance.groups import ANSWERS
from tests.core.groups.assignor_cases import differing
from tests.core.groups.sticky_cases import (
    Lists,
    Partition,
    after,
    by_hand,
    case,
    cases,
    counts,
    flat,
    member,
    moved,
    or_exception,
    owned_cases,
)
from tests.formats.writers.assignor_user_data import write_sticky
from tests.profiles import costly, examples


def assigned(group: Mapping[str, Any]) -> dict[str, list[Partition]]:
    return {name: flat(its) for name, its in ANSWERS["consumer_sticky"](group)["assignment"].items()}


def without(group: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {**group, "members": [its for its in group["members"] if its["id"] != name]}


class TestPromises:
    @given(cases())
    def test_each_partition_goes_to_one_subscriber(self, group: dict[str, Any]) -> None:
        lists = assigned(group)
        topics_of = {its["id"]: its["topics"] for its in group["members"]}
        subscribed = set().union(*topics_of.values())
        everything = [(topic, p) for topic, count in counts(group).items() if topic in subscribed for p in range(count)]
        assert sorted(partition for own in lists.values() for partition in own) == sorted(everything)
        assert all(topic in topics_of[name] for name, own in lists.items() for topic, _ in own)

    @given(owned_cases(odd=False, equal=True))
    def test_shares_of_equal_subscriptions_differ_by_one_at_most(self, group: dict[str, Any]) -> None:
        sizes = [len(own) for own in assigned(group).values()]
        assert max(sizes) - min(sizes) <= 1

    @given(cases(racks=False, equal=False))
    def test_no_member_could_take_from_one_that_has_two_more(self, group: dict[str, Any]) -> None:
        """Kafka's definition of balance, for a group that owns nothing."""
        lists = assigned(group)
        for its in group["members"]:
            for own in lists.values():
                can_take = any(topic in its["topics"] for topic, _ in own)
                assert not can_take or len(own) <= len(lists[its["id"]]) + 1

    @given(cases(racks=False))
    def test_nothing_moves_where_nothing_has_changed(self, group: dict[str, Any]) -> None:
        before = assigned(group)
        assert moved(before, assigned(after(group, before))) == 0

    @given(cases(racks=False, equal=True), st.data())
    def test_only_what_a_leaver_had_moves_where_all_subscribe_to_the_same(
        self, group: dict[str, Any], data: st.DataObject
    ) -> None:
        before = assigned(group)
        assume(len(before) > 1)
        leaver = data.draw(st.sampled_from(sorted(before)))
        now = assigned(without(after(group, before), leaver))
        assert moved(before, now) == len(before[leaver])

    @given(cases(equal=True))
    def test_what_is_owned_in_its_rack_stays_there(self, group: dict[str, Any]) -> None:
        """A second rebalance finds no partition in its owner's rack that it would move out of it."""
        before = assigned(group)
        now = assigned(after(group, before))
        assert near(group, now) >= near(group, before)


def near(group: Mapping[str, Any], lists: Lists) -> int:
    rack_of = {broker["id"]: broker["rack"] for broker in group["brokers"]}
    replicas = {topic["name"]: topic["replicas"] for topic in group["topics"]}
    mine = {its["id"]: its["rack_id"] for its in group["members"]}
    return sum(
        bool(mine[name]) and mine[name] in {rack_of.get(broker) for broker in replicas[topic][p]}
        for name, own in lists.items()
        for topic, p in own
    )


class TestExamples:
    def test_all_subscribe_to_the_same(self) -> None:
        """Partitions are dealt in turn; when C1 leaves, its partitions are dealt to the others."""
        topics = {f"t{i}": 2 for i in range(4)}
        group = case(topics, *(member(f"C{i}", list(topics), generation_id=None) for i in range(3)))
        lists = assigned(group)
        assert lists == {
            "C0": [("t0", 0), ("t1", 1), ("t3", 0)],
            "C1": [("t0", 1), ("t2", 0), ("t3", 1)],
            "C2": [("t1", 0), ("t2", 1)],
        }
        assert assigned(without(after(group, lists), "C1")) == {
            "C0": [("t0", 0), ("t3", 0), ("t1", 1), ("t0", 1)],
            "C2": [("t1", 0), ("t2", 1), ("t2", 0), ("t3", 1)],
        }

    def test_subscriptions_differ(self) -> None:
        """C0 reads t0, C1 also t1, C2 also t2; when C0 leaves, only its partition goes to another."""
        topics = {"t0": 1, "t1": 2, "t2": 3}
        group = case(
            topics,
            *(member(f"C{i}", [f"t{topic}" for topic in range(i + 1)], generation_id=None) for i in range(3)),
        )
        lists = assigned(group)
        assert lists == {
            "C0": [("t0", 0)],
            "C1": [("t1", 0), ("t1", 1)],
            "C2": [("t2", 0), ("t2", 1), ("t2", 2)],
        }
        assert assigned(without(after(group, lists), "C0")) == {
            "C1": [("t1", 0), ("t1", 1), ("t0", 0)],
            "C2": [("t2", 0), ("t2", 1), ("t2", 2)],
        }

    def test_racks_come_before_ownership(self) -> None:
        """Partition 0 is in rack a, 1 in rack b, and each is owned where it is not."""
        group = {
            "brokers": [{"id": 0, "rack": "a"}, {"id": 1, "rack": "b"}],
            "topics": [{"name": "t", "replicas": [[0], [1]]}],
            "members": [
                member("A", ["t"], [("t", 1)], rack_id="a"),
                member("B", ["t"], [("t", 0)], rack_id="b"),
            ],
        }
        assert assigned(group) == {"A": [("t", 0)], "B": [("t", 1)]}

    def test_the_newest_generation_is_believed(self) -> None:
        group = case(
            {"t": 2}, member("A", ["t"], [("t", 0)], generation_id=1), member("B", ["t"], [("t", 0)], generation_id=2)
        )
        assert assigned(group) == {"A": [("t", 1)], "B": [("t", 0)]}

    def test_two_of_one_generation_that_claim_the_same_lose_it(self) -> None:
        """Both claim partition 1, which then goes to whoever is first; B would have retained it."""
        claims = member("A", ["t"], [("t", 1)]), member("B", ["t"], [("t", 1)])
        assert assigned(case({"t": 2}, *claims)) == {"A": [("t", 0)], "B": [("t", 1)]}
        assert assigned(case({"t": 2}, claims[1], member("A", ["t"]))) == {"A": [("t", 0)], "B": [("t", 1)]}
        claims = member("A", ["t"], [("t", 0)]), member("B", ["t"], [("t", 0), ("t", 1)])
        assert assigned(case({"t": 2}, *claims)) == {"A": [("t", 0)], "B": [("t", 1)]}

    def test_without_a_generation_nothing_is_owned(self) -> None:
        group = case({"t": 2}, member("A", ["t"], [("t", 1)], generation_id=None), member("B", ["t"]))
        assert assigned(group) == {"A": [("t", 0)], "B": [("t", 1)]}

    def test_topics_arrive_in_the_order_of_their_hashes(self) -> None:
        """ "Aa" and "BB" share a bin, in which a new topic is put in front; "t0" is in a bin behind."""
        given_as = Member("A", (), owned=tuple(Owned(name, np.array([1], np.int32)) for name in ("Aa", "t0", "BB")))
        sent = sticky.in_user_data(given_as)
        assert [run.topic for run in sent.owned] == ["BB", "Aa", "t0"]
        assert [run.topic for run in sticky.in_user_data(sent).owned] == ["Aa", "BB", "t0"]


class TestFaults:
    def test_no_members(self) -> None:
        with pytest.raises(NoMembers) as raised:
            sticky.assign([], GroupMetadata({}, {}))
        assert raised.value.kafka.exception == "ArithmeticException"

    def test_a_member_without_subscription_that_comes_first_is_given_partitions(self) -> None:
        """In the map "A" comes before "B", so that its empty subscription is not looked at."""
        assert assigned(case({"t": 2}, member("A", []), member("B", ["t"]))) == {"A": [("t", 0)], "B": [("t", 1)]}
        assert assigned(case({"t": 2}, member("A", ["t"]), member("B", []))) == {"A": [("t", 0), ("t", 1)], "B": []}

    def test_an_owned_partition_beyond_its_topic_stays(self) -> None:
        group = case({"t": 3}, member("A", ["t"], [("t", 7)]), member("B", ["t"]))
        assert assigned(group) == {"A": [("t", 7), ("t", 1)], "B": [("t", 0), ("t", 2)]}

    def test_an_owned_partition_beyond_its_topic_leaves_no_room(self) -> None:
        group = case({"t": 2}, member("A", ["t"], [("t", 5)]), member("B", ["t"], [("t", 1)]))
        with pytest.raises(OwnedPartitionMissing, match="member A owns partition 5 of topic t, which has 2") as raised:
            assigned(group)
        assert raised.value.kafka.exception == "IllegalStateException"

    def test_what_comes_behind_one_that_does_not_exist_is_given_away_again(self) -> None:
        """B keeps partition 0 of u, and is given it once more, since the comparison stops at partition 9 of t."""
        group = case(
            {"t": 1, "u": 1, "v": 2},
            member("A", ["t", "u"], [("t", 9), ("t", 0)]),
            member("B", ["u", "t"], [("u", 0)]),
            member("C", ["v"]),
        )
        assert assigned(group)["B"] == [("u", 0), ("u", 0)]

    def test_a_former_owner_that_takes_no_part_fails_the_assignment(self) -> None:
        """A owned partition 0 in an older generation, and now subscribes to a topic that does not exist."""
        group = case(
            {"t": 4},
            member("A", ["gone"], [("t", 0)], generation_id=4),
            member("B", ["t"], [("t", p) for p in range(4)], generation_id=5),
            member("C", ["t"], generation_id=5),
        )
        with pytest.raises(AssignorLosesCount) as raised:
            assigned(group)
        assert raised.value.kafka.exception == "NullPointerException"

    def test_a_former_owner_is_given_what_it_no_longer_subscribes_to(self) -> None:
        group = case(
            {"t": 4, "u": 1},
            member("A", ["u"], [("t", 0)], generation_id=4),
            member("B", ["t"], [("t", p) for p in range(4)], generation_id=5),
            member("C", ["t", "u"], [("u", 0)], generation_id=5),
        )
        assert ("t", 0) in assigned(group)["A"]

    @pytest.mark.long
    def test_former_owners_may_keep_kafka_moving_partitions_for_ever(self) -> None:
        """c1 and c6 owned partitions of t0, which they no longer read, and now and then one goes back to them."""
        group = case(
            {"t0": 23, "t1": 4, "t2": 23, "t3": 10, "t4": 17},
            member("c0", ["t2"], generation_id=1),
            member("c1", ["t2", "t1", "t4"], [("t0", 14)], generation_id=1),
            member("c2", ["t3"], generation_id=2),
            member(
                "c3",
                ["t0", "t3", "t2", "t4"],
                [("t0", p) for p in (0, 5, 7, 10)]
                + [("t2", p) for p in (2, 7, 10, 11, 14, 15, 16, 17, 18, 21)]
                + [("t3", p) for p in (6, 9)]
                + [("t4", p) for p in (7, 11, 13, 15)],
                generation_id=2,
            ),
            member(
                "c4",
                ["t0", "t3"],
                [("t0", p) for p in (3, 4, 9, 11, 14, 21)] + [("t3", p) for p in (0, 1, 2, 3, 5, 7, 8)],
                generation_id=3,
            ),
            member("c5", ["t0"], [("t0", 18)], generation_id=3),
            member("c6", ["t2", "t4", "t3"], [("t0", 13), *(("t4", p) for p in (1, 4, 5, 8))], generation_id=1),
            member("c7", ["t0", "t1", "t4"], generation_id=1),
        )
        with pytest.raises(AssignorNeverEnds):
            assigned(group)
        assert by_hand(group, cooperative=False) == "AssignorNeverEnds"


class TestStepByStep:
    """Against the same steps over Java's collections, one after another."""

    @costly(300)
    @given(owned_cases(odd=True))
    def test_whatever_members_say(self, group: dict[str, Any]) -> None:
        self.compare(group)

    @given(owned_cases(odd=True, equal=True))
    def test_all_subscribe_to_the_same(self, group: dict[str, Any]) -> None:
        self.compare(group)

    @costly()
    @given(owned_cases(odd=False, equal=False, most=11, largest=12))
    def test_subscriptions_differ(self, group: dict[str, Any]) -> None:
        self.compare(group)

    @given(owned_cases(odd=False, equal=False, racks=False, most=5, largest=20), st.data())
    def test_one_owns_most(self, group: dict[str, Any], data: st.DataObject) -> None:
        """Where a group is far from even, many partitions move, some of them back."""
        most = data.draw(st.sampled_from(group["members"]))
        most["topics"] = sorted(counts(group))
        most["owned"] = [[topic, list(range(count))] for topic, count in counts(group).items()]
        for its in group["members"]:
            its["generation_id"] = 6 if its is most else data.draw(st.sampled_from([5, 6]))
        self.compare(group)

    def compare(self, group: Mapping[str, Any]) -> None:
        assert or_exception(assigned, group) == by_hand(group, cooperative=False)


class TestSetsOfMoves:
    @examples(60)
    @given(st.randoms(), st.sampled_from([1, 16, 64, 128]))
    def test_they_are_iterated_as_javas_are(self, random: Any, stride: int) -> None:
        """Partitions that lie `stride` apart share bins, which become trees."""
        count = 40 * stride
        partitions = NumberedPartitions(
            ("t",), np.array([0, count]), np.zeros(count, np.int32), np.arange(count, dtype=np.int32)
        )
        moves = no_movements(partitions)
        treeified = TreeifiedSets(partitions, moves)
        # Partitions of few bins start with member 0 and move among three.
        some = [stride * step + offset for step in range(40) for offset in random.sample(range(stride), min(stride, 2))]
        holder = dict.fromkeys(some, 0)
        expected: dict[tuple[int, int], JavaHashSet[tuple[str, int]]] = {}
        origin: dict[int, int] = {}
        for _ in range(200):
            number = random.choice(some)
            old = holder[number]
            to = random.choice([other for other in range(3) if other != old])
            start = origin.pop(number, old)
            if start != old:
                expected[start, old].discard(("t", number))
                if not expected[start, old]:
                    del expected[start, old]
            if start != to:
                origin[number] = start
                expected.setdefault((start, to), JavaHashSet(TOPIC_PARTITION)).add(("t", number))
            record(moves, 0, number, old, to)
            treeified.apply_events()
            holder[number] = to
            for (source, target), members in expected.items():
                which = find(moves, 0, source, target)
                first = treeified.first_of(which) if moves.sets[which, TREEIFIED] else first_of(moves, which)
                assert ("t", first) == next(iter(members))


class TestOwnedRuns:
    def test_what_was_assigned_is_owned_without_an_object_a_run(self) -> None:
        known = {name: TopicMetadata(name, np.zeros((3, 1), np.int32)) for name in ("t", "u")}
        members = [Member("A", ("t", "u")), Member("B", ("u", "t"))]
        owned = owned_after(sticky.assign(members, GroupMetadata({}, known)))
        assert [(run.topic, run.partitions.tolist()) for run in owned["A"]] == [("t", [0, 2]), ("u", [1])]
        assert [run.topic for run in owned["B"][1:]] == ["u"]
        assert owned["B"][-1].partitions.tolist() == [0, 2]
        assert len(OwnedRuns(("t",), np.empty(0, np.int32), np.empty(0, np.int32))) == 0

    @given(owned_cases(odd=True))
    def test_it_makes_no_difference_how_runs_are_stored(self, group: dict[str, Any]) -> None:
        names = sorted({topic for its in group["members"] for topic, _ in its["owned"]})
        replicas = {its["name"]: np.zeros((len(its["replicas"]), 1), np.int32) for its in group["topics"]}
        known = GroupMetadata({}, {name: TopicMetadata(name, rows) for name, rows in replicas.items()})
        outcomes: list[Any] = []
        for packed in (False, True):
            members = []
            for its in group["members"]:
                own = flat(its["owned"])
                ids = np.array([p for _, p in own], np.int32)
                index = np.array([names.index(topic) for topic, _ in own], np.int32)
                runs = OwnedRuns(names, index, ids)
                owned = runs if packed else tuple(runs)
                members.append(Member(its["id"], tuple(its["topics"]), owned=owned, generation_id=its["generation_id"]))
            try:
                result = sticky.assign(members, known)
                outcomes.append((result.offsets.tolist(), result.topic_index.tolist(), result.partitions.tolist()))
            except KafkaRefuses as raised:
                outcomes.append(raised.detail)
        assert outcomes[0] == outcomes[1]


def test_vectors() -> None:
    assert differing("consumer_sticky", ("error", "assignment")) == {}


@pytest.mark.parametrize("topics", [24, 25, 26, 48, 49, 50])
def test_user_data_lists_topics_as_the_client_writes_them(topics: int) -> None:
    """The client asks its map for a topic's list once a partition; where the map is about to grow, asking lets it."""
    runs = tuple(Owned(f"topic-{i}", np.arange(3, dtype=np.int32)) for i in range(topics))
    member = Member("m", tuple(run.topic for run in runs), owned=runs, generation_id=1)
    written = read_sticky(write_sticky(runs, generation_id=1))
    assert [run.topic for run in sticky.in_user_data(member).owned] == [run.topic for run in written.owned]
