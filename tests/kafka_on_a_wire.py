"""Brokers that speak Kafka's wire protocol on loopback, one listener each, and answer from a capture.

Nothing here is a Kafka broker: it answers the requests by which a client reads a cluster, from a `Cluster` and its
log directories, and closes the connection on any other. The bytes are written as Kafka's protocol guide says, field
by field; no client library is used for them.

Source: kafka.apache.org/protocol, messages ApiVersions, Metadata, DescribeCluster, ListPartitionReassignments,
DescribeConfigs, DescribeLogDirs, SaslHandshake, SaslAuthenticate, ListGroups, DescribeGroups, ConsumerGroupDescribe,
ShareGroupDescribe, StreamsGroupDescribe; KIP-482 for the flexible versions, KIP-511 for a version of ApiVersions that
the broker does not know.
"""

import socket
import socketserver
import struct
from base64 import urlsafe_b64decode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from threading import Thread
from types import MappingProxyType
from typing import TypeVar
from zlib import crc32

import numpy as np

from app.core.groups.model import Owned
from app.core.model import NO_LEADER, Broker, Cluster, Topic, unpadded
from app.core.recorded import RecordedGroup, RecordedMember, TopicPartitions
from app.formats.clusters.log_dirs import LogDir, LogDirs
from app.formats.groups.consumer_protocol import Assignment, Subscription
from tests.formats.writers.consumer_protocol import write_assignment, write_subscription

T = TypeVar("T")

METADATA, SASL_HANDSHAKE, API_VERSIONS, CONFIGS, LOG_DIRS, SASL_AUTHENTICATE, REASSIGNMENTS, DESCRIBE_CLUSTER = (
    3, 17, 18, 32, 35, 36, 46, 60,
)  # fmt: skip
CLASSIC_GROUPS, LIST_GROUPS, CONSUMER_GROUPS, SHARE_GROUPS, STREAMS_GROUPS = 15, 16, 69, 77, 89
DESCRIBES = {None: CLASSIC_GROUPS, "consumer": CONSUMER_GROUPS, "share": SHARE_GROUPS, "streams": STREAMS_GROUPS}
READING = frozenset(
    {METADATA, SASL_HANDSHAKE, API_VERSIONS, CONFIGS, LOG_DIRS, SASL_AUTHENTICATE, REASSIGNMENTS, DESCRIBE_CLUSTER}
    | {LIST_GROUPS, *DESCRIBES.values()}
)
FLEXIBLE_FROM = {
    METADATA: 9, API_VERSIONS: 3, CONFIGS: 4, LOG_DIRS: 2, SASL_AUTHENTICATE: 2, REASSIGNMENTS: 0, DESCRIBE_CLUSTER: 0,
    LIST_GROUPS: 3, CLASSIC_GROUPS: 5, CONSUMER_GROUPS: 0, SHARE_GROUPS: 0, STREAMS_GROUPS: 0,
}  # fmt: skip

Versions = Mapping[int, tuple[int, int]]
KAFKA_4_0: Versions = MappingProxyType(
    {
        METADATA: (0, 13), SASL_HANDSHAKE: (0, 1), API_VERSIONS: (0, 4), LOG_DIRS: (1, 4), SASL_AUTHENTICATE: (0, 2),
        REASSIGNMENTS: (0, 0), DESCRIBE_CLUSTER: (0, 2), CONFIGS: (1, 4), CLASSIC_GROUPS: (0, 6), LIST_GROUPS: (0, 5),
        CONSUMER_GROUPS: (0, 1),
    }
)  # fmt: skip
"""Versions of these messages in a broker of Kafka 4.0, first and last version."""
KAFKA_4_4: Versions = MappingProxyType({**KAFKA_4_0, SHARE_GROUPS: (1, 1), STREAMS_GROUPS: (0, 1)})
"""As above, of Kafka 4.4."""
KAFKA_2_3: Versions = MappingProxyType(
    {
        METADATA: (0, 8), SASL_HANDSHAKE: (0, 1), API_VERSIONS: (0, 2), LOG_DIRS: (0, 1), SASL_AUTHENTICATE: (0, 1),
        CONFIGS: (0, 2), CLASSIC_GROUPS: (0, 3), LIST_GROUPS: (0, 2),
    }
)  # fmt: skip
"""As above, of Kafka 2.3: no flexible version, no DescribeCluster, no ListPartitionReassignments."""

