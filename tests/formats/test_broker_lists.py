"""The broker lists of UpdateMetadata and TopicMetadata in bytes."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker
from app.errors.requests import MalformedText
from app.formats.clusters import broker_lists, topic_metadata, update_metadata
from app.formats.clusters.topic_metadata import MetadataBroker, TopicMetadata
from app.formats.clusters.update_metadata import Endpoint, LiveBroker
from tests.formats.strategies import broker_ids, rejection_of
from tests.formats.writers import topic_metadata as written_response
from tests.formats.writers import update_metadata as written_request
from tests.profiles import costly

hosts = st.text(max_size=12)
ports = st.integers(0, 65535)
racks = st.none() | st.text(max_size=12)
endpoints = st.builds(Endpoint, hosts, ports, st.integers(-(2**15), 2**15 - 1))
live_brokers = st.lists(
    st.builds(LiveBroker, broker_ids, st.lists(endpoints, max_size=3).map(tuple), racks),
    unique_by=lambda broker: broker.id,
)
metadata_brokers = st.lists(
    st.builds(MetadataBroker, broker_ids, hosts, ports, racks), unique_by=lambda broker: broker.id
)

# Written out by hand after the schemas: 1 broker, id 7, host "h1", port 9092 = 0x2384, rack "r".
UPDATE_METADATA = "00000001 00000007 00000001 00002384 0002 6831 0003 0001 72"
TOPIC_METADATA = "00000001 00000007 0002 6831 00002384 0001 72"
LIVE = LiveBroker(7, (Endpoint("h1", 9092, 3),), "r")
# Controller 7 of epoch 2, and no partition; controller 7, and no topic.
_HEAD, _TAIL = "00000007 00000002 00000000", "00000007 00000000"


class TestReading:
    @costly()
    @given(live_brokers)
    def test_live_brokers_read_back(self, listed: list[LiveBroker]) -> None:
        assert update_metadata.read(written_request.write(listed)).live_brokers == tuple(listed)

    @given(metadata_brokers)
    def test_metadata_brokers_read_back(self, listed: list[MetadataBroker]) -> None:
        assert topic_metadata.read(written_response.write(listed)) == TopicMetadata(tuple(listed), 7, ())

    def test_worked_bytes_of_live_brokers(self) -> None:
        data = bytes.fromhex(_HEAD + UPDATE_METADATA)
        assert update_metadata.read(data).live_brokers == (LIVE,)
        assert written_request.write([LIVE]) == data

    def test_no_rack_is_a_length_of_minus_one(self) -> None:
        for written, rack in (("ffff", None), ("0000", "")):
            data = bytes.fromhex(_HEAD + UPDATE_METADATA.replace("0001 72", written))
            assert update_metadata.read(data).live_brokers == (LiveBroker(7, LIVE.endpoints, rack),)

    def test_worked_bytes_of_metadata_brokers(self) -> None:
        data = bytes.fromhex(TOPIC_METADATA + _TAIL)
        assert topic_metadata.read(data).brokers == (MetadataBroker(7, "h1", 9092, "r"),)
        assert written_response.write([MetadataBroker(7, "h1", 9092, "r")]) == data

    def test_brokers_come_by_id_with_their_racks(self) -> None:
        live = [LiveBroker(2, (), "b"), LiveBroker(1, ())]
        answered = [MetadataBroker(2, "h", 1, "b"), MetadataBroker(1, "h", 1)]
        for data in (written_request.write(live), written_response.write(answered)):
            assert broker_lists.read(data.hex()) == (Broker(1), Broker(2, "b"))


class TestRejections:
    @pytest.mark.parametrize(
        ("hexadecimal", "byte", "says"),
        [
            ("", 0, "the count (int32) of brokers"),
            ("000000", 0, "found the end after 3 of 4 bytes"),
            ("ffffffff", 0, "found -1"),
            ("7fffffff", 0, "a count of brokers from 0 to 0, for 0 bytes are left"),
            ("00000002" + "00" * 22, 0, "a count of brokers from 0 to 1"),
            ("00000001 ffffffff 0000 00000000 ffff", 4, "a broker id from 0"),
            ("00000001 00000007 ffff 00000000 ffff", 8, "a host, which is never null"),
            ("00000001 00000007 fffe 00000000 ffff", 8, "a length of a host from -1, found -2"),
            ("00000001 00000007 7fff 00000000 ffff", 10, "found the end after 6 of 32767 bytes"),
            ("00000001 00000007 0002 68ff 00002384 ffff", 11, "a host in UTF-8, found byte 0xff"),
            ("00000001 00000007 0002 6831 00010000 ffff", 12, "a port from 0 to 65535, found 65536"),
            ("00000001 00000007 0000 00002384 fffe", 14, "a length of a rack from -1"),
            (TOPIC_METADATA + _TAIL + "00", 27, "expected the end, found 1 more bytes"),
            ("00000002" + "00000007 0000 00000000 ffff" * 2, 16, "each broker once, found broker 7 again"),
        ],
    )
    def test_broken_bytes_of_a_response_are_named_by_offset(self, hexadecimal: str, byte: int, says: str) -> None:
        with pytest.raises(MalformedText) as caught:
            topic_metadata.read(bytes.fromhex(hexadecimal))
        assert caught.value.context["byte"] == byte
        assert says in caught.value.detail
        assert caught.value.expected

    @pytest.mark.parametrize(
        ("hexadecimal", "byte", "says"),
        [
            ("00000001 00000007 7fffffff 0000", 20, "a count of endpoints from 0 to 0"),
            ("00000001 00000007 00000000 fffe", 24, "a length of a rack from -1"),
            ("00000002" + "00000007 00000000 ffff" * 2, 26, "each broker once, found broker 7 again"),
            (UPDATE_METADATA + "00", 37, "expected the end, found 1 more bytes"),
        ],
    )
    def test_broken_bytes_of_a_request_are_named_by_offset(self, hexadecimal: str, byte: int, says: str) -> None:
        with pytest.raises(MalformedText) as caught:
            update_metadata.read(bytes.fromhex(_HEAD + hexadecimal))
        assert caught.value.context["byte"] == byte
        assert says in caught.value.detail

    @given(st.binary(), st.sampled_from([_HEAD + UPDATE_METADATA, TOPIC_METADATA + _TAIL]), st.data())
    def test_any_bytes_read_or_are_rejected(self, noise: bytes, example: str, data: st.DataObject) -> None:
        start = data.draw(st.integers(0, 40))
        broken = bytes.fromhex(example)[:start] + noise + bytes.fromhex(example)[start + len(noise) :]
        for content in (noise, broken):
            for read in (update_metadata.read, update_metadata.read_broker, topic_metadata.read):
                _reads_or_rejects(read, content)


def _reads_or_rejects(read: Callable[[bytes], object], data: bytes) -> None:
    rejection = rejection_of(read, data)
    if rejection is not None:
        byte = rejection.context["byte"]
        assert isinstance(byte, int)
        assert 0 <= byte <= len(data)
        assert rejection.expected
