"""Broker sets as axes of a reassignment sweep: laws over small random clusters, then worked examples."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from app.core.model import Cluster
from app.errors import Failure
from app.errors.reassignments import UnknownBroker, UnknownBrokerSet, UnknownTopic
from app.errors.requests import ConflictingFields, DuplicateBroker, EmptyAxis, ImpossibleValue
from tests import draws as st
from tests.profiles import costly
from tests.services.reassignments import topic
from tests.services.swept import Json, cluster, clusters, definition_of, rows

REPLICAS = [[0, 1], [1, 0], [0, 1], [2, 3]]


def two_topics() -> Cluster:
    """Four brokers without racks; `orders` on 0 and 1, `clicks` on 2 and 3."""
    topics = topic("clicks", REPLICAS[3:], [40]), topic("orders", REPLICAS[:3], [10, 20, 30])
    return replace(cluster([], [None] * 4), topics=topics)


@costly()
@given(clusters(), st.sampled_from(["keep", "tight"]))
def test_one_set_of_all_brokers_and_topics_is_no_set(swept: Cluster, balance: str) -> None:
    brokers = [broker.id for broker in swept.brokers]
    free = rows(swept, {"remove_broker": "each"}, balance={"replicas": balance})
    bound = rows(
        swept,
        {"remove_broker": "each", "broker_sets.all": [brokers], "topic_sets.t": ["all"]},
        balance={"replicas": balance},
    )
    for alone, in_set in zip(free, bound, strict=True):
        assert (alone["error"] is None) == (in_set["error"] is None)
        if alone["error"] is None:
            assert [
                alone[name] for name in ("moved_bytes", "lower_bound_bytes", "smallest_after", "largest_after")
            ] == [in_set[name] for name in ("moved_bytes", "lower_bound_bytes", "smallest_after", "largest_after")]


def test_a_topic_moves_to_the_brokers_of_its_set() -> None:
    actual = rows(
        two_topics(),
        {"topic_sets.orders": ["blue", "green", None]},
        broker_sets={"blue": [0, 1], "green": [2, 3]},
        topic_sets={"clicks": "green"},
    )
    # In blue nothing moves; in green both replicas of 60 bytes do; outside every set there is no broker.
    assert [row.get("moved_bytes") for row in actual] == [0, 120, None]
    assert [row["error"] and row["error"]["code"] for row in actual] == [None, None, "infeasible_reassignment"]
    assert [row["axes"]["topic_sets.orders"] for row in actual] == ["blue", "green", None]


def test_the_brokers_of_a_set_vary_and_are_balanced_among_themselves() -> None:
    actual = rows(
        two_topics(),
        {"broker_sets.blue": [[0, 1], [0, 1, 2]]},
        topic_sets={"orders": "blue"},
        broker_sets={},
        balance={"replicas": "tight"},
    )
    # With 2 in blue as well, clicks has broker 3 alone for two replicas.
    assert [row["error"] is None for row in actual] == [True, False]
    actual = rows(
        two_topics(),
        {"broker_sets.blue": [[0, 1], [0, 1, 2]], "topic_sets.clicks": ["blue"]},
        topic_sets={"orders": "blue"},
        balance={"replicas": "tight"},
    )
    # Both topics in blue: clicks moves from 2 and 3; of three brokers 2 keeps its replica and gets the smallest one.
    assert [(row["moved_bytes"], row["lower_bound_bytes"], row["optimal"]) for row in actual] == [
        (80, 80, True),
        (50, 50, True),
    ]


@pytest.mark.parametrize(
    ("axes", "more", "failure", "path"),
    [
        ({"broker_sets.blue": []}, {}, EmptyAxis, ("axes", "broker_sets.blue")),
        ({"broker_sets.blue": [[]]}, {}, ImpossibleValue, ("axes", "broker_sets.blue", 0)),
        ({"broker_sets.blue": [[0, 9]]}, {}, UnknownBroker, ("axes", "broker_sets.blue", 0, 1)),
        ({"broker_sets.blue": [[0], [0]]}, {}, ConflictingFields, ("axes", "broker_sets.blue", 1)),
        ({"topic_sets.orders": [3]}, {}, ImpossibleValue, ("axes", "topic_sets.orders", 0)),
    ],
)
def test_values_that_are_no_sets_are_named(
    axes: Json, more: Json, failure: type[Failure], path: tuple[Any, ...]
) -> None:
    with pytest.raises(failure) as failed:
        rows(two_topics(), axes, **more)
    assert failed.value.path == path


@pytest.mark.parametrize(
    ("axes", "more", "failure", "path"),
    [
        (
            {"broker_sets.blue": [[1], [0, 1]]},
            {"broker_sets": {"red": [0]}},
            DuplicateBroker,
            ("axes", "broker_sets.blue", 1, 0),
        ),
        ({"topic_sets.orders": ["green"]}, {}, UnknownBrokerSet, ("axes", "topic_sets.orders", 0)),
        ({"topic_sets.other": ["blue"]}, {}, UnknownTopic, ("axes", "topic_sets.other")),
        (
            {"topic_sets.orders": [None]},
            {"topic_sets": "topic_name_hash"},
            ConflictingFields,
            ("axes", "topic_sets.orders"),
        ),
        ({"add_brokers": [1]}, {"broker_sets": {"blue": [0, 7]}}, UnknownBroker, ("broker_sets", "blue", 1)),
    ],
)
def test_sets_that_exclude_each_other_are_named(
    axes: Json, more: Json, failure: type[Failure], path: tuple[Any, ...]
) -> None:
    with pytest.raises(failure) as failed:
        definition_of(two_topics(), axes, **more)
    assert failed.value.path == path
