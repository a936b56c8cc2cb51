"""The law of weights: ceilings are at the lowest feasible level, floors at the highest."""

from fractions import Fraction
from math import ceil, floor

from tests.oracle.exact import Exact
from tests.oracle.examined import Examined
from tests.oracle.model import Model


def bands(examined: Examined, model: Model, exact: Exact) -> bool:
    """The reported bands are the exact ones; the exact model is then held within the reported bands.

    A level is a number of replicas for a unit of weight: ceilings are rounded up to whole replicas, floors down.
    """
    balance, stated = examined.answer.document["balance"], examined.instance.request["balance"]
    rows = balance["replicas"].get("weights")
    if (
        not rows
        or rows[0]["low"] is None
        or balance.get("sets")
        or {row["broker"] for row in rows} != model.brokers.staying
    ):
        return False
    if stated.get("replicas") == "tight" and model.brokers.receiving == model.brokers.staying:
        weight_of = {row["broker"]: Fraction(row["weight"]).limit_denominator(1000) for row in rows}
        highs = _ceilings(model, weight_of)
        lows = _floors(model, weight_of, highs)
        reported = {row["broker"]: (row["low"], row["high"]) for row in rows}
        right = {broker: (lows[broker], highs[broker]) for broker in weight_of}
        examined.hold("ceilings and floors are at feasible levels", reported == right, f"{reported}, exact {right}")
    for row in rows:
        load = exact.load(row["broker"], lambda _: 1, lambda _: 0)
        exact.require(load >= row["low"])
        exact.require(load <= row["high"])
    return True


def _levels(model: Model, weight_of: dict[int, Fraction]) -> list[Fraction]:
    """The levels at which a ceiling or floor changes."""
    total = sum(row.factor for row in model.partitions)
    highest = total / min(weight_of.values())
    return sorted({count / each for each in weight_of.values() for count in range(ceil(highest * each) + 1)})


def _ceilings(model: Model, weight_of: dict[int, Fraction]) -> dict[int, int]:
    for level in _levels(model, weight_of):
        highs = {broker: ceil(level * weight) for broker, weight in weight_of.items()}
        if sum(highs.values()) >= sum(row.factor for row in model.partitions) and _is_feasible(model, {}, highs):
            return highs
    raise AssertionError("no level is feasible")


def _floors(model: Model, weight_of: dict[int, Fraction], highs: dict[int, int]) -> dict[int, int]:
    for level in reversed(_levels(model, weight_of)):
        lows = {broker: min(floor(level * weight), highs[broker]) for broker, weight in weight_of.items()}
        if sum(lows.values()) <= sum(row.factor for row in model.partitions) and _is_feasible(model, lows, highs):
            return lows
    raise AssertionError("no level is feasible")


def _is_feasible(model: Model, lows: dict[int, int], highs: dict[int, int]) -> bool:
    exact = Exact(model)
    for broker, high in highs.items():
        load = exact.load(broker, lambda _: 1, lambda _: 0)
        exact.require(load <= high)
        exact.require(load >= lows.get(broker, 0))
    return exact.minimised(0) is not None
