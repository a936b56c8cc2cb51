"""The ledger: the execution of a plan against its prediction."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from app.errors.every import LogOfAnotherPlan, MalformedText, quoted
from app.services.reassignment.reports.report import LedgerBatchDocument, LedgerDocument
from app.store.records import PlanHead

NAMED_LINES = 5
"""Number of malformed lines that an error names."""
_PATH = ("log",)
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) ([a-z]+) (.*)", re.ASCII)
_FILE = r"(?P<batch>\d{1,9})-(?P<direction>execute|rollback)\.json"
_EVENTS = {
    event: re.compile(pattern, re.ASCII)
    for event, pattern in {
        "plan": r"(?P<plan>[0-9a-f]{64})",
        "throttled": rf"{_FILE} (?P<throttle>\d{{1,18}}) bytes/s",
        "executing": _FILE,
        "begun": _FILE,
        "cancelling": _FILE,
        "interrupted": _FILE,
        "complete": rf"{_FILE} (?P<bytes>\d{{1,18}}|unknown) bytes (?P<unseen>\d{{1,9}}) s",
        "finished": "execute|rollback",
        "failed": ".*",
    }.items()
}
"""By event, the rest of its line. Numbers have units, so that a line that was cut off is malformed."""


@dataclass(frozen=True, slots=True)
class ExecutedBatch:
    """The execution of one batch.

    Parameters
    ----------
    seconds : duration. The script looks at a batch now and then; the end is in the middle between its last two looks.
    copied_bytes : bytes of the new replicas at the end; None if unknown.
    throttle : bytes per second; None without one.
    """

    began_at: datetime
    ended_at: datetime
    seconds: float
    copied_bytes: int | None
    throttle: int | None


@dataclass(slots=True)
class _Execution:
    """The batches of one plan, by number, while its log is read."""

    throttles: dict[int, int | None] = field(default_factory=dict)
    began_at: dict[int, datetime] = field(default_factory=dict)
    executed: dict[int, ExecutedBatch] = field(default_factory=dict)

    def take(self, at: datetime, event: str, stated: re.Match[str]) -> None:
        """Note an event of a batch."""
        number = int(stated["batch"])
        if stated["direction"] == "rollback":
            for each in (self.throttles, self.began_at, self.executed):
                each.pop(number, None)
        elif event == "throttled":
            self.throttles[number] = int(stated["throttle"]) or None
        elif event in ("executing", "begun"):
            self.began_at[number] = at
        elif event == "complete" and number in self.began_at:
            began_at = self.began_at[number]
            seconds = (at - began_at).total_seconds() - int(stated["unseen"]) / 2
            copied = None if stated["bytes"] == "unknown" else int(stated["bytes"])
            self.executed[number] = ExecutedBatch(began_at, at, max(seconds, 0.0), copied, self.throttles.get(number))


def executed_batches(log: str, plan_hash: str, batches: int) -> dict[int, ExecutedBatch]:
    """The last execution of each batch of a plan, by its number from 1, without batches whose end or begin is missing.

    A log may have several runs, also of other plans: each begins with the hash of its plan.

    Raises
    ------
    MalformedText : lines that `run.sh` does not write, times that go back, or a batch that the plan does not have.
    LogOfAnotherPlan : no run is of the plan.
    """
    found = _Execution()
    plan, named = "", set()
    for line, at, event, stated in _events(log):
        if event == "plan":
            plan = stated["plan"]
            named.add(plan)
        elif plan == plan_hash and "batch" in stated.re.groupindex:
            if not 0 < int(stated["batch"]) <= batches:
                detail = f"there is no batch {stated['batch']}; the plan has {batches}"
                raise MalformedText(detail, line=line, path=_PATH)
            found.take(at, event, stated)
    if plan_hash not in named:
        reason = f"it is of the plan with the hash {min(named)}" if named else "it names no plan"
        raise LogOfAnotherPlan(f"the log has no run of the plan with the hash {plan_hash}: {reason}", path=_PATH)
    return found.executed


def _events(log: str) -> Iterator[tuple[int, datetime, str, re.Match[str]]]:
    """Line number, time, event and its fields, of each line that is not blank. Raises `MalformedText`."""
    malformed: list[tuple[int, str]] = []
    last = datetime.min.replace(tzinfo=UTC)
    for number, text in enumerate(log.split("\n"), start=1):
        if not (line := text.strip()):
            continue
        event = _event(line)
        if event is None or event[0] < last:
            malformed.append((number, f"{event[0]:{_TIME}} is before {last:{_TIME}}" if event else quoted(line)))
        elif not malformed:
            yield number, *event
        last = event[0] if event else last
    if malformed:
        lines = "; ".join(f"line {number}: {reason}" for number, reason in malformed[1:NAMED_LINES])
        more = f"; {len(malformed) - NAMED_LINES} more" if len(malformed) > NAMED_LINES else ""
        first, reason = malformed[0]
        detail = f"{reason}{'; ' if lines else ''}{lines}{more}"
        raise MalformedText(detail, line=first, expected="a line that run.sh has written", path=_PATH)


def _event(line: str) -> tuple[datetime, str, re.Match[str]] | None:
    """A line of the log; None if `run.sh` does not write such lines."""
    parts = _LINE.fullmatch(line)
    pattern = None if parts is None else _EVENTS.get(parts[2])
    stated = None if parts is None or pattern is None else pattern.fullmatch(parts[3])
    if parts is None or stated is None:
        return None
    try:
        return datetime.strptime(parts[1], _TIME).replace(tzinfo=UTC), parts[2], stated
    except ValueError:
        return None


def entry_of(head: PlanHead, executed: Mapping[int, ExecutedBatch], credits_s: Sequence[float]) -> LedgerDocument:
    """The entry of a plan: its batches, and the relative error of the sums over those that can be compared.

    credits_s : by batch, seconds by which it is predicted to be sooner complete than after a pause.
    """
    request: Any = head.request
    planned: Any = head.answer["batches"]
    throttle = request["batches"]["throttle_bytes_per_s"]
    batches = [
        _batch(planned[number - 1], number, executed[number], throttle, credits_s[number - 1])
        for number in sorted(executed)
    ]
    return LedgerDocument(
        _error((batch.predicted_bytes, batch.actual_bytes) for batch in batches),
        _error((batch.predicted_seconds, batch.actual_seconds) for batch in batches),
        max(batch.ended_at for batch in batches),
        batches,
    )


def _batch(
    planned: Any, number: int, executed: ExecutedBatch, throttle: int | None, credit_s: float
) -> LedgerBatchDocument:
    """One batch. Bytes of unknown sizes, and seconds at another throttle than the plan's, have no prediction."""
    seconds = planned.get("seconds") if executed.throttle == throttle else None
    return LedgerBatchDocument.of(
        executed,
        index=number,
        throttle_bytes_per_s=executed.throttle,
        predicted_bytes=None if planned["unknown_size_replicas"] else planned["moved_bytes"],
        actual_bytes=executed.copied_bytes,
        predicted_seconds=None if seconds is None else round(max(seconds - credit_s, 0.0), 6),
        actual_seconds=executed.seconds,
    )


def _error(pairs: Iterable[tuple[float | None, float | None]]) -> float | None:
    """|actual − predicted| / predicted of the sums; None if nothing is predicted."""
    known = [(predicted, actual) for predicted, actual in pairs if predicted is not None and actual is not None]
    predicted, actual = (sum(column) for column in zip(*known, strict=True)) if known else (0, 0)
    return round(abs(actual - predicted) / predicted, 6) if predicted else None
