"""Limits as axes of a reassignment sweep: laws against every placement of tiny clusters, then worked examples."""

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given

from app.core.model import UNKNOWN_SIZE, Cluster
from app.errors import Failure
from app.errors.reassignments import CapacityMissing, RatesMissing, SizesMissing, UnknownTopic
from app.errors.requests import ConflictingFields, EmptyAxis, ImpossibleValue
from app.services.reassignment.requests.parts import RESOURCES
from tests import draws as st
from tests.profiles import costly
from tests.services import swept
from tests.services.reassignments import topic
from tests.services.swept import cluster, definition_of

Json = dict[str, Any]
DISK = 100
CAPACITY = {"*": {"disk_bytes": DISK, "nic_in_bytes_per_s": 1_000, "nic_out_bytes_per_s": 1_000}}


def loaded(current: list[list[int]], sizes: list[int], brokers: int) -> Cluster:
    """A cluster without racks."""
    return cluster(current, [None] * brokers, sizes)


def rows(of: Cluster, axes: Json, **fields: Any) -> list[Json]:
    """All scenarios; brokers have disks of 100 and networks of 1,000 bytes/s."""
    return swept.rows(of, axes, **{"capacity": CAPACITY} | fields)


@st.composite
def small_clusters(draw: st.DrawFn) -> tuple[list[list[int]], list[int], int]:
    """Two or three brokers with up to four partitions of up to two replicas."""
    brokers = draw(st.integers(2, 3))
    current = [
        list(draw(st.permutations(range(brokers)))[: draw(st.integers(1, 2))]) for _ in range(draw(st.integers(1, 4)))
    ]
    return current, draw(st.lists(st.integers(1, 60), min_size=len(current), max_size=len(current))), brokers


def least_moved(current: list[list[int]], sizes: list[int], brokers: int, most: int) -> int | None:
    """The fewest bytes moved by any placement without a broker above `most` bytes; None if there is no such one."""
    choices = [list(combinations(range(brokers), len(row))) for row in current]
    moved = [
        sum(size * len(set(there) - set(row)) for there, row, size in zip(placed, current, sizes, strict=True))
        for placed in product(*choices)
        if all(
            sum(size for there, size in zip(placed, sizes, strict=True) if broker in there) <= most
            for broker in range(brokers)
        )
    ]
    return min(moved, default=None)


@costly(60)
@given(small_clusters())
def test_a_scenario_is_feasible_only_if_some_placement_is(case: tuple[list[list[int]], list[int], int]) -> None:
    """And moves no less than the least of all placements, which its bound is below."""
    current, sizes, brokers = case
    shares = [0.3, 0.6, 0.9]
    found = rows(loaded(current, sizes, brokers), {"limits.disk": shares}, objective="relieve")
    for row, share in zip(found, shares, strict=True):
        least = least_moved(current, sizes, brokers, int(share * DISK + 1e-9))
        if row["feasible"]:
            assert least is not None
            assert row["lower_bound_bytes"] <= least <= row["moved_bytes"]
            assert row["disk_utilisation"] <= share
            assert row["violated_limits"] == []
        else:
            [violated] = row["violated_limits"]
            assert (violated["resource"], violated["soft"]) == ("disk", False)
            assert violated["value"] > violated["limit"] == int(share * DISK + 1e-9)
            assert row["disk_utilisation"] * DISK == pytest.approx(violated["value"])


def test_a_looser_limit_moves_less() -> None:
    current, sizes = [[0], [0], [0], [1]], [30, 30, 30, 10]
    found = rows(loaded(current, sizes, 2), {"limits.disk": [0.4, 0.7, 0.9]}, objective="relieve")
    assert [(row["feasible"], row["moved_bytes"], row["disk_utilisation"]) for row in found] == [
        (False, 30, 0.6),
        (True, 30, 0.6),
        (True, 0, 0.9),
    ]


def test_a_soft_limit_that_is_exceeded_leaves_a_scenario_feasible() -> None:
    limits = {"disk": {"share": 0.5, "soft": True}}
    axes = {"limits.disk": [0.4], "limits.replicas.absolute": [3]}
    [row] = rows(loaded([[0], [0], [0], [1]], [30, 30, 30, 10], 2), axes, objective="relieve", limits=limits)
    assert row["feasible"]
    assert [(each["resource"], each["soft"], each["broker"]) for each in row["violated_limits"]] == [("disk", True, 0)]


def test_limits_beside_a_removed_broker_and_added_ones() -> None:
    """Three partitions of 60 bytes fit on three disks below 80 %, and on two do not."""
    found = rows(
        loaded([[0], [1], [2]], [60, 60, 60], 3), {"remove_broker": [2], "add_brokers": [0, 1]}, limits={"disk": 0.8}
    )
    assert [(row["feasible"], row["disk_utilisation"]) for row in found] == [(False, 1.2), (True, 0.6)]


