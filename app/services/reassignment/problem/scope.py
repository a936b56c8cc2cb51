"""The partitions that a reassignment may move, as rows: current replicas and target replication factors."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Cluster, Int32s, Int64s, Placement, Topic
from app.core.reassignment.model import Domain, MovementProblem
from app.core.reassignment.parts import part_of
from app.core.reassignment.solvers.flow.places import can_be_placed
from app.core.replica_lists import not_among, stacked
from app.errors import FieldPath
from app.errors import every as errors
from app.formats.syntax.quantities import first_of
from app.services.cautions import Caution, caution
from app.services.plans import Allowance
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.requests.parts import EVERY
from app.services.reassignment.requests.request import ReassignmentRequest

NAMED_PARTITIONS = 20
"""How many partitions a problem names; it counts them all."""


@dataclass(frozen=True, slots=True, eq=False)
class PartitionScope:
    """Partitions as rows, by topic name and partition id.

    Parameters
    ----------
    topics : their names. starts : (topics + 1,) int64, where each one's rows begin.
    topic_of : (rows,) int64 indices into `topics`.
    partition_ids : (rows,) int32. is_new : (rows,) bool, partitions that the request adds.
    before : (rows, widest) int32 broker ids where the replicas are, the preferred leader first, padded.
    leaders : (rows,) int32 brokers that lead now, or `NO_LEADER`.
    in_sync : (rows, widest) bool, replicas that are in sync now. Replicas of a partition that is being reassigned
        count as in sync, since the reassignment completes only then.
    size_bytes : (rows,) int64 or `UNKNOWN_SIZE`; 0 of a new partition.
    factors : (rows,) int32 target replication factors; ignored for pinned rows.
    pins : by row the place of its pin in the request.
    described : the topics of the scope, as the snapshot has them.
    others : the topics outside the scope, of which nothing moves.
    """

    topics: tuple[str, ...]
    starts: Int64s
    topic_of: Int64s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    is_new: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    leaders: Int32s = field(repr=False)
    in_sync: Bools = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    factors: Int32s = field(repr=False)
    pins: Mapping[int, int]
    described: tuple[Topic, ...] = field(repr=False)
    others: tuple[Topic, ...] = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    def name(self, row: int) -> str:
        """The partition of a row, as Kafka's tools name it."""
        return f"{self.topics[self.topic_of[row]]}-{self.partition_ids[row]}"

    def placements(self, replicas: Int32s) -> list[Placement]:
        """(rows, widest) int32 broker ids by topic; one whose ids have gaps is several runs of partitions."""
        runs = []
        for topic, (start, stop) in zip(self.topics, pairwise(self.starts.tolist()), strict=True):
            gaps = np.flatnonzero(np.diff(self.partition_ids[start:stop]) != 1) + 1
            for begin, end in pairwise([start, *(start + gaps).tolist(), stop]):
                if begin < end:
                    width = max(int((replicas[begin:end] != NO_REPLICA).sum(axis=1).max()), 1)
                    rows = np.ascontiguousarray(replicas[begin:end, :width])
                    runs.append(Placement(topic, int(self.partition_ids[begin]), rows))
        return runs


def scope_of(request: ReassignmentRequest, cluster: Cluster, allowance: Allowance) -> PartitionScope:
    """The rows that a request may move.

    Raises
    ------
    UnknownTopic, UnknownPartition, InvalidPartitions, ConflictingFields : named by the request.
    ObserversNotKept : it names a topic that Confluent Server places.
    ReassignmentUnderWay : some of them are on their way already. LimitExceeded
    """
    by_name = {topic.name: topic for topic in cluster.topics}
    _require_known(request, by_name)
    names, staying = _names(request, by_name)
    topics = [by_name[name] for name in names]
    grown = [_grown(request, topic) for topic in topics]
    _check_size(topics, grown, allowance)
    cautions = [*staying, *_under_way(request, topics)]
    counts = [len(topic.partition_ids) + len(new) for topic, new in zip(topics, grown, strict=True)]
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
    ids, leaders, sizes = _columns(topics, grown)
    is_new = np.concatenate(
        [np.zeros(0, np.bool_), *(np.arange(n) >= n - len(new) for n, new in zip(counts, grown, strict=True))]
    )
    before = on_rows([topic.destination.replicas for topic in topics], ~is_new, len(is_new))
    now = np.count_nonzero(before != NO_REPLICA, axis=1).astype(np.int32)
    factors = now.copy()
    for topic, (start, stop) in zip(topics, pairwise(starts.tolist()), strict=True):
        rows = slice(start, stop)
        if topic.name in request.replication_factor:
            factors[rows] = request.replication_factor[topic.name]
        elif is_new[rows].any():
            factors[rows][is_new[rows]] = np.bincount(now[rows][~is_new[rows]], minlength=2).argmax()
    pins = _pins(request, names, starts, ids)
    left = set(by_name) - set(names)
    return PartitionScope(
        topics=tuple(names),
        starts=starts,
        topic_of=np.repeat(np.arange(len(names)), counts),
        partition_ids=ids,
        is_new=is_new,
        before=before,
        leaders=leaders,
        in_sync=_in_sync(topics, is_new, before),
        size_bytes=sizes,
        factors=factors,
        pins=pins,
        described=tuple(topics),
        others=tuple(topic for topic in cluster.topics if topic.name in left),
        cautions=tuple(cautions),
    )


