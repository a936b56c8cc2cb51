"""Reassignments that are infeasible or contradictory."""

from app.errors.failure import Conflict, Unprocessable


class UnknownBroker(Unprocessable):
    """The request names a broker that the cluster does not have."""

    title = "Unknown broker"


class BrokerExists(Unprocessable):
    """A broker in `add_brokers` is in the cluster already: in another rack, or it is fenced or down."""

    title = "The broker already exists"


class UnknownBrokerSet(Unprocessable):
    """The request binds a topic to a broker set that `broker_sets` does not list."""

    title = "Unknown broker set"


class UnknownTopic(Unprocessable):
    """The request names a topic that the cluster does not have."""

    title = "Unknown topic"


class ObserversNotKept(Unprocessable):
    """The request names a topic with observers or placement constraints of Confluent Server, which a plan loses."""

    title = "Observers are not kept"


class UnknownRack(Unprocessable):
    """The request names a rack without brokers."""

    title = "Unknown rack"


class CordonedTarget(Unprocessable):
    """The request names a cordoned broker as the target of replicas; Kafka places none there (KIP-1066).

    `cordoned` lists the cordoned brokers.
    """

    title = "The target is cordoned"


class UnknownLogDir(Unprocessable):
    """A broker has no log directory of the path that is named; `limit` lists those that it has."""

    title = "Unknown log directory"


class LogDirsMissing(Unprocessable):
    """The request chooses log directories, and the snapshot has none of any broker."""

    title = "Log directories are missing"


class NoLogDirLeft(Unprocessable):
    """A broker has no log directory that may receive replicas: all are drained, cordoned or offline."""

    title = "No log directory is left"


class OfflineLogDir(Unprocessable):
    """A log directory to drain is offline, so that nothing can be copied out of it."""

    title = "The log directory is offline"


class LogDirsTooSmall(Unprocessable):
    """The replicas of a broker do not fit in its log directories, however they are packed.

    `conflict` is an irreducible infeasible subset: the directories with their limits, and replicas without any one of
    which the rest fits. `lifted_by` lists changes that resolve it.
    """

    code = "infeasible_log_dirs"
    title = "The log directories are too small"


class NotFeasible(Unprocessable):
    """No placement satisfies all constraints of the request.

    `conflict` is an irreducible infeasible subset of the constraints; `lifted_by` lists changes that resolve it.
    """

    code = "infeasible_reassignment"
    title = "The reassignment is infeasible"


class PinContradicted(Unprocessable):
    """A partition is pinned to a broker that another field of the request excludes; names the field."""

    title = "A pin contradicts another field"


class BudgetBelowMinimum(Unprocessable):
    """`max_moved_bytes` is less than the change moves at least; `minimum_bytes` is that lower bound."""

    title = "The budget is below the minimum movement"


class RatesMissing(Unprocessable):
    """The request balances by ingress rate, and no rates are given."""

    title = "Ingress rates are missing"


class CapacityMissing(Unprocessable):
    """The request limits a share of a capacity that is unknown, or 0, for some brokers; names the first one.

    `field` is the missing field of its capacity.
    """

    title = "Capacities of brokers are missing"


class SizesMissing(Unprocessable):
    """The request depends on bytes, and the sizes of some partitions are unknown; has their number."""

    title = "Sizes of partitions are unknown"


class ReassignmentUnderWay(Conflict):
    """Partitions of the snapshot are being reassigned; names the first ones."""

    title = "Partitions are being reassigned already"


class NoProgress(Unprocessable):
    """The plan is of a kind that is not executed in batches, so that it has no progress; names its kind."""

    title = "A plan of this kind has no progress"


class SnapshotOfAnotherCluster(Unprocessable):
    """The snapshot that progress is computed from is of another cluster than the plan; names both."""

    title = "The snapshot is of another cluster"


class LogOfAnotherPlan(Unprocessable):
    """The log of an execution has no run of the plan; names the hash of a plan that it has."""

    title = "The log is of another plan"


class SnapshotTooOld(Unprocessable):
    """The snapshot that progress is computed from is older than that of the plan; has both times."""

    title = "The snapshot is older than the plan's"
