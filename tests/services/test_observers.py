"""Topics with observers of Confluent Server: recorded, left where they are, and never changed in silence."""

from typing import Any, cast

import pytest

from app.core.model import PLACEMENT_CONSTRAINTS, Cluster, unpadded
from app.errors.reassignments import ObserversNotKept
from app.errors.requests import MalformedText
from app.formats.kafka_files import reassignment
from app.services import checks
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, ReassignmentRequest
from tests.formats.strategies import assembled

CONSTRAINTS = (
    '{"version":1,"replicas":[{"count":2,"constraints":{"rack":"a"}}],'
    '"observers":[{"count":2,"constraints":{"rack":"b"}}]}'
)
BROKERS = "".join(f"k{one}:9092 (id: {one} rack: {'aabbb'[one - 1]}) -> (\n" for one in range(1, 6))
OBSERVED = (
    f"Topic: t\tPartitionCount: 1\tReplicationFactor: 4\tConfigs: cleanup.policy=compact,delete,"
    f"{PLACEMENT_CONSTRAINTS}={CONSTRAINTS},segment.bytes=7\n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,4,3\tIsr: 1,2\tOffline: \tObservers: 4,3\n"
)
PLAIN = (
    "Topic: u\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n"
    "\tTopic: u\tPartition: 0\tLeader: 1\tReplicas: 1,3\tIsr: 1,3\n"
    "\tTopic: u\tPartition: 1\tLeader: 1\tReplicas: 1,4\tIsr: 1,4\n"
)


def cluster(topics: str = OBSERVED + PLAIN) -> Cluster:
    return assembled("c", brokers=BROKERS, topics=topics).cluster


def test_observers_and_constraints_are_recorded() -> None:
    topic = cluster().topics[0]
    assert topic.observers is not None
    assert unpadded(topic.observers) == [[4, 3]]
    assert topic.configs == {
        "cleanup.policy": "compact,delete",
        PLACEMENT_CONSTRAINTS: CONSTRAINTS,
        "segment.bytes": "7",
    }
    with pytest.raises(MalformedText, match="after `Observers:`"):
        cluster(OBSERVED.replace("Observers: 4,3", "Observers: 5"))


@pytest.mark.parametrize("fields", [{}, {"remove_brokers": [5]}, {"leaders_only": True}])
@pytest.mark.parametrize("lost", ["\tOffline: \tObservers: 4,3", f"{PLACEMENT_CONSTRAINTS}={CONSTRAINTS},"])
def test_such_topics_stay(fields: dict[str, Any], lost: str) -> None:
    """Observers alone and constraints alone are enough."""
    of = cluster((OBSERVED + PLAIN).replace(lost, ""))
    plan = draft_plan(PLANNER, ReassignmentRequest(**fields), of, Limits())
    assert {placement.topic for placement in plan.placements} == {"u"}
    warnings = cast("list[dict[str, Any]]", plan.answer["warnings"])
    assert [warning["topics"] for warning in warnings if warning["code"] == "observers_stay"] == [["t"]]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"topics": ["t"]}, ("topics", 0)),
        ({"replication_factor": {"t": 2}}, ("replication_factor", "t")),
        ({"remove_brokers": [4]}, ("remove_brokers",)),
        ({"remove_racks": ["a"], "rack_mode": "safe"}, ("remove_brokers",)),
        ({"replace_brokers": {2: 5}}, ("replace_brokers",)),
    ],
)
def test_what_would_change_them_is_rejected(fields: dict[str, Any], path: tuple[str | int, ...]) -> None:
    with pytest.raises(ObserversNotKept) as rejected:
        draft_plan(PLANNER, ReassignmentRequest(**fields), cluster(), Limits())
    assert rejected.value.path == path


@pytest.mark.parametrize(
    ("observers", "dropped"), [("", True), (',"observers":[3]', True), (',"observers":[3,4]', False)]
)
def test_checks_read_observers(observers: str, dropped: bool) -> None:
    text = f'{{"version":1,"partitions":[{{"topic":"t","partition":0,"replicas":[2,1,3,4]{observers}}}]}}'
    given = reassignment.read(text)
    assert reassignment.read(reassignment.write(given)) == given
    cautions = checks.check_reassignment(cluster(), given).cautions
    assert ("observers_dropped" in [caution.code for caution in cautions]) == dropped


def test_an_observer_is_a_replica() -> None:
    text = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,1],"observers":[5]}]}'
    with pytest.raises(MalformedText, match="observers among the replicas, found 5"):
        reassignment.read(text)
