"""Reads of a group from rack to rack, effects of changes of replicas, and paused partitions."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, reject

from app.core.groups.arrays.partition_table import assignment_of, partition_table
from app.core.groups.classic import range as range_assignor
from app.core.groups.classic import roundrobin
from app.core.groups.lifecycle.events import Join, Leave
from app.core.groups.lifecycle.rebalance import Protocol, rebalance
from app.core.groups.lifecycle.steps import apply_events
from app.core.groups.measures.group_traffic import (
    Rates,
    group_traffic,
    only_leaders,
    with_leaders_in_rack,
    with_one_more_replica,
)
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.groups.optimum.optimal import assign, optimum
from app.core.groups.registry import ASSIGNORS
from app.core.model import Float64s
from app.errors.kafka import KafkaRefuses
from tests import draws as st
from tests.core.groups.small_groups import (
    every_assignment,
    given_to,
    groups,
    member,
    metadata,
    readers_of,
    snapshots,
    topic,
)
from tests.profiles import costly

RACKS = {0: "a", 1: "b", 2: "c"}
RATES: Rates = {"t": np.array([10.0, 1.0, 5.0, 3.0]), "u": np.array([2.0, np.nan])}


def crossing(
    members: Sequence[Member],
    known: GroupMetadata,
    assignment: GroupAssignment,
    rates: Rates = RATES,
    *,
    follower_fetching: bool = False,
) -> float:
    """Bytes/s between two racks."""
    found = group_traffic(members, known, assignment, rates, follower_fetching=follower_fetching)
    return float(found.traffic.cross_rack.sum())


def assigned(members: Sequence[Member], known: GroupMetadata) -> GroupAssignment:
    """The assignment that is balanced and reads most in the rack of a replica."""
    return assign(members, known)


def read_by_hand(
    reader_rack: str | None, replica_racks: Sequence[str | None], *, follower_fetching: bool
) -> tuple[str | None, str | None, float | None]:
    """The racks of the broker and of the reader, and the followers in other racks than the leader; None if unknown.

    An unknown rack may be any, also one of its own: known is what is the same whichever they are.
    """
    unknown = [f"own-{place}" for place in range(len(replica_racks) + 1)]
    choices = [
        [rack] if rack else ["a", "b", "c", own]
        for rack, own in zip([reader_rack, *replica_racks], unknown, strict=True)
    ]
    sources: set[str | None] = set()
    followers: set[float] = set()
    for reader, *racks in product(*choices):
        near = follower_fetching and reader in racks
        sources.add(None if not racks else reader if near else racks[0])
        followers.add(sum(rack != racks[0] for rack in racks))
    source = sources.pop() if len(sources) == 1 else None
    sent = None if not replica_racks or len(followers) > 1 else followers.pop()
    return (None if source is not None and source.startswith("own-") else source), reader_rack or None, sent


def assigned_by(name: str, members: Sequence[Member], known: GroupMetadata) -> GroupAssignment:
    """The assignment of an assignor; examples of those that share partitions or fail are left out."""
    assignor = ASSIGNORS[name]
    assume(assignor.is_exclusive)
    try:
        return assignor.assign(members, known)
    except KafkaRefuses:
        reject()


racked = st.sampled_from(["a", "b", "c"])
small_lists = st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=3, unique=True)
small_groups = st.tuples(
    st.lists(racked, min_size=1, max_size=3).map(
        lambda racks: [Member(f"m{place}", ("t",), rack) for place, rack in enumerate(racks)]
    ),
    st.lists(small_lists, min_size=1, max_size=6).map(lambda rows: metadata(RACKS, topic("t", *rows))),
    st.lists(st.sampled_from([0, 1, 2, 7, 10**9]), min_size=6, max_size=6).map(lambda rates: np.array(rates, np.int64)),
    st.booleans(),
)


class TestLaws:
    """Groups of at most six partitions."""

    @given(small_groups)
    @costly(150)
    def test_no_balanced_assignment_crosses_less_than_the_optimum(
        self, case: tuple[list[Member], GroupMetadata, Float64s, bool]
    ) -> None:
        """Every assignment is looked at; one is balanced if two members differ by one partition at most."""
        members, known, weights, follower_fetching = case
        rates = {"t": weights.astype(np.float64)}
        fetched = known if follower_fetching else only_leaders(known)
        best = optimum(members, fetched, weights={"t": weights.astype(np.int64)}).assignment
        table, ids = partition_table(known), [its.id for its in members]
        least = np.inf
        for readers in every_assignment(members, known):
            by_row = np.array([readers["t", partition] for partition in range(table.rows)], np.int32)
            if np.ptp(np.bincount(by_row, minlength=len(members))) <= 1:
                found = assignment_of(table, by_row, ids)
                least = min(least, crossing(members, known, found, rates, follower_fetching=follower_fetching))
        assert crossing(members, known, best, rates, follower_fetching=follower_fetching) == least

    @given(groups, snapshots, st.sampled_from(list(ASSIGNORS)), st.booleans())
    @costly(150)
    def test_leaders_in_the_racks_of_readers_are_as_good_as_fetching_from_followers(
        self, members: list[Member], known: GroupMetadata, name: str, follower_fetching: bool
    ) -> None:
        found = assigned_by(name, members, known)
        led, changed = with_leaders_in_rack(members, known, found)
        moved = [
            name
            for name in known.topics
            for before, after in zip(known.topics[name].replicas, led.topics[name].replicas, strict=True)
            if set(before.tolist()) - {-1} != set(after.tolist()) - {-1}
        ]
        before, after = (crossing(members, each, found, follower_fetching=follower_fetching) for each in (known, led))
        assert (moved, after <= before) == ([], True)
        assert changed or after == before
        # A replica in an unknown rack may be in the reader's.
        fetched = group_traffic(members, known, found, RATES, follower_fetching=True).traffic
        assert crossing(members, led, found) <= fetched.cross_rack.sum() + fetched.unknown.sum()

    @given(groups, snapshots)
    @costly(150)
    def test_one_more_replica_is_in_a_new_rack(self, members: list[Member], known: GroupMetadata) -> None:
        found = assigned(members, known)
        more, added = with_one_more_replica(members, known, found)
        gained = 0
        for name, its in known.topics.items():
            for before, after in zip(its.replicas.tolist(), more.topics[name].replicas.tolist(), strict=True):
                old, new = ([broker for broker in row if broker != -1] for row in (before, after))
                assert new[: len(old)] == old
                racks = [known.rack_of.get(broker) for broker in new]
                assert len(new) == len(old) or (None not in racks and racks.count(racks[-1]) == 1)
                gained += len(new) - len(old)
        assert gained == added
        assert crossing(members, more, found, follower_fetching=True) <= crossing(
            members, known, found, follower_fetching=True
        )

    @given(groups, snapshots, st.sampled_from(list(ASSIGNORS)), st.booleans())
    @costly(600)
    def test_known_is_what_is_the_same_whichever_the_unknown_racks_are(
        self, members: list[Member], known: GroupMetadata, name: str, follower_fetching: bool
    ) -> None:
        """Each partition by itself: KIP-392's rule, applied to every choice of the unknown racks."""
        assignment = assigned_by(name, members, known)
        pairs: defaultdict[tuple[str | None, str | None], float] = defaultdict(float)
        of_member: defaultdict[str, float] = defaultdict(float)
        sent, unrated = 0.0, 0
        # Sticky assignors keep what members claim: a partition may be assigned twice, and the later member is measured.
        for (topic_name, partition), place in readers_of(members, assignment).items():
            if partition >= len(known.topics[topic_name].replicas):
                continue  # claimed in a topic that has become smaller
            reader = members[place]
            rates = RATES.get(topic_name, np.zeros(0))
            rate = float(rates[partition]) if partition < len(rates) else np.nan
            if np.isnan(rate):
                unrated += 1
                continue
            row = known.topics[topic_name].replicas[partition].tolist()
            racks = [known.rack_of.get(broker) or None for broker in row if broker >= 0]
            source, target, followers = read_by_hand(reader.rack_id, racks, follower_fetching=follower_fetching)
            pairs[source, target] += rate
            of_member[reader.id] += rate
            sent += np.nan if followers is None else followers * rate
        found = group_traffic(members, known, assignment, RATES, follower_fetching=follower_fetching)
        names = [*found.racks, None]
        cells = found.traffic.per_pair(len(found.racks))
        expected = [[pairs[one, other] for other in names] for one in names]
        assert cells == pytest.approx(np.array(expected, np.float64))
        crosses = {key: rate for key, rate in pairs.items() if None not in key and key[0] != key[1]}
        assert found.traffic.cross_rack.sum() == pytest.approx(sum(crosses.values()))
        assert found.traffic.unknown.sum() == pytest.approx(sum(rate for key, rate in pairs.items() if None in key))
        assert found.traffic.replication.sum() == pytest.approx(sent, nan_ok=True)
        assert found.unrated == unrated
        by_member = np.bincount(found.readers, found.traffic.bytes_per_s, len(members))
        assert by_member == pytest.approx(np.array([of_member[its.id] for its in members], np.float64))

    @given(groups, snapshots, st.booleans())
    @costly(150)
    def test_assigned_partitions_are_read_unrated_or_unknown(
        self, members: list[Member], known: GroupMetadata, follower_fetching: bool
    ) -> None:
        found = assigned(members, known)
        traffic = group_traffic(members, known, found, RATES, follower_fetching=follower_fetching)
        assert len(traffic.rows) + traffic.unrated == len(found.partitions)
        assert traffic.traffic.per_pair(len(traffic.racks)).sum() == traffic.traffic.bytes_per_s.sum()


