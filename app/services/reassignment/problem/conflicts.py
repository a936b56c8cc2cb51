"""Why partitions cannot be placed: an irreducible infeasible subset (IIS) of the request, in words.

If some partition has too few eligible brokers, a deletion filter removes the constraints of the request one after
another: a constraint without which the rest is still infeasible, of any partition, is dropped, and what remains is
irreducible.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from app.core.model import Int64s
from app.errors import FieldPath, Json
from app.errors.kafka import InvalidReplicationFactor, KafkaError
from app.errors.reassignments import NotFeasible
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.requests.request import ReassignmentRequest


@dataclass(frozen=True, slots=True)
class Demand:
    """A constraint of the request, or one that always holds, and what would lift it."""

    name: str
    path: FieldPath
    words: str
    lifted_by: str

    def as_json(self) -> dict[str, Json]:
        """As the problem lists it."""
        pointer = "".join(f"/{part}" for part in self.path)
        return {"constraint": self.name, "pointer": pointer, "detail": self.words}


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """Requirements of partitions of the same kind.

    Parameters
    ----------
    of_set : the broker set of their topic; None outside every set.
    factor : replicas of each. racks_to_span : racks that they need. most_per_rack : replicas a rack; None is no limit.
    may_have : the eligible brokers under some constraints, by name.
    """

    topic: str
    factor: int
    racks_to_span: int
    most_per_rack: int | None
    may_have: Callable[[Set[str]], Bools]
    of_set: str | None = None


RACK_RULE, MOST_PER_RACK, FACTOR = "rack_mode", "max_replicas_per_rack", "replication_factor"


def brokers_by_rack(brokers: BrokerTable, may_have: Bools) -> Int64s:
    """(racks,) int64 eligible brokers of each rack."""
    return np.bincount(brokers.rack_of[may_have], minlength=int(brokers.rack_of.max(initial=0)) + 1)


def irreducible_conflict(names: Sequence[str], is_feasible: Callable[[Set[str]], bool]) -> Set[str]:
    """An irreducible infeasible subset of constraints: without any one of them the rest is feasible.

    Parameters
    ----------
    names : constraints that are infeasible together; the deletion filter drops the first ones first.
    is_feasible : whether some constraints are feasible together; monotone.

    Complexity: one call of `is_feasible` for each constraint.

    Examples
    --------
    >>> irreducible_conflict(["a", "b", "c"], lambda active: not active >= {"b", "c"}) == {"b", "c"}
    True
    """
    active = set(names)
    for name in names:
        if not is_feasible(active - {name}):
            active.discard(name)
    return active


def factor_demand(topic: str, request: ReassignmentRequest) -> Demand:
    """The replication factor that the request states for a topic."""
    words = f"topic {topic} is to have {request.replication_factor[topic]} replicas of each partition"
    return Demand(FACTOR, (FACTOR, topic), words, f"a smaller replication factor of {topic}")


def refusal(
    requirement: Requirement, brokers: BrokerTable, conflict: Sequence[Demand]
) -> InvalidReplicationFactor | NotFeasible:
    """The failure that names the conflict and what would lift it; of the factor if not even all brokers are enough.

    Parameters
    ----------
    conflict : an irreducible infeasible subset, of which the requirement is infeasible.
    """
    names = {demand.name for demand in conflict}
    if names <= {FACTOR}:
        there = len(brokers.known)
        return InvalidReplicationFactor(
            f"replication factor {requirement.factor} on topic {requirement.topic} needs {requirement.factor} brokers; "
            f"{there} exist",
            kafka=KafkaError("InvalidReplicationFactorException"),
            path=(FACTOR, requirement.topic) if FACTOR in names else (),
            value=requirement.factor,
            limit=there,
        )
    of_factor = f"a smaller replication factor of {requirement.topic}"
    first = next((demand for demand in conflict if demand.name not in (FACTOR, RACK_RULE, MOST_PER_RACK)), conflict[0])
    return NotFeasible(
        _detail(requirement, brokers, names - {FACTOR}),
        path=first.path,
        topic=requirement.topic,
        conflict=[demand.as_json() for demand in conflict],
        lifted_by=[*(demand.lifted_by for demand in conflict if demand.name != FACTOR), of_factor],
    )


def _detail(requirement: Requirement, brokers: BrokerTable, names: Set[str]) -> str:
    free = brokers_by_rack(brokers, requirement.may_have(names))
    there = int(np.count_nonzero(free))
    of_set = "" if requirement.of_set is None else f" of broker set {requirement.of_set}"
    what = f"factor {requirement.factor} on topic {requirement.topic}{of_set}"
    if MOST_PER_RACK in names:
        most = requirement.most_per_rack or requirement.factor
        needed = -(-requirement.factor // most)
        replicas = f"{most} replica{'s' if most > 1 else ''} a rack"
        if needed > there:
            left = (
                _counted(there, "exists", "exist")
                if names == {MOST_PER_RACK}
                else _counted(there, "is left", "are left")
            )
            return f"{needed} racks are needed for {what} at {replicas}; {left}{_lost(brokers, free, names)}"
        return f"{replicas} allow {int(np.minimum(free, most).sum())} replicas; {what} is requested"
    if RACK_RULE in names:
        left = _counted(there, "is left", "are left")
        return f"{requirement.racks_to_span} racks are needed for {what}; {left}{_lost(brokers, free, names)}"
    return f"{requirement.factor} brokers are needed for {what}; {int(free.sum())} may have it"


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _lost(brokers: BrokerTable, free: Int64s, names: Set[str]) -> str:
    """The racks without an eligible broker, in parentheses."""
    lost = [rack for rack, count in zip(brokers.racks, free.tolist(), strict=False) if not count]
    if not lost:
        return ""
    named = ", ".join(lost[:5]) + (" …" if len(lost) > 5 else "")
    if names <= {RACK_RULE, MOST_PER_RACK, "remove_brokers", "replace_brokers"}:
        return f" ({named} {'loses all its' if len(lost) == 1 else 'lose all their'} brokers)"
    return f" (no broker of {named} may have it)"
