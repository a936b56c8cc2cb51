"""Place new partitions as Kafka does: the problem, its planner, and the measures of the placement."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.core.jvm import JavaRandom
from app.core.kafka_versions import Controller, KafkaRange, KafkaVersion, controller_of
from app.core.measures.placement import measure
from app.core.measures.tally import positions_of, tally
from app.core.measures.violations import violations
from app.core.model import MIN_INSYNC_REPLICAS, UNKNOWN_SIZE, Broker, Cluster, NewTopic, Placement, cordoned_brokers
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Rules
from app.core.replicas.copyset_rounds import front_of, rounds_of_width
from app.core.replicas.copysets import SetChoice
from app.core.replicas.envelope import Envelope, Share
from app.core.replicas.options import RackMode, require_racks
from app.core.replicas.registry import PLACEMENT_OPTIONS, PLACEMENTS, Algorithm, place_topics
from app.errors.every import ConflictingFields, InvalidPartitions, Json, KafkaError, SizesMissing, UnknownBroker
from app.formats.syntax.quantities import counted, share
from app.services.bodies import ABSENT, AnswerRecord
from app.services.cautions import Caution, caution
from app.services.fields import NAMED_TOPICS, assumed, min_isr_of
from app.services.limits import Limits
from app.services.plans import Allowance, PlannedPartition, Planner, Site, as_json
from app.services.plans.answers import PartitionDocument
from app.services.plans.record import at, some
from app.services.replicas import awareness
from app.services.replicas.answers import BrokerShare, EnvelopeDocument, ReplicasAnswer, ShareDocument
from app.services.replicas.requests import KIND, READER, ReplicasRequest, check, partitions_of
from app.store.records import NewPlan, PlanHead


@dataclass(frozen=True, slots=True, eq=False)
class ReplicasProblem:
    """Topics to place, with nothing left to look up.

    Parameters
    ----------
    request : as the caller states it. seed : None until `with_seed`; it stays None with a fixed start index.
    is_assumed : whether the algorithm is the default for a cluster of which the kind of controller is unknown.
    algorithm : with its options applied. options : the record that its `options.read` returned; None if it has none.
    listed : all brokers, in the caller's order. brokers : those that the algorithm places on, as it sees them.
    is_envelope : the seed was not the caller's, so that a controller's outcome may be another.
    is_snapshot : the brokers come from a snapshot, whose hash identifies them.
    partitions : of topics of the cluster, by name.
    min_isr : `min.insync.replicas` of the topics to place, by name, if it is known.
    """

    request: ReplicasRequest
    seed: int | None
    algorithm: Algorithm
    is_assumed: bool
    options: Any
    listed: tuple[Broker, ...] = field(repr=False)
    brokers: tuple[Broker, ...] = field(repr=False)
    is_envelope: bool
    is_snapshot: bool
    partitions: Mapping[str, int] = field(repr=False)
    min_isr: Mapping[str, int] = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    @property
    def canonical(self) -> dict[str, Json]:
        """The fields of the request with their values."""
        algorithm, request = self.algorithm, self.request
        mode = request.rack_mode or algorithm.rack_mode
        options = {} if algorithm.options is None else algorithm.options.canonical(self.options)
        return {
            # A snapshot's brokers follow from its hash; others are named in the caller's order, which may count.
            "brokers": None if self.is_snapshot else _brokers_json(self.listed),
            "algorithm": algorithm.name,
            # Such a plan has a warning that one for a stated algorithm has not.
            **({"algorithm_assumed": True} if self.is_assumed else {}),
            "rack_mode": None if mode is None else mode.value,
            "fixed_start_index": request.fixed_start_index,
            "seed": self.seed,
            "topics": as_json(request.topics),
            # Left out if the snapshot says it, whose hash identifies them too.
            **({} if request.cordoned_brokers is None else {"cordoned_brokers": sorted(request.cordoned_brokers)}),
            **({} if not request.configs else {"configs": as_json(request.configs)}),
            **({} if request.defaults is None else {"defaults": as_json(request.defaults)}),
            **options,
        }


class _ReplicasPlanner(Planner[ReplicasRequest, ReplicasProblem, tuple[Placement, ...]]):
    kind, reader = KIND, READER
    # Sets of `copysets` repeat fewer pairs of brokers.
    engine_version = 3

    def stored(self, request: ReplicasRequest) -> Mapping[str, Json]:
        """As callers write it: options beside the other fields."""
        plain: dict[str, Json] = as_json(request)
        options: Any = plain.pop("options")
        return plain | dict(options)

    def restored(self, plain: Mapping[str, Any]) -> ReplicasRequest:
        options = {name: value for name, value in plain.items() if name in PLACEMENT_OPTIONS and value is not None}
        fields = {name: value for name, value in plain.items() if name not in PLACEMENT_OPTIONS}
        return READER.validate_python(fields | {"options": options})

    def check_site(self, request: ReplicasRequest) -> None:
        if (request.snapshot_id is None) == (request.brokers is None):
            detail = "a request names either a snapshot (snapshot_id or cluster) or brokers"
            raise ConflictingFields(detail, path=("snapshot_id",))

    def check(self, request: ReplicasRequest, limits: Limits) -> None:
        check(request, limits)

    def resolve(self, request: ReplicasRequest, site: Site, allowance: Allowance) -> ReplicasProblem:
        allowance.check_work(partitions_of(request), path=("topics",))
        cluster = site.cluster or Cluster("", tuple(request.brokers or ()))
        listed = cluster.brokers if request.brokers is None else tuple(request.brokers)
        name, is_assumed = _algorithm_of(request, cluster)
        algorithm = PLACEMENTS[name].of_release(site.version)
        options = None
        if algorithm.options is not None:
            options = algorithm.options.read(request.options)
            algorithm = algorithm.with_options(options)
        cordoned = _cordoned(request, cluster, listed)
        about = _algorithm_cautions(request, cluster, algorithm, site.version, is_assumed=is_assumed)
        brokers, cautions = _brokers_in_play(request.rack_mode, listed, algorithm, cordoned)
        if isinstance(options, Rules) and options.load is not None:
            algorithm = replace(algorithm, place=Aware(options, _present(request, cluster, brokers, options.load)))
        known, about_defaults = _min_isr(request, cluster)
        return ReplicasProblem(
            request=request,
            seed=request.seed,
            algorithm=algorithm,
            is_assumed=is_assumed,
            options=options,
            listed=listed,
            brokers=brokers,
            is_envelope=request.seed is None and request.fixed_start_index is None,
            is_snapshot=site.content_hash is not None,
            partitions={topic.name: len(topic.partition_ids) for topic in cluster.topics},
            min_isr=known,
            cautions=(*about, *cautions, *about_defaults),
        )

    def with_seed(self, problem: ReplicasProblem, seed: int) -> ReplicasProblem:
        return replace(problem, seed=seed) if problem.is_envelope else problem

    def releases(self, problem: ReplicasProblem) -> KafkaRange | None:
        return None if problem.algorithm.replays is None else problem.algorithm.replays.holds

    def listed_row(self, head: PlanHead | NewPlan, row: PlannedPartition) -> AnswerRecord:
        lacking = awareness.unassigned_of(head.answer, row.topic)
        return PartitionDocument(row.topic, row.partition, row.row[0], row.row, lacking or ABSENT)

    def solve(self, problem: ReplicasProblem) -> tuple[Placement, ...]:
        placements = place_topics(
            problem.algorithm,
            problem.brokers,
            problem.request.topics,
            random=JavaRandom(problem.seed or 0),
            fixed_start_index=problem.request.fixed_start_index,
        )
        _require_partitions(problem.request.topics)
        require_racks(problem.request.rack_mode or problem.algorithm.rack_mode, problem.brokers)
        return placements

    def title(self, plan: NewPlan) -> str:
        """`Place orders, payments on prod-eu`."""
        return f"Place {some([placement.topic for placement in plan.placements], noun='topic')}" + at(
            plan.cluster, "on"
        )

    def summary(self, plan: NewPlan) -> str:
        """`36 partitions, 108 replicas; rack-safe`."""
        sizes = [placement.replicas.shape for placement in plan.placements]
        partitions = counted(sum(rows for rows, _ in sizes), "partition")
        replicas = counted(sum(rows * factor for rows, factor in sizes), "replica")
        measures: Any = plan.answer["measures"]
        safe = measures.get("rack_safe_share")
        racks = [] if safe is None else ["rack-safe" if safe == 1 else f"{share(safe)} rack-safe"]
        return "; ".join([f"{partitions}, {replicas}", *racks])

    def answer(self, problem: ReplicasProblem, solution: tuple[Placement, ...]) -> ReplicasAnswer:
        counts = tally({placement.topic: placement.assignment for placement in solution}, problem.listed)
        envelope_of = problem.algorithm.envelope
        # If no controller draws there is nothing to predict: the assignment is there to be handed to Kafka.
        is_pinned = problem.request.fixed_start_index is not None or envelope_of is None
        answer = ReplicasAnswer(
            prediction="pinned" if is_pinned else "envelope" if problem.is_envelope else "replay",
            seed=problem.seed,
            envelope=[_envelope(topic, envelope_of(problem.brokers, topic)) for topic in problem.request.topics]
            if problem.is_envelope and envelope_of is not None
            else None,
            measures=measure(counts, problem.min_isr),
            violations=violations(counts),
            warnings=[*problem.cautions, *_topic_cautions(problem)],
        )
        if isinstance(problem.options, SetChoice):
            return replace(answer, **_set_choice(problem, problem.options))
        if not isinstance(problem.options, Rules):
            return answer
        brokers = {"listed": problem.listed, "live": problem.brokers}
        return awareness.with_attributes(answer, solution, problem.request.topics, **brokers, rules=problem.options)

    def placements(self, _problem: ReplicasProblem, solution: tuple[Placement, ...]) -> Sequence[Placement]:
        return solution


PLANNER = _ReplicasPlanner()


def _set_choice(problem: ReplicasProblem, choice: SetChoice) -> dict[str, Any]:
    """The scatter width of the sets of the largest replication factor, and the front of other choices if requested."""
    brokers = sorted(problem.brokers, key=lambda broker: broker.id)
    factor = max(topic.replication_factor for topic in problem.request.topics)
    widest = {topic.name for topic in problem.request.topics if topic.replication_factor == factor}
    chosen = rounds_of_width(brokers, factor, choice.scatter_width).measured
    min_isr = max((least for topic, least in problem.min_isr.items() if topic in widest), default=None)
    front = front_of(brokers, factor, min_isr) if choice.front else None
    return {"scatter_width": chosen.scatter_width.min, "front": front}


def _min_isr(request: ReplicasRequest, cluster: Cluster) -> tuple[Mapping[str, int], tuple[Caution, ...]]:
    """`min.insync.replicas` by topic, of the topics to place for which it is known; the default of the request counts
    with a warning, and so does a number above the replication factor.
    """
    named = {topic.name for topic in request.topics}
    known = dict(min_isr_of(topic for topic in cluster.topics if topic.name in named))
    stated = {name: configs.get(MIN_INSYNC_REPLICAS) for name, configs in request.configs.items()}
    known |= {name: int(least) for name, least in stated.items() if least is not None}
    default = None if request.defaults is None else request.defaults.min_insync_replicas
    unknown = [] if default is None else [topic.name for topic in request.topics if topic.name not in known]
    known |= dict.fromkeys(unknown, default or 0)
    cautions = assumed(unknown, default or 0)
    below = [topic for topic in request.topics if max(topic.replication_factor, 0) < known.get(topic.name, 0)]
    if below:
        factor, least = below[0].replication_factor, known[below[0].name]
        topics = tuple(topic.name for topic in below[:NAMED_TOPICS])
        cautions += (caution("below_min_isr.factor", factor=factor, least=least, topics=topics),)
    return known, cautions


def _present(
    request: ReplicasRequest, cluster: Cluster, brokers: Sequence[Broker], load: str
) -> Mapping[int, tuple[int, int]]:
    """By broker its leaders, and its replicas or its bytes in mean replicas.

    Raises `ConflictingFields` without a snapshot, `SizesMissing` if the size of a partition is unknown.
    """
    if request.brokers is not None:
        detail = "load is that of brokers of a snapshot, and the request lists brokers"
        raise ConflictingFields(detail, path=("load",), value=load)
    ids = np.array(sorted(broker.id for broker in brokers), np.int32)
    leaders, replicas, size = np.zeros((3, len(ids) + 1))  # the last entry is of other brokers, and of padding
    for topic in cluster.topics:
        if load == "bytes" and (topic.size_bytes == UNKNOWN_SIZE).any():
            detail = f"sizes of partitions of {topic.name} are unknown, and load is bytes"
            raise SizesMissing(detail, path=("load",), value=load)
        place = positions_of(topic.destination.replicas, ids)
        np.add.at(leaders, place[:, 0], 1)
        np.add.at(replicas, place, 1)
        np.add.at(size, place, np.broadcast_to(topic.size_bytes[:, None], place.shape))
    if load == "bytes" and size[:-1].any():
        replicas = np.rint(size * (replicas[:-1].sum() / size[:-1].sum()))
    present = np.stack([leaders, replicas], axis=1).astype(int)
    return {broker: (leads, has) for broker, (leads, has) in zip(ids.tolist(), present[:-1].tolist(), strict=True)}


def _require_partitions(topics: Sequence[NewTopic]) -> None:
    """KRaft's placer itself would place nothing; it is the controller that rejects a topic without partitions."""
    for index, topic in enumerate(topics):
        if topic.partitions == 0:
            detail, path = "a topic needs 1 partition or more; 0 given", ("topics", index, "partitions")
            kafka = KafkaError("InvalidPartitionsException")
            raise InvalidPartitions(detail, kafka=kafka, path=path, value=0, minimum=1)


