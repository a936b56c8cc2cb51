"""Topics whose leaders are spread: laws beside every choice of small clusters, and combinations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given

from app.core.model import Broker, BrokerCapacity, Cluster
from app.errors import Failure, FieldPath
from app.errors.reassignments import UnknownTopic
from app.errors.requests import ConflictingFields, DuplicateTopic
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, PinRequest, ReassignmentRequest
from app.services.reassignment.requests.parts import LimitsRequest, PerTopicRequest
from tests import draws as st
from tests.profiles import examples
from tests.services.reassignments import topic

BROKERS = (1, 2, 3, 4)
Lists = list[list[int]]


def cluster_of(hot: Lists, others: Lists) -> Cluster:
    brokers = tuple(Broker(broker, "ab"[broker % 2], capacity=BrokerCapacity(disk_bytes=1000)) for broker in BROKERS)
    return Cluster("c", brokers, (topic("hot", hot, [10] * len(hot)), topic("others", others, [10] * len(others))))


def planned(cluster: Cluster, **fields: Any) -> tuple[dict[str, Lists], dict[str, Any]]:
    """The lists by topic, and the answer, of a request that spreads the leaders of `hot`."""
    plan = draft_plan(PLANNER, ReassignmentRequest(**{"spread_leaders": ["hot"]} | fields), cluster, Limits())
    answer: Any = plan.answer
    return {placed.topic: placed.replicas.tolist() for placed in plan.placements}, answer


def some_lists(most: int) -> st.SearchStrategy[Lists]:
    """Lists over one broker of each rack."""
    pair = st.tuples(st.sampled_from([1, 3]), st.sampled_from([2, 4])).flatmap(lambda two: st.permutations(list(two)))
    return st.lists(pair, min_size=1, max_size=most)


def range_of(leaders: Sequence[int], eligible: set[int]) -> tuple[int, int]:
    """The most and the fewest leaders of an eligible broker."""
    led = Counter(leaders)
    return max(led[broker] for broker in eligible), min(led[broker] for broker in eligible)


def best(hot: Lists) -> tuple[int, int, int]:
    """Of every choice: the smallest maximum, the largest minimum with it, and the fewest changes within both."""
    eligible = {broker for listed in hot for broker in listed}
    ends = {choice: range_of(choice, eligible) for choice in product(*hot)}
    high = min(most for most, _ in ends.values())
    low = max(least for most, least in ends.values() if most == high)
    changes = (
        sum(leader != listed[0] for leader, listed in zip(choice, hot, strict=True))
        for choice, (most, least) in ends.items()
        if most <= high and least >= low
    )
    return high, low, min(changes)


@given(some_lists(7), some_lists(5), st.booleans())
@examples(60)
def test_the_leaders_of_the_topic_are_spread_with_the_fewest_changes_and_nothing_else(
    hot: Lists, others: Lists, leaders_only: bool
) -> None:
    after, answer = planned(cluster_of(hot, others), leaders_only=leaders_only)
    assert [sorted(listed) for listed in after["hot"]] == [sorted(listed) for listed in hot]
    assert after.get("others", others) == others
    eligible = {broker for listed in hot for broker in listed}
    high, low, changes = best(hot)
    assert range_of([listed[0] for listed in after["hot"]], eligible) == (high, low)
    assert answer["leader_changes"] == changes == answer["balance"]["leaders"]["bound"]
    [spread] = answer["balance"]["leaders"]["spread"]
    assert (spread["largest"], spread["smallest"], set(spread["brokers"])) == (high, low, eligible)
    assert answer["balance"]["leaders"]["largest_bound"] <= answer["balance"]["leaders"]["largest"]
    event(f"{changes} changes")


@given(some_lists(6), some_lists(6), st.sampled_from(["tight", "moved", None]), st.sampled_from([[], [4]]))
@examples(40)
def test_other_leaders_are_balanced_beside_them(hot: Lists, others: Lists, leaders: Any, removed: list[int]) -> None:
    """The plan's verifier checks the band of all leaders; here, that the topic is as balanced as its lists permit."""
    changes = {"remove_brokers": removed, "balance": BalanceRequest(leaders=leaders)}
    after, answer = planned(cluster_of(hot, others), **changes)
    eligible = {broker for listed in after["hot"] for broker in listed}
    assert range_of([listed[0] for listed in after["hot"]], eligible) == best(after["hot"])[:2]
    assert not set(removed) & eligible
    ends = answer["balance"]["leaders"]
    assert ends["largest_bound"] <= ends["largest"]
    assert ends["bound"] <= ends["changes"]


def test_pinned_leaders_count() -> None:
    """Broker 1 leads the pinned partition, so that broker 2 leads the first of the others."""
    hot = [[1, 2], [1, 2], [1, 2], [1, 2]]
    after, _ = planned(cluster_of(hot, [[1, 2]]), pins=[PinRequest("hot", 0, [1, 2])])
    assert Counter(listed[0] for listed in after["hot"]) == {1: 2, 2: 2}
    assert after["hot"][0] == [1, 2]


def test_within_limits_leaders_are_spread_after_the_replicas() -> None:
    after, _ = planned(cluster_of([[1, 2]] * 6, [[3, 4]]), limits=LimitsRequest(disk=0.05))
    eligible = {broker for listed in after["hot"] for broker in listed}
    assert range_of([listed[0] for listed in after["hot"]], eligible) == best(after["hot"])[:2]


def refused() -> Iterator[tuple[dict[str, Any], FieldPath, type[Failure]]]:
    first = ("spread_leaders", 0)
    yield {"spread_leaders": ["hot", "hot"]}, ("spread_leaders", 1), DuplicateTopic
    yield {"spread_leaders": ["cold"]}, first, UnknownTopic
    yield {"topics": ["others"]}, first, ConflictingFields
    yield {"min_leaders_per_broker": {"hot": 1}}, first, ConflictingFields
    yield {"balance": BalanceRequest(per_topic=PerTopicRequest(leaders="tight"))}, first, ConflictingFields
    yield {"balance": BalanceRequest(leaders="preferred")}, ("spread_leaders",), ConflictingFields
    yield {"balance": BalanceRequest(leaders_by="ingress")}, ("spread_leaders",), ConflictingFields
    moves = BalanceRequest(leaders_move_replicas=True)
    yield {"balance": moves}, ("balance", "leaders_move_replicas"), ConflictingFields


@pytest.mark.parametrize(("fields", "path", "failure"), list(refused()))
def test_what_does_not_go_together_names_its_field(fields: Any, path: FieldPath, failure: type[Failure]) -> None:
    def ask() -> None:
        PLANNER.check(ReassignmentRequest(**{"spread_leaders": ["hot"]} | fields), Limits())
        planned(cluster_of([[1, 2]], [[3, 4]]), **fields)

    with pytest.raises(failure) as raised:
        ask()
    assert raised.value.path == path
