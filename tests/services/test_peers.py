"""Reassignments of Kafka's samples beside the best that other planners were measured to reach on the same cluster."""

from typing import Any

import pytest

from app.core.model import Cluster
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, ReassignmentRequest, Tolerance
from tests.formats.strategies import assembled, sample

TOPICMAPPR = (14_753_340, 19_469_907, 37, 13_215_881)
"""Smallest and largest bytes of a broker after topicmappr's rebalance, replicas moved, bytes moved."""
CRUISE_CONTROL = (12, 17)
"""Smallest and largest number of leaders of a broker after Cruise Control removed broker 105: 0.82 and 1.16 of 14.6."""


def test_leaders_are_balanced_as_cruise_control_does_when_a_broker_is_removed() -> None:
    """Of the 23 partitions that move alone, and without an extra copy."""
    smallest, largest = CRUISE_CONTROL
    plan = draft_plan(PLANNER, ReassignmentRequest(remove_brokers=[105]), _samples(), Limits())
    answer: Any = plan.answer
    leaders = answer["balance"]["leaders"]
    assert smallest <= leaders["smallest"] <= leaders["largest"] < largest
    assert leaders["optimal"]
    assert answer["certificate"]["moved_replicas"] == 23


@pytest.mark.long
def test_fewer_bytes_reach_a_band_within_that_of_topicmappr() -> None:
    """12.65 % of the mean keep the smallest load above topicmappr's; the two brokers of one rack bound the largest."""
    smallest, largest, _, moved_bytes = TOPICMAPPR
    balance = BalanceRequest(Tolerance(0.1265), replicas_by="bytes")
    plan = draft_plan(PLANNER, ReassignmentRequest(balance=balance), _samples(), Limits())
    answer: Any = plan.answer
    loads = answer["balance"]["replicas"]
    assert smallest <= loads["smallest"] <= loads["largest"] <= largest
    certificate = answer["certificate"]
    assert certificate["moved_bytes"] < moved_bytes
    assert certificate["gap"] < 0.01


def _samples() -> Cluster:
    return assembled(
        "prod-eu",
        brokers=sample("kafka-broker-api-versions.txt"),
        topics=sample("kafka-topics-describe.txt"),
        log_dirs=sample("kafka-log-dirs-describe.txt"),
    ).cluster
