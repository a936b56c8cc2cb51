"""`rackplan bench`: the instances of KafkaBench, and the score of a solution."""

import json
from pathlib import Path

from app.cli.output import VIOLATIONS, WRONG_INPUT, fail, hand_over, read_input, table
from rackplan.bench import MalformedSolution, entries, instance, judge, report


def list_instances(as_json: bool) -> None:
    """List the instances of KafkaBench with the best known values and lower bounds."""

    if as_json:
        found = [
            {"instance": each.name, "objectives": each.objectives, "best": each.best, "bound": each.bound}
            for each in entries().values()
        ]
        hand_over(json.dumps(found, indent=2).encode() + b"\n", None)
        return
    rows = [
        (each.name, *(", ".join(map(str, column)) for column in (each.objectives, each.best, each.bound)))
        for each in entries().values()
    ]
    table(("instance", "minimised", "best known", "lower bound"), rows)


def print_instance(name: str, output: Path | None) -> None:
    """Print an instance of KafkaBench as JSON: its rules, and its snapshot and request for Rackplan's API."""

    try:
        hand_over(json.dumps(instance(name)).encode() + b"\n", output)
    except MalformedSolution as unknown:
        fail("No such instance", str(unknown), {}, code=WRONG_INPUT)


def score(file: Path, instance: str | None) -> None:
    """Score a solution of an instance of KafkaBench. The exit code is 3 if it breaks a rule."""

    try:
        entry, judged = judge(read_input(file), instance)
    except MalformedSolution as malformed:
        fail("The solution cannot be scored", str(malformed), {}, code=WRONG_INPUT)
    hand_over(json.dumps(report(entry, judged), indent=2).encode() + b"\n", None)
    raise SystemExit(0 if judged.is_feasible else VIOLATIONS)
