"""Compiled loops of the uniform assignor for members with different subscriptions. Owners and subscribers are indices.

Partition p of topic t is owners[starts[t] + p]. `ranked` is the subscribers of a topic by number of partitions, then
by index.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.counting_kernel import grouped
from app.core.model import NO_MEMBER, Int64s

MOST_ROUNDS = 16
"""Kafka ends the balancing after this number of rounds over all topics."""


class TopicArrays(NamedTuple):
    """Topics and their subscribers.

    starts, counts : (topics,) int64, the first row of each topic and its number of partitions.
    subscriber_set_of : (topics,) int32.
    set_starts : (subscriber sets + 1,) int64; set s is subscribers[set_starts[s] : set_starts[s + 1]].
    subscribers : int64 members by subscriber set, ascending in each.
    """

    starts: Int64Vector
    counts: Int64Vector
    subscriber_set_of: Int32Vector
    set_starts: Int64Vector
    subscribers: Int64Vector


@subroutine
def _subscribers_of(topics: TopicArrays, topic: int) -> Int64s:
    number = topics.subscriber_set_of[topic]
    return topics.subscribers[topics.set_starts[number] : topics.set_starts[number + 1]]


@compiled
def assign_unassigned(order: Int64Vector, topics: TopicArrays, owners: Int32Vector, sizes: Int64Vector) -> None:
    """Assign unassigned partitions to the subscribers with the fewest partitions, topic by topic."""
    ranked = np.empty(len(sizes), np.int64)
    for topic in order:
        subscribers_of_topic = _subscribers_of(topics, topic)
        end = at = level = 0
        for place in range(topics.starts[topic], topics.starts[topic] + topics.counts[topic]):
            if owners[place] != NO_MEMBER:
                continue
            if end == 0:
                _rank(subscribers_of_topic, sizes, ranked)
                level = sizes[ranked[0]]
                end = _end_of_level(ranked, len(subscribers_of_topic), sizes, 0, level)
            elif at == end:
                # All up to here have one more than before; those that had as many from the start follow.
                level += 1
                end = _end_of_level(ranked, len(subscribers_of_topic), sizes, end, level)
                at = 0
            owners[place] = ranked[at]
            sizes[ranked[at]] += 1
            at += 1


@compiled
def balance(order: Int64Vector, topics: TopicArrays, owners: Int32Vector, sizes: Int64Vector) -> Int64s:
    """Move partitions from the subscribers with the most to those with the fewest, until a round changes nothing.

    Returns
    -------
    (moves, 2) int64: row and former owner of each moved partition.
    """
    ranked = np.empty(len(sizes), np.int64)
    moves = np.empty((64, 2), np.int64)
    n_moves, last = 0, -1
    for _ in range(MOST_ROUNDS):
        for turn in range(len(order)):
            if turn == last:
                return moves[:n_moves]
            topic = order[turn]
            subscribers_of_topic = _subscribers_of(topics, topic)
            first, before = topics.starts[topic], n_moves
            least, most = _bounds(subscribers_of_topic, sizes)
            if most - least > 1:
                owners_of_topic = owners[first : first + topics.counts[topic]]
                _rank(subscribers_of_topic, sizes, ranked)
                topic_moves = _balance_topic(ranked[: len(subscribers_of_topic)], owners_of_topic, sizes)
                n_moves += len(topic_moves)
                while n_moves > len(moves):
                    moves = np.concatenate((moves, np.empty_like(moves)))
                for i in range(len(topic_moves)):
                    moves[before + i, 0] = topic_moves[i, 0] + first
                    moves[before + i, 1] = topic_moves[i, 1]
            if n_moves > before or last == -1:
                last = turn
    return moves[:n_moves]


@subroutine
def _balance_topic(ranked: Int64Vector, owners_of_topic: Int32Vector, sizes: Int64Vector) -> Int64s:
    """Balance one topic; returns (moves, 2) int64: partition and former owner."""
    moves = np.empty((len(owners_of_topic), 2), np.int64)
    n_moves = 0
    first, partitions = grouped(np.arange(len(owners_of_topic)), owners_of_topic.astype(np.int64), len(sizes))
    end_of = first[1:].copy()
    # Receivers are taken from the front of the ranking and senders from its end, each range one level at a time. A
    # sender without a partition of this topic is put behind the end of its range.
    receiver_end = receiver_place = 0
    receiver_level = sizes[ranked[0]] - 1
    sender_start = sender_end = len(ranked)
    sender_place = len(ranked) - 1
    sender_level = sizes[ranked[-1]] + 1
    while sender_level - receiver_level > 1:
        sender = -1
        while True:
            if sender_place < sender_start:
                if sender_end <= sender_start and sender_start > 0:
                    sender_level = sizes[ranked[sender_start - 1]]
                else:
                    sender_level -= 1
                while sender_start > 0 and sizes[ranked[sender_start - 1]] == sender_level:
                    sender_start -= 1
                sender_place = sender_end - 1
            if sender_place < 0:
                return moves[:n_moves]
            sender = ranked[sender_place]
            sender_place -= 1
            if end_of[sender] > first[sender]:
                break
            ranked[sender_place + 1] = ranked[sender_end - 1]
            ranked[sender_end - 1] = sender
            sender_end -= 1
        end_of[sender] -= 1
        partition = partitions[end_of[sender]]
        if receiver_place >= receiver_end:
            receiver_level += 1
            receiver_end = _end_of_level(ranked, len(ranked), sizes, receiver_end, receiver_level)
            receiver_place = 0
        receiver = ranked[receiver_place]
        receiver_place += 1
        if sender_level - receiver_level <= 1:
            break
        moves[n_moves, 0] = partition
        moves[n_moves, 1] = sender
        n_moves += 1
        owners_of_topic[partition] = receiver
        sizes[sender] -= 1
        sizes[receiver] += 1
    return moves[:n_moves]


@subroutine
def _bounds(subscribers_of_topic: Int64Vector, sizes: Int64Vector) -> tuple[int, int]:
    least = most = int(sizes[subscribers_of_topic[0]])
    for member in subscribers_of_topic:
        least = min(least, int(sizes[member]))
        most = max(most, int(sizes[member]))
    return least, most


@subroutine
def _rank(subscribers_of_topic: Int64Vector, sizes: Int64Vector, ranked: Int64Vector) -> None:
    """Fill the front of `ranked` with a topic's subscribers; a counting sort unless the sizes spread too far."""
    least, most = _bounds(subscribers_of_topic, sizes)
    above_least = sizes[subscribers_of_topic] - least
    if most - least > 4 * len(subscribers_of_topic):
        keys = (above_least << 32) | subscribers_of_topic
        keys.sort()
        by_size = keys & 0xFFFFFFFF
    else:
        _, by_size = grouped(subscribers_of_topic, above_least, most - least + 1)
    ranked[: len(by_size)] = by_size


@subroutine
def _end_of_level(ranked: Int64Vector, n_ranked: int, sizes: Int64Vector, end: int, level: int) -> int:
    """The end of the range of subscribers with `level` partitions, searched from `end` on."""
    while end < n_ranked and sizes[ranked[end]] == level:
        end += 1
    return end
