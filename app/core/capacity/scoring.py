"""A range of a sweep's scenarios scored one after another: what an executor runs.

What two scenarios have in common is computed once: sections are read, topics placed and brokers loaded again only where
an axis that they hang on took another value. Axes that placement does not hang on (prices, growth, the broker profile)
therefore cost least where they are the last ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.capacity.definition import SweepDefinition
from app.core.capacity.grid import axis_values, digits_of, grid_index
from app.core.capacity.loads import Loads, loads, positions
from app.core.capacity.recent import Recent
from app.core.capacity.scenario import Scenario
from app.core.capacity.scenarios import ScenarioReader
from app.core.capacity.score import Score, document, judge, place
from app.core.capacity.workload import Workload, workload
from app.core.model import Int32s
from app.core.scenario_error import UNEXPECTED, ScenarioError
from app.errors import Json

_PLACED = ("topology", "topics", "partitions_multiplier", "placement")
_LOADED = (*_PLACED, "clients", "failures")
_KEPT = 4
"""Placements and loads kept at hand: more would seldom be met again before they are dropped."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario of a sweep, with its score or its error.

    Parameters
    ----------
    index : its place in the sweep. grid_index : its place in the whole grid; the same where nothing is sampled.
    axes : the value that each axis takes.
    """

    index: int
    grid_index: int
    axes: dict[str, Json]
    score: Score | None = None
    error: ScenarioError | None = None

    def document(self) -> dict[str, Json]:
        """The row as JSON; a scenario with an error has no other figures."""
        found: dict[str, Json] = {"index": self.index, "grid_index": self.grid_index, "axes": self.axes}
        if self.score is not None:
            return {**found, **document(self.score), "error": None}
        return {**found, "feasible": None, "error": (self.error or ScenarioError(UNEXPECTED, "")).document()}


def score_range(definition: SweepDefinition, start: int, stop: int) -> list[Row]:
    """Score the sweep's scenarios start … stop − 1; one that raises becomes a row with its error.

    Raises IndexError where the sweep has fewer.
    """
    scorer = _Scorer(definition)
    return [scorer.row(index) for index in range(start, stop)]


class _Scorer:
    def __init__(self, definition: SweepDefinition) -> None:
        self._definition = definition
        self._reader = ScenarioReader(definition)
        self._rows: Recent[Int32s] = Recent(_KEPT)
        self._workloads: Recent[Workload] = Recent(_KEPT)
        self._loads: Recent[Loads] = Recent(_KEPT)

    def row(self, index: int) -> Row:
        in_grid = grid_index(self._definition, index)
        axes = axis_values(self._definition, in_grid)
        try:
            scenario = self._reader.scenario(in_grid)
            return Row(index, in_grid, axes, judge(scenario, self._loaded(scenario, in_grid)))
        except Exception as error:  # noqa: BLE001 — one scenario must not take the others of its range with it
            return Row(index, in_grid, axes, error=ScenarioError.of(error))

    def _loaded(self, scenario: Scenario, in_grid: int) -> Loads:
        digits = digits_of(self._definition, in_grid)
        # Two scenarios that draw from different seeds are placed apart, whatever else they have in common.
        key = scenario.seed, self._reader.key(_LOADED, digits)
        return self._loads.get(
            key,
            lambda: loads(
                self._placed(scenario, digits),
                self._workload(scenario, digits),
                topology=scenario.topology,
                clients=scenario.clients,
                failures=scenario.failures,
            ),
        )

    def _placed(self, scenario: Scenario, digits: Sequence[int]) -> Int32s:
        key = scenario.seed, self._reader.key(_PLACED, digits)
        return self._rows.get(key, lambda: positions(place(scenario)))

    def _workload(self, scenario: Scenario, digits: Sequence[int]) -> Workload:
        key = self._reader.key(("topics", "partitions_multiplier"), digits)
        return self._workloads.get(key, lambda: workload(scenario.topics))
