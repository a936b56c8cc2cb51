"""The envelope of AdminUtils covers the outcomes of all draws."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic
from app.core.replicas import admin_utils, admin_utils_envelope
from tests.core.test_admin_utils import clusters
from tests.profiles import costly


@given(clusters(most=7), st.data(), st.integers(1, 60), st.one_of(st.just(0), st.integers(0, 30)))
def test_enumerated_bounds_are_those_of_every_draw(
    brokers: list[Broker], data: st.DataObject, partitions: int, first: int
) -> None:
    topic = NewTopic("t", partitions, data.draw(st.integers(1, len(brokers))), first)
    found = admin_utils_envelope.envelope(brokers, topic)
    line = admin_utils.BrokerWalk.of(brokers)
    draws = [
        line.rows(partitions, topic.replication_factor, first=first, start=start, shift=shift)
        for start in range(len(brokers))
        for shift in range(len(brokers))
    ]
    assert found.method == "enumerated"
    for share, columns in ((found.leaders, slice(0, 1)), (found.replicas, slice(None))):
        counts = np.array([[(rows[:, columns] == broker).sum() for broker in found.broker_ids] for rows in draws])
        np.testing.assert_array_equal(share.lowest, counts.min(axis=0))
        np.testing.assert_array_equal(share.highest, counts.max(axis=0))
        spreads = np.ptp(counts, axis=1)
        assert (share.guaranteed_spread, share.worst_case_spread) == (spreads.min(), spreads.max())


@costly()
@given(st.sampled_from([130, 600]), st.integers(1, 2000), st.integers(1, 3), st.integers(0, 2**32))
def test_no_draw_passes_the_bounds_of_a_large_cluster(n: int, partitions: int, factor: int, seed: int) -> None:
    """Too many to enumerate: 130 brokers are counted by whole blocks, 600 are bounded by general limits."""
    brokers = [Broker(broker, f"rack{min(2, broker * 6 // n)}") for broker in range(n)]
    topic = NewTopic("t", partitions, factor)
    found = admin_utils_envelope.envelope(brokers, topic)
    rows = admin_utils.place(brokers, topic, random=JavaRandom(seed)).replicas
    for share, columns in ((found.leaders, rows[:, 0]), (found.replicas, rows.ravel())):
        counts = np.bincount(columns, minlength=n)
        assert (share.lowest <= counts).all()
        assert (counts <= share.highest).all()
        assert share.guaranteed_spread <= np.ptp(counts) <= share.worst_case_spread


def test_leaders_of_a_multiple_of_the_brokers_are_always_equal() -> None:
    """KIP-36's promise, said by the envelope."""
    found = admin_utils_envelope.envelope(
        [Broker(broker, f"r{broker % 2}") for broker in range(6)], NewTopic("t", 12, 2)
    )
    assert found.leaders.worst_case_spread == 0
    assert found.leaders.lowest.tolist() == [2] * 6
