"""The JSON that `kafka-reassign-partitions` executes, also within the output of `--generate` and `--execute`.

    {"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[101,105],"log_dirs":["any","any"]}]}

`log_dirs` may be missing, and Confluent's tool also has `observers`. The tool prints `"any"` for each replica. Since
4.2 `--generate` prints the directories of the current replicas, and since 4.3 `"any"` for those on a broker that is
down. `--generate` prints

    Current partition replica assignment
    {…}

    Proposed partition reassignment configuration
    {…}

(up to 1.x with an empty line after each heading) and `--execute` the first of these between blank lines, then `Save
this to use as the --reassignment-json-file option during rollback` and the started moves. Kafka ignores unknown
keys; a misspelt one is rejected here.

Source: `ReassignPartitionsCommand` of Apache Kafka, `parsePartitionReassignmentData`.

The argument of `kafka-topics --replica-assignment`: a list of replicas a partition, from partition 0 on.

    101:105:108,104:109:102

Partitions are separated by commas, the broker ids of one by colons, the preferred leader first. Every partition has
the same number of replicas.

Source: `TopicCommand.parseReplicaAssignment` of Apache Kafka.

The JSON that `kafka-leader-election --path-to-json-file` takes: whose leader is to be elected anew.

    {"partitions":[{"topic":"orders","partition":0},{"topic":"orders","partition":1}]}

With `--election-type preferred` the first replica of each becomes the leader, if it is in sync. The key `version`,
which the tool's predecessor wrote, is left out.

Source: `LeaderElectionCommand` of Apache Kafka, `parseReplicaElectionData`.

The JSON that names topics to `kafka-reassign-partitions --generate --topics-to-move-json-file`.

    {"version":1,"topics":[{"topic":"orders"},{"topic":"payments"}]}

Source: `ReassignPartitionsCommand` of Apache Kafka, `parseTopicsData`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from app.core.jvm.hashes import TopicPartition
from app.core.model import NO_REPLICA, Assignment, Int32s, Placement
from app.errors import FieldPath
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import LOG_LINE, last_line, rejection
from app.formats.syntax.row_text import format_rows, literal, with_partition_ids

ANY_LOG_DIR = "any"
CURRENT = "Current partition replica assignment"
PROPOSED = "Proposed partition reassignment configuration"
SAVE = "Save this to use as the --reassignment-json-file option during rollback"


@dataclass(frozen=True, slots=True)
class PartitionReassignment:
    """The target replicas of a partition, the preferred leader first.

    Parameters
    ----------
    log_dirs : a directory or `any` for each replica; None if the document leaves them out.
    observers : the replicas that are observers in Confluent Server.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] | None = None
    observers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A reassignment document. Kafka executes none without partitions; it can be read and written all the same."""

    partitions: tuple[PartitionReassignment, ...]


def read(text: str) -> Reassignment:
    """Read a reassignment document.

    Raises
    ------
    MalformedText
        The text is no JSON, of another version or shape, has unknown keys, no replicas, a replica twice, a negative
        id, a partition twice or another number of `log_dirs` than replicas; names the place, `partitions/3/replicas`.
    """
    document = Document.parse(text, "a reassignment")
    members = document.members(document.root, (), required=("partitions",), optional=("version",))
    document.version_one(members)
    partitions: list[PartitionReassignment] = []
    seen: set[tuple[str, int]] = set()
    for i, value in enumerate(document.array(members["partitions"], ("partitions",))):
        partition = _partition(document, value, ("partitions", i))
        key = (partition.topic, partition.partition)
        if key in seen:
            actual = f"{partition.topic}-{partition.partition} again"
            raise document.reject(("partitions", i), expected="each partition once", actual=actual)
        seen.add(key)
        partitions.append(partition)
    return Reassignment(tuple(partitions))


def write(reassignment: Reassignment) -> str:
    """Print the document as the tool does: one compact line, keys in its order."""
    partitions = [_members(partition) for partition in reassignment.partitions]
    return orjson.dumps({"version": 1, "partitions": partitions}).decode() + "\n"


def write_placements(placements: Iterable[Placement]) -> bytes:
    """The document that makes the placements, without `log_dirs`, as the tool executes it."""
    return _written((placement.topic, placement.assignment) for placement in placements)


def write_assignments(assignments: Mapping[str, Assignment]) -> bytes:
    """The document that makes the assignments, by topic in their order and without `log_dirs`.

    A million partitions take well under two seconds: partitions are not made into records.
    """
    return _written(assignments.items())


def read_between(text: str, *, after: str, until: str | None) -> Reassignment:
    """Read the document between two headings of `--generate` or `--execute`; raises `MalformedText` as `read` does, or
    without one of the headings.
    """
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    if after not in stripped:
        raise rejection(1, expected=f"the line {after!r}", actual="none such")
    start = stripped.index(after) + 1
    end = len(lines)
    if until is not None:
        if until not in stripped[start:]:
            raise rejection(last_line(text), expected=f"the line {until!r}", actual="the end of the text")
        end = stripped.index(until, start)
    document_lines = ["" if LOG_LINE.match(line) else line for line in lines[start:end]]
    return read("\n".join([""] * start + document_lines))


def _partition(document: Document, value: object, path: FieldPath) -> PartitionReassignment:
    optional = ("log_dirs", "observers")
    members = document.members(value, path, required=("topic", "partition", "replicas"), optional=optional)
    replicas = document.replicas(members["replicas"], (*path, "replicas"))
    return PartitionReassignment(
        topic=document.topic_name(members["topic"], (*path, "topic")),
        partition=document.integer(members["partition"], (*path, "partition")),
        replicas=replicas,
        log_dirs=_log_dirs(document, members, (*path, "log_dirs"), replicas) if "log_dirs" in members else None,
        observers=_observers(document, members, (*path, "observers"), replicas),
    )


def _log_dirs(
    document: Document, members: dict[str, object], path: FieldPath, replicas: Sequence[int]
) -> tuple[str, ...]:
    values = document.array(members["log_dirs"], path)
    if len(values) != len(replicas):
        expected = f"a directory for each of {len(replicas)} replicas"
        raise document.reject(path, expected=expected, actual=f"{len(values)} directories")
    return tuple([document.string(value, (*path, i)) for i, value in enumerate(values)])


def _observers(
    document: Document, members: dict[str, object], path: FieldPath, replicas: Sequence[int]
) -> tuple[int, ...]:
    observers = document.replicas(stated, path) if (stated := members.get("observers")) else ()
    if unknown := set(observers).difference(replicas):
        raise document.reject(path, expected="observers among the replicas", actual=f"{min(unknown)}, not a replica")
    return observers


def _members(partition: PartitionReassignment) -> dict[str, object]:
    members: dict[str, object] = {
        "topic": partition.topic,
        "partition": partition.partition,
        "replicas": partition.replicas,
    }
    if partition.log_dirs is not None:
        members["log_dirs"] = partition.log_dirs
    if partition.observers:
        members["observers"] = partition.observers
    return members


def _written(topics: Iterable[tuple[str, Assignment]]) -> bytes:
    texts = [_topic_text(topic, assignment) for topic, assignment in topics if len(assignment.partition_ids)]
    return b"".join([b'{"version":1,"partitions":[', ",".join(texts).encode(), b"]}\n"])


def _topic_text(topic: str, assignment: Assignment) -> str:
    start = f'{{"topic":{literal(orjson.dumps(topic).decode())},"partition":%d,"replicas":['

    def template(width: int) -> str:
        return start + ",".join(["%d"] * (width - 1)) + "]}"

    matrix = with_partition_ids(assignment.partition_ids, assignment.replicas)
    return format_rows(matrix, template, separator=",")


def write_replica_assignment(replicas: Int32s) -> str:
    """The argument that makes the assignment.

    Parameters
    ----------
    replicas : (partitions, replication_factor) int32 broker ids, from partition 0 on.

    Raises
    ------
    ValueError
        There is no partition or no replica, or the rows are of unequal length: the argument cannot say that.
    """
    if not replicas.size or bool((replicas == NO_REPLICA).any()):
        raise ValueError("a replica assignment has partitions, all with the same number of replicas, at least one")
    return format_rows(replicas, lambda width: ":".join(["%d"] * width), separator=",")


def write_leader_election(partitions: Iterable[TopicPartition]) -> str:
    """Print the document on one compact line."""
    rows = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    return orjson.dumps({"partitions": rows}).decode() + "\n"


def read_topics_to_move(text: str) -> tuple[str, ...]:
    """Read the topics' names in their order.

    Raises
    ------
    MalformedText
        The text is no JSON, of another version or shape, has unknown keys, or names a topic twice (which Kafka's
        tool rejects as well).
    """
    document = Document.parse(text, "topics to move")
    members = document.members(document.root, (), required=("topics",), optional=("version",))
    document.version_one(members)
    topics: dict[str, None] = {}
    for i, value in enumerate(document.array(members["topics"], ("topics",))):
        path = ("topics", i)
        topic = document.topic_name(document.members(value, path, required=("topic",))["topic"], (*path, "topic"))
        if topic in topics:
            raise document.reject(path, expected="each topic once", actual=f"topic {topic!r} again")
        topics[topic] = None
    return tuple(topics)
