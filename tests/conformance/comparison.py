"""Run measured cases against the algorithms: is each answer equal to Kafka's own?

A vector file is named for its algorithm and holds a JSON object a line: `name`, `input`, `expected` and perhaps
`hash_sensitivity`. The answer has to be the same, to the order of a list, unless that is `identity`: then Kafka's own
answer differs from run to run, and the common part of all answers is compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

import orjson

from app.core.kafka_versions import KafkaRange
from tests.conformance import ANSWERS, HOLDS, INVARIANTS, Answer, Invariants
from tests.conformance.refusals import attempt

SHOWN_MISMATCHES = 3
IDENTITY = "identity"
_WIDEST_LINE = 160

KAFKAS_OWN = frozenset(
    {
        "AdminCommandFailedException",
        "AdminOperationException",
        "InvalidPartitionsException",
        "InvalidReplicationFactorException",
        "PartitionAssignorException",
        "SchemaException",
        "TaskAssignorException",
    }
)
"""Exceptions whose message is Kafka's, and has to be the same; others are the JVM's."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A case that is answered differently."""

    name: str
    expected: Any
    answered: Any

    def text(self) -> str:
        """The first places that differ, one under the other."""
        differing = list(_differences(self.expected, self.answered, ""))[:5]
        return "\n".join([f"  {self.name}", *starmap(_difference_text, differing)])


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one algorithm's cases; `mismatches` is None where there is no implementation yet."""

    algorithm: str
    cases: int
    mismatches: Sequence[Mismatch] | None
    holds: KafkaRange | None = None
    """The releases of Kafka that answer as the cases do; None for Java's own classes."""

    def text(self) -> str:
        """A line, and the first mismatches as a readable difference."""
        name = self.algorithm if self.holds is None else f"{self.algorithm} [{self.holds}]"
        if self.mismatches is None:
            return f"{name}: {self.cases} cases, not implemented"
        line = f"{name}: {self.cases} cases, {len(self.mismatches)} mismatches"
        return "\n".join([line, *(mismatch.text() for mismatch in self.mismatches[:SHOWN_MISMATCHES])])


def run(folder: Path) -> Iterator[Report]:
    """Run every vector file of a folder, one algorithm after another by name."""
    for path in sorted(folder.glob("*.jsonl")):
        cases = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        answer = ANSWERS.get(path.stem)
        mismatches = None if answer is None else list(_mismatches(cases, answer, INVARIANTS.get(path.stem)))
        yield Report(path.stem, len(cases), mismatches, HOLDS.get(path.stem))


def _mismatches(
    cases: Sequence[Mapping[str, Any]], answer: Answer, invariants: Invariants | None
) -> Iterator[Mismatch]:
    for case in cases:
        answered = attempt(answer, case["input"])
        if case.get("hash_sensitivity") == IDENTITY and invariants is not None and "error" not in answered:
            is_equal = invariants(case["input"], case["expected"], answered)
        else:
            is_equal = _same(case["expected"], answered)
        if not is_equal:
            yield Mismatch(case["name"], case["expected"], answered)


def _same(expected: Any, answered: Any) -> bool:
    if isinstance(expected, dict) and isinstance(answered, dict):
        if "error" in expected and expected["error"] not in KAFKAS_OWN:
            return bool(expected["error"] == answered.get("error"))
        return expected.keys() == answered.keys() and all(_same(expected[key], answered[key]) for key in expected)
    if isinstance(expected, list) and isinstance(answered, list):
        return len(expected) == len(answered) and all(map(_same, expected, answered))
    return bool(expected == answered)


def _differences(expected: Any, answered: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two answers part, as deep inside them as can be."""
    if isinstance(expected, dict) and isinstance(answered, dict) and expected.keys() == answered.keys():
        for key in expected:
            yield from _differences(expected[key], answered[key], f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(answered, list) and len(expected) == len(answered):
        for index, (was, now) in enumerate(zip(expected, answered, strict=True)):
            yield from _differences(was, now, f"{place}[{index}]")
    elif expected != answered:
        yield place, expected, answered


def _difference_text(place: str, expected: Any, answered: Any) -> str:
    was, now = (str(value)[:_WIDEST_LINE] for value in (expected, answered))
    return f"    at {place.lstrip('.') or 'the top'}\n      Kafka    {was}\n      Rackplan {now}"
