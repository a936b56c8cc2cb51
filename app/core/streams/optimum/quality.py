"""How good a distribution of standbys is, in the order in which the optimum weighs it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.client_tags import NO_TAG
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions
from app.core.streams.optimum.problem import Problem, problem_of


@dataclass(frozen=True, slots=True)
class StandbyQuality:
    """What counts, most important first; `rank` is smaller the better.

    Parameters
    ----------
    missing : standbys of stateful tasks that were asked for and are not there. Warm-ups are no copies.
    ideal : tasks with every copy there and all listed tag values distinct (KIP-708); a copy on a client that lacks a
        listed tag is none.
    distinct_values : over all tasks and listed tags, how many values a task's copies have.
    imbalance : the sum over clients of standbys² / threads: for a given number of standbys, the variance of standbys a
        thread, by threads, but for a constant.
    restored : standbys on clients that neither ran the task before nor had a standby of it.
    spread : the most standbys a thread less the fewest; told, and not weighed.
    """

    missing: int
    ideal: int
    distinct_values: int
    imbalance: Fraction
    restored: int
    spread: Fraction = field(compare=False)

    @property
    def rank(self) -> tuple[int, int, int, Fraction, int]:
        """A key that sorts the better distribution first."""
        return (self.missing, -self.ideal, -self.distinct_values, self.imbalance, self.restored)


def standby_quality(
    assignment: StreamsAssignment,
    clients: Sequence[StreamsClient],
    stateful: Sequence[TaskId],
    options: StreamsOptions,
) -> StandbyQuality:
    """Weigh the standbys of an assignment, made by anyone, by the active tasks that it has.

    Parameters
    ----------
    assignment : its `process_ids` are those of `clients`, in the same order.

    Raises
    ------
    ConflictingFields, ImpossibleValue : as `problem_of` does.
    """
    problem = problem_of(assignment, clients, stateful, options)
    return quality_of(problem, (assignment.standby & ~assignment.warmup)[:, problem.rows])


def quality_of(problem: Problem, standby: Bools) -> StandbyQuality:
    """Weigh standbys: (clients, stateful) bool."""
    tasks = np.arange(len(problem.rows))
    copies = standby.copy()
    copies[problem.active, tasks] = True
    present = copies.sum(axis=0)
    distinct = distinct_values(problem.vectors, copies)
    ideal = (present >= problem.copies_asked) & (distinct == present[:, None]).all(axis=1)
    counts: Int64s = standby.sum(axis=1, dtype=np.int64)
    loads = [
        Fraction(count, threads) for count, threads in zip(counts.tolist(), problem.capacities.tolist(), strict=True)
    ]
    return StandbyQuality(
        missing=int(np.maximum(problem.copies_asked - present, 0).sum()),
        ideal=int(ideal.sum()),
        distinct_values=int(distinct.sum()),
        imbalance=sum((load * count for load, count in zip(loads, counts.tolist(), strict=True)), Fraction(0)),
        restored=int((standby & ~problem.has_state).sum()),
        spread=max(loads, default=Fraction(0)) - min(loads, default=Fraction(0)),
    )


def distinct_values(vectors: Int64s, copies: Bools) -> Int64s:
    """(tasks, tags) int64: how many values of each tag the copies have; copies : (clients, tasks) bool."""
    distinct = np.zeros((copies.shape[1], vectors.shape[1]), np.int64)
    for tag in range(vectors.shape[1]):
        for value in range(NO_TAG + 1, int(vectors[:, tag].max(initial=NO_TAG)) + 1):
            distinct[:, tag] += copies[vectors[:, tag] == value].any(axis=0)
    return distinct
