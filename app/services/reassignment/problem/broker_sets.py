"""Broker sets: the brokers of each, and the topics whose replicas are on them alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.parts import Share
from app.core.reassignment.problem import ReplicaObjective
from app.core.reassignment.topic_name_hash import set_of_topic
from app.core.replica_lists import per_broker
from app.errors.every import ConflictingFields
from app.services.cautions import Caution, caution
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.request import ReassignmentRequest

NO_SET = -1
"""The set of brokers and topics outside every set."""
NAMED_TOPICS = 20


@dataclass(frozen=True, slots=True, eq=False)
class BrokerSets:
    """The sets in the order of their names; without any, every broker and topic is outside.

    Parameters
    ----------
    names : of the sets. of_broker : (brokers,) int32 index of each broker's set, or `NO_SET`.
    of_topic : (topics,) int32 the same of each topic of the scope.
    """

    names: tuple[str, ...]
    of_broker: Int32s = field(repr=False)
    of_topic: Int32s = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    def mask(self, index: int) -> Bools:
        """(brokers,) bool, the brokers of a set, or those outside every set."""
        return np.asarray(self.of_broker == index, np.bool_)


def broker_sets_of(request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope) -> BrokerSets:
    """Read the sets of a request against the cluster; a successor that is in no list is in the set of its predecessor.

    Raises `ConflictingFields` if a successor is in another set.
    """
    names = tuple(sorted(request.broker_sets))
    of_id = {broker: index for index, name in enumerate(names) for broker in request.broker_sets[name]}
    for old, new in request.replace_brokers.items():
        if names and of_id.get(old, NO_SET) != of_id.setdefault(new, of_id.get(old, NO_SET)):
            was, now = (_words(names, of_id.get(broker, NO_SET)) for broker in (old, new))
            detail = f"broker {new} is to replace broker {old}, which is in {was}, and is in {now}"
            raise ConflictingFields(detail, path=("replace_brokers", str(old)), value=new)
    stated = request.topic_sets if names else {}
    set_of = _SetsOfTopics(names, None if isinstance(stated, str) else stated)
    return BrokerSets(
        names=names,
        of_broker=np.array([of_id.get(broker, NO_SET) for broker in brokers.ids.tolist()], np.int32),
        of_topic=np.array([set_of(name) for name in scope.topics], np.int32),
        cautions=(*_without_set(names, set_of, scope), *_outside_scope(names, of_id, set_of, scope)),
    )


def _words(names: tuple[str, ...], index: int) -> str:
    return "no broker set" if index == NO_SET else f"broker set {names[index]}"


class _SetsOfTopics:
    """The set of each topic, by name."""

    def __init__(self, names: tuple[str, ...], stated: Mapping[str, str] | None) -> None:
        self._names, self._stated = names, stated
        self._index_of = {name: index for index, name in enumerate(names)}

    def __call__(self, topic: str) -> int:
        if self._stated is None:
            return set_of_topic(topic, len(self._names))
        return self._index_of.get(self._stated.get(topic, ""), NO_SET) if topic in self._stated else NO_SET


def _without_set(names: tuple[str, ...], set_of: _SetsOfTopics, scope: PartitionScope) -> list[Caution]:
    """A warning about topics that may move and are bound to no set, as those that were created since."""
    unbound = [topic for topic in scope.topics if names and set_of(topic) == NO_SET]
    topics = tuple(unbound[:NAMED_TOPICS])
    return [caution("topics_without_broker_set", unbound=unbound, topics=topics)] if unbound else []


def _outside_scope(
    names: tuple[str, ...], of_id: Mapping[int, int], set_of: _SetsOfTopics, scope: PartitionScope
) -> list[Caution]:
    """A warning about topics that may not move and have replicas outside their sets."""
    if not names:
        return []
    elsewhere = []
    for topic in scope.others:
        on_brokers = np.unique(topic.destination.replicas)
        sets = {of_id.get(broker, NO_SET) for broker in on_brokers[on_brokers != NO_REPLICA].tolist()}
        if sets - {set_of(topic.name)}:
            elsewhere.append(topic.name)
    topics = tuple(elsewhere[:NAMED_TOPICS])
    return [caution("outside_broker_sets", elsewhere=elsewhere, topics=topics)] if elsewhere else []


def shares_of(
    sets: BrokerSets,
    brokers: BrokerTable,
    scope: PartitionScope,
    objective: ReplicaObjective,
    weights: Int64s | None,
    before: Int32s,
    stays: Int32s,
) -> tuple[Share, ...]:
    """The parts that have partitions, by the name of their set; the brokers outside every set come last.

    Parameters
    ----------
    weights : (brokers,) int64, as of `MovementProblem.share`.
    before : (rows, widest) int32 current brokers. stays : those that may keep their replica; `NO_REPLICA` for others.
    """

    def share(name: str | None, rows: Int64s, inside: Bools) -> Share:
        here = np.where(inside, objective.base_load, 0)
        loads, kept = (here + per_broker(lists[rows], len(here), objective.load[rows]) for lists in (before, stays))
        target, balance = brokers.may_receive & inside, objective.balance
        if balance.tolerance is not None:
            target = brokers.balanced(loads, inside, weights, balance.tolerance_below)
        return Share(name, rows, inside, target, brokers.floor_cap(kept, inside, target))

    if not sets.names or not len(before):
        return (share(None, np.arange(len(before)), np.ones(len(brokers.ids), np.bool_)),)
    of_row, shares = sets.of_topic[scope.topic_of], []
    for index in (*range(len(sets.names)), NO_SET):
        rows = np.flatnonzero(of_row == index)
        if len(rows):
            shares.append(share(None if index == NO_SET else sets.names[index], rows, sets.mask(index)))
    return tuple(shares)
