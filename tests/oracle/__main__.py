"""`make oracle`: instances of a fresh seed, and a table by kind of option."""

import argparse
import sys
from collections import Counter
from random import SystemRandom

from tests.oracle.examine import examine
from tests.oracle.examined import Disagreement
from tests.oracle.instances import Instance
from tests.oracle.options import OPTIONS

COLUMNS = {
    "worse than exact": frozenset(
        {
            "moved is the exact least",
            "the largest load is the exact least",
            "the first goal is the exact least",
            "the excess is the exact least",
            "replicas are the fewest at equal bytes",
            "leader changes are the fewest",
        }
    ),
    "refused though feasible": frozenset({"feasible requests are accepted", "budgets that suffice are accepted"}),
}
"""Laws of two columns; disagreements with all others are violations."""


def main() -> int:
    """Print the table and each disagreement. Returns 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="of the first instance; random by default")
    parser.add_argument("--instances", type=int, default=1000)
    arguments = parser.parse_args()
    first = SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    _write(f"instances {first} to {first + arguments.instances - 1}")
    counts: dict[str, Counter[str]] = {name: Counter() for name in OPTIONS}
    disagreements: list[tuple[Instance, Disagreement]] = []
    for seed in range(first, first + arguments.instances):
        instance = Instance.of(seed)
        found = examine(instance).disagreements
        disagreements += [(instance, each) for each in found]
        row = counts[instance.kinds[0]]
        row["instances"] += 1
        row["agreed"] += not found
        row.update({_column(each) for each in found})
    _print(counts)
    for instance, each in disagreements:
        _write(f"{instance.seed} {' + '.join(instance.kinds)}: {each.kind}: {each.detail[:300]}")
    _write(f"{len(disagreements)} disagreements; python -m tests.oracle --seed N --instances 1 repeats one")
    return int(bool(disagreements))


def _column(disagreement: Disagreement) -> str:
    return next((name for name, laws in COLUMNS.items() if disagreement.law in laws), "violations")


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _print(counts: dict[str, Counter[str]]) -> None:
    columns = ["instances", "agreed", *COLUMNS, "violations"]
    _write(f"{'option':24}" + "".join(f"{name:>25}" for name in columns))
    for name, row in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        _write(f"{name:24}" + "".join(f"{row[column]:>25}" for column in columns))


if __name__ == "__main__":
    sys.exit(main())
