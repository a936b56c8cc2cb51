"""`kafka-log-dirs --describe`: the real answer, sizes and disks, and errors of a broken one."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import INT32_MAX, NO_LOG_DIR, Cluster, Cordon, LogDirectory
from app.formats.clusters.log_dirs import (
    BrokerLogDirs,
    LogDir,
    LogDirReplica,
    LogDirs,
    cordons,
    directories,
    read,
    sizes,
)
from app.formats.snapshots import pasted
from tests.formats.strategies import assembled, broken, broker_ids, reads_or_rejects, rejected, sample, topic_names
from tests.formats.writers.log_dirs import write
from tests.profiles import costly

CAPTURE = "kafka-log-dirs-describe.txt"

replicas = st.builds(
    LogDirReplica,
    topic=topic_names,
    partition=st.integers(0, INT32_MAX),
    size_bytes=st.integers(0, 2**63 - 1),
    is_future=st.booleans(),
)

spaces = st.tuples(st.none() | st.integers(0, 2**63 - 1), st.none() | st.integers(0, 2**63 - 1))


@st.composite
def brokers(draw: st.DrawFn) -> BrokerLogDirs:
    listed = draw(st.lists(replicas, max_size=6, unique_by=lambda one: (one.topic, one.partition, one.is_future)))
    split = draw(st.integers(0, len(listed)))
    error = st.none() | st.just("org.apache.kafka.common.errors.KafkaStorageException")
    return BrokerLogDirs(
        draw(broker_ids),
        tuple(
            LogDir(draw(st.text(max_size=9)), tuple(part), draw(error), draw(st.none() | st.booleans()), *draw(spaces))
            for part in (listed[:split], listed[split:])
        ),
    )


answers = st.builds(
    LogDirs,
    st.lists(brokers(), max_size=3, unique_by=lambda broker: broker.broker).map(tuple),
)


@costly()
@given(answers)
def test_what_is_written_reads_back(answer: LogDirs) -> None:
    assert read(write(answer)) == answer


def test_the_real_capture_comes_back_verbatim() -> None:
    assert write(read(sample(CAPTURE))) == sample(CAPTURE)
    alone = sample(CAPTURE).split("\n", 2)[2]
    assert read(alone) == read(sample(CAPTURE))


def test_line_ends_log_lines_and_indentation_do_not_matter() -> None:
    prose, document = sample(CAPTURE).rsplit("\n", 2)[:2]
    pretty = orjson.dumps(orjson.loads(document), option=orjson.OPT_INDENT_2).decode()
    text = f"[2025-01-27 19:50:51,936] WARN x\n{prose}\n\n{pretty}\n\n".replace("\n", "\r\n")
    assert read(text) == read(sample(CAPTURE))


def test_a_broken_disk_keeps_its_error_and_unknown_keys_are_dropped() -> None:
    text = '{"version":1,"brokers":[{"broker":1,"x":1,"logDirs":[{"logDir":"/d","error":"E","partitions":[],"y":{}}]}]}'
    assert read(text) == LogDirs((BrokerLogDirs(1, (LogDir("/d", (), "E"),)),))


def test_sizes_are_those_of_the_largest_replica_that_is_not_a_future_one() -> None:
    first = LogDir("/a", (LogDirReplica("a-b-12", 0, 7), LogDirReplica("t", 1, 0)))
    second = LogDir("/b", (LogDirReplica("a-b-12", 0, 99, is_future=True),))
    third = LogDir("/a", (LogDirReplica("a-b-12", 0, 9), LogDirReplica("f", 0, 5, is_future=True)))
    answer = LogDirs((BrokerLogDirs(1, (first, second)), BrokerLogDirs(2, (third,))))
    assert sizes(answer) == {("a-b-12", 0): 9, ("t", 1): 0}


def test_the_space_of_log_directories_is_read_and_minus_one_is_unknown() -> None:
    """DescribeLogDirs v4 (KIP-827); the directories of a broker are by path, one with an error is offline."""
    second = '{"logDir":"/b","partitions":[],"error":"E","totalBytes":-1,"usableBytes":-1}'
    first = '{"logDir":"/a","partitions":[],"error":null,"totalBytes":100,"usableBytes":7}'
    answer = read(f'{{"brokers":[{{"broker":1,"logDirs":[{second},{first}]}}]}}')
    assert directories(answer) == {1: (LogDirectory("/a", 100, 7), LogDirectory("/b", is_offline=True))}
    rejection = rejected(
        read, '{"brokers":[{"broker":1,"logDirs":[{"logDir":"/a","partitions":[],"totalBytes":"x"}]}]}'
    )
    assert "brokers/0/logDirs/0/totalBytes" in rejection.detail


def test_replicas_have_their_directories_if_a_broker_has_several() -> None:
    """One directory a broker leaves nothing to choose; the cluster is without it, and its hash as it was."""
    topics = "Topic: t\tTopicId: AAAAAAAAAAAAAAAAAAAAAQ\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
    topics += "\tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 2,1\tIsr: 2,1\n"

    def cluster(*of_broker_1: LogDir) -> Cluster:
        only = LogDir("/x", (LogDirReplica("t", 0, 5),))
        answer = LogDirs((BrokerLogDirs(1, of_broker_1), BrokerLogDirs(2, (only,))))
        return assembled("c", topics=topics, log_dirs=write(answer)).cluster

    replica, future = LogDirReplica("t", 0, 5), LogDirReplica("t", 0, 3, is_future=True)
    alone = cluster(LogDir("/a", (replica,)))
    assert (alone.log_dirs, alone.topics[0].log_dirs) == ({}, None)
    several = cluster(LogDir("/b", (replica,)), LogDir("/a", (future,)))
    assert [directory.path for directory in several.log_dirs[1]] == ["/a", "/b"]
    [topic] = several.topics
    assert topic.log_dirs is not None
    assert topic.future_log_dirs is not None
    assert topic.log_dirs.tolist() == [[0, 1]]
    assert topic.future_log_dirs.tolist() == [[NO_LOG_DIR, 0]]


def test_brokers_are_cordoned_if_every_usable_log_directory_is() -> None:
    """Both spellings of the key; an offline directory can be assigned nothing, cordoned or not."""

    def answer(*log_dirs: str) -> str:
        return f'{{"brokers":[{{"broker":1,"logDirs":[{",".join(log_dirs)}]}}]}}'

    cordoned, open_dir = (f'{{"logDir":"/d{i}","partitions":[],"isCordoned":{i}}}' for i in ("true", "false"))
    offline = '{"logDir":"/d3","partitions":[],"error":"E","cordoned":false}'
    assert cordons(read(answer(cordoned, open_dir, offline))) == {1: Cordon(False, ("/dtrue",))}
    assert cordons(read(answer(cordoned, offline))) == {1: Cordon(True, ("/dtrue",))}
    assert cordons(read(answer(open_dir, offline))) == cordons(read(sample(CAPTURE))) == {}
    rejection = rejected(read, answer(cordoned, '\n{"logDir":"/d","partitions":[],"isCordoned":"no"}'))
    assert "brokers/0/logDirs/1/isCordoned: expected true or false" in rejection.detail
    assert rejection.line == 2


CONFIGS = """Dynamic configs for broker 1 are:
  cordoned.log.dirs=/d1,/d2 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:cordoned.log.dirs=/d1,/d2}
  log.cleaner.threads=2 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2}
