"""Brokers that stay and may not receive: they keep their replicas and leaders up to the floor of the others."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from app.core.model import Broker, Cluster, unpadded
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, PerTopicRequest, ReassignmentRequest, Tolerance
from app.services.reassignment.problem.brokers import brokers_of
from app.services.reassignment.requests.parts import GoalRequest, GoalsRequest
from tests.profiles import seeds
from tests.services.reassignments import topic

Lists = list[list[int]]
CLOSING = ("forbid_brokers", "cordoned_brokers", "receivers")
SEEDS = seeds(40)


def _planned(cluster: Cluster, request: ReassignmentRequest) -> tuple[Lists, Any]:
    made = draft_plan(PLANNER, request, cluster, Limits())
    return [row for placement in made.placements for row in unpadded(placement.replicas)], made.answer


def _closed(name: str, cluster: Cluster, brokers: Sequence[int]) -> ReassignmentRequest:
    """A request by which these brokers receive nothing."""
    ids = [broker.id for broker in cluster.brokers]
    listed = [broker for broker in ids if broker not in brokers] if name == "receivers" else list(brokers)
    fields: dict[str, Any] = {name: listed}
    return ReassignmentRequest(**fields)


def _some(rng: np.random.Generator, brokers: Sequence[int], name: str) -> list[int]:
    """One broker or more, up to all of them; some receivers are left if the request names these."""
    most = len(brokers) - (name == "receivers")
    return sorted(rng.permutation(brokers)[: int(rng.integers(1, most + 1))].tolist())


def _cluster(rng: np.random.Generator) -> tuple[Cluster, Lists]:
    """Three or four brokers in one or two racks, and up to five partitions that are spread over the racks."""
    racks = ["a", "b"][: int(rng.integers(1, 3))]
    brokers = tuple(Broker(broker, racks[broker % len(racks)]) for broker in range(int(rng.integers(3, 5))))
    lists: Lists = []
    for _ in range(int(rng.integers(2, 6))):
        factor = int(rng.integers(1, 3))
        first = rng.permutation([broker.id for broker in brokers]).tolist()
        legal = [list(pair) for pair in combinations(first, factor) if _spans(pair, brokers, first)]
        lists.append(legal[0])
    return Cluster("c", brokers, (topic("t", lists, [1] * len(lists)),)), lists


def _spans(replicas: Sequence[int], brokers: Sequence[Broker], eligible: Sequence[int]) -> bool:
    rack_of = {broker.id: broker.rack for broker in brokers}
    racks = {rack_of[broker] for broker in eligible}
    return len({rack_of[broker] for broker in replicas}) == min(len(replicas), len(racks))


def _placements(cluster: Cluster, lists: Lists, closed: Sequence[int]) -> Iterator[tuple[frozenset[int], ...]]:
    """Every legal placement."""
    ids = [broker.id for broker in cluster.brokers]
    choices = []
    for row in lists:
        eligible = sorted({*row, *(broker for broker in ids if broker not in closed)})
        choices.append(
            [frozenset(pick) for pick in combinations(eligible, len(row)) if _spans(pick, cluster.brokers, eligible)]
        )
    return product(*choices)


def _counts(ids: Sequence[int], lists: Any) -> Mapping[int, int]:
    counted = Counter(broker for row in lists for broker in row)
    return {broker: counted[broker] for broker in ids}


def _floor(counts: Mapping[int, int], before: Mapping[int, int], closed: Sequence[int]) -> int:
    """The largest floor that these counts reach, if a closed broker need not have more than it had."""
    capped = [broker for broker in closed if counts[broker] >= before[broker]]
    return min((count for broker, count in counts.items() if broker not in capped), default=0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CLOSING)
def test_the_band_is_the_narrowest_and_the_movement_the_least(name: str, seed: int) -> None:
    """By enumeration: the smallest maximum over all brokers, then the largest floor, then the fewest moves."""
    rng = np.random.default_rng(seed)
    cluster, lists = _cluster(rng)
    ids = [broker.id for broker in cluster.brokers]
    closed = _some(rng, ids, name)
    before = _counts(ids, lists)
    every = [
        (max(counts.values()), -_floor(counts, before, closed), moved)
        for placed in _placements(cluster, lists, closed)
        for counts in [_counts(ids, placed)]
        for moved in [sum(len(new - set(old)) for new, old in zip(placed, lists, strict=True))]
    ]
    request = replace(_closed(name, cluster, closed), balance=BalanceRequest("tight"), minimise="replicas")
    after, answer = _planned(cluster, request)
    counts = _counts(ids, after)
    moved = sum(len(set(new) - set(old)) for new, old in zip(after, lists, strict=True))
    assert (max(counts.values()), -_floor(counts, before, closed), moved) == min(every)
    assert answer["certificate"]["optimal"]
    low = answer["balance"]["replicas"]["low"]
    assert all(counts[broker] >= min(before[broker], low) for broker in closed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaders", [None, "tight"])
@pytest.mark.parametrize(
    "balance",
    [
        BalanceRequest("tight"),
        BalanceRequest(Tolerance(0.2)),
        BalanceRequest(Tolerance(0.2), replicas_by="bytes"),
        BalanceRequest("tight", per_topic=PerTopicRequest("tight", "tight")),
        BalanceRequest("keep"),
        BalanceRequest(leaders_move_replicas=True),
    ],
    ids=str,
)
def test_a_closed_broker_never_falls_below_its_count_or_the_floor(
    balance: BalanceRequest, leaders: Any, weighted: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    cluster, lists = _cluster(rng)
    ids = [broker.id for broker in cluster.brokers]
    name = CLOSING[seed % (2 if balance.leaders_move_replicas else 3)]
    closed = _some(rng, ids, name)
    leaders = "tight" if balance.leaders_move_replicas else leaders
    balance = replace(balance, leaders=leaders)
    if weighted and balance.replicas_by == "count":
        balance = replace(balance, weights={str(broker): 1 + broker % 2 for broker in ids})
    after, answer = _planned(cluster, replace(_closed(name, cluster, closed), balance=balance))
    for kind, before_lists, after_lists in (
        ("replicas", lists, after),
        ("leaders", [row[:1] for row in lists], [row[:1] for row in after]),
    ):
        of_kind, before, counts = answer["balance"][kind], _counts(ids, before_lists), _counts(ids, after_lists)
        if kind == "leaders" and leaders is None:
            continue
        # Brokers of one weight have one floor; without weights all have.
        floors = {row["weight"]: row["low"] or 0 for row in of_kind.get("weights", ())}
        for broker in ids:
            low = floors.get(1 + broker % 2, 0) if floors else of_kind["low"] or 0
            assert counts[broker] >= (min(before[broker], low) if broker in closed else low)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("replicas", ["tight", Tolerance(0.05), Tolerance(0.2)], ids=str)
def test_the_planned_cluster_moves_nothing(replicas: Any, weighted: bool, seed: int) -> None:
    """A closed broker that has given down to its floor is still balanced, so that the mean of the others stays."""
    rng = np.random.default_rng(seed)
    ids = list(range(int(rng.integers(3, 7))))
    brokers, lists = tuple(Broker(each) for each in ids), rng.integers(0, len(ids), (int(rng.integers(5, 25)), 1))
    weights = {str(each): int(rng.integers(1, 4)) for each in ids} if weighted else None
    closed = _some(rng, ids[1:], "forbid_brokers")
    sizes = rng.integers(1, 13, len(lists)).tolist()
    request = replace(
        _closed(CLOSING[seed % 3], Cluster("c", brokers, ()), closed), balance=BalanceRequest(replicas, weights=weights)
    )
    after, _ = _planned(Cluster("c", brokers, (topic("t", lists.tolist(), sizes),)), request)
    _, again = _planned(Cluster("c", brokers, (topic("t", after, sizes),)), request)
    assert again["certificate"]["moved_replicas"] == 0


@pytest.mark.parametrize("copies", [1, 40])
def test_a_closed_broker_below_its_floor_gives_nothing_for_a_goal(copies: int) -> None:
    """Brokers 1 and 2 share 110, and 2 stays at 10 since 100 is one replica: the 6 of broker 3 are no reason to move.

    The integer model answers for one copy, the search for 40 of each partition but the largest.
    """
    lists, sizes = [[1], *[[2]] * copies, *[[3], [3]] * copies], [100 * copies, *[10] * copies, *[3, 3] * copies]
    cluster = Cluster("c", (Broker(1), Broker(2), Broker(3)), (topic("t", lists, sizes),))
    request = ReassignmentRequest(forbid_brokers=[3], objective=GoalsRequest([GoalRequest("disk", 0.1)]))
    after, answer = _planned(cluster, request)
    assert after == lists
    assert answer["certificate"]["optimal"]


@pytest.mark.parametrize("seed", SEEDS)
def test_closed_brokers_are_balanced_from_the_floor_of_the_others_on(seed: int) -> None:
    """Those with a load and at least their floor by the mean of the balanced ones; sums are beyond exact floats."""
    rng = np.random.default_rng(seed)
    ids = list(range(int(rng.integers(2, 9))))
    cluster = Cluster("c", tuple(Broker(each) for each in ids), ())
    closed = _some(rng, ids, "forbid_brokers")
    table = brokers_of(_closed("forbid_brokers", cluster, closed), cluster)
    unit = int(rng.choice([1, 10, 2**55 + 1]))
    loads, weights = unit * rng.integers(0, 6, len(ids)), rng.integers(1, 4, len(ids))
    below = Fraction(int(rng.integers(0, 11)), 10)
    balanced = table.balanced(loads, np.ones(len(ids), np.bool_), weights, below)
    shared = sum(load for load, is_balanced in zip(loads.tolist(), balanced.tolist(), strict=True) if is_balanced)
    mean = Fraction(shared, max(1, int(weights[balanced].sum())))
    for broker, load, weight in zip(ids, loads.tolist(), weights.tolist(), strict=True):
        least = min(floor(weight * mean), ceil(weight * mean * (1 - below)))
        assert balanced[broker] == (broker not in closed or (load > 0 and load >= least))


def test_a_closed_broker_at_the_lower_end_is_balanced() -> None:
    """It gives 11 of 106 and has 95, the lower end of 5 % below 100; the others then have 95 at least, and not 97."""
    cluster = Cluster("c", tuple(map(Broker, (1, 2, 3, 4))), ())
    balance = BalanceRequest(Tolerance(0.05), replicas_by="bytes")
    lists, sizes = [[1], [2], [3], [3], [4], [4]], [94, 96, 103, 1, 95, 11]
    moved = []
    for _ in range(2):
        placed = replace(cluster, topics=(topic("t", lists, sizes),))
        lists, answer = _planned(placed, replace(_closed("forbid_brokers", cluster, [4]), balance=balance))
        moved.append(answer["certificate"]["moved_bytes"])
    assert moved == [11, 0]


def _bands_of_topic(before: Mapping[int, int], closed: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """The tight band of a topic on each broker of a cluster without racks, from its counts before the change."""
    apart: list[int] = []
    while True:
        open_brokers = [broker for broker in before if broker not in apart]
        mean = Fraction(sum(before[broker] for broker in open_brokers), max(1, len(open_brokers)))
        below = [broker for broker in open_brokers if broker in closed and before[broker] <= mean]
        if not below:
            return {
                broker: (min(floor(mean), before[broker]) if broker in apart else floor(mean), ceil(mean))
                for broker in before
            }
        apart += below


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CLOSING)
@pytest.mark.parametrize("of_cluster", ["keep", "tight"])
def test_topics_have_the_least_excess_and_closed_brokers_their_floors(of_cluster: Any, name: str, seed: int) -> None:
    """By enumeration, without racks: the least excess of all topics, then the fewest moves."""
    rng = np.random.default_rng(seed)
    brokers = tuple(Broker(broker) for broker in range(int(rng.integers(3, 5))))
    ids = [broker.id for broker in brokers]
    lists = [rng.permutation(ids)[: int(rng.integers(1, 3))].tolist() for _ in range(int(rng.integers(3, 6)))]
    cut = int(rng.integers(1, len(lists)))
    parts = (slice(0, cut), slice(cut, None))
    topics = tuple(topic(f"t{number}", lists[part], [1] * len(lists[part])) for number, part in enumerate(parts))
    cluster, closed = Cluster("c", brokers, topics), _some(rng, ids, name)
    bands = [_bands_of_topic(_counts(ids, lists[part]), closed) for part in parts]

    def excess(placed: Sequence[Any]) -> int:
        counts = [_counts(ids, placed[part]) for part in parts]
        return sum(
            max(low - count[broker], count[broker] - high, 0)
            for count, ends in zip(counts, bands, strict=True)
            for broker, (low, high) in ends.items()
        )

    per_topic = BalanceRequest(of_cluster, per_topic=PerTopicRequest("tight"))
    after, answer = _planned(cluster, replace(_closed(name, cluster, closed), balance=per_topic, minimise="replicas"))
    of_kind = answer["balance"]["replicas"]
    low, high = (0, len(lists)) if of_kind["low"] is None else (of_kind["low"], of_kind["high"])
    every = [
        (excess(placed), sum(len(new - set(old)) for new, old in zip(placed, lists, strict=True)))
        for placed in _placements(cluster, lists, closed)
        for counts in [_counts(ids, placed)]
        if all(min(low, _counts(ids, lists)[each] if each in closed else low) <= counts[each] <= high for each in ids)
    ]
    moved = sum(len(set(new) - set(old)) for new, old in zip(after, lists, strict=True))
    assert (excess(after), moved) == min(every)
    assert (of_kind["per_topic"]["excess"], answer["certificate"]["optimal"]) == (excess(after), True)
    if of_cluster == "keep" or not excess(after):
        counts_of_topics = [_counts(ids, after[part]) for part in parts]
        for count, ends, part in zip(counts_of_topics, bands, parts, strict=True):
            assert all(count[each] >= min(_counts(ids, lists[part])[each], ends[each][0]) for each in closed)


def test_a_topic_is_not_drained_from_a_closed_broker() -> None:
    """5 and 1 replicas on open brokers and 2 on the closed one, which has fewer than the mean: it keeps them, and the
    open ones get 3 each.
    """
    lists = [[1]] * 5 + [[2]] + [[3]] * 2
    cluster = Cluster("c", (Broker(1), Broker(2), Broker(3)), (topic("t", lists, [1] * 8),))
    for name in CLOSING:
        request = replace(
            _closed(name, cluster, [3]), balance=BalanceRequest("keep", per_topic=PerTopicRequest("tight"))
        )
        after, answer = _planned(cluster, request)
        assert _counts([1, 2, 3], after) == {1: 3, 2: 3, 3: 2}
        assert answer["balance"]["replicas"]["per_topic"]["excess"] == 0


def test_a_closed_broker_of_a_rack_does_not_fill_the_open_one() -> None:
    """Rack a forces 6; 3 and 3 in rack b are the largest floor, so that nothing moves."""
    lists = [[1, 2 + partition % 2] for partition in range(6)]
    cluster = Cluster("c", (Broker(1, "a"), Broker(2, "b"), Broker(3, "b")), (topic("t", lists, [100] * 6),))
    for request in (
        ReassignmentRequest(receivers=[3], balance=BalanceRequest("tight")),
        ReassignmentRequest(receivers=[3]),
        ReassignmentRequest(forbid_brokers=[2], balance=BalanceRequest("tight")),
        ReassignmentRequest(cordoned_brokers=[2], balance=BalanceRequest("tight")),
    ):
        after, answer = _planned(cluster, request)
        assert after == lists
        if request.balance.replicas:
            assert answer["balance"]["replicas"] | {"low": 3, "high": 6} == answer["balance"]["replicas"]
