"""The assignors of kafka-python, compared with the library itself."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain, permutations

import numpy as np
import pytest
from hypothesis import event, given

from app.core.groups.kafka_python import range as kafka_python_range
from app.core.groups.kafka_python import sticky
from app.core.groups.lifecycle.rebalance import rebalance
from app.core.groups.measures.violations import violations
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import ASSIGNORS, LIBRARY_ASSIGNORS, assignor_of_library
from app.errors.kafka import AssignorLosesCount, NoMembers
from tests import draws as st
from tests.conftest import ROOT
from tests.core.groups.kafka_python_library import ascending_sets, library_assignment
from tests.core.groups.small_groups import given_to
from tests.premises import reaches
from tests.profiles import costly

TOPICS = ("t0", "t1", "t10", "t2")
IDS = ("a", "b", "B", "c1", "c10", "é", "\U0001d11e", "\ufb00")
"""The last two are ordered otherwise by UTF-16 code units, as Java does, than by code points."""


@pytest.fixture(autouse=True, scope="module")
def _quiet_library() -> Iterator[None]:
    """The library logs every claim that it ignores."""
    logger = logging.getLogger("kafka")
    level, logger.level = logger.level, logging.CRITICAL
    yield
    logger.level = level


def of(**partitions: int) -> GroupMetadata:
    """Topics with these numbers of partitions."""
    return GroupMetadata(
        {}, {name: TopicMetadata(name, np.zeros((count, 1), np.int32)) for name, count in partitions.items()}
    )


def owning(member_id: str, topics: str, generation_id: int | None = None, **owned: list[int]) -> Member:
    """A member that subscribes to these topics, of the names between spaces, and owns these partitions."""
    runs = tuple(Owned(name, np.array(ids, np.int32)) for name, ids in owned.items())
    return Member(member_id, tuple(topics.split()), None, None, runs, generation_id)


_metadata = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 12), min_size=1).map(lambda counts: of(**counts))
_runs = st.lists(
    st.builds(
        lambda name, ids: Owned(name, np.array(ids, np.int32)),
        st.sampled_from((*TOPICS, "gone")),
        st.lists(st.integers(-1, 13), max_size=8),
    ),
    max_size=4,
).map(tuple)


@st.composite
def _groups(draw: st.DrawFn) -> list[Member]:
    """Up to seven members whose claims may be wrong, old or conflicting, of equal or different subscriptions."""
    names = draw(
        st.lists(st.sampled_from(("a", "b", "B", "c1", "c10", "é", "𝄞", "ﬀ")), min_size=1, max_size=7, unique=True)
    )
    same = draw(st.permutations(TOPICS)) if draw(st.booleans()) else None
    subscription = st.lists(st.sampled_from((*TOPICS, "gone")), unique=True)
    instance_ids = st.booleans() if draw(st.booleans()) else st.just(False)
    return [
        Member(
            name,
            tuple(draw(subscription) if same is None else same),
            None,
            f"instance {name}" if draw(instance_ids) else None,
            draw(_runs),
            draw(st.sampled_from((None, -1, 0, 1, 2, 2, 3))),
        )
        for name in names
    ]


def outcome(assign: Callable[[], GroupAssignment]) -> object:
    """The lists of an assignment, or that the library fails."""
    try:
        return given_to(assign())
    except AssignorLosesCount:
        return "fails"


def library_outcome(name: str, members: list[Member], metadata: GroupMetadata) -> object:
    try:
        return library_assignment(name, members, metadata)
    except (KeyError, ValueError):
        return "fails"


class TestRange:
    """`RangePartitionAssignor`."""

    @given(members=_groups(), metadata=_metadata)
    def test_it_is_the_librarys(self, members: list[Member], metadata: GroupMetadata) -> None:
        assert given_to(kafka_python_range.assign(members, metadata)) == library_assignment("range", members, metadata)

    def test_racks_have_no_influence(self) -> None:
        """Kafka's own would give each member the partitions of its rack."""
        metadata = GroupMetadata({0: "a", 1: "b"}, {"t": TopicMetadata("t", np.array([[1], [0], [1], [0]], np.int32))})
        members = [Member("m0", ("t",), "a"), Member("m1", ("t",), "b")]
        assert given_to(kafka_python_range.assign(members, metadata)) == {
            "m0": [("t", 0), ("t", 1)],
            "m1": [("t", 2), ("t", 3)],
        }
        assert given_to(ASSIGNORS["range"].assign(members, metadata))["m0"] == [("t", 1), ("t", 3)]

    def test_static_members_that_are_not_together_are_left_out(self) -> None:
        """The library groups neighbours by kind, and the second group of a kind replaces the first."""
        members = [
            Member("m0", ("t",), group_instance_id="a"),
            Member("m1", ("t",)),
            Member("m2", ("t",), group_instance_id="b"),
        ]
        expected = {"m0": [], "m1": [("t", 2), ("t", 3)], "m2": [("t", 0), ("t", 1)]}
        assert library_assignment("range", members, of(t=4)) == expected
        assert given_to(kafka_python_range.assign(members, of(t=4))) == expected

    def test_a_group_without_members_has_no_lists(self) -> None:
        assert given_to(kafka_python_range.assign([], of(t=1))) == {}


