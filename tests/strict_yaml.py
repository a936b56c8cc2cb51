"""A second reader of YAML, by YAML 1.2 alone: a line ends at LF, CR LF or CR, and nowhere else.

It reads the syntax of manifests: comments, block mappings and sequences, literal blocks, plain and quoted scalars.
Anything else is a ValueError. All scalars are texts.
"""

import json
import re
from typing import TypeAlias

Yaml: TypeAlias = "str | list[Yaml] | dict[str, Yaml]"
_LINE_END = re.compile("\r\n|\n|\r")
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_KEY = re.compile(r"(?P<key>[A-Za-z0-9_./-]+):(?: (?P<value>.+))?")
_ESCAPES = {"N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029", "0": "\0", "a": "\a", "v": "\v", "e": "\x1b"}
_ESCAPE = re.compile(r'\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([N_LP0abtnvfre"/\\]))')


def load_all(text: str) -> list[Yaml]:
    """The documents of a stream."""
    if found := _NOT_PRINTABLE.search(text):
        raise ValueError(f"{found[0]!r} is not printable")
    return [_Reader(part).document() for part in re.split(r"(?m)^---$\n?", "\n".join(_LINE_END.split(text)))]


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = [line for line in text.split("\n") if not line.startswith("#")]
        self.at = 0

    def document(self) -> Yaml:
        value = self._value(0)
        if any(line.strip() for line in self.lines[self.at :]):
            raise ValueError(f"what is {self.lines[self.at]!r}?")
        return value

    def _indent(self) -> int:
        while self.at < len(self.lines) and not self.lines[self.at].strip(" "):
            self.at += 1
        if self.at == len(self.lines):
            return -1
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(" "))

    def _value(self, indent: int) -> Yaml:
        return self._sequence(indent) if self.lines[self.at][indent:].startswith("- ") else self._mapping(indent)

    def _sequence(self, indent: int) -> list[Yaml]:
        items: list[Yaml] = []
        while self._indent() == indent and self.lines[self.at][indent:].startswith("- "):
            rest = self.lines[self.at][indent + 2 :]
            if _KEY.fullmatch(rest):
                self.lines[self.at] = " " * (indent + 2) + rest
                items.append(self._mapping(indent + 2))
            else:
                self.at += 1
                items.append(_scalar(rest))
        return items

    def _mapping(self, indent: int) -> dict[str, Yaml]:
        members: dict[str, Yaml] = {}
        while self._indent() == indent and not self.lines[self.at][indent:].startswith("- "):
            match = _KEY.fullmatch(self.lines[self.at][indent:])
            if match is None or match["key"] in members:
                raise ValueError(f"{self.lines[self.at]!r} is no key, or is one again")
            self.at += 1
            members[match["key"]] = self._member(match["value"], indent)
        return members

    def _member(self, value: str | None, indent: int) -> Yaml:
        if value is None:
            return self._value(self._indent())
        if value in ("|", "|-"):
            return self._block(indent + 2) + ("\n" if value == "|" else "")
        if value.startswith('"'):
            # A quoted scalar may go on in the next line, after a backslash.
            while not re.fullmatch(r'"(?:[^"\\]|\\.)*"', value):
                if not value.endswith("\\"):
                    raise ValueError(f"{value!r} does not end")
                value = value[:-1] + self.lines[self.at].lstrip(" ").removeprefix("\\")
                self.at += 1
        return _scalar(value)

    def _block(self, indent: int) -> str:
        lines = []
        while self.at < len(self.lines) and (not self.lines[self.at] or self.lines[self.at].startswith(" " * indent)):
            lines.append(self.lines[self.at][indent:])
            self.at += 1
        return "\n".join(lines).rstrip("\n")


def _scalar(text: str) -> str:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if not text.startswith('"'):
        if text[0] in "[]{}#&*!|>%@`":
            raise ValueError(f"{text!r} is no plain scalar")
        return text
    return _ESCAPE.sub(_escaped, text[1:-1])


def _escaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is not None:
        return chr(int(digits, 16))
    sign = match[4]
    return _ESCAPES[sign] if sign in _ESCAPES else str(json.loads(f'"\\{sign}"'))
