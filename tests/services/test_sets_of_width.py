"""`"copysets": {"scatter_width": …}` of a reassignment: few replica sets, equally many partitions on each, at the least
movement.
"""

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given

from app.core.model import Broker, Cluster
from app.core.replicas.copyset_rounds import rounds_of_width
from app.errors.reassignments import NotFeasible
from app.errors.requests import ConflictingFields, CopysetsImpossible
from app.store.records import NewPlan
from tests import draws as st
from tests.services.reassignments import topic
from tests.services.test_known_sets import certificate, plan, sets, sets_after

SIX = tuple(Broker(broker, "abc"[broker // 2]) for broker in range(6))


def lists_of(made: NewPlan) -> list[list[int]]:
    return [row for placement in made.placements for row in placement.replicas.tolist()]


def on_width(of: Cluster, width: int, **change: Any) -> NewPlan:
    return plan(of, {"copysets": {"scatter_width": width}, **change})


def policy(brokers: tuple[Broker, ...], factor: int, width: int) -> list[frozenset[int]]:
    """The sets of new topics, in their order."""
    ids = [broker.id for broker in brokers]
    return [frozenset(ids[at] for at in row) for each in rounds_of_width(brokers, factor, width).rounds for row in each]


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Six brokers in three racks, and partitions on any sets with one broker a rack."""
    lists = draw(st.lists(st.tuples(*(st.sampled_from([at, at + 1]) for at in (0, 2, 4))), min_size=1, max_size=6))
    sizes = draw(st.lists(st.integers(0, 100), min_size=len(lists), max_size=len(lists)))
    return Cluster("c", SIX, (topic("t", [list(row) for row in lists], sizes),))


@pytest.mark.long
@given(clusters(), st.sampled_from([2, 4]))
def test_the_least_movement_of_all_choices_with_equally_many_partitions_on_each_set(of: Cluster, width: int) -> None:
    """Beside every choice of a set for each partition. If they do not divide, the first sets have one more."""
    allowed = policy(SIX, 3, width)
    rows, sizes = of.topics[0].replicas.tolist(), of.topics[0].size_bytes.tolist()
    number = [len(rows) // len(allowed) + (at < len(rows) % len(allowed)) for at in range(len(allowed))]
    least = min(
        sum(size * len(allowed[at] - set(row)) for at, row, size in zip(chosen, rows, sizes, strict=True))
        for chosen in product(range(len(allowed)), repeat=len(rows))
        if all(chosen.count(at) == count for at, count in enumerate(number))
    )
    made = on_width(of, width)
    assert certificate(made)["moved_bytes"] == certificate(made)["lower_bound_bytes"] == least
    counts = Counter(map(frozenset, lists_of(made)))
    assert [counts[each] for each in allowed] == number


def test_topics_of_several_factors_pins_and_new_partitions() -> None:
    two = topic("two", [[0, 2], [1, 3], [2, 4], [3, 5]], [10, 10, 10, 10])
    of = Cluster("c", SIX, (topic("three", [[0, 2, 4], [1, 2, 4], [0, 3, 4], [0, 2, 5]], [1, 2, 3, 4]), two))
    made = on_width(of, 2, pins=[{"topic": "three", "partition": 0, "replicas": [0, 3, 5]}], partitions={"three": 7})
    allowed = {3: policy(SIX, 3, 2), 2: policy(SIX, 2, 2)}
    after = {placement.topic: placement.replicas.tolist() for placement in made.placements}
    assert after["three"][0] == [0, 3, 5]
    counts = Counter(frozenset(row) for row in after["three"][1:])
    assert [counts[each] for each in allowed[3]] == [3, 3]
    assert sets(after.get("two", two.replicas.tolist())) <= set(allowed[2])


def test_a_plan_on_the_sets_already_moves_nothing() -> None:
    rows = [sorted(each) for each in policy(SIX, 3, 4)] * 2
    of = Cluster("c", SIX, (topic("t", rows, [5] * len(rows)),))
    assert certificate(on_width(of, 4))["moved_bytes"] == 0


def test_a_removed_broker_is_on_no_set() -> None:
    of = Cluster("c", tuple(Broker(each) for each in range(5)), (topic("t", [[0, 1], [2, 3], [4, 0]] * 4, [7] * 12),))
    made = on_width(of, 2, remove_brokers=[4])
    assert sets_after(made) == set(policy(tuple(Broker(each) for each in range(4)), 2, 2))


@pytest.mark.parametrize(
    ("brokers", "width", "words"),
    [
        (SIX, 1, "one of 2 or more"),
        (SIX, 5, "have a scatter width of 4 at most"),
        (SIX[:5], 2, "equally many in each rack"),
    ],
)
def test_a_width_that_the_brokers_cannot_have(brokers: tuple[Broker, ...], width: int, words: str) -> None:
    of = Cluster("c", SIX, (topic("t", [[0, 2, 4], [1, 3, 5]], [1, 1]),))
    removed = sorted({each.id for each in SIX} - {each.id for each in brokers})
    with pytest.raises(CopysetsImpossible, match=words) as raised:
        on_width(of, width, remove_brokers=removed)
    assert raised.value.path == ("copysets", "scatter_width")
    assert raised.value.context["value"] == width


def test_brokers_that_may_not_receive_enough() -> None:
    """Partitions of a topic that three brokers may have are all on the one set of these."""
    of = Cluster("c", SIX, (topic("t", [[0, 2, 4], [0, 2, 4]], [1, 1]),))
    change: dict[str, Any] = {"isolate": [{"brokers": [0, 2, 4], "topics": ["t"]}]}
    with pytest.raises(NotFeasible, match="cannot be distributed equally") as raised:
        on_width(of, 2, **change)
    assert raised.value.path == ("copysets",)
    made = on_width(of, 2, on_conflict="relax", **change)
    relaxed: Any = made.answer["relaxed"]
    assert [each["constraint"] for each in relaxed] == ["copysets"]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"max_moved_bytes": 5}, ("max_moved_bytes",)),
        ({"balance": {"replicas": "tight"}}, ("balance", "replicas")),
        ({"balance": {"per_topic": {"replicas": "tight"}}}, ("balance", "per_topic")),
        ({"limits": {"replicas": {"absolute": 50}}, "objective": "relieve"}, ("copysets",)),
    ],
)
def test_what_balances_brokers_does_not_go_with_a_balance_of_sets(change: dict[str, Any], path: tuple[str]) -> None:
    of = Cluster("c", SIX, (topic("t", [[0, 2, 4], [1, 3, 5]], [1, 1]),))
    with pytest.raises(ConflictingFields) as raised:
        on_width(of, 2, **change)
    assert raised.value.path == path
