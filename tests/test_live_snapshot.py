"""`rackplan snapshot` against brokers that speak Kafka's protocol on loopback."""

import gc
import logging
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.models.clusters import SnapshotRequest
from app.core.model import NO_LEADER, NO_LOG_DIR, UNKNOWN_SIZE, Broker, Cluster, LogDirectory, Topic, padded, unpadded
from app.errors.machine import ClusterUnreachable
from app.errors.requests import ConflictingFields
from app.formats.clusters import log_dirs
from app.formats.clusters.log_dirs import BrokerLogDirs, LogDir, LogDirReplica, LogDirs
from app.formats.snapshots import snapshot_json
from tests import forked
from tests.formats.strategies import assembled, sample, topic_ids, topic_names
from tests.formats.writers import log_dirs as written_log_dirs
from tests.kafka_on_a_wire import (
    API_VERSIONS,
    CLUSTER_ID,
    CONFIGS,
    DESCRIBE_CLUSTER,
    KAFKA_2_3,
    LIST_GROUPS,
    LOG_DIRS,
    METADATA,
    READING,
    REASSIGNMENTS,
    SASL_AUTHENTICATE,
    TOTAL_BYTES,
    USABLE_BYTES,
    LiveCluster,
    closed_port,
)

pytest.importorskip("kafka", reason="the extra `kafka` is not installed")

from app.cli import live, live_client
from tests.profiles import costly

# kafka-python leaves a socket open whose connection or handshake failed. `client_has_ended` has them closed before
# another module's tests, which take the warning about it for a failure.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")]

BROKERS = "kafka-broker-api-versions.txt"
TOPICS = "kafka-topics-describe.txt"
REASSIGNING = "kafka-topics-describe-reassigning.txt"
DISKS = "kafka-log-dirs-describe.txt"
PASSWORD = "correct horse=battery"  # noqa: S105 — of a listener that lives as long as a test
NO_PROPERTIES: Mapping[str, object] = MappingProxyType({})
SASL: Mapping[str, object] = MappingProxyType(
    {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "rackplan",
        "sasl_plain_password": PASSWORD,
    }
)


@pytest.fixture(scope="module", autouse=True)
def earlier_tests_are_no_garbage() -> None:
    """Leave out objects of earlier files, which stay: looking through it takes a second after each test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def client_has_ended() -> Iterator[None]:
    """End the threads that the command leaves at its end, and free their objects."""
    yield
    for thread in threading.enumerate():
        if thread.name == "rackplan-live":
            thread.join(20)
    gc.collect()


def captured(topics: str = TOPICS, *, brokers: str = BROKERS) -> LiveCluster:
    """The cluster of a capture, and its texts' data about disks of live brokers.

    The captures were made one after another and replicas moved meanwhile. A broker reports only replicas it has.
    """
    found = assembled("nine", brokers=sample(brokers), topics=sample(topics)).cluster
    up = {broker.id for broker in found.brokers}
    reported = LogDirs(
        tuple([only_replicas(disk, found) for disk in log_dirs.read(sample(DISKS)).brokers if disk.broker in up])
    )
    disks = written_log_dirs.write(reported)
    sized = assembled("nine", brokers=sample(brokers), topics=sample(topics), log_dirs=disks)
    return LiveCluster(sized.cluster, reported)


def only_replicas(disks: BrokerLogDirs, cluster: Cluster) -> BrokerLogDirs:
    """The log directories without partitions of which the broker is no replica."""
    holders = {
        (topic.name, partition): replicas
        for topic in cluster.topics
        for partition, replicas in zip(topic.partition_ids.tolist(), unpadded(topic.replicas), strict=True)
    }

    def without(log_dir: LogDir) -> LogDir:
        replicas = [r for r in log_dir.replicas if disks.broker in holders.get((r.topic, r.partition), ())]
        return replace(log_dir, replicas=tuple(replicas))

    return replace(disks, log_dirs=tuple(map(without, disks.log_dirs)))


def taken(
    bootstrap: str,
    name: str | None = "nine",
    *,
    timeout_s: float = 20,
    properties: Mapping[str, object] = NO_PROPERTIES,
) -> live.LiveSnapshot:
    return live.take(bootstrap, name=name, properties=properties, timeout_s=timeout_s)


OWN_LIMITS_S = 25.0
"""The client's own limits begin at 30 s; an earlier end is due to ours, however busy the machine is."""


