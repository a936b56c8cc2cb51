"""The placement that a solver returns: the brokers of every replica, with the certificate of the movement."""

from dataclasses import dataclass, field

from app.core.certificate import Certificate
from app.core.model import Int32s
from app.core.reassignment.balance import Band


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaPlacement:
    """The brokers of every replica after the reassignment.

    Parameters
    ----------
    replicas : (rows, widest) int32 broker positions, padded with -1. Current brokers that keep their replica stay in
        their column order; new brokers fill the gaps by ascending position.
    band : the counts (or loads) of the target brokers are within it; None with `keep`, which bounds no count.
    certificate : of the moved weight, with the least that any placement within the constraints and the band moves.
        Moved are `problem.weight` for each replica on a broker that has none now, or whose copy `is_copied` all the
        same; partitions without any replica now (new ones) cost nothing.
    """

    replicas: Int32s = field(repr=False)
    band: Band | None
    certificate: Certificate[int]

    @property
    def moved(self) -> int:
        """The weight of all replicas that have to be copied."""
        return self.certificate.value
