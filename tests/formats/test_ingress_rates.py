"""`app.formats.clusters.ingress_rates`: bytes in, as monitoring hands them out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.requests import ConflictingFields, ImpossibleValue, MalformedText
from app.formats.clusters.ingress_rates import read_csv, read_prometheus

AT = ("bytes_in",)
names = st.from_regex(r"[a-z][a-z0-9._-]{0,20}", fullmatch=True)


@given(st.lists(st.tuples(names, st.integers(0, 9), st.integers(0, 3), st.floats(0, 1e12)), max_size=20))
def test_what_is_written_as_csv_is_read(samples: list[tuple[str, int, int, float]]) -> None:
    """Every sample is read once, into the series of its partition."""
    written = {(topic, partition, time): rate for topic, partition, time, rate in samples}
    rows = [f"{time},{rate!r},{topic},{partition}" for (topic, partition, time), rate in written.items()]
    found = read_csv("\r\n".join(["timestamp,bytes_in_per_s,topic,partition", *rows, ""]), AT)
    assert {
        (its.topic, its.partition, time): rate
        for its in found
        for time, rate in zip(its.times.tolist(), its.bytes_per_s.tolist(), strict=True)
    } == written
    assert len({(its.topic, its.partition) for its in found}) == len(found)


def test_times_are_seconds_or_rfc_3339() -> None:
    text = '\ufefftopic,bytes_in_per_s,timestamp\n"orders",1,2026-11-02T10:00:00Z\norders,2,1793613660\n\n'
    [its] = read_csv(text, AT)
    assert (its.topic, its.partition, its.bytes_per_s.tolist()) == ("orders", None, [1, 2])
    assert its.times.tolist() == [1793613600.0, 1793613660.0]


BAD_CSV = [
    ("", 1, "nothing"),
    ("topic,rate\n", 1, "'rate'"),
    ("topic,topic,bytes_in_per_s\n", 1, "'topic'"),
    ("topic\n", 1, "'topic'"),
    ("topic,bytes_in_per_s\na,1\nb\n", 3, "1"),
    ("topic,bytes_in_per_s\n\na b,1\n", 3, "'a b'"),
    ("topic,bytes_in_per_s\na,-1\n", 2, "'-1'"),
    ("topic,bytes_in_per_s\na,NaN\n", 2, "'NaN'"),
    ("topic,bytes_in_per_s\na,inf\n", 2, "'inf'"),
    ("topic,bytes_in_per_s\na,1\na,2\n", 3, "again"),
    ("topic,partition,bytes_in_per_s\na,-1,1\n", 2, "'-1'"),
    ("topic,partition,bytes_in_per_s\na,0,1\n,,\na,,2\n", 4, "''"),
    ("topic,partition,bytes_in_per_s\na,4294967296,1\n", 2, "'4294967296'"),
    ("topic,bytes_in_per_s,timestamp\na,1,noon\n", 2, "'noon'"),
    ("topic,bytes_in_per_s,timestamp\na,1,nan\n", 2, "'nan'"),
    ('topic,bytes_in_per_s\na,1\n"b,2\n', 3, "end of data"),
]


@pytest.mark.parametrize(("text", "line", "found"), BAD_CSV)
def test_a_line_that_cannot_be_read_is_named(text: str, line: int, found: str) -> None:
    with pytest.raises(MalformedText) as rejected:
        read_csv(text, AT)
    assert (rejected.value.line, rejected.value.path) == (line, AT)
    assert found in rejected.value.detail


def test_a_topic_has_rates_by_partition_or_as_a_whole() -> None:
    """Both would count its bytes twice."""
    answer = answered([{"metric": {"topic": "a"}}, {"metric": {"topic": "a", "partition": "0"}}])
    with pytest.raises(ConflictingFields) as conflict:
        read_prometheus(answer, AT)
    assert conflict.value.path == ("bytes_in", "data", "result", 1, "metric")


def answered(series: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer of `/api/v1/query_range` with these series."""
    result = [{"values": [[1793613600, "1"], [1793613660.5, "2.5e3"]]} | its for its in series]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def test_series_of_brokers_stay_apart_until_they_are_added_up() -> None:
    found = read_prometheus(
        answered([{"metric": {"topic": "a", "partition": "3", "instance": f"broker-{i}:7071"}} for i in range(2)]), AT
    )
    assert [(its.topic, its.partition, its.times.tolist(), its.bytes_per_s.tolist()) for its in found] == [
        ("a", 3, [1793613600, 1793613660.5], [1, 2500])
    ] * 2


def test_an_instant_is_a_series_of_one() -> None:
    result: Any = [{"metric": {"topic": "a"}, "value": [5, "7"]}]
    [its] = read_prometheus({"data": {"resultType": "vector", "result": result}}, AT)
    assert (its.times.tolist(), its.bytes_per_s.tolist()) == ([5], [7])


BAD_ANSWERS: list[tuple[dict[str, Any], tuple[str | int, ...]]] = [
    ({}, ("data",)),
    ({"data": {"resultType": "scalar"}}, ("data", "resultType")),
    ({"data": {"resultType": "matrix"}}, ("data", "result")),
    (answered([{"metric": {}}]), ("data", "result", 0, "metric", "topic")),
    (answered([{"metric": 5}]), ("data", "result", 0, "metric")),
    (answered([{"metric": {"topic": "a", "partition": "x"}}]), ("data", "result", 0, "metric", "partition")),
    (answered([{"metric": {"topic": "a"}, "values": [[1, "NaN"]]}]), ("data", "result", 0, "values", 0, 1)),
    (answered([{"metric": {"topic": "a"}, "values": [[1, 2]]}]), ("data", "result", 0, "values", 0, 1)),
    (answered([{"metric": {"topic": "a"}, "values": ["x"]}]), ("data", "result", 0, "values", 0)),
    (answered([{"metric": {"topic": "a"}, "values": "x"}]), ("data", "result", 0, "values")),
]


@pytest.mark.parametrize(("answer", "path"), BAD_ANSWERS)
def test_a_place_that_cannot_be_read_is_named(answer: dict[str, Any], path: tuple[str | int, ...]) -> None:
    with pytest.raises(ImpossibleValue) as rejected:
        read_prometheus(answer, AT)
    assert rejected.value.path == AT + path
