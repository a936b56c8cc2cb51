"""A reassignment as files: the files of Kafka's tools, forwards and back, tables, and one archive of everything.

`kafka-reassign-partitions` rejects partitions that do not exist, so that no file for it names new ones: those are
created first, by `kafka-topics --alter --replica-assignment`. A rollback executes the previous lists: Kafka's own
cancelling restores which brokers have replicas, not which of them leads.

The archive, in the order in which its parts run:

    README.txt             in which order, with which commands
    01-execute.json        each batch for kafka-reassign-partitions, and
    01-rollback.json       the previous assignment of its partitions
    rollback.json          the same for everything at once, if anything is reassigned
    leader-election.json   for kafka-leader-election: partitions whose preferred leader is another one
    new-partitions/t.txt   for kafka-topics --alter: topics that get partitions
    run.sh                 executes these in their order, and goes back; it reads the texts beside it:
    plan.txt, execute-steps.txt, rollback-steps.txt, copies.txt, created-partitions.txt
    SHA256SUMS             the checksums of all of them

The same plan gives the same bytes: entries have no time and stand in that order.
"""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from app.core.measures.transfers import ChangedRows, Transfers
from app.core.model import NO_REPLICA, Assignment, Cluster
from app.errors.every import NotExportable
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import Reassignment
from app.formats.tables import reassignment_diffs, reassignment_tables
from app.formats.tables.load_tables import Loads, write_loads_csv
from app.services.plans import MARKDOWN_ROWS, ClusterOf, Plan, Write
from app.services.reassignment.differences import compared
from app.services.reassignment.files import kubernetes, readme, script
from app.services.reassignment.files.stored_steps import StoredSteps, batches_of
from app.store.records import NewPlan, PlanHead

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip archive can name."""


def one_batch(plan: Plan | NewPlan, number: int, is_inverse: bool) -> bytes:
    """The execute file of the batch of that number, from 1 on, or of its inverse. Raises `NotExportable`."""
    steps = batches_of(plan.head)
    require_batch(steps, number)
    return batch_file(steps, number - 1, is_inverse=is_inverse)


def require_batch(steps: StoredSteps, number: int) -> None:
    """Raise `NotExportable` if the plan has no batch of that number, from 1 on."""
    if not 1 <= number <= len(steps):
        there = f"has the batches 1 to {len(steps)}" if len(steps) else "has no batch, since it moves nothing"
        raise NotExportable(f"the plan {there}; there is no batch {number}", batches=len(steps))


def _of_transfers(write: Callable[[Transfers], bytes]) -> Write:
    """A writer of plans from a writer of their transfers."""

    def written(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
        return write(compared(plan, _known(cluster_of)))

    return written


def _of_differences(write: Callable[..., str]) -> Write:
    """A writer of plans from a writer of their transfers and loads."""

    def written(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
        moved = compared(plan, _known(cluster_of))
        return write(moved, _loads(plan), plan.head.answer.get("log_dirs"), limit=MARKDOWN_ROWS).encode()

    return written


def _loads(plan: Plan | NewPlan) -> Loads:
    """The loads of the answer; empty of a plan that was stored before it had some."""
    loads: Any = plan.head.answer.get("loads") or {}
    return cast("Loads", loads)


def _known(cluster_of: ClusterOf) -> Cluster:
    cluster = cluster_of()
    if cluster is None:
        raise NotExportable("the plan was made from no snapshot, so that what it moves is unknown")
    return cluster


def _kubernetes(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
    return kubernetes.write(plan.head, dict(_Files.of(plan, cluster_of).executed()))


def _replica_assignment(moved: Transfers) -> bytes:
    """The string is of one topic, from partition 0 on: Kafka skips the partitions that exist."""
    grown = grown_topics(moved)
    if not grown:
        raise NotExportable("no topic of the plan gets new partitions, and --replica-assignment is of those", topics=0)
    if len(grown) > 1:
        names = ", ".join(list(grown)[:10])
        raise NotExportable(f"--replica-assignment is of one topic; name one of: {names}", topics=len(grown))
    [(name, assignment)] = grown.items()
    return replica_assignment_file(name, assignment)


def _archive(files: "_Files") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in script.with_checksums(files.of_archive()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # files of Unix, whatever wrote them
            archive.writestr(entry, content)
    return stream.getvalue()


def _at_once(*, is_inverse: bool) -> Write:
    """The whole plan as one file, or its rollback; with the log directories, if the plan chooses them."""

    def written(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
        return at_once_file(batches_of(plan.head), compared(plan, _known(cluster_of)), is_inverse=is_inverse)

    return written


def at_once_file(steps: StoredSteps, moved: Transfers, *, is_inverse: bool) -> bytes:
    """The execute file of a whole plan, of existing partitions that differ, or its rollback, to the previous lists."""
    if (steps.log_dirs_before if is_inverse else steps.log_dirs_after) is not None:
        return reassignment.write(Reassignment(tuple(steps.at_once(is_inverse=is_inverse)))).encode()
    lists = ((each.topic, each.partition_ids, each.before if is_inverse else each.after) for each in _there(moved))
    return reassignment.write_assignments({topic: Assignment(ids, rows) for topic, ids, rows in lists})


def batch_file(steps: StoredSteps, number: int, *, is_inverse: bool) -> bytes:
    """The execute file of a batch, counted from 0, or its rollback."""
    return reassignment.write(Reassignment(tuple(steps.requested(number, is_inverse=is_inverse)))).encode()


def grown_topics(moved: Transfers) -> dict[str, Assignment]:
    """The topics that get new partitions, with all that they have afterwards."""
    changed = moved.changed_rows()
    grown = set(changed.only(changed.is_new).named())
    topics = (topic for topic in moved.movement.topics if topic.topic in grown)
    return {topic.topic: Assignment(topic.partition_ids, topic.after) for topic in topics}


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
    return (reassignment.write_replica_assignment(rows) + "\n").encode()


def _there(moved: Transfers) -> Iterator[ChangedRows]:
    """Changed partitions, without new ones."""
    changed = moved.changed_rows()
    return changed.only(~changed.is_new).by_topic()


def _elected(head: PlanHead | NewPlan, moved: Transfers, cluster: Cluster) -> list[tuple[str, int]]:
    """The partitions whose preferred replicas are to be made their leaders.

    They are those whose first replica is another than before; and where leaders are to be the preferred ones, or even,
    which counts those, also partitions that another replica leads already.
    """
    request: Any = head.request
    elected = set[tuple[str, int]]()
    for changed in _there(moved):
        is_other = changed.before[:, 0] != changed.after[:, 0]
        elected.update((changed.topic, partition) for partition in changed.partition_ids[is_other].tolist())
    if request["balance"]["leaders"] != "keep":
        scope = request["topics"]
        for topic in cluster.topics:
            if scope is None or topic.name in scope:
                elected.update((topic.name, row) for row in topic.partition_ids[topic.awaits_election].tolist())
    return sorted(elected)


class _Files:
    """The files of a plan: for `run.sh`, and of the archive."""

    def __init__(self, head: PlanHead | NewPlan, moved: Transfers, cluster: Cluster) -> None:
        self._head, self._moved, self._cluster = head, moved, cluster
        self._steps, self._grown = batches_of(head), grown_topics(moved)
        self._elected = _elected(head, moved, cluster)

    @classmethod
    def of(cls, plan: Plan | NewPlan, cluster_of: ClusterOf) -> "_Files":
        cluster = _known(cluster_of)
        return cls(plan.head, compared(plan, cluster), cluster)

    def of_archive(self) -> Iterator[tuple[str, bytes]]:
        """All files by name, those that a person opens first."""
        text = readme.write(
            self._head, self._cluster, self._moved, self._steps, self._grown, has_election=bool(self._elected)
        )
        yield "README.txt", text.encode()
        yield from self._batches()
        if len(self._steps):  # Kafka rejects a file without partitions
            yield "rollback.json", at_once_file(self._steps, self._moved, is_inverse=True)
        yield from self._election()
        for topic, assignment in self._grown.items():
            yield f"new-partitions/{topic}.txt", replica_assignment_file(topic, assignment)
        yield from self._script()

    def executed(self) -> Iterator[tuple[str, bytes]]:
        """The script, and the files that it reads."""
        yield from self._script()
        yield from self._batches()
        yield from self._election()

    def _batches(self) -> Iterator[tuple[str, bytes]]:
        for number, name in enumerate(readme.names(self._steps)):
            yield f"{name}-execute.json", batch_file(self._steps, number, is_inverse=False)
            yield f"{name}-rollback.json", batch_file(self._steps, number, is_inverse=True)

    def _election(self) -> Iterator[tuple[str, bytes]]:
        if self._elected:
            yield "leader-election.json", reassignment.write_leader_election(self._elected).encode()

    def _script(self) -> Iterator[tuple[str, bytes]]:
        created = [
            (topic, len(partitions.partition_ids), replica_assignment_file(topic, partitions))
            for topic, partitions in self._grown.items()
        ]
        return script.files(self._head, self._cluster, self._steps, created)


EXPORTS: Mapping[str, Write] = MappingProxyType(
    {
        "reassignment": _at_once(is_inverse=False),
        "rollback": _at_once(is_inverse=True),
        "batches": lambda plan, cluster_of: _archive(_Files.of(plan, cluster_of)),
        "kubernetes": _kubernetes,
        "replica_assignment": _of_transfers(_replica_assignment),
        "text": _of_differences(reassignment_diffs.write_text),
        "markdown": _of_differences(reassignment_diffs.write_markdown),
        "loads": lambda plan, _: write_loads_csv(_loads(plan)),
        "csv": _of_transfers(lambda moved: reassignment_tables.write_csv(moved.changed())),
        "arrow": _of_transfers(lambda moved: reassignment_tables.write_arrow(moved.changed())),
    }
)
"""The formats of a reassignment."""
