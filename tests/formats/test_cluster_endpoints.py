"""`kafka-cluster list-endpoints`: brokers with racks and fencing, in the widths that the tool computes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker
from app.formats.clusters import broker_lists
from app.formats.clusters.broker_api_versions import read
from tests.formats.strategies import broken, broker_ids, line_texts, reads_or_rejects, rejected, sample
from tests.formats.writers.broker_api_versions import BrokerHeader
from tests.formats.writers.cluster_endpoints import write
from tests.profiles import examples

SAMPLE = sample("kafka-cluster-list-endpoints.txt")
# Width of HOST and RACK below their names': the rows are not below the header.
NARROW = (
    "ID         HOST PORT       RACK STATE      ENDPOINT_TYPE  \n"
    "1          k 9092       a unfenced   broker         \n"
    "2          k 9092       b fenced     broker         \n"
)
WITHOUT_STATE = (
    "ID         HOST PORT       RACK       ENDPOINT_TYPE  \n1          kaf1 9092       null       broker         \n"
)

racks = st.one_of(line_texts.filter(bool), st.sampled_from(["eu west 1", "fenced", "broker"])).filter(
    lambda rack: rack != "null" and "  " not in rack
)


@st.composite
def tables(draw: st.DrawFn) -> list[BrokerHeader]:
    with_state = draw(st.booleans())
    row = st.builds(
        BrokerHeader,
        id=broker_ids,
        host=st.sampled_from(["127.0.0.1", "kafka-1.example.org", "::1", "k"]),
        port=st.integers(0, 65535),
        rack=st.none() | racks,
        fenced=st.booleans() if with_state else st.none(),
    )
    return draw(st.lists(row, min_size=1, unique_by=lambda row: row.id))


@given(tables())
def test_what_is_written_reads_back(rows: list[BrokerHeader]) -> None:
    assert read(write(rows)) == tuple(row.broker for row in rows)


def test_brokers_come_by_id_with_racks_and_fencing() -> None:
    expected = (Broker(101, "use1-az1"), Broker(102, "use1-az1", fenced=True), Broker(103))
    assert broker_lists.read(SAMPLE) == expected
    assert broker_lists.read(WITHOUT_STATE) == (Broker(1),)


def test_cells_that_are_narrower_than_their_columns_names() -> None:
    assert broker_lists.read(NARROW) == (Broker(1, "a"), Broker(2, "b", fenced=True))


def test_log_lines_before_and_after() -> None:
    before = (
        "Option --config has been deprecated and will be removed in a future version. Use --command-config instead.\n"
    )
    after = "[2026-01-27 19:50:51,936] WARN [AdminClient clientId=adminclient-1] x (org.apache.kafka.clients.X)\n"
    assert broker_lists.read((before + SAMPLE + after).replace("\n", "\r\n")) == broker_lists.read(SAMPLE)


HEAD = SAMPLE.split("\n", 1)[0] + "\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "no broker"),
        (HEAD, 1, "no broker"),
        ("1 k 9092 a unfenced broker\n" + HEAD, 1, "a broker's header"),
        (HEAD + "1 k 9092 a unfenced broker\n1 k 9092 b unfenced broker", 3, "broker 1 again"),
        (HEAD + "-1 k 9092 a unfenced broker", 2, "a broker id from 0"),
        (HEAD + "1 k 9o92 a unfenced broker", 2, "a broker's row"),
        (HEAD + "1 k 9092 a broker", 2, "a broker's row"),
        (HEAD + "1 k 9092 a unfen", 2, "a broker's row"),
        (HEAD + "1 k", 2, "a broker's row"),
        (HEAD + "3000 k 9093 null unfenced controller", 2, "a controller's"),
        (WITHOUT_STATE + "3000 k 9093 null controller", 3, "a controller's"),
    ],
)
def test_a_malformed_text_is_named_by_line_and_expectation(text: str, line: int, says: str) -> None:
    rejection = rejected(read, text)
    assert rejection.line == line
    assert says in rejection.detail


@given(st.text())
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)


@examples(200)
@given(broken(SAMPLE))
def test_any_broken_table_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)
