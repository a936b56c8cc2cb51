"""Leaders within bounds at the least cost, against the flow solver."""

import numpy as np
import pytest

from app.core.flow import InfeasibleFlow, Network, min_cost_flow
from app.core.model import Int32s, Int64s
from app.core.reassignment.solvers.leaders.paths import Receivers, settled

BROKERS, ROWS, WIDTH = 12, 300, 3
FORBIDDEN = 1 << 30


def _least_cost(costs: Int64s, low: Int64s, high: Int64s) -> int:
    """The least cost of one broker for each row of (rows, brokers) int64 costs, by a flow of rows to brokers."""
    row, broker = np.nonzero(costs < FORBIDDEN)
    sink = ROWS + BROKERS
    network = Network(
        np.concatenate([np.ones(ROWS, np.int64), -low, [int(low.sum()) - ROWS]]),
        np.concatenate([row, ROWS + np.arange(BROKERS)]).astype(np.int32),
        np.concatenate([ROWS + broker, np.full(BROKERS, sink)]).astype(np.int32),
        np.concatenate([np.ones(len(row), np.int64), high - low]),
    )
    return min_cost_flow(network, [np.concatenate([costs[row, broker], np.zeros(BROKERS, np.int64)])]).costs[0]


def _bound(costs: Int64s, low: Int64s, high: Int64s, prices: Int64s) -> int:
    """The cheapest broker of each row, prices included, less the value of the bounds."""
    cheapest = np.where(costs < FORBIDDEN, costs + prices, 2 * FORBIDDEN).min(axis=1)
    return int(cheapest.sum()) - int(np.where(prices > 0, prices * high, prices * low).sum())


def _instance(seed: int, largest: int) -> tuple[Int32s, Int64s, Int32s, Receivers, Int64s]:
    """A table with its costs, the first replica of each row as the leader, and (rows, brokers) int64 costs of all."""
    random = np.random.default_rng(seed)
    # A third of the brokers has few replicas.
    keys = random.exponential(size=(ROWS, BROKERS)) * np.where(np.arange(BROKERS) < BROKERS // 3, 4, 1)
    table = np.argsort(keys, axis=1)[:, :WIDTH].astype(np.int32)
    costs = np.concatenate([np.zeros((ROWS, 1)), random.integers(0, largest, (ROWS, WIDTH - 1))], axis=1)
    costs = costs.astype(np.int64)
    costs[random.random(costs.shape) < 0.1] = -1
    costs[:, 0] = 0
    sets = random.random((3, BROKERS)) < 0.4
    other = costs.max(axis=1) + random.integers(0, largest, ROWS)
    receivers = Receivers(other, random.integers(0, 3, ROWS), sets)
    every = np.where(sets[receivers.set_of], other[:, None], FORBIDDEN)
    for at in range(WIDTH):
        of_column = np.where(costs[:, at] < 0, every[np.arange(ROWS), table[:, at]], costs[:, at])
        every[np.arange(ROWS), table[:, at]] = of_column
    return table, costs, table[:, 0].copy(), receivers, every


@pytest.mark.parametrize("largest", [1, 3, 10**6])
@pytest.mark.parametrize("width", [0, 5])
@pytest.mark.parametrize("seed", range(8))
def test_the_cost_is_the_least_and_prices_prove_it(seed: int, width: int, largest: int) -> None:
    """Bounds around the mean; many equal costs, some, or none."""
    table, costs, leader, receivers, every = _instance(seed, largest)
    low, high = (np.full(BROKERS, ROWS // BROKERS + each) for each in (-width, width))
    found = settled(table, costs, leader, low, high, receivers)
    try:
        least = _least_cost(every, low, high)
    except InfeasibleFlow:
        assert found is None
        return
    assert found is not None
    leaders, prices = found
    counts = np.bincount(leaders, minlength=BROKERS)
    assert ((counts >= low) & (counts <= high)).all()
    assert int(every[np.arange(ROWS), leaders].sum()) == least == _bound(every, low, high, prices)


def test_bounds_that_no_choice_is_within() -> None:
    """Two partitions have replicas on broker 0 alone."""
    table, costs = np.zeros((2, 1), np.int32), np.zeros((2, 1), np.int64)
    assert settled(table, costs, table[:, 0], np.zeros(2, np.int64), np.ones(2, np.int64)) is None


def test_partitions_without_a_leader_stay() -> None:
    """The first has no replica that may lead."""
    table, costs = np.array([[0, 1], [0, 1]], np.int32), np.array([[-1, -1], [0, 1]], np.int64)
    found = settled(table, costs, np.array([-1, 0], np.int32), np.array([0, 1]), np.array([0, 1]))
    assert found is not None
    assert found[0].tolist() == [-1, 1]
