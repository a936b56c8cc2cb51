"""YAML documents as texts, lists and mappings, each with its line: no types, no tags, no aliases.

A few lines with aliases can stand for more than any memory, and a tag can stand for an object: neither is read. Scalars
stay texts, so that `no` is a name and `010` is ten.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import orjson

from app.errors.requests import MalformedText
from app.formats.syntax import documents
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import rejection, shown

Yaml: TypeAlias = "str | list[Yaml] | dict[str, Yaml]"

MOST_CHARACTERS, DEEPEST = 16 * 2**20, 64
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?", re.ASCII)
ROW = re.compile(r"\s+(?:- +)?[\w-]{1,60}:|\s*- +(?:[\w-]{1,60}:|\d)|NextToken:")
"""A further line of an answer in YAML, of which lists and their members are all that stands at the start of a line."""
_WORDS = {"true": True, "false": False, "null": None, "": None}


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document and the line on which it starts, from 1."""

    line: int
    root: Yaml


class YamlMapping(dict[str, "Yaml"]):
    """A mapping with the line of its first key."""

    line = 1


def line_of(value: Yaml, document: YamlDocument) -> int:
    """The line of a mapping; of another value that of its document."""
    return value.line if isinstance(value, YamlMapping) else document.line


def resources(root: Yaml) -> list[dict[str, Yaml]]:
    """The resource of Kubernetes that a document is, or those of a list of resources."""
    is_list = isinstance(root, dict) and str(root.get("kind")).endswith("List") and "items" in root
    listed = root["items"] if isinstance(root, dict) and is_list else [root]
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def read(text: str) -> list[YamlDocument]:
    """The documents of a stream, which `---` separates; empty ones are left out. JSON is YAML, too.

    Raises
    ------
    MalformedText
        The text is no YAML, is too long or too deep, or has an alias or a key twice; names the line.
    """
    import yaml  # noqa: PLC0415 — for this format alone

    if len(text) > MOST_CHARACTERS:
        raise rejection(1, expected=f"at most {MOST_CHARACTERS} characters of YAML", actual=f"{len(text)}")
    try:
        _check(yaml.parse(text, Loader=yaml.CBaseLoader))
        nodes = list(yaml.compose_all(text, Loader=yaml.CBaseLoader))
    except yaml.MarkedYAMLError as error:
        raise _rejected(error.problem_mark, "YAML", shown(error.problem or "something else")) from None
    except yaml.YAMLError as error:
        raise rejection(1, expected="YAML", actual=shown(str(error))) from None
    documents = [YamlDocument(node.start_mark.line + 1, _plain(node)) for node in nodes]
    return [document for document in documents if document.root != ""]


def each_document(text: str, what: str, *, lines_before: int = 0) -> Iterator[Document]:
    """The documents of a text in JSON, or in YAML with its numbers and words as JSON has them; also both in turn.

    Raises `MalformedText` as `documents.each_document` does; of YAML with the line on which the document starts.
    """
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line[:1].isalpha() or line.startswith(("- ", "{", "["))]
    changes = [at for before, at in pairwise(starts) if _is_yaml(lines[before]) != _is_yaml(lines[at])]
    for start, end in pairwise([0, *changes, len(lines)]):
        run, before = "\n".join(lines[start:end]), lines_before + start
        if _is_yaml(run.lstrip()):
            for document in documents_of_part(run, before):
                root = _typed(document.root)
                yield Document(orjson.dumps(root).decode(), what, root, document.line - 1)
        else:
            yield from documents.each_document(run, what, lines_before=before)


def _is_yaml(line: str) -> bool:
    """Whether a document that starts with this line is YAML and not JSON."""
    return line[:1].isalpha() or line.startswith("- ")


def documents_of_part(text: str, lines_before: int) -> list[YamlDocument]:
    """The documents of a part of a text, which has that many lines before it; raises `MalformedText` as `read` does."""
    try:
        return [YamlDocument(lines_before + document.line, document.root) for document in read(text)]
    except MalformedText as malformed:
        # Text missing at the end is missing on the line after it.
        line = lines_before + min(malformed.line or 1, text.count("\n") + 1)
        raise malformed.relocated(line=line, source=None, path=malformed.path) from None


def _typed(value: Yaml) -> object:
    """A value whose numbers, `true`, `false` and `null` are no longer texts."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return _WORDS.get(value, value)


def _check(events: Iterator[object]) -> None:
    """Raise `MalformedText` for an alias, and for a depth that recursion would not survive."""
    import yaml  # noqa: PLC0415 — for this format alone

    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        mark = getattr(event, "start_mark", None)
        if isinstance(event, yaml.AliasEvent):
            raise _rejected(mark, "YAML without aliases", f"the alias {shown(str(event.anchor))}")
        if depth > DEEPEST:
            raise _rejected(mark, f"at most {DEEPEST} levels of YAML", "a deeper one")


def _plain(node: object) -> Yaml:
    import yaml  # noqa: PLC0415 — for this format alone

    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    if not isinstance(node, yaml.MappingNode):
        return str(getattr(node, "value", ""))
    members = YamlMapping()
    members.line = node.start_mark.line + 1
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _rejected(key.start_mark, "a text as the key", "a list or a mapping")
        if key.value in members:
            raise _rejected(key.start_mark, "each key once", f"{shown(key.value)} again")
        members[key.value] = _plain(value)
    return members


def _rejected(mark: object, expected: str, actual: str) -> MalformedText:
    return rejection(getattr(mark, "line", 0) + 1, expected=expected, actual=actual)
