"""`"copysets": "no_new"` of a reassignment: no replica set that the cluster does not have, at the same movement."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from app.core.model import Broker, Cluster
from app.core.reassignment.model import KnownSets
from app.errors.reassignments import NotFeasible
from app.errors.requests import ConflictingFields
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, READER
from app.store.records import NewPlan
from benchmarks.peers import figures_of, planned
from tests import draws as st
from tests.peer_clusters import cluster
from tests.peer_figures import CASES, PeerCase
from tests.profiles import costly
from tests.services.reassignments import topic

QUICK = ("remove 105", "remove 5", "add 31 to 33, fewest bytes", "by bytes, 9 %", "leaders, 9 %", "repair racks")


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Nine brokers in three racks, and partitions on any sets with one broker a rack."""
    racks = [[1, 4, 7], [2, 5, 8], [3, 6, 9]]
    lists = draw(st.lists(st.tuples(*(st.sampled_from(rack) for rack in racks)), min_size=1, max_size=40))
    sizes = draw(st.lists(st.integers(1, 1000), min_size=len(lists), max_size=len(lists)))
    brokers = tuple(Broker(broker, f"r{broker % 3}") for broker in range(1, 10))
    return Cluster("c", brokers, (topic("t", [list(row) for row in lists], sizes),))


def plan(of: Cluster, body: dict[str, Any]) -> NewPlan:
    request = READER.validate_python({"snapshot_id": "00000000-0000-0000-0000-000000000000", **body})
    return draft_plan(PLANNER, request, of, Limits())


def sets(rows: Sequence[Sequence[int]]) -> set[frozenset[int]]:
    return {frozenset(broker for broker in row if broker >= 0) for row in rows}


def sets_after(made: NewPlan) -> set[frozenset[int]]:
    return set().union(*(sets(placement.replicas.tolist()) for placement in made.placements))


def sets_before(of: Cluster) -> set[frozenset[int]]:
    return set().union(*(sets(each.replicas.tolist()) for each in of.topics))


def opened(made: NewPlan, of: Cluster) -> set[frozenset[int]]:
    """Sets that no partition had, without sets of brokers that had no partition."""
    used = frozenset().union(*sets_before(of))
    return {each for each in sets_after(made) - sets_before(of) if each <= used}


def certificate(made: NewPlan) -> dict[str, Any]:
    found: Any = made.answer["certificate"]
    return dict(found)


def least_of_removal(of: Cluster, removed: Sequence[int]) -> int:
    """Bytes that partitions of removed brokers copy to the nearest set with one remaining broker a rack."""
    usable = [each for each in sets_before(of) if not each & set(removed)]
    (only,) = of.topics
    rows = zip(only.replicas.tolist(), only.size_bytes.tolist(), strict=True)
    return sum(size * min(len(each - set(row)) for each in usable) for row, size in rows if set(row) & set(removed))


CHANGES: Sequence[dict[str, Any]] = (
    {"remove_brokers": [4]},
    {"remove_brokers": [4, 5]},
    {"balance": {"replicas": "tight"}},
    {"balance": {"replicas": {"tolerance": 0.3}, "replicas_by": "bytes"}},
    {"partitions": {"t": 50}},
    {"balance": {"replicas": "tight", "per_topic": {"replicas": "tight"}}},
)


@costly()
@given(clusters(), st.sampled_from(CHANGES))
def test_no_set_is_opened_and_no_plan_moves_less_than_the_bound(of: Cluster, change: dict[str, Any]) -> None:
    """Or the request is rejected, or relaxed with the plan that it has without the restriction."""
    free = plan(of, change)
    made = plan(of, {**change, "copysets": "no_new", "on_conflict": "relax"})
    relaxed: Any = made.answer["relaxed"]
    if relaxed:
        assert [each["constraint"] for each in relaxed] == ["copysets"]
        assert opened(free, of)
        with pytest.raises(NotFeasible) as rejected:
            plan(of, {**change, "copysets": "no_new"})
        assert rejected.value.path == ("copysets",)
        return
    assert not opened(made, of)
    bounds = [certificate(each)["lower_bound_bytes"] for each in (free, made)]
    assert bounds[0] <= bounds[1] <= certificate(made)["moved_bytes"]
    if "remove_brokers" in change and frozenset().union(*sets_before(of)) == set(range(1, 10)):
        assert bounds[1] >= least_of_removal(of, change["remove_brokers"])
    if not opened(free, of):
        assert made.placements[0].replicas.tolist() == free.placements[0].replicas.tolist()


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in CASES if case.name in QUICK and case.cluster != "c"], ids=str)
def test_no_extra_bytes_of_changes_that_peers_were_measured_on(case: PeerCase) -> None:
    free = planned(case)
    made = plan(cluster(case.cluster), {**case.body, "copysets": "no_new"})
    assert not opened(made, cluster(case.cluster))
    assert certificate(made)["moved_bytes"] <= certificate(free)["moved_bytes"]


