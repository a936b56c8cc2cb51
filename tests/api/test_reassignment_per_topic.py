"""`balance.per_topic`: each topic balanced together with the cluster, and excluded combinations."""

from typing import Any

import httpx
import pytest

from tests.api.contract import SNAPSHOT_ID
from tests.api.test_reassignment import change, codes, rows, snapshot, topic
from tests.api.test_reassignment_refusals import rejection

LED: dict[str, Any] = {"per_topic": {"leaders": "tight"}}
TIGHT = {"replicas": "tight", "per_topic": {"replicas": "tight"}}


@pytest.fixture
def crowded(client: httpx.Client) -> str:
    """Six brokers with two replicas each, of one topic alone."""
    return snapshot(
        client,
        topics=[
            topic("t", [1, 3, 5], [1, 3, 5], sizes=[300, 200]),
            topic("u", [2, 4, 6], [2, 4, 6], sizes=[50, 70]),
        ],
    )


def test_each_topic_is_spread(client: httpx.Client, crowded: str) -> None:
    """The counts of brokers are equal already; the lightest partition of each topic moves in each rack."""
    assert change(client, crowded, balance={"replicas": "tight"})["certificate"]["moved_replicas"] == 0
    plan = change(client, crowded, balance=TIGHT)
    certificate, balance = plan["certificate"], plan["balance"]["replicas"]
    assert (certificate["moved_bytes"], certificate["optimal"], certificate["gap"]) == (3 * (200 + 50), True, 0.0)
    assert (balance["low"], balance["high"]) == (2, 2)
    ends = {"smallest": 1, "largest": 1, "low": 1, "high": 1, "before": {"smallest": 0, "largest": 2}}
    assert balance["per_topic"] == {
        "topics": 2,
        "excess": 0,
        "worst": [{"topic": "t", **ends}, {"topic": "u", **ends}],
    }
    for name in ("t", "u"):
        assert sorted(broker for row in rows(plan, name) for broker in row) == [1, 2, 3, 4, 5, 6]


def test_named_topics_alone_are_balanced(client: httpx.Client, crowded: str) -> None:
    per_topic = {"replicas": {"tolerance": 0.2}, "topics": ["u"]}
    plan = change(client, crowded, balance={"replicas": "keep", "per_topic": per_topic})
    assert plan["certificate"]["moved_bytes"] == 3 * 50
    assert rows(plan, "t") == [[1, 3, 5], [1, 3, 5]]
    assert [each["topic"] for each in plan["balance"]["replicas"]["per_topic"]["worst"]] == ["u"]


def test_the_band_of_the_cluster_comes_first(client: httpx.Client) -> None:
    """Another topic is on broker 1, so that it may have one more replica: one topic has both on broker 2."""
    brokers = [{"id": 1, "rack": "a"}, {"id": 2, "rack": "a"}]
    topics = [topic("other", [1], [1]), topic("t", [1], [1]), topic("u", [2], [2])]
    snapshot_id = snapshot(client, brokers=brokers, topics=topics)
    plan = change(client, snapshot_id, topics=["t", "u"], balance=TIGHT)
    assert (plan["balance"]["replicas"]["low"], plan["balance"]["replicas"]["high"]) == (3, 3)
    assert plan["balance"]["replicas"]["per_topic"]["excess"] == 2
    assert plan["certificate"]["optimal"]
    assert "tolerance_not_reached" in codes(plan)


def test_a_request_without_it_has_the_same_hash(client: httpx.Client, crowded: str) -> None:
    plain = change(client, crowded, balance={"replicas": "tight"})
    null = change(client, crowded, balance={"replicas": "tight", "per_topic": None})
    assert plain["hash"] == null["hash"]
    assert plain["balance"]["replicas"]["per_topic"] is None


