"""The request and the cluster as the problem of the core, and the blockers in any schedule."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.core.measures.partition_table import PartitionTable
from app.core.model import NO_REPLICA, Bools, Cluster, Int32s, Int64s
from app.core.reassignment.resource_problem import NO_LIMIT, RESOURCES, loads_of
from app.core.replicas.options import RackMode
from app.core.restarts import RestartProblem
from app.core.restarts.model import NO_SLACK_LIMIT
from app.errors.every import ConflictingFields, Json, UnknownBroker
from app.services.cautions import Caution, caution
from app.services.plans import Allowance, Site
from app.services.plans.record import own_fields
from app.services.reassignment.problem.brokers import NAMED_BROKERS, brokers_of
from app.services.reassignment.problem.loads import loads_of as weights_of
from app.services.reassignment.problem.loads import with_recorded_rates
from app.services.reassignment.problem.objectives import limits_of, require_loads
from app.services.reassignment.problem.resources import resources_of
from app.services.reassignment.problem.scope import scope_of
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.restarts.requests import RestartRequest

_NIC_IN = RESOURCES.index("nic_in")
_OF_LEADERS = ("nic_out", "cpu")
"""Resources that a broker uses more of if it leads more, besides the number of leaders."""


@dataclass(frozen=True, slots=True, eq=False)
class Restart:
    """A restart to plan, with nothing left to look up.

    Parameters
    ----------
    core : the problem of waves, with the positions of `table`; its resources are `columns` of `RESOURCES`.
    loads, upper : (brokers, columns) int64 of now, and limits or `NO_LIMIT`.
    quorum_is_at_risk : whether the restart of one controller leaves no majority.
    """

    request: RestartRequest
    table: PartitionTable
    core: RestartProblem
    columns: tuple[int, ...]
    loads: Int64s = field(repr=False)
    upper: Int64s = field(repr=False)
    seconds: NDArray[np.float64] = field(repr=False)
    quorum_is_at_risk: bool
    cautions: tuple[Caution, ...]
    canonical: dict[str, Json] = field(repr=False)


def problem_of(request: RestartRequest, site: Site, allowance: Allowance) -> Restart:
    """Read the request against the cluster.

    Raises
    ------
    ConflictingFields : no broker is up, a broker has no rack, a broker never catches up, or a limit is not usable.
    UnknownBroker, UnknownTopic, CapacityMissing, RatesMissing, LimitExceeded
    """
    cluster = site.cluster or Cluster("", ())
    cluster = replace(cluster, topics=tuple(sorted(cluster.topics, key=lambda topic: topic.name)))  # as rows of loads
    table = PartitionTable.of(cluster)
    allowance.limits.check_number("partitions", len(table.replicas), path=("snapshot_id",))
    allowance.check_work(len(table.replicas), path=("snapshot_id",))
    is_up = table.is_listed & ~table.brokers.fenced
    if not is_up.any():
        raise ConflictingFields("no broker of the snapshot is up, so that none can be restarted", path=("snapshot_id",))
    in_sync, cautions = _in_sync(table, is_up)
    min_isr, assumed = _min_isr(request, cluster, table)
    loads, upper, gain, columns, ingress, of_loads = _loads(request, cluster, table, is_up, allowance)
    is_voter, most_voters = _voters(request, table, is_up)
    core = RestartProblem(
        is_up=is_up,
        in_sync=in_sync,
        min_isr=min_isr,
        leaders=table.leaders,
        group_of=_racks(table, is_up) if request.per == "rack" else np.zeros(len(is_up), np.int32),
        is_voter=is_voter,
        most_voters=max(1, most_voters),
        most=request.max_brokers_per_wave or len(is_up),
        gain=gain,
        slack=np.where(upper < NO_LIMIT, upper - loads, NO_SLACK_LIMIT),
    )
    return Restart(
        request=request,
        table=table,
        core=core,
        columns=columns,
        loads=loads,
        upper=upper,
        seconds=_seconds(request, table, ingress, is_up),
        quorum_is_at_risk=bool(request.controllers) and most_voters < 1,
        cautions=(*cautions, *assumed, *of_loads, *_of_rates(request, ingress), *_of_brokers(table, is_up)),
        canonical=own_fields(request),
    )


def _in_sync(table: PartitionTable, is_up: Bools) -> tuple[Int32s, list[Caution]]:
    """(rows, widest) int32 in-sync replicas on brokers that are up, in list order, padded on the right."""
    cautions = []
    in_sync = table.in_sync
    if len(in_sync) and not in_sync.any():
        in_sync = table.replicas != NO_REPLICA
        cautions.append(Caution("isr_unknown", "the snapshot has no in-sync replicas; all replicas count as in sync"))
    counts = in_sync & np.append(is_up, False)[table.replicas]
    order = np.argsort(~counts, axis=1, kind="stable")
    lists = np.where(counts, table.replicas, np.int32(NO_REPLICA))
    return np.take_along_axis(lists, order, axis=1), cautions


def _min_isr(request: RestartRequest, cluster: Cluster, table: PartitionTable) -> tuple[Int64s, list[Caution]]:
    default = request.defaults.min_insync_replicas or 1
    unknown = tuple(topic.name for topic in cluster.topics if topic.min_insync_replicas is None)
    least = [topic.min_insync_replicas or default for topic in cluster.topics]
    cautions = []
    if unknown:
        topics = unknown[:NAMED_BROKERS]
        cautions.append(caution("min_isr_assumed", unknown=unknown, of=least, least=default, topics=topics))
    return np.repeat(np.array(least, np.int64), np.diff(table.starts)), cautions


def _voters(request: RestartRequest, table: PartitionTable, is_up: Bools) -> tuple[Bools, int]:
    """(brokers,) bool, the voters; and how many may be down besides those that are."""
    known = set(table.brokers.ids.tolist())
    for place, broker in enumerate(request.controllers):
        if broker not in known:
            detail = f"there is no broker {broker} in the snapshot; controllers that are no brokers are left out"
            raise UnknownBroker(detail, path=("controllers", place), value=broker)
    is_voter = np.isin(table.brokers.ids, np.array(request.controllers, np.int64))
    return is_voter, (len(request.controllers) - 1) // 2 - int((is_voter & ~is_up).sum())


def _racks(table: PartitionTable, is_up: Bools) -> Int32s:
    if without := table.brokers.ids[is_up & (table.brokers.rack_of < 0)].tolist():
        detail = f"waves are per rack, and {len(without)} brokers have no rack, {without[0]} first"
        raise ConflictingFields(detail, path=("per",), value="rack")
    return table.brokers.rack_of


def _loads(
    request: RestartRequest, cluster: Cluster, table: PartitionTable, is_up: Bools, allowance: Allowance
) -> tuple[Int64s, Int64s, Int64s, tuple[int, ...], Int64s | None, tuple[Caution, ...]]:
    """Loads and limits of brokers, the gain of a new leader, the columns; received bytes/s, if known; warnings.

    The loads equal those of a reassignment without changes, with the current leaders.
    """
    stated = ReassignmentRequest(
        capacity=request.capacity,
        ingress_bytes_per_s=request.ingress_bytes_per_s,
        consumers=request.consumers,
        cpu_model=request.cpu_model,
        limits=request.limits.of_brokers,
        remove_brokers=table.brokers.ids[~is_up].tolist(),
        rack_mode=RackMode.DISABLED,
        running_reassignment="merge",
    )
    stated = with_recorded_rates(stated, cluster)
    brokers, scope = brokers_of(stated, cluster), scope_of(stated, cluster, allowance)
    weights = weights_of(stated, brokers, scope)
    require_loads(stated, scope, weights)
    resources = resources_of(stated, brokers, scope, weights)
    upper = limits_of(stated, brokers, resources.capacity).upper
    rows = resources.row_loads(np.asarray((table.replicas != NO_REPLICA).sum(axis=1), np.int64))
    loads = loads_of(rows, resources.rack_of, table.replicas, table.leaders)
    columns = tuple(
        RESOURCES.index(name) for name in (*resources.names, "leaders") if name in (*_OF_LEADERS, "leaders")
    )
    picked = list(columns)
    ingress = None if weights.rates is None else loads[:, _NIC_IN]
    gain = (rows.of_leader - rows.of_follower)[:, picked]
    return loads[:, picked], upper[:, picked], gain, columns, ingress, resources.cautions


def _seconds(
    request: RestartRequest, table: PartitionTable, ingress: Int64s | None, is_up: Bools
) -> NDArray[np.float64]:
    """(brokers,) float64 time until a restarted broker has fetched the data written meanwhile.

    A broker that is down for D seconds lacks D·i bytes, and gains on its leaders at C − i bytes/s.
    """
    down, rate = request.restart_seconds, request.catch_up_bytes_per_s
    if ingress is None or rate is None:
        return np.full(len(is_up), down)
    slow = np.flatnonzero(is_up & (ingress >= rate))
    if len(slow):
        broker = int(slow[0])
        detail = (
            f"broker {table.brokers.ids[broker]} never catches up: it receives {ingress[broker]} bytes/s, and "
            f"catch_up_bytes_per_s is {rate:g}"
        )
        raise ConflictingFields(detail, path=("catch_up_bytes_per_s",), value=rate)
    return np.asarray(down + down * ingress / np.where(is_up, rate - ingress, 1.0), np.float64)


def _of_rates(request: RestartRequest, ingress: Int64s | None) -> Iterator[Caution]:
    if request.catch_up_bytes_per_s is None:
        yield Caution("catch_up_unknown", "catch_up_bytes_per_s is not stated, and `seconds` has no time to catch up")
    elif ingress is None:
        yield caution("unknown_rates.restart")


def _of_brokers(table: PartitionTable, is_up: Bools) -> Iterator[Caution]:
    if down := table.brokers.ids[~is_up].tolist():
        yield caution("brokers_not_restarted", down=down, brokers=tuple(down[:NAMED_BROKERS]))
