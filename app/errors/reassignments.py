"""Requests for a reassignment that are infeasible, contradictory or incomplete."""

from app.errors.failure import Conflict, Unprocessable


class UnknownBroker(Unprocessable):
    """The request names a broker that the cluster does not have."""

    title = "The cluster has no such broker"


class BrokerExists(Unprocessable):
    """The request adds a broker whose id the cluster already has."""

    title = "The cluster has a broker of this id"


class UnknownTopic(Unprocessable):
    """The request names a topic that the cluster does not have."""

    title = "The cluster has no such topic"


class UnknownRack(Unprocessable):
    """The request names a rack that has no broker."""

    title = "No broker stands in this rack"


class NotFeasible(Unprocessable):
    """No placement satisfies all constraints of the request.

    `conflict` is an irreducible infeasible subset (IIS) of the constraints; `lifted_by` lists changes that remove it.
    """

    code = "infeasible_reassignment"
    title = "No placement has all that is asked for"


class PinContradicted(Unprocessable):
    """A partition is pinned to a broker that is not eligible for it; names the field that excludes the broker."""

    title = "A pin contradicts the rest of the request"


class BudgetBelowMinimum(Unprocessable):
    """The movement budget is below the minimum that the request needs, which is `minimum_bytes`."""

    title = "More bytes have to be moved than may be"


class RatesMissing(Unprocessable):
    """The request balances by ingress rate, and the rates of some partitions are not known."""

    title = "What flows through partitions is not known"


class SizesMissing(Unprocessable):
    """The request needs partition sizes, and those of some partitions are not known; states how many."""

    title = "Sizes of partitions are not known"


class ReassignmentUnderWay(Conflict):
    """Partitions are already being reassigned; names the first of them."""

    title = "Partitions are being reassigned already"