@pytest.mark.parametrize(
    ("fields", "code", "pointer", "value"),
    [
        ({"balance": {"per_topic": {"replicas": "tight", "topics": ["x"]}}}, "unknown_topic", "/topics/0", "x"),
        (
            {"topics": ["t"], "balance": {"per_topic": {"replicas": "tight", "topics": ["u"]}}},
            "conflicting_fields",
            "/topics/0",
            "u",
        ),
        (
            {"balance": {"per_topic": {"replicas": "tight", "topics": ["t", "t"]}}},
            "duplicate_topic",
            "/topics/1",
            "t",
        ),
        ({"leaders_only": True, "balance": TIGHT | {"replicas": "keep"}}, "conflicting_fields", "", "True"),
        ({"limits": {"replicas": {"absolute": 9}}, "balance": TIGHT}, "conflicting_fields", "", "replicas"),
        ({"trade_off": True, "balance": TIGHT}, "conflicting_fields", "", "True"),
        ({"balance": {"replicas_by": "bytes"} | TIGHT}, "conflicting_fields", "", "bytes"),
        ({"max_moved_bytes": 9, "balance": TIGHT}, "conflicting_fields", "", "9"),
        ({"balance": {"per_topic": {"replicas": None}}}, "conflicting_fields", "", "null"),
        ({"balance": LED | {"leaders": "keep"}}, "conflicting_fields", "/leaders", "keep"),
        ({"balance": LED | {"leaders": "preferred"}}, "conflicting_fields", "/leaders", "preferred"),
        ({"balance": LED | {"leaders_by": "ingress"}}, "conflicting_fields", "/leaders", "ingress"),
        ({"balance": LED | {"resources": ["disk"]}}, "conflicting_fields", "", "disk"),
    ],
)
def test_what_cannot_be_is_a_problem(
    client: httpx.Client, crowded: str, fields: dict[str, Any], code: str, pointer: str, value: object
) -> None:
    error = rejection(client, 422, code, crowded, **fields)["errors"][0]
    assert (error["pointer"], error["value"]) == (f"/balance/per_topic{pointer}", value)


@pytest.mark.parametrize("name", ["replicas", "leaders"])
@pytest.mark.parametrize("even", ["keep", {"tolerance": 1.5}, {"tolerance": -0.1}])
def test_values_out_of_range_are_problems(client: httpx.Client, name: str, even: object) -> None:
    problem = rejection(client, 422, "validation", SNAPSHOT_ID, balance={"per_topic": {name: even}})
    assert all(error["pointer"].startswith(f"/balance/per_topic/{name}") for error in problem["errors"])


def test_leaders_of_each_topic_are_balanced_together_with_those_of_the_cluster(client: httpx.Client) -> None:
    """Each broker leads a topic. Two leaders change, while each broker leads two partitions before and after."""
    brokers = [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}]
    snapshot_id = snapshot(client, brokers=brokers, topics=[topic("t", [1, 2], [1, 2]), topic("u", [2, 1], [2, 1])])
    alone = {"leaders_only": True, "min_leaders_per_broker": {"t": 1}}
    assert change(client, snapshot_id, leaders_only=True)["leader_changes"] == 0
    plan = change(client, snapshot_id, **alone, balance={"per_topic": {"leaders": "tight"}})
    leaders = plan["balance"]["leaders"]
    assert (plan["leader_changes"], leaders["bound"], leaders["low"], leaders["high"]) == (2, 2, 2, 2)
    ends = {"smallest": 1, "largest": 1, "low": 1, "high": 1, "before": {"smallest": 0, "largest": 2}}
    assert leaders["per_topic"] == {
        "topics": 2,
        "excess": 0,
        "worst": [{"topic": "t", **ends}, {"topic": "u", **ends}],
    }
    assert plan["balance"]["replicas"]["per_topic"] is None


def test_leaders_that_no_replica_allows_are_counted(client: httpx.Client) -> None:
    brokers = [{"id": broker, "rack": rack} for broker, rack in ((1, "a"), (2, "b"), (3, "b"))]
    snapshot_id = snapshot(client, brokers=brokers, topics=[topic("t", [1, 2], [1, 2], [1, 2])])
    plan = change(client, snapshot_id, leaders_only=True, balance={"per_topic": {"leaders": "tight"}})
    assert plan["balance"]["leaders"]["per_topic"]["excess"] == 2
    assert "tolerance_not_reached" in codes(plan)
