"""Scenario i of a sweep: a pure function of (definition, i), so that nothing is stored before it has been scored."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar, cast

from app.core.capacity.axes import axis_paths, unknown_axis, write
from app.core.capacity.consistency import require_together
from app.core.capacity.definition import SweepDefinition, read_definition
from app.core.capacity.grid import digits_of, grid_index
from app.core.capacity.reading import (
    READERS,
    SECTION_FIELDS,
    read_clients,
    read_failures,
    read_multiplier,
    read_placement,
    read_prices,
    read_profile,
    read_rereplication,
    read_targets,
    read_topology,
    read_traffic,
)
from app.core.capacity.recent import Recent
from app.core.capacity.sampling import scenario_seed
from app.core.capacity.scenario import Scenario, TopicLoad
from app.core.capacity.topic_reading import read_topics
from app.errors import ConflictingFields, Failure, FieldPath, Json

Section = TypeVar("Section")
_SECTIONS_KEPT = 64


def scenario(definition: SweepDefinition, index: int) -> Scenario:
    """Scenario `index` of the sweep; raises a `Failure` where it cannot be, IndexError beyond the sweep's count."""
    return ScenarioReader(definition).scenario(grid_index(definition, index))


def read_scenario(mapping: Json) -> Scenario:
    """One scenario's JSON by itself; where it gives no seed, it is that of a sweep's scenario 0.

    Raises
    ------
    ImpossibleValue, ConflictingFields, LimitExceeded : what cannot be, or does not go together, with its path.
    """
    return scenario(read_definition({"base": mapping}), 0)


class ScenarioReader:
    """Reads many scenarios of a sweep; a section that is the same in the next scenario is read once."""

    def __init__(self, definition: SweepDefinition) -> None:
        self._definition = definition
        self._sections: Recent[object] = Recent(_SECTIONS_KEPT)

    def key(self, sections: Sequence[str], digits: Sequence[int]) -> Hashable:
        """What is the same for two scenarios exactly where none of these sections varies between them."""
        axes = self._definition.axes
        return tuple(digit for axis, digit in zip(axes, digits, strict=True) if axis.section in sections)

    def section(self, name: str, read: Callable[[Json], Section], digits: Sequence[int]) -> Section:
        """What a section's reader makes of it, with the values of its axes."""
        key = name, self.key((name,), digits)
        return cast("Section", self._sections.get(key, lambda: read(self._written(name, digits))))

    def scenario(self, in_grid: int) -> Scenario:
        """A scenario of the whole grid; raises a `Failure` where it cannot be."""
        digits = digits_of(self._definition, in_grid)
        topology = self.section("topology", read_topology, digits)
        topics = self.section("topics", read_topics, digits)
        multiplier = self.section("partitions_multiplier", read_multiplier, digits)
        placement = self.section("placement", read_placement, digits)
        clients = self.section("clients", read_clients, digits)
        require_together(topology, topics, multiplier, clients)
        seed = placement.seed
        return Scenario(
            topology=topology,
            profile=self.section("broker_profile", read_profile, digits),
            topics=self._multiplied(topics, multiplier, digits),
            placement=placement,
            clients=clients,
            traffic=self.section("traffic", read_traffic, digits),
            failures=self.section("failures", read_failures, digits),
            targets=self.section("targets", read_targets, digits),
            prices=self.section("prices", read_prices, digits),
            rereplication_bytes_per_s=self.section("rereplication", read_rereplication, digits),
            seed=scenario_seed(self._definition.seed, in_grid) if seed is None else seed,
        )

    def _multiplied(self, topics: tuple[TopicLoad, ...], by: int, digits: Sequence[int]) -> tuple[TopicLoad, ...]:
        key = ("multiplied", self.key(("topics", "partitions_multiplier"), digits))
        multiplied = self._sections.get(key, lambda: tuple(topic.multiplied(by) for topic in topics))
        return cast("tuple[TopicLoad, ...]", multiplied)

    def _written(self, name: str, digits: Sequence[int]) -> Json:
        value = self._definition.base.get(name)
        for axis, digit in zip(self._definition.axes, digits, strict=True):
            if axis.section == name:
                value = write(value, axis.path, axis.values[digit], self._definition.base)
        return value


def require_axes(definition: SweepDefinition) -> None:
    """Ask of every axis whether there is such a path, and whether each of its values can be by itself.

    Values that only do not go together with others are no matter of the sweep: those scenarios fail by themselves.

    Raises
    ------
    UnknownAxis : with what there is. ImpossibleValue : with a path that begins at the sweep.
    """
    known = frozenset(axis_paths(definition.base))
    for axis in definition.axes:
        if axis.path not in known:
            raise unknown_axis(axis.path, definition.base)
    reader = ScenarioReader(definition)
    first = (0,) * len(definition.axes)
    for place, axis in enumerate(definition.axes):
        # Between the ends of a range lie numbers between them.
        many = isinstance(axis.values, list)
        for at in range(len(axis.values)) if many else {0, len(axis.values) - 1}:
            _require_section(reader, axis.section, (*first[:place], at, *first[place + 1 :]), ("axes", axis.path))
    for section in SECTION_FIELDS:
        _require_section(reader, section, first, ("base",))


def _require_section(reader: ScenarioReader, section: str, digits: tuple[int, ...], where: FieldPath) -> None:
    try:
        reader.section(section, READERS[section], digits)
    except ConflictingFields:
        return
    except Failure as failure:
        if where == ("base",):
            failure.path = (*where, *failure.path)
        else:
            failure.context = {**failure.context, "field": ".".join(map(str, failure.path))}
            failure.path = where
        raise
