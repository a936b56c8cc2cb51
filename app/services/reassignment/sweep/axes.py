"""The axes of a reassignment sweep: their values, the request that each combination makes, and its failures.

`remove_broker` and `add_brokers` change the brokers; `limits.disk` and `limits.disk.absolute` a limit as a share or an
amount; `broker_sets.blue` the brokers of a set; `topic_sets.orders` the set of a topic, null for none; `weights.104`
the weight of a broker.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, cast

from app.core.model import INT32_MAX, Broker
from app.core.sweeps.axes import Axis, Grid, read_axis
from app.core.sweeps.fields import as_integer, as_list, as_number
from app.errors import Failure, FieldPath, Json
from app.errors.reassignments import UnknownBroker, UnknownTopic
from app.errors.requests import ConflictingFields, EmptyAxis, ImpossibleValue, UnknownAxis
from app.services.reassignment.requests import parts
from app.services.reassignment.requests.request import ReassignmentRequest, restored

REMOVE, ADD = "remove_broker", "add_brokers"
EACH = "each"
"""Instead of a list of brokers to remove: every broker of the cluster."""
SHARES = tuple(f"limits.{name}" for name in parts.RESOURCES)
AMOUNTS = tuple(f"limits.{name}.absolute" for name in (*parts.RESOURCES, *parts.COUNTS))
NAMES = (REMOVE, ADD, *SHARES, *AMOUNTS)
MOST_ADDED, MOST_WEIGHT, MOST_AMOUNT = 10_000, 1e6, 1e18
MOST_COMBINATIONS = 100_000
"""Combinations of sets that are checked when a sweep is submitted; one beyond them fails alone."""
_SETS = ("broker_sets", "topic_sets")
_FIELDS: Mapping[str, FieldPath] = MappingProxyType(
    {REMOVE: ("remove_brokers",), ADD: ("add_brokers",), "weights": ("balance", "weights")}
)
"""By the section of an axis, the field of the request that it varies, if that is not the section itself."""


@dataclass(frozen=True)
class SweptRequests:
    """The requests of all scenarios, the last axis varying fastest.

    Parameters
    ----------
    base : the request that they have in common. brokers : of the cluster, by id, those included that are down.
    racks_of_added : the racks of added brokers, in rotation; None chooses the racks with the fewest brokers.
    """

    grid: Grid
    base: ReassignmentRequest
    brokers: tuple[Broker, ...] = field(repr=False)
    racks_of_added: tuple[str, ...] | None

    @classmethod
    def of(cls, definition: Mapping[str, Any]) -> "SweptRequests":
        """Read the JSON of a sweep whose brokers are resolved. Raises as `read_axes` does."""
        racks = definition.get("racks_of_added")
        return cls(
            grid=Grid(resolved_axes(definition)),
            base=base_request(definition),
            brokers=tuple(Broker(broker["id"], broker["rack"]) for broker in definition["resolved"]["brokers"]),
            racks_of_added=None if racks is None else tuple(racks),
        )

    def request(self, index: int) -> ReassignmentRequest:
        """The request of scenario `index`. Raises IndexError beyond the last, and `ImpossibleValue` as `added` does."""
        return self.with_values(self.grid.values(index))

    def with_values(self, values: Mapping[str, Any]) -> ReassignmentRequest:
        """The request with some values of axes. Raises `ImpossibleValue` as `added` does."""
        base, removed = self.base, values.get(REMOVE)
        varied: dict[str, dict[str, Any]] = defaultdict(dict)
        for path, value in values.items():
            section, _, name = path.partition(".")
            varied[section][name] = value
        return replace(
            base,
            add_brokers=[*base.add_brokers, *self.added(removed, values.get(ADD, 0))],
            remove_brokers=[*base.remove_brokers, *([] if removed is None else [removed])],
            broker_sets={**base.broker_sets, **varied["broker_sets"]},
            topic_sets=_bound(base.topic_sets, varied["topic_sets"]),
            limits=_limited(base.limits, varied["limits"]),
            balance=_weighted(base.balance, varied["weights"]),
        )

    def added(self, removed: int | None, count: int) -> tuple[Broker, ...]:
        """The brokers that a scenario adds; their ids follow the largest id of the cluster.

        They get the racks of `racks_of_added` in rotation. If that is None, each gets the rack that has the fewest
        brokers by then, the removed broker not counted, of equal ones the first by name; none if no broker has a rack.

        Raises `ImpossibleValue` if the ids would exceed the largest broker id.
        """
        there = (*self.brokers, *self.base.add_brokers)
        first = max((broker.id for broker in there), default=-1) + 1
        if first + count - 1 > INT32_MAX:
            detail = f"{count} brokers after id {first - 1} would exceed {INT32_MAX}, the largest broker id"
            raise ImpossibleValue(detail, path=("axes", ADD), value=count, maximum=INT32_MAX - first + 1)
        brokers_in = Counter({broker.rack: 0 for broker in there if broker.rack is not None})
        brokers_in.update(broker.rack for broker in there if broker.rack is not None and broker.id != removed)
        added = []
        for number in range(count):
            if self.racks_of_added is None:
                rack = min(brokers_in, key=lambda rack: (brokers_in[rack], rack), default=None)
            else:
                rack = self.racks_of_added[number % len(self.racks_of_added)]
            if rack is not None:
                brokers_in[rack] += 1
            added.append(Broker(first + number, rack))
        return tuple(added)

    def sample(self) -> Mapping[str, Json]:
        """The values of a scenario that removes nothing: of each axis the first, and the most added brokers."""
        return {
            axis.path: max(cast("Sequence[int]", axis.values)) if axis.path == ADD else axis.values[0]
            for axis in self.grid.axes
            if axis.path != REMOVE
        }

    @contextmanager
    def located(self, values: Mapping[str, Json]) -> Iterator[None]:
        """A failure of a request with these values names the axis, if its value fails."""
        try:
            yield
        except Failure as failure:
            for axis in self.grid.axes:
                section, _, name = axis.path.partition(".")
                varied = (*_FIELDS.get(section, (section,)), *([name.removesuffix(".absolute")] if name else []))
                if axis.path in values and failure.path[: len(varied)] == varied:
                    rest = failure.path[len(varied) :]
                    place = (axis.values.index(values[axis.path]), *rest) if section in _SETS else ()
                    failure.path = ("axes", axis.path, *place)
                    break
            raise

    def require_consistent(self, topics: Collection[str]) -> None:
        """Raise if axes exclude each other or a field of the request, and if a set or a topic of theirs is not there.

        Parameters
        ----------
        topics : those that may move.

        Raises
        ------
        ConflictingFields, UnknownTopic, UnknownBrokerSet, DuplicateBroker
        """
        paths = [axis.path for axis in self.grid.axes]
        for path in paths:
            section, _, name = path.partition(".")
            if path in SHARES and f"{path}.absolute" in paths:
                detail = f"{path} and {path}.absolute vary the same limit"
                raise ConflictingFields(detail, path=("axes", f"{path}.absolute"))
            if section == "weights" and self.base.balance.weights == "capacity":
                detail = "balance.weights is capacity, which is the weight of every broker; leave one of them out"
                raise ConflictingFields(detail, path=("axes", path))
            if section == "topic_sets" and isinstance(self.base.topic_sets, str):
                detail = f"topic_sets is {self.base.topic_sets}, which maps every topic by its name; leave one of them "
                raise ConflictingFields(detail + "out", path=("axes", path))
            if section == "topic_sets" and name not in topics:
                detail = f"topic {name} is not one of the topics that may move"
                raise UnknownTopic(detail, path=("axes", path), value=name)
        sets = Grid(tuple(axis for axis in self.grid.axes if axis.section in _SETS))
        for index in range(min(sets.size, MOST_COMBINATIONS)):
            values = sets.values(index)
            request = self.with_values(values)
            with self.located(values):
                parts.check_broker_sets(request.broker_sets, request.topic_sets)


def base_request(definition: Mapping[str, Any]) -> ReassignmentRequest:
    """The request that all scenarios have in common: the definition's fields of a plan's request."""
    names = {each.name for each in fields(ReassignmentRequest)} - {"labels"}
    stated = {name: value for name, value in definition.items() if name in names and value is not None}
    return restored({"running_reassignment": "merge"} | stated)


def _bound(topic_sets: parts.TopicSetsRequest, varied: Mapping[str, str | None]) -> parts.TopicSetsRequest:
    if isinstance(topic_sets, str):
        return topic_sets
    return {topic: name for topic, name in {**topic_sets, **varied}.items() if name is not None}


def _limited(limits: parts.LimitsRequest, varied: Mapping[str, float]) -> parts.LimitsRequest:
    """The limits with values of axes in their place; a soft limit stays soft."""
    stated = dict[str, Any]()
    for path, value in varied.items():
        name, _, is_amount = path.partition(".")
        before = limits.stated().get(cast("Any", name), parts.Limit())
        stated[name] = replace(before, share=None if is_amount else value, absolute=value if is_amount else None)
    return replace(limits, **stated)


def _weighted(balance: parts.BalanceRequest, varied: Mapping[str, float]) -> parts.BalanceRequest:
    if not varied or isinstance(balance.weights, str):
        return balance
    return replace(balance, weights={**(balance.weights or {}), **varied})


def resolved_axes(definition: Mapping[str, Any]) -> tuple[Axis, ...]:
    """The axes of a sweep's JSON whose brokers are resolved. Raises as `read_axes` does."""
    return read_axes(definition["axes"], [broker["id"] for broker in definition["resolved"]["brokers"]])


