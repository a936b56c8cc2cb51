"""Strategies that read many choices from few draws of Hypothesis, for cases that consist of dozens of small choices.

Hypothesis takes some 50 µs for each choice, and more for each strategy that is made in passing, so that a group of six
members took 8 ms. Here a block of bytes is one draw, and a choice takes a byte or more of it, in half a microsecond.
Hypothesis's view of the parts is lost: a failing case is shrunk by its bytes, of which smaller ones mean
smaller numbers, earlier elements and shorter lists. Numbers of small ranges are uniform, numbers of large ranges have a
uniform number of bits, and the lengths of lists are uniform.

The names and arguments are as in `hypothesis.strategies`, and both kinds can be parts of each other. A file that
imports this module as `st` says that its cases are of this kind.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, Concatenate, ParamSpec, TypeVar

from hypothesis import assume
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.strategies import DataObject, DrawFn, SearchStrategy, binary, data, floats, text

__all__ = [
    "Compact",
    "DataObject",
    "DrawFn",
    "SearchStrategy",
    "binary",
    "booleans",
    "builds",
    "composite",
    "data",
    "dictionaries",
    "fixed_dictionaries",
    "floats",
    "integers",
    "just",
    "lists",
    "none",
    "one_of",
    "permutations",
    "randoms",
    "sampled_from",
    "sets",
    "text",
    "tuples",
]

T = TypeVar("T")
U = TypeVar("U")
K = TypeVar("K")
P = ParamSpec("P")

_BLOCK = binary(min_size=64, max_size=64)
_LENGTHS = 10
"""Elements beyond its `min_size` that a list without a `max_size` has at most."""
_ATTEMPTS = 10
"""An element that has to be new, or to pass a filter, is chosen this number of times at most."""


class Source:
    """The bytes of a case, and where the next choice begins."""

    __slots__ = ("_at", "_block", "_data")

    def __init__(self, data: ConjectureData) -> None:
        self._data = data
        self._block = b""
        self._at = 0

    def below(self, count: int) -> int:
        """A number from 0 to `count` − 1, by as many bytes as make all about as probable."""
        size = 1 if count <= 64 else (count.bit_length() + 15) // 8
        end = self._at + size
        if end > len(self._block):
            self._block, end = self._data.draw(_BLOCK), size
        number = int.from_bytes(self._block[end - size : end], "big")
        self._at = end
        return number * count >> 8 * size

    def draw(self, strategy: SearchStrategy[T], label: object = None) -> T:  # noqa: ARG002 -- as `DrawFn` has it
        """A value of a strategy of either kind."""
        return strategy.take(self) if isinstance(strategy, Compact) else self._data.draw(strategy)


class Compact(SearchStrategy[T]):
    """A strategy whose values are taken from a `Source`."""

    def __init__(self, take: Callable[[Source], T]) -> None:
        super().__init__()
        self.take = take

    def do_draw(self, data: ConjectureData) -> T:
        """A value of a case that begins here."""
        return self.take(Source(data))

    def map(self, pack: Callable[[T], U]) -> "Compact[U]":
        """The values that a function makes of these."""
        return Compact(lambda source: pack(self.take(source)))

    def flatmap(self, expand: Callable[[T], SearchStrategy[U]]) -> "Compact[U]":
        """The values of the strategies that a function makes of these."""
        return Compact(lambda source: source.draw(expand(self.take(source))))

    def filter(self, condition: Callable[[T], Any]) -> "Compact[T]":  # type: ignore[override] # no type guards
        """Those that meet a condition; the case is given up if none of several does."""

        def take(source: Source) -> T:
            for _ in range(_ATTEMPTS):
                value = self.take(source)
                if condition(value):
                    return value
            assume(condition=False)
            raise AssertionError("an example that was given up goes on")

        return Compact(take)

    def __or__(self, other: SearchStrategy[U]) -> "Compact[T | U]":
        return one_of(*(self.kinds if isinstance(self, _OneOf) else (self,)), other)


class _OneOf(Compact[T]):
    """The values of several strategies, each as probable."""

    def __init__(self, kinds: Sequence[SearchStrategy[T]]) -> None:
        super().__init__(lambda source: source.draw(kinds[source.below(len(kinds))]))
        self.kinds = tuple(kinds)


def composite(
    make: Callable[Concatenate[DrawFn, P], T],
) -> Callable[P, Compact[T]]:
    """A function that draws its parts by its first argument, as one that makes strategies."""

    def strategy(*args: P.args, **kwargs: P.kwargs) -> Compact[T]:
        return Compact(lambda source: make(source.draw, *args, **kwargs))  # type: ignore[arg-type] # see `DrawFn`

    strategy.__doc__ = make.__doc__
    return strategy


def just(value: T) -> Compact[T]:
    """A value."""
    return Compact(lambda _: value)


def none() -> Compact[None]:
    """None."""
    return just(None)


def integers(min_value: int, max_value: int) -> Compact[int]:
    """Numbers of a range."""
    count = max_value - min_value + 1
    bits = count.bit_length()
    if bits <= 8:
        return Compact(lambda source: min_value + source.below(count))
    return Compact(lambda source: min_value + source.below(min(count, 2 << source.below(bits))))


def booleans() -> Compact[bool]:
    """False or True."""
    return Compact(lambda source: source.below(2) == 1)


def sampled_from(elements: Iterable[T]) -> Compact[T]:
    """One of some elements."""
    choices = tuple(elements)
    assert choices, "there is nothing to sample from"
    return Compact(lambda source: choices[source.below(len(choices))])


def one_of(*strategies: SearchStrategy[Any]) -> Compact[Any]:
    """The values of several strategies."""
    return _OneOf(strategies)


def tuples(*strategies: SearchStrategy[Any]) -> Compact[tuple[Any, ...]]:
    """A value of each strategy."""
    return Compact(lambda source: tuple([source.draw(strategy) for strategy in strategies]))


def builds(build: Callable[..., T], *args: SearchStrategy[Any], **kwargs: SearchStrategy[Any]) -> Compact[T]:
    """Results of a function of values of strategies."""
    return Compact(
        lambda source: build(
            *[source.draw(strategy) for strategy in args],
            **{name: source.draw(strategy) for name, strategy in kwargs.items()},
        )
    )


def permutations(values: Iterable[T]) -> Compact[list[T]]:
    """The values in any order."""
    ordered = list(values)

    def take(source: Source) -> list[T]:
        order = ordered.copy()
        for at in range(len(order) - 1):
            chosen = at + source.below(len(order) - at)
            order[at], order[chosen] = order[chosen], order[at]
        return order

    return Compact(take)


def lists(
    elements: SearchStrategy[T],
    *,
    min_size: int = 0,
    max_size: int | None = None,
    unique: bool = False,
    unique_by: Callable[[T], Any] | None = None,
) -> Compact[list[T]]:
    """Lists of values; if those have to be unique and there are too few, shorter ones."""
    spread = (min_size + _LENGTHS if max_size is None else max_size) - min_size + 1
    key = unique_by or ((lambda value: value) if unique else None)

    def take(source: Source) -> list[T]:
        size = min_size + (source.below(spread) if spread > 1 else 0)
        if key is None:
            return [source.draw(elements) for _ in range(size)]
        chosen: dict[Any, T] = {}
        attempts = _ATTEMPTS
        while len(chosen) < size and attempts:
            value = source.draw(elements)
            attempts = attempts - 1 if key(value) in chosen else _ATTEMPTS
            chosen.setdefault(key(value), value)
        assume(len(chosen) >= min_size)
        return [*chosen.values()]

    return Compact(take)


def randoms() -> Compact[Random]:
    """Generators of random numbers, each of a seed of its own; all that they yield is one choice."""
    return Compact(lambda source: Random(source.below(2**32)))


def fixed_dictionaries(strategies: Mapping[K, SearchStrategy[T]]) -> Compact[dict[K, T]]:
    """Mappings of these keys, each to a value of its strategy."""
    return Compact(lambda source: {key: source.draw(strategy) for key, strategy in strategies.items()})


def sets(elements: SearchStrategy[T], *, min_size: int = 0, max_size: int | None = None) -> Compact[set[T]]:
    """Sets of values."""
    return lists(elements, min_size=min_size, max_size=max_size, unique=True).map(set)


def dictionaries(
    keys: SearchStrategy[K], values: SearchStrategy[T], *, min_size: int = 0, max_size: int | None = None
) -> Compact[dict[K, T]]:
    """Mappings of unique keys to values."""
    entries = lists(tuples(keys, values), min_size=min_size, max_size=max_size, unique_by=lambda entry: entry[0])
    return entries.map(dict)
