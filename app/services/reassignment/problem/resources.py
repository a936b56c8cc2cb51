"""What partitions load on brokers: bytes, bytes/s in and out, and vCPU, of each row and of each broker.

The loads are those of the capacity model (`core/capacity`), as integers: sizes and rates as reported, multiplied by the
growth of the request.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s, Topic
from app.core.reassignment import Balance
from app.core.reassignment.evaluation import kafka_loads, loads_of
from app.core.reassignment.problem import GOAL_OF, ResourceObjective
from app.core.reassignment.resource_problem import MILLION, RESOURCES, TOPIC_REPLICAS, Goal, ResourceLoads
from app.core.replica_lists import stacked, widened
from app.errors import FieldPath, Json
from app.errors.quotation import suggestion
from app.errors.reassignments import UnknownTopic
from app.errors.requests import ConflictingFields
from app.services.cautions import Caution
from app.services.plans import as_json
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.capacities import capacities_of, require_rates
from app.services.reassignment.problem.loads import IngressRates, PartitionSizes, grown_rows
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import (
    EVERY,
    CpuModel,
    GoalsRequest,
    Resource,
    ResourceFields,
    Tolerance,
    topic_factors,
)
from app.services.reassignment.requests.request import ReassignmentRequest

NAMED_TOPICS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Partitions with what they store and carry, topic after topic, grown as the request has it.

    Parameters
    ----------
    topic_of : (rows,) int64, ascending. size_bytes, ingress : (rows,) int64 of one replica, and of producers.
    fan_out : (topics,) float64, how many times each byte is read.
    """

    topic_of: Int64s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    ingress: Int64s = field(repr=False)
    fan_out: Float64s = field(repr=False)

    @property
    def reads(self) -> Int64s:
        """(rows,) int64 bytes/s of all consumers."""
        return np.rint(self.ingress * self.fan_out[self.topic_of]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What a cluster's partitions load on its brokers, with the model that says so.

    Parameters
    ----------
    names : the resources of which the loads are known, in the order of `RESOURCES`.
    scope : the rows that may move. others : the rows outside the scope, which are on `other_replicas`, (rows, widest)
        int32 positions.
    capacity : (brokers, resources) int64. rack_of, racks : as in `BrokerTable`, of the brokers' own racks if those do
        not constrain the plan; without racks no client is in one.
    """

    names: tuple[Resource, ...]
    scope: Traffic
    others: Traffic
    other_replicas: Int32s = field(repr=False)
    capacity: Int64s = field(repr=False)
    rack_of: Int32s = field(repr=False)
    racks: tuple[str, ...]
    cpu_model: CpuModel
    follower_fetching: bool
    cautions: tuple[Caution, ...] = ()

    def row_loads(self, factors: Int64s) -> ResourceLoads:
        """The loads of the scope's rows with (rows,) int64 replication factors; the base is that of all other rows."""
        nothing = np.zeros_like(self.capacity)
        elsewhere = self._loads(self.others, _factors(self.other_replicas), nothing)
        base = loads_of(elsewhere, self.rack_of, self.other_replicas, self.other_replicas[:, 0])
        return self._loads(self.scope, factors, base)

    def broker_loads(self, replicas: Int32s) -> Int64s:
        """(brokers, resources) int64 load of every broker, with (rows, widest) int32 positions, leaders first."""
        loads: Int64s = loads_of(self.row_loads(_factors(replicas)), self.rack_of, replicas, replicas[:, 0])
        return loads

    def rows(self, replicas: Int32s) -> tuple[Int32s, Traffic]:
        """All rows of the cluster: the scope's on (rows, widest) int32 positions, then the others."""
        scope, others = self.scope, self.others
        width = max(replicas.shape[1], self.other_replicas.shape[1])
        return np.concatenate([widened(replicas, width), widened(self.other_replicas, width)]), Traffic(
            topic_of=np.concatenate([scope.topic_of, others.topic_of + len(scope.fan_out)]),
            size_bytes=np.concatenate([scope.size_bytes, others.size_bytes]),
            ingress=np.concatenate([scope.ingress, others.ingress]),
            fan_out=np.concatenate([scope.fan_out, others.fan_out]),
        )

    def _loads(self, traffic: Traffic, factors: Int64s, base: Int64s) -> ResourceLoads:
        model, racks = self.cpu_model, len(self.racks)
        share = np.zeros(int(self.rack_of.max(initial=-1)) + 1, np.int64)
        share[:racks] = MILLION // max(racks, 1)
        return kafka_loads(
            ingress=traffic.ingress,
            reads=traffic.reads,
            retained=traffic.size_bytes,
            factors=factors,
            base=base,
            capacity=self.capacity,
            cpu=(model.per_byte_in, model.per_byte_out, model.per_partition),
            client_share=share if self.follower_fetching and racks else None,
        )


def resources_of(
    request: ResourceFields,
    brokers: BrokerTable,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
) -> Resources:
    """Read capacities and traffic of a request against a cluster.

    Raises `UnknownTopic`, `UnknownBroker`, and `ConflictingFields` if a topic has another number of partitions than
    rates.
    """
    names = [*scope.topics, *(topic.name for topic in scope.others)]
    _require_topics(request, names)
    capacity = capacities_of(request.capacity, brokers)
    rack_of, racks = _racks_of(brokers)
    return Resources(
        names=_known(request, sizes, rates, has_vcpu=bool(capacity[:, _CPU].any())),
        scope=_traffic(
            request, scope.topics, scope.topic_of, sizes.size_bytes, None if rates is None else rates.of_rows
        ),
        others=_traffic_of_others(request, scope.others, sizes, rates),
        other_replicas=_positions(scope.others, brokers),
        capacity=capacity,
        rack_of=rack_of,
        racks=racks,
        cpu_model=request.cpu_model or CpuModel(),
        follower_fetching=request.follower_fetching,
        cautions=tuple(_cautions(request, names, rates, racks)),
    )


_CPU = 3


def _factors(replicas: Int32s) -> Int64s:
    return np.asarray(np.count_nonzero(replicas != NO_REPLICA, axis=1), np.int64)


def _known(
    request: ResourceFields, sizes: PartitionSizes, rates: IngressRates | None, *, has_vcpu: bool
) -> tuple[Resource, ...]:
    """The resources with a known load; the processor's only if the request or a capacity is about it."""
    names: list[Resource] = []
    if sizes.is_known.any() or not len(sizes.is_known):
        names.append("disk")
    if rates is not None:
        names += ["nic_in", "nic_out"]
        if has_vcpu or request.cpu_model is not None:
            names.append("cpu")
    return tuple(names)


def _traffic(
    request: ResourceFields, topics: Sequence[str], topic_of: Int64s, size_bytes: Int64s, ingress: Int64s | None
) -> Traffic:
    rates = np.zeros(len(topic_of), np.int64) if ingress is None else ingress
    size_bytes, rates = (grown_rows(request, topics, topic_of, amounts) for amounts in (size_bytes, rates))
    return Traffic(topic_of, size_bytes, rates, np.array(topic_factors(request.consumers, topics, 0.0), np.float64))


def _traffic_of_others(
    request: ResourceFields, others: Sequence[Topic], sizes: PartitionSizes, rates: IngressRates | None
) -> Traffic:
    none = np.zeros(0, np.int64)
    by_topic = {} if rates is None else rates.of_others(others)
    counts = [len(topic.partition_ids) for topic in others]
    return _traffic(
        request,
        [topic.name for topic in others],
        np.repeat(np.arange(len(others)), counts),
        np.concatenate([none, *(sizes.of_others[topic.name] for topic in others)]),
        np.concatenate(
            [none, *(by_topic.get(topic.name, np.zeros(n, np.int64)) for topic, n in zip(others, counts, strict=True))]
        ),
    )


def _positions(others: Sequence[Topic], brokers: BrokerTable) -> Int32s:
    lists = stacked([topic.destination.replicas for topic in others])
    return positions_of(lists, brokers.ids) if lists.size else np.full((len(lists), 1), NO_REPLICA, np.int32)


def _racks_of(brokers: BrokerTable) -> tuple[Int32s, tuple[str, ...]]:
    """The racks that clients are in: as of the table, else the brokers' own ones if each has one."""
    names = tuple(sorted({broker.rack for broker in brokers.known if broker.rack is not None}))
    if brokers.racks or any(broker.rack is None for broker in brokers.known):
        return brokers.rack_of, brokers.racks
    return np.array([names.index(broker.rack or "") for broker in brokers.known], np.int32), names


def _require_topics(request: ResourceFields, names: Sequence[str]) -> None:
    known = set(names)
    stated: Mapping[str, Mapping[str, float]] = {"consumers": request.consumers, "growth": request.growth}
    for name, by_topic in stated.items():
        for topic in by_topic:
            if topic != EVERY and topic not in known:
                detail = f"there is no topic {topic} in the snapshot{suggestion(topic, names)}"
                raise UnknownTopic(detail, path=(name, topic), value=topic)


def _cautions(
    request: ResourceFields, names: Sequence[str], rates: IngressRates | None, racks: Sequence[str]
) -> list[Caution]:
    cautions = []
    missing = [] if rates is None else [name for name in names if name not in rates.reported]
    if missing:
        detail = (
            f"the ingress rates of {len(missing)} of {len(names)} topics are unknown, and count as 0 in `loads`: "
            + ", ".join(missing[:NAMED_TOPICS])
        )
        cautions.append(Caution("unknown_rates", detail, topics=tuple(missing[:NAMED_TOPICS])))
    if request.follower_fetching and not racks:
        detail = "consumers fetch from the replica in their rack, and racks are unknown: leaders serve all of them"
        cautions.append(Caution("follower_fetching_ignored", detail))
    return cautions


_CPU_COLUMN = RESOURCES.index("cpu")


def in_unit(amount: int | None, column: int) -> Json:
    """A load as documents have it: vCPU with three decimals, and integers of everything else."""
    if amount is None or column != _CPU_COLUMN:
        return amount
    return round(amount / MILLION, 3)


_OF_LEADERS = frozenset(("nic_out", "cpu", "leaders"))
"""Goals that depend on which replica leads."""


def objective_of(
    request: ReassignmentRequest,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
    loads: Resources,
    factors: Int64s,
    *,
    is_weighted: bool,
) -> ResourceObjective | None:
    """The objective over resources; None if the request is about counts, or bytes or throughput without weights.

    Parameters
    ----------
    factors : (rows,) int64 replication factors after the change.

    Raises
    ------
    ConflictingFields : a field that does not go together with resources.
    SizesMissing, RatesMissing : the loads of a goal are unknown.
    """
    resources, limits = request.balance.resources, request.limits.stated()
    by_weight = is_weighted and request.balance.replicas_by != "count" and not request.leaders_only
    by_weight = by_weight and request.replicas_balance.tolerance is not None
    if not (limits or resources or by_weight or request.objective != "balance"):
        return None
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)
    for name, path in _balanced(request):
        if name == "disk":
            sizes.require("a balance of disk", path)
        elif name in ("nic_in", "nic_out", "cpu"):
            require_rates(f"a balance of {name}", path, scope, rates)
    return ResourceObjective(_priorities(request), loads.row_loads(factors), leads_afterwards(request))


