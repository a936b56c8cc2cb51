"""Why partitions cannot be placed: the fewest demands that cannot be had together, in words, and what would lift them.

What is asked for restricts where a partition may be. Where too little is left, demands are left out one after another;
those without which there is still too little do not matter, and the rest is a smallest set that conflicts.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from app.core.model import Int64s
from app.errors import FieldPath, InvalidReplicationFactor, Json, KafkaError, NotFeasible
from app.services.reassignment.brokers import Bools, BrokerTable


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that was asked for, or that holds unasked, and what would lift it."""

    name: str
    path: FieldPath
    words: str
    lifted_by: str

    def as_json(self) -> dict[str, Json]:
        """As a problem says it."""
        pointer = "".join(f"/{part}" for part in self.path)
        return {"constraint": self.name, "pointer": pointer, "detail": self.words}


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Partitions alike: their topic, how many replicas they are to have, over how many racks, how many a rack at most.

    `may_have` says who may hold them while only some demands are minded.
    """

    topic: str
    factor: int
    racks_to_span: int
    most_per_rack: int | None
    demands: Sequence[Demand]
    may_have: Callable[[Set[str]], Bools]


RACK_RULE, MOST_PER_RACK, FACTOR = "rack_mode", "max_replicas_per_rack", "replication_factor"


def room(brokers: BrokerTable, may_have: Bools) -> Int64s:
    """(racks,) int64 brokers of each rack that may hold a partition."""
    return np.bincount(brokers.rack_of[may_have], minlength=int(brokers.rack_of.max(initial=0)) + 1)


def fits(wanted: Wanted, brokers: BrokerTable, minded: Set[str]) -> bool:
    """Whether so many replicas have room while these demands are minded."""
    free = room(brokers, wanted.may_have(minded))
    most = wanted.most_per_rack if MOST_PER_RACK in minded and wanted.most_per_rack is not None else wanted.factor
    if RACK_RULE in minded and int(np.count_nonzero(free)) < wanted.racks_to_span:
        return False
    return int(np.minimum(free, most).sum()) >= wanted.factor


def smallest_conflict(wanted: Wanted, brokers: BrokerTable) -> list[Demand]:
    """The fewest demands that cannot be had together: leaving out any one of them makes room.

    Empty where not even all brokers are enough.
    """
    minded = {demand.name for demand in wanted.demands}
    if fits(wanted, brokers, set()):
        for demand in wanted.demands:
            if not fits(wanted, brokers, minded - {demand.name}):
                minded.discard(demand.name)
    else:
        minded.clear()
    return [demand for demand in wanted.demands if demand.name in minded]


def refusal(wanted: Wanted, brokers: BrokerTable, *, factor_is_asked: bool) -> InvalidReplicationFactor | NotFeasible:
    """The failure that says why the partitions have no place."""
    conflict = smallest_conflict(wanted, brokers)
    path: FieldPath = (FACTOR, wanted.topic)
    if not conflict:
        there = len(brokers.known)
        return InvalidReplicationFactor(
            f"replication factor {wanted.factor} on topic {wanted.topic} needs {wanted.factor} brokers; {there} exist",
            kafka=KafkaError("InvalidReplicationFactorException"),
            path=path if factor_is_asked else (),
            value=wanted.factor,
            limit=there,
        )
    names = {demand.name for demand in conflict}
    told = [demand.as_json() for demand in conflict]
    if factor_is_asked:
        words = f"topic {wanted.topic} is to have {wanted.factor} replicas of each partition"
        told.append(Demand(FACTOR, path, words, "").as_json())
    lifts = [demand.lifted_by for demand in conflict] + [f"a smaller replication factor of {wanted.topic}"]
    first = next((demand for demand in conflict if demand.name not in (RACK_RULE, MOST_PER_RACK)), conflict[0])
    return NotFeasible(
        _detail(wanted, brokers, names),
        path=first.path,
        topic=wanted.topic,
        conflict=told,
        lifted_by=lifts,
    )


def _detail(wanted: Wanted, brokers: BrokerTable, names: Set[str]) -> str:
    free = room(brokers, wanted.may_have(names))
    there = int(np.count_nonzero(free))
    what = f"factor {wanted.factor} on topic {wanted.topic}"
    if MOST_PER_RACK in names:
        most = wanted.most_per_rack or wanted.factor
        needed = -(-wanted.factor // most)
        replicas = f"{most} replica{'s' if most > 1 else ''} a rack"
        if needed > there:
            left = (
                _counted(there, "exists", "exist")
                if names == {MOST_PER_RACK}
                else _counted(there, "is left", "are left")
            )
            return f"{needed} racks are needed for {what} at {replicas}; {left}{_lost(brokers, free, names)}"
        return f"{replicas} leave room for {int(np.minimum(free, most).sum())} replicas; {what} is asked for"
    if RACK_RULE in names:
        left = _counted(there, "is left", "are left")
        return f"{wanted.racks_to_span} racks are needed for {what}; {left}{_lost(brokers, free, names)}"
    return f"{wanted.factor} brokers are needed for {what}; {int(free.sum())} may have it"


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _lost(brokers: BrokerTable, free: Int64s, names: Set[str]) -> str:
    """The racks of which no broker is left, as a remark."""
    lost = [rack for rack, count in zip(brokers.racks, free.tolist(), strict=False) if not count]
    if not lost:
        return ""
    named = ", ".join(lost[:5]) + (" …" if len(lost) > 5 else "")
    if names <= {RACK_RULE, MOST_PER_RACK, "remove_brokers", "replace_brokers"}:
        return f" ({named} {'loses all its' if len(lost) == 1 else 'lose all their'} brokers)"
    return f" (no broker of {named} may have it)"
