"""Why partitions cannot be placed: an irreducible infeasible subset (IIS) of the request, in words.

Constraints restrict the eligible brokers of a partition. If too few are left, a deletion filter removes constraints one
after another: a constraint without which the rest is still infeasible is dropped, and what remains is irreducible.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from app.core.model import Int64s
from app.errors import FieldPath, Json
from app.errors.kafka import InvalidReplicationFactor, KafkaError
from app.errors.reassignments import NotFeasible
from app.services.reassignment.problem.brokers import Bools, BrokerTable


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
    demands: Sequence[Demand]
    may_have: Callable[[Set[str]], Bools]
    of_set: str | None = None


RACK_RULE, MOST_PER_RACK, FACTOR = "rack_mode", "max_replicas_per_rack", "replication_factor"


def brokers_by_rack(brokers: BrokerTable, may_have: Bools) -> Int64s:
    """(racks,) int64 eligible brokers of each rack."""
    return np.bincount(brokers.rack_of[may_have], minlength=int(brokers.rack_of.max(initial=0)) + 1)


def fits(requirement: Requirement, brokers: BrokerTable, active: Set[str]) -> bool:
    """Whether the requirement is feasible under these constraints."""
    free = brokers_by_rack(brokers, requirement.may_have(active))
    most = (
        requirement.most_per_rack
        if MOST_PER_RACK in active and requirement.most_per_rack is not None
        else requirement.factor
    )
    if RACK_RULE in active and int(np.count_nonzero(free)) < requirement.racks_to_span:
        return False
    return int(np.minimum(free, most).sum()) >= requirement.factor


def irreducible_conflict(requirement: Requirement, brokers: BrokerTable) -> list[Demand]:
    """An irreducible infeasible subset: without any one of its constraints the requirement is feasible.

    Empty if not even all brokers are enough.
    """
    active = {demand.name for demand in requirement.demands}
    if fits(requirement, brokers, set()):
        for demand in requirement.demands:
            if not fits(requirement, brokers, active - {demand.name}):
                active.discard(demand.name)
    else:
        active.clear()
    return [demand for demand in requirement.demands if demand.name in active]


def refusal(
    requirement: Requirement, brokers: BrokerTable, *, factor_is_requested: bool
) -> InvalidReplicationFactor | NotFeasible:
    """The failure that names the conflict and what would lift it."""
    conflict = irreducible_conflict(requirement, brokers)
    path: FieldPath = (FACTOR, requirement.topic)
    if not conflict:
        there = len(brokers.known)
        return InvalidReplicationFactor(
            f"replication factor {requirement.factor} on topic {requirement.topic} needs {requirement.factor} brokers; "
            f"{there} exist",
            kafka=KafkaError("InvalidReplicationFactorException"),
            path=path if factor_is_requested else (),
            value=requirement.factor,
            limit=there,
        )
    names = {demand.name for demand in conflict}
    documents = [demand.as_json() for demand in conflict]
    if factor_is_requested:
        words = f"topic {requirement.topic} is to have {requirement.factor} replicas of each partition"
        documents.append(Demand(FACTOR, path, words, "").as_json())
    lifts = [demand.lifted_by for demand in conflict] + [f"a smaller replication factor of {requirement.topic}"]
    first = next((demand for demand in conflict if demand.name not in (RACK_RULE, MOST_PER_RACK)), conflict[0])
    return NotFeasible(
        _detail(requirement, brokers, names),
        path=first.path,
        topic=requirement.topic,
        conflict=documents,
        lifted_by=lifts,
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
