"""The JSON that names topics to `--generate`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.kafka_files.reassignment import read_topics_to_move
from tests.formats.strategies import broken, reads_or_rejects, rejected, sample, topic_names
from tests.formats.writers.topics_to_move import write

CAPTURE = "topics-to-move.json"


@given(st.lists(topic_names, unique=True))
def test_what_is_written_reads_back(topics: list[str]) -> None:
    assert read_topics_to_move(write(topics)) == tuple(topics)


def test_the_real_document_comes_back_verbatim() -> None:
    assert read_topics_to_move(sample(CAPTURE)) == (
        "orders",
        "payments",
        "clicks",
        "audit-log",
        "sessions",
        "inventory.changes",
    )
    assert write(read_topics_to_move(sample(CAPTURE))) == sample(CAPTURE)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('{"topics":[\n{"topic":"a"},\n{"topic":"a"}]}', 3, "topics/1: expected each topic once"),
        ('{"topics":[\n{"topic":"a"},\n"b"]}', 3, "topics/1: expected an object"),
        ('{"topics":[\n{"topic":"a","partition":1}]}', 2, "topics/0/partition: expected only the keys topic"),
        ('{"topics":[{"topic":"a/b"}]}', 1, "topics/0/topic: expected a topic name"),
        ('{"topics":[{}]}', 1, "topics/0: expected the key 'topic', found an empty object"),
        ('{"version":0,"topics":[]}', 1, "version: expected version 1"),
        ('{"version":1}', 1, "the document: expected the key 'topics'"),
        ('{"topics":[],\n"x":1}', 2, "x: expected only the keys topics, version"),
        ('{"topics":[\n', 2, "topics to move as JSON"),
    ],
)
def test_a_malformed_document_is_named_by_place_and_line(text: str, line: int, says: str) -> None:
    rejection = rejected(read_topics_to_move, text)
    assert says in rejection.detail
    assert rejection.line == line


@given(st.text() | broken(sample(CAPTURE)))
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read_topics_to_move, text)
