"""Measurements of a cluster as a scenario's topics; stated values win."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capacity.loads import workload
from app.core.capacity.sections import IngressSeries, TopicIngress, ingress, read_topics, topic_document
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Topic

rates = st.floats(0, 1e9)


def test_one_number_stands_for_a_list_of_equal_ones() -> None:
    stated: dict[str, Any] = {"name": "t", "partitions": 3, "replication_factor": 1, "ingress_bytes_per_s": 1}
    [one], [each] = (read_topics([{**stated, "retained_bytes_per_partition": size}]) for size in (8, [8, 8, 8]))
    for by in (1, 4):
        first, second = (workload([topic.multiplied(by)]) for topic in (one, each))
        assert first.growing_bytes.tolist() == second.growing_bytes.tolist() == [8 / by] * 3 * by


@st.composite
def series(draw: st.DrawFn) -> list[IngressSeries]:
    """Several series, each of a topic or a partition of another, with gaps."""
    actual = []
    for topic, partition in draw(
        st.lists(st.sampled_from([("t", None), ("u", 0), ("u", 1), ("u", 4)]), min_size=1, max_size=6)
    ):
        times = draw(st.lists(st.integers(0, 5), min_size=1, unique=True))
        values = draw(st.lists(rates, min_size=len(times), max_size=len(times)))
        actual.append(IngressSeries(topic, partition, np.array(times, float), np.array(values)))
    return actual


def topic(sizes: list[int], *, widths: list[int] | None = None, removing: list[int] | None = None) -> Topic:
    """A topic with these sizes, as many replicas of each partition, and replicas being removed."""
    widths = widths or [3] * len(sizes)
    widest = max(widths)
    replicas = np.array([[b if b < width else NO_REPLICA for b in range(widest)] for width in widths], np.int32)
    leaving = np.array(
        [[b if b < count else NO_REPLICA for b in range(widest)] for count in removing or [0] * len(sizes)], np.int32
    )
    return Topic(
        name="u",
        partition_ids=np.arange(len(sizes), dtype=np.int32),
        replicas=replicas,
        leaders=replicas[:, 0],
        isr=replicas,
        adding=np.empty((len(sizes), 0), np.int32),
        removing=leaving,
        size_bytes=np.array(sizes, np.int64),
    )


@given(series())
def test_ingress_is_neither_lost_nor_doubled(actual: list[IngressSeries]) -> None:
    """The means add up to all samples over all times, partitions to their topic, and no peak is below its mean."""
    times = {time for its in actual for time in its.times.tolist()}
    measured = ingress(actual)
    written = sum(its.bytes_per_s.sum() for its in actual) / len(times)
    assert sum(its.mean for its in measured.values()) == pytest.approx(written)
    for name, its in measured.items():
        assert its.peak >= its.mean
        if name == "u":
            assert sum(its.by_partition.values()) == pytest.approx(its.mean)


def test_a_leader_that_moves_ends_one_series_and_begins_another() -> None:
    """Two brokers, four minutes: 10 bytes/s throughout, on the one and then on the other; 30 in the third minute."""
    one = IngressSeries("t", None, np.array([0.0, 60.0]), np.array([10.0, 10.0]))
    other = IngressSeries("t", None, np.array([120.0, 180.0]), np.array([30.0, 10.0]))
    assert ingress([one, other]) == {"t": TopicIngress(15.0, 30.0, {})}
    assert ingress([]) == {}


STATED: dict[str, Any] = {"ingress_bytes_per_s": 8.0}


def test_partitions_have_their_bytes_on_disk_and_their_measured_ingress() -> None:
    actual = topic_document(topic([100, 300]), TopicIngress(4.0, 9.0, {0: 3.0, 1: 1.0}), {"consumer_groups": 2})
    assert actual == {
        "name": "u",
        "partitions": 2,
        "replication_factor": 3,
        "ingress_bytes_per_s": 4.0,
        "peak_ingress_bytes_per_s": 9.0,
        "partition_weights": [3.0, 1.0],
        "retained_bytes_per_partition": [100, 300],
        "consumer_groups": 2,
    }
    its = workload(read_topics([actual]))
    assert its.peak_ingress.tolist() == [6.75, 2.25]
    assert its.growing_bytes.tolist() == [100, 300]


def test_without_rates_by_partition_ingress_is_proportional_to_bytes_on_disk() -> None:
    """If records are retained for a time, a partition holds as much as is written to it."""
    assert topic_document(topic([100, 300]), TopicIngress(4.0, 4.0, {}), {})["partition_weights"] == [100, 300]
    assert topic_document(topic([100, 300]), None, STATED)["partition_weights"] == [100, 300]
    assert "partition_weights" not in topic_document(topic([0, 0]), None, STATED)
    assert "partition_weights" not in topic_document(topic([5, UNKNOWN_SIZE]), None, STATED)


@pytest.mark.parametrize(
    "stated", [{"retention_s": 60}, {"retained_bytes": 7}, {"retained_bytes_per_partition": [1, 2]}]
)
def test_stated_values_override_measured_ones(stated: dict[str, Any]) -> None:
    expected = STATED | stated | {"partition_weights": "uniform", "replication_factor": 2, "partitions": 2}
    actual = topic_document(topic([100, 300]), TopicIngress(4.0, 9.0, {}), expected)
    assert actual == {"name": "u"} | expected


def test_an_unknown_size_leaves_retention_absent() -> None:
    assert "retained_bytes_per_partition" not in topic_document(topic([5, UNKNOWN_SIZE]), None, STATED)
    assert topic_document(topic([5, 6]), None, STATED | {"retention_bytes": 9})["retained_bytes_per_partition"] == [
        5,
        6,
    ]


def test_the_factor_is_the_largest_once_a_reassignment_has_ended() -> None:
    """Five replicas of which two leave are three."""
    assert topic_document(topic([1, 1], widths=[3, 5], removing=[0, 2]), None, STATED)["replication_factor"] == 3
    assert topic_document(topic([1, 1], widths=[2, 4]), None, STATED)["replication_factor"] == 4


TIERED = {
    "remote.storage.enable": "true",
    "retention.ms": "604800000",
    "local.retention.ms": "3600000",
    "segment.bytes": "1048576",
    "min.insync.replicas": "2",
}


def test_a_tiered_topic_retains_what_its_configurations_state() -> None:
    """The bytes on disk are those of local retention, so that they say nothing of retention."""
    actual = topic_document(replace(topic([100, 300]), configs=TIERED), None, STATED)
    assert actual == STATED | {
        "name": "u",
        "partitions": 2,
        "replication_factor": 3,
        "partition_weights": [100, 300],
        "remote_storage": True,
        "retention_s": 604_800,
        "local_retention_s": 3600,
        "segment_bytes": 1_048_576,
        "min_insync_replicas": 2,
    }
    its = workload(read_topics([actual]))
    assert its.remote_bytes == 8 * 604_800
    assert its.local_bytes.tolist() == [2 * 3600, 6 * 3600]


def test_what_is_stated_of_a_tiered_topic_counts_before_its_configurations() -> None:
    tiered = replace(topic([100, 300]), configs=TIERED)
    stated = STATED | {"retained_bytes": 7_000, "local_retention_s": 60}
    actual = topic_document(tiered, None, stated)
    assert (actual["retained_bytes"], actual["local_retention_s"]) == (7_000, 60)
    assert "retention_s" not in actual
    untiered = topic_document(tiered, None, STATED | {"remote_storage": False})
    assert (untiered["remote_storage"], untiered["retention_s"]) == (False, 604_800)
    assert "local_retention_s" not in untiered


@pytest.mark.parametrize("limit", ["-1", "9223372036854775807"])
def test_unlimited_retention_is_no_retention(limit: str) -> None:
    """All that is known are the bytes on disk."""
    configs = {"remote.storage.enable": "true", "retention.ms": limit, "local.retention.ms": "-2"}
    actual = topic_document(replace(topic([100, 300]), configs=configs), None, STATED)
    assert actual["retained_bytes_per_partition"] == [100, 300]
    assert {"retention_s", "local_retention_s"}.isdisjoint(actual)


def test_a_topic_with_fewer_replicas_than_min_insync_replicas_needs_all_of_them() -> None:
    single = replace(topic([1], widths=[1]), configs={"min.insync.replicas": "2"})
    assert topic_document(single, None, STATED)["min_insync_replicas"] == 1
