"""Weights of brokers as axes of a reassignment sweep: `weights.104` varies that of broker 104."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from app.core.sweeps.axes import read_axis
from app.core.sweeps.fields import as_number
from app.errors import FieldPath, Json
from app.errors.reassignments import UnknownBroker

WEIGHT_OF = "weights."
MOST = 1e6
"""The largest weight, as in a balance."""


def is_weight_axis(name: str) -> bool:
    """Whether an axis varies the weight of a broker."""
    return name.startswith(WEIGHT_OF) and name != WEIGHT_OF


def read_weight_axis(name: str, values: Json, brokers: Collection[int]) -> tuple[float, ...]:
    """The values of an axis of weights.

    Raises
    ------
    EmptyAxis, ImpossibleValue : as `read_axis`; a weight is not in (0, 1,000,000]. UnknownBroker
    """
    where: FieldPath = ("axes", name)
    broker = name.removeprefix(WEIGHT_OF)
    if broker not in {str(each) for each in brokers}:
        raise UnknownBroker(f"there is no broker {broker} in the snapshot", path=where, value=broker)
    return tuple(
        as_number(value, (*where, position), above=0.0, maximum=MOST)
        for position, value in enumerate(read_axis(name, values).values)
    )


def weights_of_axes(values: Mapping[str, Any]) -> dict[int, Fraction]:
    """The weights that the axes of a scenario state, by broker id: the fractions that were written."""
    return {
        int(name.removeprefix(WEIGHT_OF)): Fraction(repr(float(value)))
        for name, value in values.items()
        if is_weight_axis(name)
    }
