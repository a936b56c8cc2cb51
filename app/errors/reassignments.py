"""What of a reassignment cannot be."""

from app.errors.failure import Failure


class UnknownBroker(Failure):
    """A broker is named that the cluster does not have."""

    code = "unknown_broker"
    title = "The cluster has no such broker"


class BrokerExists(Failure):
    """A broker is to be added, and the cluster has one of that id."""

    code = "broker_exists"
    title = "The cluster has a broker of this id"


class UnknownTopic(Failure):
    """A topic is named that the cluster does not have."""

    code = "unknown_topic"
    title = "The cluster has no such topic"


class UnknownRack(Failure):
    """A rack is named that no broker stands in."""

    code = "unknown_rack"
    title = "No broker stands in this rack"


class NotFeasible(Failure):
    """No placement has all that is asked for.

    `conflict` is the smallest set of demands that cannot be had together, `lifted_by` says what would lift it.
    """

    code = "infeasible_reassignment"
    title = "No placement has all that is asked for"


class PinContradicted(Failure):
    """A partition is pinned to a broker that may not have it; names the field that says so."""

    code = "pin_contradicted"
    title = "A pin contradicts the rest of the request"


class BudgetBelowMinimum(Failure):
    """Fewer bytes may be moved than have to be; `minimum_bytes` is what has to be."""

    code = "budget_below_minimum"
    title = "More bytes have to be moved than may be"


class RatesMissing(Failure):
    """Something is to be even by what flows, and nobody said what flows."""

    code = "rates_missing"
    title = "What flows through partitions is not known"


class SizesMissing(Failure):
    """Bytes count, and the sizes of some partitions are not known; says how many."""

    code = "sizes_missing"
    title = "Sizes of partitions are not known"


class ReassignmentUnderWay(Failure):
    """Partitions are being reassigned already; names the first of them."""

    code = "reassignment_under_way"
    title = "Partitions are being reassigned already"
