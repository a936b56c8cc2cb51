"""A reassignment as files: the files of Kafka's tools, forwards and back, tables, and one archive of everything.

`kafka-reassign-partitions` rejects partitions that do not exist, so that no file for it names new ones: those are
created first, by `kafka-topics --alter --replica-assignment`. A rollback executes the previous lists: Kafka's own
cancelling restores which brokers have replicas, not which of them leads.

The archive, in the order in which its parts run:

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
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from zlib import decompress

import numpy as np

from app.core.measures.transfers import ChangedPartitions, Transfers
from app.core.model import NO_REPLICA, Assignment, Cluster, Int32s, Int64s, unpadded
from app.errors.quotation import escaped
from app.errors.requests import NotExportable
from app.formats import leader_election, reassignment, reassignment_diffs, reassignment_tables, replica_assignment
from app.formats.quantities import byte_size, counted, known_size
from app.formats.reassignment import PartitionReassignment, Reassignment
from app.formats.reassignment_diffs import sentences
from app.services.plans import MARKDOWN_ROWS, STEPS, ClusterOf, Plan, Write
from app.services.reassignment.differences import compared
from app.store.records import NewPlan, PlanHead

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip archive can name."""
_BOOTSTRAP = "--bootstrap-server localhost:9092"
_REASSIGN = f"kafka-reassign-partitions.sh {_BOOTSTRAP} --reassignment-json-file"
_ELECT = f"kafka-leader-election.sh {_BOOTSTRAP} --election-type preferred --path-to-json-file leader-election.json"
_NEW_STAY = "Partitions that were created stay: Kafka removes none."
_IN_ORDER = "Run these steps in order; complete each one before the next."
_SAME_FACTORS = [
    "No replication factor changes. If --execute has the option --disallow-replication-factor-change, Kafka 4.1",
    "and later rejects a batch that would change one (KIP-860).",
]
_BACK = [
    "To go back, execute and verify the rollback file of each batch that was begun in the same way, the last one",
    "first, or rollback.json for all of them at once. Do not rely on --cancel: it restores which brokers have",
    "replicas, but not their order, and with it not the preferred leaders. Where these change back, they",
    "need an election again.",
]