class TestExamples:
    """A member in each of the racks a and b; four partitions led in a, b, c and a, with a follower in the next rack."""

    KNOWN = metadata(RACKS, topic("t", [0, 1], [1, 2], [2, 0], [0, 1]))
    MEMBERS = (member("m-a", "t", "a"), member("m-b", "t", "b"))

    def _found(self) -> GroupAssignment:
        return assignment_of(partition_table(self.KNOWN), np.array([0, 0, 1, 1], np.int32), ("m-a", "m-b"))

    @pytest.mark.parametrize(("follower_fetching", "expected"), [(False, 1 + 5 + 3), (True, 1 + 5)])
    def test_what_crosses(self, follower_fetching: bool, expected: float) -> None:
        """Partitions 0 and 1 are read in a, 2 and 3 in b; only partition 3 has a follower in its reader's rack."""
        assert crossing(self.MEMBERS, self.KNOWN, self._found(), follower_fetching=follower_fetching) == expected

    def test_pairs_and_topics(self) -> None:
        found = group_traffic(self.MEMBERS, self.KNOWN, self._found(), RATES, follower_fetching=False)
        assert found.racks == ("a", "b", "c")
        assert found.traffic.per_pair(3)[:3, :3].tolist() == [[10, 3, 0], [1, 0, 0], [0, 5, 0]]
        assert (found.rows.tolist(), found.readers.tolist(), found.unrated) == ([0, 1, 2, 3], [0, 0, 1, 1], 0)

    def test_leaders_move_to_readers(self) -> None:
        led, changed = with_leaders_in_rack(self.MEMBERS, self.KNOWN, self._found())
        assert led.topics["t"].replicas.tolist() == [[0, 1], [1, 2], [2, 0], [1, 0]]
        assert (changed, crossing(self.MEMBERS, led, self._found())) == (1, 6)

    def test_one_more_replica_is_in_the_readers_rack(self) -> None:
        more, added = with_one_more_replica(self.MEMBERS, self.KNOWN, self._found())
        assert more.topics["t"].replicas.tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]
        assert (added, crossing(self.MEMBERS, more, self._found(), follower_fetching=True)) == (4, 0)

    def test_every_rack_has_a_replica(self) -> None:
        known = metadata(RACKS, topic("t", [0, 1, 2]))
        assert with_one_more_replica(self.MEMBERS, known, assigned(self.MEMBERS, known))[1] == 0

    def test_rates_that_are_missing_are_counted(self) -> None:
        known = metadata(RACKS, topic("t", *[[0]] * 5), topic("u", [0], [1]), topic("v", [0]))
        members = [member("m", "tuv", "a")]
        found = group_traffic(members, known, assigned(members, known), RATES, follower_fetching=False)
        assert (len(found.rows), found.unrated) == (5, 3)


