"""The release of Kafka in `kafka-features describe` and in log lines; errors of other texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.kafka_versions import SUPPORTED, KafkaVersion
from app.formats.clusters.broker_features import BrokerReleases, read, release_of_level
from tests.formats.strategies import assembled, broken, reads_or_rejects, rejected
from tests.profiles import examples

OTHER = "Feature: kraft.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: 1\tEpoch: 12\n"


def line(supported: str, finalized: str) -> str:
    return (
        f"Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: {supported}\t"
        f"FinalizedVersionLevel: {finalized}\tEpoch: 12\n"
    )


@pytest.mark.parametrize(
    ("supported", "finalized", "releases"),
    [
        ("4.1-IV1", "4.0-IV3", BrokerReleases(("4.1",), "4.0", has_patch=False)),
        ("27", "25", BrokerReleases(("4.1",), "4.0", has_patch=False)),
        ("3.9-IV0", "0", BrokerReleases(("3.9",), None, has_patch=False)),
        ("34", "4.4-IV2", BrokerReleases((), "4.4", has_patch=False)),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_features_name_the_newest_metadata_version(
    supported: str, finalized: str, releases: BrokerReleases, end: str
) -> None:
    text = (OTHER + line(supported, finalized) + OTHER).replace("\n", end)
    assert read(text) == releases


@pytest.mark.parametrize(
    ("features", "version"),
    [(line("4.1-IV1", "4.1-IV1"), "4.2.1"), ("", "4.2.1"), ("INFO Kafka version: 4.1.2\n", "4.1.2")],
)
def test_the_log_of_a_tool_beats_the_metadata_version(features: str, version: str) -> None:
    """The tool logs it before its output, wherever that is; the log of a broker counts more."""
    logged = "[2026-11-20 12:00:00,000] INFO Kafka version: 4.2.1 (org.apache.kafka.common.utils.AppInfoParser)\n"
    topics = logged + "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    topics += "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    parts = {"topics": topics, "features": features}
    read_as_parts = assembled("c", **{name: text for name, text in parts.items() if text})
    assert read_as_parts.cluster.kafka_version == version
    if "INFO" not in features:
        assert assembled("c", body=topics + features).cluster.kafka_version == version


def test_a_log_names_the_release_with_its_patch() -> None:
    """A log has every start of the broker, so that the last line is the newest."""
    logged = "[2026-01-{} 12:00:00,000] INFO Kafka version: {} (org.apache.kafka.common.utils.AppInfoParser)\n"
    text = logged.format("02", "4.0.1") + "INFO Kafka commitId: 2c6fb6c54472e90a\n" + logged.format("31", "4.1.0")
    assert read(text) == BrokerReleases(("4.0.1", "4.1.0"))
    assert read(logged.format("02", "3.9.0.redhat-1") + line("4.1-IV1", "4.1-IV1")) == BrokerReleases(
        ("3.9.0.redhat-1",)
    )


@given(st.integers(0, 40))
def test_levels_grow_with_releases(level: int) -> None:
    here, above = release_of_level(level), release_of_level(level + 1)
    if here and above:
        assert KafkaVersion.of(here) <= KafkaVersion.of(above)
        assert KafkaVersion.of(here) in SUPPORTED


@pytest.mark.parametrize(
    ("level", "release"), [(0, None), (1, "3.0"), (19, "3.7"), (25, "4.0"), (33, "4.4"), (34, None)]
)
def test_the_ends_of_the_table(level: int, release: str | None) -> None:
    assert release_of_level(level) == release


@pytest.mark.parametrize("text", ["", OTHER, "Kafka version: unknown", "metadata.version 27"])
def test_a_text_without_a_release_is_rejected(text: str) -> None:
    assert "Kafka version: 4.1.0" in rejected(read, text).expected


@given(broken(OTHER + line("4.1-IV1", "4.0-IV3")))
@examples(200)
def test_broken_texts_are_read_or_rejected(text: str) -> None:
    reads_or_rejects(read, text)