UNSUPPORTED_VERSION, LEADER_NOT_AVAILABLE, SASL_AUTHENTICATION_FAILED, CLUSTER_AUTHORIZATION_FAILED = 35, 5, 58, 31
TOPIC_AUTHORIZATION_FAILED = 29
NO_OPERATIONS = -(2**31)
_LARGEST_REQUEST_BYTES = 100 * 2**20  # Kafka's socket.request.max.bytes; a larger one is no request of Kafka's
CLUSTER_ID = "rEkO8ZGqSnm5vFcaSeHw0A"
TOTAL_BYTES, USABLE_BYTES = 2**40, 2**39


class Written:
    """A message being written; `flexible` versions have compact lengths and tagged fields."""

    def __init__(self, *, flexible: bool) -> None:
        self.data = bytearray()
        self.flexible = flexible

    def numbers(self, layout: str, *values: int) -> "Written":
        """Big-endian integers: `b` int8 or boolean, `h` int16, `i` int32, `q` int64."""
        self.data += struct.pack(f">{layout}", *values)
        return self

    def length(self, count: int | None, layout: str) -> None:
        """Of a string, of bytes (`h`, `i`) or of an array (`i`); None for null."""
        if self.flexible:
            self.data += _varint(0 if count is None else count + 1)
        else:
            self.numbers(layout, -1 if count is None else count)

    def string(self, text: str | None) -> "Written":
        """A string, or null."""
        self.length(None if text is None else len(text.encode()), "h")
        self.data += (text or "").encode()
        return self

    def array(self, items: Sequence[T], write: Callable[[T], object]) -> "Written":
        """An array of anything."""
        self.length(len(items), "i")
        for item in items:
            write(item)
        return self

    def int32s(self, values: Sequence[int]) -> "Written":
        """An array of int32."""
        return self.array(values, lambda value: self.numbers("i", value))

    def tags(self, fields: Mapping[int, bytes] = MappingProxyType({})) -> "Written":
        """Tagged fields, where there could be some."""
        if self.flexible:
            self.data += _varint(len(fields))
            for tag, content in fields.items():
                self.data += _varint(tag) + _varint(len(content)) + content
        return self