All configs for broker 2 are:
  cordoned.log.dirs=* sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:cordoned.log.dirs=*}
Dynamic configs for broker 3 are:
  cordoned.log.dirs= sensitive=false synonyms={DEFAULT_CONFIG:cordoned.log.dirs=}
Default configs for brokers in the cluster are:
  cordoned.log.dirs=/d1 sensitive=false synonyms={}
"""


def test_cordoned_log_directories_of_kafka_configs() -> None:
    """Alone they name no broker's other directories; with the directories it is known whether all are cordoned."""
    assert cordons(read(CONFIGS)) == {1: Cordon(False, ("/d1", "/d2")), 2: Cordon(True)}
    listed = ",".join([
        f'{{"broker":{broker},"logDirs":[{{"logDir":"/d1","partitions":[]}},{{"logDir":"/d2","partitions":[]}}]}}'
        for broker in (1, 2, 3)
    ])  # fmt: skip
    for text in (CONFIGS + f'{{"brokers":[{listed}]}}', f'{{"brokers":[{listed}]}}\n{CONFIGS}'):
        both = Cordon(True, ("/d1", "/d2"))
        assert cordons(read(text.replace("\n", "\r\n"))) == {1: both, 2: both}
        pasted_text = pasted.read([pasted.Upload(text)]).log_dirs
        assert pasted_text is not None
        assert cordons(read(pasted_text)) == {1: both, 2: both}


def test_a_heading_without_a_broker_id() -> None:
    rejection = rejected(read, "\n" + CONFIGS.replace("broker 2 are", "broker x are"))
    assert rejection.line == 5
    assert "a broker id" in rejection.detail


def test_the_answers_of_older_tools() -> None:
    """Up to 3.x the keys are in the order of a Scala map."""
    text = (
        "Querying brokers for log directories information\nReceived log directory information from brokers 0\n"
        '{"version":1,"brokers":[{"broker":0,"logDirs":[{"logDir":"/var/lib/kafka","error":null,"partitions":'
        '[{"partition":"__consumer_offsets-22","size":7,"offsetLag":0,"isFuture":false}]}]}]}\n'
    )
    before = (
        "OpenJDK 64-Bit Server VM warning: Option UseConcMarkSweepGC was deprecated in version 9.0\n"
        "[2021-03-04 05:06:07,008] WARN [AdminClient clientId=adminclient-1] x (o.a.k.clients.NetworkClient)\n"
    )
    assert sizes(read(before + text + before)) == {("__consumer_offsets", 22): 7}


def test_the_partition_number_follows_the_last_dash() -> None:
    text = (
        '{"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","partitions":[{"partition":"topic-with-12-3","size":1}]}]}]}'
    )
    assert sizes(read(text)) == {("topic-with-12", 3): 1}


