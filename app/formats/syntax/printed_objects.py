"""Objects as programs print them, written as the JSON that they stand for.

    { brokers: [ { nodeId: 1, host: 'k', rack: undefined } ], clusterId: 'x' }     `console.log` of Node.js
    {'brokers': [{'node_id': 1, 'host': 'k', 'rack': None}], 'cluster_id': 'x'}    `print` of Python

    {"brokers": [{"nodeId": 1, "host": "k",}],} // of JavaScript; {"brokers"=>[{"nodeId"=>1}]} of Ruby

Bytes (`<Buffer 00 01>`, `b'…'`) become base64. What Node.js leaves out (`[Object]`, `... 3 more items`) becomes a text,
which no reader takes for an object. A list of strings is one of lines: `['…', '…']`, `[b'…\\n']`, `('…' '…')`. Lines
keep their numbers, and a text that only begins like such an object stays as it is.
"""

import json
import re
from base64 import b64encode
from collections.abc import Sequence

from app.formats.syntax.documents import is_json

_OPENING, _KEY = r"^[ \t]*+(?:\[\s*+){0,2}+\{\s*+", r"'[^'\n]{1,249}'\s*+:|[A-Za-z_$][\w$]{0,249}:\s"
_START = re.compile(rf"{_OPENING}(?={_KEY})", re.MULTILINE)
_LOOSE_START = re.compile(rf"{_OPENING}(?={_KEY}|\"[^\"\n]{{1,249}}\"\s*+(?::|=>))", re.MULTILINE)
_LOOSE = re.compile(r',\s*+[\]}]|=>|: ?NaN\b|/\*|[,\[{"\d][ \t]*+(?:#|//)|^[ \t]*+//', re.MULTILINE)
"""Signs of an object of another language, which JSON has in strings alone: a last comma, a comment, `=>` of Ruby."""
_MOST_LOOSE_CHARACTERS = 1 << 22
_STRINGS = re.compile(r"\s*+([\[(])\s*+(?=b?['\"])")
_ESCAPE = r"\\(?:[\\'\"`abfnrtv0]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4})"
_CUT = r"\[(?:Object|Array|Circular)\b[^\]\n]{0,20}\]"
_TOKEN = re.compile(
    r"\s++|(?P<comment>//[^\n]*+|\#[^\n]*+|/\*[^*]*+\*/)|(?P<arrow>=>)"
    rf"|(?P<cut>{_CUT}|\.\.\. \d{{1,9}} more \w{{1,9}}|<Buffer [\da-f ]{{1,200}}\.\.\.[^>\n]{{1,30}}>)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|[,:]|<Buffer(?P<hex>(?: [\da-f]{2})*+)>"
    rf"|(?P<is_bytes>b)?(?P<quote>['\"`])(?P<string>(?:(?!(?P=quote))[^\\\n]|{_ESCAPE})*+)(?P=quote)"
    r"|(?P<number>-?\d{1,19}(?:\.\d{1,25})?(?:e[+-]?\d{1,3})?)n?(?![\w.])"
    r"|(?P<word>[A-Za-z_$][\w$]{0,249})",
    re.ASCII,
)
_WORDS = {"nil": "null", "True": "true", "False": "false", "None": "null", "undefined": "null"}
_WORDS |= {word: word for word in ("true", "false", "null")}


def as_json(text: str) -> str:
    """The text with each printed object as JSON."""
    written, end = [], 0
    is_loose = len(text) < _MOST_LOOSE_CHARACTERS and _LOOSE.search(text) is not None and not is_json(text)
    opening = _LOOSE_START if is_loose else _START
    while "{" in text and (start := opening.search(text, end)) is not None:
        value, after = _value(text, start.start())
        written += [text[end : start.start()], value]
        end = after
    return "".join([*written, text[end:]])


def lines_of_strings(text: str) -> str | None:
    """The lines of a text that is a list of strings; None of any other. Python divides long ones into adjacent ones."""
    if (opening := _STRINGS.match(text)) is None:
        return None
    lines, position, before = [""], opening.end(), ","
    while (token := _TOKEN.match(text, position)) is not None and not token["open"] and not token["close"]:
        position = token.end()
        if token["string"] is None:
            before += token[0]
            continue
        is_next = "," in before or (opening[1] == "[" and "\n" not in before)
        lines += ["\n" if is_next and lines[-1] and not lines[-1].endswith("\n") else "", _string(token)]
        before = ""
    return "".join(lines) if text[position:].strip() in ("]", ")") else None


def _value(text: str, start: int) -> tuple[str, int]:
    """The object at `start` as JSON, and its end. Text that is no object is unchanged, up to the line that shows it."""
    written: list[str] = []
    depth, position = 0, start
    while (token := _TOKEN.match(text, position)) is not None:
        if token["close"] and written[last := _last_token(written)] == ",":
            written[last] = ""
        written.append(_written(token, is_key=text[token.end() : token.end() + 1] == ":"))
        depth += bool(token["open"]) - bool(token["close"])
        position = token.end()
        if token["close"] and depth == 0:
            return "".join(written), position
    end = text.find("\n", position) + 1 or len(text)
    return text[start:end], end


def _last_token(written: Sequence[str]) -> int:
    """The index of the last text that is not blank, or 0."""
    return next((at for at in range(len(written) - 1, 0, -1) if written[at].strip()), 0)


def _written(token: re.Match[str], *, is_key: bool) -> str:
    if token["comment"] or token["arrow"]:
        return "\n" * token[0].count("\n") if token["comment"] else ":"
    if token["cut"]:
        return json.dumps(token["cut"])
    if token["hex"] is not None:
        return json.dumps(b64encode(bytes.fromhex(token["hex"])).decode())
    if token["string"] is not None:
        value = _string(token)
        return json.dumps(b64encode(value.encode("latin-1", "replace")).decode() if token["is_bytes"] else value)
    if token["word"]:
        return json.dumps(token["word"]) if is_key else _WORDS.get(token["word"], json.dumps(token["word"]))
    return token["number"] or token[0]


def _string(token: re.Match[str]) -> str:
    return token["string"].encode("latin-1", "backslashreplace").decode("unicode_escape")
