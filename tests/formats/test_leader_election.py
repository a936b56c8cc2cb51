"""The JSON that names partitions to `kafka-leader-election`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm.hashes import TopicPartition
from app.core.model import INT32_MAX
from app.formats.kafka_files.reassignment import write_leader_election
from tests.formats.readers.leader_election import read
from tests.formats.strategies import broken, reads_or_rejects, rejected, topic_names

partitions = st.lists(st.tuples(topic_names, st.integers(0, INT32_MAX)), unique=True, max_size=6)
DOCUMENT = '{"partitions":[{"topic":"orders","partition":0},{"topic":"a.b","partition":12}]}\n'


@given(partitions)
def test_what_is_written_reads_back(elected: list[TopicPartition]) -> None:
    assert read(write_leader_election(elected)) == tuple(elected)


def test_a_worked_example() -> None:
    elected = (("orders", 0), ("a.b", 12))
    assert read(DOCUMENT) == elected
    assert write_leader_election(elected) == DOCUMENT


def test_the_version_that_the_former_tool_wrote_is_read() -> None:
    assert read('{"version":1,"partitions":[]}') == ()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            '{"partitions":[\n{"topic":"a","partition":1},\n{"partition":1,"topic":"a"}]}',
            3,
            "partitions/1: expected each",
        ),
        ('{"partitions":[\n{"topic":"a","partition":1},\n"b"]}', 3, "partitions/1: expected an object"),
        ('{"partitions":[\n{"topic":"a"}]}', 2, "partitions/0: expected the key 'partition'"),
        ('{"partitions":[{"partition":1}]}', 1, "partitions/0: expected the key 'topic'"),
        ('{"partitions":[{"topic":"a","partition":-1}]}', 1, "partitions/0/partition: expected a whole number from 0"),
        ('{"partitions":[{"topic":"a","partition":2147483648}]}', 1, "partitions/0/partition: expected a whole number"),
        ('{"partitions":[{"topic":"a","partition":"1"}]}', 1, "partitions/0/partition: expected a whole number"),
        ('{"partitions":[{"topic":"a/b","partition":1}]}', 1, "partitions/0/topic: expected a topic name"),
        ('{"partitions":[{"topic":"a","partition":1,\n"replicas":[1]}]}', 2, "replicas: expected only the keys"),
        ('{"version":2,"partitions":[]}', 1, "version: expected version 1"),
        ('{"partitions":{}}', 1, "partitions: expected an array"),
        ("{}", 1, "the document: expected the key 'partitions'"),
        ('{"partitions":[],\n"topics":[]}', 2, "topics: expected only the keys"),
        ('{"partitions":[\n', 2, "a leader election as JSON"),
    ],
)
def test_a_malformed_document_is_named_by_place_and_line(text: str, line: int, says: str) -> None:
    rejection = rejected(read, text)
    assert says in rejection.detail
    assert rejection.line == line


@given(st.text() | broken(DOCUMENT))
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)