def read_axes(axes: Mapping[str, Json], brokers: Sequence[int]) -> tuple[Axis, ...]:
    """Read the axes in their order.

    Parameters
    ----------
    brokers : the ids of the cluster's brokers, ascending.

    Raises
    ------
    UnknownAxis, EmptyAxis, ImpossibleValue : the axis does not exist, has no values, or one that is not possible.
    UnknownBroker : a broker does not exist. ConflictingFields : a value is listed twice.

    Examples
    --------
    >>> [axis.values for axis in read_axes({"remove_broker": "each", "add_brokers": {"from": 0, "to": 2}}, [1, 2, 5])]
    [(1, 2, 5), (0, 1, 2)]
    """
    return tuple(_read_axis(path, values, brokers) for path, values in axes.items())


def _read_axis(path: str, values: Json, brokers: Sequence[int]) -> Axis:
    section, _, name = path.partition(".")
    _require_axis(path, section, name, brokers)
    if section == REMOVE and values == EACH:
        return Axis(path, tuple(brokers))
    read, seen = [], set[str]()
    for at, value in enumerate(_listed(path, section, values)):
        where: FieldPath = ("axes", path, at)
        read.append(_value(path, section, value, where, brokers))
        if str(read[-1]) in seen:
            raise ConflictingFields(f"{read[-1]} is listed twice", path=where, value=read[-1])
        seen.add(str(read[-1]))
    return Axis(path, tuple(read))


