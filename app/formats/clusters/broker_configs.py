"""The cordoned log directories in what `kafka-configs --describe --entity-type brokers` prints.

    Dynamic configs for broker 0 are:
      cordoned.log.dirs=/data/d1,/data/d2 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:cordoned.log.dirs=…}

`*` stands for every log directory of the broker. With `--all` the heading is `All configs for broker 0 are:`. Other
configs, and the defaults of all brokers, are ignored: the config is of single brokers.

Source: KIP-1066; `ConfigCommand` of Apache Kafka.
"""

import re
from collections.abc import Mapping

from app.formats.syntax.lines import rejection, shown, whole_number

ALL_LOG_DIRS = "*"
HEADING = re.compile(r"(?:Dynamic|All) configs for broker (?P<id>\S+) are:\s*|Default configs for brokers ")
_IN_HEADING = " configs for broker"
ENTRY = re.compile(r"\s+(?P<name>[a-zA-Z0-9._-]{1,249})=(?P<value>.*?) sensitive=(?:true|false)\b")
_NAME = "cordoned.log.dirs"


def split(text: str) -> tuple[str, Mapping[int, tuple[str, ...]]]:
    """The text with the lines of configs blanked, and the cordoned log directories of each broker that they name.

    Raises
    ------
    MalformedText
        A heading has no broker id; names the line.
    """
    # A search for the heading takes a second for 50 MB of log directories.
    if _IN_HEADING not in text or HEADING.search(text) is None:
        return text, {}
    cordoned: dict[int, tuple[str, ...]] = {}
    lines = text.split("\n")
    broker: int | None = None
    for number, line in enumerate(lines, start=1):
        heading = HEADING.match(line)
        if heading:
            broker = _broker(number, heading["id"])
        entry = None if heading else ENTRY.match(line)
        if heading or entry:
            lines[number - 1] = ""
        if entry and broker is not None and entry["name"] == _NAME and entry["value"]:
            cordoned[broker] = tuple([path for path in entry["value"].split(",") if path])
    return "\n".join(lines), cordoned


def _broker(line: int, text: str | None) -> int | None:
    broker = None if text is None else whole_number(text)
    if text is not None and broker is None:
        raise rejection(line, expected="a broker id from 0 to 2147483647 in the heading", actual=shown(text))
    return broker