class TestSticky:
    """`StickyPartitionAssignor`."""

    @reaches("answered", 0.5)
    @given(members=_groups(), metadata=_metadata)
    def test_it_is_the_librarys_if_sets_are_ascending(self, members: list[Member], metadata: GroupMetadata) -> None:
        """Every choice is then the same, so that the answers are equal, or both fail."""
        ours = outcome(lambda: sticky.assign(members, metadata))
        with ascending_sets():
            assert ours == library_outcome("sticky", members, metadata)
        event("fails" if ours == "fails" else "answered")

    @reaches("unique", 0.5)
    @given(members=_groups(), metadata=_metadata)
    def test_the_answer_is_unique_if_no_set_decides(self, members: list[Member], metadata: GroupMetadata) -> None:
        """Here the library's sets are as this process hashes. If one decides, the counts of partitions are equal."""
        try:
            answer = sticky.assign(members, metadata)
        except AssignorLosesCount:
            return
        theirs = library_outcome("sticky", members, metadata)
        if answer.arbitrary_choices == 0:
            event("unique")
            assert given_to(answer) == theirs
        elif theirs != "fails":
            assert isinstance(theirs, dict)
            assert sorted(chain(*theirs.values())) == sorted(chain(*given_to(answer).values()))

    @costly()
    @given(metadata=_metadata, data=st.data())
    def test_it_is_the_librarys_from_one_rebalance_to_the_next(
        self, metadata: GroupMetadata, data: st.DataObject
    ) -> None:
        """Members that own their assignment leave, join, and resubscribe."""
        assignor = LIBRARY_ASSIGNORS["kafka-python", "sticky"]
        subscription = st.lists(st.sampled_from(TOPICS), unique=True).map(tuple)
        members = [Member(f"m{index}", data.draw(subscription)) for index in range(data.draw(st.integers(1, 5)))]
        for round_number in range(3):
            before = members
            done = rebalance(members, metadata, assign=assignor.assign, protocol=assignor.protocol)
            with ascending_sets():
                assert given_to(done.assignment) == library_assignment("sticky", before, metadata)
            rejoining = [member for member in done.members if data.draw(st.integers(0, 3))]
            members = [*rejoining, Member(f"n{round_number}", data.draw(subscription))]

    @given(metadata=_metadata, data=st.data())
    def test_no_subscriber_of_a_partition_has_two_less_than_its_owner(
        self, metadata: GroupMetadata, data: st.DataObject
    ) -> None:
        """The library's notion of balance, which is not the fairest: chains of moves are not looked for."""
        subscription = st.lists(st.sampled_from(TOPICS), unique=True, min_size=1).map(tuple)
        members = [Member(f"m{index}", data.draw(subscription)) for index in range(data.draw(st.integers(1, 6)))]
        answer = sticky.assign(members, metadata)
        assert answer.arbitrary_choices == 0
        assert [fault for fault in violations(members, metadata, answer) if fault.severity == "illegal"] == []
        lists = given_to(answer)
        for owner, other in permutations(members, 2):
            if len(lists[owner.id]) > len(lists[other.id]) + 1:
                assert not {topic for topic, _ in lists[owner.id]} & set(other.topics)

    def test_what_is_owned_stays(self) -> None:
        """Of three members with two partitions each one leaves; its two go to the others, the first id first."""
        members = [owning("m0", "t u", 1, t=[0, 1]), owning("m2", "t u", 1, u=[1, 2])]
        assert given_to(sticky.assign(members, of(t=3, u=3))) == {
            "m0": [("t", 0), ("t", 1), ("t", 2)],
            "m2": [("u", 0), ("u", 1), ("u", 2)],
        }

    def test_the_first_of_two_claimants_owns_the_partition(self) -> None:
        """To Kafka's own, neither would. Of generation 0 the library has the last."""
        for generation, owner in ((1, "m0"), (0, "m1")):
            members = [owning("m0", "t", generation, t=[1]), owning("m1", "t", generation, t=[1])]
            expected = {"m0": [("t", 1)], "m1": [("t", 0)]} if owner == "m0" else {"m0": [("t", 0)], "m1": [("t", 1)]}
            assert given_to(sticky.assign(members, of(t=2))) == expected
            assert library_assignment("sticky", members, of(t=2)) == expected

    def test_the_order_of_a_subscription_counts(self) -> None:
        """Members that list the same topics in another order are to the library members of different subscriptions."""
        claims = {"t": [0, 1], "u": [0, 1]}
        same = [owning("m0", "t u", 1, **claims), owning("m1", "t u")]
        other = [owning("m0", "t u", 1, **claims), owning("m1", "u t")]
        metadata = of(t=2, u=2)
        answers = [given_to(sticky.assign(members, metadata)) for members in (same, other)]
        assert answers == [library_assignment("sticky", members, metadata) for members in (same, other)]
        assert answers == [
            {"m0": [("t", 0), ("t", 1)], "m1": [("u", 0), ("u", 1)]},
            {"m0": [("u", 0), ("u", 1)], "m1": [("t", 0), ("t", 1)]},
        ]

    def test_two_partitions_that_moved_move_back_together(self) -> None:
        """A move would cross an earlier one of its topic, and the partition itself has moved: both go back."""
        members = [
            owning("m0", "u", 2, u=[3]),
            owning("m1", "u", 1),
            owning("m2", "t u", 4, t=[3], u=[0, 1, 2, 4, 5]),
            owning("m4", "t u", 3, t=[0, 2], u=[0, 3]),
            owning("m5", "t u", 3, u=[1]),
        ]
        answer = sticky.assign(members, of(t=4, u=6))
        assert answer.arbitrary_choices == 0
        assert given_to(answer) == library_assignment("sticky", members, of(t=4, u=6))
        assert given_to(answer) == {
            "m0": [("u", 2), ("u", 3)],
            "m1": [("u", 0), ("u", 4)],
            "m2": [("t", 3), ("u", 5)],
            "m4": [("t", 0), ("t", 2)],
            "m5": [("t", 1), ("u", 1)],
        }

    def test_a_partition_cannot_move_back_to_a_member_that_takes_no_part(self) -> None:
        """m1 no longer subscribes to its owned topic. The library has removed it when it looks it up."""
        members = [owning("m0", "t", 2, t=[0, 1, 2, 3]), owning("m1", "", 1, t=[0, 1, 2, 3]), owning("m2", "t", 2)]
        with pytest.raises(KeyError):
            library_assignment("sticky", members, of(t=4))
        with pytest.raises(AssignorLosesCount):
            sticky.assign(members, of(t=4))

    def test_an_internal_topic_is_a_failure_of_the_library(self) -> None:
        members, metadata = [owning("m0", "__consumer_offsets")], of(__consumer_offsets=2)
        with pytest.raises(KeyError):
            library_assignment("sticky", members, metadata, frozenset({"__consumer_offsets"}))
        with pytest.raises(AssignorLosesCount, match="__consumer_offsets"):
            sticky.assign(members, metadata)

    def test_a_group_without_members_is_rejected(self) -> None:
        with pytest.raises(NoMembers):
            sticky.assign([], of(t=1))


