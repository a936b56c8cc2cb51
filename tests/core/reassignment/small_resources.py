"""Small problems of several resources, every placement of which, with every choice of leaders, can be looked at."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    FollowerReads,
    Limits,
    ResourceLoads,
    ResourceProblem,
    loads_of,
)
from tests import draws as st
from tests.core.reassignment import small_problems as small


@st.composite
def resource_problems(draw: st.DrawFn) -> ResourceProblem:
    """Up to five brokers and four partitions; leaders load more than followers; some limits, soft or hard."""
    movement, _, _ = draw(small.problems())
    rows, brokers = len(movement.domain_of), len(movement.broker_ids)
    of_follower = _matrix(draw, rows, 9)
    of_leader = of_follower + _matrix(draw, rows, 9)
    of_follower[:, 4:], of_leader[:, 4:] = (1, 0), (1, 1)
    reads = None
    if draw(st.booleans()):
        racks = int(movement.rack_of.max()) + 1
        reads = FollowerReads(_matrix(draw, rows, 9), np.full(racks, 1_000_000 // racks, np.int64))
    capacity = _matrix(draw, brokers, 4) if draw(st.booleans()) else np.zeros((brokers, len(RESOURCES)), np.int64)
    upper = np.full((brokers, len(RESOURCES)), NO_LIMIT, np.int64)
    for column in range(len(RESOURCES)):
        if draw(st.sampled_from([True, False, False])):
            upper[:, column] = draw(st.lists(st.integers(0, 30), min_size=brokers, max_size=brokers))
    soft = np.array(draw(st.lists(st.booleans(), min_size=len(RESOURCES), max_size=len(RESOURCES))))
    leaders = [
        draw(st.sampled_from([*[b for b in row if b != NO_REPLICA], NO_LEADER])) for row in movement.current.tolist()
    ]
    return ResourceProblem(
        movement=movement,
        loads=ResourceLoads(of_leader, of_follower, _matrix(draw, brokers, 5), capacity, reads),
        limits=Limits(upper, soft),
        leader=np.array(leaders, np.int32),
        may_lead=np.array(draw(st.lists(st.sampled_from([True, True, False]), min_size=brokers, max_size=brokers))),
        topic_of=np.array([draw(st.integers(0, 1)) for _ in range(rows)], np.int32),
    )


def _matrix(draw: Any, rows: int, highest: int) -> Int64s:
    size = rows * len(RESOURCES)
    numbers = draw(st.lists(st.integers(0, highest), min_size=size, max_size=size))
    return np.array(numbers, np.int64).reshape(rows, len(RESOURCES))


def answers(problem: ResourceProblem) -> Iterator[tuple[int, Int64s, Int32s]]:
    """Moved weight, loads and leaders of every placement with every choice of leaders that may lead."""
    movement = problem.movement
    for placement in small.placements(movement):
        moved = small.moved_weight(movement, placement)
        width = max(len(chosen) for chosen in placement)
        replicas = np.array([[*chosen, *[NO_REPLICA] * (width - len(chosen))] for chosen in placement], np.int32)
        choices = [[b for b in chosen if problem.may_lead[b]] or list(chosen) for chosen in placement]
        for leaders in product(*choices):
            led = np.array(leaders, np.int32)
            yield moved, loads_of(problem.loads, movement.rack_of, replicas, led), led
