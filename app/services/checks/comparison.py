"""A stored reassignment beside another one, of any origin, for the same cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.core.kafka_versions import release_of
from app.core.model import Assignment
from app.core.replica_lists import stacked
from app.errors.every import ConflictingFields
from app.services import snapshots
from app.services.bodies import ListOf
from app.services.cautions import Caution
from app.services.checks.safety import require_legal
from app.services.checks.verification import assignments_of, printed_output, skipped_lines
from app.services.plans import Difference, Plan
from app.services.reassignment.differences import (
    ReassignmentDiffDocument,
    before_of,
    brokers_of,
    compared_assignments,
    planned,
    summed,
)
from app.store.unit import UnitOfWork


class ComparisonWithTextDocument(ReassignmentDiffDocument):
    """The partitions that a plan has otherwise than another reassignment, which counts as the state before."""

    warnings: ListOf[Caution]
    """What was not read of the text; empty if nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference, with the warnings about the text of the other reassignment."""

    difference: Difference
    warnings: list[Caution]


def compare_with_text(uow: UnitOfWork, plan: Plan, output: str) -> Comparison:
    """Compare a reassignment with the one of a text; partitions that one of them does not name are as they were.

    Raises
    ------
    ConflictingFields
        The plan is of another kind or of no stored snapshot, or the text has no lists of replicas.
    MalformedText
        The text is not read.
    IllegalReassignment
        Kafka rejects the reassignment of the text.
    """
    if plan.head.kind != "reassignment" or plan.head.snapshot_id is None:
        raise ConflictingFields("a text is compared with a reassignment of a stored snapshot", path=("plan_id",))
    printed = printed_output(output)
    if printed.reassignment is None:
        raise ConflictingFields("--verify prints no lists of replicas; compare the file", path=("output",))
    _, cluster = snapshots.load(uow, plan.head.snapshot_id)
    require_legal(printed.reassignment, cluster, release_of(None, cluster.kafka_version))
    current = before_of(cluster)
    before = {**current, **_with(current, assignments_of(printed.reassignment))}
    after = {**current, **_with(current, planned(plan.placements))}
    moved = compared_assignments(before, after, brokers_of(plan.head, cluster), cluster)
    return Comparison(summed(moved), skipped_lines(printed))


def _with(current: Mapping[str, Assignment], changed: Mapping[str, Assignment]) -> dict[str, Assignment]:
    """The assignments of topics with the lists of the partitions that change, by ascending partition id."""
    joined = {}
    for name, assignment in changed.items():
        known = current.get(name, assignment)
        stays = ~np.isin(known.partition_ids, assignment.partition_ids)
        ids = np.concatenate([known.partition_ids[stays], assignment.partition_ids])
        lists = stacked([known.replicas[stays], assignment.replicas])
        order = np.argsort(ids)
        joined[name] = Assignment(ids[order], lists[order])
    return joined