def unreachable(bootstrap: str, *, timeout_s: float = 20, properties: Mapping[str, object] = NO_PROPERTIES) -> str:
    """Why a cluster cannot be read; one line."""
    with pytest.raises(ClusterUnreachable) as caught:
        taken(bootstrap, timeout_s=timeout_s, properties=properties)
    assert "\n" not in caught.value.detail
    return caught.value.detail


@st.composite
def running(draw: st.DrawFn) -> LiveCluster:
    """Some brokers, at least one of them alive, topics on them and elsewhere, and the content of their disks."""
    ids = draw(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4, unique=True))
    racks = st.none() | st.sampled_from(["", "a", "az–1"])
    brokers = [Broker(broker, draw(racks), fenced=i > 0 and draw(st.booleans())) for i, broker in enumerate(ids)]
    listed = st.lists(st.sampled_from([*ids, 7, 9]), unique=True, max_size=4)
    on_disk: dict[int, list[LogDirReplica]] = {broker.id: [] for broker in brokers if not broker.fenced}
    topics = []
    has_replicas: set[int] = set()
    for name in sorted(draw(st.lists(topic_names, unique=True, max_size=3))):
        partitions = sorted(draw(st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=4)))
        replicas = [draw(listed.filter(bool)) for _ in partitions]
        has_replicas.update(*replicas)
        in_dir = [np.full(padded(replicas).shape, NO_LOG_DIR, np.int32) for _ in (False, True)]
        sizes = [UNKNOWN_SIZE] * len(partitions)
        for row, holders in enumerate(replicas):
            for broker in on_disk.keys() & set(holders):
                for is_future in draw(st.sampled_from([(), (False,), (True,), (False, True)])):
                    size = draw(st.integers(0, 2**62))
                    on_disk[broker].append(LogDirReplica(name, partitions[row], size, is_future=is_future))
                    in_dir[is_future][row, holders.index(broker)] = is_future
                    sizes[row] = sizes[row] if is_future else max(sizes[row], size)
        topics.append(
            Topic(
                name=name,
                partition_ids=np.array(partitions, np.int32),
                replicas=padded(replicas),
                leaders=np.array([draw(st.sampled_from([NO_LEADER, *row])) for row in replicas], np.int32),
                isr=padded([draw(listed) for _ in partitions]),
                adding=padded([draw(listed) for _ in partitions]),
                removing=padded([draw(listed) for _ in partitions]),
                size_bytes=np.array(sizes, np.int64),
                topic_id=draw(st.none() | topic_ids),
                configs=draw(st.sampled_from([{}, {"min.insync.replicas": "2"}])),
                log_dirs=in_dir[False],
                future_log_dirs=in_dir[True],
            )
        )
    by_id = tuple(sorted(brokers, key=lambda broker: broker.id))
    reported = [
        # A future replica is in another directory than the replica that it will take the place of.
        BrokerLogDirs(
            id_, tuple([LogDir(f"/{f}", tuple([r for r in replicas if r.is_future == f])) for f in (False, True)])
        )
        for id_, replicas in on_disk.items()
    ]
    # A broker without replicas gets no request.
    directories = tuple([LogDirectory(f"/{f}", TOTAL_BYTES, USABLE_BYTES) for f in (False, True)])
    sampled = Cluster(
        "sampled",
        by_id,
        tuple(topics),
        reported_controller="kraft" if by_id else None,
        log_dirs=dict.fromkeys(on_disk.keys() & has_replicas, directories),
    )
    return LiveCluster(sampled, LogDirs(tuple(reported)))


@given(running())
@costly(30)
def test_what_is_taken_is_what_the_brokers_tell(cluster: LiveCluster) -> None:
    """The snapshot is the cluster, whatever it is: no order, rack, fence, move, size or missing leader is lost."""
    with cluster.listening() as bootstrap:
        found = taken(bootstrap, "sampled")
    assert snapshot_json.write(found.cluster) == snapshot_json.write(cluster.cluster)
    assert found.cautions == ()


