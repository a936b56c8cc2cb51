"""Assignments of Streams members, as bytes of every version; and Java's modified UTF-8."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import INT32_MAX
from app.errors.kafka import CorruptProtocolBytes, KafkaError
from app.errors.requests import MalformedText
from app.formats.streams.streams_assignment import NEWEST_VERSION, AssignmentInfo, HostInfo, read
from app.formats.syntax.data_streams import DataReader
from tests.formats.strategies import rejection_of
from tests.formats.writers.data_streams import text
from tests.formats.writers.streams_assignment import write
from tests.kafka_refusals import NotSerializable

HOST = HostInfo("h", 80)
V1 = "00000001 00000002 00000000 00000003 00000001 00000003 00000000"
V4 = (
    "00000004 0000000b 00000001 00000000 00000003 "
    "00000001 00000001 00000002 00000001 0001 63 00000002 "
    "00000001 0001 68 00000050 00000001 0001 74 00000003 "
    "00000003"
)
V5 = (
    "00000005 0000000b 00000000 00000000 "
    "00000002 00000000 0001 74 00000001 0001 75 "
    "00000001 0001 68 00000050 00000002 00000001 00000000 00000000 00000003 "
    "00000000"
)
TASK_OF_V10 = "00000000 00000003 00000000"
V11 = (
    f"0000000b 0000000b 00000001 {TASK_OF_V10} 00000000 "
    "00000002 00000000 0001 74 00000001 0001 63 "
    "00000001 0001 68 00000050 00000001 00000000 00000003 "
    "00000001 0001 68 00000050 00000001 00000001 00000002 "
    "00000000 0000000000000064"
)
KAFKA = KafkaError("TaskAssignmentException")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
int32s = st.integers(-(2**31), INT32_MAX)
tasks = st.tuples(st.integers(0, 3) | int32s, int32s)
partitions = st.lists(st.tuples(texts, int32s), max_size=4, unique=True).map(tuple)
by_host = st.dictionaries(st.builds(HostInfo, texts, int32s), partitions, max_size=3)


@st.composite
def infos(draw: st.DrawFn) -> AssignmentInfo:
    return AssignmentInfo(
        active_tasks=tuple(draw(st.lists(tasks, max_size=5))),
        standby_tasks=draw(st.dictionaries(tasks, partitions, max_size=3)),
        partitions_by_host=draw(by_host),
        standby_partitions_by_host=draw(by_host),
        error_code=draw(int32s),
        next_rebalance_ms=draw(st.none() | st.integers(0, 2**62)),
        commonly_supported_version=draw(int32s),
        version=draw(st.integers(1, NEWEST_VERSION)),
    )


class TestByHand:
    """One example a layout."""

    def test_version_1_has_tasks_alone(self) -> None:
        found = read(bytes.fromhex(V1))
        assert found.active_tasks == ((0, 3), (1, 3))
        assert (found.standby_tasks, found.partitions_by_host, found.commonly_supported_version) == ({}, {}, None)
        assert write(found) == bytes.fromhex(V1)

    def test_version_4_names_topics_where_they_stand(self) -> None:
        found = read(bytes.fromhex(V4))
        assert found.active_tasks == ((0, 3),)
        assert found.standby_tasks == {(1, 2): (("c", 2),)}
        assert found.partitions_by_host == {HOST: (("t", 3),)}
        assert (found.error_code, found.commonly_supported_version, found.next_rebalance_ms) == (3, 11, None)
        assert write(found) == bytes.fromhex(V4)

    def test_version_5_numbers_topics(self) -> None:
        """Which number a topic has is the writer's choice."""
        found = read(bytes.fromhex(V5))
        assert found.partitions_by_host == {HOST: (("u", 0), ("t", 3))}
        assert read(write(found)) == found

    def test_version_11_says_when_to_rebalance(self) -> None:
        found = read(bytes.fromhex(V11))
        assert found.active_tasks == ((0, 3),)
        assert found.partitions_by_host == {HOST: (("t", 3),)}
        assert found.standby_partitions_by_host == {HOST: (("c", 2),)}
        assert (found.error_code, found.next_rebalance_ms) == (0, 100)
        assert write(found) == bytes.fromhex(V11)

    def test_the_largest_time_is_never(self) -> None:
        data = bytes.fromhex(V11.replace("0000000000000064", "7fffffffffffffff"))
        assert read(data).next_rebalance_ms is None
        assert write(read(data)) == data

    def test_hosts_that_count_below_0_are_none(self) -> None:
        """Kafka only loops over them, where it makes room for tasks and partitions."""
        assert read(bytes.fromhex("00000002 00000000 00000000 ffffffff")).partitions_by_host == {}


class TestLaws:
    @given(infos())
    def test_what_is_written_is_read(self, info: AssignmentInfo) -> None:
        """All but fields that the version lacks."""
        expected = info
        if info.version < 7:
            expected = replace(expected, next_rebalance_ms=None)
        if info.version < 6:
            expected = replace(expected, standby_partitions_by_host={})
        if info.version < 4:
            expected = replace(expected, error_code=0)
        if info.version < 3:
            expected = replace(expected, commonly_supported_version=None)
        if info.version < 2:
            expected = replace(expected, partitions_by_host={})
        assert read(write(info)) == expected

    @given(infos(), st.binary(max_size=9))
    def test_what_follows_the_last_field_is_not_looked_at(self, info: AssignmentInfo, more: bytes) -> None:
        assert read(write(info) + more) == read(write(info))


