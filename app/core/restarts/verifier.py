"""Violations of a schedule of restart waves, whichever solver made it."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.core.restarts.model import RestartProblem
from app.core.restarts.outcomes import outcomes_of


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
    is_over = ((outcomes.added > 0) & (outcomes.added > problem.slack)).any(axis=(1, 2))
    for number in np.flatnonzero(is_over).tolist():
        if len(waves[number]) > 1:
            yield f"a broker is above a limit in wave {number}"