def _envelope(topic: NewTopic, envelope: Envelope) -> EnvelopeDocument:
    """An envelope by broker."""

    def share(of: Share) -> ShareDocument:
        numbers = np.stack([of.lowest, of.highest, of.seen_lowest, of.seen_highest], axis=1).tolist()
        brokers = map(str, envelope.broker_ids.tolist())
        per_broker = {broker: BrokerShare(*row) for broker, row in zip(brokers, numbers, strict=True)}
        return ShareDocument.of(of, per_broker=per_broker)

    return EnvelopeDocument.of(
        envelope, topic=topic.name, leaders=share(envelope.leaders), replicas=share(envelope.replicas)
    )


def _cordoned(request: ReplicasRequest, cluster: Cluster, listed: Sequence[Broker]) -> frozenset[int]:
    """The ids of cordoned brokers. Raises `UnknownBroker` if the request names one that is not listed."""
    if request.cordoned_brokers is None:
        return cordoned_brokers(cluster)
    ids = {broker.id for broker in listed}
    for place, broker in enumerate(request.cordoned_brokers):
        if broker not in ids:
            detail = f"broker {broker} is cordoned, and none of the {len(ids)} brokers"
            raise UnknownBroker(detail, path=("cordoned_brokers", place), value=broker)
    return frozenset(request.cordoned_brokers)