_WITHOUT_ONE_ANSWER = """
from tests.core.groups.kafka_python_library import library_assignment
from tests.core.groups.test_kafka_python import of, owning
print(library_assignment("sticky", [owning("m0", "t", 3, t=[0, 1]), owning("m1", "t", 1, t=[0, 1])], of(t=2)))
"""


@pytest.mark.long
def test_the_seed_of_pythons_hashes_decides_if_sets_do() -> None:
    """m0 has both partitions and m1 had both before. One moves; which one is the order of a set of two."""
    members = [owning("m0", "t", 3, t=[0, 1]), owning("m1", "t", 1, t=[0, 1])]
    ours = sticky.assign(members, of(t=2))
    assert ours.arbitrary_choices == 1
    answers: set[str] = set()
    for seed in range(16):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", _WITHOUT_ONE_ANSWER]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
        answers.add(done.stdout.strip())
        if len(answers) > 1:
            break
    assert len(answers) == 2
    assert str(given_to(ours)) in answers


class TestRegistry:
    """The replayed assignors of libraries are found by library and name."""

    def test_the_given_assignor_is_taken_if_none_is_replayed(self) -> None:
        for library, name in ((None, "range"), ("java", "sticky"), ("kafka-python", "roundrobin"), ("other", "range")):
            assert assignor_of_library(ASSIGNORS[name], library) is ASSIGNORS[name]
        for name in ("range", "sticky"):
            found = assignor_of_library(ASSIGNORS[name], "kafka-python")
            assert (found.name, found.protocol, found.runs_on) == (name, ASSIGNORS[name].protocol, "leader")
            assert not found.is_rack_aware

    def test_user_data_have_the_partitions_in_ascending_order(self) -> None:
        """The leader sorts its assignments, and members send it back; Kafka's order by hashes has no influence."""
        member = owning("m", "t", 1, t2=[3, 1], t10=[5, 0])
        seen = LIBRARY_ASSIGNORS["kafka-python", "sticky"].sees(member)
        assert [(run.topic, run.partitions.tolist()) for run in seen.owned] == [("t2", [1, 3]), ("t10", [0, 5])]
