"""Capacity sweeps: a base scenario, its axes, and the score of scenario i, a pure function of both.

Results that scenarios share are computed once: sections are read, topics placed and brokers loaded again only if an
axis that they depend on has another value. Axes on which placement does not depend (prices, growth, the broker profile)
are therefore cheapest in the last positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from app.core.capacity.loads import BrokerLoads, Workload, loads, positions, workload
from app.core.capacity.ranking import CONSTRAINTS, OBJECTIVES
from app.core.capacity.scenario import Scenario
from app.core.capacity.scenarios import Digits, ScenarioReader
from app.core.capacity.score import document, judge, place, restart
from app.core.capacity.sections import SECTION_FIELDS
from app.core.model import Int32s
from app.core.restarts import RestartWaves
from app.core.sweeps.axes import Axis, Grid, read_axis, sampled_index
from app.core.sweeps.fields import Fields, as_number, impossible, integer, random_seed, read_record
from app.errors import Json
from app.errors.requests import ConflictingFields

_FIELDS = ("base", "axes", "sample", "objective", "constraints", "seed")
_RESOLVED = ("resolved", "snapshot_content_hash", "topics_read", "warnings")
_TOPICS = ("topics", "partitions_multiplier")
_PLACED = ("topology", *_TOPICS, "placement")
_LOADED = (*_PLACED, "clients", "failures")
_RESTARTED = (*_PLACED, "restart", "broker_profile", "targets", "clients")
_CACHED = 4
"""Placements and loads in memory: each has arrays of all partitions, and older ones seldom recur."""
_SMALLEST_SEED, _LARGEST_SEED = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Sample:
    """`count` scenarios of the grid, chosen at random without replacement."""

    count: int = integer(minimum=1)
    seed: int = random_seed(0)


@dataclass(frozen=True)
class SweepDefinition:
    """A capacity sweep.

    Parameters
    ----------
    base : a scenario's JSON. axes : the last one varies fastest. sample : None for the whole grid.
    objective : of `OBJECTIVES`. constraints : of `CONSTRAINTS`, with their bounds.
    seed : the source of the scenarios' own seeds, if the placement has none.
    """

    base: Mapping[str, Json]
    axes: tuple[Axis, ...] = ()
    sample: Sample | None = None
    objective: str = "monthly_cost"
    constraints: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    @cached_property
    def grid(self) -> Grid:
        """All combinations of the axes' values."""
        return Grid(self.axes)

    @property
    def count(self) -> int:
        """The number of scenarios."""
        return self.grid.size if self.sample is None else self.sample.count

    def grid_index(self, index: int) -> int:
        """The grid index of scenario `index`. Raises IndexError beyond the last scenario."""
        if not 0 <= index < self.count:
            raise IndexError(index)
        return index if self.sample is None else sampled_index(self.grid.size, seed=self.sample.seed, k=index)


class CapacitySweep:
    """The scenarios of a definition, placed, loaded and scored; parts that consecutive scenarios share are cached.

    Examples
    --------
    >>> from app.core.sweeps import score
    >>> sweep = CapacitySweep(
    ...     read_definition(
    ...         {
    ...             "base": {
    ...                 "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 1},
    ...                 "broker_profile": {"disk_bytes": 1e12, "price_per_month": 100},
    ...                 "topics": [
    ...                     {
    ...                         "name": "orders",
    ...                         "partitions": 12,
    ...                         "replication_factor": 3,
    ...                         "ingress_bytes_per_s": 1e6,
    ...                         "retention_s": 86_400,
    ...                     }
    ...                 ],
    ...             },
    ...             "axes": {"topology.brokers_per_rack": {"from": 1, "to": 3}},
    ...         }
    ...     )
    ... )
    >>> [(row.document["brokers"], row.document["monthly_cost"]) for row in score(sweep, 0, sweep.count)]
    [(3, 300.0), (6, 600.0), (9, 900.0)]
    """

    without_figures: Mapping[str, Json] = {"feasible": None}

    def __init__(self, definition: SweepDefinition) -> None:
        self.definition = definition
        self._reader = ScenarioReader(definition.base, definition.grid, seed=definition.seed)
        self._placements = lru_cache(_CACHED)(self._place)
        self._workloads = lru_cache(_CACHED)(self._workload)
        self._loads = lru_cache(_CACHED)(self._load)
        self._waves = lru_cache(_CACHED)(self._restart)

    @property
    def count(self) -> int:
        """The number of scenarios."""
        return self.definition.count

    def coordinates(self, index: int) -> dict[str, Json]:
        """The grid index, which differs from the index in a sample, and the value of each axis."""
        grid_index = self.definition.grid_index(index)
        return {"grid_index": grid_index, "axes": self.definition.grid.values(grid_index)}

    def scenario(self, index: int) -> Scenario:
        """Scenario `index`. Raises a `Failure` if it is not possible, IndexError beyond the last."""
        return self._reader.scenario(self.definition.grid_index(index))

    def figures(self, index: int) -> Mapping[str, Json]:
        """The score of scenario `index` as JSON. Raises a `Failure` if the scenario is not possible."""
        grid_index = self.definition.grid_index(index)
        scenario = self._reader.scenario(grid_index)
        digits = self.definition.grid.digits(grid_index)
        carried = self._loads(scenario.seed, self._reader.relevant(_LOADED, digits))
        rules, restarted = scenario.restart, self._reader.relevant(_RESTARTED, digits)
        waves = None if rules is None else self._waves(scenario.seed, restarted)
        scored: Mapping[str, Json] = document(judge(scenario, carried, waves))
        return scored

    def _load(self, seed: int, digits: Digits) -> BrokerLoads:
        reader = self._reader
        return loads(
            self._placements(seed, reader.relevant(_PLACED, digits)),
            self._workloads(reader.relevant(_TOPICS, digits)),
            topology=reader.section("topology", digits),
            clients=reader.section("clients", digits),
            failures=reader.section("failures", digits),
        )

    def _restart(self, seed: int, digits: Digits) -> RestartWaves:
        rows = self._placements(seed, self._reader.relevant(_PLACED, digits))
        work = self._workloads(self._reader.relevant(_TOPICS, digits))
        return restart(rows, work, self._reader.scenario(self.definition.grid.index(digits)))

    def _place(self, seed: int, digits: Digits) -> Int32s:
        topology = self._reader.section("topology", digits)
        policy = self._reader.section("placement", digits)
        return positions(place(topology, self._reader.topics(digits), policy, seed=seed))

    def _workload(self, digits: Digits) -> Workload:
        return workload(self._reader.topics(digits))


