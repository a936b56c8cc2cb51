"""The mappings of `docs/coming-from-cruise-control.md` are accepted unchanged, and it shows the real output."""

import json
import re
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest

from app.core.model import Broker, BrokerCapacity, Cluster, LogDirectory, padded
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import EXPORTS, PLANNER, READER
from tests.conftest import ROOT
from tests.documents import Document, replay
from tests.services.reassignments import topic

DOC = Document(ROOT / "docs" / "coming-from-cruise-control.md")
BODIES = [json.loads(body) for body in re.findall(r"`(\{\".*?\})`", DOC.text)]
GOALS = frozenset(
    {
        "RackAwareGoal",
        "RackAwareDistributionGoal",
        "MinTopicLeadersPerBrokerGoal",
        "ReplicaCapacityGoal",
        "DiskCapacityGoal",
        "NetworkInboundCapacityGoal",
        "NetworkOutboundCapacityGoal",
        "CpuCapacityGoal",
        "ReplicaDistributionGoal",
        "PotentialNwOutGoal",
        "DiskUsageDistributionGoal",
        "NetworkInboundUsageDistributionGoal",
        "NetworkOutboundUsageDistributionGoal",
        "CpuUsageDistributionGoal",
        "TopicReplicaDistributionGoal",
        "LeaderReplicaDistributionGoal",
        "LeaderBytesInDistributionGoal",
        "PreferredLeaderElectionGoal",
        "BrokerSetAwareGoal",
        "IntraBrokerDiskCapacityGoal",
        "IntraBrokerDiskUsageDistributionGoal",
    }
)


REQUESTS = list({json.dumps(body): body for body in BODIES if set(body) != {"absolute"}}.values())


@pytest.mark.parametrize("body", REQUESTS, ids=json.dumps)
def test_every_request_of_its_tables_is_one(body: dict[str, Any]) -> None:
    READER.validate_json(json.dumps(body))


def _mapped_cluster() -> Cluster:
    """The brokers of the page in three racks, each with two log directories; topics with sizes and rates."""
    lists = [[101 + (row + step) % 9 for step in range(3)] for row in range(9)]
    topics = [
        replace(
            topic(name, lists, [1000 + 100 * row for row in range(9)]),
            log_dirs=padded([[row % 2, 0, 1] for row in range(9)]),
            ingress_bytes_per_s=np.full(9, 100.0),
        )
        for name in ("clicks", "orders")
    ]
    capacity = BrokerCapacity(10**6, 10**6, 10**6, 8.0)
    brokers = [Broker(101 + i, ("use1-az1", "use1-az2", "use1-az4")[i % 3], capacity=capacity) for i in range(9)]
    log_dirs = {broker.id: tuple([LogDirectory(f"/data/d{n}", 10**6) for n in (1, 2)]) for broker in brokers}
    return Cluster("prod-eu", tuple(brokers), tuple(topics), log_dirs=log_dirs)


SEARCHED = ("resources", "replicas_by", "leaders_by")
"""Balances that are searched for, seconds each."""


def _planned(body: dict[str, Any]) -> Any:
    marks = [pytest.mark.long] if any(name in body.get("balance", {}) for name in SEARCHED) else []
    return pytest.param(body, id=json.dumps(body), marks=marks)


@pytest.mark.parametrize("body", [_planned(body) for body in REQUESTS])
def test_every_request_of_its_tables_is_planned(body: dict[str, Any]) -> None:
    """Without illegal lists, with a bound below the movement, and with the files that Kafka executes."""
    cluster = _mapped_cluster()
    request = READER.validate_json(json.dumps(body))
    made = draft_plan(PLANNER, request, cluster, Limits())
    certificate: Any = made.answer["certificate"]
    violations: Any = made.answer["violations"]
    assert certificate["lower_bound_bytes"] <= certificate["moved_bytes"]
    assert [each for each in violations if each["severity"] == "illegal"] == []
    assert json.loads(EXPORTS["reassignment"](made, lambda: cluster))["version"] == 1


def test_peers_have_tables_of_what_they_do() -> None:
    """Every command of topicmappr and every action of Kafka's tool."""
    topicmappr = " ".join(first for first, *_ in DOC.table("topicmappr", "request", "what differs"))
    assert all(f"`{command}" in topicmappr for command in ("rebuild", "rebalance", "scale"))
    tool = " ".join(first for first, *_ in DOC.table("option", "request", "what differs"))
    assert all(f"`--{action}" in tool for action in ("generate", "execute", "verify", "list", "cancel"))


def test_every_goal_is_there() -> None:
    listed = [goal.strip("`") for goal, _, _ in DOC.table("goal", "request", "what differs")]
    assert set(listed) >= GOALS
    assert len(listed) == len(set(listed))


@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))
