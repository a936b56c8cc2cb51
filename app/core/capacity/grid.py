"""Which values the axes take in which scenario: a mixed-radix number whose lowest digit is the last axis."""

from collections.abc import Sequence

from app.core.capacity.definition import SweepDefinition, count
from app.core.capacity.sampling import drawn_index
from app.errors import Json


def grid_index(definition: SweepDefinition, index: int) -> int:
    """Which scenario of the whole grid the sweep's scenario `index` is; IndexError beyond its count."""
    if not 0 <= index < count(definition):
        raise IndexError(index)
    if definition.sample is None:
        return index
    return drawn_index(definition.grid_size, seed=definition.sample.seed, k=index)


def digits_of(definition: SweepDefinition, in_grid: int) -> tuple[int, ...]:
    """Which value of each axis the grid's scenario takes: a mixed-radix number, the last axis its lowest digit."""
    digits = []
    for axis in reversed(definition.axes):
        in_grid, digit = divmod(in_grid, len(axis.values))
        digits.append(digit)
    return tuple(reversed(digits))


def grid_index_of(definition: SweepDefinition, digits: Sequence[int]) -> int:
    """The inverse of `digits_of`."""
    in_grid = 0
    for axis, digit in zip(definition.axes, digits, strict=True):
        in_grid = in_grid * len(axis.values) + digit
    return in_grid


def axis_values(definition: SweepDefinition, in_grid: int) -> dict[str, Json]:
    """The value of each axis in the grid's scenario."""
    digits = digits_of(definition, in_grid)
    return {axis.path: axis.values[digit] for axis, digit in zip(definition.axes, digits, strict=True)}
