"""Texts that other programs put around lines of a tool's output: prefixes, and the quotes of a JSON array of lines.

    kafka-1  | Topic: orders …                  docker compose
    [pod/kafka-0/kafka] Topic: orders …         kubectl logs --prefix
    kafka-0 kafka Topic: orders …               stern
    kafka-1: Topic: orders …                    dsh, pdsh, grep
    2026-01-31T12:00:00.123Z Topic: orders …    docker logs -t, kubectl logs --timestamps, CI
    Jan 31 12:00:00 host kafka[7]: Topic: …     syslog, journalctl
    ### Topic: orders …                         comments, quotations
    …,"Topic: orders …",…                       a column of CSV, as of Splunk and CloudWatch
    "stdout_lines": ["Topic: orders …", …]      Ansible; also one string, "stdout": "Topic: orders …\\n…"
    {"log":"Topic: orders …\\n","stream":…}      docker's log files; "message": "Topic: orders …" of others
    [0.25, "o", "Topic: orders …\\r\\n"]          recordings of a terminal
    ["1768000000000000000", "Topic: orders …"]  Loki, also the newest line first
    - "Topic: orders …"                         lists of YAML
    level=info msg="Topic: orders …"            logfmt
    | Topic: orders | Partition: 0 | …          tables of Markdown and Jira, boxes; "Topic: orders …", likewise
    kafka-1 | CHANGED | rc=0 >>                 Ansible ad hoc, before the lines of a host

A prefix is removed if most lines have it and more of them are known without it. So `Topic: ` stays, though most lines
of a description begin with it.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from typing import TypeAlias

from app.formats.syntax.lines import alternatives, rejection, says_something
from app.formats.syntax.printed_objects import lines_of_strings

Prefix: TypeAlias = tuple[re.Pattern[str], ...]
"""The parts of a prefix, one after the other."""
_NAME = r"[\w./-]{1,253}"
_MOMENT = (
    r"\[?(?:(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}-[A-Z][a-z]{2}-\d{4}"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d{2,4},?)[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"(?: ?(?:Z|[+-]\d\d:?\d\d|[AP]M|UTC))?\]?(?: std(?:out|err) [FP]| \d\d[OE]\+?| ?:\t+(?= )| \|(?: [A-Z]{3,5} \|)?)?"
)
_LINES = alternatives(files(__package__) / "prefixes.txt", name=_NAME, moment=_MOMENT)
_PREFIXES = tuple(re.compile(line.removeprefix("host ")) for line in _LINES)
_HOSTS = tuple(prefix for prefix, line in zip(_PREFIXES, _LINES, strict=True) if line.startswith("host "))
_ANSIBLE = re.compile(
    r"^(?P<host>[\w.-]{1,253}) \| (?:CHANGED|SUCCESS|FAILED) \| rc=\d{1,3} >>[ \r]*$", re.ASCII | re.MULTILINE
)
_DIGIT, _MARK, _LONGEST_SHARED = re.compile(r"\d"), re.compile(r"[^\w\t] ?"), 120
_MOST_PREFIXES, _MOST_HOSTS, _MOST_COLUMNS, _LEAST_FRAMED, _LEAST_SHARE, _LEAST_BOXED = 4, 64, 8, 2, 0.9, 0.8
_STRING = r'"(?:[^"\\\n]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*+"'
_STDOUT = re.compile(
    r'(?P<opening>"(?:[\w.]{0,100}stdout_lines|msg|text|lines|output)"\s*:\s*\[\s*|\A\s*\[\s*)'
    rf"(?P<lines>{_STRING}(?:\s*,\s*{_STRING})*+)\s*\]"
)
_ARRAYS = ('lines"', '"msg"', '"text"', '"output"')
_STRING_OF_LINES = re.compile(
    r'(?:"\w{0,40}(?:stdout|output|content|log|message|msg|line|payload)"\s*:|\[\d+\.\d+, ?"o",'
    rf'|\[\s*"(?P<nanoseconds>\d{{10,19}})"\s*,)\s*(?P<lines>(?-i:{_STRING}))',
    re.IGNORECASE,
)
_MESSAGE = re.compile(rf"(?:^|\s)(?:msg|message|line|log|output)=(?P<line>{_STRING})")
_QUOTED = re.compile(r"^[ \t]*(?:- |echo )?([\"'`]|\*\*)(?P<line>.*)\1,?[ \t\r]*$", re.MULTILINE)
_CELL = re.compile(r'(?:^|(?<=,))(?:"(?P<quoted>(?:[^"\n]|"")*+)"|(?P<cell>[^,"\n]*+))(?:,(?! )|$)')
_BARS, _RULE = re.compile(r"[|│]+"), re.compile(r"[-+|:=─┼├┤┌┐└┘┬┴ \t]{3,}")
_DOCUMENT = re.compile(r'(?<=\s|=|:)(?:\[ ?)?\{ ?"')
_OBJECT = re.compile(r'\{".*\}[ \t\r]*')
_QUOTATION_MARK = re.compile(r'(?<!\\)(?:\\\\)*+"')
_AROUND_LINES = re.compile(r'^(?:.*=> \{.*|[ \t]*(?:[{}"\],]|\[ ?\{).*)$', re.MULTILINE)


def without_prefixes(text: str, is_known: Callable[[str], bool]) -> tuple[list[str], str]:
    """The text without prefixes and quotes of its lines, and an example of a removed one, which may be empty.

    Lines keep their numbers, unless the JSON array that they were in had several on a line. If prefixes name several
    hosts, the lines of each are a text of their own, in which the others' are blank: hosts may print in turns.

    Parameters
    ----------
    is_known : whether a tool prints such a line.
    """
    hosts = _hosts_of_headings(text)
    text, removed = (_with_lines_of_arrays(text), '["…"]') if _has_arrays(text) else _without_frame(text, is_known)
    for _ in range(_MOST_PREFIXES):
        lines = _sample(text)
        if indent := _needless_indent(lines, is_known):
            text = "\n".join([line.removeprefix(indent) for line in text.split("\n")])
        elif prefix := _common_prefix(lines, is_known):
            ends = [(line, _end(prefix, line)) for line in text.split("\n")]
            if not hosts and not set(prefix).isdisjoint(_HOSTS):
                hosts = [line[:end].strip() for line, end in ends]
            removed += next(line[:end] for line, end in ends if end)
            text = "\n".join([line[end:] for line, end in ends])
            text = of_strings if (of_strings := _of_strings(text)) is not None else text
        else:
            break
    return _by_host(text, hosts, is_known), removed


def of_one_host(text: str, is_known: Callable[[str], bool]) -> str:
    """The text without prefixes and quotes of its lines. Raises `MalformedText` if several hosts differ."""
    first, *others = without_prefixes(text, is_known)[0]
    if others:
        raise rejection(1, expected="the text of one host", actual="those of several, which differ")
    return first


def _by_host(text: str, hosts: Sequence[str], is_known: Callable[[str], bool]) -> list[str]:
    """The lines of each host with a known line, the first one with lines of no such host; of equal texts the first."""
    lines = text.split("\n")
    # A number before each line is no host, and the first words of sentences are not either.
    if not 1 < len({*hosts} - {""}) <= min(_MOST_HOSTS, len(lines) // 2) or len(hosts) != len(lines):
        return [text]
    speaking = list(dict.fromkeys(host for host, line in zip(hosts, lines, strict=True) if host and is_known(line)))
    if len(speaking) < 2 or any(host.strip(":|[] ").isdigit() for host in speaking):
        return [text]
    owners = [host if host in speaking else speaking[0] for host in hosts]
    texts: dict[tuple[str, ...], str] = {}
    for host in speaking:
        of_host = [line if owner == host else "" for line, owner in zip(lines, owners, strict=True)]
        texts.setdefault(tuple(filter(says_something, of_host)), "\n".join(of_host))
    return list(texts.values())


def _hosts_of_headings(text: str) -> list[str]:
    """The host of each line, by Ansible's headings; empty without several hosts."""
    if " | rc=" not in text or len(set(_ANSIBLE.findall(text))) < 2:
        return []
    hosts = [""]
    for line in text.split("\n"):
        hosts.append(head["host"] if (head := _ANSIBLE.match(line)) else hosts[-1])
    return hosts[1:]