def _brokers_in_play(
    rack_mode: RackMode | None, listed: Sequence[Broker], algorithm: Algorithm, cordoned: frozenset[int]
) -> tuple[tuple[Broker, ...], list[Caution]]:
    """The brokers as the algorithm sees them, with warnings."""
    cautions: list[Caution] = []
    brokers = algorithm.in_play([broker for broker in listed if broker.id not in cordoned], rack_mode)
    if cordoned:
        named = tuple(sorted(cordoned))
        cautions.append(caution("cordoned_brokers_left_out", reason=algorithm.cordons, brokers=named))
    if left_out := tuple(broker.id for broker in listed if broker.fenced and algorithm.leaves_out_fenced):
        cautions.append(caution("fenced_brokers_left_out.live", algorithm=algorithm.name, brokers=left_out))
    is_safe = (rack_mode or algorithm.rack_mode) is RackMode.SAFE
    cautions += _rack_cautions(brokers, listed, algorithm, is_safe=is_safe)
    return brokers, cautions


def _rack_cautions(
    brokers: Sequence[Broker], listed: Sequence[Broker], algorithm: Algorithm, *, is_safe: bool
) -> Iterator[Caution]:
    rack_of = {broker.id: broker.rack for broker in listed}
    if is_safe and any(broker.rack != rack_of[broker.id] for broker in brokers):
        without = tuple(broker.id for broker in brokers if rack_of[broker.id] is None)
        yield caution("racks_ignored.mode", listed=len(brokers), brokers=without)
    sizes = Counter(broker.rack for broker in brokers if broker.rack is not None)
    if len(set(sizes.values())) > 1 and algorithm.options is None:
        listed_sizes = ", ".join(f"{rack}: {size}" for rack, size in sorted(sizes.items()))
        yield caution("unequal_racks", sizes=listed_sizes)


