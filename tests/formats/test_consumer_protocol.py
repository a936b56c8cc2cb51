"""Subscriptions, assignments and the sticky assignors' user data as bytes."""

from base64 import b64decode
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.groups.model import Owned
from app.core.jvm.hashes import utf16_order
from app.core.model import INT32_MAX
from app.errors.kafka import CorruptProtocolBytes, KafkaError, KafkaRefuses
from app.formats.groups.assignor_user_data import StickyUserData, read_cooperative, read_sticky
from app.formats.groups.consumer_protocol import (
    NEWEST_VERSION,
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
)
from app.formats.syntax.generated_bytes import java_text
from tests.formats.strategies import rejection_of
from tests.formats.writers.assignor_user_data import write_cooperative, write_sticky
from tests.formats.writers.consumer_protocol import write_assignment, write_subscription
from tests.kafka_refusals import NotSerializable

SUBSCRIPTION = bytes.fromhex("0003 00000001 0001 74 ffffffff 00000000 ffffffff 0001 61")
ASSIGNMENT = bytes.fromhex("0003 00000001 0001 74 00000001 00000000 ffffffff")

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
int32s = st.integers(-(2**31), INT32_MAX)
generations = st.none() | st.integers(0, INT32_MAX)
owned_lists = st.lists(
    st.builds(lambda topic, ids: Owned(topic, np.array(ids, np.int32)), names, st.lists(int32s, max_size=5)), max_size=5
).map(tuple)


@st.composite
def subscriptions(draw: st.DrawFn) -> Subscription:
    return Subscription(
        topics=tuple(draw(st.lists(names, max_size=5))),
        user_data=draw(st.none() | st.binary(max_size=9)),
        owned=draw(owned_lists),
        generation_id=draw(generations),
        rack_id=draw(st.none() | names),
        version=draw(st.integers(0, 9)),
    )


def listed(owned: tuple[Owned, ...]) -> list[tuple[str, int]]:
    """Partition by partition, in order."""
    return [(entry.topic, partition) for entry in owned for partition in entry.partitions.tolist()]


def in_kafkas_order(topic_partition: tuple[str, int]) -> tuple[bytes, int]:
    topic, partition = topic_partition
    return utf16_order(topic), partition


class TestSubscription:
    """A member's metadata."""

    def test_by_hand(self) -> None:
        """The bytes of the module's own example."""
        found = read_subscription(SUBSCRIPTION)
        assert (found.topics, found.user_data, found.owned) == (("t",), None, ())
        assert (found.generation_id, found.rack_id, found.version) == (None, "a", 3)
        assert write_subscription(found) == SUBSCRIPTION

    @given(subscriptions())
    def test_what_is_written_is_read(self, subscription: Subscription) -> None:
        """Sorted, and without fields that the version lacks; an empty rack is None."""
        found = read_subscription(write_subscription(subscription))
        version = min(subscription.version, NEWEST_VERSION)
        assert found.version == version
        assert found.topics == tuple(sorted(subscription.topics, key=utf16_order))
        assert found.user_data == subscription.user_data
        assert listed(found.owned) == (sorted(listed(subscription.owned), key=in_kafkas_order) if version >= 1 else [])
        assert found.generation_id == (subscription.generation_id if version >= 2 else None)
        assert found.rack_id == ((subscription.rack_id or None) if version >= 3 else None)

    @given(subscriptions(), st.integers(4, 2**15 - 1), st.binary(max_size=9))
    def test_a_version_from_the_future_is_read_as_the_newest_and_says_so(
        self, subscription: Subscription, version: int, more: bytes
    ) -> None:
        """Bytes after the known fields are ignored."""
        written = write_subscription(
            Subscription(subscription.topics, subscription.user_data, subscription.owned, 7, "a", NEWEST_VERSION)
        )
        found = read_subscription(version.to_bytes(2, "big") + written[2:] + more)
        assert found.is_from_the_future
        assert found.version == version
        assert (found.generation_id, found.rack_id) == (7, "a")
        assert not read_subscription(written).is_from_the_future

    def test_the_member_that_an_assignor_sees(self) -> None:
        member = read_subscription(SUBSCRIPTION).member("m-1", group_instance_id="i-1")
        assert (member.id, member.topics, member.rack_id, member.group_instance_id) == ("m-1", ("t",), "a", "i-1")
        assert (member.owned, member.generation_id) == ((), None)

    def test_topics_sort_as_java_sorts_them(self) -> None:
        """By UTF-16 units: U+10000 is two surrogates, which come before U+FFFD."""
        found = read_subscription(write_subscription(Subscription(("\ufffd", "\U00010000", "a"))))
        assert found.topics == ("a", "\U00010000", "\ufffd")


