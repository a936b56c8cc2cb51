"""The striped placer: the placement that a KRaft controller makes for a new topic.

Hard constraints
    The replicas of a partition are on distinct brokers. Its leader is not fenced.
Goals, in order
    1. Each partition is spread over as many racks as it can be.
    2. Fenced brokers are used only if a rack has no unfenced one left.
    3. Leaders and replicas are balanced over brokers, unless racks differ in size: goal 1 comes first.

Algorithm
    Racks are sorted by name (none first), and the brokers of a rack by id: the unfenced in one list, the fenced in
    another. Each list and the racks begin at a random offset. A partition's replicas come from the racks one
    after another, the leader from the first that has an unfenced broker. With each partition the racks begin one
    further, and so does each list that is used. After as many partitions as there are unfenced brokers (if more than
    one) the racks and the lists are shuffled.

Racks A with brokers 0 1, B with 2 3, C with 4 5; all offsets 0, factor 3:

    partition 0 → 0 2 4      partition 1 → 3 1 5 (B first; each list one further)      partition 2 → 4 0 2

Draws
    In the order in which Java's HashMap iterates over the racks, for each the offset of its fenced and of its unfenced
    list, unless it is empty; then the racks' offset, if there is a broker. For a reshuffle first the racks, then in the
    same HashMap order each rack's fenced and unfenced list. A placement that fails has drawn its offsets all the same.

Source: `org.apache.kafka.metadata.placement.StripedReplicaPlacer` of Apache Kafka 4.0 to 4.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.core.compiled.interpreted import of_size
from app.core.jvm.hash_map import JavaHashMap
from app.core.jvm.hashes import OPTIONAL_STRING, utf16_order
from app.core.jvm.random import JavaRandom
from app.core.kafka_versions import KafkaRange, KafkaVersion, Replayed
from app.core.model import Bools, Broker, Int32s, Int64s, NewTopic, Placement
from app.core.replicas import striped_kernel as kernel
from app.core.replicas.options import factor_rejected
from app.errors.kafka import InvalidPartitions, InvalidReplicationFactor, KafkaError
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True)
class Rejections:
    """The placer's own words when it rejects a topic, which are longer since 4.3; the decision is the same.

    Parameters
    ----------
    none_active : no unfenced broker is left.
    too_few : text after "…only <n> broker(s) are registered".
    holds : the releases that say so.
    """

    none_active: str
    too_few: str
    holds: KafkaRange


UNTIL_4_2 = Rejections("All brokers are currently fenced.", ".", KafkaRange("4.0.0", "4.2"))
SINCE_4_3 = Rejections(
    "All brokers are currently fenced, or have all their log directories cordoned.",
    " or some brokers have all their log directories cordoned.",
    KafkaRange("4.3", "4.4"),
)


def rejections_of(version: KafkaVersion) -> Rejections:
    """The words of a release."""
    return UNTIL_4_2 if version < KafkaVersion.of(SINCE_4_3.holds.from_) else SINCE_4_3


REPLAYS = Replayed("org.apache.kafka.metadata.placement.StripedReplicaPlacer")


def place(
    brokers: Sequence[Broker],
    topic: NewTopic,
    *,
    random: JavaRandom,
    fixed_start_index: int | None = None,
    rejections: Rejections = UNTIL_4_2,
) -> Placement:
    """Place one topic; several are placed one after another with one generator, as a controller does.

    Parameters
    ----------
    brokers : in any order, but that racks whose hashes collide are drawn for in the order in which they first come.
        Of an id that comes twice both are used, as Kafka would.
    topic : of the factor the low 16 bits count, as a signed number. `start_partition_id` is only the id of the
        first partition; Kafka's placer ignores it.
    random : makes the draws; after a failure it has made those that Kafka would have made.
    rejections : Kafka's words of one release. The caller leaves out brokers of which all log directories are cordoned.

    Raises
    ------
    InvalidReplicationFactor : not positive; no unfenced broker; more than there are brokers. In this order.
    InvalidPartitions : negative. 0 partitions are placed as nothing.
    ConflictingFields : a start index is given, which this placer does not have.

    Complexity: O(partitions · replication factor).

    Examples
    --------
    >>> from app.core.jvm import JavaRandom
    >>> from app.core.model import Broker, NewTopic
    >>> brokers = [Broker(number, rack) for number, rack in enumerate("AABBCC")]
    >>> place(brokers, NewTopic("t", 3, 3), random=JavaRandom(0)).replicas.tolist()
    [[4, 1, 3], [0, 2, 5], [3, 4, 1]]
    """
    if fixed_start_index is not None:
        raise ConflictingFields(
            f"the striped placer draws where it starts; start index {fixed_start_index} given",
            path=("fixed_start_index",),
            value=fixed_start_index,
        )
    return place_on(Racks.of(brokers), topic, random=random, rejections=rejections)


def place_on(racks: "Racks", topic: NewTopic, *, random: JavaRandom, rejections: Rejections = UNTIL_4_2) -> Placement:
    """Place the partitions of one topic of several, on brokers that are sorted into racks once. Raises as `place`."""
    offsets = racks.draw_offsets(random)
    rows = np.empty((max(0, topic.partitions), check(racks, topic, rejections)), np.int32)
    fill(rows, racks, offsets, random, members=racks.members)
    return Placement(topic.name, topic.start_partition_id, rows)


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets at which the lists, two a rack, and the racks begin."""

    lists: tuple[int, ...]
    rack: int


