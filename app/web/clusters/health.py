"""Findings of a cluster in words, from the counts of its snapshot, each with its remedy."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from app.formats.syntax.quantities import counted
from app.store.records import Snapshot

_UNBALANCED, _ENOUGH = 1.2, 5
"""A broker above `_UNBALANCED` times the mean is unbalanced, if the mean is at least `_ENOUGH`: few replicas cannot be
balanced."""
_PARTITIONS = (
    ("offline", "offline", "critical", ""),
    ("illegal", "with an illegal replica list", "critical", "Fix"),
    ("under_min_isr", "below min.insync.replicas, which acks=all cannot write", "critical", ""),
    ("under_replicated", "under-replicated", "bad", ""),
    ("not_rack_safe", "not rack-safe", "bad", "Fix"),
    ("reassigning", "being reassigned", "muted", ""),
    ("not_preferred", "not led by the preferred leader", "muted", ""),
)
"""States of partitions, the worst first: in words, how bad they are, and the verb of a plan against them."""
PARTITION_WORDS: Mapping[str, str] = {name: words.partition(",")[0] for name, words, *_ in _PARTITIONS}
"""The states that pages list, in a few words."""
_SKEWS = {"replica": {"replicas": "tight"}, "leader": {"leaders": "tight"}}
SEVERITIES = ("critical", "bad", "muted")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a cluster.

    Parameters
    ----------
    severity : of `SEVERITIES`: clients notice it, a loss would cost more than necessary, or neither.
    state : of the partitions that it is about; empty if it is not about partitions. broker : the one that it is about.
    verb, plan : the remedy by a plan, and the address of that plan's form; empty without one.
    """

    words: str
    severity: str
    state: str = ""
    verb: str = ""
    plan: str = ""
    broker: int | None = None

    @property
    def brief(self) -> str:
        """The words for a cell: `24 under-replicated`."""
        return re.sub(" partitions?", "", self.words.partition(", ")[0]).removeprefix("a broker has ")


def findings(
    snapshot: Snapshot, most: Mapping[str, int] = MappingProxyType({}), fenced: Sequence[int] = ()
) -> list[Finding]:
    """Unavailable, fragile or unbalanced parts, the worst first; empty if there are none or nothing is known.

    `most` has the brokers with most of each of `_SKEWS`, `fenced` the fenced ones; findings name none without them.
    """
    summary: Mapping[str, Any] = snapshot.summary
    health = summary.get("health") or {}
    listed = [
        Finding(f"{counted(health[name], 'partition')} {words}", severity, name, verb, verb and plan_form(snapshot))
        for name, words, severity, verb in _PARTITIONS
        if health.get(name)
    ]
    if health.get("fenced_brokers"):
        named = f": {', '.join(map(str, fenced[:3]))}{' and others' if len(fenced) > 3 else ''}" if fenced else ""
        listed.append(Finding(f"{counted(health['fenced_brokers'], 'broker')} fenced{named}", "bad"))
    totals = {"replica": health.get("replicas", 0), "leader": summary["partitions"]}
    for name, total in totals.items():
        if total >= _ENOUGH * max(1, summary["brokers"]) and health.get(f"{name}_skew", 0) > _UNBALANCED:
            broker, nouns = most.get(name), f"{name}s".replace("leader", "preferred leader")
            named = "a broker" if broker is None else f"broker {broker}"
            words = f"{named} has {health[f'{name}_skew']:.2f} times the mean of {nouns}"
            form = plan_form(snapshot, **_SKEWS[name])
            listed.append(Finding(words, "muted", "", "Balance", form, broker))
    return listed


def plan_form(snapshot: Snapshot, **fields: str) -> str:
    """The address of the form of a change of the cluster, with some of its fields."""
    return f"/plan/reassignment?{urlencode({'cluster': snapshot.cluster, **fields})}"


def severity(listed: Sequence[Finding]) -> str:
    """The worst severity of some findings, or `good`."""
    return next((each for each in SEVERITIES if each in {finding.severity for finding in listed}), "good")
