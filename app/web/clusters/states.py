"""What differs between two snapshots of a cluster, for the page of its history."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from app.core.measures.transfers import transfers
from app.core.model import Cluster
from app.store.records import Snapshot
from app.web.clusters.health import PARTITION_WORDS, findings

MOST_ROWS = 100
"""Partitions that the page lists."""
_NOUNS = ("brokers", "racks", "topics", "partitions", "groups")
_WORDS = {**dict(zip(_NOUNS, _NOUNS, strict=True)), **PARTITION_WORDS}
"""The counts of a summary and of its health, in words."""


def counts(before: Snapshot, after: Snapshot) -> list[tuple[str, int, int]]:
    """The counts of two summaries that differ, with both values."""
    summaries: list[dict[str, Any]] = [dict(side.summary) for side in (before, after)]
    sides = [{**summary, **(summary.get("health") or {})} for summary in summaries]
    named = {name: [int(side.get(name) or 0) for side in sides] for name in _WORDS}
    return [(_WORDS[name], was, now) for name, (was, now) in named.items() if was != now]


def in_words(before: Snapshot, after: Snapshot) -> list[str]:
    """The same as `12 fewer partitions`."""
    return [_change(words, now - was) for words, was, now in counts(before, after)]


def _change(words: str, difference: int) -> str:
    noun = words.removesuffix("s") if abs(difference) == 1 else words
    return f"{abs(difference):,} {'more' if difference > 0 else 'fewer'} {noun}"


def differences(before: Snapshot, after: Snapshot, earlier: Cluster, later: Cluster) -> Mapping[str, Any]:
    """The brokers, topics, replicas, leaders and findings that differ.

    Parameters
    ----------
    earlier, later : the clusters of the snapshots.

    Returns
    -------
    `named` : what came, went or is elsewhere, with its names. `rows` : the first partitions with other replicas, of
    `moved.movement.partitions_changed`.
    """
    one, other = ({topic.name: topic for topic in cluster.topics} for cluster in (earlier, later))
    both = one.keys() & other.keys()
    moved = transfers(
        {name: one[name].assignment for name in both},
        {name: other[name].assignment for name in both},
        sizes={name: one[name].size_bytes for name in both},
        brokers=later.brokers,
    )
    racks = [{broker.id: broker.rack for broker in cluster.brokers} for cluster in (earlier, later)]
    found = [[finding.words for finding in findings(side)] for side in (before, after)]
    listed: Sequence[tuple[str, Sequence[object]]] = (
        ("Brokers that came", _only_in(racks[1], racks[0])),
        ("Brokers that went", _only_in(racks[0], racks[1])),
        ("Brokers in another rack", [id_ for id_, rack in racks[1].items() if racks[0].get(id_, rack) != rack]),
        ("Topics that came", _only_in(other, one)),
        ("Topics that went", _only_in(one, other)),
        ("New findings", _only_in(found[1], found[0])),
        ("Findings that are gone", _only_in(found[0], found[1])),
    )
    return {
        "before": before,
        "after": after,
        "counts": counts(before, after),
        "named": [(words, names) for words, names in listed if names],
        "moved": moved,
        "rows": moved.partitions(0, MOST_ROWS),
    }


def _only_in(some: Iterable[object], others: Collection[object]) -> list[object]:
    return [each for each in some if each not in others]