def _has_arrays(text: str) -> bool:
    may_be_json = '"' in text[: 1 << 16] and (any(name in text for name in _ARRAYS) or _STDOUT.match(text))
    return bool(may_be_json and _STDOUT.search(text))


def _without_frame(text: str, is_known: Callable[[str], bool]) -> tuple[str, str]:
    """The text of JSON strings of lines, or without the quotes or the box around its lines, and an example."""
    if (joined := _of_strings(text)) is not None and any(map(is_known, joined.split("\n"))):
        return joined, '"…\\n"'
    lines = _sample(text)
    if text.lstrip().startswith(("{", "[")) or len(lines) < _LEAST_FRAMED:
        return text, ""
    if _are_quoted(lines, is_known):
        plain = _QUOTED.sub(r"\g<line>", text).replace("\\t", "\t").replace('\\"', '"')
        return plain.replace('""', '"') if '","{""' in plain else plain, '"…"'  # JSON in a column of CSV
    if sum(line.rstrip().endswith(("|", "│", "┐", "┘", "┤", "-+")) for line in lines) >= _LEAST_BOXED * len(lines):
        return "\n".join(map(_unboxed, text.split("\n"))), "| … |"
    known = sum(map(is_known, lines))
    columns = range(_MOST_COLUMNS if any('"' in line for line in lines) else 0)
    reads: list[Callable[[str], str]] = [_message, _with_tabs, *[partial(_cell, at) for at in columns]]
    for read in reads:
        if sum(is_known(read(line[:1000])) for line in lines) > known:
            return "\n".join(map(read, text.split("\n"))), '…,"…"'
    return text, ""


