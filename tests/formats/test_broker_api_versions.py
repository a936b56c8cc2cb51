"""The headers of `kafka-broker-api-versions`, of old and new tools, alone or with the APIs between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker
from app.formats.clusters.broker_api_versions import read
from app.formats.clusters.broker_lists import read as brokers_of
from tests.formats.strategies import broken, broker_ids, line_texts, reads_or_rejects, rejected, sample
from tests.formats.test_sources import joined, racks
from tests.formats.writers.broker_api_versions import BrokerHeader, write, write_nodes
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

rack_names = st.one_of(line_texts, st.sampled_from(["eu west 1", "a (b)", "", "rack: x", "nul"])).filter(
    lambda rack: rack != "null"
)
headers = st.builds(
    BrokerHeader,
    id=broker_ids,
    host=st.sampled_from(["127.0.0.1", "kafka-1.example.org", "[::1]", "::1", "fe80::1%eth0"]),
    port=st.integers(0, 65535),
    rack=st.none() | rack_names,
    fenced=st.none() | st.booleans(),
    error=st.none() | st.just("java.io.IOException: it is gone"),
)


@given(st.lists(headers, min_size=1, unique_by=lambda header: header.id))
def test_what_is_written_reads_back(listed: list[BrokerHeader]) -> None:
    brokers = tuple(header.broker for header in listed)
    assert read(write(listed)) == brokers
    assert read(write(listed).replace(" -> (", "")) == brokers
    if not any("), " in (header.rack or "") for header in listed):
        assert read(write_nodes(listed)) == brokers


def test_brokers_as_clients_of_java_print_them() -> None:
    nodes = "k1:9092 (id: 1 rack: a), [::1]:9092 (id: 2 rack: null isFenced: true)"
    for before in ("", "Nodes: ", "nodes="):
        assembled = joined(f"Cluster id: x\n{before}[{nodes}]\nDone.\n")
        assert racks(assembled) == {1: "a", 2: None}
        assert [broker.fenced for broker in assembled.cluster.brokers] == [False, True]
    assert racks(joined("k1:9092 (id: 1 rack: a)\nk2:9092 (id: 2 rack: b)\n")) == {1: "a", 2: "b"}
    assert rejected(joined, f"[{nodes[:-1]}\n").line == 1


def test_the_whole_answer_leaves_its_headers() -> None:
    assert read(FULL) == (
        Broker(1),
        Broker(0, "eu west (1)"),
        Broker(2, "a", fenced=True),
    )
    assert read(FULL.replace("\n", "\r\n").expandtabs()) == read(FULL)


def test_brokers_come_by_id_with_their_racks() -> None:
    assert brokers_of(FULL) == (Broker(0, "eu west (1)"), Broker(1), Broker(2, "a", fenced=True))
    found = brokers_of(sample(CAPTURES[0]))
    assert [broker.id for broker in found] == list(range(101, 110))
    assert [broker.rack for broker in found] == ["use1-az1"] * 3 + ["use1-az2"] * 4 + ["use1-az4"] * 2


ONE = "kafka-1:9092 (id: 1 rack: a) -> (\n"


def test_a_command_that_ran_twice_says_no_more() -> None:
    assert read(ONE + ONE) == read(ONE)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "found no broker"),
        ("\n\n", 1, "found no broker"),
        ("\n" + ONE + ONE.replace("rack: a", "rack: b"), 3, "broker 1 again"),
        (ONE + "kafka-2:9092 (id: -1 rack: null) -> (", 2, "a broker id from 0"),
        (ONE + "kafka-2:9092 (id: 2147483648 rack: null) -> (", 2, "a broker id from 0"),
        (ONE + "kafka-2:7000000 (id: 2 rack: null) -> (", 2, "a broker's header"),
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