@dataclass(frozen=True, slots=True, eq=False)
class StoredSteps:
    """Steps by batch, each a partition's replica list before and after.

    Parameters
    ----------
    topics : names. topic_of : (steps,) int32 indices into them. partition_ids : (steps,) int32.
    before, after : (steps, widest) int32 broker ids, padded with `NO_REPLICA`.
    offsets : (batches + 1,) int64, where each batch begins.
    moving : how many batches copy data; the rest change the order of lists, and with it preferred leaders.
    """

    topics: tuple[str, ...]
    topic_of: Int32s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    offsets: Int64s = field(repr=False)
    moving: int

    def __len__(self) -> int:
        """How many batches there are."""
        return len(self.offsets) - 1

    @property
    def keeps_factors(self) -> bool:
        """Whether every step leaves as many replicas as there were."""
        counts = [(replicas != NO_REPLICA).sum(axis=1) for replicas in (self.before, self.after)]
        return np.array_equal(*counts)

    def batch(self, number: int) -> slice:
        """The steps of a batch, counted from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def listed(self, number: int, *, is_inverse: bool = False) -> Iterator[tuple[str, int, list[int]]]:
        """(topic, partition, replicas) of a batch; of its inverse, the lists before it."""
        steps = self.batch(number)
        rows = unpadded((self.before if is_inverse else self.after)[steps])
        names = (self.topics[topic] for topic in self.topic_of[steps].tolist())
        return zip(names, self.partition_ids[steps].tolist(), rows, strict=True)

    def undone(self) -> Iterator[tuple[str, int, list[int]]]:
        """(topic, partition, replicas) of every partition as it was before the first batch: the rollback of it all."""
        keys = np.column_stack([self.topic_of, self.partition_ids])
        _, first = np.unique(keys, axis=0, return_index=True)
        names = (self.topics[topic] for topic in self.topic_of[first].tolist())
        return zip(names, self.partition_ids[first].tolist(), unpadded(self.before[first]), strict=True)


def batches_of(head: PlanHead | NewPlan) -> StoredSteps:
    """The steps of a plan, read from its answer."""
    stored: Any = head.answer[STEPS]
    width = max(stored["width"], 1)
    return StoredSteps(
        topics=tuple(stored["topics"]),
        topic_of=_read(stored["topic_of"]),
        partition_ids=_read(stored["partition_ids"]),
        before=_read(stored["before"]).reshape(-1, width),
        after=_read(stored["after"]).reshape(-1, width),
        offsets=np.array(stored["offsets"], np.int64),
        moving=stored["moving"],
    )


def _read(text: str) -> Int32s:
    return np.frombuffer(decompress(b64decode(text)), "<i4")


def one_batch(plan: Plan | NewPlan, number: int, is_inverse: bool) -> bytes:
    """The execute file of the batch of that number, from 1 on, or of its inverse. Raises `NotExportable`."""
    steps = batches_of(plan.head if isinstance(plan, Plan) else plan)
    if not 1 <= number <= len(steps):
        there = f"has the batches 1 to {len(steps)}" if len(steps) else "has no batch, since it moves nothing"
        raise NotExportable(f"the plan {there}; there is no batch {number}", batches=len(steps))
    return batch_file(steps, number - 1, is_inverse=is_inverse)


def _of_transfers(write: Callable[[Transfers], bytes]) -> Write:
    """A writer of plans from a writer of their transfers."""

    def written(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
        return write(compared(plan, _known(cluster_of)))

    return written


def _known(cluster_of: ClusterOf) -> Cluster:
    cluster = cluster_of()
    if cluster is None:
        raise NotExportable("the plan was made from no snapshot, so that what it moves is unknown")
    return cluster


def _batches(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
    head = plan.head if isinstance(plan, Plan) else plan
    cluster = _known(cluster_of)
    return _archive(head, compared(plan, cluster), cluster)


def _replica_assignment(moved: Transfers) -> bytes:
    """The string is of one topic, from partition 0 on: Kafka counts off what the topic has already."""
    grown = grown_topics(moved)
    if not grown:
        raise NotExportable("no topic of the plan gets new partitions, and --replica-assignment is of those", topics=0)
    if len(grown) > 1:
        names = ", ".join(list(grown)[:10])
        raise NotExportable(f"--replica-assignment is of one topic; name one of: {names}", topics=len(grown))
    [(name, assignment)] = grown.items()
    return replica_assignment_file(name, assignment)


def _archive(head: PlanHead | NewPlan, moved: Transfers, cluster: Cluster) -> bytes:
    """The archive of a plan and its transfers."""
    steps = batches_of(head)
    grown = grown_topics(moved)
    elected = _elected(head, moved, cluster)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _entries(head, moved, steps, grown, elected):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # files of Unix, whatever wrote them
            archive.writestr(entry, content)
    return stream.getvalue()


def execute_file(moved: Transfers) -> bytes:
    """The execute file of the whole plan: existing partitions that differ."""
    return reassignment.write_assignments(
        {changed.topic: Assignment(changed.partition_ids, changed.after) for changed in _there(moved)}
    )


def rollback_file(moved: Transfers) -> bytes:
    """The rollback file of the whole plan: the previous lists of the same partitions."""
    before = {changed.topic: Assignment(changed.partition_ids, changed.before) for changed in _there(moved)}
    return reassignment.write_assignments(before)


def batch_file(steps: StoredSteps, number: int, *, is_inverse: bool) -> bytes:
    """The execute file of a batch, counted from 0, or its rollback."""
    listed = steps.listed(number, is_inverse=is_inverse)
    partitions = tuple(PartitionReassignment(topic, partition, tuple(ids)) for topic, partition, ids in listed)
    return reassignment.write(Reassignment(partitions)).encode()


def grown_topics(moved: Transfers) -> dict[str, Assignment]:
    """The topics that get new partitions, with all that they have afterwards."""
    grown = {changed.topic for changed in moved.changed() if (changed.before[:, 0] == NO_REPLICA).any()}
    return {
        topic.topic: Assignment(topic.partition_ids, topic.after)
        for topic in moved.movement.topics
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


def _there(moved: Transfers) -> Iterator[ChangedPartitions]:
    """What differs, without the partitions that are new."""
    for changed in moved.changed():
        is_there = changed.before[:, 0] != NO_REPLICA
        yield changed if is_there.all() else changed.only(is_there)


def _elected(head: PlanHead | NewPlan, moved: Transfers, cluster: Cluster) -> list[tuple[str, int]]:
    """The partitions whose preferred replicas are to be made their leaders.

    They are those whose first replica is another than before; and where leaders are to be the preferred ones, or even,
    which counts those, also partitions that another replica leads already.
    """
    _, request = _loose(head)
    elected = set(_led_anew(moved))
    if request["balance"]["leaders"] != "keep":
        scope = request["topics"]
        for topic in cluster.topics:
            if scope is None or topic.name in scope:
                elected.update((topic.name, row) for row in topic.partition_ids[topic.awaits_election].tolist())
    return sorted(elected)


def _led_anew(moved: Transfers) -> Iterator[tuple[str, int]]:
    for changed in _there(moved):
        is_other = changed.before[:, 0] != changed.after[:, 0]
        yield from ((changed.topic, partition) for partition in changed.partition_ids[is_other].tolist())


def _entries(
    head: PlanHead | NewPlan,
    moved: Transfers,
    steps: StoredSteps,
    grown: Mapping[str, Assignment],
    elected: Sequence[tuple[str, int]],
) -> Iterator[tuple[str, bytes]]:
    yield "README.txt", _readme(head, moved, steps, grown, has_election=bool(elected)).encode()
    for number, name in enumerate(_numbers(steps)):
        yield f"{name}-execute.json", batch_file(steps, number, is_inverse=False)
        yield f"{name}-rollback.json", batch_file(steps, number, is_inverse=True)
    yield "rollback.json", rollback_file(moved)
    yield "leader-election.json", leader_election.write(elected).encode()
    for topic, assignment in grown.items():
        yield f"new-partitions/{topic}.txt", replica_assignment_file(topic, assignment)


def _numbers(steps: StoredSteps) -> list[str]:
    width = max(len(str(len(steps))), 2)
    return [f"{number:0{width}d}" for number in range(1, len(steps) + 1)]


def _readme(
    head: PlanHead | NewPlan,
    moved: Transfers,
    steps: StoredSteps,
    grown: Mapping[str, Assignment],
    *,
    has_election: bool,
) -> str:
    answer, request = _loose(head)
    throttle = request["batches"]["throttle_bytes_per_s"]
    title = "Reassignment" + (f" of the cluster {escaped(head.cluster)}" if head.cluster else "")
    parts = [
        [title, f"Plan {head.hash}"],
        sentences(moved),
        [_IN_ORDER],
    ]
    if grown:
        parts.append(["Create the new partitions:", *_creating(grown)])
    if len(steps):
        parts.append(["Run the batches:", *_running(_numbers(steps), answer["batches"], steps)])
        parts.append(_commands(throttle, keeps_factors=steps.keeps_factors))
    if has_election:
        parts.append(["Let the preferred leaders lead, once all batches are complete:", f"  {_ELECT}"])
    parts.append([*_BACK, *([_NEW_STAY] if grown else [])])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _creating(grown: Mapping[str, Assignment]) -> Iterator[str]:
    for topic, assignment in grown.items():
        # Of --alter, unlike of --create, the topic is a regular expression, and a dot in it is any character.
        pattern = topic.replace(".", r"\.")
        yield f"  kafka-topics.sh {_BOOTSTRAP} --alter --topic {shlex.quote(pattern)} \\"
        yield f"    --partitions {len(assignment.partition_ids)} \\"
        yield f'    --replica-assignment "$(cat {shlex.quote(f"new-partitions/{topic}.txt")})"'


def _running(numbers: Sequence[str], batches: Sequence[Mapping[str, Any]], steps: StoredSteps) -> Iterator[str]:
    for number, (name, batch) in enumerate(zip(numbers, batches, strict=True)):
        if number >= steps.moving:
            partitions = steps.batch(number)
            words = f"{counted(partitions.stop - partitions.start, 'partition')} reordered, nothing copied"
        else:
            unknown, replicas = batch["unknown_size_replicas"], batch["moved_replicas"]
            size = known_size(batch["moved_bytes"], replicas=replicas, unknown=unknown)
            words = f"{counted(replicas, 'replica')}, {size}"
        seconds = batch["seconds"]
        yield f"  {name}-execute.json  {words}" + (f", {max(round(seconds), 1):,} s at the throttle" if seconds else "")


def _commands(throttle: int | None, *, keeps_factors: bool) -> list[str]:
    limit = f" --throttle {throttle}" if throttle else ""
    lines = [
        "each with these two commands; repeat the second one until all is complete:",
        f"  {_REASSIGN} 01-execute.json --execute{limit}",
        f"  {_REASSIGN} 01-execute.json --verify",
    ]
    if throttle:
        lines.append(f"The throttle is {byte_size(throttle)}/s; --verify takes it away when the batch is complete.")
    if keeps_factors:
        lines += _SAME_FACTORS
    return lines


def _loose(head: PlanHead | NewPlan) -> tuple[Any, Any]:
    return head.answer, head.request


EXPORTS: Mapping[str, Write] = MappingProxyType(
    {
        "reassignment": _of_transfers(execute_file),
        "rollback": _of_transfers(rollback_file),
        "batches": _batches,
        "replica_assignment": _of_transfers(_replica_assignment),
        "text": _of_transfers(lambda moved: reassignment_diffs.write_text(moved, limit=MARKDOWN_ROWS).encode()),
        "markdown": _of_transfers(lambda moved: reassignment_diffs.write_markdown(moved, limit=MARKDOWN_ROWS).encode()),
        "csv": _of_transfers(lambda moved: reassignment_tables.write_csv(moved.changed())),
        "arrow": _of_transfers(lambda moved: reassignment_tables.write_arrow(moved.changed())),
    }
)
"""The formats of a reassignment."""
