"""`kafka_generate` of a reassignment: the movement by Kafka's own tool, beside the plan."""

from typing import Any

import httpx
import pytest

from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, ReassignmentRequest, solve
from tests.api.test_reassignment import change, real, snapshot, topic
from tests.services.reassignments import CLUSTER

__all__ = ["real"]


@pytest.mark.parametrize(("version", "algorithm"), [("4.0", "admin_utils"), ("4.1", "striped"), ("4.4", "striped")])
def test_it_moves_most_where_the_plan_moves_nothing(
    client: httpx.Client, real: str, version: str, algorithm: str
) -> None:
    """On the real cluster the tool proposed 195 moves; a draw moves more than half of the 285 replicas."""
    plan = change(client, real, kafka_version=version)
    generated = plan["kafka_generate"]
    assert plan["certificate"]["moved_replicas"] == 0
    assert (generated["algorithm"], generated["seeds"], generated["left_out"]) == (algorithm, 20, None)
    replicas = generated["moved_replicas"]
    assert 150 < replicas["min"] <= replicas["median"] <= replicas["max"] < 270
    assert 0 < generated["moved_bytes"]["min"] <= generated["moved_bytes"]["median"] <= generated["moved_bytes"]["max"]
    assert replicas["min"] < replicas["max"]
    assert change(client, real, kafka_version=version, labels={})["kafka_generate"] == generated


def test_it_places_on_the_brokers_that_may_receive(client: httpx.Client) -> None:
    """The one broker that is left gets everything, whatever the random choice is."""
    snapshot_id = snapshot(client, brokers=[{"id": 1}, {"id": 2}], topics=[topic("t", [1], [2], [2], sizes=[5, 7, 9])])
    generated = change(client, snapshot_id, kafka_version="4.4", remove_brokers=[2])["kafka_generate"]
    assert generated["moved_replicas"] == {"min": 2, "median": 2, "max": 2}
    assert generated["moved_bytes"] == {"min": 16, "median": 16, "max": 16}


def test_what_the_tool_rejects_is_said(client: httpx.Client) -> None:
    """The factor shrinks in the plan; the tool knows no factors but those that there are."""
    snapshot_id = snapshot(client, brokers=[{"id": 1}, {"id": 2}], topics=[topic("t", [1, 2])])
    plan = change(client, snapshot_id, kafka_version="4.4", remove_brokers=[2], replication_factor={"t": 1})
    assert plan["kafka_generate"]["moved_replicas"] is None
    assert "the tool rejects it" in plan["kafka_generate"]["left_out"]


def test_new_partitions_are_none_of_its_topics(client: httpx.Client) -> None:
    snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
    now = change(client, snapshot_id, kafka_version="4.4")["kafka_generate"]["moved_replicas"]
    assert now["max"] <= 3
    assert (
        change(client, snapshot_id, kafka_version="4.4", partitions={"t": 9})["kafka_generate"]["moved_replicas"]["max"]
        <= 3
    )


@pytest.mark.parametrize(
    ("most", "work", "runs"), [(4, 10**6, 20), (3, 10**6, 0), (4, 4 * 10, 10), (4, 4 * 3, 3), (4, 4 * 3 - 1, 0)]
)
def test_its_cost_is_bounded(monkeypatch: pytest.MonkeyPatch, most: int, work: int, runs: int) -> None:
    """Of four partitions: too many of them, and too much work for fewer runs than three."""
    monkeypatch.setattr(solve, "MOST_PARTITIONS", most)
    monkeypatch.setattr(solve, "_WORK", work)
    monkeypatch.setattr(solve, "_WORK_OF_A_TOPIC", 0)
    generated: Any = draft_plan(PLANNER, ReassignmentRequest(), CLUSTER, Limits()).answer["kafka_generate"]
    assert generated["seeds"] == runs
    assert (generated["left_out"] is None) == (runs > 0)
    assert (generated["moved_bytes"] is None) == (runs == 0)
