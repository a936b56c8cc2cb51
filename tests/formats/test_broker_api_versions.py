"""The headers of `kafka-broker-api-versions`, of old and new tools, alone or with the APIs between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker
from app.formats.clusters.broker_api_versions import BrokerHeader, read
from app.formats.clusters.broker_lists import read as brokers_of
from tests.formats.strategies import broken, broker_ids, line_texts, reads_or_rejects, rejected, sample
from tests.formats.writers.broker_api_versions import write
from tests.profiles import costly

CAPTURES = ["kafka-broker-api-versions.txt", "kafka-broker-api-versions-two-brokers-down.txt"]
FULL = (
    "kafka-1:9092 (id: 1 rack: null) -> (\n"
    "\tProduce(0): 0 to 9 [usable: 9],\n"
    "\tLeaderAndIsr(4): UNSUPPORTED,\n"
    "\tUNKNOWN(74): 0\n"
    ")\n"
    "kafka-0:9092 (id: 0 rack: eu west (1)) -> (\n"
    "\tProduce(0): 0 to 9 [usable: 9],\n"
    "\tFetch(1): 4 to 17 [unusable: node too new]\n"
    ")\n"
    "::1:9092 (id: 2 rack: a isFenced: true) -> ERROR: org.apache.kafka.common.errors.DisconnectException\n"
)

racks = st.one_of(line_texts, st.sampled_from(["eu west 1", "a (b)", "", "rack: x", "nul"])).filter(
    lambda rack: rack != "null"
)
headers = st.builds(
    BrokerHeader,
    id=broker_ids,
    host=st.sampled_from(["127.0.0.1", "kafka-1.example.org", "[::1]", "::1", "fe80::1%eth0"]),
    port=st.integers(0, 65535),
    rack=st.none() | racks,
    fenced=st.none() | st.booleans(),
    error=st.none() | st.just("java.io.IOException: it is gone"),
)


@given(st.lists(headers, min_size=1, unique_by=lambda header: header.id))
def test_what_is_written_reads_back(listed: list[BrokerHeader]) -> None:
    assert read(write(listed)) == tuple(listed)


@pytest.mark.parametrize("name", CAPTURES)
def test_real_captures_come_back_verbatim(name: str) -> None:
    assert write(read(sample(name))) == sample(name)


def test_the_whole_answer_leaves_its_headers() -> None:
    assert read(FULL) == (
        BrokerHeader(1, "kafka-1", 9092),
        BrokerHeader(0, "kafka-0", 9092, rack="eu west (1)"),
        BrokerHeader(2, "::1", 9092, "a", fenced=True, error="org.apache.kafka.common.errors.DisconnectException"),
    )
    assert write(read(FULL)).splitlines() == [line for line in FULL.splitlines() if "->" in line]
    assert read(FULL.replace("\n", "\r\n").expandtabs()) == read(FULL)


def test_brokers_come_by_id_with_their_racks() -> None:
    assert brokers_of(FULL) == (Broker(0, "eu west (1)"), Broker(1), Broker(2, "a", fenced=True))
    found = brokers_of(sample(CAPTURES[0]))
    assert [broker.id for broker in found] == list(range(101, 110))
    assert [broker.rack for broker in found] == ["use1-az1"] * 3 + ["use1-az2"] * 4 + ["use1-az4"] * 2


ONE = "kafka-1:9092 (id: 1 rack: a) -> (\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "found no broker"),
        ("\n\n", 1, "found no broker"),
        ("\n" + ONE + ONE, 3, "broker 1 again"),
        (ONE + "kafka-2:9092 (id: -1 rack: null) -> (", 2, "a broker id from 0"),
        (ONE + "kafka-2:9092 (id: 2147483648 rack: null) -> (", 2, "a broker id from 0"),
        (ONE + "kafka-2:70000 (id: 2 rack: null) -> (", 2, "a port from 0"),
        (ONE + "kafka-2:9092 (id: 2 rack: nul", 2, "a broker's header"),
        (ONE + "kafka-2:9092 (id: 2) -> (", 2, "a broker's header"),
        (ONE + "kafka-2 (id: 2 rack: a) -> (", 2, "a broker's header"),
        (ONE + "kafka-2:9092 (id: 2 rack: a\0b) -> (", 2, "a broker's header"),
        (ONE + "\tProd", 2, "a broker's header"),
        ("\tProduce(0): 0 to 9 [usable: 9],\n" + ONE, 1, "before its API lines"),
    ],
)
def test_a_malformed_text_is_named_by_line_and_expectation(text: str, line: int, says: str) -> None:
    rejection = rejected(read, text)
    assert rejection.line == line
    assert says in rejection.detail


@given(st.text())
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)


@costly(200)
@given(st.data())
@pytest.mark.parametrize("text", [FULL, *map(sample, CAPTURES)])
def test_any_broken_capture_reads_or_is_rejected(text: str, data: st.DataObject) -> None:
    reads_or_rejects(read, data.draw(broken(text)))
