"""The canonical document of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random

import numpy as np
import orjson
from hypothesis import given
from hypothesis import strategies as st

from app.core.kafka_versions import Controller
from app.core.model import (
    NO_LEADER,
    NO_LOG_DIR,
    NO_REPLICA,
    UNKNOWN_SIZE,
    Broker,
    BrokerCapacity,
    Cluster,
    Cordon,
    Int32s,
    LogDirectory,
    Topic,
    padded,
)
from app.core.recorded import RecordedGroup, RecordedMember, RecordedOffset, RecordedTasks, TopicPartitions
from app.formats.snapshots.snapshot_json import read, write
from tests.formats.strategies import assembled, broker_ids, replica_lists, sample, topic_ids, topic_names
from tests.profiles import costly

amounts = st.none() | st.integers(0, 2**53)
capacities = st.none() | st.builds(BrokerCapacity, amounts, amounts, amounts)
attributes = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)
weights = st.just(1.0) | st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False)
brokers = st.builds(
    Broker,
    broker_ids,
    st.none() | st.text(max_size=5),
    st.booleans(),
    capacities,
    attributes=attributes,
    weight=weights,
)

texts = st.text(max_size=5)
said = st.none() | texts
numbers = st.none() | st.integers(-(2**63), 2**63 - 1)
listed = st.none() | st.dictionaries(
    topic_names, st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3).map(tuple), max_size=3
).map(lambda found: tuple([TopicPartitions(*item) for item in found.items()]))
task_ids = st.lists(st.sampled_from(["0_0", "0_1", "1_0"]), max_size=2).map(tuple)
tasks = st.none() | st.builds(RecordedTasks, task_ids, task_ids, task_ids)
members = st.builds(
    RecordedMember,
    member_id=texts,
    client_id=said,
    host=said,
    group_instance_id=said,
    rack_id=said,
    topics=st.none() | st.lists(topic_names, max_size=3).map(tuple),
    owned=listed,
    generation_id=st.none() | st.integers(0, 2**31 - 1),
    user_data=st.none() | st.binary(max_size=5),
    assigned=listed,
    member_epoch=st.none() | st.integers(0, 2**31 - 1),
    target=listed,
    process_id=said,
    tasks=tasks,
    target_tasks=tasks,
)
offsets = st.builds(RecordedOffset, topic_names, st.integers(0, 2**31 - 1), numbers, numbers, numbers, said)
groups = st.builds(
    RecordedGroup,
    group_id=texts,
    state=said,
    assignor=said,
    members=st.lists(members, max_size=3).map(tuple),
    offsets=st.lists(offsets, max_size=4, unique_by=lambda one: (one.topic, one.partition)).map(
        lambda found: tuple(sorted(found, key=lambda one: (one.topic, one.partition)))
    ),
)


cordon = st.one_of(
    st.builds(Cordon, st.booleans(), st.lists(texts, min_size=1, max_size=2).map(tuple)), st.just(Cordon(True))
)


directories = st.lists(
    st.builds(LogDirectory, texts, amounts, amounts, st.booleans()), max_size=3, unique_by=lambda one: one.path
).map(lambda listed: tuple(sorted(listed, key=lambda one: one.path)))


def log_dirs(draw: st.DrawFn, replicas: Int32s, of_broker: Mapping[int, Sequence[LogDirectory]]) -> Int32s | None:
    """Directories of replicas, some unknown; None if all are."""
    found = np.full(replicas.shape, NO_LOG_DIR, np.int32)
    for place in np.argwhere(replicas != NO_REPLICA).tolist():
        listed = of_broker.get(int(replicas[tuple(place)]), ())
        found[tuple(place)] = draw(st.integers(NO_LOG_DIR, len(listed) - 1))
    return None if (found == NO_LOG_DIR).all() else found


@st.composite
def topics(draw: st.DrawFn, name: str, of_broker: Mapping[int, Sequence[LogDirectory]]) -> Topic:
    ids = sorted(draw(st.lists(st.integers(0, 5000), unique=True, max_size=5)))
    count = len(ids)
    some = st.lists(st.just(()) | replica_lists, min_size=count, max_size=count)
    on_listed = st.permutations(sorted(of_broker)).map(tuple) if of_broker else replica_lists
    replicas = padded(draw(st.lists(replica_lists | on_listed, min_size=count, max_size=count)))
    return Topic(
        name=name,
        partition_ids=np.array(ids, dtype=np.int32),
        replicas=replicas,
        leaders=np.array([draw(st.just(NO_LEADER) | broker_ids) for _ in ids], dtype=np.int32),
        isr=padded(draw(some)),
        adding=padded(draw(some)),
        removing=padded(draw(some)),
        size_bytes=np.array([draw(st.integers(UNKNOWN_SIZE, 2**63 - 1)) for _ in ids], dtype=np.int64),
        topic_id=draw(st.none() | topic_ids),
        configs=draw(st.dictionaries(texts, texts, max_size=2)),
        elr=draw(st.none() | some.map(padded)),
        observers=draw(st.none() | some.map(padded)),
        log_dirs=log_dirs(draw, replicas, of_broker),
        future_log_dirs=log_dirs(draw, replicas, of_broker),
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    listed = draw(st.lists(brokers, unique_by=lambda broker: broker.id, max_size=4))
    names = sorted(draw(st.lists(topic_names, unique=True, max_size=3)))
    ordered = tuple(sorted(listed, key=lambda broker: broker.id))
    recorded = sorted(draw(st.lists(groups, unique_by=lambda group: group.group_id, max_size=3)), key=_group_id)
    listed_dirs = {broker.id: draw(directories) for broker in ordered if draw(st.booleans())}
    found = tuple(draw(topics(name, listed_dirs)) for name in names)
    cordons = {broker.id: draw(cordon) for broker in ordered if draw(st.booleans())}
    version = draw(st.none() | st.just("4.1.0"))
    kinds: list[Controller | None] = [None, "kraft", "zookeeper"]
    controller = draw(st.sampled_from(kinds))
    named = draw(st.text(max_size=8))
    return Cluster(named, ordered, found, tuple(recorded), cordons, version, controller, listed_dirs)


def _group_id(group: RecordedGroup) -> str:
    return group.group_id


def _trimmed(rows: Int32s) -> list[list[int]]:
    return [[broker for broker in row if broker != NO_REPLICA] for row in rows.tolist()]


def _optional(rows: Int32s | None) -> list[list[int]] | None:
    lists = [] if rows is None else _trimmed(rows)
    return lists if any(lists) else None


def assert_same(found: Cluster, expected: Cluster) -> None:
    """Equal in everything but how wide the arrays are padded; no capacity and an empty one say the same."""
    assert (found.name, found.cordons) == (expected.name, expected.cordons)
    assert (found.kafka_version, found.reported_controller) == (expected.kafka_version, expected.reported_controller)
    for name in ("id", "rack", "fenced", "attributes", "weight"):
        assert [getattr(broker, name) for broker in found.brokers] == [
            getattr(broker, name) for broker in expected.brokers
        ]
    assert [broker.capacity or BrokerCapacity() for broker in found.brokers] == [
        broker.capacity or BrokerCapacity() for broker in expected.brokers
    ]
    assert [(topic.name, topic.topic_id, topic.configs) for topic in found.topics] == [
        (topic.name, topic.topic_id, topic.configs) for topic in expected.topics
    ]
    assert found.groups == expected.groups
    for topic, other in zip(found.topics, expected.topics, strict=True):
        for name in ("partition_ids", "leaders", "size_bytes"):
            assert getattr(topic, name).tolist() == getattr(other, name).tolist()
            assert getattr(topic, name).dtype == getattr(other, name).dtype
        for name in ("replicas", "isr", "adding", "removing"):
            assert _trimmed(getattr(topic, name)) == _trimmed(getattr(other, name))
            assert getattr(topic, name).dtype == np.int32
        assert _optional(topic.elr) == _optional(other.elr)
        assert _optional(topic.observers) == _optional(other.observers)
        for name in ("log_dirs", "future_log_dirs"):
            assert_same_log_dirs(getattr(topic, name), getattr(other, name), other.replicas)
    assert found.log_dirs == expected.log_dirs


def assert_same_log_dirs(found: Int32s | None, expected: Int32s | None, replicas: Int32s) -> None:
    if found is None or expected is None:
        assert (found is None) == (expected is None)
    else:
        assert found.dtype == expected.dtype == np.int32
        assert found[replicas != NO_REPLICA].tolist() == expected[replicas != NO_REPLICA].tolist()


@costly()
@given(clusters())
def test_what_is_written_reads_back(cluster: Cluster) -> None:
    assert_same(read(write(cluster)), cluster)


@costly()
@given(clusters())
def test_what_is_read_is_written_again_byte_for_byte(cluster: Cluster) -> None:
    assert write(read(write(cluster))) == write(cluster)


@costly()
@given(clusters(), st.integers(1, 3), st.randoms())
def test_order_and_padding_leave_no_trace(cluster: Cluster, extra: int, random: Random) -> None:
    """The same cluster listed in another order, its arrays padded wider, gives the same bytes, hence the same hash."""

    def wider(rows: Int32s) -> Int32s:
        return np.pad(rows, ((0, 0), (0, extra)), constant_values=NO_REPLICA)

    retold = []
    for topic in cluster.topics:
        order = list(range(len(topic.partition_ids)))
        random.shuffle(order)
        retold.append(
            Topic(
                name=topic.name,
                partition_ids=topic.partition_ids[order],
                replicas=wider(topic.replicas)[order],
                leaders=topic.leaders[order],
                isr=wider(topic.isr)[order],
                adding=wider(topic.adding)[order],
                removing=wider(topic.removing)[order],
                size_bytes=topic.size_bytes[order],
                topic_id=topic.topic_id,
                configs=dict(reversed([*topic.configs.items()])),
                log_dirs=None if topic.log_dirs is None else wider(topic.log_dirs)[order],
                future_log_dirs=None if topic.future_log_dirs is None else wider(topic.future_log_dirs)[order],
                elr=None if topic.elr is None else wider(topic.elr)[order],
                observers=None if topic.observers is None else wider(topic.observers)[order],
            )
        )
    groups = tuple([replace(group, offsets=group.offsets[::-1]) for group in cluster.groups[::-1]])
    other = replace(cluster, brokers=cluster.brokers[::-1], topics=tuple(retold[::-1]), groups=groups)
    assert write(other) == write(cluster)


def test_a_worked_document_leaves_out_what_says_nothing() -> None:
    topic = Topic(
        name="t",
        partition_ids=np.array([0, 1], dtype=np.int32),
        replicas=padded([[3, 1, 2], [2, 1]]),
        leaders=np.array([1, NO_LEADER], dtype=np.int32),
        isr=padded([[1, 2], []]),
        adding=padded([[3], []]),
        removing=padded([[], []]),
        size_bytes=np.array([5, UNKNOWN_SIZE], dtype=np.int64),
    )
    capacity = BrokerCapacity(disk_bytes=9)
    cluster = Cluster(
        "c", (Broker(2, "b", fenced=True, capacity=capacity), Broker(1, None, capacity=BrokerCapacity())), (topic,)
    )
    assert orjson.loads(write(cluster)) == {
        "cluster": "c",
        "brokers": [{"id": 1}, {"id": 2, "rack": "b", "fenced": True, "capacity": {"disk_bytes": 9}}],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [3, 1, 2],
                        "isr": [1, 2],
                        "leader": 1,
                        "size_bytes": 5,
                        "adding_replicas": [3],
                    },
                    {"partition": 1, "replicas": [2, 1], "isr": []},
                ],
            }
        ],
    }


def test_the_real_cluster_survives() -> None:
    cluster = assembled(
        "prod",
        brokers=sample("kafka-broker-api-versions.txt"),
        topics=sample("kafka-topics-describe-reassigning.txt"),
        log_dirs=sample("kafka-log-dirs-describe.txt"),
    ).cluster
    assert_same(read(write(cluster)), cluster)


def test_attributes_and_weights_are_new_and_leave_the_hash_of_what_has_none() -> None:
    """The bytes of a snapshot from before there were any."""
    plain = Cluster("c", (Broker(1, "a"), Broker(2)))
    assert write(plain) == b'{"brokers":[{"id":1,"rack":"a"},{"id":2}],"cluster":"c","topics":[]}'
    described = Cluster("c", (Broker(1, attributes={"zone": "z", "power": "p"}, weight=2.0),))
    assert write(described) == (
        b'{"brokers":[{"attributes":{"power":"p","zone":"z"},"id":1,"weight":2.0}],"cluster":"c","topics":[]}'
    )
    assert_same(read(write(described)), described)


def test_groups_and_topic_ids_are_new_and_leave_the_hash_of_what_has_none() -> None:
    """The hash was taken before a cluster could hold either; stored snapshots keep theirs."""
    cluster = assembled(
        "prod-eu",
        brokers=sample("kafka-broker-api-versions.txt"),
        topics=sample("kafka-topics-describe.txt"),
        log_dirs=sample("kafka-log-dirs-describe.txt"),
    ).cluster
    topics = tuple([replace(topic, topic_id=None) for topic in cluster.topics])
    without = replace(cluster, topics=topics, reported_controller=None)
    before = "54cc0621a842a2fb7728acf6f5076f48a739ea541914bc5c800737ff94fc4eac"
    assert sha256(write(without)).hexdigest() == before
    assert sha256(write(cluster)).hexdigest() != before
    assert sha256(write(replace(without, groups=(RecordedGroup("g"),)))).hexdigest() != before


def test_a_worked_group_leaves_out_what_the_record_does_not_say() -> None:
    """Topics of owned partitions stay in their order, which decides the partitions that an assignor revokes first."""
    owned = (TopicPartitions("b", (1, 0)), TopicPartitions("a", ()))
    described = RecordedMember("m-1", rack_id="r", topics=("b", "a"), owned=owned, generation_id=4, user_data=b"\0\1")
    group = RecordedGroup(
        "g",
        "Stable",
        "range",
        (described, RecordedMember("m-0", assigned=())),
        (RecordedOffset("b", 1, 7, 9, 2, "m-1"),),
    )
    document = write(Cluster("c", (), (), (group,)))
    assert b'"owned_partitions":{"b":[1,0],"a":[]}' in document
    assert orjson.loads(document)["groups"] == [
        {
            "group_id": "g",
            "state": "Stable",
            "assignor": "range",
            "members": [
                {
                    "member_id": "m-1",
                    "rack_id": "r",
                    "topics": ["b", "a"],
                    "owned_partitions": {"b": [1, 0], "a": []},
                    "generation_id": 4,
                    "user_data": "AAE=",
                },
                {"member_id": "m-0", "assigned_partitions": {}},
            ],
            "offsets": [
                {
                    "topic": "b",
                    "partition": 1,
                    "current_offset": 7,
                    "log_end_offset": 9,
                    "lag": 2,
                    "member_id": "m-1",
                }
            ],
        }
    ]
