"""The release of Kafka that brokers run, in what `kafka-features describe` prints or in lines of a broker's log.

    Feature: metadata.version  SupportedMinVersion: 3.3-IV3  SupportedMaxVersion: 4.1-IV1  FinalizedVersionLevel: …
    [2026-01-31 12:00:00,000] INFO Kafka version: 4.1.0 (org.apache.kafka.common.utils.AppInfoParser)

The tool separates the columns by tabs, and the last one is `Epoch: 5`. The newest `metadata.version` that a broker
supports is that of its software; the finalized one may be older, from an upgrade until it is finalized. A level that
the tool does not know is printed as a number. Neither has a patch release; a log line has.

Ranges of API versions (`kafka-broker-api-versions`, `kafka-cluster api-versions`) are no source: releases share them,
also such that differ in an assignor.

Source: `FeatureCommand`, `MetadataVersion` and `AppInfoParser` of Apache Kafka; KIP-584, KIP-778.

Which kind of controller a cluster has, KRaft or ZooKeeper, by what its tools print.

Proof, of whatever release:

    Feature: metadata.version … FinalizedVersionLevel: 4.1-IV1   KRaft: under ZooKeeper nothing is finalized
    Elr: , or ids, and not N/A                                   KRaft: eligible leader replicas (KIP-966)
    isFenced: true                                               KRaft: brokers under ZooKeeper are never fenced
    the state fenced or unfenced                                 KRaft: no older broker describes it (KIP-1073)
    DescribeQuorum(55): 0 to 2, or UNSUPPORTED                   KRaft, or ZooKeeper
    LeaderAndIsr(4): 0 to 7                                      ZooKeeper: the controller's requests to brokers
    /brokers/ids/101, a registration, --zookeeper                ZooKeeper

A release decides if there is no proof. `isFenced: false` and `Elr: N/A` depend only on the release of the tool: tools
since 3.8 print `Elr: N/A` of every cluster that does not answer DescribeTopicPartitions, as under ZooKeeper, and tools
since 4.0 read clusters of ZooKeeper, too.

Source: KIP-500, KIP-631, KIP-778, KIP-966, KIP-1073; the `listeners` in Apache Kafka's message definitions;
`TopicCommand`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.core.kafka_versions import Controller, controller_of
from app.formats.syntax.lines import last_line, rejection, shown

METADATA_VERSION = "metadata.version"
FEATURE = re.compile(
    r"\s*Feature: (?P<name>\S{1,200})\s+SupportedMinVersion: \S{1,40}\s+SupportedMaxVersion: (?P<supported>\S{1,40})"
    r"\s+FinalizedVersionLevel: (?P<finalized>\S{1,40})(?:\s+Epoch: \S{1,40})?\s*"
)
_LOG = "Kafka version: "
_LOGGED = re.compile(r"\bKafka version: (?P<version>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?\S{0,60})", re.ASCII)
_METADATA_VERSION = re.compile(r"(?P<release>\d{1,3}\.\d{1,3})-IV\d{1,3}", re.ASCII)
_FIRST_LEVELS = (1, 2, 3, 4, 8, 9, 12, 15, 20, 21, 22, 26, 28, 30, 31)
"""The first feature level of `metadata.version` in each release from 3.0 on; 4.0 follows 3.9."""
_LAST_LEVEL = 33


@dataclass(frozen=True, slots=True)
class BrokerReleases:
    """The releases that brokers report.

    Parameters
    ----------
    releases : as written, each once, in the order of the source; the last one is the newest in a log. Empty if the
        source has levels that no known release has.
    finalized : the release of the finalized `metadata.version`; None if it is not reported.
    has_patch : whether a release has its patch number.
    """

    releases: tuple[str, ...]
    finalized: str | None = None
    has_patch: bool = True


def read(text: str) -> BrokerReleases:
    """Read the features, or the lines of a log that name the release; the log's if both are there.

    Raises
    ------
    MalformedText
        The text has neither; names its last line.
    """
    if (in_log := logged([text])) is not None:
        return in_log
    for content in text.split("\n"):
        match = FEATURE.fullmatch(content.removesuffix("\r"))
        if match and match["name"] == METADATA_VERSION:
            return of_features(_release(match["supported"]), _release(match["finalized"]))
    expected = f"`Feature: {METADATA_VERSION} …` or a log line with `Kafka version: 4.1.0`"
    raise rejection(last_line(text), expected=expected, actual=shown(text.strip().split("\n")[-1]))


def logged(texts: Iterable[str]) -> BrokerReleases | None:
    """The releases in log lines of texts, or None. Kafka's tools log their own, too, before what they print."""
    versions = dict.fromkeys(match["version"] for text in texts if _LOG in text for match in _LOGGED.finditer(text))
    return BrokerReleases(tuple(versions)) if versions else None


def of_features(supported: str | None, finalized: str | None) -> BrokerReleases:
    """The releases by the newest `metadata.version` that a broker supports, and by the finalized one."""
    return BrokerReleases(() if supported is None else (supported,), finalized, has_patch=False)


def release_of_level(level: int) -> str | None:
    """The release that introduced a level of `metadata.version`, such as `4.1`; None for 0 and for unknown levels."""
    if not 1 <= level <= _LAST_LEVEL:
        return None
    major, minor = divmod(29 + bisect_right(_FIRST_LEVELS, level), 10)
    return f"{major}.{minor}"


def _release(text: str) -> str | None:
    match = _METADATA_VERSION.fullmatch(text)
    if match:
        return match["release"]
    return release_of_level(int(text)) if text.isascii() and text.isdigit() else None


class _Mark(NamedTuple):
    """What a tool prints under one kind of controller only.

    `start`: the literal text with which `pattern` begins. A long text without it is not searched by the pattern, which
    takes twice as long.
    """

    kind: Controller
    start: str
    pattern: re.Pattern[str]

    def is_in(self, text: str) -> bool:
        """Whether a text has it."""
        return self.start in text and self.pattern.search(text) is not None


def _mark(kind: Controller, start: str, rest: str = "") -> _Mark:
    return _Mark(kind, start, re.compile(re.escape(start) + rest))


_PROOF = (
    _mark("kraft", "Feature: metadata.version", r"\s.{0,200}FinalizedVersionLevel: \d"),
    _mark("kraft", "DescribeQuorum(55): ", r"\d"),
    _mark("kraft", "Elr: ", "(?!N/A)"),
    _mark("kraft", "isFenced: true)"),
    _mark("kraft", "fenced ", r" *broker\b"),
    _mark("zookeeper", "LeaderAndIsr(4): ", r"\d"),
    _mark("zookeeper", "DescribeQuorum(55): UNSUPPORTED"),
    _mark("zookeeper", "/brokers/ids/", r"\d"),
    _mark("zookeeper", '"jmx_port"'),
    _mark("zookeeper", "--zookeeper", "[ =]"),
)


def controller(texts: Sequence[str], reported: BrokerReleases | None) -> Controller | None:
    """The kind of controller by the tools' texts and the releases that brokers report; None if it is unknown."""
    release = reported.releases[-1] if reported is not None and reported.releases else None
    proven = next((mark.kind for mark in _PROOF if any(map(mark.is_in, texts))), None)
    return proven or controller_of(release)
