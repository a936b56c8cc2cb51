"""Compare each algorithm with the vectors of a folder; the exit code is 1 if any answer differs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tests.conformance.comparison import run


def main(arguments: Sequence[str], output: TextIO) -> int:
    """Print a line for each algorithm, and its first mismatches."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("tests/vectors"), help="of vectors, *.jsonl")
    folder = parser.parse_args(arguments).folder
    if not folder.is_dir():
        parser.error(f"{folder} is not a folder")
    has_mismatch = False
    for report in run(folder):
        output.write(f"{report.text()}\n")
        output.flush()
        has_mismatch = has_mismatch or bool(report.mismatches)
    return int(has_mismatch)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout))