class TestAssignment:
    """Assignments by the leader."""

    def test_by_hand(self) -> None:
        found = read_assignment(ASSIGNMENT)
        assert (listed(found.partitions), found.user_data, found.version) == ([("t", 0)], None, 3)
        assert not found.is_from_the_future
        assert write_assignment(found) == ASSIGNMENT

    @given(owned_lists, st.none() | st.binary(max_size=9), st.integers(0, 9))
    def test_what_is_written_is_read(self, partitions: tuple[Owned, ...], data: bytes | None, version: int) -> None:
        """Topic by topic in order of first appearance, each topic's partitions in theirs."""
        found = read_assignment(write_assignment(Assignment(partitions, data, version)))
        topics = list(dict.fromkeys([topic for topic, _ in listed(partitions)]))
        assert listed(found.partitions) == sorted(listed(partitions), key=lambda one: topics.index(one[0]))
        assert (found.user_data, found.version) == (data, min(version, NEWEST_VERSION))


class TestCorrupt:
    """Each way of being wrong has Kafka's own exception, and the byte."""

    @pytest.mark.parametrize(
        ("data", "exception", "byte"),
        [
            ("", "SchemaException", 0),
            ("00", "SchemaException", 0),
            ("ffff", "SchemaException", 0),
            ("0003 0000", "SchemaException", 2),
            ("0003 ffffffff", "RuntimeException", 2),
            ("0003 00000002 00", "RuntimeException", 2),
            ("0003 00000001 ffff", "RuntimeException", 6),
            ("0003 00000001 0002 61", "RuntimeException", 6),
            ("0003 00000000 00000001", "IllegalArgumentException", 6),
            ("0003 00000000 ffffffff 00000001 0000 00000001 0000", "SchemaException", 20),
            ("0003 00000000 ffffffff 00000001 0000 00000003 0000", "RuntimeException", 16),
            ("0003 00000000 ffffffff 00000001 0000 00000002 000000010000", "SchemaException", 24),
            ("0002 00000000 ffffffff 00000000 0000", "SchemaException", 14),
        ],
    )
    def test_subscriptions(self, data: str, exception: str, byte: int) -> None:
        with pytest.raises(CorruptProtocolBytes) as caught:
            read_subscription(bytes.fromhex(data))
        assert caught.value.kafka.exception == exception
        assert caught.value.context["byte"] == byte
        assert str(byte) in caught.value.detail

    @given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda rest: b"\0\3\0\0\0\1\0\1t" + rest))
    def test_any_bytes_are_read_or_rejected(self, data: bytes) -> None:
        for read in (read_subscription, read_assignment, read_sticky, read_cooperative):
            rejection = rejection_of(read, data)
            if rejection is not None:
                assert isinstance(rejection, KafkaRefuses)
                assert 0 <= int(str(rejection.context["byte"])) <= len(data)
                assert rejection.expected in rejection.detail

    @given(subscriptions(), st.data())
    def test_cut_off_anywhere_it_is_rejected(self, subscription: Subscription, data: st.DataObject) -> None:
        written = write_subscription(subscription)
        with pytest.raises(CorruptProtocolBytes):
            read_subscription(written[: data.draw(st.integers(0, len(written) - 1))])

    def test_a_count_takes_no_memory(self) -> None:
        """Two thousand million topics are rejected for the bytes that are not there."""
        with pytest.raises(CorruptProtocolBytes, match="from 0 to 2"):
            read_subscription(bytes.fromhex("0003 7fffffff 0000"))

    def test_what_kafka_does_not_write(self) -> None:
        for subscription in (Subscription(("t",), version=-1), Subscription(("t" * 32768,))):
            with pytest.raises(NotSerializable):
                write_subscription(subscription)
        with pytest.raises(NotSerializable, match="-1 given"):
            write_assignment(Assignment((), version=-1))
        assert len(write_subscription(Subscription(("é" * 16383,)))) > 32766


