"""Which kind of controller a cluster has, KRaft or ZooKeeper, by what its tools print.

Proof, of whatever release:

    Feature: metadata.version … FinalizedVersionLevel: 4.1-IV1   KRaft: under ZooKeeper nothing is finalized
    Elr: , or ids, and not N/A                                   KRaft: eligible leader replicas (KIP-966)
    isFenced: true, the state fenced                             KRaft: brokers under ZooKeeper are never fenced
    DescribeQuorum(55): 0 to 2, or UNSUPPORTED                   KRaft, or ZooKeeper
    LeaderAndIsr(4): 0 to 7                                      ZooKeeper: the controller's requests to brokers
    /brokers/ids/101, a registration, --zookeeper                ZooKeeper

A release decides if there is no proof. `isFenced: false` and `Elr: N/A` say only that the tool is of a release that has
KRaft, and decide last.

Source: KIP-500, KIP-631, KIP-778; the `listeners` in Apache Kafka's message definitions; `TopicCommand`.
"""

import re
from collections.abc import Sequence

from app.core.kafka_versions import Controller, controller_of
from app.formats.clusters.broker_features import BrokerReleases

_Evidence = Sequence[tuple[Controller, re.Pattern[str]]]
# Each begins with literal text, for which long texts are searched fast.
_PROOF: _Evidence = (
    ("kraft", re.compile(r"Feature: metadata\.version\s.{0,200}FinalizedVersionLevel: \d")),
    ("kraft", re.compile(r"DescribeQuorum\(55\): \d")),
    ("kraft", re.compile(r"Elr: (?!N/A)")),
    ("kraft", re.compile(r"isFenced: true\)")),
    ("kraft", re.compile(r" fenced +broker\b")),
    ("zookeeper", re.compile(r"LeaderAndIsr\(4\): \d")),
    ("zookeeper", re.compile(r"DescribeQuorum\(55\): UNSUPPORTED")),
    ("zookeeper", re.compile(r"/brokers/ids/\d")),
    ("zookeeper", re.compile(r'"jmx_port"')),
    ("zookeeper", re.compile(r"--zookeeper[ =]")),
)
_HINTS: _Evidence = (
    ("kraft", re.compile(r"isFenced: ")),
    ("kraft", re.compile(r"Elr: ")),
    ("kraft", re.compile(r" unfenced +broker\b")),
)


def controller(texts: Sequence[str], reported: BrokerReleases | None) -> Controller | None:
    """The kind of controller by the tools' texts and the releases that brokers report; None if it is unknown."""
    release = reported.releases[-1] if reported is not None and reported.releases else None
    return _by(_PROOF, texts) or controller_of(release) or _by(_HINTS, texts)


def _by(evidence: _Evidence, texts: Sequence[str]) -> Controller | None:
    return next((kind for kind, mark in evidence if any(mark.search(text) for text in texts)), None)