@pytest.mark.parametrize("topics", [TOPICS, REASSIGNING])
def test_a_live_cluster_and_its_captured_texts_are_one_snapshot(topics: str) -> None:
    """Reading the nine brokers equals reading the Kafka tools' texts, moves and sizes included."""
    cluster = captured(topics)
    with cluster.listening() as bootstrap:
        found = taken(bootstrap)
    expected = assembled("nine", brokers=sample(BROKERS), topics=sample(topics), log_dirs=sample(DISKS)).cluster
    assert snapshot_json.write(found.cluster) == snapshot_json.write(expected)
    assert len(found.cluster.brokers) == 9
    assert {broker.rack for broker in found.cluster.brokers} == {"use1-az1", "use1-az2", "use1-az4"}
    assert sum(topic.size_bytes.min() > 0 for topic in found.cluster.topics) == 6
    assert any(topic.adding.size for topic in found.cluster.topics) == (topics == REASSIGNING)
    assert found.cautions == ()


def test_dead_brokers_are_fenced_and_their_partitions_have_no_leader() -> None:
    """A text leaves out a dead broker; a live cluster of Kafka 4 still knows it and its rack, as fenced."""
    down = (Broker(105, "use1-az2", fenced=True), Broker(108, "use1-az4", fenced=True))
    cluster = captured(
        "kafka-topics-describe-two-brokers-down.txt", brokers="kafka-broker-api-versions-two-brokers-down.txt"
    )
    texts = cluster.cluster
    cluster.cluster = replace(texts, brokers=tuple(sorted([*texts.brokers, *down], key=lambda broker: broker.id)))
    with cluster.listening() as bootstrap:
        found = taken(bootstrap)
    assert snapshot_json.write(found.cluster) == snapshot_json.write(cluster.cluster)
    assert [broker.id for broker in found.cluster.brokers if broker.fenced] == [105, 108]
    assert any(NO_LEADER in topic.leaders for topic in found.cluster.topics)
    assert found.cautions == ()


def test_it_only_reads() -> None:
    """A cluster gets requests of seven kinds, and none of them can change it."""
    cluster = captured()
    with cluster.listening() as bootstrap:
        taken(bootstrap)
    apis = {API_VERSIONS, METADATA, DESCRIBE_CLUSTER, REASSIGNMENTS, CONFIGS, LOG_DIRS, LIST_GROUPS}
    assert {api for api, _ in cluster.requests} == apis
    assert READING.isdisjoint({0, 19, 20, 33, 34, 37, 43, 44, 45, 57, 64})  # Produce, CreateTopics, … UnregisterBroker


@pytest.mark.parametrize(("first", "then"), [(REASSIGNING, TOPICS), (TOPICS, REASSIGNING)], ids=["ends", "begins"])
def test_a_reassignment_that_ends_or_begins_meanwhile_is_one(first: str, then: str) -> None:
    """Replicas that come or go are never taken for settled ones, whenever the topics were read."""
    cluster = captured(first)
    cluster.becomes = captured(then).cluster
    with cluster.listening() as bootstrap:
        found = taken(bootstrap).cluster
    found_moves, expected = moving(found), moving(captured(REASSIGNING).cluster)
    assert expected
    assert found_moves == expected


def moving(cluster: Cluster) -> dict[tuple[str, int], list[list[int]]]:
    """Replicas, adding and removing of each partition that is being reassigned."""
    return {
        (topic.name, partition): list(ids)
        for topic in cluster.topics
        if topic.adding.size or topic.removing.size
        for partition, *ids in zip(
            topic.partition_ids.tolist(),
            *(unpadded(rows) for rows in (topic.replicas, topic.adding, topic.removing)),
            strict=True,
        )
        if ids[1] or ids[2]
    }


def test_an_old_broker_reports_less_and_the_snapshot_says_so() -> None:
    """Kafka 2.3 knows no way to ask about reassignments or the cluster, and no topic ids: all else is read."""
    cluster = captured()
    topics = tuple([replace(topic, topic_id=None) for topic in cluster.cluster.topics])
    cluster.cluster = replace(cluster.cluster, topics=topics, reported_controller=None)
    cluster.versions = KAFKA_2_3
    with cluster.listening() as bootstrap:
        found = taken(bootstrap)
    assert snapshot_json.write(found.cluster) == snapshot_json.write(cluster.cluster)
    assert found.cautions == ("the cluster does not list reassignments in progress: IncompatibleBrokerVersion",)
    assert (METADATA, 8) in cluster.requests