def _balanced(request: ReassignmentRequest) -> Iterator[tuple[str, FieldPath]]:
    """What is balanced, and the field that says so."""
    if isinstance(request.objective, GoalsRequest):
        for place, goal in enumerate(request.objective.goals):
            yield goal.goal, ("objective", "goals", place)
    elif request.objective == "balance":
        yield GOAL_OF[request.balance.replicas_by], ("balance", "replicas_by")
        for place, name in enumerate(request.balance.resources):
            yield name, ("balance", "resources", place)


def _priorities(request: ReassignmentRequest) -> tuple[tuple[Goal, ...], ...]:
    objective = request.objective
    if isinstance(objective, GoalsRequest):
        return tuple((Goal(goal.goal, Fraction(repr(goal.tolerance))),) for goal in objective.goals)
    if objective == "relieve":
        return ()
    joint: dict[str, Goal] = {name: Goal(name) for name in request.balance.resources}
    for name, balance in (
        (GOAL_OF[request.balance.replicas_by], request.replicas_balance),
        ("leaders", request.leaders_balance),
    ):
        if balance.tolerance is not None and not (name == "leaders" and leads_afterwards(request)):
            joint.setdefault(name, _goal(name, balance))
    return (tuple(joint.values()),) if joint else ()


def leads_afterwards(request: ReassignmentRequest) -> bool:
    """Whether constraints on leaders are met by choosing them after the replicas, within the limits."""
    return bool(request.preferred_racks or request.min_leaders_per_broker or request.spread_leaders)