def test_the_utilisation_of_networks_counts_leaders_that_stay() -> None:
    """Broker 0 receives 300 bytes/s, and sends them to the follower and to one consumer."""
    traffic: Json = {"ingress_bytes_per_s": {"t": [300]}, "consumers": {"t": 1}}
    [row] = rows(loaded([[0, 1]], [10], 2), {"add_brokers": [0]}, **traffic)
    assert [row[f"{name}_utilisation"] for name in RESOURCES] == [0.1, 0.3, 0.6, None]


def test_goals_are_reached_in_order_and_resources_jointly() -> None:
    current, sizes = [[0], [0], [0], [0]], [40, 20, 20, 20]
    goals = {"goals": [{"goal": "disk"}, {"goal": "replicas", "tolerance": 0.5}]}
    for more in ({"objective": goals}, {"balance": {"resources": ["disk"]}}):
        [row] = rows(loaded(current, sizes, 2), {"add_brokers": [0]}, **more)
        assert (row["disk_utilisation"], row["moved_bytes"], row["feasible"]) == (0.6, 40, True)


def test_topics_are_balanced_each() -> None:
    topics = topic("t", [[0], [0]], [10, 10]), topic("u", [[1], [1]], [10, 10])
    of = replace(loaded([], [], 2), topics=topics)
    axes = {"add_brokers": [0]}
    [row] = rows(of, axes, balance={"per_topic": {"replicas": "tight"}})
    assert (row["moved_replicas"], row["topic_excess"]) == (2, 0)
    [row] = rows(of, axes, balance={"per_topic": {"replicas": "tight", "topics": ["u"]}})
    assert (row["moved_replicas"], row["topic_excess"]) == (1, 0)
    [row] = rows(of, axes)
    assert (row["moved_replicas"], row["topic_excess"]) == (0, None)


@pytest.mark.parametrize(
    ("axes", "more", "failure", "path"),
    [
        ({"limits.disk": []}, {}, EmptyAxis, ("axes", "limits.disk")),
        ({"limits.disk": [0.5, 0]}, {}, ImpossibleValue, ("axes", "limits.disk", 1)),
        ({"limits.disk": [1.2]}, {}, ImpossibleValue, ("axes", "limits.disk", 0)),
        ({"limits.disk": [0.5, 0.5]}, {}, ConflictingFields, ("axes", "limits.disk", 1)),
        ({"limits.disk": ["x"]}, {}, ImpossibleValue, ("axes", "limits.disk", 0)),
        ({"limits.disk": [0.5], "limits.disk.absolute": [9]}, {}, ConflictingFields, ("axes", "limits.disk.absolute")),
        ({"limits.cpu": [0.5]}, {"ingress_bytes_per_s": {"t": 1}}, CapacityMissing, ("axes", "limits.cpu")),
        ({"add_brokers": [0]}, {"limits": {"replicas": 0.5}}, ConflictingFields, ("limits", "replicas")),
        ({"add_brokers": [0]}, {"limits": {"disk": {"soft": True}}}, ConflictingFields, ("limits", "disk")),
        ({"add_brokers": [0]}, {"objective": "relieve"}, ConflictingFields, ("objective",)),
        (
            {"limits.disk": [0.5]},
            {"objective": "relieve", "balance": {"replicas": "tight"}},
            ConflictingFields,
            ("balance", "replicas"),
        ),
        (
            {"limits.disk": [0.5]},
            {"balance": {"per_topic": {"replicas": "tight"}}},
            ConflictingFields,
            ("balance", "per_topic"),
        ),
        (
            {"add_brokers": [0]},
            {"balance": {"per_topic": {"replicas": "tight", "topics": ["ghost"]}}},
            UnknownTopic,
            ("balance", "per_topic", "topics", 0),
        ),
    ],
)
def test_what_cannot_be_is_named(axes: Json, more: Json, failure: type[Failure], path: tuple[str, ...]) -> None:
    with pytest.raises(failure) as raised:
        definition_of(loaded([[0]], [10], 2), axes, **{"capacity": CAPACITY} | more)
    assert raised.value.path == path


def test_what_is_limited_has_to_be_known() -> None:
    of, axes = loaded([[0]], [10], 2), {"limits.disk": [0.5]}
    with pytest.raises(SizesMissing):
        definition_of(loaded([[0]], [UNKNOWN_SIZE], 2), axes, capacity=CAPACITY)
    with pytest.raises(RatesMissing, match="those of 1 of 1 are unknown, t first"):
        definition_of(of, {"limits.nic_in": [0.5]}, capacity=CAPACITY)
    with pytest.raises(CapacityMissing, match="2 of 2 brokers is unknown or 0: 0, 1") as raised:
        definition_of(of, axes)
    assert raised.value.path == ("axes", "limits.disk")
    stated = {str(broker): CAPACITY["*"] for broker in (0, 1)}
    with pytest.raises(CapacityMissing, match="1 of 3 brokers is unknown or 0: 2"):
        definition_of(of, axes | {"add_brokers": [1]}, capacity=stated)
    definition_of(of, axes | {"add_brokers": [0]}, capacity=stated)