@pytest.mark.parametrize(
    ("levels", "version", "cautions"),
    [
        ((7, 27, 27), "4.1.0", ["has no patch release"]),
        ((7, 30, 27), "4.3.0", ["has no patch release", "finalized metadata.version is of 4.1"]),
        ((7, 34, 34), None, ["of no known release"]),
    ],
)
def test_the_release_is_that_of_the_newest_metadata_version_that_brokers_support(
    levels: tuple[int, int, int], version: str | None, cautions: list[str]
) -> None:
    """Brokers run their software before an upgrade is finalized; patch releases share a level."""
    cluster = captured()
    cluster.features = {"metadata.version": levels, "group.version": (0, 1, 1)}
    with cluster.listening() as bootstrap:
        found = taken(bootstrap)
    assert found.cluster.kafka_version == version
    assert found.cluster.controller == "kraft"
    assert len(found.cautions) == len(cautions)
    assert all(part in whole for part, whole in zip(cautions, found.cautions, strict=True))


def test_a_broker_that_just_died_costs_no_more_than_its_sizes() -> None:
    """It is advertised still and takes no connection: the sizes come from the other replicas."""
    cluster = captured()
    with cluster.listening(but=[103]) as bootstrap:
        found = taken(bootstrap)
    others = LogDirs(tuple([broker for broker in cluster.log_dirs.brokers if broker.broker != 103]))
    sizes = log_dirs.sizes(others)
    for topic in found.cluster.topics:
        expected = [sizes.get((topic.name, partition), UNKNOWN_SIZE) for partition in topic.partition_ids.tolist()]
        assert topic.size_bytes.tolist() == expected
    assert unpadded(found.cluster.topics[0].replicas) == unpadded(cluster.cluster.topics[0].replicas)
    disks, groups = found.cautions
    assert re.search(r"did not return their log directories: 103 \(\S.*\)$", disks)
    assert re.search(r"of coordinators that did not list them: 103 \(\S.*\)$", groups)


@pytest.mark.parametrize("again", range(3))
def test_of_five_brokers_one_that_answers_is_enough(again: int) -> None:
    """The client chooses a broker at random, four times in five one that just died: it does not give up then."""
    cluster = LiveCluster(Cluster("nine", tuple(map(Broker, range(1, 6)))), LogDirs((BrokerLogDirs(1, ()),)))
    with cluster.listening(but=range(2, 6)) as bootstrap:
        assert len(taken(bootstrap).cluster.brokers) == 5, again


def test_what_the_principal_may_not_see_is_named() -> None:
    cluster = captured(REASSIGNING)
    cluster.refuses = frozenset({LOG_DIRS, REASSIGNMENTS, CONFIGS})
    with cluster.listening() as bootstrap:
        found = taken(bootstrap)
    assert all((topic.size_bytes == UNKNOWN_SIZE).all() and not topic.adding.size for topic in found.cluster.topics)
    moves, configs, disks = found.cautions
    assert re.fullmatch(r"the configurations of \d+ topics could not be read, of \S+ first", configs)
    assert moves == "the cluster does not list reassignments in progress: ClusterAuthorizationFailedError"
    assert disks.count("names no log directory") == 9


def test_without_a_name_it_is_kafkas_own_id() -> None:
    cluster = LiveCluster(Cluster("", (Broker(1),)), LogDirs((BrokerLogDirs(1, ()),)))
    with cluster.listening() as bootstrap:
        assert taken(bootstrap, None).cluster.name == CLUSTER_ID


