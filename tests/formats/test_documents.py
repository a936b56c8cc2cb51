"""The line that a rejection of a JSON document names."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import FieldPath
from app.formats.syntax.documents import Document, parsed, parsed_once
from tests.formats.strategies import rejected

PRETTY = """
{
  "a": [
    1,
    {"b": "é\\"}",
     "c": 2}
  ],
  "b": [
    3,
    4
  ]
}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [((), 2), (("b",), 8), (("b", 0), 9), (("b", 1), 10), (("b", 7), 8), (("a", 1, "b"), 5), (("none",), 2)],
)
def test_a_place_has_its_line(path: FieldPath, line: int) -> None:
    assert Document.parse(PRETTY, "it").reject(path, expected="x", actual="y").line == line


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(json_values, st.data())
def test_the_line_is_that_of_the_value_whatever_surrounds_it(value: object, data: st.DataObject) -> None:
    """Printed with a value a line, a value's line is found by printing a mark in its place."""
    path: list[str | int] = []
    inner = value
    while isinstance(inner, dict | list) and inner:
        step = data.draw(st.sampled_from(list(inner) if isinstance(inner, dict) else list(range(len(inner)))))
        path.append(step)
        inner = inner[step]
    text = json.dumps(value, indent=1, ensure_ascii=False)
    found = Document.parse(text, "it").reject(tuple(path), expected="x", actual="y").line
    marked = json.dumps(_with_mark(value, path), indent=1, ensure_ascii=False)
    assert found == marked[: marked.index("\N{SNOWMAN}mark")].count("\n") + 1


def _with_mark(value: object, path: list[str | int]) -> object:
    if not path:
        return "\N{SNOWMAN}mark"
    if isinstance(value, dict):
        return {key: _with_mark(item, path[1:]) if key == path[0] else item for key, item in value.items()}
    assert isinstance(value, list)
    return [_with_mark(item, path[1:]) if index == path[0] else item for index, item in enumerate(value)]


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("é é\n", 1), ('{"é":\n\n1,}', 3), ("[" * 5000, 1), ("\n[1,\n", 3), ("\n[1e999]", 2), ('\n"\\ud800"', 2)],
)
def test_what_is_no_json_is_named_by_line(text: str, line: int) -> None:
    rejection = rejected(lambda left: Document.parse(left, "a plan"), text)
    assert rejection.expected == "a plan as JSON"
    assert rejection.line == line


def test_a_number_too_long_for_the_scanner_still_gets_a_line() -> None:
    document = Document.parse('{"a":\n1' + "0" * 200 + ',"b":1}', "it")
    assert document.reject(("b",), expected="x", actual="y").line == 2
    deep = Document.parse('{"a":\n' + "[" * 1000 + "]" * 1000 + ',\n"b":1}', "it")
    assert deep.reject(("b",), expected="x", actual="y").line in (1, 3)


def test_a_long_document_is_parsed_once_while_its_reader_is_chosen() -> None:
    """The text around it may differ by JSON's blanks alone, and nothing stays known afterwards."""
    text = json.dumps(["x" * 70_000])
    with parsed_once():
        first = parsed(text)
        assert parsed(f"\n\n{text}\n") is first
        assert parsed(text.replace("x", "y", 1)) != first
        rejected(lambda left: Document.parse(left, "it"), f"\u00a0{text}")
        assert parsed("[1]") is not parsed("[1]")
    assert parsed(text) is not first
