"""`rackplan decode`: every format as JSON, and rejections that name the byte."""

import json
from base64 import b64decode, b64encode
from typing import Any

import pytest

from app.errors.requests import MalformedText
from app.formats import decoding
from app.formats.syntax.wire_formats import ByteEncoding, WireFormat
from tests.formats.test_broker_lists import UPDATE_METADATA
from tests.formats.test_broker_registration import EXAMPLES
from tests.formats.test_consumer_protocol import ASSIGNMENT, SUBSCRIPTION
from tests.formats.test_metadata_messages import TOPIC_METADATA_RESPONSE, UPDATE_METADATA_REQUEST
from tests.formats.test_streams_assignment import V11 as ASSIGNMENT_INFO
from tests.formats.test_streams_subscription import V11 as SUBSCRIPTION_INFO

ONE_BROKER = bytes.fromhex(UPDATE_METADATA)[4:]
INPUTS = {
    WireFormat.REGISTRATION: EXAMPLES[5].encode(),
    WireFormat.BROKER: ONE_BROKER,
    WireFormat.TOPIC_METADATA: TOPIC_METADATA_RESPONSE,
    WireFormat.UPDATE_METADATA: UPDATE_METADATA_REQUEST,
    WireFormat.SUBSCRIPTION: SUBSCRIPTION,
    WireFormat.ASSIGNMENT: ASSIGNMENT,
    WireFormat.STREAMS_SUBSCRIPTION_INFO: bytes.fromhex(SUBSCRIPTION_INFO),
    WireFormat.STREAMS_ASSIGNMENT_INFO: bytes.fromhex(ASSIGNMENT_INFO),
}
BROKER = {"id": 7, "endpoints": [{"host": "h1", "port": 9092, "security_protocol": 3}], "rack": "r"}
OUTPUTS: dict[WireFormat, dict[str, Any]] = {
    WireFormat.BROKER: BROKER,
    WireFormat.TOPIC_METADATA: {
        "brokers": [{"id": 7, "host": "h1", "port": 9092, "rack": "r"}],
        "controller_id": 7,
        "topics": [
            {
                "topic": "t",
                "partitions": [{"partition": 0, "leader": 7, "replicas": [7, 8], "isr": [7], "error_code": 0}],
                "is_internal": False,
                "error_code": 0,
            }
        ],
    },
    WireFormat.UPDATE_METADATA: {
        "controller_id": 7,
        "controller_epoch": 2,
        "partitions": [
            {
                "topic": "t",
                "partition": 0,
                "controller_epoch": 2,
                "leader": 7,
                "leader_epoch": 5,
                "isr": [7],
                "zk_version": 3,
                "replicas": [7, 8],
            }
        ],
        "live_brokers": [BROKER],
    },
    WireFormat.SUBSCRIPTION: {
        "version": 3,
        "topics": ["t"],
        "user_data": None,
        "owned_partitions": [],
        "generation_id": None,
        "rack_id": "a",
    },
    WireFormat.ASSIGNMENT: {
        "version": 3,
        "assigned_partitions": [{"topic": "t", "partitions": [0]}],
        "user_data": None,
    },
    WireFormat.STREAMS_SUBSCRIPTION_INFO: {
        "version": 11,
        "latest_supported_version": 11,
        "process_id": "00000000-0000-0000-0000-000000000001",
        "user_end_point": "a:1",
        "task_offset_sums": {"0_3": -2, "1_2": 100},
        "previous_active_tasks": ["0_3"],
        "previous_standby_tasks": ["1_2"],
        "unique_field": 7,
        "error_code": 0,
        "client_tags": {"zone": "c1"},
    },
    WireFormat.STREAMS_ASSIGNMENT_INFO: {
        "version": 11,
        "commonly_supported_version": 11,
        "active_tasks": ["0_3"],
        "standby_tasks": {},
        "partitions_by_host": [{"host": "h", "port": 80, "partitions": [{"topic": "t", "partition": 3}]}],
        "standby_partitions_by_host": [{"host": "h", "port": 80, "partitions": [{"topic": "c", "partition": 2}]}],
        "error_code": 0,
        "next_rebalance_ms": 100,
    },
}


def decoded(wire_format: WireFormat, content: bytes, encoding: ByteEncoding = ByteEncoding.AUTO) -> Any:
    """The JSON that is printed, parsed."""
    return json.loads(decoding.as_json(wire_format, content, encoding))


@pytest.mark.parametrize("wire_format", OUTPUTS)
def test_worked_bytes(wire_format: WireFormat) -> None:
    assert decoded(wire_format, INPUTS[wire_format]) == OUTPUTS[wire_format]


def test_a_registration_has_every_key_of_its_version() -> None:
    members = decoded(WireFormat.REGISTRATION, INPUTS[WireFormat.REGISTRATION])
    given = json.loads(EXAMPLES[5])
    assert members["endpoints"] == given["endpoints"]
    assert members["listener_security_protocols"] == given["listener_security_protocol_map"]
    assert members["features"] == given["features"]
    assert members["timestamp_ms"] == int(given["timestamp"])


@pytest.mark.parametrize("wire_format", WireFormat)
def test_every_format_is_read_in_every_encoding(wire_format: WireFormat) -> None:
    data = INPUTS[wire_format]
    raw = decoded(wire_format, data, ByteEncoding.RAW)
    assert decoded(wire_format, data.hex(" ").encode()) == raw
    assert decoded(wire_format, b64encode(data)) == raw
    assert decoded(wire_format, b64encode(data), ByteEncoding.BASE64) == raw


@pytest.mark.parametrize("wire_format", WireFormat)
def test_cut_input_is_rejected_and_names_the_byte(wire_format: WireFormat) -> None:
    data = INPUTS[wire_format]
    for end in range(1, len(data)):
        with pytest.raises(MalformedText) as caught:
            decoding.as_json(wire_format, data[:end], ByteEncoding.RAW)
        assert "byte" in caught.value.detail
        byte = caught.value.context["byte"]
        assert isinstance(byte, int)
        assert 0 <= byte <= end


def test_user_data_is_in_base64() -> None:
    """A subscription whose user data are the two bytes of "hi"."""
    content = bytes.fromhex("0001 00000000 00000002 6869 00000000")
    assert b64decode(decoded(WireFormat.SUBSCRIPTION, content)["user_data"]) == b"hi"


def test_every_format_has_a_summary_on_one_line() -> None:
    for wire_format in WireFormat:
        assert wire_format.summary
        assert "\n" not in wire_format.summary
