"""What brokers keep on disk, and by how much traffic can grow before a disk is full.

A replica keeps min(growing, most) bytes, where `growing` is proportional to traffic. So what a broker keeps is concave
and piecewise linear in the factor by which traffic grows: each step from a point below the root to the root of the
tangent there stays below it, and the steps end where no partition on the way reaches its most.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.core.capacity.workload import Float64s, Workload
from app.core.model import Int32s

_NO_FURTHER = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Storage:
    """The replicas that are kept: (partitions, widest) positions of brokers, and how many brokers there are."""

    rows: Int32s
    workload: Workload
    brokers: int

    @cached_property
    def stored_bytes(self) -> Float64s:
        """(brokers,) float64 bytes that they keep now."""
        growing, fixed, _ = self._at(1.0)
        return growing + fixed

    @cached_property
    def _without_traffic(self) -> tuple[Float64s, Float64s, bool]:
        """Where every search begins, whatever the limit."""
        return self._at(0.0)

    def first_full(self, limit: float) -> tuple[float, int]:
        """The largest factor at which no broker keeps more than `limit` bytes, and the broker that would be first.

        0 where bytes that do not grow pass the limit; infinite where it is never reached.
        """
        factor = 0.0
        while True:
            growing, fixed, caps_ahead = self._at(factor) if factor > 0 else self._without_traffic
            roots = np.where(fixed > limit, 0.0, np.inf)
            np.divide(limit - fixed, growing, out=roots, where=growing > 0)
            broker = int(roots.argmin())
            reached = max(0.0, float(roots[broker]))
            if not caps_ahead or not factor * _NO_FURTHER < reached < np.inf:
                return reached, broker
            factor = reached

    def _at(self, factor: float) -> tuple[Float64s, Float64s, bool]:
        from app.core.capacity import loads_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

        growing, fixed = np.zeros(self.brokers), np.zeros(self.brokers)
        caps_ahead = kernel.store(
            self.rows, self.workload.growing_bytes, self.workload.most_bytes, factor, growing, fixed
        )
        return growing, fixed, bool(caps_ahead)
