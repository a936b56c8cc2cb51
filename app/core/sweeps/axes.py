"""Axes of a sweep; an index of their grid is a mixed-radix number whose lowest digit is the last axis.

Sample grid indices without replacement, one at a time, in constant memory; and seeds of scenarios.

A generalised Feistel cipher is a bijection of the a·b pairs just above the grid's size, whatever its round function;
following the cycle past values beyond the grid makes it a bijection of the grid itself. So the k-th sampled index is a
function of (size, seed, k) alone, and no index is sampled twice.

Source: J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, methods 2 and 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from math import isqrt, prod
from typing import overload

from app.core.model import INT32_MAX
from app.core.sweeps.fields import Fields, as_list, as_number
from app.errors import FieldPath, Json
from app.errors.requests import EmptyAxis, ImpossibleValue


@dataclass(frozen=True, slots=True)
class Span(Sequence[Json]):
    """The numbers first, first + step …, `length` of them, exact in decimal, in constant memory."""

    first: Decimal
    step: Decimal
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Json: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Json]: ...
    def __getitem__(self, index: int | slice) -> "Json | Sequence[Json]":
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self.length))]
        if not -self.length <= index < self.length:
            raise IndexError(index)
        value = self.first + self.step * (index % self.length)
        return int(value) if value == value.to_integral_value() else float(value)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: the path of a parameter, and its values in their order.

    Parameters
    ----------
    path : of the varied parameter; its first part, up to a dot, is its section.
    """

    path: str
    values: Sequence[Json]

    @property
    def section(self) -> str:
        """The first part of the path."""
        return self.path.split(".", 1)[0]


@dataclass(frozen=True)
class Grid:
    """Every combination of the axes' values. The last axis varies fastest; without axes there is one combination.

    Examples
    --------
    >>> grid = Grid((Axis("brokers", [3, 6]), Axis("growth", [0.0, 0.05, 0.1])))
    >>> grid.size, grid.digits(4), grid.values(4)
    (6, (1, 1), {'brokers': 6, 'growth': 0.05})
    >>> grid.index((1, 1))
    4
    """

    axes: tuple[Axis, ...]

    @cached_property
    def size(self) -> int:
        """The number of combinations."""
        return prod(len(axis.values) for axis in self.axes)

    def digits(self, index: int) -> tuple[int, ...]:
        """The position of each axis's value in combination `index`. Raises IndexError outside 0 … size − 1."""
        if not 0 <= index < self.size:
            raise IndexError(index)
        digits = []
        for axis in reversed(self.axes):
            index, digit = divmod(index, len(axis.values))
            digits.append(digit)
        return tuple(reversed(digits))

    def index(self, digits: Sequence[int]) -> int:
        """The inverse of `digits`."""
        index = 0
        for axis, digit in zip(self.axes, digits, strict=True):
            index = index * len(axis.values) + digit
        return index

    def values(self, index: int) -> dict[str, Json]:
        """The value of each axis in combination `index`, by path. Raises IndexError as `digits` does."""
        digits = self.digits(index)
        return {axis.path: axis.values[digit] for axis, digit in zip(self.axes, digits, strict=True)}


def read_axis(path: str, values: Json) -> Axis:
    """Read an axis: a list of values, or the numbers of `{"from", "to", "step"}` with both ends; the default step is 1.

    Raises
    ------
    EmptyAxis : there is no value. ImpossibleValue : the values are neither a list nor such a range.

    Examples
    --------
    >>> list(read_axis("traffic.growth_per_month", {"from": 0, "to": 0.3, "step": 0.1}).values)
    [0, 0.1, 0.2, 0.3]
    """
    where: FieldPath = ("axes", path)
    if isinstance(values, Mapping):
        axis = Axis(path, _read_span(values, where))
    else:
        axis = Axis(path, list(as_list(values, where)) if values != [] else [])
    if not axis.values:
        raise EmptyAxis(f"axis {path} has no values", path=where)
    return axis


def _read_span(values: Json, where: FieldPath) -> Span:
    fields = Fields(values, where, known=("from", "to", "step"))
    for name in ("from", "to"):
        as_number(fields.raw(name), (*where, name), minimum=None)
    fields.number("step", 1, above=0)
    first, last = Decimal(str(fields.raw("from"))), Decimal(str(fields.raw("to")))
    step = Decimal(str(fields.raw("step") or 1))
    length = (Fraction(last) - Fraction(first)) // Fraction(step) + 1  # decimals have a limit of digits
    if length > INT32_MAX:
        detail = f"axis {where[-1]} has more than {INT32_MAX} values; a larger step or a smaller range lifts it"
        raise ImpossibleValue(detail, path=where)
    return Span(first, step, max(0, length))


_ROUNDS = 8
_SEED_BITS = 48


def sampled_index(size: int, *, seed: int, k: int) -> int:
    """The k-th index sampled from 0 … size − 1, for 0 ≤ k < size; all k together are a permutation.

    Examples
    --------
    >>> sorted(sampled_index(5, seed=1, k=k) for k in range(5))
    [0, 1, 2, 3, 4]
    """
    high = isqrt(size - 1) + 1 if size > 1 else 1
    low = -(-size // high)
    index = k
    while True:
        index = _permuted(index, high, low, seed)
        if index < size:
            return index


def _permuted(index: int, high: int, low: int, seed: int) -> int:
    left, right = index // low, index % low  # left < high, right < low
    for number in range(_ROUNDS):
        if number % 2 == 0:
            left = (left + mixed(seed, number, right)) % high
        else:
            right = (right + mixed(seed, number, left)) % low
    return left * low + right


def mixed(*numbers: int) -> int:
    """A 64-bit hash of all the numbers."""
    return int.from_bytes(blake2b(",".join(map(str, numbers)).encode(), digest_size=8).digest())


def scenario_seed(sweep_seed: int, index: int) -> int:
    """The seed of a scenario without one, of as many bits as the state of java.util.Random has."""
    return mixed(sweep_seed, index) >> (64 - _SEED_BITS)