def _require_known(request: ReassignmentRequest, by_name: Mapping[str, Topic]) -> None:
    for path, name, has_to_be_in_scope in _named(request):
        if name not in by_name:
            raise errors.UnknownTopic(f"there is no topic {name} in the snapshot", path=path, value=name)
        if has_to_be_in_scope and request.topics is not None and name not in request.topics:
            detail = f"topic {name} is not among `topics`, which lists those that may be moved"
            raise errors.ConflictingFields(detail, path=path, value=name)


def _names(request: ReassignmentRequest, by_name: Mapping[str, Topic]) -> tuple[list[str], list[Caution]]:
    """The topics of the scope. Those that Confluent Server places stay as they are, with a warning."""
    placed = sorted(name for name, topic in by_name.items() if topic.is_placed_by_confluent)
    changes = [(path, name) for path, name, is_changed in _named(request) if is_changed or path[0] == "topics"]
    if request.topics is None:
        left = np.array([*request.remove_brokers, *request.replace_brokers], np.int64)
        field_name = "remove_brokers" if request.remove_brokers else "replace_brokers"
        changes += [((field_name,), name) for name in placed if np.isin(by_name[name].destination.replicas, left).any()]
    for path, name in changes:
        if name in placed:
            detail = (
                f"topic {name} would change, and a plan loses its observers or placement constraints of Confluent "
                "Server: move it with Confluent's tools, and list the other topics in `topics`"
            )
            raise errors.ObserversNotKept(detail, path=path, value=name)
    if request.topics is not None or not placed:
        return sorted(by_name if request.topics is None else request.topics), []
    staying = caution("observers_stay", named=", ".join(placed[:5]), topics=tuple(placed))
    return sorted(by_name.keys() - placed), [staying]


def _named(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, str, bool]]:
    """Every topic that a request names, with the field, and whether it has to be in the scope."""
    lists: tuple[tuple[FieldPath, Sequence[str], bool], ...] = (
        (("topics",), request.topics or (), False),
        (("spread_leaders",), request.spread_leaders, True),
        (("balance", "per_topic", "topics"), request.balanced_topics, True),
    )
    for path, listed, has_to_be_in_scope in lists:
        for place, name in enumerate(listed):
            yield (*path, place), name, has_to_be_in_scope
    for field_name in ("replication_factor", "partitions", "min_leaders_per_broker"):
        for name in getattr(request, field_name):
            yield (field_name, name), name, True
    for field_name in ("topic_sets", "ingress_bytes_per_s", "placement"):
        names = getattr(request, field_name) or ()
        for name in () if isinstance(names, str) else names:
            yield (field_name, name), name, False
    for name in request.preferred_racks:
        if name != EVERY:
            yield ("preferred_racks", name), name, True
    for at, isolated in enumerate(request.isolate):
        for place, name in enumerate(isolated.topics):
            yield ("isolate", at, "topics", place), name, True
    for at, pin in enumerate(request.pins):
        yield ("pins", at, "topic"), pin.topic, True


def _grown(request: ReassignmentRequest, topic: Topic) -> Sequence[int]:
    """The ids of a topic's new partitions, which follow its last one."""
    total = request.partitions.get(topic.name)
    if total is None:
        return ()
    now = len(topic.partition_ids)
    if total < now:
        raise errors.InvalidPartitions(
            f"topic {topic.name} has {now} partitions and is to have {total}; Kafka takes no partition away",
            kafka=errors.KafkaError("InvalidPartitionsException"),
            path=("partitions", topic.name),
            value=total,
            minimum=now,
        )
    if now == 0 or int(topic.partition_ids[-1]) != now - 1:
        detail = f"the snapshot does not have all partitions of {topic.name}: which are new is not known"
        raise errors.ConflictingFields(detail, path=("partitions", topic.name), value=total)
    return range(now, total)


def _check_size(topics: Sequence[Topic], grown: Sequence[Sequence[int]], allowance: Allowance) -> None:
    partitions = sum(len(topic.partition_ids) for topic in topics) + sum(map(len, grown))
    allowance.limits.check_number("partitions", partitions, path=("topics",))
    allowance.check_work(partitions, path=("topics",))


