"""The health of a cluster as it is, or after a reassignment: loads, excess over limits, the first load to fail,
and, of a cluster as it is, the least repair.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import positions_of
from app.core.measures.violations import NAMED_PARTITIONS, Violation
from app.core.model import NO_REPLICA, Assignment, Cluster, Int32s, Int64s
from app.core.reassignment.problem import LogDirTable
from app.core.reassignment.resource_problem import NO_LIMIT, RESOURCES
from app.core.replica_lists import not_among, per_broker, widened
from app.core.replicas.options import RackMode
from app.errors.every import Json, NotFeasible
from app.services.amounts import PricesRequest
from app.services.bodies import AnswerRecord, one_of
from app.services.cautions import Caution
from app.services.plans import Allowance, LossSelection, as_json
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.problem.resolve import resolve
from app.services.reassignment.reports.loads import LoadReport, cross_rack_of, in_unit, load_report
from app.services.reassignment.reports.losses import Amount, LossTable, OverLimit, ResourceName, loss_table, losses_file
from app.services.reassignment.requests.parts import InRack, ResourceFields
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.solve import least_repair

_DISK = RESOURCES.index("disk")
_NAMED_BROKERS = 5


def reassigned(problem: ReassignmentProblem, after: Mapping[str, Assignment]) -> Int32s:
    """(rows, widest) int32 positions of the problem's partitions, in `after` with their new lists."""
    scope, before = problem.scope, problem.before
    width = max([before.shape[1], *(assignment.replicas.shape[1] for assignment in after.values())])
    lists = widened(before, width).copy()
    for name, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True):
        if (assignment := after.get(name)) is not None:
            rows = start + np.searchsorted(scope.partition_ids[start:stop], assignment.partition_ids)
            lists[rows] = widened(positions_of(assignment.replicas, problem.brokers.ids), width)
    return lists


def disk_violations(problem: ReassignmentProblem, report: LoadReport, lists: Int32s) -> Iterator[Violation]:
    """Partitions that are copied to brokers whose disk is then above its limit, or its capacity, by topic.

    A broker has its previous replicas until all partitions are moved: a reassignment that is executed at once needs
    the bytes of both. Disks without limit and capacity do not count, nor do partitions of unknown size.
    """
    if "disk" not in report.names:
        return
    scope, brokers = problem.scope, len(problem.brokers.ids)
    incoming = np.where(not_among(lists, widened(problem.before, lists.shape[1])), lists, np.int32(NO_REPLICA))
    during = report.before[:, _DISK] + per_broker(incoming, brokers, np.maximum(problem.sizes.size_bytes, 0))
    found: dict[int, str] = {}
    for broker in np.unique(incoming[incoming != NO_REPLICA]).tolist():
        upper = report.upper(broker, _DISK)
        after = int(report.after[broker, _DISK])
        if upper is not None and max(after, int(during[broker])) > upper:
            load = f"{after} bytes afterwards" if after > upper else f"{during[broker]} bytes during the move"
            found[broker] = f"{problem.brokers.ids[broker]} ({load}, {upper} allowed)"
    above = np.asarray(np.isin(incoming, list(found)).any(axis=1))
    for topic, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True):
        rows = start + np.flatnonzero(above[start:stop])
        if not len(rows):
            continue
        named = [found[broker] for broker in np.unique(incoming[rows]).tolist() if broker in found]
        more = f" and {len(named) - _NAMED_BROKERS} more" if len(named) > _NAMED_BROKERS else ""
        detail = (
            f"{len(rows)} partitions of {topic} are copied to brokers whose disk is above its limit: "
            f"{', '.join(named[:_NAMED_BROKERS])}{more}; fewer bytes on them or a higher limit lift it, or batches if "
            "the disk is above it during the move alone"
        )
        partitions = tuple(scope.partition_ids[rows[:NAMED_PARTITIONS]].tolist())
        yield Violation("disk_over_limit", "illegal", topic, len(rows), partitions, detail)


MOST_LOADS_OF_LOSSES = 20_000
"""The most loads of losses in an answer: lost brokers and racks × brokers × resources."""


@dataclass(frozen=True, kw_only=True)
class HealthRequest(ResourceFields):
    """The resources of a cluster, as a request for a check states them.

    Parameters
    ----------
    losses : the brokers and racks whose loss is tabulated; None for no table.
    allow_lower_factor : whether lower replication factors of a reassignment are warnings.
    placement : topics of which all replicas of a partition are to be in one rack.
    """

    losses: LossSelection | None = None
    allow_lower_factor: bool = False
    placement: Mapping[str, InRack] = field(default_factory=dict)

    @property
    def has_resources(self) -> bool:
        """Whether anything is stated that a report on loads needs."""
        return replace(self, defaults=None, allow_lower_factor=False, placement={}) != HealthRequest()


