"""Groups of Kafka's own clients have, event after event, the assignment predicted from output of Kafka's tools."""

import httpx
import pytest

from tests.kafka.cluster import Cluster, wait_for
from tests.kafka.conftest import release
from tests.kafka.membership import KINDS, LiveGroup, LiveMember
from tests.kafka.vectors import number

pytestmark = [pytest.mark.slow, pytest.mark.kafka]


@pytest.mark.parametrize("assignor", list(KINDS))
def test_each_event_is_predicted(three: Cluster, client: httpx.Client, assignor: str) -> None:
    """The leader `m1` leaves last, when all subscriptions are equal.

    Until then `m4`, which subscribes to one topic, could lead after it. A new leader waits for one answer with metadata
    before it assigns, also if that was asked for before it knew of the other topic: then it assigns twice, and `sticky`
    starts the second time from an assignment without that topic.
    """
    if assignor == "simple" and number(release()) < (4, 2):
        pytest.skip("share groups are a preview before 4.2")
    first, second = f"{assignor}.a", f"{assignor}.b"
    three.create_topic(first, partitions=7, factor=2)
    three.create_topic(second, partitions=4, factor=1)
    group = LiveGroup(three, client, assignor, f"of-{assignor}")
    both = (first, second)
    group.begin(LiveMember("m1", both, "r1"))
    try:
        joins(group, LiveMember("m2", both, "r2"))
        joins(group, LiveMember("m3", both, "r3", instance="s3" if group.kind.client == "consumer" else None))
        joins(group, LiveMember("m4", (first,), "r1"))
        if group.kind.client == "consumer":
            restarts(group, "m3")
        grows(group, first, 9)
        leaves(group, "m2")
        joins(group, LiveMember("m5", both, "r2"))
        leaves(group, "m4")
        leaves(group, "m1")
    finally:
        group.close()


def joins(group: LiveGroup, member: LiveMember) -> None:
    """A member joins."""
    before, snapshot = list(group.members.values()), group.snapshot()
    group.join(member)
    event = {"join": member.as_request(group.ids()[member.name])}
    group.settles_as(group.predicted(snapshot, event, before), f"{member.name} joins")


def leaves(group: LiveGroup, name: str) -> None:
    """A member leaves."""
    before, snapshot, member_id = list(group.members.values()), group.snapshot(), group.ids()[name]
    group.leave(name)
    group.settles_as(group.predicted(snapshot, {"leave": member_id}, before), f"{name} leaves")


def restarts(group: LiveGroup, name: str) -> None:
    """A static member restarts under another id."""
    before, snapshot, member_id = list(group.members.values()), group.snapshot(), group.ids()[name]
    member = group.members[name]
    group.leave(name)
    group.join(member)
    event = {"replace": {"member_id": member_id, "by": member.as_request(group.ids()[name])}}
    group.settles_as(group.predicted(snapshot, event, before), f"{name} restarts")


def grows(group: LiveGroup, topic: str, partitions: int) -> None:
    """A topic gets partitions."""
    before, snapshot = list(group.members.values()), group.snapshot()
    had = len(group.kafka.replicas_of(topic))
    group.kafka.tool("kafka-topics", "--alter", "--topic", topic, "--partitions", str(partitions))
    lists: list[list[int]] = []

    def is_known() -> bool:  # of a broker, any of which may answer
        lists[:] = group.kafka.replicas_of(topic)
        return len(lists) == partitions

    wait_for(is_known, within_s=60, what=f"{partitions} partitions of {topic}")
    event = {"topic_grown": {"topic": topic, "partitions": partitions, "replicas": lists[had:]}}
    group.settles_as(group.predicted(snapshot, event, before), f"{topic} grows")