def _under_way(request: ReassignmentRequest, topics: Sequence[Topic]) -> list[Caution]:
    """Raise `ReassignmentUnderWay` if partitions are being reassigned, or warn if that is merged."""
    moving = [
        f"{topic.name}-{partition}" for topic in topics for partition in topic.partition_ids[topic.is_moving].tolist()
    ]
    if not moving:
        return []
    if request.running_reassignment == "refuse":
        raise errors.ReassignmentUnderWay(
            f"{len(moving)} partitions are being reassigned already: {first_of(moving, NAMED_PARTITIONS)}; "
            '`"running_reassignment": "merge"` plans from where they are going',
            path=("running_reassignment",),
            value=request.running_reassignment,
            partitions=moving[:NAMED_PARTITIONS],
            count=len(moving),
        )
    of_topics = tuple(topic.name for topic in topics if topic.is_moving.any())
    return [caution("merged_with_running_reassignment", moving=moving, topics=of_topics)]


def on_rows(lists: Sequence[Int32s], at: Bools | Int64s, rows: int) -> Int32s:
    """(rows, widest) int32: the lists of several topics at these rows, and padding at the others."""
    known = stacked(lists)
    found = np.full((rows, max(1, known.shape[1])), NO_REPLICA, np.int32)
    found[at, : known.shape[1]] = known
    return found


def _in_sync(topics: Sequence[Topic], is_new: Bools, before: Int32s) -> Bools:
    """(rows, widest) bool: which replicas are in sync; of partitions that move, every one counts as such."""
    is_moving = np.zeros(len(is_new), np.bool_)
    is_moving[~is_new] = np.concatenate([np.zeros(0, np.bool_), *(topic.is_moving for topic in topics)])
    is_behind = not_among(before, on_rows([topic.isr for topic in topics], ~is_new, len(is_new)))
    return np.asarray((before != NO_REPLICA) & (~is_behind | is_moving[:, None]), np.bool_)


def _columns(topics: Sequence[Topic], grown: Sequence[Sequence[int]]) -> tuple[Int32s, Int32s, Int64s]:
    """Partition ids, leaders and sizes, row by row."""
    ids, leaders, sizes = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for topic, new in zip(topics, grown, strict=True):
        ids += [topic.partition_ids, np.array(new, np.int32)]
        leaders += [topic.leaders, np.full(len(new), NO_LEADER, np.int32)]
        sizes += [topic.size_bytes, np.zeros(len(new), np.int64)]
    return np.concatenate(ids), np.concatenate(leaders), np.concatenate(sizes)


def _pins(request: ReassignmentRequest, names: Sequence[str], starts: Int64s, ids: Int32s) -> Mapping[int, int]:
    index_of = {name: index for index, name in enumerate(names)}
    pins = {}
    for at, pin in enumerate(request.pins):
        start, stop = starts[index_of[pin.topic] :][:2].tolist()
        row = start + int(np.searchsorted(ids[start:stop], pin.partition))
        if row == stop or ids[row] != pin.partition:
            detail = f"topic {pin.topic} has no partition {pin.partition}"
            raise errors.UnknownPartition(detail, path=("pins", at, "partition"), value=pin.partition)
        pins[row] = at
    return pins


def ready_replicas(brokers: BrokerTable, scope: PartitionScope, before: Int32s) -> Bools:
    """(rows, widest) bool, replicas that are in sync on a broker that is live: Kafka can elect them.

    If a snapshot reports none in sync, those on live brokers count.

    Parameters
    ----------
    before : (rows, widest) int32 positions of `scope.before`.
    """
    is_live = np.append(~brokers.is_offline, False)[before]
    is_known = np.asarray(scope.in_sync.any(axis=1))[:, None]
    return np.asarray(is_live & (scope.in_sync | ~is_known), np.bool_)


def kept_first(
    brokers: BrokerTable, scope: PartitionScope, before: Int32s, is_ready: Bools, current: Int32s, is_copied: Bools
) -> Bools | None:
    """As `MovementProblem.in_sync`; None if it is all current brokers, and none that is not ready would stay alone.

    If no replica that is ready may stay, those in sync on a dead broker are kept first, else those on live brokers. The
    replicas of a pinned partition are all alike.

    Parameters
    ----------
    before, is_ready : as of `ready_replicas`. current, is_copied : as of `MovementProblem`.
    """
    is_live, stays = np.append(~brokers.is_offline, False)[before], np.append(~brokers.is_removed, False)[before]
    rank = np.where(is_ready, 3, np.where(scope.in_sync, 2, np.where(is_live, 1, 0)))
    best = np.where(stays, rank, 0).max(axis=1, initial=0)[:, None]
    first = is_ready | (stays & (rank == best) & (best > 0))
    kept = (current != NO_REPLICA) & ~not_among(current, np.where(first, before, NO_REPLICA)) & ~is_copied
    kept[list(scope.pins)] = current[list(scope.pins)] != NO_REPLICA
    needs_copy = is_ready.any(axis=1) & stays.any(axis=1) & ~(is_ready & stays).any(axis=1)
    return None if not needs_copy.any() and (kept | is_copied | (current == NO_REPLICA)).all() else kept


