"""What each wave of a schedule does to partitions and brokers, all waves at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Int64s
from app.core.restarts.model import Election, RestartProblem

_NO_WAVE = -1


@dataclass(frozen=True, slots=True, eq=False)
class WaveOutcomes:
    """The effect of each wave.

    Parameters
    ----------
    restarting : (rows, widest) int64, for each in-sync replica the number of those of its row in its wave.
    unwritable : (waves,) int64 partitions that fall below `min.insync.replicas`.
    leaders_moved : (waves,) int64 partitions that another broker leads.
    added : (waves, brokers, resources) int64 load that brokers get.
    """

    restarting: Int64s = field(repr=False)
    unwritable: Int64s
    leaders_moved: Int64s
    added: Int64s = field(repr=False)


def outcomes_of(problem: RestartProblem, waves: Sequence[Sequence[int]]) -> WaveOutcomes:
    """Evaluate a schedule. Complexity: O(rows · factor²), whatever the number of waves."""
    count, brokers = len(waves), len(problem.is_up)
    wave_of = np.full(brokers + 1, _NO_WAVE)  # the padding is -1, which indexes the last entry
    for number, wave in enumerate(waves):
        wave_of[list(wave)] = number
    of_replica = np.where(problem.in_sync == NO_REPLICA, _NO_WAVE, wave_of[problem.in_sync])
    is_same = (of_replica[:, :, None] == of_replica[:, None, :]) & (of_replica >= 0)[:, :, None]
    restarting = is_same.sum(axis=2)
    is_first = ~np.tril(is_same, -1).any(axis=2) & (of_replica >= 0)
    sizes = problem.sizes[:, None]
    falls = is_first & (sizes >= problem.min_isr[:, None]) & (sizes - restarting < problem.min_isr[:, None])
    led = np.flatnonzero(problem.leaders != NO_LEADER)
    down = wave_of[problem.leaders[led]]
    led, down = led[down >= 0], down[down >= 0]
    may_lead = (problem.in_sync[led] != NO_REPLICA) & (of_replica[led] != down[:, None])
    is_led = may_lead.any(axis=1)
    elected = np.take_along_axis(problem.in_sync[led], may_lead.argmax(axis=1)[:, None], axis=1)[:, 0]
    added = np.zeros((count, brokers, problem.gain.shape[1]), np.int64)
    np.add.at(added, (down[is_led], elected[is_led]), problem.gain[led[is_led]])
    return WaveOutcomes(
        restarting=restarting,
        unwritable=np.bincount(of_replica[falls], minlength=count),
        leaders_moved=np.bincount(down[is_led], minlength=count),
        added=added,
    )


def wave_violations(problem: RestartProblem, waves: Sequence[Sequence[int]]) -> Iterator[str]:
    """Each hard constraint that a wave breaks, in a sentence. Positions are those of the problem.

    A limit may be broken by a broker that is restarted alone: no schedule could keep it.
    """
    restarted = sorted(broker for wave in waves for broker in wave)
    if restarted != np.flatnonzero(problem.is_up).tolist():
        yield f"the waves restart {restarted}, and each broker that is up is to be restarted once"
        return
    for number, wave in enumerate(waves):
        members = list(wave)
        if not 1 <= len(members) <= problem.most:
            yield f"wave {number} has {len(members)} brokers, and at most {problem.most} are allowed"
        if len({*problem.group_of[members].tolist()}) > 1:
            yield f"wave {number} mixes racks"
        if problem.is_voter[members].sum() > problem.most_voters:
            yield f"wave {number} has more than {problem.most_voters} controllers"
    outcomes = outcomes_of(problem, waves)
    for row in np.flatnonzero((outcomes.restarting > problem.caps[:, None]).any(axis=1)).tolist():
        yield f"row {row} has more than {problem.caps[row]} in-sync brokers in a wave"
    election = Election(problem)
    for number, wave in enumerate(waves):
        if len(wave) > 1 and not election.fits(list(wave)):
            yield f"a broker is above a limit in wave {number}"
