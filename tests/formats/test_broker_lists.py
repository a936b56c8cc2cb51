"""The broker lists of UpdateMetadata and TopicMetadata in bytes."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker
from app.errors.texts import MalformedText
from app.formats.clusters import broker_binary, topic_metadata
from app.formats.clusters.broker_binary import Endpoint, LiveBroker
from app.formats.clusters.topic_metadata import MetadataBroker, MetadataBrokers
from tests.formats.strategies import broker_ids, rejection_of
from tests.formats.writers import broker_binary as written_brokers
from tests.formats.writers import topic_metadata as written_metadata
from tests.profiles import costly

hosts = st.text(max_size=12)
ports = st.integers(0, 65535)
racks = st.none() | st.text(max_size=12)
endpoints = st.builds(Endpoint, hosts, ports, st.integers(-(2**15), 2**15 - 1))


@st.composite
def live_brokers(draw: st.DrawFn, version: int) -> list[LiveBroker]:
    one = st.builds(Endpoint, hosts, ports).map(lambda endpoint: (endpoint,))
    several = one if version == 0 else st.lists(endpoints, max_size=3).map(tuple)
    rack = racks if version >= 2 else st.none()
    return draw(st.lists(st.builds(LiveBroker, broker_ids, several, rack), unique_by=lambda broker: broker.id))


@st.composite
def metadata_brokers(draw: st.DrawFn, version: int) -> MetadataBrokers:
    one = st.builds(MetadataBroker, broker_ids, hosts, ports, racks if version >= 1 else st.none())
    listed = draw(st.lists(one, unique_by=lambda broker: broker.id))
    return MetadataBrokers(tuple(listed), draw(st.binary(max_size=8)))


# Written out by hand after the schemas: 1 broker, id 7, host "h1", port 9092 = 0x2384, rack "r".
UPDATE_METADATA = {
    0: "00000001 00000007 0002 6831 00002384",
    1: "00000001 00000007 00000001 00002384 0002 6831 0003",
    2: "00000001 00000007 00000001 00002384 0002 6831 0003 0001 72",
}
TOPIC_METADATA = {
    0: "00000001 00000007 0002 6831 00002384",
    1: "00000001 00000007 0002 6831 00002384 0001 72",
}
LIVE = {
    0: LiveBroker(7, (Endpoint("h1", 9092),)),
    1: LiveBroker(7, (Endpoint("h1", 9092, 3),)),
    2: LiveBroker(7, (Endpoint("h1", 9092, 3),), "r"),
}


class TestReadAndWrite:
    @costly()
    @given(st.integers(0, 2).flatmap(lambda version: st.tuples(st.just(version), live_brokers(version))))
    def test_live_brokers_read_back(self, case: tuple[int, list[LiveBroker]]) -> None:
        version, listed = case
        data = written_brokers.write(listed, version=version)
        assert broker_binary.read(data, version=version) == tuple(listed)

    @given(st.integers(0, 1).flatmap(lambda version: st.tuples(st.just(version), metadata_brokers(version))))
    def test_metadata_brokers_read_back_with_the_bytes_after_them(self, case: tuple[int, MetadataBrokers]) -> None:
        version, metadata = case
        assert topic_metadata.read(written_metadata.write(metadata, version=version), version=version) == metadata

    @pytest.mark.parametrize("version", UPDATE_METADATA)
    def test_worked_bytes_of_live_brokers(self, version: int) -> None:
        data = bytes.fromhex(UPDATE_METADATA[version])
        assert broker_binary.read(data, version=version) == (LIVE[version],)
        assert written_brokers.write([LIVE[version]], version=version) == data

    def test_no_rack_is_a_length_of_minus_one(self) -> None:
        data = bytes.fromhex(UPDATE_METADATA[2].replace("0001 72", "ffff"))
        assert broker_binary.read(data, version=2)[0].rack is None
        assert written_brokers.write([LiveBroker(7, LIVE[2].endpoints)], version=2) == data
        empty = bytes.fromhex(UPDATE_METADATA[2].replace("0001 72", "0000"))
        assert broker_binary.read(empty, version=2)[0].rack == ""

    def test_worked_bytes_of_metadata_brokers(self) -> None:
        rest = bytes.fromhex("00000007 00000000")
        for version, rack in ((0, None), (1, "r")):
            data = bytes.fromhex(TOPIC_METADATA[version]) + rest
            metadata = MetadataBrokers((MetadataBroker(7, "h1", 9092, rack),), rest)
            assert topic_metadata.read(data, version=version) == metadata
            assert written_metadata.write(metadata, version=version) == data

    def test_brokers_come_by_id_with_their_racks(self) -> None:
        live = [LiveBroker(2, (), "b"), LiveBroker(1, ())]
        metadata = MetadataBrokers((MetadataBroker(2, "h", 1, "b"), MetadataBroker(1, "h", 1)))
        assert broker_binary.brokers(live) == topic_metadata.brokers(metadata) == (Broker(1), Broker(2, "b"))


class TestWhatAVersionCannotHold:
    @pytest.mark.parametrize(
        ("broker", "version", "says"),
        [
            (LIVE[2], 1, "knows no rack"),
            (LIVE[2], 0, "knows no rack"),
            (LIVE[1], 0, "one plain-text endpoint"),
            (LiveBroker(7, ()), 0, "one plain-text endpoint"),
            (LiveBroker(-1, ()), 2, "broker ids are 0"),
            (LiveBroker(2**31, ()), 2, "broker ids are 0"),
            (LiveBroker(7, (Endpoint("h", 65536),)), 2, "ports are 0"),
            (LiveBroker(7, (Endpoint("h", 1, 2**15),)), 2, "an int16 holds"),
            (LiveBroker(7, (), "é" * 2**14), 2, "at most 32767 bytes; 32768 given"),
            (LIVE[2], 3, "versions 0 to 2"),
        ],
    )
    def test_it_is_not_written(self, broker: LiveBroker, version: int, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            written_brokers.write([broker], version=version)

    def test_a_metadata_rack_needs_version_one(self) -> None:
        metadata = MetadataBrokers((MetadataBroker(7, "h", 1, "r"),))
        with pytest.raises(ValueError, match="knows no rack"):
            written_metadata.write(metadata, version=0)
        for version in (-1, 2):
            with pytest.raises(ValueError, match="versions 0 to 1"):
                written_metadata.write(metadata, version=version)
            with pytest.raises(ValueError, match="versions 0 to 1"):
                topic_metadata.read(b"", version=version)


class TestRejections:
    @pytest.mark.parametrize(
        ("hexadecimal", "version", "byte", "says"),
        [
            ("", 0, 0, "the count (int32) of brokers"),
            ("000000", 0, 0, "found the end after 3 of 4 bytes"),
            ("ffffffff", 0, 0, "found -1"),
            ("7fffffff", 2, 0, "a count of brokers from 0 to 0, for 0 bytes are left"),
            ("00000002" + "00" * 18, 0, 0, "a count of brokers from 0 to 1"),
            ("00000001 ffffffff 0000 00000000", 0, 4, "a broker id from 0"),
            ("00000001 00000007 ffff 00000000", 0, 8, "a host, which is never null"),
            ("00000001 00000007 fffe 00000000", 0, 8, "a length of a host from -1, found -2"),
            ("00000001 00000007 7fff 00000000", 0, 10, "found the end after 4 of 32767 bytes"),
            ("00000001 00000007 0002 68ff 00002384", 0, 11, "a host in UTF-8, found byte 0xff"),
            ("00000001 00000007 0002 6831 00010000", 0, 12, "a port from 0 to 65535, found 65536"),
            ("00000001 00000007 0002 6831 00002384 00", 0, 16, "expected the end, found 1 more bytes"),
            ("00000001 00000007 7fffffff", 1, 8, "a count of endpoints from 0 to 0"),
            ("00000001 00000007 00000000 fffe", 2, 12, "a length of a rack from -1"),
            ("00000002" + "00000007 0000 00000000" * 2, 0, 14, "each broker once, found broker 7 again"),
        ],
    )
    def test_broken_bytes_are_named_by_offset(self, hexadecimal: str, version: int, byte: int, says: str) -> None:
        with pytest.raises(MalformedText) as caught:
            broker_binary.read(bytes.fromhex(hexadecimal), version=version)
        assert caught.value.context["byte"] == byte
        assert says in caught.value.detail
        assert caught.value.expected

    def test_broken_metadata_is_named_by_offset(self) -> None:
        data = bytes.fromhex("00000002" + "00000007 0000 00000000 ffff" * 2)
        with pytest.raises(MalformedText, match="broker 7 again at byte 16"):
            topic_metadata.read(data, version=1)

    @pytest.mark.parametrize("version", UPDATE_METADATA)
    def test_every_cut_is_rejected(self, version: int) -> None:
        data = bytes.fromhex(UPDATE_METADATA[version])
        for cut in range(len(data)):
            with pytest.raises(MalformedText):
                broker_binary.read(data[:cut], version=version)

    @given(st.integers(0, 2), st.binary(), st.sampled_from(sorted(UPDATE_METADATA.values())), st.data())
    def test_any_bytes_read_or_are_rejected(
        self, version: int, noise: bytes, example: str, data: st.DataObject
    ) -> None:
        start = data.draw(st.integers(0, 20))
        broken = bytes.fromhex(example)[:start] + noise + bytes.fromhex(example)[start + len(noise) :]
        for content in (noise, broken):
            _reads_or_rejects(lambda left: broker_binary.read(left, version=version), content)
            _reads_or_rejects(lambda left: topic_metadata.read(left, version=min(version, 1)), content)


def _reads_or_rejects(read: Callable[[bytes], object], data: bytes) -> None:
    rejection = rejection_of(read, data)
    if rejection is not None:
        byte = rejection.context["byte"]
        assert isinstance(byte, int)
        assert 0 <= byte <= len(data)
        assert rejection.expected
