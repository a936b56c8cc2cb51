"""The rack modes of the Kafka tools, applied to the brokers before placement."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from app.core.model import Broker
from app.errors.kafka import BrokersWithoutRack, KafkaError


class RackMode(StrEnum):
    """KIP-36's `RackAwareMode`."""

    ENFORCED = "enforced"
    """If one broker has a rack, all need one: the default of the tools."""
    SAFE = "safe"
    """If one broker has no rack, racks are ignored: as in topic auto-creation."""
    DISABLED = "disabled"
    """Racks are ignored: `--ignore-racks` of the tools."""


def applied(mode: RackMode, brokers: Sequence[Broker]) -> tuple[Broker, ...]:
    """The brokers, in the same order, without racks if the mode ignores them."""
    if mode is RackMode.DISABLED or (mode is RackMode.SAFE and _is_partial(brokers)):
        return tuple(replace(broker, rack=None) for broker in brokers)
    return tuple(brokers)


def require_racks(mode: RackMode | None, brokers: Sequence[Broker]) -> None:
    """Raise `BrokersWithoutRack`, which names them, if racks are enforced and only some brokers have one.

    To be called after the algorithm, since AdminUtils validates partitions and factor before racks.
    """
    if mode is RackMode.ENFORCED and _is_partial(brokers):
        raise brokers_without_rack(brokers, "AdminOperationException")


def _is_partial(brokers: Sequence[Broker]) -> bool:
    return 0 < sum(broker.rack is None for broker in brokers) < len(brokers)


_ADMIN_UTILS = "Not all brokers have rack information for replica rack aware assignment."


def brokers_without_rack(brokers: Sequence[Broker], exception: str, message: str = _ADMIN_UTILS) -> BrokersWithoutRack:
    """The failure that names the brokers without a rack, as the Kafka exception of that name and its message."""
    ids = [broker.id for broker in brokers if broker.rack is None]
    named = ", ".join(map(str, ids[:20])) + (f" and {len(ids) - 20} more" if len(ids) > 20 else "")
    return BrokersWithoutRack(
        f"{len(ids)} of {len(brokers)} brokers have no rack: {named}; once one broker has a rack, all need one",
        kafka=KafkaError(exception, message if exception == "AdminOperationException" else None),
        path=("brokers",),
        brokers=ids,
    )
