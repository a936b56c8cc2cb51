"""Topics as they are to be beside a cluster: the differences, and the reassignment that removes them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.model import Cluster, Topic, unpadded
from app.errors.every import ConflictingFields, Json
from app.formats.sources.desired_topics import DesiredTopic, Strategy
from app.services.plans import as_json
from app.services.reassignment.requests.parts import InRack

NAMED_PARTITIONS = 100
"""How many partitions a difference names; it counts them all."""


@dataclass(frozen=True, slots=True)
class TopicDifference:
    """One way in which a topic is not as it is to be.

    Parameters
    ----------
    field : `topic` if it does not exist, `partitions`, `replication_factor` or `placement`.
    desired, actual : values of the field; `actual` is None if there is no such topic.
    count, partitions : of the partitions that differ, all and the first `NAMED_PARTITIONS`; of all, 0 and none.
    is_planned : whether the request for a reassignment, or new topics, remove it.
    """

    topic: str
    field: str
    desired: Json
    actual: Json
    detail: str
    count: int = 0
    partitions: Sequence[int] = ()
    is_planned: bool = True


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences from a desired state, by topic in its order.

    Parameters
    ----------
    request : the body of a request for a reassignment that removes them with the least movement, without a snapshot;
        None if none of them needs one.
    new_topics : topics that there are not yet, as requests for plans of replicas have them.
    """

    differences: Sequence[TopicDifference]
    request: Mapping[str, Json] | None = None
    new_topics: Sequence[Mapping[str, Json]] = field(default_factory=list)

    def as_json(self) -> dict[str, Json]:
        """The document."""
        return {"differences": as_json(self.differences), "request": self.request, "new_topics": list(self.new_topics)}


def compare(cluster: Cluster, desired: Sequence[DesiredTopic]) -> Differences:
    """Compare a cluster with topics as they are to be; topics that are not in the list may be as they are.

    Partitions that are being reassigned count as they will be.

    Raises
    ------
    ConflictingFields : a topic is listed twice.
    """
    if repeated := [name for name, count in Counter(topic.name for topic in desired).items() if count > 1]:
        raise ConflictingFields(f"topic {repeated[0]} is listed twice", path=("desired",), value=repeated[0])
    racks = {broker.id: broker.rack for broker in cluster.brokers}
    existing = {topic.name: topic for topic in cluster.topics}
    differences: list[TopicDifference] = []
    new_topics: list[dict[str, Json]] = []
    for wanted in desired:
        topic = existing.get(wanted.name)
        if topic is None:
            differences.append(_missing(wanted))
            if wanted.partitions and wanted.replication_factor:
                counts = {"partitions": wanted.partitions, "replication_factor": wanted.replication_factor}
                new_topics.append({"name": wanted.name, **counts})
        else:
            differences += _of_topic(wanted, topic, racks)
    return Differences(differences, _request(differences, desired), new_topics)


def _missing(wanted: DesiredTopic) -> TopicDifference:
    is_planned = bool(wanted.partitions and wanted.replication_factor)
    wished: Json = {"partitions": wanted.partitions, "replication_factor": wanted.replication_factor}
    detail = f"there is no topic {wanted.name}"
    return TopicDifference(wanted.name, "topic", wished, None, detail, is_planned=is_planned)


def _of_topic(wanted: DesiredTopic, topic: Topic, racks: Mapping[int, str | None]) -> Iterator[TopicDifference]:
    assignment = topic.destination
    rows = unpadded(assignment.replicas)
    ids = assignment.partition_ids.tolist()
    if wanted.partitions is not None and wanted.partitions != len(ids):
        is_planned = wanted.partitions > len(ids)
        detail = f"{len(ids)} partitions, {wanted.partitions} desired"
        detail += "" if is_planned else "; Kafka removes no partition"
        yield TopicDifference(topic.name, "partitions", wanted.partitions, len(ids), detail, is_planned=is_planned)
    factors = sorted({len(row) for row in rows})
    if wanted.replication_factor is not None and factors != [wanted.replication_factor]:
        named = [partition for partition, row in zip(ids, rows, strict=True) if len(row) != wanted.replication_factor]
        actual: Json = factors[0] if len(factors) == 1 else factors
        detail = f"replication factor {', '.join(map(str, factors))}, {wanted.replication_factor} desired"
        yield TopicDifference(
            *(topic.name, "replication_factor", wanted.replication_factor, actual, detail),
            count=len(named),
            partitions=named[:NAMED_PARTITIONS],
        )
    misplaced = [
        partition for partition, row in zip(ids, rows, strict=True) if not _is_placed(wanted, partition, row, racks)
    ]
    if misplaced:
        detail = f"{len(misplaced)} of {len(ids)} partitions are not {wanted.strategy}"
        yield TopicDifference(
            *(topic.name, "placement", wanted.strategy.value, None, detail),
            count=len(misplaced),
            partitions=misplaced[:NAMED_PARTITIONS],
            is_planned=wanted.strategy in (Strategy.CROSS_RACK, Strategy.IN_RACK, Strategy.STATIC),
        )


def _is_placed(wanted: DesiredTopic, partition: int, replicas: list[int], racks: Mapping[int, str | None]) -> bool:
    """Whether the replicas of a partition are where the strategy wants them; a broker without a rack is in none."""
    spanned = {racks.get(broker) for broker in replicas}
    if wanted.strategy is Strategy.CROSS_RACK:
        there = len({rack for rack in racks.values() if rack is not None})
        return len(spanned - {None}) >= min(len(replicas), there)
    if wanted.strategy is Strategy.IN_RACK:
        return len(spanned) <= 1
    if wanted.strategy is Strategy.STATIC:
        return partition >= len(wanted.replicas) or replicas == list(wanted.replicas[partition])
    if wanted.strategy is Strategy.STATIC_IN_RACK:
        return partition >= len(wanted.racks) or spanned == {wanted.racks[partition]}
    return True


def _request(differences: Sequence[TopicDifference], desired: Sequence[DesiredTopic]) -> Mapping[str, Json] | None:
    planned = [one for one in differences if one.is_planned and one.field != "topic"]
    if not planned:
        return None
    body: dict[str, Json] = {}
    for name in ("partitions", "replication_factor"):
        if counts := {one.topic: one.desired for one in planned if one.field == name}:
            body[name] = counts
    if pins := _pins(planned, desired):
        body["pins"] = pins
    topics = sorted({one.topic for one in planned})
    if in_rack := placement_of(topic for topic in desired if topic.name in topics):
        body["placement"] = dict(in_rack)
    return {**body, "topics": topics}


def placement_of(desired: Iterable[DesiredTopic]) -> dict[str, InRack]:
    """The topics that are in one rack, as requests for reassignments and checks have them."""
    strategies = (Strategy.IN_RACK, Strategy.STATIC_IN_RACK)
    return {topic.name: "in_rack" for topic in desired if topic.strategy in strategies}


def _pins(planned: Sequence[TopicDifference], desired: Sequence[DesiredTopic]) -> list[Json]:
    """The replicas of topics whose placement is stated partition by partition, and differs."""
    static = {one.topic for one in planned if one.field == "placement" and one.desired == Strategy.STATIC}
    return [
        {"topic": topic.name, "partition": partition, "replicas": list(replicas)}
        for topic in desired
        if topic.name in static
        for partition, replicas in enumerate(topic.replicas)
    ]
