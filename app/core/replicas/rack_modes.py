"""How much racks count: the three modes that the Kafka tools know, applied to the brokers before anything is placed."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from app.core.model import Broker
from app.errors import BrokersWithoutRack, KafkaError


class RackMode(StrEnum):
    """KIP-36's `RackAwareMode`."""

    ENFORCED = "enforced"
    """Once one broker has a rack, all need one: what the tools do."""
    SAFE = "safe"
    """Where some broker has no rack, none counts: what topic auto-creation does."""
    DISABLED = "disabled"
    """No rack counts: the tools' `--ignore-racks`."""


def applied(mode: RackMode, brokers: Sequence[Broker]) -> tuple[Broker, ...]:
    """The brokers as the mode sees them, in the same order.

    Raises `BrokersWithoutRack`, naming them, where racks are enforced and only some brokers have one.
    """
    without = [broker.id for broker in brokers if broker.rack is None]
    is_partial = 0 < len(without) < len(brokers)
    if mode is RackMode.ENFORCED and is_partial:
        raise brokers_without_rack(brokers, "AdminOperationException")
    if mode is RackMode.DISABLED or (mode is RackMode.SAFE and is_partial):
        return tuple(replace(broker, rack=None) for broker in brokers)
    return tuple(brokers)


def brokers_without_rack(brokers: Sequence[Broker], exception: str) -> BrokersWithoutRack:
    """The failure that names the brokers without a rack, as the Kafka exception of that name."""
    ids = [broker.id for broker in brokers if broker.rack is None]
    named = ", ".join(map(str, ids[:20])) + (f" and {len(ids) - 20} more" if len(ids) > 20 else "")
    message = "Not all brokers have rack information for replica rack aware assignment."
    return BrokersWithoutRack(
        f"{len(ids)} of {len(brokers)} brokers have no rack: {named}; once one broker has a rack, all need one",
        kafka=KafkaError(exception, message if exception == "AdminOperationException" else None),
        path=("brokers",),
        brokers=ids,
    )
