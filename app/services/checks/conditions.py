"""Conditions under which a check fails: `violations`, `skew>0.1`, a closed set of measures and comparisons.

    condition  = measure [ comparison number [ "%" ] ]
    comparison = ">" | ">=" | "<" | "<="

A measure alone is a condition that it is above 0.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import numpy as np
import orjson

from app.core.measures.losses import LossCounts, Losses
from app.core.measures.placement import PerBroker
from app.errors.every import ConflictingFields, quoted, suggestion
from app.services.checks.verification import Check

Measured: TypeAlias = Callable[["Subject"], float | None]

_CONDITION = re.compile(
    r"\s*(?P<name>[A-Za-z_]{1,40})\s*+(?:(?P<sign>>=|<=|>|<)\s*(?P<number>[0-9.]{1,20})\s*+(?P<percent>%)?)?\s*+"
)
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of conditions.

    Parameters
    ----------
    differences : from a desired state; None without one.
    losses_before : of the partitions of a reassignment before it; None of a cluster as it is.
    """

    check: Check
    differences: int | None = None
    losses_before: Losses | None = None


def skew(counts: PerBroker) -> float:
    """How far the largest count is above the mean, as a share of the mean; 0 if there is nothing."""
    mean = float(np.mean(list(counts.per_broker.values()))) if counts.per_broker else 0.0
    return counts.max / mean - 1 if mean else 0.0


def _violations(severity: str | None = None) -> Measured:
    return lambda subject: sum(one.count for one in subject.check.violations if severity in (None, one.severity))


def _after(of: Literal["racks", "brokers"], name: Literal["offline", "unwritable"]) -> Measured:
    """The largest count of a kind of loss; None if it is unknown for a partition."""

    def measured(subject: Subject) -> float | None:
        losses = subject.check.measures.losses
        return None if losses is None else losses.worst(of, name)

    return measured


def _worse(subject: Subject) -> float | None:
    """Sums over losses are compared, since a larger worst loss is no fault of a reassignment to fewer brokers."""
    before, after = subject.losses_before, subject.check.measures.losses
    if before is None or after is None:
        return None
    losses = [(kind, name) for kind in ("brokers", "racks") for name in ("offline", "unwritable")]
    return max(sum(_counts(after, *each)) - sum(_counts(before, *each)) for each in losses)


def _counts(losses: Losses, kind: str, name: str) -> list[int]:
    """The count of each loss of a kind; partitions whose `min.insync.replicas` is unknown are writable."""
    each: Mapping[Any, LossCounts] = getattr(losses, kind)
    return [getattr(counts, name) or 0 for counts in each.values()]


def _of_losses(name: Literal["share_during_restart", "min_isr_unknown"]) -> Measured:
    """A figure of all losses; None if a check has none."""
    return lambda subject: getattr(subject.check.measures.losses, name, None)


_VALUES: Mapping[str, Measured] = {
    "violations": _violations(),
    "illegal": _violations("illegal"),
    "fragile": _violations("fragile"),
    "warnings": lambda subject: len(subject.check.cautions),
    "skew": lambda subject: max(skew(subject.check.measures.replicas), skew(subject.check.measures.leaders)),
    "replica_skew": lambda subject: skew(subject.check.measures.replicas),
    "leader_skew": lambda subject: skew(subject.check.measures.leaders),
    "replica_spread": lambda subject: subject.check.measures.replicas.spread,
    "leader_spread": lambda subject: subject.check.measures.leaders.spread,
    "rack_safe_share": lambda subject: subject.check.measures.rack_safe_share,
    "over_limit": lambda subject: None if subject.check.health is None else subject.check.health.loads_over_limit,
    "moved_replicas": lambda subject: None if subject.check.movement is None else subject.check.movement.replicas_added,
    "offline_after_broker_loss": _after("brokers", "offline"),
    "offline_after_rack_loss": _after("racks", "offline"),
    "unwritable_after_broker_loss": _after("brokers", "unwritable"),
    "unwritable_after_rack_loss": _after("racks", "unwritable"),
    "unwritable_during_restart": _of_losses("share_during_restart"),
    "worse_after_loss": _worse,
    "min_isr_unknown": _of_losses("min_isr_unknown"),
    "differences": lambda subject: subject.differences,
}
"""By name the value of a measure; None if a check does not have it."""
MEASURES: Mapping[str, str] = orjson.loads(files("app.services.checks").joinpath("measures.json").read_bytes())
"""By name the description of a measure, in the order of the documentation."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A measure, and the values of it with which a check fails."""

    text: str
    name: str
    sign: str
    number: float

    def outcome(self, subject: Subject) -> "Outcome":
        """The value of the measure, and whether it makes the check fail.

        Raises `ConflictingFields` if the check does not have the measure.
        """
        value = _VALUES[self.name](subject)
        if value is None:
            detail = f"{self.text}: this check has no {self.name}: {MEASURES[self.name]}"
            raise ConflictingFields(detail, path=("fail_on",), value=self.name)
        return Outcome(self, float(value), fails=_COMPARISONS[self.sign](value, self.number))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a condition on a check."""

    condition: Condition
    value: float
    fails: bool


def conditions(texts: Sequence[str]) -> list[Condition]:
    """Read conditions, each once.

    Raises
    ------
    ConflictingFields : one is no condition, or its measure is unknown; with the nearest name.
    """
    return list(dict.fromkeys(_condition(text) for text in texts))


def _condition(text: str) -> Condition:
    read = _CONDITION.fullmatch(text)
    if read is None:
        detail = (
            f"{quoted(text)!r} is no condition; it has to be a measure, or a measure compared with a number: skew>0.1"
        )
        raise ConflictingFields(detail, path=("fail_on",), value=quoted(text))
    name = read["name"].lower()
    if name not in MEASURES:
        detail = f"there is no measure {name}; measures are {', '.join(MEASURES)}{suggestion(name, MEASURES)}"
        raise ConflictingFields(detail, path=("fail_on",), value=name, known=list(MEASURES))
    try:
        number = float(read["number"] or 0) / (100 if read["percent"] else 1)
    except ValueError:
        detail = f"{quoted(text)!r}: {read['number']} is no number"
        raise ConflictingFields(detail, path=("fail_on",), value=quoted(text)) from None
    return Condition("".join(text.split()), name, read["sign"] or ">", number)
