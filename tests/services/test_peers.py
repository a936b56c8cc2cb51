"""Reassignments beside the best that other planners were measured to reach on the same clusters."""

import numpy as np
import pytest

from benchmarks.peers import figures_of, planned
from tests.peer_clusters import cluster, evaluate
from tests.peer_figures import CASES, Ends, PeerCase, PeerFigures

SMALL = [case for case in CASES if case.is_quick]
LARGE = [case for case in CASES if not case.is_quick]


def _name(case: PeerCase) -> str:
    return f"{case.cluster}: {case.name}"


def _is_within(ours: Ends, theirs: Ends) -> bool:
    """Ends of peers are known to two digits after the point."""
    return ours[0] <= theirs[0] + 0.005 and ours[1] >= theirs[1] - 0.005


def _assert_no_peer_is_better(case: PeerCase) -> None:
    ours = figures_of(case, planned(case))
    assert ours.rack_violations == 0
    for peer in case.peers:
        for name in case.compared:
            theirs = getattr(peer, name)
            assert theirs is None or getattr(ours, name) <= theirs, (peer.peer, name, ours)
        for name in case.within:
            ends = getattr(peer, name)
            assert ends is None or _is_within(getattr(ours, name), ends), (peer.peer, name, ours)


@pytest.mark.long
@pytest.mark.parametrize("case", SMALL, ids=_name)
def test_no_peer_moves_less_to_as_narrow_a_band(case: PeerCase) -> None:
    """Bytes, replicas or leader changes, whichever the request minimises, within the loads that the peer leaves."""
    _assert_no_peer_is_better(case)


@pytest.mark.long
@pytest.mark.parametrize("case", LARGE, ids=_name)
def test_no_peer_moves_less_on_large_clusters(case: PeerCase) -> None:
    """The same, of requests that take longer."""
    _assert_no_peer_is_better(case)


def test_the_clusters_are_those_that_peers_were_measured_on() -> None:
    """The largest and the smallest load of a cluster before any change, as the peers' evaluator printed it."""
    before = evaluate(cluster("b"), {})
    assert (before.moved_bytes, before.leader_changes, before.rack_violations) == (0, 0, 0)
    assert (before.replicas, before.leaders, before.bytes) == ((1.187, 0.387), (1.19, 0.39), (1.645, 0.201))
    partitions = sum(len(topic.replicas) for topic in cluster("b").topics)
    assert (len(cluster("b").brokers), partitions, len(cluster("b").topics)) == (30, 3000, 60)


def test_the_evaluator_counts_what_a_placement_is() -> None:
    """Of the first partition the leader's replica goes to a broker in another of its racks."""
    topic = cluster("b").topics[0]
    lists = topic.replicas.copy()
    rack_of = {broker.id: broker.rack for broker in cluster("b").brokers}
    row = lists[0].tolist()
    new = next(broker for broker in rack_of if broker not in row and rack_of[broker] == rack_of[row[1]])
    lists[0] = np.array([new, *row[1:]])
    found = evaluate(cluster("b"), {topic.name: lists})
    assert (found.moved_replicas, found.moved_bytes) == (1, topic.size_bytes[0])
    assert (found.leader_changes, found.rack_violations) == (1, 1)


def test_ends_are_compared_with_what_is_known_of_them() -> None:
    peer = PeerFigures("peer", 0, 0, leaders=(1.09, 0.9))
    assert peer.leaders is not None
    assert _is_within((1.094, 0.896), peer.leaders)
    assert not _is_within((1.1, 0.9), peer.leaders)
