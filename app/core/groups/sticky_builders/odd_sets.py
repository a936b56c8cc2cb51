"""Java's own sets beside those compiled sets of moved partitions in which a bin has become a tree."""

from collections.abc import Iterator

import numpy as np

from app.core.groups.sticky_builders import moves_kernel as sets
from app.core.groups.sticky_builders.group import Partitions
from app.core.groups.sticky_builders.moves_kernel import Moves
from app.core.jvm import JavaHashSet
from app.core.jvm.hashes import TOPIC_PARTITION, string_hash_codes, topic_partition_hash_codes


class OddSets:
    """Follows what happens to odd sets, and says what they iterate over first."""

    def __init__(self, partitions: Partitions, moves: Moves) -> None:
        self._partitions = partitions
        self._moves = moves
        self._sets: dict[int, JavaHashSet[tuple[str, int]]] = {}

    def hear(self) -> None:
        """Take in the news; to be called after each move that makes some."""
        for what, which, number in self._moves.news[: self._moves.n_news[0]].tolist():
            if what == sets.BECOMES_ODD:
                table = int(self._moves.sets[which, sets.TABLE])
                self._sets[which] = JavaHashSet(TOPIC_PARTITION, initial_capacity=table)
                for member in self._listed(which):
                    self._sets[which].add(self._key(member))
            elif what == sets.ADDED:
                self._sets[which].add(self._key(number))
            else:
                self._sets[which].discard(self._key(number))
        self._moves.n_news[0] = 0

    def first_of(self, which: int) -> int:
        """The number of the partition that a set iterates over first."""
        topic, partition = next(iter(self._sets[which]))
        return int(self._partitions.offsets[self._partitions.topics.index(topic)]) + partition

    def _listed(self, which: int) -> Iterator[int]:
        number = int(self._moves.sets[which, sets.FIRST])
        while number >= 0:
            yield number
            number = int(self._moves.following[number])

    def _key(self, number: int) -> tuple[str, int]:
        return self._partitions.topics[self._partitions.topic_of[number]], int(self._partitions.id_of[number])


def no_moves(partitions: Partitions) -> Moves:
    """The sets before anything has moved."""
    hashes = topic_partition_hash_codes(string_hash_codes(partitions.topics)[partitions.topic_of], partitions.id_of)
    table = np.zeros((partitions.known + 1, 8), np.int64)
    table[:, sets.NEXT] = np.arange(1, len(table) + 1)
    return Moves(
        origin=np.full(len(hashes), -1, np.int64),
        following=np.full(len(hashes), -1, np.int64),
        bins=(hashes.view(np.uint32) ^ (hashes.view(np.uint32) >> np.uint32(16))).astype(np.int64),
        sets=table,
        of_topic=np.full(len(partitions.topics), -1, np.int64),
        free=np.zeros(1, np.int64),
        news=np.zeros((2, 3), np.int64),
        n_news=np.zeros(1, np.int64),
    )
