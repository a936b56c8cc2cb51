"""Broker sets: topics stay on the brokers of their set, and each set is balanced and proven on its own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import event, given

from app.core.model import Broker, BrokerCapacity, Cluster
from app.core.reassignment.topic_name_hash import murmur3_128, set_of_topic
from app.core.replicas.options import RackMode
from app.errors import Failure
from app.errors.reassignments import (
    BudgetBelowMinimum,
    NotFeasible,
    PinContradicted,
    UnknownBroker,
    UnknownBrokerSet,
    UnknownTopic,
)
from app.errors.requests import ConflictingFields, DuplicateBroker
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import (
    PLANNER,
    BalanceRequest,
    IsolateRequest,
    PerTopicRequest,
    PinRequest,
    ReassignmentRequest,
    Tolerance,
)
from app.services.reassignment.requests.parts import Limit, LimitsRequest
from app.store.records import NewPlan
from tests import draws as st
from tests.profiles import examples
from tests.services.reassignments import topic

SETS = {"blue": (1, 2, 3), "green": (4, 5)}
CAPACITY = BrokerCapacity(disk_bytes=10_000)
CLUSTER = Cluster(
    "c",
    tuple(Broker(broker, "ab"[broker % 2], capacity=CAPACITY) for broker in range(1, 8)),
    (
        topic("clicks", [[3, 4], [4, 3], [1, 2]], [10, 10, 40]),
        topic("logs", [[6, 7], [2, 7]], [5, 9]),
        topic("orders", [[1, 2], [2, 1], [1, 6]], [300, 200, 100]),
    ),
)
BOUND: Mapping[str, Any] = {"broker_sets": SETS, "topic_sets": {"orders": "blue", "clicks": "green"}}


def test_topics_without_a_set_are_named() -> None:
    def unbound(**bound: Any) -> list[Any]:
        warnings: Any = planned(**bound).answer["warnings"]
        return [list(each["topics"]) for each in warnings if each["code"] == "topics_without_broker_set"]

    assert unbound(**BOUND) == [["logs"]]
    assert unbound(**BOUND, topics=["clicks"]) == unbound() == []
    assert unbound(broker_sets=SETS, topic_sets="topic_name_hash", rack_mode=RackMode.DISABLED) == []


def planned(cluster: Cluster = CLUSTER, **fields: Any) -> NewPlan:
    """The plan of a request with these fields."""
    return draft_plan(PLANNER, ReassignmentRequest(**fields), cluster, Limits())


def lists_of(plan: NewPlan) -> dict[str, list[list[int]]]:
    """The replicas of each topic after the plan."""
    lists: dict[str, list[list[int]]] = {}
    for placement in plan.placements:
        rows = [[broker for broker in row if broker >= 0] for row in placement.replicas.tolist()]
        lists.setdefault(placement.topic, []).extend(rows)
    return lists


def brokers_of(name: str, sets: Mapping[str, Sequence[int]], bound: Mapping[str, str], ids: Sequence[int]) -> set[int]:
    """The brokers that a topic may be on, from the definition."""
    if name in bound:
        return set(sets[bound[name]])
    return set(ids) - {broker for brokers in sets.values() for broker in brokers}


@st.composite
def bound_clusters(draw: st.DrawFn) -> tuple[Cluster, dict[str, list[int]], dict[str, str]]:
    """Two sets and other brokers, three topics anywhere, one or two replicas a partition."""
    sizes = [draw(st.integers(2, 3)) for _ in range(3)]
    ids = list(range(sum(sizes)))
    sets = {"blue": ids[: sizes[0]], "green": ids[sizes[0] : sizes[0] + sizes[1]]}
    bound = {name: draw(st.sampled_from(["blue", "green"])) for name in draw(st.sampled_from(["a", "ab", "abc", ""]))}
    topics = []
    for name in "abc":
        lists = [draw(st.permutations(ids))[: draw(st.integers(1, 2))] for _ in range(draw(st.integers(1, 2)))]
        topics.append(topic(name, lists, [draw(st.integers(0, 9)) for _ in lists]))
    racks = [draw(st.sampled_from("rs")) for _ in ids]
    return Cluster("c", tuple(map(Broker, ids, racks)), tuple(topics)), sets, bound


def narrowest_and_least(rows: Sequence[tuple[Sequence[int], int]], brokers: Sequence[int]) -> tuple[int, int, int]:
    """Of all placements: the smallest maximum, then the largest minimum, then the fewest bytes within that band."""
    outcomes = list(_outcomes(rows, brokers))
    high = min(high for high, _, _ in outcomes)
    low = max(low for other, low, _ in outcomes if other == high)
    return low, high, min(moved for up, down, moved in outcomes if up <= high and down >= low)


def _outcomes(rows: Sequence[tuple[Sequence[int], int]], brokers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    for chosen in product(*(combinations(brokers, len(replicas)) for replicas, _ in rows)):
        counted = Counter(broker for place in chosen for broker in place)
        counts = [counted[broker] for broker in brokers]
        pairs = zip(chosen, rows, strict=True)
        moved = sum(len(set(place) - set(replicas)) * size for place, (replicas, size) in pairs)
        yield max(counts), min(counts), moved


@given(bound_clusters())
@examples(30)
def test_each_set_has_the_narrowest_band_and_the_fewest_bytes_of_all_placements(
    case: tuple[Cluster, dict[str, list[int]], dict[str, str]],
) -> None:
    cluster, sets, bound = case
    plan = planned(
        cluster,
        broker_sets=sets,
        topic_sets=bound,
        balance=BalanceRequest(replicas="tight"),
        rack_mode=RackMode.DISABLED,
    )
    document: Any = plan.answer
    ids = [broker.id for broker in cluster.brokers]
    moved = 0
    for of_set in document["balance"]["sets"]:
        mine = [one for one in cluster.topics if bound.get(one.name) == of_set["set"]]
        rows = [
            ([broker for broker in row if broker >= 0], int(size))
            for one in mine
            for row, size in zip(one.replicas.tolist(), one.size_bytes.tolist(), strict=True)
        ]
        inside = sorted(brokers_of(mine[0].name, sets, bound, ids))
        low, high, least = narrowest_and_least(rows, inside)
        assert (of_set["replicas"]["low"], of_set["replicas"]["high"]) == (low, high)
        assert of_set["moved_bytes"] == of_set["lower_bound"] == least
        moved += least
    assert document["certificate"]["moved_bytes"] == document["certificate"]["lower_bound_bytes"] == moved


@pytest.mark.long
@given(bound_clusters(), st.data())
@examples(35)
def test_no_replica_is_outside_its_set_whatever_else_is_requested(
    case: tuple[Cluster, dict[str, list[int]], dict[str, str]], data: st.DataObject
) -> None:
    cluster, sets, bound = case
    removed = data.draw(st.lists(st.sampled_from(sets["blue"]), max_size=1))
    balance = data.draw(
        st.sampled_from(
            [
                BalanceRequest(),
                BalanceRequest(replicas="tight", leaders="tight"),
                BalanceRequest(replicas=Tolerance(0.2), replicas_by="bytes"),
                BalanceRequest(replicas="tight", per_topic=PerTopicRequest("tight")),
                BalanceRequest(replicas="tight", resources=("disk",)),
            ]
        )
    )
    try:
        plan = planned(
            cluster,
            broker_sets=sets,
            topic_sets=bound,
            remove_brokers=removed,
            balance=balance,
            rack_mode=data.draw(st.sampled_from([RackMode.SAFE, RackMode.DISABLED])),
        )
    except NotFeasible:
        event("infeasible")
        return
    ids = [broker.id for broker in cluster.brokers if broker.id not in removed]
    for name, lists in lists_of(plan).items():
        assert {broker for replicas in lists for broker in replicas} <= brokers_of(name, sets, bound, ids) - set(
            removed
        )


@pytest.mark.long
@given(bound_clusters())
@examples(30)
def test_one_set_of_every_broker_and_topic_is_no_set(
    case: tuple[Cluster, dict[str, list[int]], dict[str, str]],
) -> None:
    cluster, _, _ = case
    change = {"balance": BalanceRequest(replicas="tight", leaders="tight"), "rack_mode": RackMode.SAFE}
    every = {"all": [broker.id for broker in cluster.brokers]}
    bound = planned(cluster, broker_sets=every, topic_sets={one.name: "all" for one in cluster.topics}, **change)
    free = planned(cluster, **change)
    assert lists_of(bound) == lists_of(free)


def test_a_topic_that_is_bound_to_another_set_moves_there_and_no_other_does() -> None:
    settled = planned(**BOUND)
    lists = lists_of(settled)
    topics = tuple(topic(one.name, lists[one.name], one.size_bytes.tolist()) for one in CLUSTER.topics)
    now = Cluster("c", CLUSTER.brokers, topics)
    again: Any = planned(now, **BOUND).answer
    assert again["certificate"]["moved_bytes"] == 0
    moved: Any = planned(now, broker_sets=SETS, topic_sets={"orders": "green", "clicks": "green"}).answer
    assert moved["certificate"]["moved_bytes"] == 2 * 600
    assert moved["certificate"]["gap"] == 0


def test_a_budget_is_of_all_sets_together() -> None:
    tight: Any = planned(balance=BalanceRequest(replicas="tight"), **BOUND).answer
    forced: Any = planned(balance=BalanceRequest(replicas="keep"), **BOUND).answer
    least = forced["certificate"]["moved_bytes"]
    budget = (least + tight["certificate"]["moved_bytes"]) // 2
    within: Any = planned(max_moved_bytes=budget, trade_off=True, **BOUND).answer
    assert least <= within["certificate"]["moved_bytes"] <= budget
    assert [point["low"] for point in within["trade_off"]] == [None] * len(within["trade_off"])
    with pytest.raises(BudgetBelowMinimum) as failed:
        planned(max_moved_bytes=least - 1, **BOUND)
    assert failed.value.context["minimum_bytes"] == least


def test_minimums_of_leaders_are_of_the_brokers_of_the_topics_set() -> None:
    plan = planned(min_leaders_per_broker={"orders": 1}, balance=BalanceRequest(replicas="tight"), **BOUND)
    leaders = Counter(replicas[0] for replicas in lists_of(plan)["orders"])
    assert leaders == {1: 1, 2: 1, 3: 1}


def test_limits_hold_within_sets_and_goals_are_of_each_set() -> None:
    limits = LimitsRequest(replicas=Limit(absolute=3))
    document: Any = planned(limits=limits, balance=BalanceRequest(resources=("disk",)), **BOUND).answer
    assert [each["set"] for each in document["balance"]["sets"]] == ["blue", "green", None]
    for each in document["balance"]["sets"]:
        assert each["replicas"]["largest"] <= 3
        (goal,) = each["resources"]
        assert goal["largest"] >= goal["largest_bound"]
    (whole,) = document["balance"]["resources"]
    assert whole["largest"] == max(each["resources"][0]["largest"] for each in document["balance"]["sets"])


def test_limits_that_a_set_cannot_keep_name_its_brokers() -> None:
    with pytest.raises(NotFeasible) as failed:
        planned(limits=LimitsRequest(replicas=Limit(absolute=2)), **BOUND)
    assert "at least 3 of replicas on brokers 2, and their limits allow 2" in failed.value.detail


def test_a_successor_is_in_the_set_of_its_predecessor() -> None:
    plan = planned(replace_brokers={2: 9}, add_brokers=[Broker(9, "a")], **BOUND)
    assert 9 in {broker for replicas in lists_of(plan)["orders"] for broker in replicas}
    assert {broker for replicas in lists_of(plan)["logs"] for broker in replicas} <= {6, 7}


def test_topics_out_of_scope_stay_with_a_warning() -> None:
    document: Any = planned(topics=["orders"], **BOUND).answer
    (warning,) = [each for each in document["warnings"] if each["code"] == "outside_broker_sets"]
    assert tuple(warning["topics"]) == ("clicks", "logs")


@pytest.mark.parametrize(
    ("fields", "failure", "path", "says"),
    [
        ({"broker_sets": {"a": [1, 2], "b": [2, 3]}}, DuplicateBroker, ("broker_sets", "b", 0), "set a, too"),
        ({"broker_sets": {"a": [1, 1]}}, DuplicateBroker, ("broker_sets", "a", 1), "twice in broker set a"),
        ({"broker_sets": {"a": []}}, ConflictingFields, ("broker_sets", "a"), "has no brokers"),
        ({"broker_sets": {"a": [1, 88]}}, UnknownBroker, ("broker_sets", "a", 1), "no broker 88"),
        ({**BOUND, "topic_sets": {"order": "blue"}}, UnknownTopic, ("topic_sets", "order"), "no topic order"),
        ({**BOUND, "topic_sets": {"orders": "blu"}}, UnknownBrokerSet, ("topic_sets", "orders"), "mean 'blue'"),
        ({"topic_sets": {"orders": "blue"}}, UnknownBrokerSet, ("topic_sets", "orders"), "lists none"),
        ({"topic_sets": "topic_name_hash"}, ConflictingFields, ("topic_sets",), "there are none"),
        ({**BOUND, "leaders_only": True}, ConflictingFields, ("broker_sets",), "moves no replica"),
        ({**BOUND, "replace_brokers": {1: 4}}, ConflictingFields, ("replace_brokers", "1"), "is in broker set green"),
        ({**BOUND, "remove_brokers": [4]}, NotFeasible, ("broker_sets", "green"), "broker set green; 1 may have it"),
        ({**BOUND, "remove_brokers": [4, 5]}, NotFeasible, ("broker_sets", "green"), "broker set green; 0 may have it"),
        (
            {"broker_sets": {"odd": [1, 3]}, "topic_sets": {"orders": "odd"}},
            NotFeasible,
            ("broker_sets", "odd"),
            "2 racks are needed for factor 2 on topic orders of broker set odd; 1 is left",
        ),
        (
            {"broker_sets": {"a": [1, 2, 3, 4, 5, 6, 7]}, "topic_sets": {"orders": "a"}},
            NotFeasible,
            ("broker_sets", "a"),
            "2 brokers are needed for factor 2 on topic clicks; 0 may have it",
        ),
        ({**BOUND, "replication_factor": {"clicks": 3}}, NotFeasible, ("broker_sets", "green"), "3 brokers are needed"),
        ({**BOUND, "pins": [PinRequest("orders", 0, [1, 4])]}, PinContradicted, ("pins", 0, "replicas", 1), "blue"),
        (
            {**BOUND, "isolate": [IsolateRequest(["orders"], [4, 5])]},
            NotFeasible,
            ("broker_sets", "green"),
            "0 may have it",
        ),
    ],
)
def test_what_cannot_be_is_named(fields: Any, failure: type[Failure], path: tuple[Any, ...], says: str) -> None:
    with pytest.raises(failure) as failed:
        planned(**fields)
    assert says in failed.value.detail
    assert failed.value.path == path


def test_racks_are_those_of_the_set_if_they_are_relaxed() -> None:
    plan = planned(broker_sets={"odd": [1, 3]}, topic_sets={"orders": "odd"}, rack_mode=RackMode.SAFE)
    lists = lists_of(plan)
    assert all(set(replicas) == {1, 3} for replicas in lists["orders"])
    # The racks of other topics are as they were.
    assert all({broker % 2 for broker in replicas} == {0, 1} for name in ("clicks", "logs") for replicas in lists[name])


@pytest.mark.parametrize(("sets", "mapped"), [(2, [1, 0, 0, 0]), (3, [1, 0, 2, 2])])
def test_topics_are_mapped_as_cruise_control_maps_them(sets: int, mapped: list[int]) -> None:
    """Source: `TopicNameHashBrokerSetMappingPolicyTest` of Cruise Control."""
    assert [set_of_topic(name, sets) for name in "ABCD"] == mapped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0),
        (b"hello", 0xCBD8A7B341BD9B02),
        (b"The quick brown fox jumps over the lazy dog", 0xE34BBC7BBC071B6C),
    ],
)
def test_hashes_are_those_of_murmur3(text: bytes, expected: int) -> None:
    """Vectors of the reference implementation, x64, seed 0."""
    assert murmur3_128(text) == expected


@given(st.text(min_size=1, max_size=40), st.integers(1, 30))
@examples(100)
def test_a_further_set_takes_topics_and_changes_no_other(name: str, sets: int) -> None:
    assert set_of_topic(name, sets + 1) in (set_of_topic(name, sets), sets)
