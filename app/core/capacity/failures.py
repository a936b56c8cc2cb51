"""Which brokers are lost together: the failure sets of each class, in the order in which they are looked at.

none; each broker, by ascending id; each rack, as listed; each rack plus one broker elsewhere, by rack and then by id.
Every set is a `Ground` (nothing or a rack), or a ground and one live broker more, so that what one broker more costs is
told from the partitions that it holds alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.capacity.scenario import Topology


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Brokers that are lost to begin with.

    Parameters
    ----------
    rack : the rack that is lost; None for none. dead : (brokers,) bool. live_racks : racks that have a live broker.
    own_class : the failure class that the ground is a set of. plus_one_class : that of the ground and a broker more.
    """

    rack: str | None
    dead: NDArray[np.bool_]
    live_racks: int
    own_class: str
    plus_one_class: str

    @property
    def name(self) -> str:
        """What the failure is called in an answer: `none` or `rack:a`."""
        return "none" if self.rack is None else f"rack:{self.rack}"

    def name_with(self, broker: int) -> str:
        """What the failure of a broker more is called: `broker:3` or `rack:a+broker:3`."""
        return f"broker:{broker}" if self.rack is None else f"{self.name}+broker:{broker}"


def grounds(topology: Topology) -> Iterator[Ground]:
    """Nothing lost, then each rack."""
    racks = len(topology.racks)
    yield Ground(None, np.zeros(len(topology.brokers), np.bool_), racks, "none", "broker")
    for index, rack in enumerate(topology.racks):
        yield Ground(rack, topology.rack_of == index, racks - 1, "rack", "rack_and_broker")
