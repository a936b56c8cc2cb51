"""Every placement algorithm by name; the API, the documentation and the conformance run read this registry alone.

placements.json is the table of them: summaries, rack modes, and the options of single algorithms.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
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
    fields, options : fields of a request for this algorithm alone, and how it reads them; the algorithms of Kafka have
        none.
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
    fields: tuple[Option, ...] = ()
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


_TABLE = json.loads(files("app.core.replicas").joinpath("placements.json").read_bytes())


def _algorithm(name: str, place: Place, envelope: EnvelopeOf | None = None, **others: Any) -> Algorithm:
    """The algorithm of a row of the table, with its functions."""
    row = _TABLE[name]
    mode, fields = row.pop("rack_mode"), tuple(map(Option.of, row.pop("fields", ())))
    mode = None if mode is None else RackMode(mode)
    return Algorithm(name=name, place=place, envelope=envelope, rack_mode=mode, fields=fields, **row, **others)


_ALGORITHMS = (
    _algorithm("admin_utils", admin_utils.place, admin_utils_envelope.envelope, replays=admin_utils.REPLAYS),
    _algorithm(
        "striped",
        striped.place,
        striped_envelope.envelope,
        replays=striped.REPLAYS,
        place_of=lambda version: partial(striped.place, rejections=striped.rejections_of(version)),
    ),
    _algorithm("awareness", Aware(Rules()), options=awareness.OPTIONS),
    _algorithm("copysets", copysets.OnSets(copysets.SetChoice()), options=copysets.OPTIONS),
)
PLACEMENTS: Mapping[str, Algorithm] = {algorithm.name: algorithm for algorithm in _ALGORITHMS}
PLACEMENT_OPTIONS: Mapping[str, tuple[Option, tuple[str, ...]]] = {
    option.name: (option, tuple(each.name for each in _ALGORITHMS if option.name in {of.name for of in each.fields}))
    for algorithm in _ALGORITHMS
    for option in algorithm.fields
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
