"""The release of Kafka that brokers run, in what `kafka-features describe` prints or in lines of a broker's log.

    Feature: metadata.version  SupportedMinVersion: 3.3-IV3  SupportedMaxVersion: 4.1-IV1  FinalizedVersionLevel: …
    [2026-01-31 12:00:00,000] INFO Kafka version: 4.1.0 (org.apache.kafka.common.utils.AppInfoParser)

The tool separates the columns by tabs, and the last one is `Epoch: 5`. The newest `metadata.version` that a broker
supports is that of its software; the finalized one may be older, from an upgrade until it is finalized. A level that
the tool does not know is printed as a number. Neither has a patch release; a log line has.

Ranges of API versions (`kafka-broker-api-versions`, `kafka-cluster api-versions`) are no source: releases share them,
also such that differ in an assignor.

Source: `FeatureCommand`, `MetadataVersion` and `AppInfoParser` of Apache Kafka; KIP-584, KIP-778.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from app.formats.syntax.lines import last_line, rejection, shown

METADATA_VERSION = "metadata.version"
FEATURE = re.compile(
    r"\s*Feature: (?P<name>\S{1,200})\s+SupportedMinVersion: \S{1,40}\s+SupportedMaxVersion: (?P<supported>\S{1,40})"
    r"\s+FinalizedVersionLevel: (?P<finalized>\S{1,40})(?:\s+Epoch: \S{1,40})?\s*"
)
_LOG = "Kafka version: "
_LOGGED = re.compile(r"\bKafka version: (?P<version>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?\S{0,60})", re.ASCII)
_METADATA_VERSION = re.compile(r"(?P<release>\d{1,3}\.\d{1,3})-IV\d{1,3}", re.ASCII)
_FIRST_LEVELS = (
    (1, "3.0"),
    (2, "3.1"),
    (3, "3.2"),
    (4, "3.3"),
    (8, "3.4"),
    (9, "3.5"),
    (12, "3.6"),
    (15, "3.7"),
    (20, "3.8"),
    (21, "3.9"),
    (22, "4.0"),
    (26, "4.1"),
    (28, "4.2"),
    (30, "4.3"),
    (31, "4.4"),
)
"""The first feature level of `metadata.version` in each release."""
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
    return _FIRST_LEVELS[bisect_right(_FIRST_LEVELS, level, key=lambda entry: entry[0]) - 1][1]


def _release(text: str) -> str | None:
    match = _METADATA_VERSION.fullmatch(text)
    if match:
        return match["release"]
    return release_of_level(int(text)) if text.isascii() and text.isdigit() else None
