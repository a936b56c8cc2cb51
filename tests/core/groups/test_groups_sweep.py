"""Every group under everything that is tried on it: each scenario is one rebalance, and one that fails fails alone."""

import json
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given

from app.core.groups.arrays.owned import owned_assignment
from app.core.groups.lifecycle.events import Leave
from app.core.groups.lifecycle.rebalance import rebalance
from app.core.groups.lifecycle.steps import apply_events
from app.core.groups.measures.locality import handover, locality, member_loads
from app.core.groups.model import GroupMetadata, Member, Owned
from app.core.groups.registry import ASSIGNORS, Assignor
from app.core.groups.sweep import (
    GroupsSweep,
    SweptGroup,
    read_sweep,
    remaining_members,
    resolved_document,
    swept_version,
    with_added,
)
from app.core.kafka_versions import NEWEST, KafkaVersion
from app.core.sweeps import score
from app.errors import Failure, Json
from app.errors.requests import ConflictingFields
from tests import draws as st
from tests.core.groups.small_groups import groups, member, metadata, snapshots, topic
from tests.premises import reaches
from tests.profiles import costly

DIVIDING = [assignor for assignor in ASSIGNORS.values() if assignor.is_exclusive]
KNOWN = metadata({0: "a", 1: "b", 2: "c"}, topic("t", *[[p % 3, (p + 1) % 3] for p in range(12)]), topic("u", [0], [1]))
ELSEWHERE = topic("w", [0], [1], [2])


def sweep_of(
    members: Sequence[Member],
    known: GroupMetadata = KNOWN,
    *,
    assignors: Sequence[Assignor] = DIVIDING,
    lost: Sequence[int] = (0,),
    added: Sequence[int] = (0,),
    seed: int = 0,
) -> GroupsSweep:
    """One group, called g."""
    return GroupsSweep(known, (SweptGroup("g", tuple(members)),), tuple(assignors), tuple(lost), tuple(added), seed)


def rows_of(sweep: GroupsSweep, start: int, stop: int) -> list[dict[str, Json]]:
    """The rows of a range as JSON."""
    return [row.document for row in score(sweep, start, stop)]


def settled(*racks: str | None) -> list[Member]:
    """Members of one group that share t evenly, one partition after another."""
    count = len(racks)
    return [member(f"m{i}", "t", rack, {"t": list(range(i, 12, count))}) for i, rack in enumerate(racks)]


@reaches("rebalanced", 0.5)
@given(groups, snapshots, st.sampled_from(DIVIDING))
def test_without_changes_it_is_the_groups_own_rebalance(
    members: list[Member], known: GroupMetadata, assignor: Assignor
) -> None:
    [row] = rows_of(sweep_of(members, known, assignors=[assignor]), 0, 1)
    seen = [assignor.sees(its) for its in members]
    if row["error"] is not None:
        error: Any = row["error"]
        with pytest.raises(Failure) as raised:
            rebalance(seen, known, assign=assignor.assign, protocol=assignor.protocol)
        assert (error["code"], error["detail"]) == (raised.value.code, raised.value.detail)
        return
    event("rebalanced")
    done = rebalance(seen, known, assign=assignor.assign, protocol=assignor.protocol)
    where = locality(seen, known, done.assignment)
    change = handover(known, owned_assignment(members, known), done.assignment)
    assert row == {
        "index": 0,
        "axes": {"group": "g", "assignor": assignor.name, "members_lost": 0, "members_added": 0},
        "members": len(members),
        "partitions": member_loads(seen, known, done.assignment).total,
        "in_rack": where.in_rack,
        "cross_rack": where.cross_rack,
        "unknown": where.unknown,
        "in_rack_share": where.in_rack_share,
        "moved": change.moved,
        "taken_up": change.taken_up,
        "dropped": change.dropped,
        "revoked": sum(phase.revoked for phase in done.phases),
        "phases": len(done.phases),
        "settled": done.settled,
        "spread": member_loads(seen, known, done.assignment).spread,
        "error": None,
    }


@given(
    st.sampled_from(DIVIDING),
    st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=2, max_size=5),
    st.integers(-(2**70), 2**70),
)
def test_one_lost_member_is_one_that_leaves(assignor: Assignor, racks: list[str | None], seed: int) -> None:
    members = settled(*racks)
    [row] = rows_of(sweep_of(members, assignors=[assignor], lost=[1], seed=seed), 0, 1)
    left = {its.id for its in remaining_members(members, 1, group_id="g", seed=seed)}
    [gone] = [its.id for its in members if its.id not in left]
    seen = [assignor.sees(its) for its in members]
    [step] = apply_events(seen, KNOWN, [Leave(gone)], assign=assignor.assign, protocol=assignor.protocol)
    assert (row["moved"], row["revoked"], row["dropped"]) == (step.handover.moved, step.revoked, 0)
    after = locality(step.members, step.metadata, step.assignment)
    assert (row["in_rack"], row["cross_rack"]) == (after.in_rack, after.cross_rack)
    # Partitions of the lost one go to others, whatever the assignor.
    had = next(len(run.partitions) for its in members if its.id == gone for run in its.owned)
    assert isinstance(row["moved"], int)
    assert row["moved"] >= had


@given(st.integers(1, 8), st.integers(-(2**70), 2**70), st.text(min_size=1, max_size=4))
def test_members_lost_among_few_are_lost_among_more(count: int, seed: int, group_id: str) -> None:
    members = settled(*["a"] * count)
    left = [[its.id for its in remaining_members(members, n, group_id=group_id, seed=seed)] for n in range(count + 1)]
    for fewer, more in pairwise(left):
        assert set(more) < set(fewer)
        assert len(more) == len(fewer) - 1
    assert left[0] == [its.id for its in members]


