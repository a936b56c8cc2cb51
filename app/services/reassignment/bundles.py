"""All that an operator executes, in one archive: each batch and its way back, in the order in which they run.

    README.txt             in which order, with which commands
    01-execute.json        each batch for kafka-reassign-partitions, and
    01-rollback.json       what brings back what was there before it
    rollback.json          the same for everything at once
    leader-election.json   for kafka-leader-election: partitions whose preferred leader is another one
    new-partitions/t.txt   for kafka-topics --alter: topics that get partitions

The same plan gives the same bytes: entries have no time and stand in that order.
"""

import io
import shlex
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.core.measures.transfers import ChangedPartitions, Transfers
from app.core.model import NO_REPLICA, Assignment, Cluster
from app.core.reassignment import awaits_election
from app.errors import NotExportable
from app.formats import leader_election, reassignment, replica_assignment
from app.formats.quantities import byte_size, counted, known_size
from app.formats.reassignment import PartitionReassignment, Reassignment
from app.formats.reassignment_diffs import sentences
from app.services.reassignment.kept import Steps, batches_of
from app.store.plans import NewPlan, PlanHead

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip archive can name."""
_BOOTSTRAP = "--bootstrap-server localhost:9092"
_REASSIGN = f"kafka-reassign-partitions.sh {_BOOTSTRAP} --reassignment-json-file"
_ELECT = f"kafka-leader-election.sh {_BOOTSTRAP} --election-type preferred --path-to-json-file leader-election.json"
_NEW_STAY = "Partitions that were created stay: Kafka removes none."
_IN_ORDER = "Do this in order, and begin nothing before what stands above it is complete."
_BACK = [
    "To go back, execute and verify the rollback file of each batch that was begun in the same way, the last one",
    "first, or rollback.json for all of them at once. Do not rely on --cancel: it restores which brokers have",
    "replicas, but not their order, and with it not the preferred leaders. Where these change back, they",
    "need an election again.",
]


def write(head: PlanHead | NewPlan, found: Transfers, cluster: Cluster) -> bytes:
    """The archive of a plan that moves this of the cluster."""
    steps = batches_of(head)
    grown = grown_topics(found)
    elected = _elected(head, found, cluster)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _entries(head, found, steps, grown, elected):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # files of Unix, whatever wrote them
            archive.writestr(entry, content)
    return stream.getvalue()


def execute_file(found: Transfers) -> bytes:
    """What makes the whole plan at once: the partitions that differ and are there."""
    return reassignment.write_assignments(
        {its.topic: Assignment(its.partition_ids, its.after) for its in _there(found)}
    )


def rollback_file(found: Transfers) -> bytes:
    """What was there before of the same partitions, each list in its order."""
    before = {its.topic: Assignment(its.partition_ids, its.before) for its in _there(found)}
    return reassignment.write_assignments(before)


def batch_file(steps: Steps, number: int, *, is_inverse: bool) -> bytes:
    """What executes a batch, counted from 0, or brings back what was there before it."""
    listed = steps.listed(number, is_inverse=is_inverse)
    partitions = tuple(PartitionReassignment(topic, partition, tuple(ids)) for topic, partition, ids in listed)
    return reassignment.write(Reassignment(partitions)).encode()


def grown_topics(found: Transfers) -> dict[str, Assignment]:
    """The topics that get new partitions, with all that they have afterwards."""
    grown = {changed.topic for changed in found.changed() if (changed.before[:, 0] == NO_REPLICA).any()}
    return {
        topic.topic: Assignment(topic.partition_ids, topic.after)
        for topic in found.movement.topics
        if topic.topic in grown
    }


def replica_assignment_file(name: str, assignment: Assignment) -> bytes:
    """The argument of `kafka-topics --alter --replica-assignment`, from partition 0 on.

    Raises `NotExportable` where the argument cannot say it: partitions are missing, or factors differ.
    """
    if not np.array_equal(assignment.partition_ids, np.arange(len(assignment.partition_ids))):
        raise NotExportable(f"--replica-assignment names every partition, and {name} lacks some", topic=name)
    rows = assignment.replicas[:, ~(assignment.replicas == NO_REPLICA).all(axis=0)]
    if (rows == NO_REPLICA).any():
        detail = f"--replica-assignment wants one replication factor, and the partitions of {name} have several"
        raise NotExportable(detail, topic=name)
    return (replica_assignment.write(rows) + "\n").encode()


def _there(found: Transfers) -> Iterator[ChangedPartitions]:
    """What differs, without the partitions that are new."""
    for changed in found.changed():
        is_there = changed.before[:, 0] != NO_REPLICA
        yield changed if is_there.all() else changed.only(is_there)


def _elected(head: PlanHead | NewPlan, found: Transfers, cluster: Cluster) -> list[tuple[str, int]]:
    """The partitions whose preferred replicas are to be made their leaders.

    They are those whose first replica is another than before; and where leaders are to be the preferred ones, or even,
    which counts those, also partitions that another replica leads already.
    """
    _, request = _loose(head)
    elected = set(_led_anew(found))
    if request["balance"]["leaders"] != "keep":
        scope = request["topics"]
        for topic in cluster.topics:
            if scope is None or topic.name in scope:
                elected.update((topic.name, row) for row in topic.partition_ids[awaits_election(topic)].tolist())
    return sorted(elected)


def _led_anew(found: Transfers) -> Iterator[tuple[str, int]]:
    for changed in _there(found):
        is_other = changed.before[:, 0] != changed.after[:, 0]
        yield from ((changed.topic, partition) for partition in changed.partition_ids[is_other].tolist())


def _entries(
    head: PlanHead | NewPlan,
    found: Transfers,
    steps: Steps,
    grown: Mapping[str, Assignment],
    elected: Sequence[tuple[str, int]],
) -> Iterator[tuple[str, bytes]]:
    yield "README.txt", _readme(head, found, steps, grown, has_election=bool(elected)).encode()
    for number, name in enumerate(_numbers(steps)):
        yield f"{name}-execute.json", batch_file(steps, number, is_inverse=False)
        yield f"{name}-rollback.json", batch_file(steps, number, is_inverse=True)
    yield "rollback.json", rollback_file(found)
    yield "leader-election.json", leader_election.write(elected).encode()
    for topic, assignment in grown.items():
        yield f"new-partitions/{topic}.txt", replica_assignment_file(topic, assignment)


def _numbers(steps: Steps) -> list[str]:
    width = max(len(str(len(steps))), 2)
    return [f"{number:0{width}d}" for number in range(1, len(steps) + 1)]


def _readme(
    head: PlanHead | NewPlan, found: Transfers, steps: Steps, grown: Mapping[str, Assignment], *, has_election: bool
) -> str:
    answer, request = _loose(head)
    throttle = request["batches"]["throttle_bytes_per_s"]
    title = "Reassignment" + (f" of the cluster {head.cluster}" if head.cluster else "")
    parts = [
        [title, f"Plan {head.hash}"],
        sentences(found),
        [_IN_ORDER],
    ]
    if grown:
        parts.append(["Create the new partitions:", *_creating(grown)])
    if len(steps):
        parts.append(["Run the batches:", *_running(_numbers(steps), answer["batches"], steps)])
        parts.append(_commands(throttle))
    if has_election:
        parts.append(["Let the preferred leaders lead, once all batches are complete:", f"  {_ELECT}"])
    parts.append([*_BACK, *([_NEW_STAY] if grown else [])])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _creating(grown: Mapping[str, Assignment]) -> Iterator[str]:
    for topic, assignment in grown.items():
        yield f"  kafka-topics.sh {_BOOTSTRAP} --alter --topic {shlex.quote(topic)} \\"
        yield f"    --partitions {len(assignment.partition_ids)} \\"
        yield f'    --replica-assignment "$(cat {shlex.quote(f"new-partitions/{topic}.txt")})"'


def _running(numbers: Sequence[str], batches: Sequence[Mapping[str, Any]], steps: Steps) -> Iterator[str]:
    for number, (name, batch) in enumerate(zip(numbers, batches, strict=True)):
        if number >= steps.moving:
            partitions = steps.batch(number)
            told = f"{counted(partitions.stop - partitions.start, 'partition')} reordered, nothing copied"
        else:
            unknown, replicas = batch["unknown_size_replicas"], batch["moved_replicas"]
            size = known_size(batch["moved_bytes"], replicas=replicas, unknown=unknown)
            told = f"{counted(replicas, 'replica')}, {size}"
        seconds = batch["seconds"]
        yield f"  {name}-execute.json  {told}" + (f", {max(round(seconds), 1):,} s at the throttle" if seconds else "")


def _commands(throttle: int | None) -> list[str]:
    limit = f" --throttle {throttle}" if throttle else ""
    told = [
        "each by these two, the second one until it says that all is complete:",
        f"  {_REASSIGN} 01-execute.json --execute{limit}",
        f"  {_REASSIGN} 01-execute.json --verify",
    ]
    if throttle:
        told.append(f"The throttle is {byte_size(throttle)}/s; --verify takes it away when the batch is complete.")
    return told


def _loose(head: PlanHead | NewPlan) -> tuple[Any, Any]:
    return head.answer, head.request
