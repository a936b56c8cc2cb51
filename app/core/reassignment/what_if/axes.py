"""Which broker is removed and how many are added in which scenario: the axes of these sweeps."""

from collections.abc import Collection, Mapping, Sequence
from math import prod

from app.core.capacity.axes import Axis, read_axis
from app.core.capacity.fields import as_integer
from app.errors import ConflictingFields, Json, UnknownAxis, UnknownBroker

REMOVE, ADD = "remove_broker", "add_brokers"
NAMES = (REMOVE, ADD)
EACH = "each"
"""Instead of the brokers that are removed in turn: every one that there is."""
MOST_ADDED = 10_000


def read_axes(axes: Mapping[str, Json], brokers: Sequence[int]) -> tuple[Axis, ...]:
    """The axes in their order, with whole numbers as their values.

    Parameters
    ----------
    brokers : the ids that may be removed, ascending.

    Raises
    ------
    UnknownAxis, EmptyAxis, ImpossibleValue : it is none of these, has no values, or one that cannot be.
    UnknownBroker : one is removed that is not there. ConflictingFields : a value stands there twice.
    """
    return tuple(_read(name, values, brokers) for name, values in axes.items())


def count(axes: Sequence[Axis]) -> int:
    """How many scenarios the axes span."""
    return prod(len(axis.values) for axis in axes)


def values_of(axes: Sequence[Axis], index: int) -> dict[str, int]:
    """The value of each axis in a scenario; IndexError beyond the last one."""
    if not 0 <= index < count(axes):
        raise IndexError(index)
    found: dict[str, int] = {}
    for axis in reversed(axes):
        index, digit = divmod(index, len(axis.values))
        found[axis.path] = axis.values[digit]  # type: ignore[assignment] # `_read` made whole numbers of them
    return {axis.path: found[axis.path] for axis in axes}


def _read(name: str, values: Json, brokers: Sequence[int]) -> Axis:
    if name not in NAMES:
        detail = f"axis {name} names nothing that these scenarios have; there are {', '.join(NAMES)}"
        raise UnknownAxis(detail, path=("axes", name), value=name, known=list(NAMES))
    if name == REMOVE and values == EACH:
        return Axis(name, tuple(brokers))
    axis = read_axis(name, values)
    most = MOST_ADDED if name == ADD else 2**31 - 1
    read = tuple(
        as_integer(value, ("axes", name, place), minimum=0, maximum=most) for place, value in enumerate(axis.values)
    )
    _require_distinct(name, read)
    if name == REMOVE:
        _require_there(read, frozenset(brokers))
    return Axis(name, read)


def _require_distinct(name: str, values: Sequence[int]) -> None:
    seen = set()
    for place, value in enumerate(values):
        if value in seen:
            raise ConflictingFields(f"{value} is listed twice", path=("axes", name, place), value=value)
        seen.add(value)


def _require_there(ids: Sequence[int], brokers: Collection[int]) -> None:
    for place, broker in enumerate(ids):
        if broker not in brokers:
            detail = f"there is no broker {broker} in the snapshot"
            raise UnknownBroker(detail, path=("axes", REMOVE, place), value=broker)
