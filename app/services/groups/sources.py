"""From a request or a recorded group to the input of an assignor, with warnings about missing data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from app.core.groups.arrays.partition_table import Weights
from app.core.groups.lifecycle import events
from app.core.groups.measures.group_traffic import Rates
from app.core.groups.model import Assign, GroupMetadata, TopicMetadata
from app.core.groups.optimum.by_load import LARGEST_SUM
from app.core.groups.registry import ASSIGNORS, Assignor, assignor_for, assignor_of_library
from app.core.groups.server.group import id_of_topic
from app.core.kafka_versions import NEWEST, KafkaVersion
from app.core.model import Broker, Cluster, Int32s, Topic, padded
from app.core.recorded import GroupType, RecordedGroup
from app.errors.every import ConflictingFields, DuplicateTopic, FieldPath, ImpossibleValue, LimitExceeded, suggestion
from app.services.amounts import PricesRequest, partition_rates, require_each
from app.services.cautions import Caution, caution
from app.services.groups import requests
from app.services.groups.members import (
    ListedMember,
    from_the_future,
    leading_member,
    listed_member,
    missing_from,
    overridden,
    recorded_group,
    recorded_lag,
    recorded_member,
    require_partitions,
)
from app.services.snapshots import first_repeated

RatesFrom: TypeAlias = Literal["request", "snapshot"]
NAMED_TOPICS = 20
"""The most topics that a warning names."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupSource:
    """The input of a group plan.

    Parameters
    ----------
    listed : the members. lag : of partitions, where it is known. balance : the measure that is balanced.
    assignors : the requested ones, or else the group's own, as the leader's client library has them.
    cautions : about missing or doubtful input.
    of_unknown_rack : ids of recorded members whose rack is neither recorded nor in the request.
    version : the release that assigns.
    rates : bytes/s of partitions, from the request or, if it has none, from the snapshot, as `rates_from` says; None if
        neither has any.
    library : the client library of the leader; None for Kafka's own.
    follower_fetching, prices, rebalance_seconds : as in the request.
    assignable : of a share group, by topic the partitions that may be assigned; None for all.
    is_settled : whether the members come from a recorded group that was stable under the plan's assignor, so that
        events start from their owned partitions.
    """

    listed: Sequence[ListedMember]
    metadata: GroupMetadata
    lag: Weights | None = None
    balance: requests.Balance = "partitions"
    assignors: Sequence[Assignor] = ()
    cautions: Sequence[Caution] = field(default=())
    of_unknown_rack: frozenset[str] = frozenset()
    version: KafkaVersion = NEWEST
    is_settled: bool = False
    assignable: Mapping[str, Sequence[int]] | None = None
    rates: Rates | None = field(default=None, repr=False)
    rates_from: RatesFrom = "request"
    library: str | None = None
    follower_fetching: bool = False
    prices: PricesRequest | None = None
    rebalance_seconds: float | None = None

    @property
    def bytes_per_s(self) -> Weights | None:
        """The stated rates as weights, whose sums are exact; an unknown one weighs nothing."""
        return None if self.rates is None or self.rates_from == "snapshot" else whole(self.rates)

    @property
    def load(self) -> Weights | None:
        """The weights to balance; None for partitions, and if unknown."""
        return {"partitions": None, "lag": self.lag, "bytes_per_s": self.bytes_per_s}[self.balance]

    def assign(self, assignor: Assignor) -> Assign:
        """The assignor, with weights if it supports them, restricted to the assignable partitions."""
        if self.assignable is not None and assignor.restricted is not None:
            topics = self.metadata.topics
            by_id = {id_of_topic(topics[name]): frozenset(numbers) for name, numbers in self.assignable.items()}
            return assignor.restricted(by_id)
        return assignor.assign if assignor.weighted is None else assignor.weighted(self.bytes_per_s, self.load)


