"""Events on a group: revocations by protocol, triggers of rebalances, and final states."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from app.core.groups.classic import cooperative_sticky, sticky
from app.core.groups.classic import range as range_assignor
from app.core.groups.lifecycle.events import (
    Event,
    Join,
    Leave,
    LoseRack,
    Replace,
    ReplicaRacksChanged,
    RollingRestart,
    TopicGrown,
)
from app.core.groups.lifecycle.rebalance import Protocol, rebalance, with_owned
from app.core.groups.lifecycle.rebalance_trigger import TopicChange, trigger
from app.core.groups.lifecycle.steps import apply_events
from app.core.groups.measures.locality import locality
from app.core.groups.measures.violations import violations
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum import optimal
from app.core.model import padded
from app.errors.requests import ConflictingFields
from tests import draws as st
from tests.core.groups.small_groups import given_to, metadata, snapshots, topic
from tests.profiles import costly, examples

RACKS = {0: "a", 1: "b", 2: "c"}


def cluster(partitions: int = 12, *, replicas: int = 2) -> GroupMetadata:
    """One topic over three racks, two replicas a partition."""
    return metadata(RACKS, topic("t", *[[(p + r) % 3 for r in range(replicas)] for p in range(partitions)]))


def members(*racks: str | None, instance: bool = False) -> list[Member]:
    return [Member(f"m{i}", ("t",), rack, f"i{i}" if instance else None) for i, rack in enumerate(racks)]


def settled(group: Sequence[Member], known: GroupMetadata, assign: Assign, protocol: Protocol) -> tuple[Member, ...]:
    """A group after its first rebalance."""
    return rebalance(group, known, assign=assign, protocol=protocol).members


def holder(assignment: GroupAssignment) -> dict[tuple[str, int], str]:
    return {entry: name for name, entries in given_to(assignment).items() for entry in entries}


kinds = st.sampled_from(["join", "leave", "restart", "static", "lose", "grow", "move"])


def _event(kind: str, index: int, group: Sequence[Member], known: GroupMetadata) -> Event | None:
    """An event of that kind that the group can have, or None."""
    if kind == "join":
        return Join(Member(f"new{index}", ("t", "u"), "abc"[index % 3]))
    if kind == "grow":
        if "t" not in known.topics:
            return None
        return TopicGrown("t", len(known.topics["t"].replicas) + 3, padded([[index % 3]] * 3) if index % 2 else None)
    if kind == "move":
        return ReplicaRacksChanged({index % 3: "c"})
    return _event_of_a_member(kind, index, group[index % len(group)]) if group else None


def _event_of_a_member(kind: str, index: int, its: Member) -> Event | None:
    if kind == "lose":
        return LoseRack(its.rack_id) if its.rack_id else None
    if kind == "leave":
        return Leave(its.id)
    instance = its.group_instance_id if kind == "static" else None
    return Replace(its.id, replace(its, id=f"again{index}", group_instance_id=instance))


class TestLaws:
    """Laws of every event, whichever the assignor."""

    @given(snapshots, st.lists(kinds, max_size=5), st.sampled_from(Protocol), st.booleans())
    @costly(60)
    def test_the_group_reads_everything_after_each_step(
        self, known: GroupMetadata, sampled_kinds: list[str], protocol: Protocol, static: bool
    ) -> None:
        """The optimum is whole in the end under both protocols, and the members own it in the next step."""
        start = [Member(f"m{i}", ("t", "u"), rack, f"i{i}" if static else None) for i, rack in enumerate("ab")]
        group, snapshot = settled(start, known, optimal.assign, protocol), known
        for index, kind in enumerate(sampled_kinds):
            event = _event(kind, index, group, snapshot)
            if event is None:
                continue
            (step,) = apply_events(group, snapshot, [event], assign=optimal.assign, protocol=protocol)
            illegal = [v for v in violations(step.members, step.metadata, step.assignment) if v.severity == "illegal"]
            assert illegal == []
            assert all(done.settled for done in step.rebalances)
            assert len(step.assignment.partitions) == step.handover.kept + step.handover.moved + step.handover.taken_up
            for name, entries in given_to(step.assignment).items():
                its = next(m for m in step.members if m.id == name)
                assert [(run.topic, p) for run in its.owned for p in run.partitions.tolist()] == entries
            group, snapshot = step.members, step.metadata

    @pytest.mark.parametrize("assign", [optimal.assign, cooperative_sticky.assign, range_assignor.assign])
    @given(racks=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=6), count=st.integers(0, 20))
    @examples(30)
    def test_a_cooperative_partition_is_given_up_before_it_is_handed_over(
        self, assign: Assign, racks: list[str | None], count: int
    ) -> None:
        known = cluster(count)
        group = settled(members(*racks), known, assign, Protocol.COOPERATIVE)
        (step,) = apply_events(
            group, known, [Join(Member("new", ("t",), "a"))], assign=assign, protocol=Protocol.COOPERATIVE
        )
        (done,) = step.rebalances
        before = {(run.topic, p): its.id for its in group for run in its.owned for p in run.partitions.tolist()}
        for phase in done.phases:
            now = holder(phase.assignment)
            assert all(before.get(entry, name) == name for entry, name in now.items())
            assert phase.revoked == sum(now.get(entry) != name for entry, name in before.items())
            assert phase.added == sum(entry not in before for entry in now)
            assert phase.pending == phase.revoked
            before = now
        assert done.phases[-1].revoked == 0
        assert len(before) == count

    @pytest.mark.parametrize("assign", [range_assignor.assign, sticky.assign, optimal.assign])
    def test_an_eager_group_gives_up_everything_in_one_phase(self, assign: Assign) -> None:
        group = settled(members("a", "b", "c"), cluster(), assign, Protocol.EAGER)
        steps = apply_events(group, cluster(), [Leave("m2")], assign=assign, protocol=Protocol.EAGER)
        (phase,) = steps[0].rebalances[0].phases
        assert phase.revoked == steps[0].revoked == 8
        assert steps[0].handover.moved >= 4

    def test_the_same_events_come_to_the_same(self) -> None:
        group = settled(members("a", "b", "c"), cluster(), optimal.assign, Protocol.COOPERATIVE)
        events: list[Event] = [Leave("m1"), Join(Member("m9", ("t",), "b")), LoseRack("c")]
        runs = [
            [
                given_to(step.assignment)
                for step in apply_events(group, cluster(), events, assign=optimal.assign, protocol=Protocol.COOPERATIVE)
            ]
            for _ in range(2)
        ]
        assert runs[0] == runs[1]


class TestEvents:
    """Each event on twelve partitions over three racks."""

    def test_a_member_that_leaves_moves_what_it_had_and_no_more(self) -> None:
        known = cluster(replicas=3)
        group = settled(members("a", "b", "c"), known, optimal.assign, Protocol.COOPERATIVE)
        (step,) = apply_events(group, known, [Leave("m0")], assign=optimal.assign, protocol=Protocol.COOPERATIVE)
        assert (step.handover.moved, step.handover.revoked, step.revoked) == (4, 0, 0)
        assert [len(its.phases) for its in step.rebalances] == [1]

    def test_a_member_that_joins_gets_its_part_in_a_second_phase(self) -> None:
        group = settled(members("a", "b"), cluster(), optimal.assign, Protocol.COOPERATIVE)
        (step,) = apply_events(
            group, cluster(), [Join(Member("m2", ("t",), "c"))], assign=optimal.assign, protocol=Protocol.COOPERATIVE
        )
        (done,) = step.rebalances
        assert [(its.revoked, its.added, its.pending) for its in done.phases] == [(4, 0, 4), (0, 4, 0)]
        assert (step.handover.moved, step.handover.revoked) == (4, 4)
        assert [its.generation_id for its in step.members] == [3, 3, 3]

    def test_a_rolling_restart_of_static_members_causes_no_rebalance(self) -> None:
        group = settled(members("a", "b", "c", instance=True), cluster(), sticky.assign, Protocol.EAGER)
        steps = apply_events(group, cluster(), [RollingRestart()], assign=sticky.assign, protocol=Protocol.EAGER)
        assert [(s.rebalances, s.handover.moved, s.handover.kept, s.revoked) for s in steps] == [((), 0, 12, 0)] * 3
        assert list(given_to(steps[-1].assignment)) == ["m0-restarted", "m1-restarted", "m2-restarted"]

    def test_a_rolling_restart_without_instance_ids_rebalances_twice_a_member(self) -> None:
        group = settled(members("a", "b", "c"), cluster(), sticky.assign, Protocol.EAGER)
        steps = apply_events(group, cluster(), [RollingRestart()], assign=sticky.assign, protocol=Protocol.EAGER)
        assert [len(step.rebalances) for step in steps] == [2, 2, 2]
        assert all(step.handover.moved >= 4 for step in steps)
        assert [its.id for its in steps[-1].members] == ["m0-restarted", "m1-restarted", "m2-restarted"]

    def test_a_static_member_that_returns_in_another_rack_causes_no_rebalance(self) -> None:
        group = settled(members("a", "b", "c", instance=True), cluster(), optimal.assign, Protocol.EAGER)
        by = replace(group[0], id="moved", rack_id="d")
        (step,) = apply_events(group, cluster(), [Replace("m0", by)], assign=optimal.assign, protocol=Protocol.EAGER)
        assert step.rebalances == ()
        assert step.locality_before.in_rack == 12
        after = locality(step.members, step.metadata, step.assignment)
        assert (after.in_rack, after.cross_rack) == (8, 4)

    def test_a_static_member_that_no_longer_subscribes_rejoins(self) -> None:
        group = settled(members("a", "b", instance=True), cluster(), optimal.assign, Protocol.EAGER)
        by = replace(group[0], id="other", topics=("u",))
        (step,) = apply_events(group, cluster(), [Replace("m0", by)], assign=optimal.assign, protocol=Protocol.EAGER)
        assert len(step.rebalances) == 1
        assert {name: len(entries) for name, entries in given_to(step.assignment).items()} == {"other": 0, "m1": 12}

    def test_a_lost_rack_takes_its_members_and_its_racks_away(self) -> None:
        known = cluster(replicas=3)
        group = settled(members("a", "b", "c"), known, optimal.assign, Protocol.COOPERATIVE)
        (step,) = apply_events(group, known, [LoseRack("c")], assign=optimal.assign, protocol=Protocol.COOPERATIVE)
        assert [its.id for its in step.members] == ["m0", "m1"]
        assert step.metadata.rack_of == {0: "a", 1: "b"}
        assert (step.handover.moved, step.handover.kept) == (4, 8)
        assert locality(step.members, step.metadata, step.assignment).in_rack_share == 1.0

    def test_a_rack_with_brokers_alone_is_lost_to_a_leader_with_a_rack_only(self) -> None:
        for leader_rack, rebalances in (("a", 1), (None, 0)):
            group = settled(members(leader_rack, "b"), cluster(), optimal.assign, Protocol.EAGER)
            (step,) = apply_events(group, cluster(), [LoseRack("c")], assign=optimal.assign, protocol=Protocol.EAGER)
            assert len(step.rebalances) == rebalances

    def test_new_partitions_are_taken_up(self) -> None:
        group = settled(members("a", "b", "c"), cluster(), optimal.assign, Protocol.COOPERATIVE)
        grown = TopicGrown("t", 15, padded([[0], [1], [2, 0, 1]]))
        (step,) = apply_events(group, cluster(), [grown], assign=optimal.assign, protocol=Protocol.COOPERATIVE)
        after = locality(step.members, step.metadata, step.assignment)
        assert (step.handover.taken_up, step.handover.moved, after.in_rack) == (3, 0, 15)
        assert step.trigger is not None
        assert step.trigger.because == (TopicChange("t", "partitions", (12, 13, 14)),)

    def test_racks_that_change_move_something_only_if_the_leader_looks(self) -> None:
        changed = ReplicaRacksChanged({0: "b", 1: "a"})
        for leader, moved in (("m0", True), ("m3", False)):
            group = settled(members("a", "b", "c", None), cluster(), optimal.assign, Protocol.COOPERATIVE)
            (step,) = apply_events(
                group, cluster(), [changed], assign=optimal.assign, protocol=Protocol.COOPERATIVE, leader=leader
            )
            assert bool(step.rebalances) == moved
            assert bool(step.handover.moved) == moved
            assert step.trigger is not None
            assert bool(step.trigger.unseen) != moved

    def test_the_last_member_leaves_and_another_comes(self) -> None:
        group = settled(members("a"), cluster(), sticky.assign, Protocol.EAGER)
        events: list[Event] = [Leave("m0"), Join(Member("m1", ("t",), "a"))]
        empty, full = apply_events(group, cluster(), events, assign=sticky.assign, protocol=Protocol.EAGER)
        assert (empty.handover.dropped, empty.members, len(empty.assignment.partitions)) == (12, (), 0)
        assert full.handover.taken_up == 12

    @pytest.mark.parametrize(
        "event",
        [
            Leave("ghost"),
            Join(Member("m0", ("t",))),
            Replace("ghost", Member("m9", ("t",))),
            Replace("m0", Member("m1", ("t",))),
            LoseRack("nowhere"),
            TopicGrown("unknown", 1, padded([[0]])),
            TopicGrown("t", 13),
            TopicGrown("t", 1),
            TopicGrown("t", 16, padded([[0]])),
            ReplicaRacksChanged(replicas={"t": padded([[0]])}),
            ReplicaRacksChanged(replicas={"unknown": padded([[0]])}),
        ],
    )
    def test_impossible_events_are_rejected_and_named(self, event: Event) -> None:
        grown = TopicGrown("t", 13, padded([[0]]))
        with pytest.raises(ConflictingFields) as raised:
            apply_events(members("a", "b"), cluster(), [grown, event], assign=optimal.assign, protocol=Protocol.EAGER)
        assert raised.value.path[:2] == ("events", 1)

    def test_an_assignment_can_be_given_to_members(self) -> None:
        group = members("a", "b")
        assignment = range_assignor.assign(group, cluster())
        owning = with_owned(group, cluster(), assignment, protocol=Protocol.COOPERATIVE)
        (step,) = apply_events(owning, cluster(), [Leave("m1")], assign=optimal.assign, protocol=Protocol.COOPERATIVE)
        assert (step.handover.kept, step.handover.moved) == (6, 6)


class TestTrigger:
    """KIP-881: a leader with a rack rebalances where the set of racks of some partition changes."""

    leader = Member("m0", ("t", "u"), "a")
    before = metadata(RACKS, topic("t", [0, 1], [1, 2]), topic("u", [0]))

    def changed(self, after: GroupMetadata, leader: Member | None = None) -> list[tuple[str, str, tuple[int, ...]]]:
        found = trigger([self.leader], self.before, after, leader=leader or self.leader)
        assert found.would_rebalance == bool(found.because)
        return [(its.topic, its.what, its.partitions) for its in found.because]

    def test_the_same_racks_by_other_brokers_or_in_another_order_are_the_same(self) -> None:
        after = metadata({**RACKS, 3: "a"}, topic("t", [1, 3], [2, 1, 2]), topic("u", [3]))
        assert self.changed(after) == []

    def test_another_rack_a_lost_broker_and_one_more_rack_are_changes(self) -> None:
        assert self.changed(metadata(RACKS, topic("t", [0, 2], [1, 2]), topic("u", [0]))) == [("t", "racks", (0,))]
        assert self.changed(metadata({0: "a", 1: "b"}, topic("t", [0, 1], [1, 2]), topic("u", [0]))) == [
            ("t", "racks", (1,))
        ]
        assert self.changed(metadata(RACKS, topic("t", [0, 1, 2], [1, 2]), topic("u", [0]))) == [("t", "racks", (0,))]

    def test_a_leader_without_a_rack_sees_partitions_only(self) -> None:
        after = metadata(RACKS, topic("t", [0, 2], [1, 2], [0]), topic("u", [0]))
        for rack in (None, ""):
            found = trigger([self.leader], self.before, after, leader=replace(self.leader, rack_id=rack))
            assert found.because == (TopicChange("t", "partitions", (2,)),)
            assert found.unseen == (TopicChange("t", "racks", (0,)),)

    def test_topics_come_and_go(self) -> None:
        assert self.changed(metadata(RACKS, topic("t", [0, 1], [1, 2]))) == [("u", "vanished", (0,))]
        assert self.changed(metadata(RACKS, topic("u", [0]), topic("t", [0, 1]))) == [("t", "partitions", (1,))]
        found = trigger([self.leader], metadata(RACKS), self.before, leader=None)
        assert [(its.topic, its.what) for its in found.because] == [("t", "appeared"), ("u", "appeared")]

    def test_topics_without_subscribers_are_ignored(self) -> None:
        reader = Member("m1", ("u",), "a")
        after = metadata(RACKS, topic("t", [2]), topic("u", [0]))
        assert not trigger([reader], self.before, after, leader=reader).would_rebalance

    @given(snapshots, snapshots)
    def test_it_equals_an_obvious_comparison(self, before: GroupMetadata, after: GroupMetadata) -> None:
        reader = Member("m0", tuple("tuvw"), "a")

        def seen(known: GroupMetadata) -> dict[str, list[set[str | None]]]:
            return {
                name: [{known.rack_of.get(b) for b in row if b >= 0} for row in its.replicas.tolist()]
                for name, its in known.topics.items()
            }

        found = trigger([reader], before, after, leader=reader)
        assert found.would_rebalance == (seen(before) != seen(after))
        named = {(its.topic, p) for its in found.because if its.what == "racks" for p in its.partitions}
        both = [(name, old, seen(after)[name]) for name, old in seen(before).items() if name in after.topics]
        differing = {(name, p) for name, old, new in both for p in range(min(len(old), len(new))) if old[p] != new[p]}
        assert named == differing

    def test_an_empty_trigger_from_a_snapshot_to_itself(self) -> None:
        found = trigger([self.leader], self.before, self.before, leader=self.leader)
        assert (found.would_rebalance, found.because, found.unseen) == (False, (), ())
        assert np.array_equal(self.before.topics["t"].replicas, padded([[0, 1], [1, 2]]))