class TestText:
    """Java reads invalid UTF-8 as U+FFFD, and not as many of them as Python."""

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (b"caf\xc3\xa9", "café"),
            (b"\xff\xfe", "\ufffd\ufffd"),
            (b"\xe2\x82", "\ufffd"),
            (b"\xed\xa0\x80x", "\ufffdx"),
            (b"\xed\xbf", "\ufffd"),
            (b"\xed\xa0A", "\ufffdA"),
            (b"\xed\x9f\xbf", "\ud7ff"),
            (b"\xf0\x9f\x98\x80", "\U0001f600"),
        ],
    )
    def test_by_hand(self, content: bytes, text: str) -> None:
        assert java_text(content) == text

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_utf8_is_itself(self, text: str) -> None:
        assert java_text(text.encode()) == text


class TestUserData:
    """User data of the sticky assignors."""

    @given(owned_lists, st.integers(-1, INT32_MAX))
    def test_sticky(self, owned: tuple[Owned, ...], generation_id: int) -> None:
        found = read_sticky(write_sticky(owned, generation_id=generation_id))
        assert sorted(listed(found.owned)) == sorted(listed(owned))
        assert found.generation_id == generation_id
        assert len({entry.topic for entry in found.owned}) == len(found.owned)

    def test_the_older_form_has_no_generation(self) -> None:
        found: StickyUserData = read_sticky(bytes.fromhex("00000001 0001 74 00000002 00000003 00000001"))
        assert (listed(found.owned), found.generation_id) == ([("t", 3), ("t", 1)], None)

    def test_a_sticky_member_without_generation_cannot_be_written(self) -> None:
        with pytest.raises(NotSerializable) as caught:
            write_sticky((), generation_id=None)
        assert caught.value.kafka.exception == "SchemaException"

    @given(generations)
    def test_cooperative(self, generation_id: int | None) -> None:
        assert read_cooperative(write_cooperative(generation_id)) == generation_id

    def test_none_is_minus_one(self) -> None:
        assert write_cooperative(None) == b64decode("/////w==")


@pytest.mark.parametrize(("read", "part"), [(read_subscription, "subscription"), (read_assignment, "assignment")])
@given(data=st.binary(max_size=60))
def test_a_wrapped_error_is_one_schema_exception_and_changes_nothing_else(
    read: Callable[..., object], part: str, data: bytes
) -> None:
    """Of clients with KAFKA-20570; the version in front has its own errors in all of them."""
    plain, wrapped = (outcome(read, data, wraps_errors=wraps_errors) for wraps_errors in (False, True))
    if plain is None or len(data) < 2 or data[0] >= 0x80:
        assert wrapped == plain
    else:
        assert wrapped == (KafkaError("SchemaException", f"Malformed consumer protocol {part}"), plain[1])


def outcome(read: Callable[..., object], data: bytes, *, wraps_errors: bool) -> tuple[KafkaError, str] | None:
    """The exception and the detail with which the bytes are rejected."""
    try:
        read(data, wraps_errors=wraps_errors)
    except CorruptProtocolBytes as failure:
        return failure.kafka, failure.detail
    return None