_OF_CONTROLLER: Mapping[Controller | None, str] = {"kraft": "striped", "zookeeper": "admin_utils", None: "striped"}
"""The algorithm by which a controller places new topics; for an unknown one as every release since 4.0."""


def _controller(request: ReplicasRequest, cluster: Cluster) -> Controller | None:
    """The kind of controller that the plan is for: of the release that the request states, else of the cluster."""
    return controller_of(request.kafka_version) or cluster.controller


def _algorithm_of(request: ReplicasRequest, cluster: Cluster) -> tuple[str, bool]:
    """The name of the algorithm, and whether it is assumed because the kind of controller is unknown."""
    if request.algorithm is not None:
        return request.algorithm, False
    if request.fixed_start_index is not None:  # which this algorithm alone has
        return "admin_utils", False
    controller = _controller(request, cluster)
    return _OF_CONTROLLER[controller], controller is None


def _algorithm_cautions(
    request: ReplicasRequest, cluster: Cluster, algorithm: Algorithm, version: KafkaVersion, *, is_assumed: bool
) -> list[Caution]:
    """Warnings if the algorithm is assumed, or if the stated or recorded release has no such algorithm any more."""
    if is_assumed:
        return [caution("algorithm_assumed")]
    if algorithm.replays is None or not algorithm.replays.holds.ends_before(version):
        return []
    is_release_known = request.kafka_version is not None or cluster.kafka_version is not None
    if not is_release_known and _controller(request, cluster) != "kraft":
        return []
    to = algorithm.replays.holds.to
    return [caution("algorithm_not_in_version", algorithm=algorithm.name, to=to, version=version)]


