"""Place new topics on few replica sets: `copysets`, which is not an algorithm of Kafka.

Hard constraints
    Every list is one of the sets of `copyset_rounds`, which are legal by rack.
Goals, in lexicographic order
    1. Brokers have equally many replicas, over the topics of a request and of each topic.
    2. Brokers lead equally many partitions over the topics of a request.

Algorithm
    A topic takes all sets in turn as often as it has partitions for; then whole rounds; then the next sets of a round
    that the topics of the request share. Full blocks of partitions have every leader and first follower of a set in
    turn; the leaders of the others are passed along chains (`awareness.leaders_kernel`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from app.core.jvm import JavaRandom
from app.core.model import Broker, Int32s, Int64s, NewTopic, Placement
from app.core.replicas.awareness import leaders_kernel
from app.core.replicas.awareness.placing import check
from app.core.replicas.copyset_rounds import SetRounds, rounds_of_width
from app.core.replicas.options import OptionSet


@dataclass(frozen=True, slots=True)
class SetChoice:
    """The options of copysets.

    Parameters
    ----------
    scatter_width : of every broker, at least; None chooses it. Requests have up to 64: after a loss, other brokers then
        lead 1/64 more. front : whether a plan lists the choices.
    """

    scatter_width: int | None = None
    front: bool = False


@dataclass(frozen=True, slots=True)
class OnSets:
    """The placement by a choice of sets: a `registry.Place` of single topics, and of a request's topics by `begin`."""

    choice: SetChoice

    def __call__(
        self, brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
    ) -> Placement:
        """Place one topic.

        Parameters
        ----------
        brokers : in any order, with distinct ids; all with a rack, or none. Fenced ones keep their sets.
        random : chooses where rounds begin, and the order of followers; its state is advanced.

        Raises
        ------
        InvalidPartitions, InvalidReplicationFactor, ConflictingFields : as `awareness.placing.check`.
        CopysetsImpossible : as `rounds_of_width`.

        Examples
        --------
        >>> brokers = [Broker(1, "a"), Broker(2, "a"), Broker(3, "b"), Broker(4, "b"), Broker(5, "c"), Broker(6, "c")]
        >>> on_sets = OnSets(SetChoice(scatter_width=2))
        >>> placed = on_sets(brokers, NewTopic("orders", 6, 3), random=JavaRandom(1)).replicas
        >>> sorted({tuple(sorted(row)) for row in placed.tolist()}), sorted(placed[:, 0].tolist())
        ([(1, 3, 5), (2, 4, 6)], [1, 2, 3, 4, 5, 6])
        """
        return self.begin()(brokers, topic, random=random, fixed_start_index=fixed_start_index)

    def begin(self) -> "_OneByOne":
        """Place the topics of a request, on the same brokers, so that each begins where the one before it ends."""
        return _OneByOne(self.choice)


@dataclass(slots=True)
class _OneByOne:
    choice: SetChoice
    turns: "dict[int, _Turns]" = field(default_factory=dict)
    leads: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))

    def __call__(
        self, brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
    ) -> Placement:
        check(brokers, topic, fixed_start_index=fixed_start_index, algorithm="copysets")
        known, factor = sorted(brokers, key=lambda broker: broker.id), topic.replication_factor
        if factor not in self.turns:
            self.turns[factor] = _Turns.of(rounds_of_width(known, factor, self.choice.scatter_width), random)
        if not len(self.leads):
            self.leads = np.zeros(len(known), np.int64)
        rows = self.turns[factor].take(topic.partitions, self.leads, random)
        ids = np.array([broker.id for broker in known], np.int32)
        return Placement(topic.name, topic.start_partition_id, ids[rows])


@dataclass(slots=True, eq=False)
class _Turns:
    """Which sets of the rounds are next.

    Parameters
    ----------
    sets : (rounds, sets, factor) int32. current : the round that is taken in parts. begin, next : its sets.
    """

    sets: Int32s
    current: int
    begin: int
    next: int

    @classmethod
    def of(cls, rounds: SetRounds, random: JavaRandom) -> "_Turns":
        sets = np.stack(rounds.rounds)
        begin = random.next_int(sets.shape[1])
        return cls(sets, random.next_int(len(sets)), begin, begin)

    def take(self, partitions: int, leads: Int64s, random: JavaRandom) -> Int32s:
        """(partitions, factor) int32 positions, the leader first; adds to (brokers,) `leads`."""
        rounds, number, factor = self.sets.shape
        every = self.sets.reshape(-1, factor)
        block = every[:, _orders(factor)].reshape(-1, factor)
        blocks, rest = divmod(partitions, len(block))
        cycles, rest = divmod(rest, len(every))
        whole, part = divmod(rest, number)
        of_rounds = self.sets[(self.current + 1 + np.arange(whole)) % rounds]
        of_part = self.sets[self.current, (self.next + np.arange(part)) % number]
        self.next = (self.next + part) % number
        if self.next == self.begin:
            self.current = (self.current + 1) % rounds
        others = np.concatenate([*[every] * cycles, *of_rounds, of_part])
        brokers, candidates = len(leads), np.full(len(others), factor)
        leads += blocks * np.bincount(block[:, 0], minlength=brokers)
        state = np.uint64(random.state)
        state = leaders_kernel.lead(others, candidates, np.ones(brokers), leads, np.arange(brokers), state)
        random.state = int(state)
        return np.concatenate([*[block] * blocks, others])


def _orders(factor: int) -> Int64s:
    """(orders, factor) int64: the places of a set with every two of them first and second."""
    places = range(factor)
    return np.array(
        [
            [leader, follower, *(place for place in places if place not in (leader, follower))][:factor]
            for leader in places
            for follower in places
            if leader != follower or factor == 1
        ]
    )


OPTIONS = OptionSet(
    read=lambda values: SetChoice(values.get("scatter_width"), values.get("front") or False),
    canonical=asdict,
    follow=OnSets,
)