@pytest.mark.parametrize(
    "change",
    [{"objective": "relieve", "limits": {"replicas": {"absolute": 50}}}, {"balance": {"resources": ["nic_out"]}}],
)
def test_limits_and_goals_that_leaders_change_are_placed_without_regard_to_sets(change: dict[str, Any]) -> None:
    with pytest.raises(ConflictingFields, match="copysets goes with goals for disk, nic_in and replicas") as raised:
        plan(cluster("a"), {**change, "copysets": "no_new"})
    assert raised.value.path == ("copysets",)


@pytest.mark.long
def test_goals_are_reached_on_known_sets_as_without_the_restriction() -> None:
    """Both goals are reached, at no further byte, and the bound is the same."""
    case = next(case for case in CASES if case.name == "replicas and bytes, 9 %")
    free, made = planned(case), plan(cluster("b"), {**case.body, "copysets": "no_new"})
    assert opened(free, cluster("b"))
    assert not opened(made, cluster("b"))
    assert certificate(made)["lower_bound_bytes"] == certificate(free)["lower_bound_bytes"]
    assert certificate(made)["moved_bytes"] <= certificate(free)["moved_bytes"]
    assert figures_of(case, made).bytes[0] <= 1.09
    assert figures_of(case, made).replicas[0] <= 1.09


def test_partitions_that_have_to_copy_more_are_proven_and_named() -> None:
    """No other set has brokers 4 and 7: all three replicas of the partition move."""
    brokers = tuple(Broker(broker, f"r{broker % 3}") for broker in range(1, 10))
    of = Cluster("c", brokers, (topic("t", [[1, 4, 7], [2, 5, 8], [3, 6, 9]], [9, 1, 1]),))
    of = replace(of, brokers=tuple(replace(each, rack=f"r{(each.id - 1) // 3}") for each in brokers))
    found = certificate(plan(of, {"remove_brokers": [1], "copysets": "no_new", "balance": {"replicas": "keep"}}))
    assert (found["moved_bytes"], found["lower_bound_bytes"], found["gap"]) == (27, 27, 0)
    assert "1 partitions copy more replicas" in " ".join(found["constraints"])


def test_a_successor_takes_over_the_sets_of_the_broker_that_it_replaces() -> None:
    of = Cluster("c", (Broker(1, "a"), Broker(2, "b"), Broker(3, "a")), (topic("t", [[1, 2], [2, 1]], [5, 5]),))
    made = plan(of, {"replace_brokers": {"1": 3}, "copysets": "no_new"})
    assert sets_after(made) == {frozenset({2, 3})}


def test_a_factor_above_all_sets_takes_a_broker_without_any() -> None:
    """No known set has three brokers; only a set with broker 4, which is on none, opens no set."""
    topics = (topic("t", [[1, 2]], [1]), topic("u", [[2, 3]], [1]))
    of = Cluster("c", tuple(map(Broker, (1, 2, 3, 4))), topics)
    made = plan(of, {"replication_factor": {"t": 3}, "remove_brokers": [2], "copysets": "no_new"})
    assert sets_after(made) == {frozenset({1, 3, 4}), frozenset({3, 4})}
    assert not opened(made, of)


def test_pins_open_sets() -> None:
    of = Cluster("c", tuple(Broker(broker) for broker in (1, 2, 3)), (topic("t", [[1, 2], [2, 3]], [5, 5]),))
    made = plan(of, {"pins": [{"topic": "t", "partition": 0, "replicas": [1, 3]}], "copysets": "no_new"})
    assert sets_after(made) == {frozenset({1, 3}), frozenset({2, 3})}


def test_which_lists_open_a_set() -> None:
    known = KnownSets.of(np.array([[0, 1, 2], [2, 1, -1]], np.int32), 5)
    lists = np.array([[2, 0, 1], [1, 2, -1], [0, 2, -1], [0, 1, 3], [-1, -1, -1]], np.int32)
    # Broker 3 is on no set, so that it may open some.
    assert known.opened(lists).tolist() == [2]
    assert known.opened(np.array([[0, 1, 2, 3], [0, 1, 2, -1]], np.int32)).tolist() == []
    assert [known.sets[at].tolist() for at in known.with_brokers([1], 2)] == [[1, 2, 5]]
