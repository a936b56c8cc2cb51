"""One text into which people pasted what several Kafka tools printed, one after another in any order.

A line that only one tool prints says whose lines follow:

    Topic: …                                              kafka-topics --describe
    host:9092 (id: 101 rack: use1-az1) -> (               kafka-broker-api-versions
    Querying brokers for log directories information      kafka-log-dirs --describe; likewise a line that opens with {

Command lines that were copied along (`$ bin/kafka-topics.sh --describe …`) say so, too, and belong to no text.
"""

import re
from dataclasses import dataclass

from app.formats.lines import numbered, refusal, shown

_BROKERS, _TOPICS, _LOG_DIRS = "brokers", "topics", "log_dirs"
_MARKS = {
    _TOPICS: re.compile(r"\s*Topic:"),
    _BROKERS: re.compile(r"\s*\S+ \(id: "),
    _LOG_DIRS: re.compile(r"Querying brokers for log dir|Received log directory|\s*\{"),
}
_COMMAND = re.compile(r"(?:.*[\s/\\$#>])?kafka-(?P<tool>topics|broker-api-versions|log-dirs)(?:\.sh|\.bat)?(?:\s|$)")
_TOOLS = {"topics": _TOPICS, "broker-api-versions": _BROKERS, "log-dirs": _LOG_DIRS}
_EXPECTED = "what kafka-topics --describe, kafka-broker-api-versions or kafka-log-dirs --describe prints"


@dataclass(frozen=True, slots=True)
class Pasted:
    """Each tool's text, or None. The lines of the others are blank in it, so that line numbers are the paste's."""

    brokers: str | None = None
    topics: str | None = None
    log_dirs: str | None = None


def read(text: str) -> Pasted:
    """Hand each line to the tool that printed it; the tools' readers then say what is wrong within a text.

    Raises
    ------
    MalformedText
        Nothing in the text is recognised (line 1), or a line stands before everything that is (that line).
    """
    owners: dict[int, str] = {}
    current: str | None = None
    stray: tuple[int, str] | None = None
    for line, content in numbered(text):
        command = None
        owner = _owner(content)
        if owner is None:
            command = _COMMAND.match(content)
            owner = _TOOLS[command["tool"]] if command else None
        current = owner or current
        if current is None:
            stray = stray or (line, content)
        elif not command:
            owners[line] = current
    if stray is not None or not owners:
        line, content = stray if owners and stray is not None else (1, text.lstrip()[:1000].split("\n")[0])
        raise refusal(line, expected=_EXPECTED, found=shown(content))
    return _blanked(text, owners)


def _owner(content: str) -> str | None:
    return next((tool for tool, mark in _MARKS.items() if mark.match(content)), None)


def _blanked(text: str, owners: dict[int, str]) -> Pasted:
    lines = text.split("\n")
    texts: dict[str, str] = {}
    for tool in set(owners.values()):
        texts[tool] = "\n".join([line if owners.get(number) == tool else "" for number, line in enumerate(lines, 1)])
    return Pasted(**texts)