def _are_quoted(lines: Sequence[str], is_known: Callable[[str], bool]) -> bool:
    """Whether quotes are around nearly all lines, or around lines of which more are known without them."""
    quoted = [quotation["line"] for quotation in map(_QUOTED.match, lines) if quotation is not None]
    is_csv = any(line.startswith('"') and is_known(line) for line in lines)  # a heading, whose cells are in quotes
    if len(quoted) >= _LEAST_SHARE * len(lines) and not is_csv:
        return True
    return sum(map(is_known, quoted)) > sum(map(is_known, lines))


def _of_strings(text: str) -> str | None:
    """The lines in JSON strings, or of a list of strings, if there is nothing else around them."""
    if (lines := lines_of_strings(text)) is not None:
        return lines
    if _STRING_OF_LINES.search(text[: 1 << 16]) is None:
        return None
    if _AROUND_LINES.sub("", _STRING_OF_LINES.sub('""', text)).strip():
        return None
    found = sorted(_STRING_OF_LINES.finditer(text), key=lambda string: int(string["nanoseconds"] or 0))
    strings = [json.loads(string["lines"], strict=False) for string in found]
    joined = ("" if any("\n" in one for one in strings) else "\n").join(strings)  # Docker divides long lines
    broken = [line for line in text.split("\n") if _OBJECT.fullmatch(line) and not _STRING_OF_LINES.search(line)]
    broken += filter(_is_cut, _STRING_OF_LINES.sub('""', text).split("\n"))
    return "\n".join([joined, *broken])


def _is_cut(line: str) -> bool:
    """Whether a line of JSON has lost its end, or one of its quotation marks."""
    content = line.strip()
    if content.startswith('{"') and not content.endswith(("{", "}", "[", "]")):
        return True
    return content.startswith(("{", '"')) and len(_QUOTATION_MARK.findall(content)) % 2 == 1


def _cells(line: str) -> Sequence[str]:
    """The cells of a line of CSV; none of another line."""
    cells = list(_CELL.finditer(line))
    is_csv = "".join([cell[0] for cell in cells]) == line
    return [(cell["quoted"] or cell["cell"] or "").replace('""', '"') for cell in cells if cell[0]] if is_csv else ()


def _with_tabs(line: str) -> str:
    """The cells of a line of CSV with tabs between them; another line as it is."""
    return "\t".join(_cells(line)) or line


def _cell(at: int, line: str) -> str:
    """A cell of several words in a line of CSV, as of a log's messages; a line without it as it is."""
    return next((cell for cell in _cells(line)[at : at + 1] if " " in cell.strip() or cell.startswith('{"')), line)


def _message(line: str) -> str:
    """The message of a line of logfmt; another line as it is."""
    message = _MESSAGE.search(line)
    return line if message is None else json.loads(message["line"], strict=False)