def source_of(request: requests.GroupRequest, cluster: Cluster | None, version: KafkaVersion) -> GroupSource:
    """Read a request as a release assigns it, with the cluster of its snapshot where it names one.

    Raises
    ------
    ConflictingFields : the group is not in the snapshot, partitions are not numbered from 0 on, a member states its
        subscription twice or not at all, the weights that the optimum balances are unknown.
    MalformedText, CorruptProtocolBytes : a member's metadata cannot be read.
    """
    brokers = (request.brokers or ()) if cluster is None else cluster.brokers
    metadata = listed_metadata(brokers, request.topics or ()) if cluster is None else metadata_of(cluster)
    _require_distinct_ids(metadata)
    recorded = None if request.group is None or cluster is None else recorded_group(cluster, request.group)
    listed, of_unknown_rack, missing = _members(request, recorded, version)
    lag = _lag(request, recorded, metadata)
    _require_countable("lag", lag, metadata, len(listed))
    rates, rates_from = _rates(request, cluster, metadata, len(listed))
    cautions = [*_fenced(brokers), *missing, *from_the_future(listed), *_without_rate(listed, metadata, rates)]
    leading = leading_member(listed, request.leader)
    library = None if leading is None else leading.client
    own = [assignor_for(name, version) for name in request.assignors] or [_own_assignor(recorded, version)]
    assignors = [assignor_of_library(assignor, library) for assignor in own]
    source = GroupSource(
        listed,
        metadata,
        lag,
        request.balance,
        assignors,
        cautions,
        of_unknown_rack,
        version,
        recorded is not None and _is_settled(recorded, assignors[0]),
        request.assignable,
        *(rates, rates_from, library, request.follower_fetching, request.prices, request.rebalance_seconds),
    )
    if request.assignable is not None:
        _require_assignable(request.assignable, assignors, metadata)
    if request.balance != "partitions" and source.load is None:
        detail = f"the optimum is to balance {request.balance}, which is neither given nor in the snapshot"
        raise ConflictingFields(detail, path=("balance",), value=request.balance)
    return source


def _members(
    request: requests.GroupRequest, recorded: RecordedGroup | None, version: KafkaVersion
) -> tuple[list[ListedMember], frozenset[str], Sequence[Caution]]:
    """The members, the ids of recorded ones of unknown rack, and cautions about gaps in their record."""
    if recorded is None:
        members = enumerate(request.members or ())
        return [listed_member(member, ("members", i), version) for i, member in members], frozenset(), ()
    require_partitions(recorded, ("group",))
    known, cautions = overridden(recorded.members, request.member_overrides)
    of_unknown_rack = tuple(one.member.member_id for one in known if not one.knows_rack)
    cautions += missing_from(replace(recorded, members=tuple(one.member for one in known)), of_unknown_rack)
    return [recorded_member(one.member, one.client) for one in known], frozenset(of_unknown_rack), cautions


_OWN_ASSIGNORS: Mapping[GroupType, Mapping[str | None, str]] = {
    "consumer": {None: "uniform", "range": "server-range"},
    "share": {None: "simple"},
}
"""By the type of a group and the name that the coordinator has for its assignor: the name here, if it is another."""


def _is_settled(recorded: RecordedGroup, assignor: Assignor) -> bool:
    """Whether a recorded group was stable, and under the assignor if its own is recorded."""
    is_own = recorded.assignor is None or _own_name(recorded) == assignor.name
    is_stable = recorded.state in {None, "Stable"} and all(member.assigned is not None for member in recorded.members)
    return is_own and is_stable and bool(recorded.members)


def _own_name(recorded: RecordedGroup | None) -> str:
    """The name here of the assignor that a recorded group has, known or not."""
    own = None if recorded is None else recorded.assignor
    if recorded is not None and recorded.type is not None:
        own = _OWN_ASSIGNORS.get(recorded.type, {}).get(own, own)
    return own or "range"


def _own_assignor(recorded: RecordedGroup | None, version: KafkaVersion) -> Assignor:
    """The assignor that a recorded group has. An empty group has none, and is taken to start with Kafka's default."""
    name = _own_name(recorded)
    if name not in ASSIGNORS:
        detail = f"the group's assignor is {name}, which is not known; name one of {', '.join(ASSIGNORS)}"
        raise ConflictingFields(detail, path=("assignor",), value=name)
    return assignor_for(name, version)


