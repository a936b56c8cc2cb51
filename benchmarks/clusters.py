"""The clusters that placements are measured on."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from app.core.model import Broker

FIRST_ID = 101


def _none(_index: int, _brokers: int) -> str | None:
    return None


def _even(index: int, _brokers: int) -> str | None:
    return f"rack-{index % 3}"


def _uneven(index: int, brokers: int) -> str | None:
    return f"rack-{min(6 * index // brokers, 2)}"


RACKS: Mapping[str, Callable[[int, int], str | None]] = MappingProxyType(
    {"none": _none, "even": _even, "uneven": _uneven}
)
"""How the brokers stand in racks.

none : no broker has one. even : three racks of n/3 brokers. uneven : three racks of n/6, n/6 and 4n/6 brokers, where
AdminUtils passes over many brokers of the large rack before it finds one of another.
"""


def brokers(count: int, *, racks: str) -> tuple[Broker, ...]:
    """So many brokers, with racks as `RACKS` says; their ids begin at `FIRST_ID`."""
    rack_of = RACKS[racks]
    return tuple(Broker(FIRST_ID + index, rack_of(index, count)) for index in range(count))


DOMAINS: Mapping[str, tuple[int, int, int]] = MappingProxyType({"nested": (3, 9, 45), "crossing": (3, 10, 44)})
"""How many regions, zones and racks there are; broker i is in the (i mod n)th of each.

nested : nine zones in three regions, 45 racks in the zones. crossing : every zone and rack reaches across regions.
"""


def brokers_with_domains(count: int, *, domains: str) -> tuple[Broker, ...]:
    """So many brokers with a region, a zone and a rack as `DOMAINS` says; their ids begin at `FIRST_ID`."""
    names = tuple(zip(("region", "zone", "rack"), DOMAINS[domains], strict=True))
    return tuple(
        Broker(FIRST_ID + index, attributes={name: f"{name}-{index % values}" for name, values in names})
        for index in range(count)
    )
