"""The broker sets of a reassignment sweep: those of all scenarios, and those that axes vary.

`broker_sets.blue` varies the brokers of a set, `topic_sets.orders` the set of a topic; null is no set.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from app.core.model import INT32_MAX, Int32s
from app.core.reassignment.topic_name_hash import set_of_topic
from app.core.sweeps.axes import Axis, Grid
from app.core.sweeps.fields import as_integer, as_list
from app.errors import FieldPath, Json
from app.errors.reassignments import UnknownBroker, UnknownBrokerSet, UnknownTopic
from app.errors.requests import ConflictingFields, DuplicateBroker, EmptyAxis, ImpossibleValue

BROKERS_OF, SET_OF = "broker_sets.", "topic_sets."
NO_SET = -1
"""The set of brokers and topics outside every set."""
TOPIC_NAME_HASH = "topic_name_hash"
MOST_COMBINATIONS = 100_000
"""Combinations of sets that are checked when a sweep is submitted; one beyond them fails alone."""


@dataclass(frozen=True)
class SweptSets:
    """Named sets of brokers, and the topics that are on their brokers alone.

    Parameters
    ----------
    brokers : ids by the name of the set. topics : sets by topic; None maps every topic by its name.
    """

    brokers: Mapping[str, Sequence[int]]
    topics: Mapping[str, str] | None = field(repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the sets, in their order."""
        return tuple(sorted(self.brokers))

    def varied(self, values: Mapping[str, Any]) -> "SweptSets":
        """The sets with the values of axes in their place."""
        brokers, topics = dict(self.brokers), None if self.topics is None else dict(self.topics)
        for path, value in values.items():
            if path.startswith(BROKERS_OF):
                brokers[path.removeprefix(BROKERS_OF)] = value
            elif path.startswith(SET_OF) and topics is not None:
                topics.pop(path.removeprefix(SET_OF), None)
                if value is not None:
                    topics[path.removeprefix(SET_OF)] = value
        return SweptSets(brokers, topics)

    def of_brokers(self, ids: Int32s) -> Int32s:
        """(brokers,) int32 index of the set of each broker, or `NO_SET`."""
        of_id = {broker: index for index, name in enumerate(self.names) for broker in self.brokers[name]}
        return np.array([of_id.get(broker, NO_SET) for broker in ids.tolist()], np.int32)

    def of_topics(self, names: Sequence[str]) -> Int32s:
        """(topics,) int32 index of the set of each topic, or `NO_SET`."""
        if self.topics is None:
            return np.array([set_of_topic(name, len(self.names)) for name in names], np.int32)
        index_of = {name: index for index, name in enumerate(self.names)}
        return np.array([index_of.get(self.topics.get(name, ""), NO_SET) for name in names], np.int32)

    def require_disjoint(self, path: FieldPath) -> None:
        """Raise `DuplicateBroker` if a broker is in two sets, or twice in one."""
        set_of: dict[int, str] = {}
        for name in self.names:
            for broker in self.brokers[name]:
                if broker in set_of:
                    detail = f"broker {broker} is in broker sets {set_of[broker]} and {name}; sets have none in common"
                    raise DuplicateBroker(detail, path=path, value=broker, other_set=set_of[broker])
                set_of[broker] = name


def is_set_axis(name: str) -> bool:
    """Whether an axis varies a set of brokers, or the set of a topic."""
    return name.startswith((BROKERS_OF, SET_OF)) and not name.endswith(".")


def read_set_axis(name: str, values: Json, brokers: Collection[int]) -> tuple[Json, ...]:
    """The values of an axis of sets: lists of ids, or names of sets and null.

    Parameters
    ----------
    brokers : the ids that there are.

    Raises
    ------
    EmptyAxis, ImpossibleValue, UnknownBroker
    """
    where: FieldPath = ("axes", name)
    listed = as_list(values, where) if values != [] else []
    if not listed:
        raise EmptyAxis(f"axis {name} has no values", path=where)
    if name.startswith(SET_OF):
        for position, value in enumerate(listed):
            if not (value is None or isinstance(value, str)):
                detail = f"{name} takes names of broker sets, and null for none"
                raise ImpossibleValue(detail, path=(*where, position), value=value)
        return tuple(listed)
    return tuple(_brokers(value, (*where, position), brokers) for position, value in enumerate(listed))


def _brokers(value: Json, where: FieldPath, brokers: Collection[int]) -> list[int]:
    listed = as_list(value, where) if value != [] else []
    if not listed:
        raise ImpossibleValue("a broker set has a broker at least", path=where, value=[])
    ids = [as_integer(each, (*where, at), minimum=0, maximum=INT32_MAX) for at, each in enumerate(listed)]
    for at, broker in enumerate(ids):
        if broker not in brokers:
            raise UnknownBroker(f"there is no broker {broker} in the snapshot", path=(*where, at), value=broker)
    return ids


def read_sets(definition: Mapping[str, Any]) -> SweptSets | None:
    """The sets of a sweep's JSON that no axis varies; None if the sweep has none at all."""
    stated, topics = definition.get("broker_sets") or {}, definition.get("topic_sets") or {}
    if not stated and not any(is_set_axis(name) for name in definition["axes"]):
        return None
    return SweptSets(stated, None if topics == TOPIC_NAME_HASH else topics)


def require_consistent_sets(
    definition: Mapping[str, Any], axes: Sequence[Axis], brokers: Collection[int], topics: Collection[str]
) -> None:
    """Raise what is wrong with the sets of a sweep's JSON.

    Raises
    ------
    DuplicateBroker, UnknownBroker, UnknownTopic, UnknownBrokerSet
    ConflictingFields : topics are mapped by their names, and an axis varies the set of one.
    """
    sets = read_sets(definition)
    if sets is None:
        return
    varied = [axis for axis in axes if is_set_axis(axis.path)]
    names = {
        *sets.brokers,
        *(axis.path.removeprefix(BROKERS_OF) for axis in varied if axis.path.startswith(BROKERS_OF)),
    }
    for name, listed in sets.brokers.items():
        for position, broker in enumerate(listed):
            if broker not in brokers:
                detail = f"there is no broker {broker} in the snapshot"
                raise UnknownBroker(detail, path=("broker_sets", name, position), value=broker)
    for axis in varied:
        if axis.path.startswith(SET_OF):
            _require_topic(axis, sets, names, topics)
    grid = Grid(tuple(varied))
    for index in range(min(grid.size, MOST_COMBINATIONS)):
        path: FieldPath = ("axes", varied[0].path) if varied else ("broker_sets",)
        sets.varied(grid.values(index)).require_disjoint(path)


def _require_topic(axis: Axis, sets: SweptSets, names: Collection[str], topics: Collection[str]) -> None:
    topic, path = axis.path.removeprefix(SET_OF), ("axes", axis.path)
    if sets.topics is None:
        detail = f"topic_sets is {TOPIC_NAME_HASH}, which maps every topic by its name; leave one of them out"
        raise ConflictingFields(detail, path=path)
    if topic not in topics:
        raise UnknownTopic(f"topic {topic} is not one of the topics that may move", path=path, value=topic)
    for position, name in enumerate(axis.values):
        if name is not None and name not in names:
            listed = ", ".join(sorted(names)[:20]) or "none"
            detail = f"topic {topic} is bound to broker set {name}; the sets are {listed}"
            raise UnknownBrokerSet(detail, path=(*path, position), value=name)
