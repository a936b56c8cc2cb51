"""Every placement algorithm by its name; the API, the docs and the conformance run read this and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, Self

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas import admin_utils, admin_utils_envelope, striped, striped_envelope
from app.core.replicas.awareness import options as awareness
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Rules
from app.core.replicas.envelope import Envelope
from app.core.replicas.options import Option, OptionSet
from app.core.replicas.rack_modes import RackMode, applied
from app.errors import Failure

_OF_A_TOPIC = ("partitions", "replication_factor", "start_partition_id")


class Place(Protocol):
    """The one verb: place the partitions of a topic, drawing from the caller's generator."""

    def __call__(
        self, brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
    ) -> Placement: ...


class EnvelopeOf(Protocol):
    """What a topic's placement can and cannot be, over everything that may be drawn."""

    def __call__(self, brokers: Sequence[Broker], topic: NewTopic) -> Envelope: ...


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A placement algorithm and what goes with it.

    Parameters
    ----------
    place : without options of the caller's own; awareness then spreads over racks.
    envelope : None if no controller draws at random, so that there is nothing to predict.
    options : what a request may say for this algorithm alone; None of Kafka's own has any.
    """

    name: str
    summary: str
    place: Place
    envelope: EnvelopeOf | None
    rack_mode: RackMode | None
    """How racks count where the caller does not say; None: the algorithm has its own way with brokers without one."""
    leaves_out_fenced: bool
    options: OptionSet | None = None

    def with_options(self, options: Any) -> Self:
        """The same algorithm under the record that its `options.read` returned."""
        return self if self.options is None else replace(self, place=self.options.follow(options))

    def in_play(self, brokers: Sequence[Broker], rack_mode: RackMode | None) -> tuple[Broker, ...]:
        """The brokers as the algorithm sees them, in the same order; without a mode, racks count as it has them."""
        live = tuple(broker for broker in brokers if not (self.leaves_out_fenced and broker.fenced))
        mode = rack_mode or self.rack_mode
        return live if mode is None else applied(mode, live)


def _has(algorithm: Algorithm, option: str) -> bool:
    return algorithm.options is not None and any(field.name == option for field in algorithm.options.fields)


PLACEMENTS: Mapping[str, Algorithm] = MappingProxyType(
    {
        algorithm.name: algorithm
        for algorithm in (
            Algorithm(
                name="admin_utils",
                summary="AdminUtils: the Kafka tools, and controllers before KRaft (KIP-36)",
                place=admin_utils.place,
                envelope=admin_utils_envelope.envelope,
                rack_mode=RackMode.ENFORCED,
                leaves_out_fenced=True,
            ),
            Algorithm(
                name="striped",
                summary="StripedReplicaPlacer: KRaft controllers",
                place=striped.place,
                envelope=striped_envelope.envelope,
                rack_mode=None,
                leaves_out_fenced=False,
            ),
            Algorithm(
                name="awareness",
                summary="none of Kafka's: over any attributes of the brokers, by a policy, balanced by weight",
                place=Aware(Rules()),
                envelope=None,
                rack_mode=None,
                leaves_out_fenced=True,
                options=awareness.OPTIONS,
            ),
        )
    }
)
PLACEMENT_OPTIONS: Mapping[str, tuple[Option, tuple[str, ...]]] = MappingProxyType(
    {
        option.name: (option, tuple(other.name for other in PLACEMENTS.values() if _has(other, option.name)))
        for algorithm in PLACEMENTS.values()
        if algorithm.options is not None
        for option in algorithm.options.fields
    }
)
"""Every option by its name, with the algorithms that have it; the API's fields are made of this."""


def place_topics(
    algorithm: Algorithm,
    brokers: Sequence[Broker],
    topics: Sequence[NewTopic],
    *,
    random: JavaRandom,
    fixed_start_index: int | None = None,
) -> tuple[Placement, ...]:
    """Place several topics, one after another on one generator, as a controller does.

    A failure's path says which topic it is about.
    """
    placements = []
    for index, topic in enumerate(topics):
        try:
            placements.append(algorithm.place(brokers, topic, random=random, fixed_start_index=fixed_start_index))
        except Failure as refusal:
            if refusal.path and refusal.path[0] in _OF_A_TOPIC:
                refusal.path = ("topics", index, *refusal.path)
            raise
    return tuple(placements)