def metadata_of(cluster: Cluster) -> GroupMetadata:
    """A cluster's metadata as clients see it. Fenced brokers are not live, so that their racks are unknown."""
    for topic in cluster.topics:
        _require_all_partitions(topic)
    return GroupMetadata(
        {broker.id: broker.rack for broker in cluster.brokers if not broker.fenced},
        {topic.name: TopicMetadata(topic.name, topic.replicas, topic.topic_id) for topic in cluster.topics},
    )


def event_of(event: requests.GroupEvent, assignor: Assignor, path: FieldPath, version: KafkaVersion) -> events.Event:
    """An event as the core knows it. Raises as `source_of` does."""
    happening: events.Event
    match event:
        case requests.GroupEvent(join=requests.MemberRequest() as member):
            happening = events.Join(listed_member(member, (*path, "join"), version).seen_by(assignor))
        case requests.GroupEvent(leave=str(member_id)):
            happening = events.Leave(member_id)
        case requests.GroupEvent(replace=requests.ReplacedMember(member_id, by)):
            happening = events.Replace(
                member_id, listed_member(by, (*path, "replace", "by"), version).seen_by(assignor)
            )
        case requests.GroupEvent(lose_rack=str(rack)):
            happening = events.LoseRack(rack)
        case requests.GroupEvent(topic_grown=requests.GrownTopic(topic, partitions, replicas)):
            happening = events.TopicGrown(topic, partitions, None if replicas is None else padded(replicas))
        case requests.GroupEvent(replica_racks_changed=requests.ChangedRacks(brokers, replicas_of)):
            racks = {broker.id: broker.rack for broker in brokers}
            happening = events.ReplicaRacksChanged(racks, {name: padded(rows) for name, rows in replicas_of.items()})
        case requests.GroupEvent(burst=[*together]) if together:
            singles = [event_of(one, assignor, (*path, "burst", place), version) for place, one in enumerate(together)]
            happening = events.Burst(
                tuple([single for single in singles if not isinstance(single, events.RollingRestart)])
            )
        case _:
            happening = events.RollingRestart()
    return happening


def listed_metadata(brokers: Sequence[Broker], topics: Sequence[requests.GroupTopic]) -> GroupMetadata:
    """The same of brokers and topics that a request lists by itself."""
    return GroupMetadata(
        {broker.id: broker.rack for broker in brokers if not broker.fenced},
        {topic.name: TopicMetadata(topic.name, _replicas(topic), topic.topic_id) for topic in topics},
    )


def _replicas(topic: requests.GroupTopic) -> Int32s:
    return np.empty((topic.partitions, 0), np.int32) if topic.replicas is None else padded(topic.replicas)


def _require_all_partitions(topic: Topic) -> None:
    ids = topic.partition_ids
    if len(ids) and int(ids[-1]) != len(ids) - 1:
        missing = int(np.flatnonzero(ids != np.arange(len(ids)))[0])
        detail = f"partition {missing} of topic {topic.name} is not known; an assignor needs all from 0 on"
        raise ConflictingFields(detail, path=("topics",), value=topic.name)


def _require_distinct_ids(metadata: GroupMetadata) -> None:
    named: dict[str, str] = {}
    for topic in metadata.topics.values():
        if topic.topic_id is not None and (other := named.setdefault(topic.topic_id, topic.name)) != topic.name:
            detail = f"topics {other} and {topic.name} have the same topic_id"
            raise DuplicateTopic(detail, path=("topics",), value=topic.topic_id)


def _fenced(brokers: Sequence[Broker]) -> list[Caution]:
    fenced = tuple(broker.id for broker in brokers if broker.fenced and broker.rack)
    if not fenced:
        return []
    return [caution("fenced_brokers_left_out", brokers=fenced)]


def _require_countable(name: str, weights: Weights | Rates | None, metadata: GroupMetadata, members: int) -> None:
    """Weights are added in 64 bits, times the size of the group, so that optima are exact."""
    total = sum(int(values.sum(dtype=object)) for values in (weights or {}).values() if len(values))
    size = sum(len(topic.replicas) for topic in metadata.topics.values()) + members + 1
    limit = LARGEST_SUM // (4 * size)
    if total > limit:
        detail = f"{name} comes to {total} in all; in a group of this size up to {limit} can be added exactly"
        raise LimitExceeded(detail, path=(name,), limit=limit, value=total)


