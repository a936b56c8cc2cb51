"""Beyond Kafka: the best distribution of standbys for given active tasks, with its certificate.

Hard constraints: no client has two copies of a task; every stateful task has as many standbys as requested, or as there
are other clients.
Goals, each among the distributions that are optimal for all goals before it:

1. the most ideal tasks: all copies, and distinct values of all listed tags (KIP-708); exact;
2. the most distinct tag values over all tasks and tags; exact;
3. the least imbalance: the sum over clients of standbys² / threads;
4. the fewest restored copies: standbys on clients that neither ran the task before nor had a standby of it.

The first two are decided task by task (`tag_patterns`). The other two are minimum-cost flows, and exact, if at most one
tag decides or each task has one best pattern. If several tags leave a choice of patterns, CP-SAT chooses
(`pattern_choice`) and the flow places the chosen patterns; the certificate then has lower bounds that may be missed.

Standbys are units of flow, from each task through profiles to clients and to the sink:

    task ──(free)──→ task in a profile ──(without state: 1)──→ client ──(n-th: (2n−1)/threads)──→ sink

The standbys that a task must have in a profile start there. The costs of a client's arcs to the sink increase, so that
the cheapest flow has the least sum of squares. Imbalance is the first cost, restored copies are the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from app.core.certificate import Certificate
from app.core.flow import InfeasibleFlow, Network, min_cost_flow
from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions
from app.core.streams.optimum.pattern_choice import choose_patterns
from app.core.streams.optimum.quality import StandbyProblem, StandbyQuality, quality_of, standby_problem
from app.core.streams.optimum.tag_patterns import TagPatterns, TagProfiles, best_patterns

FLOW = "ortools min-cost flow"
CP_SAT = "ortools CP-SAT, then min-cost flow"
EFFORT = 3.0
"""Deterministic seconds of CP-SAT for each of up to three searches; about twice as long in wall-clock time."""


@dataclass(frozen=True, slots=True, eq=False)
class BestStandbys:
    """The given active tasks with the best standbys, without warm-ups.

    Parameters
    ----------
    certificate : of the imbalance, then of the restored copies, among the distributions with as many ideal tasks and
        as many distinct values.
    restored : the second of these certificates.
    """

    assignment: StreamsAssignment
    quality: StandbyQuality
    certificate: Certificate[Fraction]
    restored: Certificate[int]


def best_standbys(
    assignment: StreamsAssignment,
    clients: Sequence[StreamsClient],
    stateful: Sequence[TaskId],
    options: StreamsOptions,
    *,
    effort: float = EFFORT,
) -> BestStandbys:
    """Find the best standbys for the active tasks of an assignment.

    The answer is never worse than the assignment's own standbys, which are kept if the effort does not suffice for
    better ones. The same input gives the same answer; among equally good ones the choice is arbitrary.

    Parameters
    ----------
    assignment : its `process_ids` are the clients', in the same order; each stateful task is active once.
    clients : with their previous tasks, active and standby, of which they have state.
    effort : deterministic seconds for each search of CP-SAT.

    Raises
    ------
    ConflictingFields, ImpossibleValue : as `standby_problem`.
    LimitExceeded : several tags decide, and clients and standbys have more than `MOST_PATTERNS` patterns.

    Examples
    --------
    >>> from uuid import UUID
    >>> from app.core.streams.assignors import high_availability
    >>> from app.core.streams.model import StreamsClient, StreamsOptions, StreamsTasks
    >>> ids = [(0, partition) for partition in range(4)]
    >>> clients = [
    ...     StreamsClient(UUID(int=number), client_tags={"zone": zone}, default_lag=0)
    ...     for number, zone in enumerate("aab")
    ... ]
    >>> options = StreamsOptions(num_standby_replicas=1, rack_aware_assignment_tags=("zone",))
    >>> assignment = high_availability.assign(clients, StreamsTasks(ids, ids), options)
    >>> best = best_standbys(assignment, clients, ids, options)
    >>> best.quality.ideal, best.certificate.optimal
    (4, True)
    """
    problem = standby_problem(assignment, clients, stateful, options)
    patterns = best_patterns(problem)
    bounds: tuple[int, int] | None = None
    if any(len(best) > 1 for best in patterns.listed.values()):
        choice = choose_patterns(problem, patterns, effort)
        bounds = (choice.imbalance_bound, choice.restored_bound)
        placed = place_standbys(problem, patterns.profiles, ProfileCounts(choice.counts, choice.counts))
    else:
        placed = place_standbys(problem, patterns.profiles, _pattern_bounds(problem, patterns))
    standby_of_rows = _better(problem, placed.standby, (assignment.standby & ~assignment.warmup)[:, problem.rows])
    quality = quality_of(problem, standby_of_rows)
    standby = np.zeros_like(assignment.standby)
    standby[:, problem.rows] = standby_of_rows
    best = replace(assignment, standby=standby, warmup=np.zeros_like(standby), probing_rebalance=False)
    solver = FLOW if bounds is None else CP_SAT
    imbalance_bound, restored_bound = bounds or (placed.imbalance_bound, placed.restored_bound)
    restored = Certificate("restored copies", quality.restored, restored_bound, solver)
    imbalance = Fraction(imbalance_bound, problem.unit)
    certificate = Certificate("standbys² / threads", quality.imbalance, imbalance, solver, then=restored)
    return BestStandbys(best, quality, certificate, restored)


def _better(problem: StandbyProblem, optimised: Bools, original: Bools) -> Bools:
    """The original standbys if they are legal and better, else the optimised ones."""
    tasks = np.arange(len(problem.rows))
    is_legal = not original[problem.active, tasks].any() and bool((original.sum(axis=0) <= problem.standbys).all())
    is_better = is_legal and quality_of(problem, original).rank < quality_of(problem, optimised).rank
    return original if is_better else optimised


def _pattern_bounds(problem: StandbyProblem, patterns: TagPatterns) -> "ProfileCounts":
    """The bounds of best patterns if each task has one best pattern, or all patterns within bounds are best."""
    profiles = len(patterns.profiles.sizes)
    lower = np.zeros((len(problem.rows), profiles), np.int64)
    upper = np.zeros_like(lower)
    profile_of_task = patterns.profiles.of_client[problem.active]
    for profile, best in patterns.listed.items():
        lower[profile_of_task == profile] = upper[profile_of_task == profile] = best[0]
    for profile, (fewest, most) in patterns.bounds.items():
        lower[profile_of_task == profile], upper[profile_of_task == profile] = fewest, most
    return ProfileCounts(lower, upper)


@dataclass(frozen=True, slots=True, eq=False)
class ProfileCounts:
    """Bounds on the standbys of each task in each profile: two (tasks, profiles) int64."""

    lower: Int64s
    upper: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class PlacedStandbys:
    """Standbys within given bounds.

    Parameters
    ----------
    standby : (clients, tasks) bool.
    imbalance_bound, restored_bound : lower bounds within the same bounds, in the problem's units and in copies.
    """

    standby: Bools = field(repr=False)
    imbalance_bound: int
    restored_bound: int


def place_standbys(problem: StandbyProblem, profiles: TagProfiles, bounds: ProfileCounts) -> PlacedStandbys:
    """Find the least imbalance, then the fewest restored copies, exactly, by two minimum-cost flows."""
    tasks, clients = len(problem.rows), len(problem.capacities)
    if not tasks or not problem.standbys:
        return PlacedStandbys(np.zeros((clients, tasks), np.bool_), 0, 0)
    threads = int(problem.capacities.sum())
    share = -(-tasks * problem.standbys * problem.capacities // threads)
    longest = share + 2
    while True:
        longest = np.minimum(longest, tasks)
        try:
            placed, full = _flow(problem, profiles, bounds, longest)
        except InfeasibleFlow:
            full = longest < tasks
        # A client whose last arc is empty would not use another arc, since its cost is higher.
        if not (full & (longest < tasks)).any():
            return placed
        longest = np.where(full, 2 * longest, longest)


def _flow(
    problem: StandbyProblem, profiles: TagProfiles, bounds: ProfileCounts, longest: Int64s
) -> tuple[PlacedStandbys, Bools]:
    """The flow with at most `longest` standbys of each client; and the clients that have as many: (clients,) bool."""
    tasks, clients = len(problem.rows), len(problem.capacities)
    task, profile = np.nonzero(bounds.upper)
    pair_node, first_client = tasks + np.arange(len(task)), tasks + len(task)
    optional = (bounds.upper - bounds.lower)[task, profile]
    pair, client = np.nonzero(profiles.of_client[None, :] == profile[:, None])
    is_other = problem.active[task[pair]] != client
    pair, client = pair[is_other], client[is_other]
    client_of_seat = np.repeat(np.arange(clients), longest)
    seat = np.arange(len(client_of_seat)) - np.repeat(np.cumsum(longest) - longest, longest)
    tails = np.concatenate([task, pair_node[pair], first_client + client_of_seat])
    heads = np.concatenate([pair_node, first_client + client, np.full(len(seat), first_client + clients)])
    capacities = np.concatenate([optional, np.ones(len(pair) + len(seat), np.int64)])
    of_seats = (2 * seat + 1) * problem.weights[client_of_seat]
    imbalance = np.concatenate([np.zeros(len(task) + len(pair), np.int64), of_seats])
    is_new = ~problem.has_state[client, task[pair]]
    restored = np.concatenate([np.zeros(len(task), np.int64), is_new, np.zeros(len(seat), np.int64)])
    unplaced = problem.standbys - bounds.lower.sum(axis=1)
    of_pairs = bounds.lower[task, profile]
    supplies = np.concatenate([unplaced, of_pairs, np.zeros(clients, np.int64), [-tasks * problem.standbys]])
    network = Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities.astype(np.int64))
    flow = min_cost_flow(network, (imbalance, restored))
    is_used = flow.amounts[len(task) : len(task) + len(pair)] > 0
    standby = np.zeros((clients, tasks), np.bool_)
    standby[client[is_used], task[pair[is_used]]] = True
    return PlacedStandbys(standby, *flow.lower_bounds), standby.sum(axis=1) >= longest