def read_sweep(value: Json) -> CapacitySweep:
    """A capacity sweep's JSON, for executors. Raises as `read_definition` does."""
    return CapacitySweep(read_definition(value))


def read_definition(value: Json) -> SweepDefinition:
    """Read a capacity sweep's JSON: base, axes, sample, objective, constraints, seed.

    If the topics of the base are `measured`, `resolved` has them. `axes` is an object, or a list of
    `{"path", "values"}` for clients that do not preserve the order of an object's fields.

    Raises
    ------
    EmptyAxis, ImpossibleValue, ConflictingFields : with paths that begin at the sweep. The contents of the base and of
        the axes' values are validated by `scenarios.require_axes`.

    Examples
    --------
    >>> definition = read_definition({"base": {}, "axes": {"partitions_multiplier": [1, 2, 4]}, "sample": {"count": 2}})
    >>> definition.count, definition.grid.size, definition.objective
    (2, 3, 'monthly_cost')
    """
    fields = Fields(value, (), known=(*_FIELDS, *_RESOLVED))
    base = Fields(fields.raw("base"), ("base",), known=(*SECTION_FIELDS, "measured")).all
    sections = {name: section for name, section in base.items() if name != "measured"}
    sections |= Fields(fields.raw("resolved") or {}, ("resolved",), known=("topics",)).all
    objective = fields.text("objective", "monthly_cost")
    if objective not in OBJECTIVES:
        raise impossible(f"an objective is needed, of {', '.join(OBJECTIVES)}", objective, ("objective",))
    sample = fields.raw("sample")
    bounds = Fields(fields.raw("constraints") or {}, ("constraints",), known=tuple(CONSTRAINTS))
    given = [name for name in CONSTRAINTS if bounds.raw(name) is not None]
    definition = SweepDefinition(
        base=sections,
        axes=_read_axes(fields.raw("axes")),
        sample=None if sample is None else read_record(Sample, sample, ("sample",)),
        objective=objective,
        constraints={name: as_number(bounds.raw(name), bounds.at(name)) for name in given},
        seed=fields.integer("seed", 0, minimum=_SMALLEST_SEED, maximum=_LARGEST_SEED),
    )
    axes = [axis.section for axis in definition.axes]
    if "max_restart_waves" in given and sections.get("restart") is None and "restart" not in axes:
        detail = "restart waves are counted if base.restart has their rules, and it is missing"
        raise ConflictingFields(detail, path=("constraints", "max_restart_waves"))
    if definition.count > (size := definition.grid.size):
        detail = f"{definition.count} scenarios cannot be sampled from the {size} of the axes"
        raise ConflictingFields(detail, path=("sample", "count"), value=definition.count, maximum=size)
    return definition


def _read_axes(value: Json) -> tuple[Axis, ...]:
    if value is None or isinstance(value, Mapping):
        return tuple(read_axis(path, values) for path, values in (value or {}).items())
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise impossible("an object with a list of values for each axis is needed", value, ("axes",))
    axes: list[Axis] = []
    for index, entry in enumerate(value):
        fields = Fields(entry, ("axes", index), known=("path", "values"))
        axis = read_axis(fields.text("path"), fields.raw("values"))
        if any(axis.path == earlier.path for earlier in axes):
            raise ConflictingFields(f"axis {axis.path} is given twice", path=fields.at("path"))
        axes.append(axis)
    return tuple(axes)