def _goal(name: str, balance: Balance) -> Goal:
    return Goal(name, balance.tolerance or Fraction(0))


def _conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, Json, str]]:
    together = "limits, balance.resources, objective and weights of bytes place replicas and leaders together"
    if request.leaders_only:
        yield ("leaders_only",), True, f"{together}, and leaders_only moves no replica"
    for name in ("preferred_racks", "min_leaders_per_broker", "spread_leaders"):
        balanced = [goal.name for group in _priorities(request) for goal in group if goal.name in _OF_LEADERS]
        if getattr(request, name) and balanced:
            words = f"{name} chooses leaders after the replicas, and the goal {balanced[0]} depends on leaders"
            yield (name,), balanced[0], words
    if request.copysets is not None:
        detail = f"{together}, and copysets restricts replicas that are balanced by one load"
        yield ("copysets",), as_json(request.copysets), detail
    if request.trade_off:
        yield ("trade_off",), True, f"{together}, and trade_off is of balanced counts"
    if request.balance.leaders_by != "count":
        detail = f"{together}: leaders are balanced by count, and what they send by the resource nic_out"
        yield ("balance", "leaders_by"), request.balance.leaders_by, detail
    if request.balance.leaders == "preferred":
        yield ("balance", "leaders"), "preferred", f"{together}, and preferred keeps the order of replica lists"
    if isinstance(request.balance.leaders, Tolerance) and request.balance.leaders.below is not None:
        detail = f"{together}: leaders are as far below their mean as above it"
        yield ("balance", "leaders", "below"), request.balance.leaders.below, detail
    if request.objective != "balance":
        yield from _of_objective(request)


def _of_objective(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, Json, str]]:
    is_of_topics = isinstance(request.objective, GoalsRequest) and any(
        goal.goal == TOPIC_REPLICAS for goal in request.objective.goals
    )
    if request.pins and is_of_topics:
        detail = "the goal topic_replicas counts the replicas that it places, and those of pins are placed already"
        yield ("pins",), len(request.pins), detail
    if request.objective == "relieve" and not request.limits.stated() and request.limits.log_dirs is None:
        yield ("objective",), "relieve", "objective relieve brings brokers below limits, and limits has none"
    for name in ("resources", "replicas", "leaders"):
        if getattr(request.balance, name) not in (None, (), [], "keep"):
            detail = f"the objective states what is balanced, and balance.{name} does, too; leave one of them out"
            yield ("balance", name), name, detail
