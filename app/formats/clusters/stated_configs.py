"""Configurations of topics and brokers: those that a snapshot records, and what `kafka-configs --describe` prints.

    Dynamic configs for topic orders are:
      min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}
    Default configs for brokers in the cluster are:
      min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=2}
    Dynamic configs for broker 0 are:
      cordoned.log.dirs=/data/d1,/data/d2 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:cordoned.log.dirs=…}

With `--all` the headings begin with `All configs`. `*` in `cordoned.log.dirs` stands for every log directory of the
broker. A configuration of brokers is the default of the topics that state none, under another name (`OF_BROKERS`).

Source: KIP-1066, KIP-966; `ConfigCommand` and `TopicConfig` of Apache Kafka.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from app.core.model import FETCHES_NOT_UPLOADED, INT32_MAX, MIN_INSYNC_REPLICAS, PLACEMENT_CONSTRAINTS
from app.formats.syntax.lines import is_topic_name, rejection, shown, whole_number
from app.formats.syntax.odd_names import resembling

Configs: TypeAlias = Mapping[str, str]
ALL_LOG_DIRS = "*"
_ALIKE = (MIN_INSYNC_REPLICAS, FETCHES_NOT_UPLOADED, "unclean.leader.election.enable")
_OF_LOGS = "cleanup.policy retention.ms retention.bytes segment.bytes local.retention.ms local.retention.bytes"
OF_BROKERS: Configs = MappingProxyType(
    {**{name: name for name in _ALIKE}, **{f"log.{name}": name for name in _OF_LOGS.split()}}
)
"""By the name of a broker's configuration, that of the topics for which it is the default."""
RECORDED = frozenset(
    {*OF_BROKERS.values(), "remote.storage.enable", "follower.replication.throttled.replicas", PLACEMENT_CONSTRAINTS}
)
"""The configurations of topics that a snapshot records."""
BALANCER = "confluent.balancer.enable"
ASSIGNORS = ("group.consumer.assignors", "group.streams.assignors")
DECIDING = frozenset({BALANCER, *ASSIGNORS})
"""The configurations of brokers that show what decides in place of Kafka's own code."""
HEADING = re.compile(
    r"(?:Dynamic|All) configs for (?P<kind>broker|topic) (?P<id>\S+) are:\s*|Default configs for brokers "
)
ENTRY = re.compile(r"\s+(?P<name>[a-zA-Z0-9._-]{1,249})=(?P<value>.*?) sensitive=(?:true|false)\b")
_CORDONED = "cordoned.log.dirs"
_PAIR = re.compile(
    r"(?:^|,)\s*(?P<name>[a-z][a-z.]{1,248})=(?P<value>\{.{0,4094}?\}|[\w.:,*-]*?)\s*(?=$|,\s*[a-z][a-z.]*=)", re.ASCII
)
_NAME = re.compile(r"(?:^|,)\s*(?P<name>[a-z][a-z.]{1,248})=")
_WORD = re.compile(r"[\w.!#%&;:()-]{4,64}(?==)")
_SWITCHES = (FETCHES_NOT_UPLOADED, "unclean.leader.election.enable", "remote.storage.enable")
_LONGEST = 4096
_SWITCH, _AMOUNT = re.compile(r"(?i:true|false)", re.ASCII), re.compile(r"-?\d{1,19}", re.ASCII)
_FORMS = {  # but min.insync.replicas, which is a count
    **dict.fromkeys(_SWITCHES, _SWITCH),
    **dict.fromkeys(_OF_LOGS.split(), _AMOUNT),
    "cleanup.policy": re.compile(r"(?:compact|delete)(?:,(?:compact|delete))?"),
    "follower.replication.throttled.replicas": re.compile(r"\*|none|(?:\d+:\d+(?:,|$))*+", re.ASCII),
    PLACEMENT_CONSTRAINTS: re.compile(r"(?:\{.{1,4094}\})?"),
}
"""By name, the values that Kafka takes."""


@dataclass(frozen=True, slots=True)
class StatedConfigs:
    """What `kafka-configs --describe` prints.

    Parameters
    ----------
    cordoned : by broker id, its cordoned log directories. topics : by name, recorded configurations.
    default : of all brokers, by the names of topics. brokers : likewise of single brokers, by id.
    deciding : those of `DECIDING` of any broker, as pairs of name and value.
    """

    cordoned: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    topics: Mapping[str, Configs] = field(default_factory=dict)
    default: Configs = field(default_factory=dict)
    brokers: Mapping[int, Configs] = field(default_factory=dict)
    deciding: frozenset[tuple[str, str]] = frozenset()

    def defaults(self, brokers: Iterable[int]) -> Configs:
        """The defaults of topics in a cluster of these brokers: what all of them state alike, else what is stated for
        all.
        """
        stated = [self.brokers.get(broker, {}).items() for broker in brokers]
        return {**self.default, **dict(set(stated[0]).intersection(*stated) if stated else ())}