def _require_axis(path: str, section: str, name: str, brokers: Collection[int]) -> None:
    """Raise `UnknownAxis`, or `UnknownBroker` if the axis is of a broker."""
    if path not in NAMES and not (name and section in (*_SETS, "weights")):
        axes = ", ".join((*NAMES, "broker_sets.<name>", "topic_sets.<topic>", "weights.<broker>"))
        detail = f"axis {path} is unknown; reassignment sweeps have {axes}"
        raise UnknownAxis(detail, path=("axes", path), value=path, known=list(NAMES))
    if section == "weights" and name not in map(str, brokers):
        raise UnknownBroker(f"there is no broker {name} in the snapshot", path=("axes", path))


def _listed(path: str, section: str, values: Json) -> Sequence[Json]:
    """The listed values, or the values of a range. Raises `EmptyAxis`, `ImpossibleValue`."""
    if section not in _SETS:
        return read_axis(path, values).values
    if values == []:
        raise EmptyAxis(f"axis {path} has no values", path=("axes", path))
    return as_list(values, ("axes", path))


def _value(path: str, section: str, value: Json, where: FieldPath, brokers: Collection[int]) -> Json:
    """A value of an axis. Raises `ImpossibleValue`, `UnknownBroker`."""
    if section == REMOVE:
        return _known(value, where, brokers)
    if section == ADD:
        return as_integer(value, where, minimum=0, maximum=MOST_ADDED)
    if section == "broker_sets":
        if value == []:
            raise ImpossibleValue("a broker set has a broker at least", path=where, value=[])
        return [_known(each, (*where, at), brokers) for at, each in enumerate(as_list(value, where))]
    if section == "topic_sets":
        if value is not None and not isinstance(value, str):
            raise ImpossibleValue(f"{path} takes names of broker sets, and null for none", path=where, value=value)
        return value
    most = 1.0 if path in SHARES else MOST_AMOUNT if path in AMOUNTS else MOST_WEIGHT
    return as_number(value, where, above=0.0, maximum=most)


def _known(value: Json, where: FieldPath, brokers: Collection[int]) -> int:
    broker = as_integer(value, where, minimum=0, maximum=INT32_MAX)
    if broker not in brokers:
        raise UnknownBroker(f"there is no broker {broker} in the snapshot", path=where, value=broker)
    return broker
