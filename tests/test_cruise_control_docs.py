"""What `docs/coming-from-cruise-control.md` maps is accepted as it stands, and what it shows is what happens."""

import json
import re
from typing import Any

import httpx
import pytest

from app.api.reassignment import PlanReassignmentRequest
from tests.conftest import ROOT
from tests.documents import Document, replay

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


@pytest.mark.parametrize("body", [body for body in BODIES if set(body) != {"absolute"}], ids=json.dumps)
def test_every_request_of_its_tables_is_one(body: dict[str, Any]) -> None:
    PlanReassignmentRequest.model_validate_json(json.dumps(body)).service()


def test_every_goal_is_there() -> None:
    listed = [goal.strip("`") for goal, _, _ in DOC.table("goal", "request", "what differs")]
    assert set(listed) >= GOALS
    assert len(listed) == len(set(listed))


@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))
