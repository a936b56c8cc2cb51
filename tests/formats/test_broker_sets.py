"""Broker sets as Cruise Control has them, and as an object of ids by name."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.sources.broker_sets import read
from tests.formats.strategies import broken, reads_or_rejects, rejected

FILE = '{\n "brokerSets": [\n  {"brokerSetId": "blue", "brokerIds": [0, 1], "doc": "…"}\n ]\n}'
ids = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4, unique=True)


@given(st.dictionaries(st.text(min_size=1, max_size=9), ids, max_size=4))
def test_both_forms_say_the_same(sets: dict[str, list[int]]) -> None:
    listed = [{"brokerSetId": name, "brokerIds": brokers} for name, brokers in sets.items()]
    expected = {name: tuple(brokers) for name, brokers in sets.items()}
    assert read(json.dumps(sets)) == expected
    assert read(json.dumps({"brokerSets": listed})) == expected


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (FILE.replace("[0, 1]", "[]"), 3, "brokerSets/0/brokerIds: expected at least one broker id"),
        (FILE.replace("[0, 1]", "[1, 1]"), 3, "broker 1 twice"),
        (FILE.replace('"doc"', '"note"'), 3, "brokerSets/0/note: expected only the keys"),
        (FILE.replace('"brokerSetId": "blue",', ""), 3, "expected the key 'brokerSetId'"),
        (
            '{"brokerSets": [{"brokerSetId":"a","brokerIds":[1]},\n{"brokerSetId":"a","brokerIds":[2]}]}',
            2,
            "each set once",
        ),
        ('{"blue": "101"}', 1, "blue: expected an array"),
        ("[]", 1, "expected an object"),
    ],
)
def test_what_is_malformed_is_named_by_place_and_line(text: str, line: int, says: str) -> None:
    rejection = rejected(read, text)
    assert says in rejection.detail
    assert rejection.line == line


@given(st.text() | broken(FILE))
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)
