"""Sweeps over the consumers of many groups: each at every capacity, allowed delay and number of spare consumers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from app.core.consumers.delay import delayed
from app.core.consumers.model import ConsumersProblem
from app.core.consumers.scaling import scale
from app.core.model import Int64s
from app.core.sweeps.axes import Axis, Grid
from app.errors import Json

NUMBERS = (
    "most_consumers",
    "consumer_hours",
    "proven_consumers_share",
    "moved_bytes_per_s",
    "proven_moves_share",
    "lost_bytes_per_s",
)
"""The figures of a scenario. Moved bytes/s are the mean of the intervals, lost ones the largest. A share is the
fraction of intervals whose lower bound is reached."""
AXES = ("group", "capacity_bytes_per_s", "delay_s", "spare")
_HOUR = 3_600


@dataclass(frozen=True, slots=True, eq=False)
class SweptSeries:
    """A group. rates : (intervals, partitions) int64 bytes/s, in intervals of `step_s` seconds."""

    group: str
    step_s: int
    rates: Int64s


@dataclass(frozen=True, eq=False)
class ConsumersSweep:
    """Every group at every capacity, delay and number of spare consumers, the last of these varying fastest.

    Examples
    --------
    >>> from app.core.sweeps import score
    >>> sweep = read_sweep({
    ...     "capacities_bytes_per_s": [100, 200], "delays_s": [0], "spares": [0], "min": 1,
    ...     "resolved": {"groups": [{"group": "billing", "step_s": 3600, "rates": [[60, 40], [90, 40]]}]}})
    >>> [(row.document["most_consumers"], row.document["moved_bytes_per_s"]) for row in score(sweep, 0, 2)]
    [(2, 20.0), (1, 0.0)]
    """

    without_figures: ClassVar[Mapping[str, Json]] = {}
    groups: tuple[SweptSeries, ...]
    capacities: tuple[float, ...]
    delays: tuple[float, ...]
    spares: tuple[int, ...]
    least: int
    most: int | None

    @cached_property
    def grid(self) -> Grid:
        """The axes: group, capacity, delay, spare consumers."""
        names: list[Json] = [each.group for each in self.groups]
        values = (names, self.capacities, self.delays, self.spares)
        return Grid(tuple(Axis(name, each) for name, each in zip(AXES, values, strict=True)))

    @property
    def count(self) -> int:
        """The number of scenarios."""
        return self.grid.size

    def coordinates(self, index: int) -> dict[str, Json]:
        """The value of each axis."""
        return {"axes": self.grid.values(index)}

    def figures(self, index: int) -> Mapping[str, Json]:
        """The consumers of the group of scenario `index`, as a plan has them."""
        group, capacity, delay, spare = self.grid.digits(index)
        of = self.groups[group]
        rates = delayed(of.rates, int(self.delays[delay] // of.step_s))
        found = scale(
            ConsumersProblem(rates, int(self.capacities[capacity]), self.least, self.most, spare=self.spares[spare])
        )
        return {
            "most_consumers": max(each.consumers for each in found),
            "consumer_hours": sum(each.consumers for each in found) * of.step_s / _HOUR,
            "proven_consumers_share": float(np.mean([each.consumers <= each.lower_bound for each in found])),
            "moved_bytes_per_s": sum(each.moved for each in found) / len(found),
            "proven_moves_share": float(np.mean([each.moved == each.moved_lower_bound for each in found])),
            "lost_bytes_per_s": max(each.lost for each in found),
        }


def read_sweep(definition: Mapping[str, Any]) -> ConsumersSweep:
    """Read a sweep's JSON, whose groups are resolved."""
    return ConsumersSweep(
        groups=tuple(
            SweptSeries(each["group"], each["step_s"], np.array(each["rates"], np.int64))
            for each in definition["resolved"]["groups"]
        ),
        capacities=tuple(definition["capacities_bytes_per_s"]),
        delays=tuple(definition["delays_s"]),
        spares=tuple(definition["spares"]),
        least=definition["min"],
        most=definition.get("max"),
    )
