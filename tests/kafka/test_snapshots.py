"""`rackplan snapshot` reads the same from a running cluster as Kafka's own tools."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tests.kafka.cluster import Cluster, wait_for
from tests.kafka.conftest import release
from tests.kafka.membership import KINDS, SETTLES_WITHIN_S, LiveGroup, LiveMember
from tests.kafka.test_streams import TASKS, Application
from tests.kafka.vectors import number

pytest.importorskip("kafka", reason="the extra `kafka` is not installed")

from app.cli import live
from app.formats.snapshots import snapshot_json

pytestmark = [pytest.mark.slow, pytest.mark.kafka]


@pytest.fixture
def reassigning(topics: Cluster, tmp_path: Path) -> Iterator[Cluster]:
    """The cluster while a replica of a partition is copied, slowly."""
    topics.fill("orders", records=12_000)  # Kafka copies the first MiB before it throttles
    before = topics.replicas()["orders-0"]
    other = next(number for number in topics.brokers if number not in before)
    file = tmp_path / "one.json"
    one = {"topic": "orders", "partition": 0, "replicas": [*before[:2], other]}
    file.write_text(json.dumps({"version": 1, "partitions": [one]}))
    options = ("--reassignment-json-file", str(file))
    topics.tool("kafka-reassign-partitions", *options, "--execute", "--throttle", "1000")
    yield topics
    topics.tool("kafka-reassign-partitions", *options, "--execute", "--additional", "--throttle", "100000000")
    wait_for(
        lambda: "in progress" not in topics.tool("kafka-reassign-partitions", *options, "--verify"),
        within_s=60, what="the end of the reassignment",
    )  # fmt: skip


def pasted(client: httpx.Client, kafka: Cluster) -> Any:
    """The document of the tools' output."""
    files = {
        "brokers": kafka.tool("kafka-broker-api-versions"),
        "topics": kafka.tool("kafka-topics", "--describe"),
        "log_dirs": kafka.tool("kafka-log-dirs", "--describe"),
        "features": kafka.tool("kafka-features", "describe"),
    }
    form = {"cluster": (None, "live"), **{name: (name, text) for name, text in files.items()}}
    response = client.post("/v1/snapshots", files=form)
    assert response.status_code == 201, response.text
    return client.get(f"/v1/snapshots/{response.json()['id']}").raise_for_status().json()["document"]


def read(kafka: Cluster) -> Any:
    """The document of the admin client's answers."""
    taken = live.take(kafka.bootstrap, name="live", properties={}, timeout_s=60)
    assert all("no patch release" in caution for caution in taken.cautions), taken.cautions
    return orjson.loads(snapshot_json.write(taken.cluster))


def settled(document: Any) -> Any:
    """The document without the space on disks: the tool does not print all of it, and free space changes."""
    for broker in document["brokers"]:
        for log_dir in broker["log_dirs"]:
            log_dir["usable_bytes"] = log_dir["total_bytes"] = None
    for topic in document["topics"]:
        topic.pop("configs", None)  # a running cluster also states its defaults, and the tool does not
    return document


def test_a_cluster_at_rest(topics: Cluster, client: httpx.Client) -> None:
    assert settled(read(topics)) == settled(pasted(client, topics))


def test_a_reassignment_in_progress(reassigning: Cluster, client: httpx.Client) -> None:
    document = pasted(client, reassigning)
    (orders,) = (topic for topic in document["topics"] if topic["name"] == "orders")
    assert orders["partitions"][0]["adding_replicas"]
    assert settled(read(reassigning)) == settled(document)


def test_min_insync_replicas_are_read(topics: Cluster) -> None:
    (orders,) = (topic for topic in read(topics)["topics"] if topic["name"] == "orders")
    assert orders["configs"]["min.insync.replicas"] == "2"


def group_of(document: Any, name: str) -> Any:
    """A group of a document, its members by id. Classic assignors need not list partitions in order, as tools do."""
    (group,) = (group for group in document["groups"] if group["group_id"] == name)
    for member in group["members"]:
        assigned = member.get("assigned_partitions", {})
        assigned |= {topic: sorted(numbers) for topic, numbers in assigned.items()}
    return group | {"members": {member["member_id"]: member for member in group["members"]}}


@pytest.mark.parametrize("assignor", list(KINDS))
def test_a_group(three: Cluster, client: httpx.Client, assignor: str) -> None:
    """Whatever tools print is read alike; subscriptions and racks, which they do not print, are the members' own."""
    if assignor == "simple" and number(release()) < (4, 2):
        pytest.skip("share groups are a preview before 4.2")
    topic = f"read.{assignor}"
    three.create_topic(topic, partitions=4, factor=1)
    group = LiveGroup(three, client, assignor, f"reads-{assignor}")
    group.begin(LiveMember("m1", (topic,), "r1"))
    try:
        group.join(LiveMember("m2", (topic,), "r2"))
        wait_for(
            lambda: [len(numbers[topic]) for numbers in group.assignment().values() if topic in numbers] == [2, 2],
            within_s=SETTLES_WITHIN_S, what="an assignment to both",
        )  # fmt: skip
        stored = client.get(f"/v1/snapshots/{group.snapshot()}").raise_for_status().json()
        printed = group_of(stored["document"], group.name)
        found = group_of(read(three), group.name)
        members = found["members"]
        assert found | {**printed, "members": members} == found
        assert {name: member | printed["members"][name] for name, member in members.items()} == members
        # Kafka's consumer does not send `client.rack` to the coordinator's assignors before 4.1 (KAFKA-17747).
        has_rack = found.get("type") != "consumer" or number(release()) >= (4, 1)
        assert {member["client_id"]: (member.get("rack_id"), member["topics"]) for member in members.values()} == {
            member.name: (member.rack if has_rack else None, [topic]) for member in group.members.values()
        }
        if "type" in found:
            assert found["assignment_epoch"] == found["group_epoch"] > 0
    finally:
        group.close()
        three.tool("kafka-topics", "--delete", "--topic", topic)


@pytest.mark.skipif(number(release()) < (4, 2), reason="streams groups are a preview before 4.2")
def test_a_streams_group(three: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Processes and tasks are those that instances report themselves."""
    application = Application(three, client, "streams", tmp_path)
    three.create_topic("events", partitions=len(TASKS), factor=1)
    try:
        for name, rack in (("i1", "r1"), ("i2", "r2")):
            application.join(name, rack)
        wait_for(
            lambda: application.has_joined() and all(each["active"] for each in application.tasks().values()),
            within_s=SETTLES_WITHIN_S, what="tasks of both instances",
        )  # fmt: skip
        group = group_of(read(three), application.name)
        tasks = application.tasks()
        assert group["type"] == "streams"
        assert {member["process_id"]: sorted(member["tasks"]["active"]) for member in group["members"].values()} == {
            process: each["active"] for process, each in tasks.items()
        }
    finally:
        for name in list(application.racks):
            application.leave(name)
        three.tool("kafka-topics", "--delete", "--topic", "events")