@dataclass(frozen=True, slots=True, eq=False)
class Racks:
    """The brokers by rack, in the arrays of `striped_kernel`, before anything is drawn.

    Parameters
    ----------
    members : (brokers,) int32 ids. bounds : (2·racks + 1,) int64.
    hash_order : (racks,) int64: in which order Java's HashMap iterates over the racks.
    sizes : (2·racks,) int64: how many brokers each list has.
    """

    members: Int32s
    bounds: Int64s
    hash_order: Int64s
    sizes: Int64s

    @classmethod
    def of(cls, brokers: Sequence[Broker]) -> "Racks":
        """Sort brokers into racks."""
        by_rack: dict[str | None, tuple[list[int], list[int]]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack, ([], []))[broker.fenced].append(broker.id)
        names, hash_order = _orders(tuple(by_rack))
        lists = [sorted(ids) for name in names for ids in by_rack[name]]
        return cls(
            members=np.array([broker_id for ids in lists for broker_id in ids], np.int32),
            bounds=np.cumsum([0, *map(len, lists)], dtype=np.int64),
            hash_order=np.array(hash_order, np.int64),
            sizes=np.array([len(ids) for ids in lists], np.int64),
        )

    @property
    def count(self) -> int:
        """How many racks there are."""
        return len(self.hash_order)

    @property
    def unfenced(self) -> int:
        """How many brokers are not fenced."""
        return int(self.sizes[::2].sum())

    @property
    def is_unfenced(self) -> Bools:
        """(brokers,) bool: which of `members` are not fenced."""
        return np.repeat(np.arange(len(self.sizes)) % 2 == 0, self.sizes)

    def epoch_length(self, partitions: int) -> int:
        """After how many partitions everything is shuffled; with one unfenced broker Kafka never does."""
        return self.unfenced if self.unfenced > 1 else max(1, partitions)

    def draw_offsets(self, random: JavaRandom) -> Offsets:
        """Draw the offsets of the lists and the racks."""
        sizes = self.sizes.tolist()
        lists = [0] * len(sizes)
        for rack in self.hash_order.tolist():
            for index in (2 * rack + 1, 2 * rack):
                if sizes[index]:
                    lists[index] = random.next_int(sizes[index])
        return Offsets(tuple(lists), random.next_int(self.count) if self.count else 0)

    def cursors(self, offsets: Sequence[int]) -> Int64s:
        """The kernel's `cursors` before the first partition."""
        cursors = np.zeros((len(self.sizes), 3), np.int64)
        cursors[:, 1] = offsets
        return cursors


@lru_cache(maxsize=16)
def _orders(racks: tuple[str | None, ...]) -> tuple[tuple[str | None, ...], tuple[int, ...]]:
    """Racks in order of their names, none first; and the order in which Java's HashMap iterates over them, as indices.

    Parameters
    ----------
    racks : in the order in which they enter the map, which counts if hashes collide.
    """
    in_hash_order: JavaHashMap[str | None, bool] = JavaHashMap(OPTIONAL_STRING)
    for rack in racks:
        in_hash_order[rack] = True
    names = tuple(sorted(racks, key=lambda rack: (rack is not None, utf16_order(rack or ""))))
    index_of = {name: index for index, name in enumerate(names)}
    return names, tuple(index_of[name] for name in in_hash_order)


def fill(rows: Int32s, racks: Racks, offsets: Offsets, random: JavaRandom, *, members: Int32s) -> None:
    """Fill (partitions, factor) rows with the entries of (brokers,) `members`, with random reshuffles."""
    state = of_size(kernel.fill, rows.size + len(members))(
        rows,
        members.copy(),
        racks.bounds,
        racks.cursors(offsets.lists),
        np.arange(racks.count, dtype=np.int32),
        offsets.rack,
        racks.hash_order,
        racks.epoch_length(len(rows)),
        np.uint64(random.state),
    )
    random.state = int(state)


def check(racks: Racks, topic: NewTopic, rejections: Rejections = UNTIL_4_2) -> int:
    """Check in Kafka's order whether a topic can be placed; gives the replication factor that Kafka sees."""
    stated = topic.replication_factor
    factor, brokers = (stated + 2**15) % 2**16 - 2**15, len(racks.members)
    if factor <= 0:
        message = f"Invalid replication factor {factor}: the replication factor must be positive."
        raise factor_rejected(factor, message, brokers=brokers, stated=stated)
    if racks.unfenced == 0:
        raise InvalidReplicationFactor(
            f"a leader needs an unfenced broker; {brokers} brokers given, 0 of them unfenced",
            kafka=KafkaError("InvalidReplicationFactorException", rejections.none_active),
            path=("replication_factor",),
            value=stated,
            maximum=0,
        )
    if factor > brokers:
        message = f"The target replication factor of {factor} cannot be reached because only {brokers} broker(s) are "
        raise factor_rejected(factor, f"{message}registered{rejections.too_few}", brokers=brokers, stated=stated)
    if topic.partitions < 0:
        raise InvalidPartitions(
            f"the number of partitions is not negative; {topic.partitions} given",
            kafka=KafkaError("IllegalArgumentException"),
            path=("partitions",),
            value=topic.partitions,
            minimum=0,
        )
    return factor
