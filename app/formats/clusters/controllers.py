"""Which kind of controller a cluster has, KRaft or ZooKeeper, by what its tools print.

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
from collections.abc import Sequence
from typing import NamedTuple

from app.core.kafka_versions import Controller, controller_of
from app.formats.clusters.broker_features import BrokerReleases


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