class TestUnreachable:
    """An error is one line that names the server; nothing waits longer than its timeout."""

    def test_connection_refused(self) -> None:
        started = time.monotonic()
        with closed_port() as port:
            refused = f"127.0.0.1:{port}: [Errno 111] Connection refused (asked in PLAINTEXT)"
            assert unreachable(f"127.0.0.1:{port}", timeout_s=300) == refused
        assert time.monotonic() - started < OWN_LIMITS_S

    def test_no_such_host(self) -> None:
        assert unreachable("broker.invalid:9092").startswith("broker.invalid:9092: [Errno -")

    def test_the_next_server_is_tried(self) -> None:
        cluster = captured()
        with closed_port() as port, cluster.listening() as bootstrap:
            found = taken(f"127.0.0.1:{port}, {bootstrap}")
        assert len(found.cluster.brokers) == 9

    @pytest.mark.parametrize(
        "answer",
        [
            lambda _: b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
            lambda _: b"",
            lambda request: b"\0\0\0\x09" + request[8:12] + b"\0\0\xff\xff\xff",
            lambda request: b"\0\0\0\x40" + request[8:12] + b"\0\0\x05\0",
            lambda _: b"\0\0\0\x04\x7f\xff\xff\xff",
        ],
        ids=["http", "hangs up", "undecodable", "cut", "another request's answer"],
    )
    def test_a_server_that_is_no_kafka_broker(self, answer: Callable[[bytes], bytes]) -> None:
        started = time.monotonic()
        with answering(answer) as server:
            assert re.fullmatch(rf"{server}: \S.* \(asked in PLAINTEXT\)", unreachable(server, timeout_s=1.5))
        assert time.monotonic() - started < OWN_LIMITS_S

    def test_a_server_that_says_nothing(self) -> None:
        started = time.monotonic()
        with answering(None) as server:
            assert "timed out" in unreachable(server, timeout_s=1)
        assert time.monotonic() - started < OWN_LIMITS_S

    def test_a_broker_that_stops_answering(self) -> None:
        """Waits of the client after it has connected are bounded by the same time."""
        cluster = captured()
        cluster.stalls_at = DESCRIBE_CLUSTER
        started = time.monotonic()
        with cluster.listening() as bootstrap:
            reason = unreachable(bootstrap.partition(",")[0], timeout_s=1)
        assert re.search(r"^it was not read within 1 s|^the brokers could not be read: .*timed out", reason)
        assert time.monotonic() - started < OWN_LIMITS_S


class TestSecrets:
    """A listener that requires a password gets it, and no other does."""

    def test_a_password_opens_the_cluster(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        cluster = captured()
        cluster.password = PASSWORD
        with cluster.listening() as bootstrap:
            found = taken(bootstrap, properties=SASL)
        assert snapshot_json.write(found.cluster) == snapshot_json.write(cluster.cluster)
        assert PASSWORD not in caplog.text

    def test_a_wrong_password_is_rejected_and_not_printed(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        cluster = captured()
        cluster.password = "another"  # noqa: S105 — of a listener that lives as long as a test
        with cluster.listening() as bootstrap:
            reason = unreachable(bootstrap.partition(",")[0], timeout_s=3, properties=SASL)
        assert "Invalid username or password" in reason
        assert "(asked in SASL_PLAINTEXT)" in reason
        assert PASSWORD not in reason + caplog.text
        tries = [api for api, _ in cluster.requests].count(SASL_AUTHENTICATE)
        assert tries == 1, "an account may be locked after some"

    def test_a_listener_that_speaks_another_protocol(self) -> None:
        """TLS to a plain listener, a plain client to one that wants a password: both end and name the protocol."""
        cluster = captured()
        cluster.password = PASSWORD
        with cluster.listening() as bootstrap:
            server = bootstrap.partition(",")[0]
            assert "(asked in PLAINTEXT)" in unreachable(server, timeout_s=1.5)
        with captured().listening() as bootstrap:
            server = bootstrap.partition(",")[0]
            reason = unreachable(server, timeout_s=1.5, properties={"security_protocol": "SSL"})
        assert re.search(r"Handshake failed.*\(asked in SSL\)", reason)


class TestProperties:
    def test_a_file_and_what_overrides_it(self, tmp_path: Path) -> None:
        """Kafka's own dotted names do as well; a value keeps its `=` and its inner blanks."""
        file = tmp_path / "client.properties"
        file.write_text(
            f"# ours\n\n! too\nsecurity.protocol=sasl_ssl\nsasl.mechanism = PLAIN\nsasl_plain_password={PASSWORD}\n"
        )
        assert live_client.properties(["sasl.mechanism=scram-sha-256", "ssl_check_hostname=FALSE"], file) == {
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "SCRAM-SHA-256",
            "sasl_plain_password": PASSWORD,
            "ssl_check_hostname": False,
        }

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (PASSWORD.replace("=", " "), "--property 1 has no `=`; it has to be key=value"),
            (
                f"sasl.jaas.config={PASSWORD}",
                "--property 1: there is no property sasl_jaas_config; there are client_id,",
            ),
            (f"security_protocol={PASSWORD}", "--property 1: security_protocol has to be one of PLAINTEXT, SSL,"),
            (f"ssl_check_hostname={PASSWORD}", "--property 1: ssl_check_hostname has to be true or false"),
            ("bootstrap_servers=elsewhere:9092", "--property 1: there is no property bootstrap_servers;"),
            ("security_protocol=SASL_SSL", "security_protocol SASL_SSL needs sasl_mechanism"),
        ],
    )
    def test_what_it_does_not_take(self, given: str, expected: str) -> None:
        """It names the property and the valid values, never the given one: that may be a secret."""
        with pytest.raises(ConflictingFields) as caught:
            live_client.properties([given])
        assert caught.value.detail.startswith(expected)
        assert "horse" not in caught.value.detail

    @pytest.mark.parametrize("bootstrap", ["", "kafka", "kafka:", ":9092", "kafka:0", "kafka:65536", "a:1,,b:2", "a:²"])
    def test_a_server_is_a_host_and_a_port(self, bootstrap: str) -> None:
        with pytest.raises(ConflictingFields, match="it has to be host:port"):
            taken(bootstrap)


