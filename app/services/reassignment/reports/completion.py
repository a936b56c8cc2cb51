"""The batches that Kafka never completes, since a broker that is down does not return, and how to avoid them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.kafka_versions import KafkaVersion
from app.core.reassignment import TOLERATES_KEPT_SINCE, Batches, Incomplete
from app.formats.syntax.quantities import counted
from app.services.cautions import Caution
from app.services.reassignment.planning.completion import incomplete_lists
from app.services.reassignment.problem.brokers import NAMED_BROKERS
from app.services.reassignment.problem.problem import ReassignmentProblem

NAMED_BATCHES = 20
"""The most batches that a warning names; it counts them all."""
NAMED_PARTITIONS = 5
"""The most partitions that a warning names; it counts them all."""


@dataclass(frozen=True, slots=True, eq=False)
class NeverCompleted:
    """The batches that never complete, (batches,) bool, and warnings that explain why."""

    batches: NDArray[np.bool_] = field(repr=False)
    cautions: tuple[Caution, ...] = ()


def never_completed(problem: ReassignmentProblem, steps: Batches) -> NeverCompleted:
    """Apply the rule of the problem's release to every step: see `core/reassignment/completion.py`."""
    never = np.zeros(len(steps), np.bool_)
    found = incomplete_lists(problem, steps.rows, steps.before, steps.after)
    batch_of = np.repeat(np.arange(len(steps)), np.diff(steps.offsets))
    never[batch_of[found.waits | found.has_no_source]] = True
    return NeverCompleted(never, tuple(_cautions(problem, steps, found)))


def waits_detail(partitions: str, version: KafkaVersion, down: Sequence[int]) -> str:
    """Why a release never completes the lists of these partitions, which have brokers that are down."""
    named = ", ".join(map(str, down[:NAMED_BROKERS])) + (" …" if len(down) > NAMED_BROKERS else "")
    later = "" if version >= TOLERATES_KEPT_SINCE else f"; Kafka {TOLERATES_KEPT_SINCE} completes most such lists"
    return (
        f"Kafka {version} never completes {partitions}: lists have replicas on brokers {named}, which are fenced or "
        "down and cannot be in sync; a plan with fix_offline_replicas or remove_brokers replaces these, or the brokers "
        f"have to return{later}"
    )


def no_source_detail(partitions: str) -> str:
    """Why no release completes the lists of these partitions."""
    return (
        f"Kafka never completes {partitions}: no in-sync replica is on a live broker, so that no other can be copied; "
        "a broker of the ISR has to return first, or an unclean election has to choose a leader"
    )


def first_batches(numbers: list[int]) -> str:
    """The first of these batches, for a warning."""
    return ", ".join(map(str, numbers[:NAMED_BATCHES])) + (" …" if len(numbers) > NAMED_BATCHES else "")


def _cautions(problem: ReassignmentProblem, steps: Batches, found: Incomplete) -> Iterator[Caution]:
    brokers, is_down = problem.brokers, np.append(problem.brokers.is_offline, False)
    if found.waits.any():
        lists = steps.after[found.waits]
        down = np.unique(brokers.ids[lists[is_down[lists]]]).tolist()
        detail = waits_detail(_named(problem, steps, found.waits), problem.version, down)
        yield Caution("waits_for_offline_replica", detail, tuple(down))
    if found.has_no_source.any():
        yield Caution("no_in_sync_replica", no_source_detail(_named(problem, steps, found.has_no_source)))


def _named(problem: ReassignmentProblem, steps: Batches, among: NDArray[np.bool_]) -> str:
    """The batches and partitions of some steps."""
    numbers = np.unique(np.repeat(np.arange(len(steps)), np.diff(steps.offsets))[among]) + 1
    rows = np.unique(steps.rows[among]).tolist()
    names = ", ".join(problem.scope.name(row) for row in rows[:NAMED_PARTITIONS])
    more = " …" if len(rows) > NAMED_PARTITIONS else ""
    of_batches = f"{'batch' if len(numbers) == 1 else 'batches'} {first_batches(numbers.tolist())}"
    return f"{counted(len(rows), 'partition')} of {of_batches} ({names}{more})"
