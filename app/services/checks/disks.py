"""Reassignments that fill disks above their limit: after the move, or while both lists of a partition have replicas."""

from collections.abc import Iterator, Mapping

import numpy as np

from app.core.measures.tally import positions_of
from app.core.measures.violations import NAMED_PARTITIONS, Violation
from app.core.model import NO_REPLICA, Assignment, Int32s
from app.core.reassignment.resources import RESOURCES
from app.core.replica_lists import not_among, per_broker, widened
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.reports.loads import LoadReport

_DISK = RESOURCES.index("disk")
_NAMED_BROKERS = 5


def reassigned(problem: ReassignmentProblem, after: Mapping[str, Assignment]) -> Int32s:
    """(rows, widest) int32 positions of the problem's partitions, those of `after` with their new lists."""
    scope, before = problem.scope, problem.before
    width = max([before.shape[1], *(assignment.replicas.shape[1] for assignment in after.values())])
    lists = widened(before, width).copy()
    for name, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True):
        if (assignment := after.get(name)) is not None:
            rows = start + np.searchsorted(scope.partition_ids[start:stop], assignment.partition_ids)
            lists[rows] = widened(positions_of(assignment.replicas, problem.brokers.ids), width)
    return lists


def disk_violations(problem: ReassignmentProblem, report: LoadReport, lists: Int32s) -> Iterator[Violation]:
    """Partitions that are copied to brokers whose disk is then above its limit, or its capacity, by topic.

    A broker has its previous replicas until all partitions are moved: a reassignment that is executed at once needs
    the bytes of both. Disks without limit and capacity do not count, nor do partitions of unknown size.
    """
    if "disk" not in report.names:
        return
    scope, brokers = problem.scope, len(problem.brokers.ids)
    incoming = np.where(not_among(lists, widened(problem.before, lists.shape[1])), lists, np.int32(NO_REPLICA))
    during = report.before[:, _DISK] + per_broker(incoming, brokers, np.maximum(problem.sizes.size_bytes, 0))
    found: dict[int, str] = {}
    for broker in np.unique(incoming[incoming != NO_REPLICA]).tolist():
        upper = report.upper(broker, _DISK)
        after = int(report.after[broker, _DISK])
        if upper is not None and max(after, int(during[broker])) > upper:
            load = f"{after} bytes afterwards" if after > upper else f"{during[broker]} bytes during the move"
            found[broker] = f"{problem.brokers.ids[broker]} ({load}, {upper} allowed)"
    above = np.asarray(np.isin(incoming, list(found)).any(axis=1))
    for topic, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True):
        rows = start + np.flatnonzero(above[start:stop])
        if not len(rows):
            continue
        named = [found[broker] for broker in np.unique(incoming[rows]).tolist() if broker in found]
        more = f" and {len(named) - _NAMED_BROKERS} more" if len(named) > _NAMED_BROKERS else ""
        detail = (
            f"{len(rows)} partitions of {topic} are copied to brokers whose disk is above its limit: "
            f"{', '.join(named[:_NAMED_BROKERS])}{more}; fewer bytes on them or a higher limit lift it, or batches if "
            "the disk is above it during the move alone"
        )
        partitions = tuple(scope.partition_ids[rows[:NAMED_PARTITIONS]].tolist())
        yield Violation("disk_over_limit", "illegal", topic, len(rows), partitions, detail)