def rackplan(*arguments: str, before: str = "") -> subprocess.CompletedProcess[bytes]:
    """The command as it is run by an operator."""
    if not before:
        return forked.run(*arguments)
    code = f"{before}\nfrom app.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, timeout=60)


class TestCommand:
    def test_what_it_writes_is_what_the_service_takes(self, tmp_path: Path) -> None:
        """The document is a snapshot request, and read as one it is the same cluster, on the output or in a file."""
        cluster = captured(REASSIGNING)
        file = tmp_path / "nine.json"
        with cluster.listening() as bootstrap:
            done = rackplan("snapshot", "--bootstrap", bootstrap, "--cluster", "nine")
            to_file = rackplan("snapshot", "--bootstrap", bootstrap, "--cluster", "nine", "--output", str(file))
        assert (done.returncode, done.stderr) == (0, b"")
        assert (to_file.returncode, to_file.stdout, to_file.stderr) == (0, b"", b"")
        assert file.read_bytes() == done.stdout
        request = SnapshotRequest.model_validate_json(done.stdout)
        assert snapshot_json.write(request.core()) == snapshot_json.write(cluster.cluster)

    def test_what_could_not_be_read_is_reported_beside_the_document(self) -> None:
        cluster = captured()
        cluster.versions = KAFKA_2_3
        with cluster.listening() as bootstrap:
            done = rackplan("snapshot", "--bootstrap", bootstrap)
        assert orjson.loads(done.stdout)["cluster"] == CLUSTER_ID
        message = b"rackplan: the cluster does not list reassignments in progress: IncompatibleBrokerVersion\n"
        assert (done.returncode, done.stderr) == (0, message)

    def test_a_failure_is_one_line(self) -> None:
        with closed_port() as port:
            done = rackplan("snapshot", "--bootstrap", f"127.0.0.1:{port}")
        message = (
            f"The Kafka cluster cannot be read: 127.0.0.1:{port}: [Errno 111] Connection refused (asked in PLAINTEXT)"
        )
        assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", f"rackplan: {message}\n")

    def test_a_server_that_never_answers_cannot_hold_it(self) -> None:
        """Not even if the client's wait is unbounded: the command ends in time, with the client's thread waiting."""
        started = time.monotonic()
        cluster = captured()
        cluster.stalls_at = LOG_DIRS
        with cluster.listening() as bootstrap:
            done = rackplan("snapshot", "--bootstrap", bootstrap.partition(",")[0], "--timeout", "1")
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.count(b"\n") == 1
        assert time.monotonic() - started < OWN_LIMITS_S

    def test_a_file_that_cannot_be_written(self, tmp_path: Path) -> None:
        with captured().listening() as bootstrap:
            done = rackplan("snapshot", "--bootstrap", bootstrap, "--output", str(tmp_path / "no" / "file"))
        assert done.returncode == 1
        assert re.fullmatch(rb"rackplan: The file cannot be written: .*No such file or directory.*\n", done.stderr)

    def test_without_the_extra_it_says_what_to_install(self) -> None:
        done = rackplan("snapshot", "--bootstrap", "localhost:9092", before="import sys; sys.modules['kafka'] = None")
        assert done.returncode == 1
        assert done.stderr.count(b"\n") == 1
        assert b"`make kafka`" in done.stderr


@contextmanager
def answering(answer: Callable[[bytes], bytes] | None) -> Iterator[str]:
    """A server that answers the first bytes of each connection so and hangs up; with None it never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    received = connection.recv(4096)
                    if answer is None:
                        while connection.recv(4096):
                            pass
                    elif received:
                        connection.sendall(answer(received))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
