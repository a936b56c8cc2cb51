"""Clusters so small that every choice of leaders can be tried, and problems written as the eye reads them."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_LEADER, Int32s, padded
from app.core.reassignment.solvers.leaders.problem import LeaderProblem
from tests import draws as st


def problem(
    replicas: Sequence[Sequence[int]],
    *,
    brokers: int,
    leader: Sequence[int] | None = None,
    barred: Sequence[int] = (),
    new: Sequence[Sequence[int]] = (),
    untargeted: Sequence[int] = (),
    base: Sequence[int] = (),
    weight: Sequence[int] = (),
    changing: Sequence[int] = (),
    behind: Sequence[Sequence[int]] = (),
) -> LeaderProblem:
    """Partitions led by their first replicas, unless said; `new` are (row, broker) that have to be copied first,
    `changing` are rows whose leader may change with keep, `behind` are (row, broker) that Kafka cannot elect.
    """
    table = padded(replicas)
    positions = np.arange(brokers)
    return LeaderProblem(
        replicas=table,
        leader=np.array([row[0] for row in replicas] if leader is None else leader, np.int32),
        may_change=np.isin(np.arange(len(replicas)), changing),
        may_lead=~np.isin(positions, barred),
        is_new=_are_listed(table, new),
        is_ready=~_are_listed(table, behind) if behind else None,
        target=~np.isin(positions, untargeted),
        base=np.array(base or [0] * brokers, np.int64),
        weight=np.array(weight or [1] * len(replicas), np.int64),
    )


def _are_listed(table: Int32s, pairs: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    listed = list(map(list, pairs))
    flags = [[[row, broker] in listed for broker in line] for row, line in enumerate(table.tolist())]
    return np.array(flags, np.bool_).reshape(table.shape)


@st.composite
def problems(draw: st.DrawFn, *, weights: bool = False) -> LeaderProblem:
    """Up to 7 partitions on up to 6 brokers: evacuated ones, leaders that are gone, new partitions and replicas,
    replicas out of sync.
    """
    brokers = draw(st.integers(1, 6))
    lines = draw(st.lists(st.lists(st.integers(0, brokers - 1), min_size=1, max_size=3, unique=True), max_size=7))
    leaders = [draw(st.sampled_from([NO_LEADER, *line, *line, draw(st.integers(0, brokers - 1))])) for line in lines]
    some = st.lists(st.integers(0, brokers - 1), max_size=2)
    return problem(
        lines,
        brokers=brokers,
        leader=leaders,
        barred=draw(some),
        new=[(row, broker) for row, line in enumerate(lines) for broker in line if draw(st.integers(0, 3)) == 0],
        behind=[(row, broker) for row, line in enumerate(lines) for broker in line if draw(st.integers(0, 4)) == 0],
        untargeted=draw(some),
        base=draw(st.lists(st.integers(0, 4), min_size=brokers, max_size=brokers)),
        weight=[draw(st.integers(0, 12)) for _ in lines] if weights else (),
        changing=draw(st.lists(st.integers(0, 6), max_size=4)),
    )


def may_lead(instance: LeaderProblem, row: int) -> list[int]:
    """The replicas of a partition that may lead, whatever their rank: ready ones before others."""
    line = instance.replicas[row].tolist()
    there = [broker for broker in line if broker != NO_LEADER]
    is_ready = instance.is_ready
    among = [broker for broker in there if is_ready is None or is_ready[row, line.index(broker)]] or there
    return [broker for broker in among if instance.may_lead[broker]] or among


def choices(instance: LeaderProblem, *, keep: bool = False) -> Iterator[tuple[int, ...]]:
    """Every choice there is; with `keep` those in which leaders that may go on do."""
    options = []
    rows = zip(instance.leader.tolist(), instance.may_change.tolist(), strict=True)
    for row, (leader, may_change) in enumerate(rows):
        may = may_lead(instance, row)
        options.append([leader] if keep and leader in may and not may_change else may)
    return product(*options)


def on_new(instance: LeaderProblem, choice: Sequence[int]) -> int:
    """How many partitions are led by a replica that has to be copied first."""
    lines = zip(instance.replicas.tolist(), instance.is_new.tolist(), choice, strict=True)
    return sum(is_new[line.index(leader)] for line, is_new, leader in lines)
