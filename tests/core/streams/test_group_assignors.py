"""The coordinator's task assignors (KIP-1071) of 4.1, 4.2 and 4.4: laws of all, and differences by hand."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given

from app.core.streams.coordinator import sticky_by_load, sticky_by_pairs
from app.core.streams.coordinator.model import Quota, StreamsGroupAssignment, StreamsMember, Subtopology, Task, tasks_of
from app.errors.kafka import NoMembersForTasks, TooManyTasks
from tests import draws as st
from tests.conformance.standby_replicas import standby_replicas
from tests.core.streams.group_by_rules import Group
from tests.kafka_refusals import InvalidStandbyReplicas
from tests.profiles import costly

Assign = Callable[..., StreamsGroupAssignment]
ASSIGN: dict[str, Assign] = {
    "4.1": sticky_by_pairs.assign,
    "4.2": partial(sticky_by_load.assign, rules=sticky_by_load.SINCE_4_2_2),
    "4.3": partial(sticky_by_load.assign, rules=sticky_by_load.SINCE_4_3),
    "4.4": partial(sticky_by_load.assign, rules=sticky_by_load.SINCE_4_4),
}
# "Aa" and "BB" have one hash code, so that processes share a bin.
PROCESSES = st.sampled_from(["Aa", "BB", "p1", "p2", "p3", "p4"])
SUBTOPOLOGIES = st.lists(st.tuples(st.integers(0, 7), st.booleans()), max_size=4).map(
    lambda sizes: [Subtopology(str(i + 8), size, stateful) for i, (size, stateful) in enumerate(sizes)]
)
TASKS = st.lists(st.tuples(st.sampled_from(["8", "9", "10", "gone"]), st.integers(0, 8)), max_size=8, unique=True)


@st.composite
def groups(draw: st.DrawFn) -> list[StreamsMember]:
    """Members with whatever they had before; of the offsets, some are of tasks that they have as standbys."""
    ids = draw(st.lists(st.sampled_from(["AaAa", "AaBB", "BBAa", "m1", "m2", "m3", "m10"]), unique=True, min_size=1))
    members = []
    for member in ids:
        standby = tuple(draw(TASKS))
        offsets = {task: draw(st.integers(0, 3)) for task in [*draw(TASKS), *standby]}
        members.append(StreamsMember(member, draw(PROCESSES), tuple(draw(TASKS)), standby, offsets))
    return members


def copies(assignment: StreamsGroupAssignment, process_of: dict[str, str]) -> list[tuple[str, Task]]:
    """Process and task of every copy."""
    return [
        (process_of[member], task)
        for member, tasks in assignment.members.items()
        for task in (*tasks.active, *tasks.standby)
    ]


@pytest.mark.parametrize("release", ASSIGN)
@given(members=groups(), subtopologies=SUBTOPOLOGIES, replicas=st.integers(0, 4))
def test_every_task_is_active_once_and_has_its_standbys_on_other_processes(
    release: str, members: list[StreamsMember], subtopologies: list[Subtopology], replicas: int
) -> None:
    answer = ASSIGN[release](members, subtopologies, num_standby_replicas=replicas)
    process_of = {member.id: member.process_id for member in members}
    assert answer.members.keys() == process_of.keys()
    active = [task for tasks in answer.members.values() for task in tasks.active]
    assert sorted(active) == sorted(tasks_of(subtopologies))
    standby = Counter(task for tasks in answer.members.values() for task in tasks.standby)
    n_standbys = min(replicas, len(set(process_of.values())) - 1)
    assert +standby == +Counter(dict.fromkeys(tasks_of(subtopologies, stateful_only=True), n_standbys))
    assert len(copies(answer, process_of)) == len(set(copies(answer, process_of)))


@pytest.mark.parametrize("release", ["4.2", "4.4"])
@given(members=groups(), subtopologies=SUBTOPOLOGIES)
def test_members_of_processes_of_one_member_are_balanced_in_active_tasks(
    release: str, members: list[StreamsMember], subtopologies: list[Subtopology]
) -> None:
    alone = [StreamsMember(m.id, m.id, m.active, m.standby, m.task_offsets) for m in members]
    answer = ASSIGN[release](alone, subtopologies)
    sizes = [len(tasks.active) for tasks in answer.members.values()]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("release", ASSIGN)
@costly()
@given(members=groups(), subtopologies=SUBTOPOLOGIES)
def test_a_balanced_assignment_of_active_tasks_stays(
    release: str, members: list[StreamsMember], subtopologies: list[Subtopology]
) -> None:
    alone = [StreamsMember(m.id, m.id) for m in members]
    first = ASSIGN[release](alone, subtopologies)
    settled = [StreamsMember(m.id, m.id, first.members[m.id].active) for m in alone]
    assert ASSIGN[release](settled, subtopologies).members == first.members


@given(members=groups(), subtopologies=SUBTOPOLOGIES, replicas=st.integers(0, 3))
def test_without_offsets_standby_owners_are_ranked_as_they_are_listed(
    members: list[StreamsMember], subtopologies: list[Subtopology], replicas: int
) -> None:
    """Then 4.4 only changes the order of processes."""
    silent = [StreamsMember(m.id, m.process_id, m.active, m.standby) for m in members]
    ranked, listed = (
        sticky_by_load.assign(
            silent,
            subtopologies,
            num_standby_replicas=replicas,
            rules=replace(sticky_by_load.SINCE_4_4, ranks_by_offset=ranks_by_offset),
        )
        for ranks_by_offset in (True, False)
    )
    assert ranked.members == listed.members


class TestExamples:
    STATE = (Subtopology("0", 2, is_stateful=True),)

    def test_since_4_2_tasks_alternate_between_processes_of_equal_load(self) -> None:
        members = [StreamsMember("a", "P"), StreamsMember("b", "Q")]
        subtopologies = [Subtopology("0", 4, is_stateful=True)]
        answer = ASSIGN["4.2"](members, subtopologies, num_standby_replicas=1).members
        assert answer["a"].active == answer["b"].standby == (("0", 0), ("0", 2))
        assert answer["b"].active == answer["a"].standby == (("0", 1), ("0", 3))

    def test_since_4_4_a_task_is_active_where_its_state_is_restored_furthest(self) -> None:
        members = [
            StreamsMember("a", "P", task_offsets={("0", 0): 5, ("0", 1): 9}),
            StreamsMember("b", "Q", task_offsets={("0", 0): 50, ("0", 1): 3}),
        ]
        answer = ASSIGN["4.4"](members, self.STATE).members
        assert (answer["a"].active, answer["b"].active) == ((("0", 1),), (("0", 0),))
        before = ASSIGN["4.2"](members, self.STATE).members
        assert (before["a"].active, before["b"].active) == ((("0", 0),), (("0", 1),))

    def test_a_standby_is_before_any_offset(self) -> None:
        members = [
            StreamsMember("a", "P", task_offsets={("0", 0): 500}),
            StreamsMember("b", "Q", standby=[("0", 0)]),
        ]
        assert ASSIGN["4.4"](members, [Subtopology("0", 1, is_stateful=True)]).members["b"].active == (("0", 0),)

    def test_4_1_says_where_it_chose_by_chance(self) -> None:
        two = [StreamsMember("a", "P"), StreamsMember("b", "Q")]
        assert ASSIGN["4.1"](two, self.STATE).by_chance
        assert not ASSIGN["4.1"](two[:1], self.STATE).by_chance

    @pytest.mark.parametrize("release", ASSIGN)
    def test_tasks_without_members_fail_in_kafkas_words(self, release: str) -> None:
        with pytest.raises(NoMembersForTasks) as failure:
            ASSIGN[release]([], self.STATE)
        assert failure.value.kafka.exception == "TaskAssignorException"
        assert not ASSIGN[release]([], []).members

    def test_4_1_cannot_count_the_pairs_of_very_many_tasks(self) -> None:
        with pytest.raises(TooManyTasks):
            ASSIGN["4.1"]([StreamsMember("a", "P")], [Subtopology("0", 60_000)])

    @pytest.mark.parametrize("text", [None, "x", "", "1.5", "2147483648", "-2147483649", "１"])
    def test_a_number_of_standbys_that_java_cannot_parse_is_rejected(self, text: str | None) -> None:
        configs = {"other": "1"} if text is None else {"num.standby.replicas": text}
        with pytest.raises(InvalidStandbyReplicas):
            standby_replicas(configs)

    def test_settings_may_be_missing_altogether(self) -> None:
        assert standby_replicas({}) == 0
        assert standby_replicas({"num.standby.replicas": "+2"}) == 2

    def test_a_full_member_leaves_the_quota(self) -> None:
        quota = Quota(tasks=5, members=2)
        assert quota.limit == 3
        quota.record(2)
        assert quota.limit == 3
        quota.record(3)
        assert quota.limit == 2


@pytest.mark.parametrize("release", ["4.2", "4.4"])
@given(members=groups(), subtopologies=SUBTOPOLOGIES, replicas=st.integers(0, 4))
def test_since_4_2_it_is_what_the_stated_rules_give(
    release: str, members: list[StreamsMember], subtopologies: list[Subtopology], replicas: int
) -> None:
    """A port of the rules that shares no code with the assignor: tasks one by one, hash maps and heaps as lists."""
    answer = ASSIGN[release](members, subtopologies, num_standby_replicas=replicas)
    by_rules = Group(members, subtopologies, replicas, release=release).assign()
    assert {member: (list(own.active), list(own.standby)) for member, own in answer.members.items()} == by_rules
