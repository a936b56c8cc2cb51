"""KafkaBench: fifty placement problems of Kafka with the best known values, and the judge of anybody's solutions.

    instances.py   the generator of each kind of instance
    draws.py       random integers that are the same under every version of Python
    evaluator.py   the values and violations of a solution
    solutions.py   the forms of solutions, and what is malformed
    index.json     for each instance its seed, parameters, SHA-256, best known values and lower bounds

Nothing here imports a planner or a package beside Python's own.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from rackplan.bench.evaluator import Score, Violation, evaluate
from rackplan.bench.instances import generate
from rackplan.bench.solutions import MalformedSolution, parse

__all__ = [
    "Entry",
    "MalformedSolution",
    "Score",
    "Violation",
    "digest",
    "entries",
    "evaluate",
    "instance",
    "judge",
    "report",
]

SHOWN = 10
"""Violations of a report."""


@dataclass(frozen=True)
class Entry:
    """An instance of the index.

    Parameters
    ----------
    best, bound : a value for each objective, of which an earlier one counts before all later ones. No solution is below
        the bound; `best` is that of the best known solution.
    planner, date : of the best known solution.
    results : by planner, the values of its solution and the number of its violations.
    """

    name: str
    kind: str
    seed: int
    parameters: Mapping[str, int]
    sha256: str
    objectives: Mapping[str, str]
    best: tuple[int, ...]
    bound: tuple[int, ...]
    planner: str
    date: str
    results: Mapping[str, Mapping[str, Any]]

    @property
    def is_open(self) -> bool:
        """Whether the best known solution is not proven to be optimal."""
        return self.best != self.bound


@cache
def entries() -> Mapping[str, Entry]:
    """The index by name, in its order."""
    listed = json.loads(files(__package__).joinpath("index.json").read_text(encoding="utf-8"))
    return {
        each["name"]: Entry(**each | {"best": tuple(each["best"]), "bound": tuple(each["bound"])}) for each in listed
    }


def instance(name: str) -> dict[str, Any]:
    """Generate an instance. Raises `MalformedSolution` for an unknown name."""
    if name not in entries():
        raise MalformedSolution(f"there is no instance {name!r}; `rackplan bench list` names them")
    entry = entries()[name]
    return {"name": name, "kind": entry.kind, **generate(entry.kind, entry.seed, entry.parameters)}


def digest(document: Mapping[str, Any]) -> str:
    """The SHA-256 of an instance as canonical JSON, in hexadecimal."""
    return sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def judge(text: str | bytes, name: str | None = None) -> tuple[Entry, Score]:
    """The instance of a solution and its score.

    Parameters
    ----------
    name : the instance; by default the solution's own `instance`.

    Raises
    ------
    MalformedSolution : the text is not a solution, or one of another instance.
    """
    solution = parse(text)
    stated = solution.get("instance", name)
    if not isinstance(stated, str):
        raise MalformedSolution("the solution names no instance: state `instance` in it, or --instance")
    if name not in (None, stated):
        raise MalformedSolution(f"the solution is one of {stated}, not of {name}")
    problem = instance(stated)
    if solution.get("sha256", entries()[stated].sha256) != entries()[stated].sha256:
        raise MalformedSolution(f"the solution is one of another version of {stated}: its sha256 differs")
    return entries()[stated], evaluate(problem, solution)


def report(entry: Entry, score: Score) -> dict[str, Any]:
    """A score as JSON: each value beside the best known one and the lower bound, and the first ten violations."""
    return {
        "instance": entry.name,
        "feasible": score.is_feasible,
        "objectives": [
            {
                "objective": objective,
                "unit": unit,
                "value": value,
                "best_known": best,
                "ratio_to_best_known": round(value / best, 6) if best else None,
                "lower_bound": bound,
                "gap": round((value - bound) / value, 6) if value else 0.0,
            }
            for (objective, unit), value, best, bound in zip(
                entry.objectives.items(), score.values, entry.best, entry.bound, strict=True
            )
        ],
        "violations": len(score.violations),
        "first_violations": [{"code": each.code, "where": each.where} for each in score.violations[:SHOWN]],
    }
