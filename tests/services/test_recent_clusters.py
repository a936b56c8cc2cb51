"""The clusters that are cached between requests: those used last, within a limit on their memory."""

import tracemalloc
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import NO_REPLICA, Broker, Cluster, Topic, padded, unpadded
from app.core.recorded import RecordedGroup, RecordedMember, RecordedOffset, TopicPartitions
from app.formats.snapshots import snapshot_json
from app.services import snapshots
from app.services.limits import Limits
from app.services.snapshots import records
from app.services.snapshots.records import Recent, memory_of
from app.store.database import Database
from app.web.clusters import cluster as tables
from app.web.clusters.view import ClusterView
from tests.web.test_clusters import small

rows = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=4), max_size=6)


def of(partitions: int, *, topics: int = 1, brokers: int = 1) -> Cluster:
    """A cluster of topics with `partitions` each."""
    ids = np.arange(partitions, dtype=np.int32)
    one, none = np.ones((partitions, 1), np.int32), np.zeros((partitions, 0), np.int32)
    columns = (ids, one, one[:, 0], one, none, none, ids.astype(np.int64))
    named = tuple(Topic(f"t{number:06}", *columns) for number in range(topics))
    return Cluster("c", tuple(Broker(1 + number, "r") for number in range(brokers)), named)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 5)), max_size=30))
def test_the_most_recently_used_stay_within_the_limit(uses: list[tuple[str, int]]) -> None:
    """As an ordered list by hand: each use is the newest, and the oldest are dropped while they are too large."""
    recent, by_hand = Recent[str, int](8), OrderedDict[str, int]()
    for name, size in uses:
        assert recent.get(name) == by_hand.get(name)
        recent.keep(name, size, size)
        by_hand[name] = size
        by_hand.move_to_end(name)
        while len(by_hand) > 1 and sum(by_hand.values()) > 8:
            by_hand.popitem(last=False)


@pytest.mark.parametrize("each", [of(1, topics=1), of(1, topics=100), of(100)], ids=["small", "topics", "partitions"])
def test_clusters_of_any_shape_stay_within_the_limit(each: Cluster) -> None:
    """Small topics are objects for the most part: a limit on partitions alone allowed a hundred times the memory."""
    recent = Recent[int, Cluster](2**20)
    for number in range(2000):
        recent.keep(number, each, memory_of(each))
    remaining = sum(recent.get(number) is not None for number in range(2000))
    assert 1 <= remaining <= 2**20 / allocated(each) * 2


def grouped() -> Cluster:
    owned = (TopicPartitions("t", tuple(range(1000, 1010))),)
    members = tuple(RecordedMember(f"m-{number}", "c", "/10.0.0.1", assigned=owned) for number in range(50))
    offsets = tuple(RecordedOffset("t", number, 10_000, 20_000, 10_000, "m-1") for number in range(500))
    return Cluster("c", (Broker(1),), groups=(RecordedGroup("g", "Stable", "range", members, offsets),))


@pytest.mark.long
@pytest.mark.parametrize(
    "cluster",
    [of(1), of(10_000), of(1, topics=500), of(1, brokers=500), grouped()],
    ids=["small", "partitions", "topics", "brokers", "groups"],
)
def test_the_memory_of_a_cluster_is_what_reading_it_allocates(cluster: Cluster) -> None:
    measured = allocated(cluster)
    assert measured / 2 <= memory_of(cluster) <= measured * 2


def allocated(cluster: Cluster) -> float:
    """The bytes that a cluster has which is read: by Python's own count, over several."""
    document = snapshot_json.write(cluster)
    read = [snapshot_json.read(document)]  # allocations of the first one alone are not counted
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        read += [snapshot_json.read(document) for _ in range(5)]
        return (tracemalloc.get_traced_memory()[0] - before) / 5
    finally:
        tracemalloc.stop()


def test_a_snapshot_is_read_once(database: Database) -> None:
    with database.begin() as uow:
        stored = snapshots.store(uow, small(), Limits())
        first, second = (snapshots.load(uow, stored.id)[1] for _ in range(2))
    assert first is second
    assert first.name == "small"


def test_pages_keep_tables_within_their_limit(database: Database) -> None:
    recent: tables.Analyses = Recent(2**15)
    with database.begin() as uow:
        clusters = [replace(of(1, topics=400), name=f"c{number}") for number in range(4)]
        for cluster in clusters:
            snapshots.store(uow, cluster, Limits())
        views = [ClusterView(cluster.name) for cluster in clusters]
        first, *_, last = [tables.Shown(uow, view, recent).losses for view in views]
        assert tables.Shown(uow, views[-1], recent).losses is last
        assert tables.Shown(uow, views[0], recent).losses is not first


@given(rows)
def test_lists_of_any_lengths_are_padded(lists: list[list[int]]) -> None:
    array = padded(lists)
    assert array.shape == (len(lists), max(map(len, lists), default=0))
    assert array.dtype == np.int32
    assert unpadded(array) == lists
    assert padded([tuple(each) for each in lists]).tolist() == array.tolist()
    assert (array != NO_REPLICA).sum() == sum(map(len, lists))


def test_a_large_cluster_is_read_from_its_columns(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was stored before there were columns gets them when its state is stored again, under the same id."""
    with database.begin() as uow:
        before = snapshots.store(uow, small(), Limits())
        assert uow.snapshots.columns(before.id) is None
    monkeypatch.setattr(records, "COLUMNS_FROM", 1)
    monkeypatch.setattr(records, "RECENT", Recent(1))
    with database.begin() as uow:
        assert snapshots.store(uow, small(), Limits()).id == before.id
        columns = uow.snapshots.columns(before.id)
        assert columns is not None
        monkeypatch.setattr(uow.snapshots, "document", None)
        assert snapshot_json.write(snapshots.load(uow, before.id)[1]) == snapshot_json.write(small())