def _unboxed(line: str) -> str:
    """The cells of a line between bars, with tabs between them; empty if it is a rule below a heading."""
    first, *cells = _BARS.split("" if _RULE.fullmatch(line.rstrip()) else line.rstrip())
    first, *cells = cells if cells and not first.strip() else (first, *cells)
    return "\t".join(
        [first.removeprefix(" ").rstrip("`* \t").lstrip("`*"), *[cell.strip("`* \t") for cell in cells]]
    ).rstrip()


def _with_lines_of_arrays(text: str) -> str:
    """The text with the contents of each array of lines in its place, and without the JSON around it."""
    found, end = [], 0
    for array in _STDOUT.finditer(text):
        blank = "\n" * array["opening"].count("\n")
        found.append(_AROUND_LINES.sub("", text[end : array.start()]) + (blank or "\n"))
        found.append("\n".join(json.loads(f"[{array['lines']}]", strict=False)) + ("" if blank else "\n"))
        end = array.end()
    return "".join([*found, _AROUND_LINES.sub("", text[end:])])


def _needless_indent(lines: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """The indent of all lines, or of all below a heading if a line of them is known only without it."""
    indent, below = _indent(lines), _indent(lines[1:])
    if indent or not below:
        return indent
    return below if any(is_known(line[len(below) :]) > is_known(line) for line in lines[1:]) else ""


def _indent(lines: Sequence[str]) -> str:
    return min((line[: len(line) - len(line.lstrip())] for line in lines), key=len, default="")


def _common_prefix(lines: Sequence[str], is_known: Callable[[str], bool]) -> Prefix:
    """The prefix, perhaps of two parts, that most lines have and without which more are known; else empty."""
    known = sum(map(is_known, lines))
    if known == len(lines):
        return ()
    common = [(one,) for one in _PREFIXES if 2 * sum(bool(one.match(line)) for line in lines) >= len(lines)]
    pairs = [(*first, second) for first in common for second in _PREFIXES]
    shared = _shared(lines)
    of_nearly_all = [one for one in shared if sum(bool(_end(one, line)) for line in lines) >= _LEAST_SHARE * len(lines)]
    return (
        _best(common, lines, is_known, known)
        or _best(pairs, lines, is_known, known)
        or _best(of_nearly_all, lines, is_known, known)
        or _best(shared, lines, is_known, max(known, len(lines) // 2))
    )


def _shared(lines: Sequence[str]) -> list[Prefix]:
    """Beginnings that most lines share but for their digits, the shortest first; of one line, that before its JSON."""
    if len(lines) == 1 and (document := _DOCUMENT.search(lines[0][:_LONGEST_SHARED])) is not None:
        return [(re.compile(re.escape(lines[0][: document.start()])),)]
    shapes = sorted([_DIGIT.sub("0", line[:_LONGEST_SHARED]) for line in lines])
    first, last = (shapes[len(lines) // 3], shapes[2 * len(lines) // 3]) if len(lines) > 1 else ("", "")
    beginnings = [first[: mark.end()] for mark in _MARK.finditer(first)]
    return [
        (re.compile(re.escape(one).replace("0", r"\d")),) for one in beginnings if one.strip() and last.startswith(one)
    ]


def _best(prefixes: Sequence[Prefix], lines: Sequence[str], is_known: Callable[[str], bool], known: int) -> Prefix:
    """The prefix that most lines have and without which the most are known, if those are more than `known`."""
    best: Prefix = ()
    for prefix in prefixes:
        ends = [_end(prefix, line) for line in lines]
        if 2 * sum(map(bool, ends)) >= len(lines):
            without = sum(is_known(line[end:]) for line, end in zip(lines, ends, strict=True))
            if without > known:
                known, best = without, prefix
    return best


def _end(prefix: Prefix, line: str) -> int:
    """The offset after the prefix of a line, or 0 if the line does not have it."""
    end = 0
    for part in prefix:
        match = part.match(line, end)
        if match is None:
            return 0
        end = match.end()
    return end


def _sample(text: str) -> list[str]:
    """Lines that are not blank from the start and from the middle of a text."""
    middle = text.find("\n", len(text) // 2) + 1
    lines = text.split("\n", 64)[:64] + (text[middle:].split("\n", 64)[:64] if middle else [])
    return [line for line in lines if line and not line.isspace()]
