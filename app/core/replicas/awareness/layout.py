"""Brokers by their attributes, and the costs by which a policy chooses rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.model import Broker, Int32s, Int64s

LEAST_WEIGHT = 1e-9
"""Smallest relative weight: below it, floating point would not distinguish a broker from one of weight 0."""
WANTED = -1
"""Cost of a replica that a row must have before other costs are compared."""
FORBIDDEN = 1 << 40
"""Cost of a replica that is not allowed; larger than every sum of other costs."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Brokers by ascending id, and the values of the attributes that are constrained.

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
        """The layout of brokers that have every attribute; ids are distinct."""
        known = sorted(brokers, key=lambda broker: broker.id)
        columns = ([str(broker.value(name)) for broker in known] for name in attributes)
        values, value_of = zip(*(np.unique(column, return_inverse=True) for column in columns), strict=True)
        weights = np.array([broker.weight for broker in known], np.float64)
        return cls(
            ids=np.array([broker.id for broker in known], np.int32),
            weights=np.maximum(weights / weights.max(), LEAST_WEIGHT),
            attributes=tuple(attributes),
            values=tuple(tuple(of_attribute.tolist()) for of_attribute in values),
            value_of=np.array(value_of, np.int64),
        )

    def sizes(self, attribute: int) -> list[int]:
        """The number of brokers with each value of an attribute."""
        sizes: list[int] = np.bincount(self.value_of[attribute], minlength=len(self.values[attribute])).tolist()
        return sizes

    def share_of(self, attribute: int) -> NDArray[np.float64]:
        """(values,) float64: the sum of the weights of each value's brokers."""
        return np.bincount(self.value_of[attribute], self.weights, len(self.values[attribute])).astype(np.float64)


@dataclass(frozen=True, slots=True)
class RowDemand:
    """The requirements of a policy for the rows of some partitions.

    The cost of a row is a vector, compared in lexicographic order: for each attribute the sum of the costs of replicas.

    Parameters
    ----------
    factor : replicas of a row, if the costs allow it.
    costs : by attribute and value, the cost of the first, second … replica there, not decreasing; there are
        as many costs as replicas are allowed.
    leading_value : the value of the first attribute that has the leader; None if any may.
    """

    factor: int
    costs: tuple[tuple[tuple[int, ...], ...], ...]
    leading_value: int | None = None

    @property
    def leading(self) -> int:
        """The number of replicas at the leading value, which come first in a row; 0 without one."""
        return 0 if self.leading_value is None else self.costs[0][self.leading_value].count(WANTED)

    def table(self, layout: Layout) -> Int64s:
        """(attributes, most values, factor + 1) int64: `costs` as an array, `FORBIDDEN` beyond them."""
        table = np.full((len(self.costs), max(map(len, layout.values)), self.factor + 1), FORBIDDEN, np.int64)
        for attribute, of_values in enumerate(self.costs):
            for value, each in enumerate(of_values):
                table[attribute, value, : len(each)] = each
        return table
