"""The fewest restart waves."""

import numpy as np

from app.core.restarts.bounds import bound_of
from app.core.restarts.coloring import colored
from app.core.restarts.conflicts import Part, as_positions, parts_of
from app.core.restarts.election import Election
from app.core.restarts.exact import waves_within
from app.core.restarts.model import RestartProblem, RestartWaves, WaveBound


def restart_waves(problem: RestartProblem) -> RestartWaves:
    """Restart every broker that is up once, in the fewest waves.

    A hypergraph colouring: of brokers that exclude each other pairwise, of larger sets, and of waves of limited size.
    Parts that share no wave are coloured one by one; if the waves of a part exceed its lower bounds, an integer model
    finds a schedule with one wave less, or proves that none exists.

    Examples
    --------
    Two partitions with three replicas each, of which two have to stay in sync: brokers 0, 1, 2 need three waves.

    >>> nothing = np.zeros((2, 0), np.int64)
    >>> problem = RestartProblem(
    ...     is_up=np.ones(4, np.bool_), in_sync=np.array([[0, 1, 2], [2, 3, 1]], np.int32),
    ...     min_isr=np.array([2, 2]), leaders=np.array([0, 2], np.int32), group_of=np.zeros(4, np.int32),
    ...     is_voter=np.zeros(4, np.bool_), most_voters=1, most=4, gain=nothing, slack=np.zeros((4, 0), np.int64))
    >>> schedule = restart_waves(problem)
    >>> schedule.waves, schedule.lower_bound
    (((0, 3), (1,), (2,)), 3)
    """
    election = Election(problem)
    up = np.flatnonzero(problem.is_up).tolist()
    alone = [broker for broker in up if not election.fits([broker])]
    waves: list[tuple[int, ...]] = []
    bounds: list[WaveBound] = []
    for part in parts_of(problem, election, alone):
        of_part, bound = _waves_of(part)
        waves += of_part
        bounds.append(bound)
    group_of = problem.group_of.tolist()
    waves.sort(key=lambda wave: (group_of[wave[0]], wave))
    return RestartWaves(tuple(waves), tuple(_merged(bounds)), tuple(alone))


def _waves_of(part: Part) -> tuple[list[tuple[int, ...]], WaveBound]:
    bound = bound_of(part)
    waves = colored(part, bound.waves)
    while len(waves) > bound.waves:
        fewer, is_proven = waves_within(part, len(waves) - 1)
        if fewer is not None:
            waves = fewer
            continue
        if is_proven:
            bound = WaveBound("search", len(waves), tuple(part.brokers.tolist()))
        break
    return as_positions(part, waves), bound


def _merged(bounds: list[WaveBound]) -> list[WaveBound]:
    """The bounds; those by pairs are one, since brokers of different parts exclude each other as well."""
    pairs = [bound for bound in bounds if bound.reason == "pairs"]
    if not pairs:
        return bounds
    brokers = sorted(broker for bound in pairs for broker in bound.brokers)
    return [WaveBound("pairs", len(brokers), tuple(brokers)), *(bound for bound in bounds if bound.reason != "pairs")]
