"""Vectors answered by releases of Kafka: `python -m tests.kafka.vectors 4.3.1 4.4.0`, or `all` of them.

`oracle/` has the classes that ask Kafka's own. For each kind of `tests/vectors` that they answer, the answers of the
release are compared with the stored ones, and with `--folder` written below it, to a folder for each release.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.jobs import java
from tests.conformance import INVARIANTS
from tests.conformance.comparison import IDENTITY
from tests.kafka import jars

VECTORS = Path(__file__).parents[1] / "vectors"
ORACLE = Path(__file__).parent / "oracle"
KINDS: dict[str, tuple[str, str, str]] = {
    **{
        f"consumer_{name}": (f"consumer_{name}", "4.0.0", "5")
        for name in ("range", "roundrobin", "sticky", "cooperative_sticky")
    },
    "consumer_protocol": ("consumer_protocol", "4.0.0", "5"),
    "admin_utils": ("admin_utils", "4.0.0", "4.1.0"),
    "admin_utils_overflow": ("admin_utils", "4.0.0", "4.1.0"),
    "rack_alternated": ("rack_alternated", "4.0.0", "4.1.0"),
    "builtin_partitioner_4_4": ("builtin_partitioner", "4.4.0", "5"),
    "generate_4_1": ("generate", "4.1.0", "5"),
    "murmur2": ("murmur2", "4.0.0", "5"),
    **{
        f"streams_{name}": ("streams_client", "4.0.0", "5")
        for name in ("high_availability", "sticky", "standby", "rack_aware")
    },
    "topic_hash_4_1": ("topic_hash", "4.1.0", "5"),
    "server_range": ("server_range", "4.0.0", "5"),
    "server_uniform": ("server_uniform", "4.0.0", "4.0.1"),
    "server_uniform_4_0_1": ("server_uniform", "4.0.1", "5"),
    "server_simple": ("server_simple", "4.0.0", "4.1.0"),
    "server_simple_4_1": ("server_simple", "4.1.0", "4.2.0"),
    "server_simple_4_2": ("server_simple", "4.2.0", "5"),
    "striped_placer": ("striped_placer", "4.0.0", "4.3.0"),
    "striped_placer_4_3": ("striped_placer", "4.3.0", "5"),
    "streams_group_sticky_4_1": ("streams_group_sticky", "4.1.0", "4.2.0"),
    "streams_group_sticky_4_2": ("streams_group_sticky", "4.2.2", "4.3.0"),
    "streams_group_sticky_4_3": ("streams_group_sticky", "4.3.0", "4.3.2"),
    "streams_group_sticky_4_4": ("streams_group_sticky", "4.4.0", "5"),
}
"""By file of vectors: its kind for the oracle, the first release that answers so, and the first that does not."""
BY_IDENTITY = "streams_group_sticky_4_1"
"""The file with cases that a release answers otherwise in each process."""
_ANSWERED_WITHIN_S = 300


def number(release: str) -> tuple[int, ...]:
    """A release, to compare it with others."""
    return tuple(map(int, release.split(".")))


def answered(release: str, cases: Sequence[dict[str, Any]], kind: str, classes: Path) -> list[Any]:
    """The answers of a release, in the order of the cases."""
    path = f"{classes}:{jars.resolve(release)}/*"
    asked = "".join(json.dumps({"kind": kind, "input": case["input"]}) + "\n" for case in cases)
    command = [str(java.find().executable), "-cp", path, "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "Oracle"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=_ANSWERED_WITHIN_S, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compiled(release: str, folder: Path) -> Path:
    """The folder with the oracle's classes for a release."""
    sources = {path.name: path for path in ORACLE.glob("*.java")}
    for path in sorted(ORACLE.glob("since_*/*.java")):  # a later interface replaces an earlier one
        if number(path.parent.name.removeprefix("since_").replace("_", ".")) <= number(release):
            sources[path.name] = path
    command = ["javac", "-nowarn", "-d", str(folder), "-cp", f"{jars.resolve(release)}/*", *map(str, sources.values())]
    subprocess.run(command, check=True, capture_output=True, timeout=_ANSWERED_WITHIN_S)
    return folder


def stored(name: str) -> list[dict[str, Any]]:
    """The cases of a file of vectors."""
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_same(case: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether an answer is the stored one; of exceptions the class counts, since texts change between releases.

    Some releases wrap the exceptions of the consumer protocol (KAFKA-20570). If identity hashes decide, the common part
    of all answers counts.
    """
    expected = case["expected"]
    if case.get("hash_sensitivity") == IDENTITY:
        return INVARIANTS[BY_IDENTITY](case["input"], expected, found)
    if "error" in expected:
        return bool(expected["error"] == found.get("error") or is_wrapped(found))
    return bool(expected == found)


def is_wrapped(found: dict[str, Any]) -> bool:
    """Whether an answer is an exception that wraps one of the consumer protocol's readers."""
    return str(found.get("message")).startswith("Malformed consumer protocol")


def compared(release: str) -> Iterator[tuple[str, list[dict[str, Any]], list[Any]]]:
    """Each file of vectors that holds for a release, its cases, and the answers."""
    held = [name for name, (_, first, end) in KINDS.items() if number(first) <= number(release) < number(end)]
    with tempfile.TemporaryDirectory() as folder:
        classes = compiled(release, Path(folder))
        for name in held:
            cases = stored(name)
            yield name, cases, answered(release, cases, KINDS[name][0], classes)


def main() -> None:
    """Print a line for each release and kind, and exit with 1 if an answer differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.kafka.vectors", description=main.__doc__)
    parser.add_argument("releases", nargs="*", default=[jars.NEWEST], help=f"{', '.join(jars.RELEASES)}, or all")
    parser.add_argument("--folder", type=Path, help="for the answers, below it one folder a release")
    given = parser.parse_args()
    is_equal = True
    for release in jars.RELEASES if "all" in given.releases else given.releases:
        for name, cases, answers in compared(release):
            differ = [case for case, found in zip(cases, answers, strict=True) if not is_same(case, found)]
            is_equal &= not differ
            named = f": {', '.join(case['name'] for case in differ[:5])}" if differ else ""
            sys.stdout.write(f"{release} {name}: {len(cases)} cases, {len(differ)} differ{named}\n")
            sys.stdout.flush()
            if given.folder is not None:
                (given.folder / release).mkdir(parents=True, exist_ok=True)
                rows = (json.dumps(case | {"expected": found}) for case, found in zip(cases, answers, strict=True))
                lines = "".join(f"{row}\n" for row in rows)
                (given.folder / release / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    sys.exit(not is_equal)


if __name__ == "__main__":
    main()
