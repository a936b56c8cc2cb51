"""What the solvers return for a problem."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.certificate import Certificate
from app.core.measures.tally import Tally
from app.core.model import Int32s
from app.core.reassignment import (
    Band,
    Batches,
    ExecutionStep,
    LeaderChoice,
    LeaderProblem,
    ReassignedPartitions,
    ReplicaPlacement,
    summed,
)
from app.services.reassignment.planning.kafka_generate import GeneratedMovement
from app.services.reassignment.planning.log_dirs import LogDirSolution
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.rebalances import Rebalances

if TYPE_CHECKING:
    from app.services.reassignment.planning.placing import PlacedReplicas
    from app.services.reassignment.planning.resources import ResourceSolution


@dataclass(frozen=True, slots=True, eq=False)
class LedPart:
    """The leaders of the partitions of a part that are not pinned, with their lower bound."""

    problem: LeaderProblem
    choice: LeaderChoice


@dataclass(frozen=True, slots=True, eq=False)
class LeaderSolution:
    """Replica lists with their preferred leaders first.

    Parameters
    ----------
    parts : of each part of the problem; one of all if leaders are placed together with replicas.
    after : (rows, widest) int32 positions, padded at the end.
    """

    parts: tuple[LedPart, ...]
    after: Int32s = field(repr=False)

    @property
    def band(self) -> Band | None:
        """The band of leaders; None with several parts, each of which has its own."""
        return self.parts[0].choice.band if len(self.parts) == 1 else None

    @property
    def changes(self) -> Certificate[int]:
        """The leader changes of all parts."""
        certificates = [part.choice.certificate for part in self.parts]
        return certificates[0] if len(certificates) == 1 else summed(certificates)

    @property
    def topic_excess(self) -> int | None:
        """By how many leaders topics are outside their bands; None if they have none."""
        excess = [part.choice.topic_excess for part in self.parts if part.choice.topic_excess is not None]
        return sum(excess) if excess else None

    @property
    def largest_bound(self) -> int:
        """A lower bound on the largest load of a broker."""
        return max(part.choice.largest.lower_bound for part in self.parts)


@dataclass(frozen=True, slots=True)
class Executions:
    """The order of execution, with the cordons that are set and lifted.

    Parameters
    ----------
    batches : one after another. rollback : their inverses, from the last to the first.
    at_once : the whole plan as one batch. rollback_at_once : its inverse.
    """

    batches: tuple[ExecutionStep, ...]
    rollback: tuple[ExecutionStep, ...]
    at_once: tuple[ExecutionStep, ...]
    rollback_at_once: tuple[ExecutionStep, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedReassignment:
    """Where every replica is in the end, and which one leads.

    Parameters
    ----------
    placed : replica lists with their lower bounds.
    resources : replicas and leaders over resources; None if the objective is not over them.
    log_dirs : the directory of every replica; None if the request does not choose them.
    relaxed : all relaxed constraints.
    """

    placed: "PlacedReplicas"
    leaders: LeaderSolution
    resources: "ResourceSolution | None"
    log_dirs: LogDirSolution | None
    relaxed: tuple[Relaxation, ...]

    @property
    def placement(self) -> ReplicaPlacement:
        """The replica lists of all parts."""
        return self.placed.whole


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentSolution(PlacedReassignment):
    """Everything that the solvers return for a problem.

    Parameters
    ----------
    trade_off : the least movement of each part in ever wider bands, if requested.
    steps : the batches. reassigned : what they were cut from. executions : None if no broker is or becomes cordoned.
    generated : what Kafka's own tool would move. rebalances : the groups that rebalance.
    tally, tally_before : the scope's partitions with the plan, and before it.
    """

    trade_off: Sequence[Sequence[ReplicaPlacement]] | None
    reassigned: ReassignedPartitions
    steps: Batches
    executions: Executions | None
    generated: GeneratedMovement
    rebalances: Rebalances
    tally: Tally
    tally_before: Tally
    seconds: float