class LogDirOverLimit(AnswerRecord):
    """A log directory above its limit."""

    broker: int
    """Id of the broker."""
    log_dir: str
    """Path of the directory."""
    value: int
    """Bytes of its replicas."""
    limit: int
    """Bytes that it may have."""


class FirstToFail(AnswerRecord, schema="FirstToFailDocument"):
    """The load that is nearest to its limit, or farthest above it, after the worst loss of a kind. A resource without a
    limit has its capacity as limit.
    """

    loss: Annotated[str, one_of(("none", "broker", "rack"))]
    """The loss: nothing, one broker, or one rack."""
    lost_broker: int | None
    """Id of the lost broker; null if no broker is lost, or no loss adds load."""
    lost_rack: str | None
    """Name of the lost rack; null if no rack is lost, or no loss adds load."""
    broker: int
    """Id of the broker with the load."""
    resource: ResourceName
    """Resource of the load."""
    value: Amount
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: Amount
    """The limit of the broker, in the same unit."""
    share: float
    """Load as a share of the limit; it fails above 1."""


class LeastRepair(AnswerRecord, schema="LeastRepairDocument"):
    """The least movement between brokers after which every partition spans as many racks as it can, every hard limit
    holds, and no broker has more bytes than the limits of its log directories together.
    """

    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    moved_replicas: int
    """Number of replicas that are copied."""
    lower_bound_bytes: int
    """No repair moves fewer bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Health:
    """The report on a cluster as it is.

    Parameters
    ----------
    repair : None if the cluster cannot be repaired, which a warning explains, and of a reassignment.
    log_dirs : None unless directories are limited. losses : None unless they are requested.
    violations : disks that a reassignment fills above their limit.
    """

    report: LoadReport = field(repr=False)
    prices: PricesRequest | None
    repair: LeastRepair | None
    cautions: tuple[Caution, ...] = ()
    log_dirs: LogDirTable | None = field(default=None, repr=False)
    losses: LossTable | None = field(default=None, repr=False)
    violations: tuple[Violation, ...] = ()

    @property
    def log_dirs_over_limit(self) -> list[LogDirOverLimit] | None:
        """Log directories that have more bytes than their limit, by broker id and path; None if none is limited."""
        if self.log_dirs is None:
            return None
        return [
            LogDirOverLimit(
                broker=int(self.report.brokers.ids[broker]),
                log_dir=directory.path,
                value=int(self.log_dirs.used_bytes[disk]),
                limit=int(self.log_dirs.max_bytes[disk]),
            )
            for broker, directory, disk in self.log_dirs.over_limit()
        ]

    @property
    def loads_over_limit(self) -> int:
        """The number of loads of brokers, and of log directories, above a limit."""
        return len(self.over_limit) + len(self.log_dirs_over_limit or ())

    @property
    def over_limit(self) -> list[OverLimit]:
        """Brokers above a limit, hard or soft, by id and resource."""
        report = self.report
        places, columns = np.nonzero((report.after > report.limits.upper) & (report.limits.upper < NO_LIMIT))
        return [
            OverLimit(
                int(report.brokers.ids[place]),
                RESOURCES[column],
                in_unit(int(report.after[place, column]), column),
                in_unit(int(report.limits.upper[place, column]), column),
            )
            for place, column in zip(places.tolist(), columns.tolist(), strict=True)
        ]

    @property
    def fails_first(self) -> list[FirstToFail]:
        """The load nearest to its limit or capacity before any loss, after the loss of a broker and of a rack."""
        found = (max(self._shares(loss), key=lambda each: each.share, default=None) for loss in self._losses())
        return [each for each in found if each is not None]

    def losses_csv(self) -> bytes:
        """The loads after every loss as CSV. Raises `LimitExceeded`."""
        return losses_file(self.report, LossSelection())

    @property
    def skew(self) -> dict[str, float]:
        """By resource: the largest load above the mean, as a share of the mean."""
        loads = {name: self.report.after[:, RESOURCES.index(name)] for name in self.report.names}
        return {
            name: round(float(load.max() / load.mean()) - 1, 4) if load.sum() else 0.0 for name, load in loads.items()
        }

    def as_json(self) -> dict[str, Json]:
        """The further fields of the answer to a check."""
        document: dict[str, Json] = as_json(
            {
                "loads": self.report.of_brokers(),
                "cross_rack": cross_rack_of(self.report, self.prices),
                "skew": self.skew,
                "over_limit": self.over_limit,
                "log_dirs_over_limit": self.log_dirs_over_limit,
                "fails_first": self.fails_first,
                "least_repair": self.repair,
                "losses": None if self.losses is None else self.losses.of_losses(),
            }
        )
        return document

    def _losses(self) -> list[str]:
        return ["none", "broker", *(["rack"] if self.report.of_rack is not None else [])]

    def _shares(self, loss: str) -> Iterator[FirstToFail]:
        report = self.report
        losses = {"none": None, "broker": report.of_broker, "rack": report.of_rack}[loss]
        for name in report.names:
            column = RESOURCES.index(name)
            loads: Int64s = report.under_loss(losses, column)
            for place, load in enumerate(loads.tolist()):
                upper = report.upper(place, column)
                if not upper:
                    continue
                lost = report.lost(losses, place, column)
                yield FirstToFail(
                    loss=loss,
                    lost_broker=int(report.brokers.ids[lost]) if loss == "broker" and lost is not None else None,
                    lost_rack=report.rack_name(lost) if loss == "rack" else None,
                    broker=int(report.brokers.ids[place]),
                    resource=name,
                    value=in_unit(load, column),
                    limit=in_unit(upper, column),
                    share=round(load / upper, 4),
                )


def health_of(
    cluster: Cluster,
    request: HealthRequest,
    allowance: Allowance,
    version: KafkaVersion,
    after: Mapping[str, Assignment] | None = None,
) -> Health:
    """Report on a cluster as it is, led as it is; partitions that are being reassigned, as they will be.

    Parameters
    ----------
    after : a reassignment: then the report is on the cluster after it, and on its disks during it.

    Raises
    ------
    UnknownBroker, UnknownTopic, CapacityMissing, RatesMissing, SizesMissing, ConflictingFields : as a reassignment with
        these fields.
    UnknownRack, LimitExceeded : see `loss_table`.
    """
    problem = _problem(cluster, request, allowance, version)
    reported = partial(load_report, problem.brokers, problem.resources, problem.limits, reads=problem.reads)
    if after is not None:
        lists = reassigned(problem, after)
        report = reported(before=problem.before, after=lists)
        found = tuple(disk_violations(problem, report, lists))
        losses = _losses_of(report, request)
        return Health(report, request.prices, None, _cautions(problem), losses=losses, violations=found)
    order = _leaders_first(problem)
    now = np.take_along_axis(problem.before, order, axis=1)
    report = reported(before=now, after=now, in_sync=np.take_along_axis(problem.scope.in_sync, order, axis=1))
    losses, cautions = _losses_of(report, request), _cautions(problem)
    try:
        repair = LeastRepair(*least_repair(problem))
    except NotFeasible as infeasible:
        caution = Caution("no_repair", f"no reassignment repairs racks and limits: {infeasible.detail}")
        return Health(report, request.prices, None, (*cautions, caution), problem.log_dirs, losses)
    return Health(report, request.prices, repair, cautions, problem.log_dirs, losses)


def _leaders_first(problem: ReassignmentProblem) -> Int64s:
    """(rows, widest) int64 columns of `before`: that of the replica that leads now, then the others as listed."""
    before, scope = problem.before, problem.scope
    leads = (problem.brokers.ids[before] == scope.leaders[:, None]) & (before != NO_REPLICA)
    return np.argsort(~leads, axis=1, kind="stable")


def _problem(
    cluster: Cluster, request: HealthRequest, allowance: Allowance, version: KafkaVersion
) -> ReassignmentProblem:
    is_limited = bool(request.limits.stated()) or request.limits.log_dirs is not None
    stated = {name: getattr(request, name) for name in ResourceFields.__dataclass_fields__}
    return resolve(
        ReassignmentRequest(
            rack_mode=RackMode.SAFE,
            running_reassignment="merge",
            repair_racks=True,
            objective="relieve" if is_limited else "balance",
            minimise="bytes",
            placement=request.placement,
            **stated,
        ),
        cluster,
        allowance,
        version,
    )


def _cautions(problem: ReassignmentProblem) -> tuple[Caution, ...]:
    of_sizes = problem.sizes.cautions if problem.sizes.is_known.any() else ()  # otherwise `loads` have no disk
    return (*of_sizes, *problem.resources.cautions)


def _losses_of(report: LoadReport, request: HealthRequest) -> LossTable | None:
    if request.losses is None:
        return None
    return loss_table(report, request.losses, most=MOST_LOADS_OF_LOSSES, path=lambda field: ("losses", field))
