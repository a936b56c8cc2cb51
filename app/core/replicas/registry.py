"""Every placement algorithm by name; the API, the documentation and the conformance run read this registry alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaVersion, Replayed
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas import admin_utils, admin_utils_envelope, copysets, striped, striped_envelope
from app.core.replicas.awareness import placing as awareness
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Rules
from app.core.replicas.envelope import Envelope
from app.core.replicas.options import Option, OptionSet, RackMode, applied
from app.errors import Failure

_OF_A_TOPIC = ("partitions", "replication_factor", "start_partition_id")


class Place(Protocol):
    """Place the partitions of a topic; random numbers come from the generator of the caller."""

    def __call__(
        self, brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
    ) -> Placement: ...


class EnvelopeOf(Protocol):
    """The envelope of a topic's placement over all random choices."""

    def __call__(self, brokers: Sequence[Broker], topic: NewTopic) -> Envelope: ...


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A placement algorithm.

    Parameters
    ----------
    place : with default options; awareness then spreads over racks.
    envelope : None if no Kafka controller uses the algorithm.
    cordons : why it places nothing on a cordoned broker, for a text.
    options : options of this algorithm alone; the algorithms of Kafka have none.
    replays : Kafka's class and the releases that place so; None if it is not one of Kafka's.
    place_of : the `place` of a release, if releases reject in other words.
    """

    name: str
    summary: str
    place: Place
    envelope: EnvelopeOf | None
    rack_mode: RackMode | None
    """The default rack mode; None if the algorithm itself defines the treatment of brokers without a rack."""
    leaves_out_fenced: bool
    cordons: str = "a constraint of Rackplan; the algorithm itself knows no cordons"
    options: OptionSet | None = None
    replays: Replayed | None = None
    place_of: Callable[[KafkaVersion], Place] | None = None

    def of_release(self, version: KafkaVersion) -> Self:
        """The same algorithm as a release has it."""
        return self if self.place_of is None else replace(self, place=self.place_of(version))

    def with_options(self, options: Any) -> Self:
        """The same algorithm under the record that its `options.read` returned."""
        return self if self.options is None else replace(self, place=self.options.follow(options))

    def in_play(self, brokers: Sequence[Broker], rack_mode: RackMode | None) -> tuple[Broker, ...]:
        """The eligible brokers, in the same order, with racks by the mode; None is the mode of the algorithm."""
        live = tuple(broker for broker in brokers if not (self.leaves_out_fenced and broker.fenced))
        mode = rack_mode or self.rack_mode
        return live if mode is None else applied(mode, live)


def _has(algorithm: Algorithm, option: str) -> bool:
    return algorithm.options is not None and any(field.name == option for field in algorithm.options.fields)


PLACEMENTS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            name="admin_utils",
            summary="AdminUtils: the Kafka tools, and controllers before KRaft (KIP-36)",
            place=admin_utils.place,
            envelope=admin_utils_envelope.envelope,
            rack_mode=RackMode.ENFORCED,
            leaves_out_fenced=True,
            replays=admin_utils.REPLAYS,
        ),
        Algorithm(
            name="striped",
            summary="StripedReplicaPlacer: KRaft controllers",
            place=striped.place,
            envelope=striped_envelope.envelope,
            rack_mode=None,
            leaves_out_fenced=False,
            cordons="controllers since 4.3 place on other brokers only (KIP-1066)",
            replays=striped.REPLAYS,
            place_of=lambda version: partial(striped.place, rejections=striped.rejections_of(version)),
        ),
        Algorithm(
            name="awareness",
            summary="not an algorithm of Kafka: over any attributes of brokers, by a policy, balanced by weight",
            place=Aware(Rules()),
            envelope=None,
            rack_mode=None,
            leaves_out_fenced=True,
            options=awareness.OPTIONS,
        ),
        Algorithm(
            name="copysets",
            summary="not an algorithm of Kafka: on few replica sets, so that simultaneous losses rarely contain one",
            place=copysets.OnSets(copysets.SetChoice()),
            envelope=None,
            rack_mode=RackMode.ENFORCED,
            leaves_out_fenced=False,
            options=copysets.OPTIONS,
        ),
    )
}
PLACEMENT_OPTIONS: Mapping[str, tuple[Option, tuple[str, ...]]] = {
    option.name: (option, tuple(other.name for other in PLACEMENTS.values() if _has(other, option.name)))
    for algorithm in PLACEMENTS.values()
    if algorithm.options is not None
    for option in algorithm.options.fields
}
"""Every option by name, with the algorithms that have it; the fields of the API are generated from this."""


def place_topics(
    algorithm: Algorithm,
    brokers: Sequence[Broker],
    topics: Sequence[NewTopic],
    *,
    random: JavaRandom,
    fixed_start_index: int | None = None,
) -> tuple[Placement, ...]:
    """Place several topics, one after another on one generator, as a controller does.

    The path of a failure names the topic.
    """
    place = algorithm.place.begin() if isinstance(algorithm.place, copysets.OnSets) else algorithm.place
    placements = []
    for index, topic in enumerate(topics):
        try:
            placements.append(place(brokers, topic, random=random, fixed_start_index=fixed_start_index))
            place = place.after(placements[-1]) if isinstance(place, Aware) else place
        except Failure as failure:
            if failure.path and failure.path[0] in _OF_A_TOPIC:
                failure.path = ("topics", index, *failure.path)
            raise
    return tuple(placements)
