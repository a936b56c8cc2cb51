"""What a solver answers: where the replicas shall be, and the bound that proves how good that is."""

from dataclasses import dataclass, field

from app.core.model import Int32s
from app.core.reassignment.balance import Band


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where the replicas shall be.

    Parameters
    ----------
    replicas : (rows, widest) int32 broker positions, padded with -1. Homes that are kept stand where they stood, in
        their order; newcomers fill the gaps by ascending position, the most needed ones at the end.
    band : what the counts (or loads) of the target brokers are within; None with `keep`, which bounds no count.
    moved : the weight of all replicas that have to be copied: problem.weight for each one that is no home, or is a
        home `is_copied`; partitions without any home (new ones) cost nothing.
    bound : no placement within the constraints and the band moves less.
    solver : what found it. constraints : what the bound was measured against, in words.
    """

    replicas: Int32s = field(repr=False)
    band: Band | None
    moved: int
    bound: int
    solver: str
    constraints: tuple[str, ...]

    @property
    def optimal(self) -> bool:
        """Whether nothing better exists."""
        return self.moved <= self.bound

    @property
    def gap(self) -> float:
        """How much of what is moved the bound does not prove: (moved - bound) / moved, 0.0 where that is nothing."""
        return (self.moved - self.bound) / self.moved if self.moved > self.bound else 0.0