def _require_assignable(
    assignable: Mapping[str, Sequence[int]], assignors: Sequence[Assignor], metadata: GroupMetadata
) -> None:
    """Validate the assignable partitions.

    Raises
    ------
    ConflictingFields : the first assignor assigns all partitions, a topic is not known, a partition is listed twice.
    ImpossibleValue : a partition does not exist.
    """
    if assignors[0].restricted is None:
        detail = (
            f"assignable are the initialised partitions of a share group since Kafka 4.1; {assignors[0].name} assigns "
            "all partitions"
        )
        raise ConflictingFields(detail, path=("assignable",))
    for name, numbers in assignable.items():
        if name not in metadata.topics:
            raise ConflictingFields(f"there is no topic {name}", path=("assignable", name), value=name)
        most = len(metadata.topics[name].replicas) - 1
        for place, number in enumerate(numbers):
            if number > most:
                detail = f"partition {number} of topic {name} does not exist; its last one is {most}"
                raise ImpossibleValue(detail, path=("assignable", name, place), value=number, maximum=most)
        if (twice := first_repeated(list(numbers))) is not None:
            detail = f"partition {numbers[twice]} of topic {name} is listed twice"
            raise ConflictingFields(detail, path=("assignable", name, twice), value=numbers[twice])


def whole(rates: Rates) -> Weights:
    """Rates as whole weights; an unknown one weighs nothing."""
    return {name: np.rint(np.nan_to_num(of_topic)).astype(np.int64) for name, of_topic in rates.items()}


def _rates(
    request: requests.GroupRequest, cluster: Cluster | None, metadata: GroupMetadata, members: int
) -> tuple[Rates | None, RatesFrom]:
    """The rates of the request, else of the snapshot, and which of the two; None if neither has any.

    Raises
    ------
    ConflictingFields : a topic is not known, or has another number of partitions than rates.
    LimitExceeded : the rates cannot be added exactly as weights.
    """
    if request.bytes_per_s is None:
        topics = () if cluster is None else cluster.topics
        recorded = {each.name: each.ingress_bytes_per_s for each in topics if each.ingress_bytes_per_s is not None}
        return recorded or None, "snapshot"
    _require_fit(request.bytes_per_s, metadata, ("ingress_bytes_per_s",))
    stated = {
        name: partition_rates(name, rates, len(metadata.topics[name].replicas), path=("ingress_bytes_per_s",))
        for name, rates in request.bytes_per_s.items()
    }
    _require_countable("ingress_bytes_per_s", stated, metadata, members)
    return stated, "request"


def _require_fit(stated: Mapping[str, float | Sequence[float]], metadata: GroupMetadata, path: FieldPath) -> None:
    for name, values in stated.items():
        if name not in metadata.topics:
            detail = f"there is no topic {name}{suggestion(name, list(metadata.topics))}"
            raise ConflictingFields(detail, path=(*path, name), value=name)
        require_each(name, values, len(metadata.topics[name].replicas), path=path)


def _without_rate(listed: Sequence[ListedMember], metadata: GroupMetadata, rates: Rates | None) -> list[Caution]:
    """The warning about subscribed topics without a rate, if some topic has one."""
    subscribed = {topic for one in listed for topic in one.member.topics} & metadata.topics.keys()
    missing = tuple(sorted(name for name in subscribed if np.isnan((rates or {}).get(name, np.nan)).any()))
    if len(missing) in {0, len(subscribed)}:
        return []
    return [caution("partitions_without_rate", missing=missing, subscribed=subscribed, topics=missing[:NAMED_TOPICS])]


def _lag(request: requests.GroupRequest, recorded: RecordedGroup | None, metadata: GroupMetadata) -> Weights | None:
    """The lag of the request, else of the recorded group; None if neither has any. Raises as `_rates` does."""
    if request.lag is None:
        return None if recorded is None else recorded_lag(recorded, metadata)
    _require_fit(request.lag, metadata, ("lag",))
    partitions = {name: len(topic.replicas) for name, topic in metadata.topics.items()}
    return {name: np.broadcast_to(np.array(lag, np.int64), partitions[name]) for name, lag in request.lag.items()}
