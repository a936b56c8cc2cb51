"""`python -m tests.faults`: random faults; the exit code is 1 if anything is wrong after them."""

import argparse
import sys
from pathlib import Path

from tests import databases
from tests.faults.run import run


def main() -> None:
    """Run and report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--faults", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--minutes", type=float, default=120.0, help="no fault after so many")
    options.add_argument("--log", type=Path, default=Path("faults.log"), help="where the log of a failed run goes")
    given = options.parse_args()
    with databases.folder_of_postgres() as folder:
        is_wrong = True
        try:
            outcome = run(folder, faults=given.faults, seed=given.seed, within_s=60 * given.minutes)
            is_wrong = bool(outcome.wrong)
        finally:
            if is_wrong:
                given.log.write_bytes((folder / "log").read_bytes())
                sys.stdout.write(f"its log is in {given.log}\n")
    for name, count in [*sorted(outcome.faults.items()), *outcome.counts.items()]:
        sys.stdout.write(f"{count:6} {name}\n")
    for wrong in outcome.wrong:
        sys.stdout.write(f"WRONG: {wrong}\n")
    sys.stdout.write(f"{sum(outcome.faults.values())} faults with seed {given.seed}: {len(outcome.wrong)} wrong\n")
    sys.exit(1 if outcome.wrong else 0)


if __name__ == "__main__":
    main()