def _answer(partition: str) -> str:
    lines = [
        "Querying brokers for log directories information",
        '{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":[',
        '{"partition":"t-0","size":1},',
        partition + "]}]}]}",
    ]
    return "\n".join(lines)


def test_answers_of_one_broker_each_are_joined() -> None:
    one, other = (f'{{"version":1,"brokers":[{{"broker":{i},"logDirs":[]}}]}}\n' for i in (1, 2))
    (first,), (second,) = read(one).brokers, read(other).brokers
    assert read(one + other + one).brokers == (first, second)


PLACE = "brokers/0/logDirs/0/partitions/1"


@pytest.mark.parametrize(
    ("partition", "says"),
    [
        ('{"partition":"t-0","size":2}', f"{PLACE}: expected each replica of a broker once, found t-0 again"),
        ('{"partition":"t","size":2}', f"{PLACE}/partition: expected a topic and its partition"),
        ('{"partition":"t-x","size":2}', f"{PLACE}/partition: expected a topic and its partition"),
        ('{"partition":"-1","size":2}', f"{PLACE}/partition: expected a topic and its partition"),
        ('{"partition":"t-2147483648","size":2}', f"{PLACE}/partition: expected a topic and its partition"),
        ('{"partition":"a b-1","size":2}', f"{PLACE}/partition: expected a topic and its partition"),
        ('{"partition":"t-1","size":-2}', f"{PLACE}/size: expected a whole number"),
        ('{"partition":"t-1","size":9223372036854775808}', f"{PLACE}/size: expected a whole number"),
        ('{"partition":"t-1","size":1,"isFuture":0}', f"{PLACE}/isFuture: expected true or false"),
        ('{"partition":"t-1"}', f"{PLACE}: expected the key 'size', found the keys 'partition'"),
        ('{"partition":"t-1","size":null}', f"{PLACE}/size: expected a whole number"),
        ("7", f"{PLACE}: expected an object"),
    ],
)
def test_a_replica_is_rejected_by_its_place_and_line(partition: str, says: str) -> None:
    rejection = rejected(read, _answer(partition))
    assert says in rejection.detail
    assert rejection.line == 4


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "the log directories as JSON"),
        (sample(CAPTURE)[:-40], 3, "the log directories as JSON"),
        (sample(CAPTURE) + "{}", 4, "expected the key 'brokers'"),
        ('{"version":2,"brokers":[]}', 1, "version: expected version 1"),
        (
            '{"brokers":[{"broker":1,"logDirs":[]},\n{"broker":1,"logDirs":[{"logDir":"/d","partitions":[]}]}]}',
            2,
            "brokers/1/broker: expected each",
        ),
        ('{"brokers":[{"broker":-1,"logDirs":[]}]}', 1, "brokers/0/broker: expected a whole number"),
        ('{"brokers":[{"broker":1,"logDirs":null}]}', 1, "brokers/0/logDirs: expected an array, found null"),
        (
            '{"brokers":[{"broker":1,"logDirs":[{"logDir":1,"partitions":[]}]}]}',
            1,
            "logDirs/0/logDir: expected a string",
        ),
        (
            '{"brokers":[{"broker":1,"logDirs":[{"logDir":"","error":1,"partitions":[]}]}]}',
            1,
            "logDirs/0/error: expected a string",
        ),
    ],
)
def test_a_malformed_text_is_named_by_line_and_expectation(text: str, line: int, says: str) -> None:
    rejection = rejected(read, text)
    assert says in rejection.detail
    assert rejection.line == line


def test_a_missing_key_is_named_as_kafka_writes_it() -> None:
    replica = '{"partition":"t-0","size":1}'
    text = f'{{"brokers":[\n{{"broker":1,"logDirs":[\n{{"logDir":"/d","partitions":[\n{replica}]}}]}}]}}'
    assert read(text).brokers[0].log_dirs[0].replicas[0].size_bytes == 1
    places = {
        "brokers": "the document",
        **dict.fromkeys(("broker", "logDirs"), "brokers/0"),
        **dict.fromkeys(("logDir", "partitions"), "brokers/0/logDirs/0"),
        **dict.fromkeys(("partition", "size"), "brokers/0/logDirs/0/partitions/0"),
    }
    for key, place in places.items():
        rejection = rejected(read, text.replace(f'"{key}":', '"renamed":'))
        assert f"{place}: expected the key '{key}', found the keys " in rejection.detail
        assert "renamed" in rejection.detail
        assert rejection.line == 1 + len(place.split("/")) // 2


@given(st.text())
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)


@costly(200)
@given(st.data())
def test_any_broken_capture_reads_or_is_rejected(data: st.DataObject) -> None:
    reads_or_rejects(read, data.draw(broken(sample(CAPTURE))))
    reads_or_rejects(read, data.draw(broken(CONFIGS)))
    reads_or_rejects(read, data.draw(broken(_answer('{"partition":"t-1","size":2}'))))
