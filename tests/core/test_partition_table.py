"""The table of a cluster's partitions, and loads of brokers after a loss, beside a slow evaluation."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.health import cluster_health, partition_states
from app.core.measures.partition_table import PartitionTable
from app.core.measures.tally import BrokerArrays
from app.core.model import NO_LEADER, NO_REPLICA, Broker, Cluster, Topic, padded


def topic(name: str, rows: list[tuple[list[int], list[int], int]]) -> Topic:
    """A topic of rows: replicas, in-sync replicas, leader."""
    none = np.zeros((len(rows), 0), np.int32)
    return Topic(
        name,
        np.arange(len(rows), dtype=np.int32),
        padded([replicas for replicas, _, _ in rows]),
        np.array([leader for _, _, leader in rows], np.int32),
        padded([isr for _, isr, _ in rows]),
        none,
        none,
        np.array([100 * (index + 1) for index in range(len(rows))], np.int64),
    )


def rows() -> st.SearchStrategy[list[tuple[list[int], list[int], int]]]:
    """Partitions on brokers 1 to 5, with some replicas in sync, one of which leads, or none."""

    def of(replicas: list[int], bits: int, has_leader: bool) -> tuple[list[int], list[int], int]:
        isr = [broker for index, broker in enumerate(replicas) if bits >> index & 1]
        return replicas, isr, isr[-1] if isr and has_leader else NO_LEADER

    replicas = st.permutations([1, 2, 3, 4, 5]).flatmap(lambda order: st.integers(1, 4).map(lambda n: order[:n]))
    return st.lists(st.builds(of, replicas, st.integers(0, 15), st.booleans()), min_size=1, max_size=4)


@given(st.lists(rows(), min_size=1, max_size=3), st.sets(st.integers(1, 5), max_size=3))
def test_loads_after_a_loss_equal_a_slow_evaluation(
    topics: list[list[tuple[list[int], list[int], int]]], lost: set[int]
) -> None:
    """Partition by partition: replicas that are left count, and the first one in sync leads if the leader is lost."""
    cluster = Cluster(
        "c",
        tuple(Broker(broker, "ab"[broker % 2]) for broker in range(1, 5)),  # broker 5 only holds replicas
        tuple(topic(f"t{index}", each) for index, each in enumerate(topics)),
    )
    table = PartitionTable.of(cluster)
    loads = table.loads(table.lost(lost))
    ids = table.brokers.ids.tolist()
    replicas, leaders, size = dict.fromkeys(ids, 0), dict.fromkeys(ids, 0), dict.fromkeys(ids, 0)
    offline = []
    for each in topics:
        for index, (of_row, isr, leader) in enumerate(each):
            left = [broker for broker in of_row if broker not in lost]
            for broker in left:
                replicas[broker] += 1
                size[broker] += 100 * (index + 1)
            after = leader
            if leader in lost:
                after = next((broker for broker in left if broker in isr), NO_LEADER)
            if after != NO_LEADER:
                leaders[after] += 1
            offline.append(after == NO_LEADER)
    assert loads.replicas.tolist() == list(replicas.values())
    assert loads.leaders.tolist() == list(leaders.values())
    assert loads.bytes.tolist() == list(size.values())
    assert loads.offline.tolist() == offline


def test_losing_a_rack_loses_its_brokers_alone() -> None:
    cluster = Cluster("c", (Broker(1, "a"), Broker(2, "b"), Broker(3)), (topic("t", [([1, 2, 3], [1, 2, 3], 1)]),))
    table = PartitionTable.of(cluster)
    assert table.lost(racks=["a"]).tolist() == [True, False, False]
    assert table.loads(table.lost(racks=["a", "b"])).leaders.tolist() == [0, 0, 1]


def test_one_topic_is_counted_alone() -> None:
    topics = (topic("t", [([1], [1], 1)]), topic("u", [([2], [2], 2), ([1], [1], 1)]))
    table = PartitionTable.of(Cluster("c", (Broker(1, "a"), Broker(2, "b")), topics))
    rows = table.rows_of("u")
    assert table.loads(table.lost(), rows).replicas.tolist() == [1, 1]
    assert table.rows_of("v") == slice(0, len(table.partition_ids))
    assert table.topics_on(0, 5) == [("t", 1), ("u", 1)]
    assert PartitionTable.of(Cluster("c", (Broker(1),))).loads(np.zeros(1, np.bool_)).replicas.tolist() == [0]


def test_health_counts_what_is_wrong() -> None:
    """One partition of each kind: offline, out of sync, in one rack, led by another replica, on an unlisted broker.

    That broker is down, and its rack unknown: nothing is illegal, and it may be in another rack.
    """
    cluster = Cluster(
        "c",
        (Broker(1, "a"), Broker(2, "a"), Broker(3, "b", fenced=True)),
        (topic("t", [([1, 3], [1], NO_LEADER), ([1, 2], [1, 2], 2), ([3, 9], [3, 9], 3)]),),
    )
    health = cluster_health(cluster)
    assert (health.offline, health.under_replicated, health.not_rack_safe) == (1, 1, 1)
    assert (health.not_preferred, health.illegal, health.fenced_brokers) == (2, 0, 1)
    assert (health.replicas, health.bytes, health.unknown_sizes) == (6, 1200, 0)
    assert health.replica_skew == round(2 / (5 / 3), 4)
    assert NO_REPLICA not in PartitionTable.of(cluster).brokers.ids
    assert (health.under_min_isr, health.at_min_isr, health.min_isr_unknown) == (0, 0, 3)
    of_two = replace(cluster.topics[0], name="u", configs={"min.insync.replicas": "2"})
    health = cluster_health(replace(cluster, topics=(*cluster.topics, of_two)))
    assert (health.under_min_isr, health.at_min_isr, health.min_isr_unknown) == (1, 2, 3)


@given(st.lists(rows(), max_size=4))
def test_states_of_a_cluster_are_those_of_its_topics(drawn: list[list[tuple[list[int], list[int], int]]]) -> None:
    """Topics of any factor count alone as they count together, and health counts the states."""
    topics = tuple(topic(f"t{number}", each) for number, each in enumerate(drawn))
    cluster = Cluster("c", tuple(Broker(broker, "ab"[broker % 2]) for broker in range(1, 5)), topics)
    brokers, health = BrokerArrays.of(cluster.known_brokers), cluster_health(cluster)
    alone = [partition_states(replace(cluster, topics=(each,)), brokers) for each in topics]
    for name, mask in partition_states(cluster, brokers).items():
        assert mask.tolist() == [is_in for part in alone for is_in in part[name].tolist()]
        assert getattr(health, name) == mask.sum()
    factors = [[len(replicas) for replicas, _, _ in each] for each in drawn]
    assert health.replicas == sum(map(sum, factors))
    assert health.bytes == sum(100 * place * factor for each in factors for place, factor in enumerate(each, 1))
