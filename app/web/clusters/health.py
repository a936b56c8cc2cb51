"""What is wrong with a cluster, from the counts of its snapshot, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.formats.syntax.quantities import counted
from app.store.records import Snapshot

_UNBALANCED, _ENOUGH = 1.2, 5
"""A broker with so many times the mean is unbalanced, if the mean is so much: few replicas cannot be balanced."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a cluster. `is_bad` if clients notice it or a loss would cost more than necessary."""

    words: str
    is_bad: bool


def findings(snapshot: Snapshot) -> list[Finding]:
    """What is unavailable, fragile or unbalanced, the worst first; empty if nothing is, or nothing is known."""
    summary: Mapping[str, Any] = snapshot.summary
    health = summary.get("health") or {}
    partitions = (
        ("offline", "offline", True),
        ("illegal", "with an illegal replica list", True),
        ("under_min_isr", "below min.insync.replicas, which acks=all cannot write", True),
        ("under_replicated", "under-replicated", True),
        ("not_rack_safe", "not rack-safe", True),
        ("reassigning", "being reassigned", False),
        ("not_preferred", "not led by the preferred leader", False),
    )
    listed = [
        Finding(f"{counted(health[name], 'partition')} {words}", is_bad)
        for name, words, is_bad in partitions
        if health.get(name)
    ]
    if health.get("fenced_brokers"):
        listed.append(Finding(f"{counted(health['fenced_brokers'], 'broker')} fenced", True))
    totals = {"replica": health.get("replicas", 0), "leader": summary["partitions"]}
    for name, total in totals.items():
        if total >= _ENOUGH * max(1, summary["brokers"]) and health.get(f"{name}_skew", 0) > _UNBALANCED:
            listed.append(Finding(f"a broker has {health[f'{name}_skew']:.2f} times the mean of {name}s", False))
    return listed
