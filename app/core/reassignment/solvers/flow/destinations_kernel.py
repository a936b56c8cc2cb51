"""The compiled loop of `destinations`: moved replicas exchange their destinations while a goal improves."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.legal_sets_kernel import contains
from app.core.reassignment.solvers.flow.places_kernel import PlaceRules

NONE = -1
BYTES, TOPICS, BYTES_WITHIN_TOPICS = 0, 1, 2
BREADTH = 8
"""Brokers that a replica looks at in a pass; others in the next."""


class Targets(NamedTuple):
    """(targets,) int64 brokers by rack, those of rack r from `first_of_rack[r]` on."""

    by_rack: Int64Vector
    first_of_rack: Int64Vector


class MovedReplicas(NamedTuple):
    """Moved replicas, and those of each broker as a circular list.

    Parameters
    ----------
    row, column : (moved,) int64 its place in the lists. size : (moved,) int64 bytes.
    topic : (moved,) int64 row of the table of topics; `NONE` if the topic does not count.
    following, preceding : (moved,) int64 the next and the previous one on the same broker.
    first : (brokers,) int64 the one of each broker that is looked at next; `NONE` if it receives none.
    """

    row: Int64Vector
    column: Int64Vector
    size: Int64Vector
    topic: Int64Vector
    following: Int64Vector
    preceding: Int64Vector
    first: Int64Vector


class Occupancy(NamedTuple):
    """The placement, and what brokers have and may have.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1.
    counts, count_low, count_high : (brokers,) int64 replicas. loads, load_low, load_high : (brokers,) int64 bytes.
    of_topic : (topics, brokers) int32 replicas of each topic that counts.
    """

    at: Int32Matrix
    counts: Int64Vector
    count_low: Int64Vector
    count_high: Int64Vector
    loads: Int64Vector
    load_low: Int64Vector
    load_high: Int64Vector
    of_topic: Int32Matrix


@compiled
def exchange(
    rules: PlaceRules,
    targets: Targets,
    moved: MovedReplicas,
    occupancy: Occupancy,
    order: Int64Vector,
    goal: int,
    depth: int,
    passes: int,
    work: int,
) -> None:
    """Give each moved replica, in this order, a destination that improves the goal; repeat until none does.

    A replica either goes to another broker, if the bounds of counts allow, or exchanges its destination with a moved
    replica of that broker. `BREADTH` brokers are looked at, and `depth` replicas of each: others the next time.

    Parameters
    ----------
    goal : `BYTES`, `TOPICS` or `BYTES_WITHIN_TOPICS`.
    depth : moved replicas of a broker that a replica looks at.
    passes : over all moved replicas, at most. work : exchanges to look at, at most.
    """
    racks = len(targets.first_of_rack) - 1
    in_racks, cursors = np.zeros(racks, np.int64), np.zeros(racks, np.int64)
    for _ in range(passes):
        is_better = False
        for replica in order:
            row = moved.row[replica]
            here, domain = occupancy.at[row, moved.column[replica]], rules.domain_of[row]
            own_rack = rules.rack_of[here]
            open_racks = _count_open_racks(rules, occupancy, row, own_rack, in_racks)
            best, best_to, best_partner = 0.0, NONE, NONE
            for rack in range(racks):
                if _is_open(rules, domain, in_racks, rack, own_rack):
                    breadth = max(BREADTH // open_racks, 2)
                    gain, to, partner, looked_at = _best_in_rack(
                        rules, targets, moved, occupancy, replica, rack, cursors, breadth, depth, goal
                    )
                    work -= looked_at
                    if gain > best:
                        best, best_to, best_partner = gain, to, partner
            if best > 0:
                is_better = True
                _move(moved, occupancy, replica, best_to)
                if best_partner != NONE:
                    _move(moved, occupancy, best_partner, here)
            if work <= 0:
                return
        if not is_better:
            return


@subroutine
def _best_in_rack(
    rules: PlaceRules,
    targets: Targets,
    moved: MovedReplicas,
    occupancy: Occupancy,
    replica: int,
    rack: int,
    cursors: Int64Vector,
    breadth: int,
    depth: int,
    goal: int,
) -> tuple[float, int, int, int]:
    """The best exchange with brokers of a rack: its gain, the broker, the partner or `NONE`, and how many it looked at.

    The cursor of the rack moves on to the brokers that it did not look at.
    """
    row, topic = moved.row[replica], moved.topic[replica]
    here = occupancy.at[row, moved.column[replica]]
    begin, end = targets.first_of_rack[rack], targets.first_of_rack[rack + 1]
    # To pass over a broker costs about an eighth of looking at an exchange.
    best, best_to, best_partner, looked_at = 0.0, NONE, NONE, (end - begin) // 8
    for step in range(end - begin):
        place = begin + cursors[rack] + step
        to = targets.by_rack[place if place < end else place + begin - end]
        if goal == TOPICS:
            if topic == NONE or occupancy.of_topic[topic, here] <= occupancy.of_topic[topic, to] + 1:
                continue
        elif occupancy.loads[to] >= occupancy.loads[here]:
            continue
        if not _is_free(rules, occupancy, row, to):
            continue
        looked_at += 1
        if occupancy.counts[here] > occupancy.count_low[here] and occupancy.counts[to] < occupancy.count_high[to]:
            gain = _gain(moved, occupancy, replica, NONE, here, to, goal, best)
            if gain > best:
                best, best_to, best_partner = gain, to, NONE
        partner = moved.first[to]
        for _ in range(depth if partner != NONE else 0):
            looked_at += 1
            gain = _gain(moved, occupancy, replica, partner, here, to, goal, best)
            if gain > best and _may_come(rules, moved, occupancy, partner, here):
                best, best_to, best_partner = gain, to, partner
            partner = moved.following[partner]
            if partner == moved.first[to]:
                break
        moved.first[to] = partner
        breadth -= 1
        if breadth == 0:
            cursors[rack] = (cursors[rack] + step + 1) % (end - begin)
            break
    return best, best_to, best_partner, looked_at


@subroutine
def _count_open_racks(rules: PlaceRules, occupancy: Occupancy, row: int, own_rack: int, in_racks: Int64Vector) -> int:
    """Fill `in_racks` with the replicas of the partition; the number of racks that its replica may be in."""
    in_racks[:] = 0
    for column in range(occupancy.at.shape[1]):
        broker = occupancy.at[row, column]
        if broker >= 0:
            in_racks[rules.rack_of[broker]] += 1
    number = 0
    for rack in range(len(in_racks)):
        number += _is_open(rules, rules.domain_of[row], in_racks, rack, own_rack)
    return number


@subroutine
def _is_open(rules: PlaceRules, domain: int, in_racks: Int64Vector, rack: int, own_rack: int) -> bool:
    """Whether a replica of a partition may leave its rack for another, or stays in it."""
    return bool(
        rack == own_rack
        or (in_racks[rack] < rules.most[domain, rack] and in_racks[own_rack] > rules.least[domain, own_rack])
    )


@subroutine
def _is_free(rules: PlaceRules, occupancy: Occupancy, row: int, to: int) -> bool:
    """Whether the broker may receive a replica of the partition, and has none, now or afterwards."""
    if not rules.may_receive[rules.domain_of[row], to]:
        return False
    return not contains(occupancy.at, row, to) and not contains(rules.current, row, to)


@subroutine
def _may_come(rules: PlaceRules, moved: MovedReplicas, occupancy: Occupancy, partner: int, to: int) -> bool:
    """Whether the destination of a moved replica may be another broker."""
    row = moved.row[partner]
    domain = rules.domain_of[row]
    rack, rack_left = rules.rack_of[to], rules.rack_of[occupancy.at[row, moved.column[partner]]]
    if rack != rack_left:
        there = left = 0
        for column in range(occupancy.at.shape[1]):
            other = occupancy.at[row, column]
            if other >= 0:
                there += rules.rack_of[other] == rack
                left += rules.rack_of[other] == rack_left
        if there >= rules.most[domain, rack] or left <= rules.least[domain, rack_left]:
            return False
    return _is_free(rules, occupancy, row, to)


@subroutine
def _gain(
    moved: MovedReplicas, occupancy: Occupancy, replica: int, partner: int, here: int, to: int, goal: int, least: float
) -> float:
    """By how much the goal improves if the replica goes there and its partner comes here; 0 if by less than `least`."""
    more = moved.size[replica] - (moved.size[partner] if partner != NONE else 0)
    loads = occupancy.loads
    if goal != TOPICS:
        gain = float(more) * float(loads[here] - loads[to] - more)
        if gain <= least or goal == BYTES:
            return gain
        return gain if _topic_gain(moved, occupancy, replica, partner, here, to) >= 0 else 0.0
    if more > 0 and (loads[here] - more < occupancy.load_low[here] or loads[to] + more > occupancy.load_high[to]):
        return 0.0
    if more < 0 and (loads[here] - more > occupancy.load_high[here] or loads[to] + more < occupancy.load_low[to]):
        return 0.0
    return float(_topic_gain(moved, occupancy, replica, partner, here, to))


@subroutine
def _topic_gain(moved: MovedReplicas, occupancy: Occupancy, replica: int, partner: int, here: int, to: int) -> int:
    """By how much the sum of the cubes of `of_topic` decreases."""
    of_topic, topic = occupancy.of_topic, moved.topic[replica]
    other = moved.topic[partner] if partner != NONE else NONE
    gain = 0
    if topic == other:
        return gain
    if topic != NONE:
        gain += _step(of_topic[topic, here]) - _step(of_topic[topic, to] + 1)
    if other != NONE:
        gain += _step(of_topic[other, to]) - _step(of_topic[other, here] + 1)
    return gain


@subroutine
def _step(count: int) -> int:
    """By how much the cube of a number exceeds that of the number before."""
    return 3 * int(count) * (int(count) - 1) + 1


@subroutine
def _move(moved: MovedReplicas, occupancy: Occupancy, replica: int, to: int) -> None:
    """Change the destination of a replica."""
    row, column = moved.row[replica], moved.column[replica]
    here, size, topic = occupancy.at[row, column], moved.size[replica], moved.topic[replica]
    following, preceding = moved.following[replica], moved.preceding[replica]
    moved.following[preceding], moved.preceding[following] = following, preceding
    if moved.first[here] == replica:
        moved.first[here] = following if following != replica else NONE
    if moved.first[to] == NONE:
        moved.first[to] = moved.following[replica] = moved.preceding[replica] = replica
    else:
        following = moved.first[to]
        preceding = moved.preceding[following]
        moved.following[replica], moved.preceding[replica] = following, preceding
        moved.following[preceding] = moved.preceding[following] = replica
    occupancy.at[row, column] = to
    occupancy.counts[here] -= 1
    occupancy.counts[to] += 1
    occupancy.loads[here] -= size
    occupancy.loads[to] += size
    if topic != NONE:
        occupancy.of_topic[topic, here] -= 1
        occupancy.of_topic[topic, to] += 1
