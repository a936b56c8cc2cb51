"""Warnings about a measure that is served at another's cost: counts balanced with small replicas, bytes with many."""

from collections.abc import Iterator

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.replica_lists import per_broker
from app.formats.syntax.quantities import share
from app.services.cautions import Caution
from app.services.reassignment.problem.brokers import Bools
from app.services.reassignment.problem.problem import ReassignmentProblem

_LITTLE, _MUCH = 0.5, 2.0
"""Shares of the mean from which an added broker has little, or much, of what is not balanced."""


def of_measures(problem: ReassignmentProblem, after: Int32s) -> Iterator[Caution]:
    """Added brokers that get their share of replicas and few bytes, or their share of bytes and many replicas."""
    by, is_joint = problem.replicas.by, problem.objective is not None
    if problem.replicas.balance.tolerance is None or is_joint or problem.sizes.unknown:
        return
    added = problem.brokers.mask([broker.id for broker in problem.brokers.added]) & problem.movement.target
    stored, counts = _bytes(problem, after), problem.movement.base + per_broker(after, len(added))
    if by == "count":
        few = added & (stored < _LITTLE * _mean(stored, problem.movement.target))
        if few.any():
            detail = (
                f"replicas are balanced by count, and added brokers {problem.brokers.named(few)} get "
                f"{share(stored[few].min() / _mean(stored, problem.movement.target))} of the mean bytes or more; "
                '`"balance": {"replicas": "tight", "resources": ["disk"]}` balances both'
            )
            yield Caution("bytes_not_balanced", detail, tuple(problem.brokers.ids[few].tolist()))
    elif by == "bytes":
        many = added & (counts > _MUCH * _mean(counts, problem.movement.target))
        if many.any():
            detail = (
                f"replicas are balanced by bytes, and added brokers {problem.brokers.named(many)} get up to "
                f"{counts[many].max() / _mean(counts, problem.movement.target):.1f} times the mean count; "
                '`"objective": {"goals": [{"goal": "disk"}, {"goal": "replicas"}]}` balances both'
            )
            yield Caution("counts_not_balanced", detail, tuple(problem.brokers.ids[many].tolist()))


def _bytes(problem: ReassignmentProblem, after: Int32s) -> Int64s:
    resources, brokers = problem.resources, len(problem.brokers.ids)
    elsewhere = per_broker(resources.other_replicas, brokers, resources.others.size_bytes)
    return elsewhere + per_broker(after, brokers, problem.sizes.size_bytes)


def _mean(loads: Int64s, target: Bools) -> float:
    """The mean of target brokers; 1 if there is nothing, of which no broker has little."""
    return float(np.mean(loads[target])) if loads[target].any() else 1.0
