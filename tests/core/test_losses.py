"""The loss of each broker and rack at once, beside the evaluation of one loss after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.losses import each_loss
from app.core.measures.partition_table import PartitionTable
from app.core.model import Broker, Cluster
from tests.core.test_partition_table import rows, topic


@given(
    st.lists(rows(), max_size=3),
    st.lists(st.sampled_from(["a", "b", None]), min_size=4, max_size=4),
)
def test_each_loss_equals_the_loads_after_it(
    topics: list[list[tuple[list[int], list[int], int]]], racks: list[str | None]
) -> None:
    """For each broker, also one that is not listed, and each rack; brokers without a rack are lost with none."""
    cluster = Cluster(
        "c",
        tuple(Broker(index + 1, rack) for index, rack in enumerate(racks)),  # broker 5 only holds replicas
        tuple(topic(f"t{index}", each) for index, each in enumerate(topics)),
    )
    table = PartitionTable.of(cluster)
    before = table.loads(table.lost())
    ids, names = table.brokers.ids.tolist(), table.brokers.racks
    by_broker = each_loss(table, np.arange(len(ids), dtype=np.int32), len(ids))
    by_rack = each_loss(table, table.brokers.rack_of, len(names))
    for found, losses in (
        (by_broker, [table.lost([broker]) for broker in ids]),
        (by_rack, [table.lost(racks=[rack]) for rack in names]),
    ):
        assert len(found.offline) == len(losses)
        for index, lost in enumerate(losses):
            loads = table.loads(lost)
            assert found.offline[index] == np.count_nonzero(loads.offline & ~before.offline)
            assert found.elected[index] == loads.elected
            assert found.reduced[index] == np.count_nonzero(loads.reduced)


def test_a_partition_whose_replicas_are_in_one_rack_goes_offline_with_it() -> None:
    cluster = Cluster(
        "c", (Broker(1, "a"), Broker(2, "a"), Broker(3, "b")), (topic("t", [([1, 2], [1, 2], 1), ([3, 1], [3, 1], 3)]),)
    )
    table = PartitionTable.of(cluster)
    found = each_loss(table, table.brokers.rack_of, 2)
    assert (found.offline.tolist(), found.elected.tolist(), found.reduced.tolist()) == ([1, 0], [0, 1], [2, 1])
