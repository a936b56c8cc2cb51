"""The cost of every loss, beside an evaluation of each partition after each loss."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures import losses as measured
from app.core.measures.losses import LossCounts, Losses, ReplicaStates
from app.core.measures.partition_table import PartitionTable, log_dir_losses
from app.core.measures.placement import measure
from app.core.measures.tally import BrokerArrays, tally
from app.core.model import NO_LEADER, NO_LOG_DIR, Broker, Cluster, LogDirectory, Topic
from tests.core.test_partition_table import rows, topic

Row = tuple[list[int], list[int], int]
CONFIGS: Sequence[Mapping[str, str]] = ({}, *({"min.insync.replicas": str(least)} for least in (1, 2, 3)))


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Cluster, list[tuple[Row, int]]]:
    """A cluster of four listed brokers, some fenced, and a fifth that only has replicas; and its partitions, each with
    its `min.insync.replicas`, 0 if unknown.
    """
    racks = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=4, max_size=4))
    fenced = draw(st.sets(st.integers(0, 3), max_size=1))
    brokers = tuple(Broker(index + 1, rack, fenced=index in fenced) for index, rack in enumerate(racks))
    described = draw(st.lists(st.tuples(rows(), st.sampled_from(CONFIGS)), max_size=3))
    topics = [replace(topic(f"t{i}", each), configs=configs) for i, (each, configs) in enumerate(described)]
    partitions = [(row, int(next(iter(configs.values()), "0"))) for each, configs in described for row in each]
    return Cluster("c", brokers, tuple(topics)), partitions


def after(partitions: Sequence[tuple[Row, int]], lost: Collection[int]) -> LossCounts:
    """Each partition after a loss, by the definitions."""
    offline = unwritable = at_min = moved = fewer = 0
    for (replicas, isr, leader), least in partitions:
        left = [broker for broker in isr if broker not in lost]
        fewer += bool(set(replicas) & set(lost))
        if leader == NO_LEADER:
            continue
        offline += leader in lost and not left
        moved += leader in lost and bool(left)
        unwritable += least > 0 and len(left) < least <= len(isr)
        at_min += least > 0 and len(left) == least < len(isr)
    is_known = not partitions or any(least for _, least in partitions)
    return LossCounts(offline, unwritable if is_known else None, at_min if is_known else None, moved, fewer)


def expect(found: Losses, cluster: Cluster, partitions: Sequence[tuple[Row, int]]) -> None:
    brokers = {broker.id: broker for broker in cluster.known_brokers}
    racks = {broker.rack for broker in brokers.values()} - {None}
    assert found.brokers == {broker: after(partitions, [broker]) for broker in sorted(brokers)}
    assert found.racks == {
        str(rack): after(partitions, [each.id for each in brokers.values() if each.rack == rack])
        for rack in sorted(map(str, racks))
    }
    live = [broker for broker in sorted(brokers) if not brokers[broker].fenced]
    pairs = {pair: after(partitions, pair) for pair in combinations(live, 2)}
    is_known = not partitions or any(least for _, least in partitions)
    unwritable = None if not is_known else sum(bool(counts.unwritable) for counts in pairs.values())
    assert found.pairs is not None
    assert found.during_restart is not None
    assert (found.pairs.pairs, found.pairs.unwritable_pairs) == (len(pairs), unwritable)
    assert found.pairs.offline_pairs == sum(bool(counts.offline) for counts in pairs.values())
    worst = sorted(pairs, key=lambda pair: (-(pairs[pair].unwritable or 0), -pairs[pair].offline, pair))
    costly = [pair for pair in worst if pairs[pair].unwritable or pairs[pair].offline]
    assert [(each.brokers, each.unwritable, each.offline) for each in found.pairs.worst] == [
        (pair, pairs[pair].unwritable, pairs[pair].offline) for pair in costly[: measured.WORST_PAIRS]
    ]
    share = None if unwritable is None or not pairs else round(unwritable / len(pairs), 6)
    assert found.during_restart.share_of_failures_unwritable == share
    assert found.min_isr_unknown == sum(least == 0 for _, least in partitions)


@given(clusters())
def test_the_cluster_as_it_is(sampled: tuple[Cluster, list[tuple[Row, int]]]) -> None:
    """Every broker, listed or not, every rack and every pair of live brokers."""
    cluster, partitions = sampled
    table = PartitionTable.of(cluster)
    expect(table.states().losses(table.brokers), cluster, partitions)


@given(clusters())
def test_a_placement_counts_as_in_sync_on_live_brokers(sampled: tuple[Cluster, list[tuple[Row, int]]]) -> None:
    cluster, partitions = sampled
    down = {broker.id for broker in cluster.known_brokers if broker.fenced}
    placed = []
    for (replicas, _, _), least in partitions:
        isr = [broker for broker in replicas if broker not in down]
        placed.append(((replicas, isr, isr[0] if isr else NO_LEADER), least))
    counts = tally({each.name: each.assignment for each in cluster.topics}, cluster.known_brokers)
    known = {each.name: stated for each in cluster.topics if (stated := each.min_insync_replicas) is not None}
    found = measure(counts, known).losses
    assert found is not None
    expect(found, cluster, placed)


def of_rows(*lists: list[int], least: int = 2) -> Topic:
    listed = topic("t", [(replicas, replicas, replicas[0]) for replicas in lists])
    return replace(listed, configs={"min.insync.replicas": str(least)})


def test_what_a_lost_rack_costs() -> None:
    """Three replicas in two racks with two required: the rack that has two of them stops writes, the other does not."""
    cluster = Cluster("c", (Broker(1, "a"), Broker(2, "a"), Broker(3, "b")), (of_rows([1, 2, 3], [3, 1, 2]),))
    table = PartitionTable.of(cluster)
    assert table.states().losses(table.brokers).racks == {
        "a": LossCounts(offline=0, unwritable=2, at_min_isr=0, leaders_moved=1, fewer_replicas=2),
        "b": LossCounts(offline=0, unwritable=0, at_min_isr=2, leaders_moved=1, fewer_replicas=2),
    }


@pytest.mark.parametrize("least", [4, 2**31 - 1])
def test_more_in_sync_replicas_required_than_there_are(least: int) -> None:
    """Such partitions cannot be written before a loss, so that none makes them so."""
    table = PartitionTable.of(Cluster("c", tuple(map(Broker, (1, 2, 3))), (of_rows([1, 2, 3], least=least),)))
    found = table.states().losses(table.brokers)
    assert {counts.unwritable for counts in found.brokers.values()} == {0}
    assert found.pairs is not None
    assert found.pairs.unwritable_pairs == 0


def test_an_empty_cluster() -> None:
    table = PartitionTable.of(Cluster("c", ()))
    found = table.states().losses(table.brokers)
    assert (found.racks, found.brokers, found.min_isr_unknown) == ({}, {}, 0)


@pytest.mark.parametrize("configs", CONFIGS)
def test_a_log_directory_is_lost_with_its_replicas_alone(configs: Mapping[str, str]) -> None:
    """Replicas in unknown directories, and on brokers whose directories are unknown, are lost with none."""
    paths = {1: ("/a", "/b"), 3: ("/c",)}
    lists = ([1, 2, 3], [3, 1, 2], [1])
    indices = np.array([[0, NO_LOG_DIR, 0], [0, 1, NO_LOG_DIR], [0, -1, -1]], np.int32)
    listed = replace(topic("t", [(each, each, each[0]) for each in lists]), log_dirs=indices, configs=configs)
    directories = {broker: tuple(map(LogDirectory, listed_paths)) for broker, listed_paths in paths.items()}
    cluster = Cluster("c", tuple(map(Broker, (1, 2, 3))), (listed, topic("u", [([1], [1], 1)])), log_dirs=directories)
    found = log_dir_losses(cluster, PartitionTable.of(cluster))
    least = int(configs.get("min.insync.replicas", 0))
    rows_of = {(1, "/a"): (0, 2), (1, "/b"): (1,), (3, "/c"): (0, 1)}
    assert found is not None
    assert [(broker, path) for broker, each in found.items() for path in each] == list(rows_of)
    for (broker, path), rows_lost in rows_of.items():
        partitions: list[tuple[Row, int]] = [((lists[row], lists[row], lists[row][0]), least) for row in rows_lost]
        expected = after(partitions, [broker])
        assert found[broker][path] == expected
    assert log_dir_losses(replace(cluster, log_dirs={}), PartitionTable.of(cluster)) is None


def test_pairs_of_many_brokers_are_left_out() -> None:
    brokers = BrokerArrays.of([Broker(broker) for broker in range(measured.MOST_BROKERS + 1)])
    positions, least = np.array([[0, 1]], np.int32), np.array([2], np.int32)
    found = ReplicaStates.placed(positions, brokers.fenced, least).losses(brokers)
    assert (found.pairs, found.during_restart) == (None, None)
    assert found.brokers[1].unwritable == 1
