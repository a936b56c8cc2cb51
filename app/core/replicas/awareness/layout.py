"""Brokers by their attributes, as the policies and the planner look at them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.model import Broker, Int32s, Int64s

LEAST_WEIGHT = 1e-9
"""A broker counts as at least this much of the heaviest one: below, the arithmetic would no longer tell it from 0."""
WANTED = -1
"""What a replica costs that a row is to have before any other is weighed."""
FORBIDDEN = 1 << 40
"""What a replica costs where there may be none; no sum of other costs comes near."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Brokers by ascending id, and the values of the attributes that count.

    Parameters
    ----------
    ids : (brokers,) int32. weights : (brokers,) float64; the heaviest is 1.
    attributes : the names. values : by attribute its distinct values, sorted.
    value_of : (attributes, brokers) int64 indices into `values`.
    """

    ids: Int32s = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    value_of: Int64s = field(repr=False)

    @classmethod
    def of(cls, brokers: Sequence[Broker], attributes: Sequence[str]) -> Self:
        """Every broker has every attribute, and no id comes twice."""
        known = sorted(brokers, key=lambda broker: broker.id)
        values_of_brokers = [[str(broker.value(name)) for broker in known] for name in attributes]
        values = tuple(tuple(sorted(set(column))) for column in values_of_brokers)
        index = [{value: at for at, value in enumerate(each)} for each in values]
        weights = np.array([broker.weight for broker in known], np.float64)
        return cls(
            ids=np.array([broker.id for broker in known], np.int32),
            weights=np.maximum(weights / weights.max(), LEAST_WEIGHT),
            attributes=tuple(attributes),
            values=values,
            value_of=np.array(
                [[at[value] for value in column] for at, column in zip(index, values_of_brokers, strict=True)], np.int64
            ),
        )

    def sizes(self, attribute: int) -> list[int]:
        """How many brokers have each value of an attribute."""
        sizes: list[int] = np.bincount(self.value_of[attribute], minlength=len(self.values[attribute])).tolist()
        return sizes

    def share_of(self, attribute: int) -> NDArray[np.float64]:
        """(values,) float64: the sum of the weights of each value's brokers."""
        return np.asarray(
            np.bincount(self.value_of[attribute], self.weights, minlength=len(self.values[attribute])), np.float64
        )


@dataclass(frozen=True, slots=True)
class Demand:
    """What a policy asks of the rows of some partitions.

    A row's cost is a list, compared item by item: of each attribute in turn, the sum of what each replica costs there.

    Parameters
    ----------
    factor : how many replicas a row has, if there is room for them.
    costs : of each attribute, of each value, what the first, second … replica there costs, never less than the one
        before. There may be no more of them than costs.
    leading_value : the value of the first attribute that leads; None where any may.
    """

    factor: int
    costs: tuple[tuple[tuple[int, ...], ...], ...]
    leading_value: int | None = None

    @property
    def leading(self) -> int:
        """How many replicas a row has at the value that leads it, if one does; the policy has them come first."""
        return 0 if self.leading_value is None else self.costs[0][self.leading_value].count(WANTED)

    def table(self, layout: Layout) -> Int64s:
        """(attributes, most values, factor + 1) int64: `costs` as an array, `FORBIDDEN` where there are none."""
        table = np.full((len(self.costs), max(map(len, layout.values)), self.factor + 1), FORBIDDEN, np.int64)
        for attribute, of_values in enumerate(self.costs):
            for value, each in enumerate(of_values):
                table[attribute, value, : len(each)] = each
        return table


def even(most: int) -> tuple[int, ...]:
    """The costs under which replicas are dealt evenly: the sum of the first c is c²."""
    return tuple(2 * count + 1 for count in range(most))


def evenly(layout: Layout, factor: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The costs under which every attribute is spread evenly, without limits of their own."""
    return tuple(
        tuple(even(min(factor, size)) for size in layout.sizes(attribute))
        for attribute in range(len(layout.attributes))
    )
