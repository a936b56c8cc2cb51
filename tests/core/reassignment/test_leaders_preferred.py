"""The preferred order of replica lists, and the partitions that await a preferred election."""

import numpy as np
from hypothesis import given

from app.core.model import NO_LEADER, Topic, padded, unpadded
from app.core.replica_lists import with_leader_first
from tests import draws as st

rows = st.lists(st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=4), max_size=6)


def topic(replicas: list[list[int]], leaders: list[int], isr: list[list[int]]) -> Topic:
    """A topic at rest."""
    nothing = np.empty((len(leaders), 0), np.int32)
    sizes = np.zeros(len(leaders), np.int64)
    ids = np.arange(len(leaders), dtype=np.int32)
    return Topic("t", ids, padded(replicas), np.array(leaders, np.int32), padded(isr), nothing, nothing, sizes)


@given(replicas=rows, data=st.data())
def test_the_leader_comes_first_and_the_others_keep_their_order(replicas: list[list[int]], data: st.DataObject) -> None:
    """The rest of a row's order is unchanged: a leader that is first already changes nothing."""
    leaders = [data.draw(st.sampled_from(row)) for row in replicas]
    ordered = unpadded(with_leader_first(padded(replicas), np.array(leaders, np.int32)))
    assert ordered == [
        [leader, *(broker for broker in row if broker != leader)] for row, leader in zip(replicas, leaders, strict=True)
    ]


def test_gaps_close() -> None:
    """Padding goes to the end, wherever it was."""
    gaps = np.array([[-1, 4, 5], [3, -1, 1]], np.int32)
    assert with_leader_first(gaps, np.array([5, -1], np.int32)).tolist() == [[5, 4, -1], [3, 1, -1]]


def test_who_awaits_an_election() -> None:
    """As preferred; another leads and the first is in sync; it is not; there is no leader."""
    led = topic([[1, 2]] * 4, [1, 2, 2, NO_LEADER], [[1, 2], [2, 1], [2], []])
    assert led.awaits_election.tolist() == [False, True, False, False]


def test_no_replicas_at_all() -> None:
    """A table without columns has no preferred leader, and no broker to elect."""
    assert topic([[], []], [NO_LEADER, NO_LEADER], [[], []]).awaits_election.tolist() == [False, False]
