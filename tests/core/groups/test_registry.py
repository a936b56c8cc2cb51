"""The registry: every assignor under one signature, whatever it runs on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given

from app.core.groups.lifecycle.rebalance import Protocol, rebalance
from app.core.groups.measures.locality import RacksIgnored, racks_ignored
from app.core.groups.measures.violations import violations
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import ASSIGNORS
from app.core.groups.server import uniform
from app.core.groups.server.group import id_of_topic
from app.core.groups.server.uniform import Remainder
from app.core.model import padded
from app.errors.kafka import AssignorNeverEnds, KafkaRefuses
from tests import draws as st
from tests.core.groups.small_groups import given_to, groups, metadata, snapshots, topic
from tests.premises import reaches
from tests.profiles import costly

RACKS = {0: "a", 1: "b", 2: "c"}


def two_topics() -> GroupMetadata:
    return metadata(RACKS, topic("t", *[[p % 3] for p in range(6)]), topic("u", *[[p % 3] for p in range(3)]))


@pytest.mark.parametrize("name", [name for name, assignor in ASSIGNORS.items() if assignor.is_exclusive])
@costly()
@given(members=groups.filter(bool), known=snapshots)
def test_every_partition_that_somebody_reads_has_exactly_one_reader(
    name: str, members: list[Member], known: GroupMetadata
) -> None:
    """The rule that all assignors share; loads may be less even than could be, and a sticky one may add its faults."""
    # Members that own nothing and subscribe to something: then none of the known faults can occur.
    fresh = [Member(member.id, member.topics or ("t",), member.rack_id) for member in members]
    answer = ASSIGNORS[name].assign(fresh, known)
    illegal = [fault.code for fault in violations(fresh, known, answer) if fault.severity == "illegal"]
    assert illegal == []


class TestTheCoordinatorsAssignors:
    """They know topics by id; the registry's take and answer names."""

    def test_a_topics_own_id_is_used(self) -> None:
        known = two_topics()
        ids = {"t": "AAAAAAAAAAAAAAAAAAAAAQ", "u": "AAAAAAAAAAAAAAAAAAAAAg"}
        named = GroupMetadata(
            known.rack_of,
            {name: TopicMetadata(name, each.replicas, ids[name]) for name, each in known.topics.items()},
        )
        members = [Member("m0", ("t", "u")), Member("m1", ("u", "t"))]
        by_id = uniform.assign(
            [Member("m0", (ids["t"], ids["u"])), Member("m1", (ids["u"], ids["t"]))],
            {ids["t"]: 6, ids["u"]: 3},
            remainder=Remainder.OWNERS,
        )
        by_name = ASSIGNORS["uniform"].assign(members, named)
        name_of = {topic_id: name for name, topic_id in ids.items()}
        assert given_to(by_name) == {
            member: [(name_of[topic_id], partition) for topic_id, partition in entries]
            for member, entries in given_to(by_id).items()
        }

    def test_an_unstated_id_is_made_of_the_name_alone(self) -> None:
        made = id_of_topic(TopicMetadata("t", padded([[0]])))
        assert made == id_of_topic(TopicMetadata("t", padded([[1], [2]])))
        assert len(made) == 22

    def test_a_topic_that_does_not_exist_is_dropped_as_it_never_comes_to_the_assignor(self) -> None:
        members = [Member("m0", ("t", "gone"), owned=(Owned("gone", np.array([0], np.int32)),)), Member("m1", ("t",))]
        answer = given_to(ASSIGNORS["uniform"].assign(members, two_topics()))
        assert {len(entries) for entries in answer.values()} == {3}

    def test_what_members_own_stays(self) -> None:
        owned = (Owned("t", np.array([5, 3, 1], np.int32)),)
        members = [Member("m0", ("t",), owned=owned), Member("m1", ("t",))]
        answer = given_to(ASSIGNORS["uniform"].assign(members, two_topics()))
        assert sorted(answer["m0"]) == [("t", 1), ("t", 3), ("t", 5)]

    def test_members_reconcile_to_one_answer_in_two_phases(self) -> None:
        """The coordinator does not ask its assignor again: the second phase assigns freed partitions."""
        owned = (Owned("t", np.arange(6, dtype=np.int32)),)
        members = [Member("m0", ("t",), owned=owned), Member("m1", ("t",))]
        done = rebalance(members, two_topics(), assign=ASSIGNORS["uniform"].assign, protocol=Protocol.RECONCILED)
        first, second = done.phases
        assert (first.revoked, first.added, first.pending) == (3, 0, 3)
        assert (second.revoked, second.added, second.pending) == (0, 3, 0)
        target = given_to(ASSIGNORS["uniform"].assign(members, two_topics()))
        assert {m: sorted(e) for m, e in given_to(second.assignment).items()} == {
            m: sorted(e) for m, e in target.items()
        }