class Read:
    """A request being read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.api, self.version, self.correlation_id = self.numbers("hhi")
        self.flexible = False
        self.string()  # the client's id is never compact
        self.flexible = self.version >= FLEXIBLE_FROM.get(self.api, 2**15)
        self.tags()

    def numbers(self, layout: str) -> tuple[int, ...]:
        """As `Written.numbers`."""
        values: tuple[int, ...] = struct.unpack_from(f">{layout}", self.data, self.at)
        self.at += struct.calcsize(f">{layout}")
        return values

    def length(self, layout: str) -> int | None:
        """As `Written.length`."""
        if not self.flexible:
            (count,) = self.numbers(layout)
            return None if count < 0 else count
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - 1 if value else None

    def octets(self, layout: str) -> bytes | None:
        """Bytes of a string or of a byte array."""
        count = self.length(layout)
        if count is None:
            return None
        self.at += count
        return self.data[self.at - count : self.at]

    def string(self) -> str | None:
        """As `Written.string`."""
        found = self.octets("h")
        return None if found is None else found.decode()

    def array(self, read: Callable[[], T]) -> list[T] | None:
        """As `Written.array`; None for null."""
        count = self.length("i")
        return None if count is None else [read() for _ in range(count)]

    def tags(self) -> None:
        """Require that there are no tagged fields."""
        if self.flexible:
            assert self.data[self.at] == 0
            self.at += 1


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


@dataclass
class LiveCluster:
    """Answers of the brokers.

    Parameters
    ----------
    refuses : messages that the principal may not send: answered with CLUSTER_AUTHORIZATION_FAILED.
    others : groups of no consumers, by id their protocol. fails : group ids by the error of their description.
    member_bytes : bytes in place of the subscriptions of the members of a classic group, by group id.
    becomes : the cluster as soon as it has once listed the reassignments in progress.
    stalls_at : a message that is never answered.
    password : of the user `rackplan`; None where a listener is PLAINTEXT.
    features : by name the lowest and highest level that brokers support, and the finalized one.
    requests : every request that came, as message and version.
    """

    cluster: Cluster
    log_dirs: LogDirs
    versions: Versions = field(default_factory=lambda: KAFKA_4_0)
    refuses: frozenset[int] = frozenset()
    becomes: Cluster | None = None
    stalls_at: int | None = None
    password: str | None = None
    ports: dict[int, int] = field(default_factory=dict)
    features: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    fails: Mapping[str, int] = field(default_factory=dict)
    member_bytes: Mapping[str, bytes] = field(default_factory=dict)
    requests: list[tuple[int, int]] = field(default_factory=list)

    @property
    def alive(self) -> tuple[Broker, ...]:
        """The brokers that are not fenced, as Metadata names them."""
        return tuple([broker for broker in self.cluster.brokers if not broker.fenced])

    @contextmanager
    def listening(self, *, but: Collection[int] = ()) -> Iterator[str]:
        """Serve on loopback, one port a broker; the brokers of `but` are advertised and refuse connections."""
        with ExitStack() as started:
            for broker in self.alive:
                port = closed_port() if broker.id in but else _listener(self, broker.id)
                self.ports[broker.id] = started.enter_context(port)
            yield ",".join(f"127.0.0.1:{self.ports[broker.id]}" for broker in self.alive)

    def answer(self, request: Read, broker: int) -> Written:
        """The answer of `broker`."""
        body = Written(flexible=request.flexible)
        write = {
            API_VERSIONS: self._api_versions,
            METADATA: self._metadata,
            DESCRIBE_CLUSTER: self._describe_cluster,
            REASSIGNMENTS: self._reassignments,
            CONFIGS: self._configs,
            LOG_DIRS: self._log_dirs,
            SASL_HANDSHAKE: self._sasl_handshake,
            SASL_AUTHENTICATE: self._sasl_authenticate,
            LIST_GROUPS: self._list_groups,
            **dict.fromkeys(DESCRIBES.values(), self._describe_groups),
        }[request.api]
        write(request, body, broker)
        return body.tags(self._features() if request.api == API_VERSIONS and self.features else {})

    def _features(self) -> dict[int, bytes]:
        """The tagged fields of ApiVersions: supported features, the epoch of finalized ones, and these."""
        supported, finalized = Written(flexible=True), Written(flexible=True)
        levels = list(self.features.items())
        supported.array(levels, lambda f: supported.string(f[0]).numbers("hh", *f[1][:2]).tags())
        # The highest of the finalized levels is written before the lowest.
        finalized.array(levels, lambda f: finalized.string(f[0]).numbers("hh", f[1][2], f[1][2]).tags())
        return {0: bytes(supported.data), 1: (5).to_bytes(8), 2: bytes(finalized.data)}

    def _api_versions(self, request: Read, body: Written, _: int) -> None:
        known = request.version <= self.versions[API_VERSIONS][1]
        if not known:
            body.flexible = False
        body.numbers("h", 0 if known else UNSUPPORTED_VERSION)
        offered = [(api, *span) for api, span in self.versions.items()]
        body.array(offered, lambda span: body.numbers("hhh", *span).tags())
        if known and request.version >= 1:
            body.numbers("i", 0)

    def _metadata(self, request: Read, body: Written, _: int) -> None:
        requested = request.array(lambda: _requested_topic(request))
        assert requested is None or requested == [], "a client that reads a cluster names no topic that it could make"
        topics = self.cluster.topics if requested is None else ()
        version = request.version
        body.numbers("i", 0)
        body.array(self.alive, lambda broker: self._broker(body, broker).tags())
        body.string(CLUSTER_ID).numbers("i", self.alive[0].id)
        body.array(topics, lambda topic: self._topic(body, topic, version))
        if 8 <= version <= 10:
            body.numbers("i", NO_OPERATIONS)
        if version >= 13:
            body.numbers("h", 0)

    def _broker(self, body: Written, broker: Broker) -> Written:
        body.numbers("i", broker.id).string("127.0.0.1")
        return body.numbers("i", self.ports.get(broker.id, 1)).string(broker.rack)

    def _topic(self, body: Written, topic: Topic, version: int) -> None:
        body.numbers("h", 0).string(topic.name)
        if version >= 10:
            body.data += b"\0" * 16 if topic.topic_id is None else urlsafe_b64decode(topic.topic_id + "==")
        body.numbers("b", topic.name.startswith("__"))
        partitions = list(
            zip(
                topic.partition_ids.tolist(),
                topic.leaders.tolist(),
                unpadded(topic.replicas),
                unpadded(topic.isr),
                strict=True,
            )
        )
        # Kafka names no order, and clients have to cope with any.
        body.array(partitions[::-1], lambda partition: self._partition(body, *partition))
        if version >= 8:
            body.numbers("i", NO_OPERATIONS)
        body.tags()

    def _partition(self, body: Written, partition: int, leader: int, replicas: list[int], isr: list[int]) -> None:
        error = LEADER_NOT_AVAILABLE if leader == NO_LEADER else 0
        alive = {broker.id for broker in self.alive}
        body.numbers("hiii", error, partition, leader, 7)
        body.int32s(replicas).int32s(isr).int32s([broker for broker in replicas if broker not in alive]).tags()

    def _describe_cluster(self, request: Read, body: Written, _: int) -> None:
        body.numbers("ih", 0, 0).string(None)
        if request.version >= 1:
            body.numbers("b", 1)
        body.string(CLUSTER_ID).numbers("i", self.alive[0].id)
        brokers = self.cluster.brokers if request.version >= 2 else self.alive

        def write(broker: Broker) -> None:
            self._broker(body, broker)
            if request.version >= 2:
                body.numbers("b", broker.fenced)
            body.tags()

        body.array(brokers, write).numbers("i", NO_OPERATIONS)

    def _reassignments(self, _: Read, body: Written, __: int) -> None:
        denied = REASSIGNMENTS in self.refuses
        body.numbers("ih", 0, CLUSTER_AUTHORIZATION_FAILED if denied else 0).string("no" if denied else None)
        moving = [] if denied else [topic for topic in self.cluster.topics if topic.adding.size or topic.removing.size]

        def write_topic(topic: Topic) -> None:
            rows = zip(
                topic.partition_ids.tolist(),
                *(unpadded(ids) for ids in (topic.replicas, topic.adding, topic.removing)),
                strict=True,
            )
            partitions = [row for row in rows if row[2] or row[3]]
            body.string(topic.name).array(partitions, lambda row: write_partition(*row)).tags()

        def write_partition(partition: int, *ids: list[int]) -> None:
            body.numbers("i", partition)
            for listed in ids:
                body.int32s(listed)
            body.tags()

        body.array(moving, write_topic)
        self.cluster = self.becomes or self.cluster

    def _configs(self, request: Read, body: Written, _: int) -> None:
        requested = request.array(lambda: _requested_configs(request)) or []
        denied = CONFIGS in self.refuses
        configs_of = {topic.name: topic.configs for topic in self.cluster.topics}
        body.numbers("i", 0)

        def write_topic(name: str) -> None:
            body.numbers("h", TOPIC_AUTHORIZATION_FAILED if denied else 0).string("no" if denied else None)
            # A broker has a value of each configuration; of those that a snapshot records, the cluster says which.
            configs = {} if denied else {"compression.type": "producer", **configs_of[name]}
            body.numbers("b", 2).string(name).array(list(configs.items()), lambda config: write_config(*config)).tags()

        def write_config(name: str, value: str) -> None:
            body.string(name).string(value).numbers("bbb", 0, 5, 0)
            if request.version >= 1:
                body.array([], body.string)
            if request.version >= 3:
                body.numbers("b", 2).string(None)
            body.tags()

        body.array(requested, write_topic)

    def _log_dirs(self, request: Read, body: Written, broker: int) -> None:
        wanted = request.array(lambda: _requested_partitions(request))
        denied = LOG_DIRS in self.refuses
        described = {one.broker: one.log_dirs for one in self.log_dirs.brokers}
        found = () if denied else described[broker]
        body.numbers("i", 0)
        if request.version >= 3:
            body.numbers("h", CLUSTER_AUTHORIZATION_FAILED if denied else 0)
        requested = None if wanted is None else {(name, partition) for name, ids in wanted for partition in ids}

        def write_log_dir(log_dir: LogDir) -> None:
            body.numbers("h", 0).string(log_dir.path)
            by_topic: dict[str, list[tuple[int, int, int, int]]] = {}
            for replica in log_dir.replicas:
                if requested is None or (replica.topic, replica.partition) in requested:
                    row = (replica.partition, replica.size_bytes, 0, replica.is_future)
                    by_topic.setdefault(replica.topic, []).append(row)
            body.array(list(by_topic.items()), lambda topic: write_topic(*topic))
            if request.version >= 4:
                body.numbers("qq", TOTAL_BYTES, USABLE_BYTES)
            body.tags()

        def write_topic(name: str, rows: list[tuple[int, int, int, int]]) -> None:
            body.string(name).array(rows, lambda row: body.numbers("iqqb", *row).tags()).tags()

        body.array(found, write_log_dir)

    def _coordinated(self, broker: int) -> list[RecordedGroup]:
        ids = [each.id for each in self.alive]
        return [group for group in self.cluster.groups if ids[crc32(group.group_id.encode()) % len(ids)] == broker]

    def _list_groups(self, request: Read, body: Written, broker: int) -> None:
        denied = LIST_GROUPS in self.refuses
        listed = [(group.group_id, "consumer", group.state, group.type) for group in self._coordinated(broker)]
        listed += [(name, protocol, "Stable", None) for name, protocol in self.others.items()]

        def write(group_id: str, protocol: str, state: str | None, group_type: str | None) -> None:
            body.string(group_id).string(protocol)
            if request.version >= 4:
                body.string(state)
            if request.version >= 5:
                body.string(group_type or "classic")
            body.tags()

        if request.version >= 1:
            body.numbers("i", 0)
        body.numbers("h", CLUSTER_AUTHORIZATION_FAILED if denied else 0)
        body.array([] if denied else listed, lambda group: write(*group))

    def _describe_groups(self, request: Read, body: Written, broker: int) -> None:
        wanted = request.array(request.string)
        known = {group.group_id: group for group in self._coordinated(broker)}
        assert wanted is not None
        if request.api != CLASSIC_GROUPS or request.version >= 1:
            body.numbers("i", 0)
        body.array([known[name] for name in wanted if name], lambda group: self._group(request, body, group))

    def _group(self, request: Read, body: Written, group: RecordedGroup) -> None:
        assert DESCRIBES[group.type] == request.api
        error = self.fails.get(group.group_id, 0)
        body.numbers("h", error)
        if group.type is not None or request.version >= 6:
            body.string("no" if error else None)
        body.string(group.group_id).string(group.state)
        if group.type is None:
            body.string("consumer").string(group.assignor or "")
        else:
            body.numbers("ii", group.group_epoch or 0, group.assignment_epoch or 0)
        if group.type == "streams":
            body.numbers("bi", 1, group.topology_epoch or 0).array([], body.string).tags()
        elif group.type is not None:
            body.string(group.assignor)
        write = {None: self._classic_member, "streams": _streams_member}.get(group.type, _member)
        body.array(group.members, lambda member: write(request, body, group, member))
        if group.type is not None or request.version >= 3:
            body.numbers("i", NO_OPERATIONS)
        if group.type == "streams":
            body.numbers("bb", -1, 0).string(group.assignor)
        body.tags()

    def _classic_member(self, request: Read, body: Written, group: RecordedGroup, member: RecordedMember) -> None:
        body.string(member.member_id)
        if request.version >= 4:
            body.string(member.group_instance_id)
        body.string(member.client_id).string(member.host)
        metadata = b"" if member.topics is None else write_subscription(_subscription(member))
        for content in (
            self.member_bytes.get(group.group_id, metadata),
            b"" if member.assigned is None else write_assignment(Assignment(_owned(member.assigned))),
        ):
            body.length(len(content), "i")
            body.data += content
        body.tags()

    def _sasl_handshake(self, request: Read, body: Written, _: int) -> None:
        assert request.string() == "PLAIN"
        body.numbers("h", 0).array(["PLAIN"], body.string)

    def _sasl_authenticate(self, request: Read, body: Written, _: int) -> None:
        # RFC 4616: the authorization identity, which may be left out, then the user, then the password.
        token = request.octets("i") or b""
        is_valid = token.split(b"\0")[1:] == [b"rackplan", str(self.password).encode()]
        message = None if is_valid else "Authentication failed: Invalid username or password"
        body.numbers("h", 0 if is_valid else SASL_AUTHENTICATION_FAILED).string(message)
        body.length(0, "i")
        if request.version >= 1:
            body.numbers("q", 0)


def _owned(listed: Sequence[TopicPartitions]) -> tuple[Owned, ...]:
    return tuple(Owned(topic, np.array(partitions, np.int32)) for topic, partitions in listed)


def _subscription(member: RecordedMember) -> Subscription:
    owned = _owned(member.owned or ())
    return Subscription(member.topics or (), member.user_data, owned, member.generation_id, member.rack_id)


def _member(_: Read, body: Written, group: RecordedGroup, member: RecordedMember) -> None:
    """A member of a consumer or share group. A subscription that ends with `*` is a regular expression."""
    names = [topic for topic in member.topics or () if not topic.endswith("*")]
    body.string(member.member_id)
    if group.type == "consumer":
        body.string(member.group_instance_id)
    body.string(member.rack_id).numbers("i", member.member_epoch or 0).string(member.client_id).string(member.host)
    body.array(names, body.string)
    if group.type == "consumer":
        body.string(next((topic for topic in member.topics or () if topic.endswith("*")), None))
    for assigned in (member.assigned, member.target) if group.type == "consumer" else (member.assigned,):
        body.array(assigned or (), lambda each: _topic_partitions(body, each)).tags()
    if group.type == "consumer":
        body.numbers("b", 1)
    body.tags()


def _topic_partitions(body: Written, each: TopicPartitions) -> None:
    body.data += b"\1" * 16
    body.string(each.topic).int32s(each.partitions).tags()


def _streams_member(_: Read, body: Written, __: RecordedGroup, member: RecordedMember) -> None:
    body.string(member.member_id).numbers("i", member.member_epoch or 0).string(member.group_instance_id)
    body.string(member.rack_id).string(member.client_id).string(member.host).numbers("i", 3).string(member.process_id)
    body.numbers("b", 1).string("localhost").numbers("H", 9000).tags()
    body.array(["zone"], lambda tag: body.string(tag).string("a").tags())
    for number in (7, 9):  # offsets, then end offsets of tasks
        body.array([number], lambda offset: body.string("0").numbers("iq", 1, offset).tags())
    for tasks in (member.tasks, member.target_tasks):
        for listed in (tasks.active, tasks.standby, tasks.warmup) if tasks else ((), (), ()):
            body.array(listed, lambda task: _task(body, *task.split("_")))
        body.tags()
    body.numbers("b", 0).tags()


def _task(body: Written, subtopology: str, partition: str) -> None:
    body.string(subtopology).int32s([int(partition)]).tags()


def _requested_topic(request: Read) -> str | None:
    if request.version >= 10:
        request.at += 16
    name = request.string()
    request.tags()
    return name


def _requested_configs(request: Read) -> str:
    assert request.numbers("b") == (2,), "the configurations of topics alone are read"
    name = str(request.string())
    request.array(request.string)
    request.tags()
    return name


def _requested_partitions(request: Read) -> tuple[str | None, list[int]]:
    name = request.string()
    partitions = request.array(lambda: request.numbers("i")[0])
    request.tags()
    return name, partitions or []


class _Handler(socketserver.StreamRequestHandler):
    """Answers the requests of one connection in their order."""

    server: "_Listener"

    def handle(self) -> None:
        """Answer until the client hangs up, or sends an unsupported request."""
        live, is_known = self.server.live, self.server.live.password is None
        while len(size := self.rfile.read(4)) == 4 and int.from_bytes(size) < _LARGEST_REQUEST_BYTES:
            request = Read(self.rfile.read(int.from_bytes(size)))
            live.requests.append((request.api, request.version))
            is_sasl = request.api in (API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE)
            if request.api not in READING or not (is_known or is_sasl):
                return
            if request.api == live.stalls_at:
                self.rfile.read()
                return
            body = live.answer(request, self.server.broker)
            # Of ApiVersions alone the header is never flexible.
            header = Written(flexible=body.flexible and request.api != API_VERSIONS)
            message = header.numbers("i", request.correlation_id).tags().data + body.data
            self.wfile.write(len(message).to_bytes(4) + message)
            if request.api == SASL_AUTHENTICATE:
                is_known = int.from_bytes(body.data[:2]) == 0


class _Listener(socketserver.ThreadingTCPServer):
    def __init__(self, live: LiveCluster, broker: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.live = live
        self.broker = broker


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of loopback without a listener; it is bound, so that no other process gets it meanwhile."""
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextmanager
def _listener(live: LiveCluster, broker: int) -> Iterator[int]:
    with _Listener(live, broker) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
