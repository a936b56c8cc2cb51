"""Reassignments that are infeasible or contradictory."""

from app.errors.failure import Conflict, Unprocessable


class UnknownBroker(Unprocessable, title="Unknown broker"):
    """The request names a broker that the cluster does not have."""


class BrokerExists(Unprocessable, title="The broker already exists"):
    """A broker in `add_brokers` is in the cluster already: in another rack, or it is fenced or down."""


class UnknownBrokerSet(Unprocessable, title="Unknown broker set"):
    """The request binds a topic to a broker set that `broker_sets` does not list."""


class UnknownTopic(Unprocessable, title="Unknown topic"):
    """The request names a topic that the cluster does not have."""


class ObserversNotKept(Unprocessable, title="Observers are not kept"):
    """The request names a topic with observers or placement constraints of Confluent Server, which a plan loses."""


class UnknownRack(Unprocessable, title="Unknown rack"):
    """The request names a rack without brokers."""


class CordonedTarget(Unprocessable, title="The target is cordoned"):
    """The request names a cordoned broker as the target of replicas; Kafka places none there (KIP-1066).

    `cordoned` lists the cordoned brokers.
    """


class UnknownLogDir(Unprocessable, title="Unknown log directory"):
    """A broker has no log directory of the path that is named; `limit` lists those that it has."""


class LogDirsMissing(Unprocessable, title="Log directories are missing"):
    """The request chooses log directories, and the snapshot has none of any broker."""


class NoLogDirLeft(Unprocessable, title="No log directory is left"):
    """A broker has no log directory that may receive replicas: all are drained, cordoned or offline."""


class OfflineLogDir(Unprocessable, title="The log directory is offline"):
    """A log directory to drain is offline, so that nothing can be copied out of it."""


class LogDirsTooSmall(Unprocessable, title="The log directories are too small", code="infeasible_log_dirs"):
    """The replicas of a broker do not fit in its log directories, however they are packed.

    `conflict` is an irreducible infeasible subset: the directories with their limits, and replicas without any one of
    which the rest fits. `lifted_by` lists changes that resolve it.
    """


class NotFeasible(Unprocessable, title="The reassignment is infeasible", code="infeasible_reassignment"):
    """No placement satisfies all constraints of the request.

    `conflict` is an irreducible infeasible subset of the constraints; `lifted_by` lists changes that resolve it.
    """


class PinContradicted(Unprocessable, title="A pin contradicts another field"):
    """A partition is pinned to a broker that another field of the request excludes; names the field."""


class BudgetBelowMinimum(Unprocessable, title="The budget is below the minimum movement"):
    """`max_moved_bytes` is less than the change moves at least; `minimum_bytes` is that lower bound."""


class RatesMissing(Unprocessable, title="Ingress rates are missing"):
    """The request balances by ingress rate, and no rates are given."""


class CapacityMissing(Unprocessable, title="Capacities of brokers are missing"):
    """The request limits a share of a capacity that is unknown, or 0, for some brokers; names the first one.

    `field` is the missing field of its capacity.
    """


class SizesMissing(Unprocessable, title="Sizes of partitions are unknown"):
    """The request depends on bytes, and the sizes of some partitions are unknown; has their number."""


class ReassignmentUnderWay(Conflict, title="Partitions are being reassigned already"):
    """Partitions of the snapshot are being reassigned; names the first ones."""


class NoProgress(Unprocessable, title="A plan of this kind has no progress"):
    """The plan is of a kind that is not executed in batches, so that it has no progress; names its kind."""


class SnapshotOfAnotherCluster(Unprocessable, title="The snapshot is of another cluster"):
    """The snapshot that progress is computed from is of another cluster than the plan; names both."""


class LogOfAnotherPlan(Unprocessable, title="The log is of another plan"):
    """The log of an execution has no run of the plan; names the hash of a plan that it has."""


class SnapshotTooOld(Unprocessable, title="The snapshot is older than the plan's"):
    """The snapshot for the progress is older than the plan's; has both times."""
