"""Releases of Kafka: order, ranges, rejections, and that each replayed algorithm names its own."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.groups.registry import ASSIGNOR_RELEASES, ASSIGNORS, assignor_for
from app.core.kafka_versions import MEASURED, NEWEST, SUPPORTED, KafkaRange, KafkaVersion, Replayed, supported_version
from app.core.keys.partitioners import PARTITIONERS
from app.core.replicas.registry import PLACEMENTS
from app.core.streams.registry import (
    GROUP_TASK_ASSIGNORS,
    STREAMS_ASSIGNORS,
    group_task_assignor_for,
)
from app.errors.requests import AssignorUnavailable, UnsupportedKafkaVersion

VERSIONS = st.builds(KafkaVersion, st.integers(2, 5), st.integers(0, 9), st.integers(0, 4))
MEASURED_VERSIONS = st.builds(KafkaVersion, st.just(4), st.integers(0, 4), st.integers(0, 9))
ENDS = st.sampled_from(["2.4", "3.9", "4.0.0", "4.0", "4.0.1", "4.1", "4.2", "4.3", "4.4"])
RANGES = st.builds(KafkaRange, ENDS, ENDS)


class TestVersions:
    @pytest.mark.parametrize("text", ["4.1", "4.1.0", " 4.1.0 ", "4.1.0-SNAPSHOT", "4.1.0+build.7", "4.1.0.redhat-1"])
    def test_what_builds_and_vendors_append_does_not_count(self, text: str) -> None:
        assert KafkaVersion.of(text) == KafkaVersion(4, 1, 0)

    @given(VERSIONS)
    def test_a_version_is_read_as_it_is_written(self, version: KafkaVersion) -> None:
        assert KafkaVersion.of(str(version)) == version

    def test_numbers_are_ordered_as_numbers(self) -> None:
        assert KafkaVersion.of("3.9.1") < KafkaVersion.of("3.10") < KafkaVersion.of("4.0")

    @pytest.mark.parametrize(
        "text",
        ["", "4", "four", "2.3", "1.1.1", "0.10.2.1", "4.5", "5.0", "-4.1", "4.1x", "٤.١", "4.1\n4.2", "9" * 500],
    )
    def test_others_are_rejected_with_the_limits(self, text: str) -> None:
        with pytest.raises(UnsupportedKafkaVersion) as failure:
            supported_version(text, path=("kafka_version",))
        assert failure.value.path == ("kafka_version",)
        assert (failure.value.context["minimum"], failure.value.context["maximum"]) == ("2.4", "4.4")
        assert len(failure.value.detail) < 400

    @pytest.mark.parametrize("text", ["2.4", "2.4.1", "3.9.1", "4.0.1", "4.4", "4.4.7"])
    def test_all_from_2_4_to_the_newest_line_are_supported(self, text: str) -> None:
        assert supported_version(text, path=()) == KafkaVersion.of(text)


class TestRanges:
    def test_an_end_without_a_patch_number_is_the_whole_line(self) -> None:
        assert KafkaVersion(4, 4, 9) in KafkaRange("4.0.1", "4.4")
        assert KafkaVersion(4, 0, 0) not in KafkaRange("4.0.1", "4.4")
        assert KafkaVersion(4, 0, 1) not in KafkaRange("4.0.0", "4.0.0")

    @given(RANGES, RANGES, VERSIONS)
    def test_an_intersection_has_what_is_in_both(
        self, left: KafkaRange, right: KafkaRange, version: KafkaVersion
    ) -> None:
        both = left.intersection(right)
        assert (both is not None and version in both) == (version in left and version in right)

    def test_the_newest_release_is_measured(self) -> None:
        assert NEWEST in MEASURED
        assert NEWEST in SUPPORTED


class _Entry(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def replays(self) -> Replayed | None: ...


def replays() -> list[tuple[str, str, Replayed | None]]:
    """Family, name and replayed code, of every entry of the registries of Kafka's own algorithms."""
    families: dict[str, Iterable[_Entry]] = {
        "assignor": ASSIGNOR_RELEASES,
        "placement": PLACEMENTS.values(),
        "streams assignor": STREAMS_ASSIGNORS.values(),
        "streams group": GROUP_TASK_ASSIGNORS,
        "partitioner": PARTITIONERS.values(),
    }
    return [(family, entry.name, entry.replays) for family, entries in families.items() for entry in entries]


def test_each_replayed_algorithm_names_its_class_and_its_releases() -> None:
    """All others are none of Kafka's: the optimum, awareness, copysets, and the partitioners of other clients."""
    own = {("assignor", "optimal"), ("placement", "awareness"), ("placement", "copysets")}
    for family, name, replayed in replays():
        if replayed is None:
            assert (family, name) in own or family == "partitioner", name
            continue
        assert replayed.source.startswith("org.apache.kafka."), name
        assert replayed.source.rpartition(".")[2][0].isupper(), name
        assert KafkaVersion.of(replayed.holds.from_) in replayed.holds, name


def test_no_two_entries_of_one_name_hold_for_one_release() -> None:
    by_name = defaultdict(list)
    for family, name, replayed in replays():
        if replayed is not None and family != "partitioner":
            by_name[family, name].append(replayed.holds)
    for (_, name), ranges in by_name.items():
        for left, right in combinations(ranges, 2):
            assert left.intersection(right) is None, name


class TestAssignorOfARelease:
    @given(name=st.sampled_from(list(ASSIGNORS)), version=MEASURED_VERSIONS)
    def test_it_is_the_one_whose_range_has_the_release(self, name: str, version: KafkaVersion) -> None:
        assignor = assignor_for(name, version)
        assert assignor.name == name
        assert assignor.replays is None or version in assignor.replays.holds

    @pytest.mark.parametrize("name", ["uniform", "server-range", "simple"])
    def test_before_4_0_the_coordinator_has_none(self, name: str) -> None:
        with pytest.raises(AssignorUnavailable, match=r"since Kafka 4\.0.*3\.9\.0 given"):
            assignor_for(name, KafkaVersion(3, 9))

    @pytest.mark.parametrize("name", ["range", "roundrobin", "sticky", "cooperative-sticky", "optimal"])
    def test_the_clients_are_in_all_supported_releases(self, name: str) -> None:
        assert assignor_for(name, KafkaVersion.of(SUPPORTED.from_)) is ASSIGNORS[name]

    @pytest.mark.parametrize(
        ("version", "since"), [("4.1.2", "4.1"), ("4.2.2", "4.2.2"), ("4.3.1", "4.3.0"), ("4.4", "4.4")]
    )
    def test_streams_groups_have_the_coordinators_assignor_of_the_release(self, version: str, since: str) -> None:
        assert group_task_assignor_for(KafkaVersion.of(version)).replays.holds.from_ == since

    def test_before_4_1_there_are_no_streams_groups(self) -> None:
        with pytest.raises(AssignorUnavailable, match=r"since Kafka 4\.1; kafka_version 4\.0\.1 given"):
            group_task_assignor_for(KafkaVersion(4, 0, 1))