class TestPauses:
    """Four partitions, of which a member that joins or leaves takes its share."""

    KNOWN = metadata(RACKS, TopicMetadata("t", np.array([[0], [1], [2], [0]], np.int32)))

    def _pauses(self, assign: Assign, protocol: Protocol, event: Join | Leave) -> dict[tuple[str, int], int]:
        done = rebalance([member(name, "t") for name in ("m0", "m1")], self.KNOWN, assign=assign, protocol=protocol)
        (step,) = apply_events(done.members, self.KNOWN, [event], assign=assign, protocol=protocol)
        before = {entry for entries in given_to(done.assignment).values() for entry in entries}
        assert len(before) == 4
        return {("t", partition): count for partition, count in enumerate(step.pauses.tolist())}

    def test_an_eager_rebalance_pauses_everything(self) -> None:
        assert set(self._pauses(range_assignor.assign, Protocol.EAGER, Join(member("m2", "t"))).values()) == {1}

    @pytest.mark.parametrize("protocol", [Protocol.COOPERATIVE, Protocol.RECONCILED])
    def test_others_pause_what_moves(self, protocol: Protocol) -> None:
        """Round robin deals 0 2 | 1 3; without the first member, the second has its partitions as well."""
        pauses = self._pauses(roundrobin.assign, protocol, Leave("m0"))
        assert pauses == {("t", 0): 1, ("t", 1): 0, ("t", 2): 1, ("t", 3): 0}

    def test_a_partition_without_a_member_is_not_paused(self) -> None:
        (step,) = apply_events(
            rebalance([member("m0", "t")], self.KNOWN, assign=roundrobin.assign, protocol=Protocol.EAGER).members,
            self.KNOWN,
            [Leave("m0")],
            assign=roundrobin.assign,
            protocol=Protocol.EAGER,
        )
        assert (step.pauses.tolist(), step.handover.dropped) == ([0] * 4, 4)