@st.composite
def _groups_without_racks(draw: st.DrawFn) -> tuple[list[Member], GroupMetadata]:
    """New members, and metadata, of which one is made such that racks decide nothing, for each of the reasons."""
    reason, known = draw(st.sampled_from(RacksIgnored)), draw(snapshots)
    members = draw(groups.filter(bool))
    if reason is RacksIgnored.NO_REPLICA_HAS_A_RACK:
        known = replace(known, rack_of=dict.fromkeys(known.rack_of))
    elif reason is RacksIgnored.ALL_PARTITIONS_ALIKE:
        everywhere = padded([sorted(known.rack_of)])
        same = [
            TopicMetadata(name, np.repeat(everywhere, len(its.replicas), axis=0)) for name, its in known.topics.items()
        ]
        known = metadata(dict(known.rack_of), *same)
    racks = {RacksIgnored.NO_MEMBER_HAS_A_RACK: None, RacksIgnored.NO_RACK_IN_COMMON: "elsewhere"}
    fresh = [Member(m.id, m.topics or tuple(known.topics), racks.get(reason, m.rack_id)) for m in members]
    return fresh, known


class TestWhyRacksDecideNothing:
    """KIP-881 is switched off without a word in four cases; each is named."""

    @pytest.mark.parametrize(
        ("member_racks", "broker_racks", "replicas", "reason"),
        [
            ([None, ""], RACKS, [[0], [1]], RacksIgnored.NO_MEMBER_HAS_A_RACK),
            (["a", "b"], {}, [[0], [1]], RacksIgnored.NO_REPLICA_HAS_A_RACK),
            (["x", None], RACKS, [[0], [1]], RacksIgnored.NO_RACK_IN_COMMON),
            (["a", "b"], RACKS, [[0, 1, 2], [2, 1, 0]], RacksIgnored.ALL_PARTITIONS_ALIKE),
            (["a", "b"], RACKS, [[0], [1]], None),
            (["a", None], RACKS, [[0, 1], [0, 2]], None),
            (["a", "b"], {0: "", 1: "b"}, [[1], [0, 1]], None),  # to Kafka, a broker's empty rack is a rack
        ],
    )
    def test_the_reason_is_named(
        self,
        member_racks: list[str | None],
        broker_racks: dict[int, str],
        replicas: list[list[int]],
        reason: RacksIgnored | None,
    ) -> None:
        members = [Member(f"m{i}", ("t",), rack) for i, rack in enumerate(member_racks)]
        assert racks_ignored(members, metadata(broker_racks, topic("t", *replicas))) is reason

    @given(group=_groups_without_racks(), name=st.sampled_from(["range", "sticky", "cooperative-sticky"]))
    def test_where_racks_are_ignored_the_answer_is_that_without_racks(
        self, group: tuple[list[Member], GroupMetadata], name: str
    ) -> None:
        fresh, known = group
        assume(racks_ignored(fresh, known) is not None)  # some partition is subscribed to
        without = [Member(m.id, m.topics) for m in fresh]
        assign = ASSIGNORS[name].assign
        assert {m: sorted(e) for m, e in given_to(assign(fresh, known)).items()} == {
            m: sorted(e) for m, e in given_to(assign(without, known)).items()
        }


_ids = st.one_of(st.integers(0, 5), st.sampled_from([99, 2**31 - 2, 2**31 - 1]))
_claims = st.lists(
    st.builds(
        lambda name, ids: Owned(name, np.array(ids, np.int32)), st.sampled_from("tuvx"), st.lists(_ids, max_size=4)
    ),
    max_size=3,
).map(tuple)
_claimants = st.lists(
    st.builds(
        Member,
        id=st.sampled_from(["m0", "m1", "m2"]),
        topics=st.lists(st.sampled_from("tuv"), unique=True).map(tuple),
        rack_id=st.sampled_from([None, "a", "b"]),
        owned=_claims,
        generation_id=st.sampled_from([None, -1, 0, 7, 2**31 - 1]),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda its: its.id,
)


@costly()
@pytest.mark.parametrize("name", ASSIGNORS)
@reaches("answered", 0.3)
@given(members=_claimants, known=snapshots)
def test_whatever_members_claim_there_is_an_answer_or_a_refusal(
    name: str, members: list[Member], known: GroupMetadata
) -> None:
    """Ids as large as a number can be, topics that do not exist, a partition listed twice: nothing else is raised."""
    assignor = ASSIGNORS[name]
    try:
        if not assignor.is_exclusive:
            assignor.assign(members, known)
            event("answered")
            return
        done = rebalance(members, known, assign=assignor.assign, protocol=assignor.protocol)
    except (KafkaRefuses, AssignorNeverEnds):
        return
    event("answered")
    assert {member.id for member in done.members} == {member.id for member in members}
