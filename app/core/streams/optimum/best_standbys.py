"""Beyond Kafka: the best distribution of standbys that there is for given active tasks.

Hard constraints: no client has two copies of a task; every stateful task has as many standbys as were asked for, or as
there are other clients.
Goals, each among the distributions that are best in all before it:

1. the most tasks ideal: every copy there, and all listed tag values distinct (KIP-708); exact;
2. the most distinct tag values over all tasks and tags; exact;
3. the least imbalance: the sum over clients of standbys² / threads;
4. the fewest restored copies: standbys on clients that neither ran the task before nor had a standby of it.

The first two are decided task by task (`tag_patterns`). The other two are minimum-cost flows, and exact, where at most
one tag decides anything or each task has one best pattern. Where several tags leave a choice of patterns, CP-SAT makes
it (`pattern_choice`) and the flow places what was chosen: then both are bounded, and the certificate says whether the
bounds are reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions
from app.core.streams.optimum.pattern_choice import choose
from app.core.streams.optimum.problem import Problem, problem_of
from app.core.streams.optimum.quality import StandbyQuality, quality_of
from app.core.streams.optimum.standby_flow import Places, place
from app.core.streams.optimum.tag_patterns import Patterns, patterns_of

FLOW = "ortools min-cost flow"
CP_SAT = "ortools CP-SAT, then min-cost flow"
EFFORT = 3.0
"""CP-SAT's deterministic seconds for each of up to three searches; by the clock, twice as long or so."""


@dataclass(frozen=True, slots=True)
class StandbyCertificate:
    """What no distribution can be better than, among those with as many tasks ideal and as many distinct values.

    Parameters
    ----------
    imbalance_bound : none is more even. restored_bound : none that reaches the imbalance bound restores fewer; 0 where
        nobody found out.
    optimal : whether both bounds are reached.
    gap : the part of the imbalance above its bound; where there is none, the part of the restored copies above theirs.
    """

    imbalance_bound: Fraction
    restored_bound: int
    optimal: bool
    gap: float
    solver: str


@dataclass(frozen=True, slots=True, eq=False)
class BestStandbys:
    """The given active tasks with the best standbys, without warm-ups; what it comes to; and how sure that is."""

    assignment: StreamsAssignment
    quality: StandbyQuality
    certificate: StandbyCertificate


def best_standbys(
    assignment: StreamsAssignment,
    clients: Sequence[StreamsClient],
    stateful: Sequence[TaskId],
    options: StreamsOptions,
    *,
    effort: float = EFFORT,
) -> BestStandbys:
    """Find the best standbys for the active tasks of an assignment.

    It is never worse than the assignment's own standbys: they stay where the effort did not suffice for better ones.
    The same input gives the same answer. Among equally good ones the choice is arbitrary.

    Parameters
    ----------
    assignment : its `process_ids` are those of `clients`, in the same order; each stateful task is active once.
    clients : their previous tasks, active and standby, are where state is.
    effort : deterministic seconds for each of CP-SAT's searches, where it is needed.

    Raises
    ------
    ConflictingFields : the assignment and the rest do not fit.
    ImpossibleValue : a client has no thread, or numbers of threads have no common multiple that is small enough.
    LimitExceeded : several tags, so many kinds of clients and standbys that their patterns cannot be gone through.
    """
    problem = problem_of(assignment, clients, stateful, options)
    patterns = patterns_of(problem)
    bounds: tuple[int, int] | None = None
    if any(len(best) > 1 for best in patterns.listed.values()):
        choice = choose(problem, patterns, effort)
        bounds = (choice.imbalance_bound, choice.restored_bound)
        placed = place(problem, patterns.profiles, Places(choice.places, choice.places))
    else:
        placed = place(problem, patterns.profiles, _only_places(problem, patterns))
    chosen = _better(problem, placed.standby, (assignment.standby & ~assignment.warmup)[:, problem.rows])
    quality = quality_of(problem, chosen)
    standby = np.zeros_like(assignment.standby)
    standby[:, problem.rows] = chosen
    best = replace(assignment, standby=standby, warmup=np.zeros_like(standby), probing_rebalance=False)
    solver = FLOW if bounds is None else CP_SAT
    imbalance_bound, restored_bound = bounds or (placed.imbalance_bound, placed.restored_bound)
    certificate = _certificate(quality, Fraction(imbalance_bound, problem.unit), restored_bound, solver)
    return BestStandbys(best, quality, certificate)


def _better(problem: Problem, found: Bools, given: Bools) -> Bools:
    """The standbys that were given, where they are legal and better than those that were found; else the latter."""
    tasks = np.arange(len(problem.rows))
    legal = not given[problem.active, tasks].any() and bool((given.sum(axis=0) <= problem.standbys).all())
    return given if legal and quality_of(problem, given).rank < quality_of(problem, found).rank else found


def _only_places(problem: Problem, patterns: Patterns) -> Places:
    """Where each task has one best pattern, or all within bounds are."""
    profiles = len(patterns.profiles.sizes)
    lower = np.zeros((len(problem.rows), profiles), np.int64)
    upper = np.zeros_like(lower)
    own = patterns.profiles.of_client[problem.active]
    for profile, best in patterns.listed.items():
        lower[own == profile] = upper[own == profile] = best[0]
    for profile, (least, most) in patterns.bounds.items():
        lower[own == profile], upper[own == profile] = least, most
    return Places(lower, upper)


def _certificate(
    quality: StandbyQuality, imbalance_bound: Fraction, restored_bound: int, solver: str
) -> StandbyCertificate:
    uneven = quality.imbalance - imbalance_bound
    # Restored copies are bounded for those that reach the other bound; one that does not may stay below.
    above = max(quality.restored - restored_bound, 0)
    gap = float(uneven / quality.imbalance) if uneven else above / max(quality.restored, 1)
    return StandbyCertificate(imbalance_bound, restored_bound, not uneven and not above, gap, solver)
