"""A change of a cluster with nothing left to look up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import Tally, tally
from app.core.model import Assignment, Int32s, LogDirectory
from app.core.reassignment.problem import Problem
from app.errors import FieldPath, Json
from app.services.amounts import PricesRequest
from app.services.cautions import Caution
from app.services.reassignment.problem.broker_sets import BrokerSets
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.conflicts import Groups, Option
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.group_reads import GroupReads
from app.services.reassignment.problem.loads import PartitionSizes
from app.services.reassignment.problem.log_dirs import StatedLogDirs
from app.services.reassignment.problem.resources import Resources
from app.services.reassignment.problem.scope import PartitionScope


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReassignmentProblem(Problem):
    """The problem of a request, with the names of its rows and brokers, and what is reported beside the plan.

    Parameters
    ----------
    sets : the broker sets. resources : what partitions load on brokers. prices : of what crosses racks.
    reads : the partitions that groups of the snapshot read.
    log_dirs : the disks of replicas, and the field that states them.
    disk_path : the field that limits the disks of batches.
    directories : the log directories of the snapshot, by broker id.
    repaired : the topics whose partitions are repaired if they span too few racks; None if all are, if racks do not
        count, or if no replica may move.
    relaxed : constraints given up so far. constraints : in words, for the certificate.
    started_s : of the monotonic clock, in seconds.
    in_rack : topics of which all replicas of a partition are in one rack.
    bytes_per_replica : what each moved replica costs beside its bytes; None if replicas are minimised.
    subscriptions : by id of each group that rebalances when racks change, its topics.
    version : of Kafka.
    canonical : the request with nothing left to guess.
    options, without : the options of the request that restrict placements, and the problem without some of them, which
        raises as `resolve` does; the conflict of an infeasible problem is found by them.
    """

    brokers: BrokerTable
    scope: PartitionScope
    sizes: PartitionSizes
    sets: BrokerSets
    resources: Resources = field(repr=False)
    reads: GroupReads = field(repr=False)
    prices: PricesRequest | None
    log_dirs: StatedLogDirs | None
    disk_path: FieldPath
    directories: Mapping[int, Sequence[LogDirectory]] = field(repr=False)
    repaired: frozenset[str] | None
    relaxed: tuple[Relaxation, ...]
    constraints: tuple[str, ...]
    started_s: float
    in_rack: frozenset[str]
    bytes_per_replica: int | None
    subscriptions: Mapping[str, frozenset[str]] = field(repr=False)
    version: KafkaVersion
    canonical: dict[str, Json] = field(repr=False)
    options: Callable[[], Groups] = field(repr=False)
    without: Callable[[Sequence[Option]], "ReassignmentProblem"] = field(repr=False)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about the brokers, the scope and the sizes."""
        of_log_dirs = () if self.log_dirs is None else self.log_dirs.cautions
        return (
            *self.brokers.cautions,
            *self.scope.cautions,
            *self.sets.cautions,
            *self.sizes.cautions,
            *self.resources.cautions,
            *of_log_dirs,
        )


def tally_of(problem: ReassignmentProblem, replicas: Int32s, *, is_before: bool = False) -> Tally:
    """The scope's partitions, (rows, widest) int32 broker ids, counted over the brokers afterwards, or before."""
    brokers, scope = problem.brokers, problem.scope
    offline = set(brokers.ids[brokers.is_offline].tolist())
    added = {broker.id for broker in brokers.added}
    listed = [broker for broker in brokers.known if broker.id not in added] if is_before else brokers.stay
    assignments = {
        name: Assignment(scope.partition_ids[start:stop], replicas[start:stop])
        for name, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True)
        if start < stop
    }
    # A broker that is down serves as little as a fenced one.
    return tally(assignments, [replace(broker, fenced=broker.id in offline) for broker in listed])
