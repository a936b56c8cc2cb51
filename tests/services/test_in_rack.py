"""Topics that are in one rack: planned with the fewest moves, kept by other changes, and checked."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given

from app.core.measures.tally import tally
from app.core.measures.violations import violations
from app.core.model import Broker, Cluster
from app.errors import Failure
from app.errors.reassignments import NotFeasible
from app.errors.requests import ConflictingFields
from app.formats.sources.desired_topics import DesiredTopic, Strategy
from app.services import checks
from app.services.limits import Limits
from app.services.plans import Allowance, draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, ReassignmentRequest
from app.services.reassignment.requests.request import READER
from app.store.records import NewPlan
from tests import draws as st
from tests.profiles import examples
from tests.services.reassignments import topic

RACK = {1: "a", 2: "a", 3: "a", 4: "b", 5: "b", 6: "b", 7: "c", 8: "c"}
Lists = list[list[int]]


def cluster_of(local: Lists, spread: Lists) -> Cluster:
    brokers = tuple(Broker(broker, rack) for broker, rack in RACK.items())
    return Cluster(
        "c", brokers, (topic("local", local, [10] * len(local)), topic("spread", spread, [10] * len(spread)))
    )


def planned(cluster: Cluster, **fields: Any) -> tuple[dict[str, Lists], NewPlan]:
    """The lists by topic, and the plan, of a request that has `local` in one rack."""
    plan = draft_plan(PLANNER, ReassignmentRequest(**{"placement": {"local": "in_rack"}} | fields), cluster, Limits())
    placed = {each.topic: each.replicas.tolist() for each in plan.placements}
    return {one.name: placed.get(one.name, one.replicas.tolist()) for one in cluster.topics}, plan


def racks(listed: list[int]) -> set[str]:
    return {RACK[broker] for broker in listed}


def fewest_moves(listed: list[int], without: int | None = None, factor: int | None = None) -> int:
    """Replicas that move if all are in the best rack with enough brokers."""
    factor = len(listed) if factor is None else factor
    left = {rack: [one for one in RACK if RACK[one] == rack and one != without] for rack in "abc"}
    enough = [brokers for brokers in left.values() if len(brokers) >= factor]
    return min(factor - len(set(listed) & set(brokers)) for brokers in enough)


some_lists = st.lists(
    st.lists(st.sampled_from(sorted(RACK)), min_size=2, max_size=2, unique=True), min_size=1, max_size=5
)


@given(some_lists, some_lists, st.sampled_from([None, 1, 4]))
@examples(40)
def test_every_partition_is_in_the_rack_that_moves_the_fewest_replicas(
    local: Lists, spread: Lists, removed: int | None
) -> None:
    cluster = cluster_of(local, spread)
    after, plan = planned(cluster, remove_brokers=[] if removed is None else [removed])
    assert all(len(racks(listed)) == 1 for listed in after["local"])
    assert all(len(racks(listed)) == 2 for listed in after["spread"])
    for was, now in zip(local, after["local"], strict=True):
        assert len(set(now) - set(was)) == fewest_moves(was, removed)
    answer: Any = plan.answer
    assert answer["violations"] == []


@given(st.lists(st.permutations(sorted(RACK)).map(lambda ids: ids[:3]), min_size=1, max_size=5))
@examples(20)
def test_a_lower_factor_keeps_no_leader_outside_the_rack(local: Lists) -> None:
    after, _ = planned(cluster_of(local, [[1, 4]]), replication_factor={"local": 2})
    for was, now in zip(local, after["local"], strict=True):
        assert len(racks(now)) == 1
        assert len(set(now) - set(was)) == max(0, fewest_moves(was, factor=2))


@pytest.mark.parametrize(
    "fields",
    [
        {"balance": BalanceRequest("tight", leaders="tight")},
        {"balance": BalanceRequest("tight", "bytes")},
        {"topics": ["spread"]},
        {"partitions": {"local": 9}},
    ],
)
def test_other_changes_keep_it(fields: dict[str, Any]) -> None:
    local = [[1, 2], [2, 1], [1, 3], [4, 5]]
    after, _ = planned(cluster_of(local, [[1, 4], [4, 1], [1, 5]]), **fields)
    assert all(len(racks(listed)) == 1 for listed in after["local"])


def test_new_partitions_take_the_racks_in_turns() -> None:
    """Racks a and b have three brokers and c has two: two, two and one of five new partitions."""
    after, _ = planned(cluster_of([[1, 2]], [[1, 4]]), partitions={"local": 6})
    assert Counter(RACK[listed[0]] for listed in after["local"]) == {"a": 2, "b": 2, "c": 2}


def test_a_rack_without_enough_brokers_is_no_rack_for_it() -> None:
    after, _ = planned(cluster_of([[7, 8]], [[1, 4]]), replication_factor={"local": 3})
    assert racks(after["local"][0]) in ({"a"}, {"b"})
    with pytest.raises(
        NotFeasible, match="4 brokers are needed for factor 4 on topic local in one rack; 3 may have it"
    ) as no:
        planned(cluster_of([[1, 2]], [[1, 4]]), replication_factor={"local": 4})
    conflict: Any = no.value.context["conflict"]
    assert {each["pointer"] for each in conflict} == {"/placement/local", "/replication_factor/local"}


@given(some_lists)
@examples(30)
def test_a_check_counts_the_partitions_in_several_racks_and_no_other(local: Lists) -> None:
    counts = tally({"local": topic("local", local, [1] * len(local)).destination}, cluster_of(local, [[1, 4]]).brokers)
    apart = [row for row, listed in enumerate(local) if len(racks(listed)) > 1]
    found = violations(counts, {"local"})
    assert [(each.code, each.partitions) for each in found] == [("not_in_rack", tuple(apart))] * bool(apart)
    narrow = [row for row, listed in enumerate(local) if len(racks(listed)) == 1]
    assert [each.partitions for each in violations(counts) if each.code == "too_few_racks"] == [tuple(narrow)] * bool(
        narrow
    )


def test_the_difference_from_in_rack_is_removed_by_its_request_and_nothing_is_left() -> None:
    cluster = cluster_of([[1, 4], [2, 1]], [[1, 4]])
    desired = [DesiredTopic("local", 1, 3, 2, strategy=Strategy.IN_RACK)]
    differences = checks.compare(cluster, desired)
    assert {(one.field, one.is_planned) for one in differences.differences} == {
        ("partitions", True),
        ("placement", True),
    }
    body: Any = dict(differences.request or {})
    assert body["placement"] == {"local": "in_rack"}
    request = READER.validate_python({"cluster": "c", **body})
    plan = draft_plan(PLANNER, request, cluster, Limits())
    [placed] = plan.placements
    after = topic("local", placed.replicas.tolist(), [10] * 3)
    assert checks.compare(Cluster("c", cluster.brokers, (after,)), desired).differences == []


def test_the_least_repair_leaves_it_in_its_rack() -> None:
    request = checks.HealthRequest(placement={"local": "in_rack"})
    checked = checks.check_cluster(cluster_of([[1, 2]], [[1, 4]]), None, request, Allowance(Limits(), is_job=True))
    assert checked.violations == []
    assert checked.health is not None
    assert checked.health.repair is not None
    assert checked.health.repair.moved_replicas == 0


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"rack_mode": "disabled"}, ("placement",)),
        ({"max_replicas_per_rack": 1}, ("placement",)),
        ({"leaders_only": True}, ("placement",)),
    ],
)
def test_what_does_not_go_together(fields: dict[str, Any], path: tuple[str, ...]) -> None:
    request = READER.validate_python({"cluster": "c", "placement": {"local": "in_rack"}, **fields})
    with pytest.raises(ConflictingFields) as raised:
        PLANNER.check(request, Limits())
    assert raised.value.path == path


def test_without_racks_it_cannot_hold() -> None:
    cluster = Cluster("c", tuple(Broker(broker, None) for broker in RACK), (topic("local", [[1, 2]], [1]),))
    with pytest.raises(Failure) as raised:
        planned(cluster)
    assert raised.value.path == ("placement",)
