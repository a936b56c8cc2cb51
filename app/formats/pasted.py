"""One text into which people pasted what several Kafka tools printed, one after another in any order.

A line that only one tool prints identifies the tool of the lines that follow:

    Topic: …                                              kafka-topics --describe
    host:9092 (id: 101 rack: use1-az1) -> (               kafka-broker-api-versions, kafka-cluster api-versions
    ID         HOST      PORT       RACK       …          kafka-cluster list-endpoints
    Querying brokers for log directories information      kafka-log-dirs --describe; likewise its JSON alone
    Dynamic configs for broker 0 are:                     kafka-configs --describe, for cordoned log directories
    Feature: metadata.version  SupportedMinVersion: …     kafka-features describe, for the release of Kafka
    GROUP           TOPIC           PARTITION  …          kafka-consumer-groups --describe, in each of its forms;
                                                          kafka-share-groups and kafka-streams-groups likewise
    {"billing": {…                                        an admin client's description of groups

Command lines that were copied along (`$ bin/kafka-topics.sh --describe …`) say so, too, and belong to no text.
"""

import re
from dataclasses import dataclass

from app.formats import broker_configs, cluster_endpoints, described_groups, group_headers, group_tables
from app.formats.lines import rejection, shown
from app.formats.split_text import Mark, split, starts_document

_BROKERS, _TOPICS, _LOG_DIRS, _GROUPS, _FEATURES = "brokers", "topics", "log_dirs", "groups", "features"
_MARKS = {
    _TOPICS: re.compile(r"\s*Topic:"),
    _BROKERS: re.compile(rf"\s*\S+ \(id: |{cluster_endpoints.HEADER.pattern}"),
    _LOG_DIRS: re.compile(rf"Querying brokers for log dir|Received log directory|{broker_configs.HEADING.pattern}"),
    _FEATURES: re.compile(r"\s*Feature: "),
}
_COMMAND = re.compile(
    r"(?:.*[\s/\\$#>])?kafka-(?P<tool>topics|broker-api-versions|cluster|log-dirs|configs|features|(?:consumer|share|streams)-groups)"
    r"(?:\.sh|\.bat)?(?:\s|$)"
)
_TOOLS = {
    "topics": _TOPICS,
    "broker-api-versions": _BROKERS,
    "cluster": _BROKERS,
    "log-dirs": _LOG_DIRS,
    "configs": _LOG_DIRS,
    "features": _FEATURES,
    "consumer-groups": _GROUPS,
    "share-groups": _GROUPS,
    "streams-groups": _GROUPS,
}
_EXPECTED = (
    "what kafka-topics --describe, kafka-broker-api-versions, kafka-log-dirs --describe or "
    "kafka-consumer-groups --describe prints"
)


@dataclass(frozen=True, slots=True)
class Pasted:
    """Each tool's text, or None. The lines of the others are blank in it, so that line numbers are the paste's."""

    brokers: str | None = None
    topics: str | None = None
    log_dirs: str | None = None
    groups: str | None = None
    features: str | None = None


def read(text: str) -> Pasted:
    """Hand each line to the tool that printed it; the tools' readers then say what is wrong within a text.

    Raises
    ------
    MalformedText
        Nothing in the text is recognised (line 1), or a line is before everything that is (that line).
    """

    def mark(content: str, start: int) -> Mark:
        owner = _GROUPS if described_groups.starts_at(text, start) else _owner(content)
        command = None if owner else _COMMAND.match(content)
        return Mark(_TOOLS[command["tool"]], belongs=False) if command else Mark(owner)

    texts = split(text, mark)
    if texts.stray is not None or not texts.parts:
        first = (1, text.lstrip()[:1000].split("\n")[0])
        line, content = texts.stray if texts.parts and texts.stray is not None else first
        raise rejection(line, expected=_EXPECTED, actual=shown(content))
    return Pasted(**texts.parts)


def _owner(content: str) -> str | None:
    if group_headers.table_of(content) is not None or group_tables.is_prose(content):
        return _GROUPS
    if starts_document(content):
        return _LOG_DIRS
    return next((tool for tool, mark in _MARKS.items() if mark.match(content)), None)
