"""The whole bodies of TopicMetadata responses and UpdateMetadata requests, and cluster brokers read from any text."""

from base64 import b64encode

import orjson
import pytest

from app.core.model import Broker
from app.formats.clusters import broker_lists, topic_metadata, update_metadata
from app.formats.clusters.topic_metadata import MetadataBroker, MetadataPartition, MetadataTopic
from app.formats.clusters.update_metadata import PartitionState
from tests.formats.strategies import rejected, rejection_of, sample
from tests.formats.test_broker_lists import LIVE, TOPIC_METADATA, UPDATE_METADATA
from tests.formats.test_broker_registration import EXAMPLES

# Written out by hand after the schemas. The partition: no error, id 0, leader 7, replicas 7 and 8, in sync 7.
_PARTITION = "0000 00000000 00000007 00000002 00000007 00000008 00000001 00000007"
TOPIC_METADATA_RESPONSE = bytes.fromhex(f"{TOPIC_METADATA} 00000007 00000001 0000 0001 74 00 00000001 {_PARTITION}")
# Controller 7 of epoch 2, and one partition: "t" 0, epoch 2, leader 7 of epoch 5, in sync 7, version 3, replicas 7, 8.
_STATE = "0001 74 00000000 00000002 00000007 00000005 00000001 00000007 00000003 00000002 00000007 00000008"
_UPDATE_HEAD = f"00000007 00000002 00000001 {_STATE}"
UPDATE_METADATA_REQUEST = bytes.fromhex(f"{_UPDATE_HEAD} {UPDATE_METADATA}")


class TestMessages:
    def test_a_response(self) -> None:
        response = topic_metadata.read(TOPIC_METADATA_RESPONSE)
        partition = MetadataPartition(partition=0, leader=7, replicas=(7, 8), isr=(7,), error_code=0)
        assert response.brokers == (MetadataBroker(7, "h1", 9092, "r"),)
        assert response.controller_id == 7
        assert response.topics == (MetadataTopic("t", (partition,), is_internal=False, error_code=0),)

    def test_a_request(self) -> None:
        request = update_metadata.read(UPDATE_METADATA_REQUEST)
        assert (request.controller_id, request.controller_epoch) == (7, 2)
        assert request.partitions == (PartitionState("t", 0, 2, 7, 5, (7,), 3, (7, 8)),)
        assert request.live_brokers == (LIVE,)

    def test_one_broker(self) -> None:
        assert update_metadata.read_broker(bytes.fromhex(UPDATE_METADATA)[4:]) == LIVE

    @pytest.mark.parametrize("data", [TOPIC_METADATA_RESPONSE, UPDATE_METADATA_REQUEST])
    def test_every_cut_and_every_addition_is_rejected(self, data: bytes) -> None:
        read = topic_metadata.read if data is TOPIC_METADATA_RESPONSE else update_metadata.read
        for end in range(len(data)):
            assert rejection_of(read, data[:end]) is not None
        assert rejection_of(read, data + b"\0") is not None

    def test_a_boolean_is_0_or_1(self) -> None:
        data = TOPIC_METADATA_RESPONSE.replace(b"\0\1t\0", b"\0\1t\2")
        rejection = rejection_of(topic_metadata.read, data)
        assert rejection is not None
        assert "0 or 1, found 2" in rejection.detail


class TestBrokersOfACluster:
    """The text that a snapshot's part `brokers` and `--brokers` take."""

    def test_what_the_tool_prints(self) -> None:
        brokers = broker_lists.read(sample("kafka-broker-api-versions.txt"))
        assert [broker.id for broker in brokers] == list(range(101, 110))

    @pytest.mark.parametrize("data", [TOPIC_METADATA_RESPONSE, UPDATE_METADATA_REQUEST])
    def test_captured_bytes(self, data: bytes) -> None:
        for text in (data.hex(), data.hex(" ", 4) + "\n", b64encode(data).decode()):
            assert broker_lists.read(text) == (Broker(7, "r"),)

    def test_bytes_of_another_kind_are_rejected_with_both_reasons(self) -> None:
        rejection = rejected(broker_lists.read, UPDATE_METADATA)
        assert "as a response" in rejection.detail
        assert "as a request" in rejection.detail
        assert rejection.context["byte"]

    @pytest.mark.parametrize("version", EXAMPLES)
    def test_registrations_of_every_version_as_the_shell_prints_them(self, version: int) -> None:
        text = (
            "Connecting to localhost:2181\n\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null\n"
            f"[zk: localhost:2181(CONNECTED) 0] get /brokers/ids/102\n{EXAMPLES[version]}\n"
            "cZxid = 0x19\nnumChildren = 0\n"
            f"get /brokers/ids/101\n{EXAMPLES[1]}\n"
        )
        rack = "dc1" if version in (3, 4) else None
        assert broker_lists.read(text) == (Broker(101), Broker(102, rack))

    def test_registrations_in_an_array(self) -> None:
        array = [{"id": 100 + version, **orjson.loads(text)} for version, text in EXAMPLES.items()]
        brokers = broker_lists.read(orjson.dumps(array, option=orjson.OPT_INDENT_2).decode())
        assert [(broker.id, broker.rack) for broker in brokers] == [
            (101, None),
            (102, None),
            (103, "dc1"),
            (104, "dc1"),
            (105, None),
        ]

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            (EXAMPLES[1], 1, "expected a line with /brokers/ids/<id> before the registration"),
            (f"get /brokers/ids/1\n{EXAMPLES[1]}\n{EXAMPLES[1]}", 3, "before the registration"),
            (f"get /brokers/ids/1\n{EXAMPLES[1]}\nget /brokers/ids/1\n{EXAMPLES[1]}", 4, "found broker 1 again"),
            ('get /brokers/ids/1\n{"version":9}', 2, "expected a whole number from 1 to 5, found 9"),
            ("get /brokers/ids/1\nNode does not exist", 2, "expected a broker registration, found none"),
            ("get /brokers/ids/99999999999\n{}", 1, "a broker id from 0 to 2147483647"),
            ("get /brokers/ids/1\n", 1, "expected a broker registration, found none"),
            ("[]", 1, "expected a broker registration, found none"),
            (f"[{EXAMPLES[1]}]", 1, "the key 'id'"),
            ('[\n{"id": 1, "version": 1}]', 2, "the key 'host'"),
            ('[\n{"id": -1}]', 2, "expected a whole number from 0"),
            ("[1]", 1, "expected a broker's header"),
        ],
    )
    def test_malformed_registrations_are_rejected_by_their_line(self, text: str, line: int, says: str) -> None:
        rejection = rejected(broker_lists.read, text)
        assert rejection.line == line
        assert says in rejection.detail
