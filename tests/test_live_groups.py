"""`rackplan snapshot` reads the groups of every type, from brokers that speak Kafka's protocol on loopback."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.models.clusters import SnapshotRequest
from app.core.model import Broker, Cluster, Topic, padded
from app.core.recorded import GroupType, RecordedGroup, RecordedMember, RecordedTasks, TopicPartitions
from app.formats.clusters.log_dirs import BrokerLogDirs, LogDirs
from app.formats.snapshots import snapshot_json
from tests.kafka_on_a_wire import (
    CLASSIC_GROUPS,
    CONSUMER_GROUPS,
    KAFKA_2_3,
    KAFKA_4_0,
    KAFKA_4_4,
    LIST_GROUPS,
    SHARE_GROUPS,
    STREAMS_GROUPS,
    LiveCluster,
)
from tests.profiles import costly

pytest.importorskip("kafka", reason="the extra `kafka` is not installed")

from app.cli import live

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")]

GROUP_AUTHORIZATION_FAILED, GROUP_ID_NOT_FOUND = 30, 69
CLASSIC = RecordedGroup(
    "billing",
    "Stable",
    "range",
    (
        RecordedMember(
            "b-1", "b", "/10.0.0.1", "static-1", "a", ("clicks", "orders"), (TopicPartitions("orders", (0,)),), 4,
            b"\x00\xff", (TopicPartitions("clicks", (0,)), TopicPartitions("orders", (0, 1))),
        ),
        RecordedMember("b-2", "b", "/10.0.0.2", topics=("orders",), owned=(), assigned=()),
        RecordedMember("joins", "b", "/10.0.0.3"),
    ),
)  # fmt: skip
CONSUMER = RecordedGroup(
    "payments",
    "Reconciling",
    "uniform",
    (
        RecordedMember(
            "p-1", "p", "/10.0.0.1", None, "a", ("clicks", "orders"), assigned=(TopicPartitions("clicks", (0,)),),
            member_epoch=7, target=(TopicPartitions("clicks", (0,)), TopicPartitions("orders", (0, 1))),
        ),
        RecordedMember(
            "p-2", "p", "/10.0.0.2", "static", topics=("orders",), assigned=(), member_epoch=-2, target=(),
        ),
    ),
    type="consumer",
    group_epoch=8,
    assignment_epoch=8,
)  # fmt: skip
SHARED = RecordedGroup(
    "shared",
    "Stable",
    "simple",
    (
        RecordedMember(
            "s-1", "s", "/10.0.0.1", None, "b", ("orders",), assigned=(TopicPartitions("orders", (0, 1)),),
            member_epoch=3,
        ),
    ),
    type="share",
    group_epoch=3,
    assignment_epoch=3,
)  # fmt: skip
STREAMS = RecordedGroup(
    "word-count",
    "Stable",
    "sticky",
    (
        RecordedMember(
            "w-1", "w", "/10.0.0.1", "static-w", "a", member_epoch=5, process_id="7d2c",
            tasks=RecordedTasks(("0_0", "1_0"), ("0_1",), ()), target_tasks=RecordedTasks(("0_0",), (), ("1_1",)),
        ),
    ),
    type="streams",
    group_epoch=5,
    assignment_epoch=5,
    topology_epoch=2,
)  # fmt: skip
ALL = (CLASSIC, CONSUMER, SHARED, STREAMS)


def topic(name: str, partitions: int) -> Topic:
    rows = [[1, 2]] * partitions
    none = padded([[]] * partitions)
    ids = np.arange(partitions, dtype=np.int32)
    return Topic(
        name, ids, padded(rows), np.ones(partitions, np.int32), padded(rows), none, none, np.full(partitions, -1)
    )


def running(*groups: RecordedGroup) -> LiveCluster:
    """Three brokers, two topics, and these groups."""
    by_id = tuple(sorted(groups, key=lambda group: group.group_id))
    topics = (topic("clicks", 1), topic("orders", 2))
    cluster = Cluster("groups", tuple(map(Broker, (1, 2, 3))), topics, by_id, reported_controller="kraft")
    return LiveCluster(cluster, LogDirs(tuple(BrokerLogDirs(broker, ()) for broker in (1, 2))), KAFKA_4_4)


def taken(cluster: LiveCluster) -> tuple[tuple[RecordedGroup, ...], list[str]]:
    """The groups of a snapshot, and the warnings about them. The service takes the document as it is."""
    with cluster.listening() as bootstrap:
        found = live.take(bootstrap, name="groups", properties={}, timeout_s=20)
    assert {one.group_id for one in found.cluster.groups} <= {one.group_id for one in cluster.cluster.groups}
    document = snapshot_json.write(found.cluster)
    assert snapshot_json.write(SnapshotRequest.model_validate_json(document).core()) == document
    return found.cluster.groups, [caution for caution in found.cautions if "group" in caution]


def test_groups_of_every_type_are_read() -> None:
    """By the message of their type, with the coordinator's facts about each member."""
    cluster = running(*ALL)
    assert taken(cluster) == (ALL, [])
    asked = {CLASSIC_GROUPS, LIST_GROUPS, CONSUMER_GROUPS, SHARE_GROUPS, STREAMS_GROUPS}
    assert asked <= {api for api, _ in cluster.requests}


