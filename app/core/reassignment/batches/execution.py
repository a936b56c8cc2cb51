"""In which order batches are executed, and which cordons are lifted meanwhile.

Since 4.3.2 Kafka rejects a reassignment whose list contains a cordoned broker, even if the broker has the replica and
keeps it. A batch with such lists is executed while the broker is uncordoned: for that batch only, since meanwhile Kafka
may place new partitions there. The inverses of batches are executed from the last one to the first by the same rule.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from app.core.model import NO_REPLICA, Int32s


class Action(StrEnum):
    """What one step of an execution does."""

    CORDON = "cordon"
    UNCORDON = "uncordon"
    EXECUTE = "execute"


@dataclass(frozen=True, slots=True)
class ExecutionStep:
    """One step of an execution.

    Parameters
    ----------
    batch : the batch that is executed, from 0; None of another action.
    brokers : ids of the brokers that are cordoned or uncordoned, ascending; empty of a batch.
    """

    action: Action
    batch: int | None = None
    brokers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cordons:
    """The cordoned brokers of an execution, by id.

    Parameters
    ----------
    before, during, after : those before it; while batches run, unless one needs them uncordoned; and at its end.
    rejects_lists : whether Kafka rejects lists that contain a cordoned broker.
    """

    before: frozenset[int] = frozenset()
    during: frozenset[int] = frozenset()
    after: frozenset[int] = frozenset()
    rejects_lists: bool = True

    @property
    def undone(self) -> "Cordons":
        """Of the inverse: it ends with what was cordoned before, which its batches need not lift."""
        return Cordons(self.after, self.before, self.before, self.rejects_lists)


def execution_steps(requested: Sequence[Int32s], order: Sequence[int], cordons: Cordons) -> list[ExecutionStep]:
    """The steps that execute batches in an order, each broker uncordoned for no other batch than those that have it.

    Parameters
    ----------
    requested : by batch, (partitions, widest) int32 broker ids of the lists that it requests, padded with `NO_REPLICA`.
    order : the batches in the order of their execution.
    """
    steps: list[ExecutionStep] = []
    cordoned: Set[int] = cordons.before
    for batch in order:
        wanted = cordons.during - _brokers(requested[batch]) if cordons.rejects_lists else cordons.during
        steps += _changed(cordoned, wanted)
        cordoned = wanted
        steps.append(ExecutionStep(Action.EXECUTE, batch))
    return [*steps, *_changed(cordoned, cordons.after)]


def execution_violations(
    steps: Sequence[ExecutionStep], requested: Sequence[Int32s], order: Sequence[int], cordons: Cordons
) -> list[str]:
    """What is wrong with an execution: lists that Kafka rejects, batches in another order, cordons left or lost.

    Parameters
    ----------
    steps : whichever planner made them; the other parameters are those of `execution_steps`.
    """
    violations = []
    cordoned, executed = set(cordons.before), []
    for number, step in enumerate(steps, 1):
        if step.action is Action.EXECUTE and step.batch is not None:
            executed.append(step.batch)
            rejected = np.isin(requested[step.batch], np.array(sorted(cordoned), np.int64)).any(axis=1)
            if cordons.rejects_lists and rejected.any():
                row = requested[step.batch][np.flatnonzero(rejected)[0]]
                shown = [broker for broker in row.tolist() if broker != NO_REPLICA]
                detail = f"Kafka rejects {shown}: {sorted(cordoned & set(shown))} are cordoned"
                violations.append(f"step {number}, batch {step.batch}: {detail}")
        elif step.action is Action.CORDON and cordoned.isdisjoint(step.brokers):
            cordoned.update(step.brokers)
        elif step.action is Action.UNCORDON and cordoned.issuperset(step.brokers):
            cordoned.difference_update(step.brokers)
        else:
            violations.append(f"step {number} changes no cordon, or one twice")
    if executed != list(order):
        violations.append(f"batches are executed in the order {executed}, not {list(order)}")
    if cordoned != cordons.after:
        violations.append(f"{sorted(cordoned)} are cordoned at the end, not {sorted(cordons.after)}")
    return violations


def _changed(cordoned: Set[int], wanted: Set[int]) -> Iterator[ExecutionStep]:
    """The steps from some cordoned brokers to others."""
    if wanted - cordoned:
        yield ExecutionStep(Action.CORDON, brokers=tuple(sorted(wanted - cordoned)))
    if cordoned - wanted:
        yield ExecutionStep(Action.UNCORDON, brokers=tuple(sorted(cordoned - wanted)))


def _brokers(replicas: Int32s) -> Set[int]:
    return {broker for broker in np.unique(replicas).tolist() if broker != NO_REPLICA}
