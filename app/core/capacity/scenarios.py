"""Scenarios of a base and axes: which paths an axis may name, how a value is written there, and sections read from it.

An axis names a section (`broker_profile`), a field (`traffic.growth_per_month`), a field of one topic
(`topics.orders.partitions`) or of all (`topics.*.replication_factor`; local retention of all that have remote storage,
if any has), or the brokers of one rack if the base counts them by rack (`topology.brokers_per_rack.a`). The base need
not have the field.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

from app.core.capacity import sections
from app.core.capacity.scenario import Scenario, TopicLoad
from app.core.sweeps.axes import Grid, scenario_seed
from app.errors import Failure, FieldPath, Json
from app.errors.requests import ConflictingFields, UnknownAxis

Base: TypeAlias = Mapping[str, Json]
Digits: TypeAlias = tuple[int, ...]

EVERY_TOPIC = "*"
_PER_RACK = "topology.brokers_per_rack."
_TOPICS = ("topics", "partitions_multiplier")
_SECTIONS_CACHED, _TOPICS_CACHED = 64, 8
"""Older values seldom recur, since the last axis varies fastest."""


class ScenarioReader:
    """Reads many scenarios of one base; a section whose axes have the same values is read once.

    Parameters
    ----------
    base : a scenario's JSON. grid : its axes. seed : of the scenarios whose placement has none.
    """

    def __init__(self, base: Base, grid: Grid, *, seed: int) -> None:
        self._base = base
        self._grid = grid
        self._seed = seed
        self._sections = lru_cache(_SECTIONS_CACHED)(self._read)
        self._topics = lru_cache(_TOPICS_CACHED)(self._read_multiplied)

    def relevant(self, names: Sequence[str], digits: Digits) -> Digits:
        """The digits, with 0 for axes outside of these sections: equal for two scenarios if the sections are equal."""
        of_axes = zip(self._grid.axes, digits, strict=True)
        return tuple(digit if axis.section in names else 0 for axis, digit in of_axes)

    def section(self, name: str, digits: Digits) -> Any:
        """A section with the values of its axes, as its reader in `READERS` returns it. Raises as the reader does."""
        return self._sections(name, self.relevant((name,), digits))

    def topics(self, digits: Digits) -> tuple[TopicLoad, ...]:
        """The topics, their partitions multiplied."""
        return self._topics(self.relevant(_TOPICS, digits))

    def scenario(self, grid_index: int) -> Scenario:
        """The scenario at a grid index. Raises a `Failure` if it is not possible."""
        digits = self._grid.digits(grid_index)
        read = {name: self.section(name, digits) for name in sections.READERS}
        multiplier, seed = read.pop("partitions_multiplier"), read["placement"].seed
        sections.require_consistent(read["topology"], read["topics"], read["clients"], read["restart"], multiplier)
        read["topics"] = self.topics(digits)
        return Scenario(**read, seed=scenario_seed(self._seed, grid_index) if seed is None else seed)

    def _read(self, name: str, digits: Digits) -> Any:
        value = self._base.get(name)
        for axis, digit in zip(self._grid.axes, digits, strict=True):
            if axis.section == name:
                value = written(value, axis.path, axis.values[digit], self._base)
        return sections.READERS[name](value)

    def _read_multiplied(self, digits: Digits) -> tuple[TopicLoad, ...]:
        multiplier = self.section("partitions_multiplier", digits)
        return tuple(topic.multiplied(multiplier) for topic in self.section("topics", digits))


def require_axes(base: Base, grid: Grid, *, topics_at: FieldPath = ("base",)) -> None:
    """Validate every axis: whether its path exists, and whether each of its values is possible by itself.

    Of a range, which may have any number of values, the two ends are validated. Values that only conflict with those of
    axes are not rejected here: the scenarios that combine them fail by themselves.

    Parameters
    ----------
    topics_at : the field of the sweep that is named if topics contradict each other.

    Raises
    ------
    UnknownAxis : with the paths that exist. ImpossibleValue : with a path that begins at the sweep. ConflictingFields,
        LimitExceeded : every scenario is impossible, since no axis varies the fields that are in conflict.
    """
    known = frozenset(axis_paths(base))
    for axis in grid.axes:
        if axis.path not in known:
            raise unknown_axis(axis.path, base)
    reader = ScenarioReader(base, grid, seed=0)
    first = (0,) * len(grid.axes)
    for position, axis in enumerate(grid.axes):
        is_list = isinstance(axis.values, list)
        for digit in range(len(axis.values)) if is_list else {0, len(axis.values) - 1}:
            digits = (*first[:position], digit, *first[position + 1 :])
            _require(partial(reader.section, axis.section, digits), ("axes", axis.path), may_conflict=True)
    varied = {axis.section for axis in grid.axes}
    for section in sections.SECTION_FIELDS:
        _require(partial(reader.section, section, first), topics_at, may_conflict=section in varied)
    if varied.isdisjoint(sections.CONTRADICTING):
        _require(partial(reader.scenario, 0), topics_at, may_conflict=False)


def _require(read: Callable[[], object], where: FieldPath, *, may_conflict: bool) -> None:
    try:
        read()
    except Failure as failure:
        if may_conflict and isinstance(failure, ConflictingFields):
            return
        if where[0] == "base" and failure.path[0] != "topics":
            where = ("base",)
        if where == ("base",):
            failure.path = (*where, *failure.path)
        else:
            failure.context = {**failure.context, "field": ".".join(map(str, failure.path))}
            failure.path = where
        raise


def axis_paths(base: Base) -> list[str]:
    """Every path that an axis may name, sections first."""
    paths = list(sections.SECTION_FIELDS)
    paths += [f"{section}.{field}" for section, fields in sections.SECTION_FIELDS.items() for field in fields]
    fields_of_topics = [field for field in sections.TOPIC_FIELDS if field != "name"]
    paths += [f"topics.{name}.{field}" for name in (EVERY_TOPIC, *_topic_names(base)) for field in fields_of_topics]
    topology = base.get("topology")
    counts = topology.get("brokers_per_rack") if isinstance(topology, Mapping) else None
    return paths + ([f"{_PER_RACK}{rack}" for rack in counts] if isinstance(counts, Mapping) else [])


def _topic_names(base: Base) -> list[str]:
    topics = base.get("topics")
    if isinstance(topics, str) or not isinstance(topics, Sequence):
        return []
    return [str(topic["name"]) for topic in topics if isinstance(topic, Mapping) and "name" in topic]


def unknown_axis(path: str, base: Base) -> UnknownAxis:
    """The failure that lists the paths that exist; of topics the paths for all, since there may be thousands."""
    names = _topic_names(base)
    offered = [known for known in axis_paths({**base, "topics": []}) if known not in sections.SECTION_FIELDS]
    topics = f"; topics: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}" if names else ""
    return UnknownAxis(
        f"axis {path} is unknown; a scenario has {', '.join(offered)}, and whole sections: "
        f"{', '.join(sections.SECTION_FIELDS)}{topics}",
        path=("axes", path),
        value=path,
        known=offered,
    )


def written(section: Json, path: str, value: Json, base: Base) -> Json:
    """A copy of the section with `value` at `path`; unchanged parts are shared.

    Raises
    ------
    UnknownAxis : the path does not exist. ConflictingFields : the section is not an object that the path can name.
    """
    name, _, tail = path.partition(".")
    if not tail:
        return value
    if name == "topics":
        return _written_topics(section, path, value, base)
    if path.startswith(_PER_RACK):
        tail, rack = "brokers_per_rack", path.removeprefix(_PER_RACK)
        counts = section.get(tail) if isinstance(section, Mapping) else None
        if not isinstance(counts, Mapping) or rack not in counts:
            raise unknown_axis(path, base)
        value = {**counts, rack: value}
    if section is not None and not isinstance(section, Mapping):
        raise _not_an_object(path)
    return {**(section or {}), tail: value}


def _written_topics(section: Json, path: str, value: Json, base: Base) -> Json:
    # Names of topics may contain dots; fields do not.
    name, _, field = path.removeprefix("topics.").rpartition(".")
    if isinstance(section, str) or not isinstance(section, Sequence):
        raise _not_an_object(path)
    topics: list[Json] = []
    is_known = False
    is_tiered = [isinstance(topic, Mapping) and bool(topic.get("remote_storage")) for topic in section]
    is_written = is_tiered if field in sections.LOCAL_RETENTION_FIELDS and any(is_tiered) else [True] * len(section)
    for topic, is_one_of_all in zip(section, is_written, strict=True):
        if not isinstance(topic, Mapping):
            raise _not_an_object(path)
        matches = name == topic.get("name") or (name == EVERY_TOPIC and is_one_of_all)
        is_known |= matches
        topics.append({**topic, field: value} if matches else topic)
    if not is_known:
        raise unknown_axis(path, base)
    return topics


def _not_an_object(path: str) -> Failure:
    return ConflictingFields(f"axis {path} names a field, and there is no object to write it to", path=("axes", path))
