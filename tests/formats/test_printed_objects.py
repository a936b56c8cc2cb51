"""Objects that Node.js and Python print, in place of JSON."""

import json
import re
from pprint import pformat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.formats.syntax.printed_objects import as_json
from tests.formats.strategies import SAMPLES, rejected
from tests.formats.test_sources import codes, joined, replicas

NAMES = ["kafkajs-metadata.json", "confluent-kafka-go-metadata.json", "kafka-python-cluster.json"]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6, allow_nan=False) | texts
values = st.recursive(scalars, lambda each: st.lists(each, max_size=3) | st.dictionaries(texts, each, max_size=3))
objects = st.dictionaries(st.from_regex(r"[A-Za-z_$][\w$]{0,20}", fullmatch=True), values, min_size=1, max_size=4)


def inspected(value: object, indent: str = "") -> str:
    """A value as `util.inspect(value, { depth: null })` of Node.js prints it."""
    if isinstance(value, dict):
        inner = indent + "  "
        members = [f"{inner}{key}: {inspected(one, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}" if members else "{}"
    if isinstance(value, list):
        return f"[ {', '.join(inspected(one, indent) for one in value)} ]" if value else "[]"
    if isinstance(value, str):
        return repr(value)
    return json.dumps(value) if value is not None else "undefined"


@given(objects, st.booleans())
@example({"ms": 0.0009146790861440889}, True)
@example({"ms": 0.0009146790861440889}, False)
def test_what_python_prints_stands_for_the_same_value(value: dict[str, object], is_short: bool) -> None:
    printed = repr(value) if is_short else pformat(value, width=40)
    written = as_json(f"answer\n{printed}\nend\n")
    assert written.startswith("answer\n")
    assert written.count("\n") == printed.count("\n") + 3
    if is_short or not re.search("['\"]\n", printed):  # pprint breaks long strings in two
        assert json.loads(written.removeprefix("answer\n").removesuffix("end\n"), strict=False) == value


@given(st.text("{}[]:,'\"`bnx. <Buferojct\\\n0aé", max_size=60))
def test_no_text_is_lost_or_grows_by_a_line(text: str) -> None:
    assert as_json(text).count("\n") == text.count("\n")
    assert as_json("Topic: a {b}\n" + text).startswith("Topic: a {b}\n")


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_reads_as_its_json_does(name: str) -> None:
    lines = [json.loads(line) for line in json_lines((SAMPLES / name).read_text())]
    expected = joined(*map(json.dumps, lines))
    for written in (inspected, repr, pformat):
        assembled = joined("\n".join(written(line) for line in lines))
        assert replicas(assembled.cluster) == replicas(expected.cluster)
        assert codes(assembled) == codes(expected)


def test_bytes_are_base64() -> None:
    assert json.loads(as_json("{ a: <Buffer 00 03 ff>, b: <Buffer> }")) == {"a": "AAP/", "b": ""}
    assert json.loads(as_json("{'a': b'\\x00\\x03\\xff'}")) == {"a": "AAP/"}


def test_what_console_log_leaves_out_is_not_missed_in_silence() -> None:
    partition = "{ partitionId: 0, leader: 1, replicas: [ 1 ], isr: [ 1 ] }"
    topic = f"{{ name: 'orders', partitions: [ {partition} ] }}"
    malformed = rejected(joined, f"{{\n  topics: [\n    {topic},\n    ... 3 more items\n  ]\n}}")
    assert (malformed.line, malformed.expected) == (4, "every item")
    assert "JSON.stringify" in rejected(joined, "{ topics: [ { name: 'orders', partitions: [Array] } ] }").detail
    malformed = rejected(
        joined, "{\n  groups: [ { groupId: 'billing', state: 'Stable', members: [\n  [Object] ] } ]\n}"
    )
    assert malformed.line == 3
    assert "groups/0/members/0: expected an object" in malformed.detail


@pytest.mark.parametrize("text", ["{team}: done\n", "{ a: (1) }\n", "{'a': {1, 2}}\n", "{ a: 'open\n", "[ { a: 1 ]\n"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert as_json(text).replace('"', "").replace("'", "") == text.replace("'", "")


def json_lines(text: str) -> list[str]:
    """The documents of a text of JSON, one after another."""
    found, scan = [], json.JSONDecoder().raw_decode
    while text := text.lstrip():
        _, end = scan(text)
        found.append(text[:end])
        text = text[end:]
    return found
