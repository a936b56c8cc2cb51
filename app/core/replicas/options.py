"""Options of a single placement algorithm: the fields of a request, and how the algorithm reads them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Self, TypeAlias

from app.core.model import Broker, Placement
from app.errors import Json
from app.errors.kafka import BrokersWithoutRack, InvalidPartitions, InvalidReplicationFactor, KafkaError

OptionValues: TypeAlias = Mapping[str, Any]
"""Options of a request by name; None is the same as an absent name."""


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a request.

    Parameters
    ----------
    form : `choice` is one of `choices`; `names` a list of names; `values_by_name` lists of names by name; `integer`
        is within `bounds`; `flag` is true or false.
    description : for the caller; the algorithm's name is added to it.
    """

    name: str
    form: Literal["choice", "names", "values_by_name", "integer", "flag"]
    description: str
    choices: tuple[str, ...] = ()
    bounds: tuple[int, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The field of a row of `placements.json`."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class OptionSet:
    """How one algorithm reads its options.

    Parameters
    ----------
    read : values → the record of options, with defaults; raises `Failure`s if they are invalid.
    canonical : the record as complete JSON, for the hash of a plan.
    follow : the record → the placement, a `registry.Place`.
    rack_mode_conflict : the reason why these options exclude a rack mode; None if they do not.
    """

    read: Callable[[OptionValues], Any]
    canonical: Callable[[Any], dict[str, Json]]
    follow: Callable[[Any], Callable[..., Placement]]
    rack_mode_conflict: str | None = None


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


_ADMIN_UTILS = "Not all brokers have rack information for replica rack aware assignment."


def require_racks(mode: RackMode | None, brokers: Sequence[Broker], message: str = _ADMIN_UTILS) -> None:
    """Raise `BrokersWithoutRack`, which names them, if racks are enforced and only some brokers have one.

    To be called after the algorithm, since AdminUtils validates partitions and factor before racks.
    """
    if mode is RackMode.ENFORCED and _is_partial(brokers):
        raise brokers_without_rack(brokers, "AdminOperationException", message)


def _is_partial(brokers: Sequence[Broker]) -> bool:
    return 0 < sum(broker.rack is None for broker in brokers) < len(brokers)


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


def partitions_rejected(partitions: int, message: str | None = None) -> InvalidPartitions:
    """The failure of a topic without partitions; Kafka's exception has the message."""
    return InvalidPartitions(
        f"a topic needs 1 partition or more; {partitions} given",
        kafka=KafkaError("InvalidPartitionsException", message),
        path=("partitions",),
        value=partitions,
        minimum=1,
    )


def factor_rejected(
    factor: int, message: str | None = None, *, brokers: int, stated: int | None = None
) -> InvalidReplicationFactor:
    """The failure of a replication factor below 1, or above the number of brokers; Kafka's exception has the message.

    Parameters
    ----------
    stated : the factor of the request, if Kafka reads another one.
    """
    value = factor if stated is None else stated
    is_low = factor <= 0
    detail = (
        f"a partition needs 1 replica or more; replication factor {value} given"
        if is_low
        else f"replication factor {factor} needs {factor} brokers; {brokers} given"
    )
    kafka = KafkaError("InvalidReplicationFactorException", message)
    limit = {"minimum": 1} if is_low else {"maximum": brokers}
    return InvalidReplicationFactor(detail, kafka=kafka, path=("replication_factor",), value=value, **limit)
