"""Streams members' descriptions of their process, as bytes of every version."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import INT32_MAX
from app.core.streams.model import RUNNING_ACTIVE, UNKNOWN_LAG
from app.errors.kafka import CorruptProtocolBytes
from app.errors.requests import MalformedText
from app.formats.streams.streams_subscription import NEWEST_VERSION, SubscriptionInfo, read
from tests.formats.strategies import rejection_of
from tests.formats.writers.streams_subscription import write
from tests.kafka_refusals import NotSerializable
from tests.profiles import costly

PROCESS = UUID(int=1)
PROCESS_BYTES = "0000000000000000 0000000000000001"
ENDPOINT = "00000003 613a31"
V2 = f"00000002 {PROCESS_BYTES} 00000001 00000000 00000003 00000000 {ENDPOINT}"
V6 = f"00000006 0000000b {PROCESS_BYTES} 00000000 00000001 00000001 00000002 00000000"
V7_HEAD = f"00000007 0000000b {PROCESS_BYTES} {ENDPOINT}"
V7_SUMS = "00000000 00000002 00000003 fffffffffffffffe 00000004 0000000000000064"
V7 = f"{V7_HEAD} 00000002 {V7_SUMS} 00000001 00000000"
V7_AS_WRITTEN = f"{V7_HEAD} 00000001 {V7_SUMS}"
V9 = f"00000009 0000000b {PROCESS_BYTES} 00000000 00000000 ff 00000004"
V11 = (
    f"0000000b 0000000b {PROCESS_BYTES} {ENDPOINT} "
    "00000002 00000000 00000003 fffffffffffffffe ffff 00000001 00000002 0000000000000064 0000 "
    "07 00000000 00000001 00000004 7a6f6e65 00000002 6331"
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
tasks = st.tuples(st.integers(0, 3) | st.integers(-(2**31), INT32_MAX), st.integers(0, INT32_MAX))
offset_sums = st.sampled_from([RUNNING_ACTIVE, UNKNOWN_LAG, 0]) | st.integers(-(2**63), 2**63 - 1)


@st.composite
def infos(draw: st.DrawFn) -> SubscriptionInfo:
    version = draw(st.integers(1, NEWEST_VERSION))
    return SubscriptionInfo(
        process_id=draw(st.uuids()),
        task_offset_sums=draw(st.dictionaries(tasks, offset_sums, max_size=5)),
        user_end_point=draw(st.none() | texts),
        unique_field=draw(st.integers(-128, 127)),
        error_code=draw(st.integers(-(2**31), INT32_MAX)),
        client_tags=draw(st.dictionaries(texts, texts, max_size=3)),
        latest_supported_version=draw(st.integers(version, INT32_MAX)),
        version=version,
    )


class TestByHand:
    """One example a layout."""

    def test_version_2_lists_tasks(self) -> None:
        found = read(bytes.fromhex(V2))
        assert (found.process_id, found.user_end_point, found.version) == (PROCESS, "a:1", 2)
        assert found.task_offset_sums == {(0, 3): RUNNING_ACTIVE}
        assert found.latest_supported_version is None
        assert write(found) == bytes.fromhex(V2)

    def test_version_1_has_no_end_point(self) -> None:
        data = bytes.fromhex(V2.replace("00000002", "00000001", 1).removesuffix(ENDPOINT))
        found = read(data)
        assert (found.user_end_point, found.previous_active) == (None, ((0, 3),))
        assert write(found) == data

    def test_version_6_says_no_more_of_a_standby_than_that_it_is_one(self) -> None:
        found = read(bytes.fromhex(V6))
        assert (found.previous_active, found.previous_standby) == ((), ((1, 2),))
        assert found.task_offset_sums == {(1, 2): UNKNOWN_LAG}
        assert found.latest_supported_version == 11
        assert write(found) == bytes.fromhex(V6)

    def test_version_7_has_offset_sums_by_subtopology(self) -> None:
        """A subtopology without tasks, which Kafka does not write, reads as nothing."""
        found = read(bytes.fromhex(V7))
        assert found.task_offset_sums == {(0, 3): RUNNING_ACTIVE, (0, 4): 100}
        assert write(found) == bytes.fromhex(V7_AS_WRITTEN)

    def test_version_9_has_an_error_code(self) -> None:
        found = read(bytes.fromhex(V9))
        assert (found.unique_field, found.error_code, found.client_tags) == (-1, 4, {})
        assert write(found) == bytes.fromhex(V9)

    def test_version_11_has_client_tags(self) -> None:
        """An empty name of a topology is None, and written as null."""
        found = read(bytes.fromhex(V11))
        assert (found.previous_active, found.previous_standby) == (((0, 3),), ((1, 2),))
        assert (found.unique_field, found.client_tags) == (7, {"zone": "c1"})
        assert write(found) == bytes.fromhex(V11.replace(" 0000 07", " ffff 07"))

    def test_a_version_from_the_future_is_two_numbers(self) -> None:
        found = read(bytes.fromhex("0000000c 0000000d ff"))
        assert found.is_from_the_future
        assert (found.version, found.latest_supported_version, found.process_id) == (12, 13, None)
        assert not read(bytes.fromhex(V11)).is_from_the_future

    def test_a_task_in_both_lists_counts_as_a_standby(self) -> None:
        data = f"00000001 {PROCESS_BYTES} 00000001 00000000 00000003 00000001 00000000 00000003"
        assert read(bytes.fromhex(data)).task_offset_sums == {(0, 3): UNKNOWN_LAG}

    def test_text_that_is_no_utf8_is_read_as_java_reads_it(self) -> None:
        assert read(bytes.fromhex(V2.replace("613a31", "61ff31"))).user_end_point == "a\ufffd1"


class TestLaws:
    @costly()
    @given(infos())
    def test_what_is_written_is_read(self, info: SubscriptionInfo) -> None:
        """All but fields that the version lacks."""
        found = read(write(info))
        expected = replace(info, user_end_point=info.user_end_point or None)
        if info.version < 11:
            expected = replace(expected, client_tags={})
        if info.version < 9:
            expected = replace(expected, error_code=0)
        if info.version < 8:
            expected = replace(expected, unique_field=0)
        if info.version < 7:
            listed = dict.fromkeys(info.previous_active, RUNNING_ACTIVE)
            expected = replace(expected, task_offset_sums=listed | dict.fromkeys(info.previous_standby, UNKNOWN_LAG))
        if info.version < 3:
            expected = replace(expected, latest_supported_version=None)
        if info.version < 2:
            expected = replace(expected, user_end_point=None)
        assert found == expected

    @given(infos(), st.binary(max_size=9))
    def test_what_follows_the_last_field_is_not_looked_at(self, info: SubscriptionInfo, more: bytes) -> None:
        assert read(write(info) + more) == read(write(info))

    @given(infos())
    def test_active_and_standby_tasks_are_the_tasks(self, info: SubscriptionInfo) -> None:
        assert not set(info.previous_active) & set(info.previous_standby)
        assert {*info.previous_active, *info.previous_standby} == set(info.task_offset_sums)


class TestCorrupt:
    """Each way of being wrong has Kafka's own exception, and the byte."""

    @pytest.mark.parametrize(
        ("data", "exception", "byte"),
        [
            ("", "BufferUnderflowException", 0),
            ("000000", "BufferUnderflowException", 0),
            ("00000000", "IllegalArgumentException", 0),
            ("ffffffff", "IllegalArgumentException", 0),
            ("0000000c", "BufferUnderflowException", 4),
            ("0000000c 0000000b", "IllegalArgumentException", 4),
            ("0000000c ffffffff", "IllegalArgumentException", 4),
            ("00000003 ffffffff", "IllegalArgumentException", 4),
            ("00000001 0000000000000000", "BufferUnderflowException", 12),
            (f"00000001 {PROCESS_BYTES} ffffffff", "RuntimeException", 20),
            (f"00000001 {PROCESS_BYTES} 00000009 00000000", "RuntimeException", 20),
            (f"00000001 {PROCESS_BYTES} 00000001 00000000", "BufferUnderflowException", 28),
            (f"00000002 {PROCESS_BYTES} 00000000 00000000 ffffffff", "RuntimeException", 28),
            (f"00000002 {PROCESS_BYTES} 00000000 00000000 00000002 61", "RuntimeException", 28),
            (f"00000008 00000008 {PROCESS_BYTES} 00000000 00000000", "BufferUnderflowException", 32),
        ],
    )
    def test_by_hand(self, data: str, exception: str, byte: int) -> None:
        with pytest.raises(CorruptProtocolBytes) as caught:
            read(bytes.fromhex(data))
        assert caught.value.kafka.exception == exception
        assert caught.value.context["byte"] == byte
        assert f"at byte {byte}" in caught.value.detail

    def test_a_client_tag_that_comes_twice(self) -> None:
        data = V11.replace("00000001 00000004 7a6f6e65", "00000002 00000001 61 00000000 00000001 61 00000000")
        with pytest.raises(CorruptProtocolBytes, match="each client tag once, found 'a' again at byte 89") as caught:
            read(bytes.fromhex(data))
        assert caught.value.kafka.exception == "IllegalStateException"

    def test_a_named_topology_is_rejected(self) -> None:
        """Kafka would read it; a task id here has no place for the name."""
        with pytest.raises(MalformedText, match="a task of no named topology, found one of 'ab' at byte 69"):
            read(bytes.fromhex(V11.replace(" 0000 07", " 0002 6162 07")))

    @given(
        st.binary(max_size=80)
        | st.tuples(st.integers(1, 12), st.binary(max_size=80)).map(
            lambda two: bytes([0, 0, 0, two[0], 0, 0, 0, 12]) + two[1]
        )
    )
    def test_any_bytes_are_read_or_rejected(self, data: bytes) -> None:
        _reads_or_rejects(data)

    @given(infos(), st.data())
    def test_any_broken_bytes_are_read_or_rejected(self, info: SubscriptionInfo, data: st.DataObject) -> None:
        written = bytearray(write(info))
        for _ in range(data.draw(st.integers(1, 4))):
            written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
        _reads_or_rejects(bytes(written))

    @given(infos(), st.data())
    def test_cut_off_anywhere_it_is_rejected(self, info: SubscriptionInfo, data: st.DataObject) -> None:
        written = write(info)
        with pytest.raises(CorruptProtocolBytes):
            read(written[: data.draw(st.integers(0, len(written) - 1))])


class TestNotSerializable:
    @pytest.mark.parametrize(
        ("info", "exception"),
        [
            (SubscriptionInfo(PROCESS, version=12, latest_supported_version=12), "IllegalStateException"),
            (SubscriptionInfo(PROCESS, version=0), "IllegalArgumentException"),
            (SubscriptionInfo(PROCESS, version=11, latest_supported_version=10), "IllegalArgumentException"),
            (SubscriptionInfo(PROCESS, version=3, latest_supported_version=None), "IllegalArgumentException"),
            (SubscriptionInfo(None), "NullPointerException"),
        ],
    )
    def test_what_kafka_does_not_write(self, info: SubscriptionInfo, exception: str) -> None:
        with pytest.raises(NotSerializable) as caught:
            write(info)
        assert caught.value.kafka.exception == exception


def _reads_or_rejects(data: bytes) -> None:
    rejection = rejection_of(read, data)
    if rejection is not None:
        assert 0 <= int(str(rejection.context["byte"])) <= len(data)
        assert rejection.expected
        assert rejection.expected in rejection.detail