class TestCorrupt:
    @pytest.mark.parametrize(
        ("data", "exception", "byte"),
        [
            ("", "TaskAssignmentException", 0),
            ("00000000", "TaskAssignmentException", 0),
            ("0000000c", "TaskAssignmentException", 0),
            ("00000003", "TaskAssignmentException", 4),
            ("00000001 ffffffff", "IllegalArgumentException", 4),
            ("00000001 7fffffff 00000000", "TaskAssignmentException", 4),
            ("00000001 00000001 00000000", "TaskAssignmentException", 4),
            ("00000001 00000000 ffffffff", "IllegalArgumentException", 8),
            ("00000002 00000000 00000000 00000001 0003 6162 0000005000", "TaskAssignmentException", 12),
            ("00000002 00000000 00000000 00000001 0001 ff 00000050 00000000", "TaskAssignmentException", 18),
            ("00000002 00000000 00000000 00000001 0001 68 00000050 ffffffff", "IllegalArgumentException", 23),
            ("00000001 00000000 00000001 00000000 00000000 00000002 0001 68 00000050", "TaskAssignmentException", 20),
            ("00000004 0000000b 00000000 00000000 00000000 0000", "TaskAssignmentException", 20),
        ],
    )
    def test_by_hand(self, data: str, exception: str, byte: int) -> None:
        with pytest.raises(CorruptProtocolBytes) as caught:
            read(bytes.fromhex(data))
        assert caught.value.kafka.exception == exception
        assert caught.value.context["byte"] == byte
        assert f"at byte {byte}" in caught.value.detail

    def test_a_named_topology_is_rejected(self) -> None:
        data = V11.replace(TASK_OF_V10, "00000000 00000003 00000002 0061 0062")
        with pytest.raises(MalformedText, match="no named topology, found a name of 2 characters at byte 20"):
            read(bytes.fromhex(data))

    def test_a_topic_that_was_not_named(self) -> None:
        with pytest.raises(MalformedText, match="a number of a topic that was named, found 7 at byte 49"):
            read(bytes.fromhex(V5.replace("00000002 00000001 00000000", "00000002 00000007 00000000")))

    @given(
        st.binary(max_size=80)
        | st.tuples(st.integers(1, 11), st.binary(max_size=80)).map(lambda two: bytes([0, 0, 0, two[0]]) + two[1])
    )
    def test_any_bytes_are_read_or_rejected(self, data: bytes) -> None:
        _reads_or_rejects(data)

    @given(infos(), st.data())
    def test_any_broken_bytes_are_read_or_rejected(self, info: AssignmentInfo, data: st.DataObject) -> None:
        written = bytearray(write(info))
        for _ in range(data.draw(st.integers(1, 4))):
            written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
        _reads_or_rejects(bytes(written))

    @given(infos(), st.data())
    def test_cut_off_anywhere_it_is_rejected(self, info: AssignmentInfo, data: st.DataObject) -> None:
        written = write(info)
        with pytest.raises(CorruptProtocolBytes):
            read(written[: data.draw(st.integers(0, len(written) - 1))])

    @pytest.mark.parametrize("version", [-1, 0, 12])
    def test_a_version_that_there_is_not_cannot_be_written(self, version: int) -> None:
        with pytest.raises(NotSerializable, match=f"versions are 1 to 11; {version} given"):
            write(AssignmentInfo(version=version))


class TestModifiedUtf8:
    """Java's own, which differs from UTF-8 in U+0000 and beyond U+FFFF."""

    @pytest.mark.parametrize(
        ("content", "written"),
        [
            ("", "0000"),
            ("a", "0001 61"),
            ("\0", "0002 c080"),
            ("é", "0002 c3a9"),
            ("€", "0003 e282ac"),
            ("\U0001f600", "0006 eda0bd edb880"),
        ],
    )
    def test_by_hand(self, content: str, written: str) -> None:
        assert text(content, "a name", KAFKA) == bytes.fromhex(written)
        assert DataReader(bytes.fromhex(written), KAFKA).text("a name") == content

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_what_is_written_is_read(self, content: str) -> None:
        assert DataReader(text(content, "a name", KAFKA), KAFKA).text("a name") == content

    def test_half_a_surrogate_pair_becomes_a_replacement_character(self) -> None:
        assert DataReader(bytes.fromhex("0004 eda0bd 61"), KAFKA).text("a name") == "\ufffda"

    @pytest.mark.parametrize("wrong", ["80", "ff", "f09f9880", "c3", "c361", "e282", "e28261"])
    def test_what_java_does_not_read(self, wrong: str) -> None:
        data = len(bytes.fromhex(wrong)).to_bytes(2, "big") + bytes.fromhex(wrong)
        with pytest.raises(CorruptProtocolBytes, match=r"a name in modified UTF-8, found byte 0x.. at byte 2"):
            DataReader(data, KAFKA).text("a name")

    def test_a_text_has_at_most_65535_bytes(self) -> None:
        assert len(text("a" * 65535, "a name", KAFKA)) == 65537
        with pytest.raises(NotSerializable, match="a name has at most 65535 bytes; 65536 given"):
            text("é" * 32768, "a name", KAFKA)


def _reads_or_rejects(data: bytes) -> None:
    rejection = rejection_of(read, data)
    if rejection is not None:
        assert 0 <= int(str(rejection.context["byte"])) <= len(data)
        assert rejection.expected
        assert rejection.expected in rejection.detail
