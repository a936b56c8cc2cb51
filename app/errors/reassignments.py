"""Reassignments that are infeasible or contradictory."""

from app.errors.failure import Failure


class UnknownBroker(Failure):
    """The request names a broker that the cluster does not have."""

    code = "unknown_broker"
    title = "Unknown broker"


class BrokerExists(Failure):
    """A broker in `add_brokers` has the id of a broker of the cluster."""

    code = "broker_exists"
    title = "The broker already exists"


class UnknownTopic(Failure):
    """The request names a topic that the cluster does not have."""

    code = "unknown_topic"
    title = "Unknown topic"


class UnknownRack(Failure):
    """The request names a rack without brokers."""

    code = "unknown_rack"
    title = "Unknown rack"


class NotFeasible(Failure):
    """No placement satisfies all constraints of the request.

    `conflict` is an irreducible infeasible subset of the constraints; `lifted_by` lists changes that resolve it.
    """

    code = "infeasible_reassignment"
    title = "The reassignment is infeasible"


class PinContradicted(Failure):
    """A partition is pinned to a broker that another field of the request excludes; names the field."""

    code = "pin_contradicted"
    title = "A pin contradicts another field"


class BudgetBelowMinimum(Failure):
    """`max_moved_bytes` is less than the change moves at least; `minimum_bytes` is that lower bound."""

    code = "budget_below_minimum"
    title = "The budget is below the minimum movement"


class RatesMissing(Failure):
    """The request balances by ingress rate, and no rates are given."""

    code = "rates_missing"
    title = "Ingress rates are missing"


class SizesMissing(Failure):
    """The request depends on bytes, and the sizes of some partitions are unknown; has their number."""

    code = "sizes_missing"
    title = "Sizes of partitions are unknown"


class ReassignmentUnderWay(Failure):
    """Partitions of the snapshot are being reassigned; names the first ones."""

    code = "reassignment_under_way"
    title = "Partitions are being reassigned already"
