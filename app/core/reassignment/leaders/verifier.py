"""Whether an answer keeps what was asked of it, found without any solver."""

import numpy as np

from app.core.reassignment.balance import KEEP, Balance
from app.core.reassignment.leaders.problem import NOBODY, LeaderChoice, LeadersProblem


def leader_violations(problem: LeadersProblem, answer: LeaderChoice, balance: Balance) -> list[str]:
    """Say every way in which chosen leaders are not as asked, or are not what the answer says of them.

    Returns
    -------
    Sentences; none where every partition is led by one of its replicas that may, target brokers are within the band,
    `keep` changed nothing that was not forced, and changes, largest load and partitions without choice are as counted.
    """
    leaders = answer.leaders
    if leaders.shape != problem.leader.shape:
        return [f"{len(leaders)} leaders were chosen for {len(problem.leader)} partitions"]
    has_replicas = (problem.replicas != NOBODY).any(axis=1)
    is_theirs = (problem.replicas == leaders[:, None]).any(axis=1)
    if not is_theirs[has_replicas].all() or (leaders[~has_replicas] != NOBODY).any():
        strangers = np.count_nonzero(has_replicas & ~is_theirs) + np.count_nonzero(leaders[~has_replicas] != NOBODY)
        return [f"{strangers} partitions are led by a broker without a replica of them"]
    found = []
    may = (problem.candidates() & (problem.replicas == leaders[:, None])).any(axis=1)
    if barred := np.count_nonzero(has_replicas & ~may):
        found.append(f"{barred} partitions are led by a broker that may not lead, although another replica's may")
    kept = (leaders == problem.leader) | problem.is_forced() | (problem.leader == NOBODY) | ~has_replicas
    if balance == KEEP and not kept.all():
        found.append(f"{np.count_nonzero(~kept)} leaders changed that could stay")
    loads = problem.loads(leaders)[problem.target]
    if answer.band is not None and len(loads):
        outside = np.count_nonzero((loads < answer.band.low) | (loads > answer.band.high))
        if outside:
            found.append(f"{outside} brokers lead fewer than {answer.band.low} or more than {answer.band.high}")
    return found + _miscounted(problem, answer, int(loads.max(initial=0)))


def _miscounted(problem: LeadersProblem, answer: LeaderChoice, largest: int) -> list[str]:
    said_and_so = {
        "leader changes": (answer.certificate.value, problem.changes(answer.leaders)),
        "led by the largest": (answer.largest.value, largest),
        "partitions without choice": (answer.without_choice, problem.without_choice()),
    }
    found = [f"{what}: {said} said, {so} counted" for what, (said, so) in said_and_so.items() if said != so]
    if any(claim.lower_bound > claim.value for claim in (answer.certificate, answer.largest)):
        found.append("a bound is above what was reached")
    return found
