"""Releases of Apache Kafka, and the ranges of releases for which a replayed algorithm holds.

A replay is compared with answers measured on code of the releases 4.0.0 to 4.4 (`tests/vectors/VERSIONS.md`). Older
clusters are described by the same snapshots, so that their versions are read too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Self, TypeAlias

from app.errors import FieldPath
from app.errors.quotation import quoted
from app.errors.requests import UnsupportedKafkaVersion

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:[-.+].*)?", re.ASCII)


@dataclass(frozen=True, order=True, slots=True)
class KafkaVersion:
    """A release, ordered by its numbers. Without a patch number it is the first release of its line: `4.1` is 4.1.0."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        """Read `4.1`, `4.1.2`, or a build's or vendor's suffix: `4.1.0-SNAPSHOT`, `3.9.0.redhat-1`.

        Raises
        ------
        ValueError : if it does not begin with two or three numbers.
        """
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"a version is two or three numbers joined by dots; {text!r} given")
        major, minor, patch = match.groups(default="0")
        return cls(int(major), int(minor), int(patch))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True, slots=True)
class KafkaRange:
    """Releases from one to another, both included, as they are written: `KafkaRange("4.0.1", "4.4")`.

    A last release without a patch number includes all patch releases of its line.
    """

    from_: str
    to: str

    def __contains__(self, version: KafkaVersion) -> bool:
        return _first(self.from_) <= version <= _last(self.to)

    def ends_before(self, version: KafkaVersion) -> bool:
        """Whether the release is later than the last one."""
        return version > _last(self.to)

    def __str__(self) -> str:
        return self.from_ if self.from_ == self.to else f"{self.from_}–{self.to}"

    def intersection(self, other: "KafkaRange") -> "KafkaRange | None":
        """The releases that are in both, or None."""
        first = max(self, other, key=lambda each: KafkaVersion.of(each.from_))
        last = min(self, other, key=lambda each: _last(each.to))
        return KafkaRange(first.from_, last.to) if KafkaVersion.of(first.from_) <= _last(last.to) else None


SUPPORTED = KafkaRange("2.4", "4.4")
"""The releases that a request or a snapshot may state."""
MEASURED = KafkaRange("4.0.0", "4.4")
"""The releases whose code has answered the vectors."""
NEWEST = KafkaVersion.of(SUPPORTED.to)
"""The release that is meant where neither a request nor its snapshot states one."""
Controller: TypeAlias = Literal["kraft", "zookeeper"]
"""The elector of leaders, which places new partitions: Kafka's own quorum, or a broker with ZooKeeper."""
_KRAFT_SINCE, _ZOOKEEPER_BEFORE = KafkaVersion(3, 3), KafkaVersion(4, 0)
"""The release in which KRaft is ready for production (KIP-833), and the one without ZooKeeper."""
_ASSIGNMENT_INTERVALS = KafkaVersion(4, 3)


def controller_of(release: str | None) -> Controller | None:
    """The kind of controller of a release: ZooKeeper before 3.3, KRaft since 4.0; None if it may be either."""
    if release is None or _KRAFT_SINCE <= (version := KafkaVersion.of(release)) < _ZOOKEEPER_BEFORE:
        return None
    return "zookeeper" if version < _KRAFT_SINCE else "kraft"


def has_assignment_interval(version: KafkaVersion) -> bool:
    """Whether the coordinator computes the assignment of a group at most once an interval (KIP-1263).

    `group.consumer.assignment.interval.ms`, and its like for share and streams groups, are 1000 by default since 4.3.
    """
    return version >= _ASSIGNMENT_INTERVALS


@dataclass(frozen=True, slots=True)
class Replayed:
    """The code of Kafka that an algorithm replays.

    Parameters
    ----------
    source : the class, with its package.
    holds : the releases whose code was compared, or is equal to the code that was.
    """

    source: str
    holds: KafkaRange = MEASURED


@dataclass(frozen=True, slots=True)
class ReplayedLibrary:
    """The code of a client library that an algorithm replays; releases of Kafka have no influence on it.

    Parameters
    ----------
    library : its name. source : the class, with its package.
    holds : the versions of the library whose code was compared, or is equal to the code that was.
    """

    library: str
    source: str
    holds: KafkaRange


def supported_version(text: str, *, path: FieldPath) -> KafkaVersion:
    """Read the version that a request or a snapshot states.

    Raises
    ------
    UnsupportedKafkaVersion : if it is not a version, or not in `SUPPORTED`; `path` is its field.
    """
    try:
        version = KafkaVersion.of(text)
    except ValueError:
        raise _unsupported(text, path) from None
    if version not in SUPPORTED:
        raise _unsupported(text, path)
    return version


def normal_release(text: str | None) -> str | None:
    """A stated release as snapshots store it, with three numbers: `4.1` is `4.1.0`. None stays None.

    Raises
    ------
    UnsupportedKafkaVersion : as `supported_version`; the path is `kafka_version`.
    """
    return None if text is None else str(supported_version(text, path=("kafka_version",)))


def last_supported(reported: Sequence[str]) -> str | None:
    """The last of the releases that brokers report, as snapshots store it; None if it is not supported."""
    if not reported:
        return None
    version = KafkaVersion.of(reported[-1])
    return str(version) if version in SUPPORTED else None


def release_of(requested: str | None, recorded: str | None) -> KafkaVersion:
    """The release that a request is answered for: its own `kafka_version`, else its snapshot's, else the newest.

    Raises
    ------
    UnsupportedKafkaVersion : if the requested one is not supported. The recorded one was checked when it was stored.
    """
    if requested is not None:
        return supported_version(requested, path=("kafka_version",))
    return NEWEST if recorded is None else KafkaVersion.of(recorded)


def _unsupported(text: str, path: FieldPath) -> UnsupportedKafkaVersion:
    return UnsupportedKafkaVersion(
        f"kafka_version is a release from {SUPPORTED.from_} to {SUPPORTED.to}; {quoted(text)} given",
        path=path,
        value=text,
        minimum=SUPPORTED.from_,
        maximum=SUPPORTED.to,
    )


@lru_cache(maxsize=256)
def _first(text: str) -> KafkaVersion:
    """The first release of a range, which tables of the core state: there are few."""
    return KafkaVersion.of(text)


@lru_cache(maxsize=256)
def _last(text: str) -> KafkaVersion:
    """The last release of a range's end, which is the whole line if it has no patch number."""
    version = KafkaVersion.of(text)
    return version if text.count(".") == 2 else KafkaVersion(version.major, version.minor, 10**6)