names = st.text("abcö .-_", min_size=1, max_size=12)
listed = st.lists(st.integers(0, 2**31 - 1), unique=True, min_size=1, max_size=4).map(sorted).map(tuple)
by_topic = st.dictionaries(st.sampled_from(["clicks", "orders"]), listed).map(
    lambda of: tuple(TopicPartitions(name, of[name]) for name in sorted(of))
)
epochs = st.integers(-2, 2**31 - 1)
tasks = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)).map(lambda task: f"{task[0]}_{task[1]}")).map(tuple)


@st.composite
def drawn_groups(draw: st.DrawFn) -> RecordedGroup:
    """A group of one of the new types, whatever its members have."""
    group_type: GroupType = draw(st.sampled_from(["consumer", "share", "streams"]))

    def member(member_id: str) -> RecordedMember:
        rack = draw(st.none() | names)
        common = RecordedMember(member_id, draw(names), draw(names), None, rack, member_epoch=draw(epochs))
        if group_type == "streams":
            of = [RecordedTasks(draw(tasks), draw(tasks), draw(tasks)) for _ in range(2)]
            return common._replace(process_id=draw(names), tasks=of[0], target_tasks=of[1])
        topics = tuple(sorted(draw(st.sets(st.sampled_from(["clicks", "orders"])))))
        with_topics = common._replace(topics=topics, assigned=draw(by_topic))
        if group_type == "share":
            return with_topics
        return with_topics._replace(group_instance_id=draw(st.none() | names), target=draw(by_topic))

    ids = draw(st.lists(names, unique=True, max_size=4))
    group_epoch, assignment_epoch, topology_epoch = (draw(st.integers(0, 2**31 - 1)) for _ in range(3))
    return RecordedGroup(
        draw(names),
        draw(st.sampled_from(["Stable", "Empty", "Assigning"])),
        draw(st.sampled_from(["uniform", "range"])),
        tuple(map(member, ids)),
        type=group_type,
        group_epoch=group_epoch,
        assignment_epoch=assignment_epoch,
        topology_epoch=topology_epoch if group_type == "streams" else None,
    )


@given(st.lists(drawn_groups(), max_size=4, unique_by=lambda group: group.group_id))
@costly(20)
def test_what_is_read_is_what_coordinators_tell(groups: list[RecordedGroup]) -> None:
    cluster = running(*groups)
    assert taken(cluster) == (cluster.cluster.groups, [])


def test_a_subscription_by_regular_expression_has_the_topics_that_it_matches() -> None:
    (member, _) = CONSUMER.members
    by_pattern = replace(CONSUMER, members=(member._replace(topics=("cl.*",)),))
    named_too = replace(CONSUMER, group_id="q", members=(member._replace(topics=("orders", "cli.*")),))
    wrong = replace(CONSUMER, group_id="wrong", members=(member._replace(topics=("(?<*",)),))
    groups, cautions = taken(running(by_pattern, named_too, wrong))
    assert [group.members[0].topics for group in groups] == [("clicks",), ("clicks", "orders")]
    assert len(cautions) == 1
    assert cautions[0].startswith("group wrong is left out: the regular expression (?<* is not read: ")


@pytest.mark.parametrize(
    ("versions", "left_out"),
    [
        (KAFKA_4_0, {"share": ("shared", "Share"), "streams": ("word-count", "Streams")}),
        (KAFKA_2_3, {}),
    ],
    ids=["4.0", "2.3"],
)
def test_groups_that_a_release_does_not_describe_are_named(
    versions: Mapping[int, tuple[int, int]], left_out: Mapping[str, tuple[str, str]]
) -> None:
    cluster = running(*(ALL if left_out else [CLASSIC]))
    cluster.versions = versions
    groups, cautions = taken(cluster)
    if left_out:
        assert groups == (CLASSIC, CONSUMER)
    else:  # Kafka 2.3 tells no id of static members
        (static, *others) = CLASSIC.members
        assert groups == (replace(CLASSIC, members=(static._replace(group_instance_id=None), *others)),)
    assert len(cautions) == len(left_out)
    for group_type, (group_id, message) in left_out.items():
        assert any(
            caution.startswith(f"groups of the type {group_type} are left out, {group_id}: ") and message in caution
            for caution in cautions
        ), cautions


def test_one_group_that_cannot_be_read_costs_no_other() -> None:
    """Denied, with bytes that are no subscription, with a control character; one that was just deleted is not named."""
    odd = CONSUMER.members[0]._replace(client_id="a\nb")
    others = [
        replace(CLASSIC, group_id="denied"),
        replace(CLASSIC, group_id="garbage"),
        replace(CONSUMER, group_id="gone"),
        replace(CONSUMER, group_id="odd", members=(odd,)),
    ]
    cluster = running(*ALL, *others)
    cluster.fails = {"denied": GROUP_AUTHORIZATION_FAILED, "gone": GROUP_ID_NOT_FOUND}
    cluster.member_bytes = {"garbage": b"\x00\x03\x00"}
    cluster.others = {"connect-cluster": "connect", "schema-registry": "sr"}
    groups, cautions = taken(cluster)
    assert groups == ALL
    by_group = {caution.split()[1]: caution for caution in cautions}
    assert set(by_group) == {"denied", "garbage", "odd"}
    assert by_group["denied"] == "group denied is left out: GroupAuthorizationFailedError no"
    assert "expected the count (int32) of topics" in by_group["garbage"]
    assert "control character" in by_group["odd"]


def test_coordinators_that_list_no_groups_are_named() -> None:
    cluster = running(*ALL)
    cluster.refuses = frozenset({LIST_GROUPS})
    groups, cautions = taken(cluster)
    assert groups == ()
    (caution,) = cautions
    assert caution.startswith("groups are without those of coordinators that did not list them: 1 (")
