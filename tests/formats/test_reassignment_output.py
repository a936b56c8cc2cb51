"""Output of `kafka-reassign-partitions`, recognized by its contents."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.requests import MalformedText
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.kafka_files.reassignment_output import State, VerifiedPartition, read
from tests.formats.writers.reassignment import write_generated
from tests.profiles import costly

SAMPLES = Path(__file__).parents[1] / "samples"
PARTITIONS = st.lists(
    st.tuples(
        st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,20}", fullmatch=True),
        st.integers(0, 2**31 - 1),
        st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4, unique=True),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:2],
)
NOISE = ("$ bin/kafka-reassign-partitions.sh --verify", "```", "Defaulted container kafka out of: kafka, init", "")
NEVER_PRINTED = (
    "Status of partition reassignment:\n",
    "Clearing broker-level throttles on brokers 1,2,3\nClearing topic-level throttles on topics orders\n",
)


def document(rows: list[tuple[str, int, list[int]]]) -> Reassignment:
    return Reassignment(tuple(PartitionReassignment(name, at, tuple(ids)) for name, at, ids in rows))


@costly()
@given(PARTITIONS, PARTITIONS, st.sampled_from(NOISE), st.sampled_from(NOISE))
def test_generate_is_what_it_proposes(
    current: list[tuple[str, int, list[int]]], proposed: list[tuple[str, int, list[int]]], before: str, after: str
) -> None:
    text = write_generated(document(current), document(proposed))
    output = read(f"{before}\n{text}\n{after}")
    assert (output.source, output.reassignment) == ("generate", document(proposed))
    assert len(output.skipped) == bool(before) + bool(after)


@costly()
@given(PARTITIONS)
def test_a_file_is_itself(rows: list[tuple[str, int, list[int]]]) -> None:
    output = read(reassignment.write(document(rows)))
    assert (output.source, output.reassignment, output.skipped) == ("file", document(rows), ())


@given(PARTITIONS, st.data())
def test_verify_has_each_partition(rows: list[tuple[str, int, list[int]]], data: st.DataObject) -> None:
    lines: dict[State, str] = {
        "complete": "Reassignment of partition {0} is completed.",
        "in_progress": "Reassignment of partition {0} is still in progress.",
        "failed": "There is no active reassignment of partition {0}, but replica set is 9,8 rather than {1}.",
    }
    states = [data.draw(st.sampled_from(list(lines))) for _ in rows]
    text = "".join(
        lines[state].format(f"{name}-{at}", ",".join(map(str, ids))) + "\n"
        for state, (name, at, ids) in zip(states, rows, strict=True)
    )
    output = read(text.join(NEVER_PRINTED))
    assert (output.source, output.skipped) == ("verify", ())
    assert list(output.verified) == [
        VerifiedPartition(name, at, state, tuple(ids) if state == "failed" else None)
        for state, (name, at, ids) in zip(states, rows, strict=True)
    ]


def test_real_outputs() -> None:
    generated, executed = (
        read((SAMPLES / f"kafka-reassign-partitions-{what}.txt").read_text()) for what in ("generate", "execute")
    )
    assert (generated.source, executed.source) == ("generate", "execute")
    assert generated.reassignment == reassignment.read((SAMPLES / "reassignment-proposed.json").read_text())
    assert executed.reassignment is not None
    assert generated.skipped == executed.skipped == ()


def test_older_releases_say_it_otherwise() -> None:
    text = "Reassignment of partition a-0 completed successfully\nReassignment of partition a-b-1 failed\n"
    assert [(one.topic, one.partition, one.state) for one in read(text).verified] == [
        ("a", 0, "complete"),
        ("a-b", 1, "failed"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the output of kafka-reassign-partitions"),
        ("Topic: orders\n", "Topic: orders"),
        ("Current partition replica assignment\n\n{}\n", "Save this"),
        ("Proposed partition reassignment configuration\n{}\n", "Current partition"),
        ('{"version":1,"partitions":[{', "line 1"),
        ("Reassignment of partition orders is completed.", "a partition, topic-0"),
        ("Reassignment of partition orders-99999999999 is completed.", "a partition, topic-0"),
    ],
)
def test_what_is_none_is_named(text: str, words: str) -> None:
    with pytest.raises(MalformedText) as malformed:
        read(text)
    assert words in malformed.value.detail


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Created.\nTopic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n",
            "line 2: .* of topics, which POST /v1/snapshots",
        ),
        ("Current partition reassignments:\n", "kafka-reassign-partitions --list, which POST /v1/snapshots reads"),
        ("-----+----\n  ID | LEADER |\n", "a table of topicctl"),
        ("kind: KafkaRebalance\nspec:\n  mode: full\n", "rackplan plan reassignment --request reads it"),
        ("orders\r\npayments\r\n", "kafka-topics --list"),
    ],
)
def test_what_is_no_reassignment_is_named(text: str, words: str) -> None:
    with pytest.raises(MalformedText, match=words):
        read(text)