def leaders_to_keep(
    brokers: BrokerTable, scope: PartitionScope, movement: MovementProblem, before: Int32s, pins: Collection[int]
) -> Int32s:
    """(rows,) int32 as `MovementProblem.must_keep` of partitions whose factor is lowered: the preferred leader.

    If it is out of sync and others are not: the present leader if that is in sync, else the first of the list that is.

    Parameters
    ----------
    before : (rows, widest) int32 positions of `scope.before`. pins : the rows of pins, which determine their leaders.
    """
    current, stays = movement.current, _may_stay(movement)
    # A successor has to be copied, and leads all the same.
    in_sync = stays if movement.in_sync is None else stays & (movement.in_sync | movement.is_copied)
    has_behind = np.logical_and((stays & ~in_sync).any(axis=1), in_sync.any(axis=1))[:, None]
    is_preferred = current == before[:, :1]
    is_eligible = np.where(has_behind, in_sync & ~movement.is_copied, stays & is_preferred)
    is_eligible &= ~np.append(brokers.is_removed, False)[current]
    is_leader = brokers.ids[current] == scope.leaders[:, None]
    order = np.where(is_eligible, np.where(is_preferred, 0, np.where(is_leader, 1, 2)), 3)
    at = order.argmin(axis=1)[:, None]
    kept = np.where(np.take_along_axis(is_eligible, at, axis=1), np.take_along_axis(current, at, axis=1), NO_REPLICA)
    is_lowered = movement.factors < np.count_nonzero(before != NO_REPLICA, axis=1)
    is_lowered[list(pins)] = False
    return np.where(is_lowered, kept[:, 0], NO_REPLICA).astype(np.int32)


def with_source_kept(movement: MovementProblem, is_ready: Bools, before: Int32s) -> MovementProblem:
    """The problem in which no partition loses its replicas in sync without a new one, which is copied from them.

    If none in sync may stay, enough others may not stay either to make at least one replica new. If that has no legal
    placement, the partition counts as one without replicas in sync.

    Parameters
    ----------
    is_ready, before : as of `ready_replicas`.
    """
    if movement.in_sync is None or not len(movement.current):
        return movement
    stays, factors = _may_stay(movement) & ~movement.is_copied, movement.factors
    is_source = ~not_among(movement.current, np.where(is_ready, before, NO_REPLICA)) & (movement.current != NO_REPLICA)
    is_at_risk = is_ready.any(axis=1) & ~(stays & is_source).any(axis=1)
    rows = np.flatnonzero(is_at_risk & (np.count_nonzero(stays, axis=1) >= factors) & (factors > 0))
    domains, domain_of, in_sync = list(movement.domains), movement.domain_of.copy(), movement.in_sync.copy()
    for row in rows.tolist():
        # Those that are kept first are tried first.
        order = np.argsort(~in_sync[row], kind="stable")
        others = movement.current[row, order[stays[row, order]]].tolist()
        for kept in combinations(others, int(factors[row]) - 1):
            domain = _without(movement.domains[movement.domain_of[row]], set(others).difference(kept))
            alone = replace(part_of(movement, np.array([row]), movement.target), domains=(domain,))
            if can_be_placed(alone).all():
                domain_of[row] = len(domains)
                domains.append(domain)
                break
        else:
            in_sync[row] = False
    return replace(movement, domains=tuple(domains), domain_of=domain_of, in_sync=in_sync)


def _without(domain: Domain, brokers: Collection[int]) -> Domain:
    """The domain of a partition that has no replica on these brokers."""
    others = np.ones_like(domain.may_keep)
    others[list(brokers)] = False
    return replace(domain, may_keep=domain.may_keep & others, may_receive=domain.may_receive & others)


def _may_stay(movement: MovementProblem) -> Bools:
    """(rows, widest) bool, current brokers that may keep the replica, in racks that may have one."""
    table = movement.table
    may_keep = np.pad(table.may_keep & (table.most[:, movement.rack_of] > 0), ((0, 0), (0, 1)))
    return np.asarray(may_keep[movement.domain_of[:, None], movement.current], np.bool_)
