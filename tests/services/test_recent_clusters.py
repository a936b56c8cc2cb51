"""The clusters that are kept between requests: those used last, within a number of partitions."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import NO_REPLICA, Broker, Cluster, Topic, padded, unpadded
from app.formats.snapshots import snapshot_json
from app.services import snapshots
from app.services.limits import Limits
from app.services.snapshots import recent, records
from app.services.snapshots.recent import RecentClusters
from app.store.database import Database
from tests.web.test_clusters import small

rows = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=4), max_size=6)


def of(partitions: int) -> Cluster:
    ids = np.arange(partitions, dtype=np.int32)
    one, none = np.ones((partitions, 1), np.int32), np.zeros((partitions, 0), np.int32)
    return Cluster("c", (Broker(1),), (Topic("t", ids, one, one[:, 0], one, none, none, ids.astype(np.int64)),))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 5)), max_size=30))
def test_those_used_last_are_kept_within_the_limit(uses: list[tuple[str, int]]) -> None:
    """As an ordered list by hand: each use is the newest, and the oldest are dropped while there are too many."""
    kept, by_hand = RecentClusters(), OrderedDict[str, int]()
    limit, recent.MOST_PARTITIONS = recent.MOST_PARTITIONS, 8
    try:
        for name, size in uses:
            assert (kept.get(name) is not None) == (name in by_hand)
            kept.keep(name, of(size))
            by_hand[name] = size
            by_hand.move_to_end(name)
            while len(by_hand) > 1 and sum(by_hand.values()) > 8:
                by_hand.popitem(last=False)
    finally:
        recent.MOST_PARTITIONS = limit


def test_a_snapshot_is_read_once(database: Database) -> None:
    with database.begin() as uow:
        stored = snapshots.store(uow, small(), Limits())
        first, second = (snapshots.load(uow, stored.id)[1] for _ in range(2))
    assert first is second
    assert first.name == "small"


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
    monkeypatch.setattr(records, "RECENT", RecentClusters())
    with database.begin() as uow:
        assert snapshots.store(uow, small(), Limits()).id == before.id
        columns = uow.snapshots.columns(before.id)
        assert columns is not None
        monkeypatch.setattr(uow.snapshots, "document", None)
        assert snapshot_json.write(snapshots.load(uow, before.id)[1]) == snapshot_json.write(small())