def test_lost_members_depend_on_the_seed_and_the_group() -> None:
    """Else every group of a sweep would lose its first member."""
    members = settled(*["a"] * 8)
    lost = {
        (seed, group_id): tuple(its.id for its in remaining_members(members, 4, group_id=group_id, seed=seed))
        for seed in (0, 1)
        for group_id in ("g", "h")
    }
    assert len(set(lost.values())) == 4


@given(groups.filter(bool), snapshots, st.integers(0, 4))
def test_each_added_member_joins_the_rack_with_the_fewest(
    members: list[Member], known: GroupMetadata, count: int
) -> None:
    joined = with_added(members, count, recorded=members, metadata=known)
    assert list(joined[: len(members)]) == members
    racks = {rack for rack in known.rack_of.values() if rack} | {its.rack_id for its in members if its.rack_id}
    for place in range(len(members), len(joined)):
        its, before = joined[place], joined[:place]
        assert not its.owned
        assert its.id not in {other.id for other in before}
        crowd = {rack: sum(other.rack_id == rack for other in before) for rack in racks}
        if not any(other.rack_id for other in members):
            assert its.rack_id is None
        else:
            assert its.rack_id == min(crowd, key=lambda rack: (crowd[rack], rack))


def test_an_added_member_has_the_most_common_subscription() -> None:
    members = [Member("m0", ("t",)), Member("m1", ("u", "t")), Member("m2", ("t", "u"))]
    [*_, joined] = with_added(members, 1, recorded=members, metadata=KNOWN)
    assert (joined.id, joined.topics) == ("added-1", ("u", "t"))
    taken = [*members, Member("added-1", ("t",))]
    assert with_added(taken, 1, recorded=taken, metadata=KNOWN)[-1].id == "added-2"


def test_the_last_axis_varies_fastest() -> None:
    two = GroupsSweep(
        KNOWN,
        (SweptGroup("g", tuple(settled("a", "b"))), SweptGroup("h", tuple(settled("c")))),
        tuple(DIVIDING),
        (0, 1),
        (0, 2, 1),
        seed=0,
    )
    names = [assignor.name for assignor in DIVIDING]
    expected = list(product(["g", "h"], names, [0, 1], [0, 2, 1]))
    rows = rows_of(two, 0, two.count)
    assert [tuple(axes.values()) for axes in (two.grid.values(index) for index in range(two.count))] == expected
    assert [row["index"] for row in rows] == list(range(len(expected)))
    assert rows == rows_of(two, 0, 7) + rows_of(two, 7, two.count)


def test_losing_more_members_than_exist_fails_alone() -> None:
    rows = rows_of(sweep_of(settled("a", "b"), assignors=[ASSIGNORS["range"]], lost=[1, 2, 3]), 0, 3)
    error: Any = rows[2]["error"]
    assert [row["error"] is None for row in rows] == [True, True, False]
    assert (error["code"], error["path"]) == ("conflicting_fields", ["members_lost"])
    # Without members nothing is read, and nothing moves.
    assert (rows[1]["members"], rows[1]["dropped"], rows[1]["moved"], rows[1]["in_rack_share"]) == (0, 12, 0, None)
    with pytest.raises(ConflictingFields, match="2 members; 3 cannot be lost"):
        remaining_members(settled("a", "b"), 3, group_id="g", seed=0)


def test_an_assignor_that_fails_is_a_row_with_its_error() -> None:
    """The topic has shrunk. Kafka's uniform then leaves a partition without a member; the others go on."""
    stale = [member("m0", "u", "a", {"u": [0, 7]}), member("m1", "u", "b", {"u": [1]})]
    rows: Any = rows_of(sweep_of(stale), 0, len(DIVIDING))
    errors = {row["axes"]["assignor"]: row["error"] for row in rows if row["error"] is not None}
    assert list(errors) == ["uniform"]
    assert errors["uniform"]["code"] == "partitions_left_unassigned"
    assert set(rows[list(ASSIGNORS).index("uniform")]) == {"index", "axes", "error"}


@costly()
@given(
    groups.map(lambda members: [m for m in members if len({run.topic for run in m.owned}) == len(m.owned)]),
    snapshots,
)
def test_a_stored_definition_scores_the_same(members: list[Member], known: GroupMetadata) -> None:
    """Through JSON and back, without the topics that no group of the sweep reads."""
    sorted_members = [
        Member(
            its.id,
            its.topics,
            its.rack_id,
            its.group_instance_id,
            [Owned(run.topic, np.sort(run.partitions)) for run in sorted(its.owned, key=lambda run: run.topic)],
            its.generation_id,
        )
        for its in members
    ]
    more = GroupMetadata(known.rack_of, {**known.topics, "elsewhere": ELSEWHERE})
    there = sweep_of(sorted_members, more, lost=[0, 1], added=[0, 1], seed=3)
    resolved: Any = resolved_document(there.groups, more)
    assert "elsewhere" not in {its["name"] for its in resolved["topics"]}
    definition = {
        "assignors": [assignor.name for assignor in DIVIDING],
        "members_lost": [0, 1],
        "members_added": [0, 1],
        "seed": 3,
        "kafka_version": str(NEWEST),
        "resolved": resolved,
    }
    read = read_sweep(json.loads(json.dumps(definition)))
    assert rows_of(read, 0, read.count) == rows_of(there, 0, there.count)


def test_a_definition_that_was_stored_without_a_release_is_of_4_0_0() -> None:
    assert swept_version({}) == KafkaVersion(4, 0, 0)
    assert swept_version({"kafka_version": "4.2.0"}) == KafkaVersion(4, 2, 0)