def recorded(stated: Iterable[tuple[str, str]]) -> Configs:
    """The pairs of name and value that a snapshot records, by name; values that Kafka would reject are left out."""
    return {
        name: str(int(value)) if name == MIN_INSYNC_REPLICAS else value
        for name, value in sorted(stated)
        if value and name in RECORDED and _is_valid(name, value)
    }


def invalid(text: str) -> str | None:
    """The first recorded configuration of a header that Kafka would reject, as of a line that was cut or joined.

    Its name may differ in one sign from that of a recorded one.
    """
    names = [*_NAME.finditer(text)]
    starts = [*[name.start() for name in names], len(text)]
    for name, end in zip(names, starts[1:], strict=True):
        value = text[name.end() : end]
        if name["name"] in RECORDED and not _is_valid(name["name"], value):
            return f"{name['name']}={value}"
    if (odd := next((one for one in _WORD.findall(text) if resembling(one, RECORDED)), None)) is not None:
        return str(odd)
    return text[: starts[0]].strip() or None


def _is_valid(name: str, value: str) -> bool:
    if name == MIN_INSYNC_REPLICAS:
        return _is_count(value.strip())
    return len(value) <= _LONGEST and _FORMS[name].fullmatch(value.strip()) is not None


def of_brokers(stated: Iterable[tuple[str, str]]) -> Configs:
    """The configurations of brokers under the names of topics; others are left out."""
    return recorded((OF_BROKERS[name], value) for name, value in stated if name in OF_BROKERS)


def deciding(stated: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """The pairs of name and value that show what decides in place of Kafka's own code."""
    return frozenset(pair for pair in stated if pair[0] in DECIDING)


def listed(text: str) -> Configs:
    """The recorded configurations of a topic from `name=value` pairs with commas between them, and within values."""
    return recorded((pair["name"], pair["value"]) for pair in _PAIR.finditer(text)) if text else {}


def split(text: str) -> tuple[str, StatedConfigs]:
    """The text with the lines of configurations blanked, and what these lines state.

    Raises
    ------
    MalformedText
        A heading has no broker id or topic name; names the line.
    """
    # A search for the heading takes a second for 50 MB of log directories.
    if " configs for " not in text or HEADING.search(text) is None:
        return text, StatedConfigs()
    lines = text.split("\n")
    stated: dict[int | str | None, dict[str, str]] = {}
    for number, (subject, name, value) in _entries(lines):
        lines[number] = ""
        stated.setdefault(subject, {})[name] = value
    brokers = {key: configs for key, configs in stated.items() if isinstance(key, int)}
    return "\n".join(lines), StatedConfigs(
        {key: paths for key, configs in brokers.items() if (paths := _cordoned_dirs(configs))},
        {key: recorded(configs.items()) for key, configs in stated.items() if isinstance(key, str) and key},
        of_brokers(stated.get(None, {}).items()),
        {key: of_brokers(configs.items()) for key, configs in brokers.items()},
        deciding(chain.from_iterable(one.items() for one in (stated.get(None, {}), *brokers.values()))),
    )


def _cordoned_dirs(configs: Configs) -> tuple[str, ...]:
    return tuple(filter(None, configs.get(_CORDONED, "").split(",")))


def _entries(lines: list[str]) -> Iterator[tuple[int, tuple[int | str | None, str, str]]]:
    """The index of each line with its subject, name and value; of a heading name and value are empty. The subject is
    a broker id, the name of a topic, or None for all brokers.
    """
    subject: int | str | None = ""
    for number, line in enumerate(lines):
        if heading := HEADING.match(line):
            subject = _subject(number + 1, heading)
            yield number, (subject, "", "")
        elif entry := ENTRY.match(line):
            yield number, (subject, entry["name"], entry["value"])


def _subject(line: int, heading: re.Match[str]) -> int | str | None:
    text = heading["id"]
    if heading["kind"] == "topic":
        if not is_topic_name(text):
            raise rejection(line, expected="the name of a topic in the heading", actual=shown(text))
        return text
    broker = None if text is None else whole_number(text)
    if text is not None and broker is None:
        raise rejection(line, expected="a broker id from 0 to 2147483647 in the heading", actual=shown(text))
    return broker


def _is_count(value: str) -> bool:
    return len(value) <= 10 and value.isdecimal() and 1 <= int(value) <= INT32_MAX