def _topic_cautions(problem: ReplicasProblem) -> Iterator[Caution]:
    for topic in problem.request.topics:
        partitions = problem.partitions.get(topic.name, 0)
        if partitions and topic.start_partition_id <= 0:
            yield caution("topic_exists", topic=topic.name, partitions=partitions)
        elif problem.partitions and topic.start_partition_id > 0 and topic.start_partition_id != partitions:
            start = topic.start_partition_id
            yield caution("start_partition_id_differs", topic=topic.name, partitions=partitions, start=start)
    yield from _colliding(problem)


def _colliding(problem: ReplicasProblem) -> Iterator[Caution]:
    """New topics whose names differ from another one in periods and underscores alone, as metrics have them."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys([*problem.partitions, *(topic.name for topic in problem.request.topics)]):
        alike.setdefault(name.replace(".", "_"), []).append(name)
    for topic in problem.request.topics:
        first, *others = alike[topic.name.replace(".", "_")]
        if others and topic.name != first and topic.name not in problem.partitions:
            yield caution("name_collides", topic=topic.name, first=first, topics=(first, topic.name))


def _brokers_json(brokers: Sequence[Broker]) -> list[dict[str, Json]]:
    """Brokers as a request names them; attributes, a weight and vCPUs only if stated, so that other hashes stay."""
    documents: list[dict[str, Json]] = as_json(brokers)
    for broker, plain in zip(brokers, documents, strict=True):
        if not broker.attributes:
            del plain["attributes"]
        if broker.weight == 1:
            del plain["weight"]
        capacity = plain["capacity"]
        if isinstance(capacity, dict) and capacity["vcpu"] is None:
            del capacity["vcpu"]
    return documents
