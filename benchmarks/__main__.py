"""`python -m benchmarks [subject …]`: measure the named subjects, or all of them; `roadef FILE …`: of instances."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks import (
    audit,
    burst,
    capacity,
    command,
    consumers,
    counting,
    envelopes,
    first_answers,
    from_texts,
    groups,
    hostile,
    kafkabench,
    keeping,
    keys,
    large_plans,
    leaders,
    load,
    losses,
    pages,
    peers,
    per_topic,
    placement,
    reassignments,
    resources,
    restarts,
    roadef,
    rooms,
    skewed,
    small_plans,
    soak,
    spark,
    streams,
    sweeps,
    texts,
    whole_sweeps,
)
from benchmarks.measure import Line

SUBJECTS: Mapping[str, Callable[[], Iterator[Line]]] = {
    "placement": placement.run,
    "envelopes": envelopes.run,
    "counting": counting.run,
    "losses": losses.run,
    "keys": keys.run,
    "groups": groups.run,
    "streams": streams.run,
    "restarts": restarts.run,
    "reassignments": reassignments.run,
    "leaders": leaders.run,
    "peers": peers.run,
    "per_topic": per_topic.run,
    "resources": resources.run,
    "skewed": skewed.run,
    "kafkabench": kafkabench.run,
    "capacity": capacity.run,
    "consumers": consumers.run,
    "spark": spark.run,
    "sweeps": sweeps.run,
    "whole_sweeps": whole_sweeps.run,
    "texts": texts.run,
    "from_texts": from_texts.run,
    "keeping": keeping.run,
    "small_plans": small_plans.run,
    "large_plans": large_plans.run,
    "burst": burst.run,
    "pages": pages.run,
    "rooms": rooms.run,
    "audit": audit.run,
    "load": load.run,
    "hostile": hostile.run,
    "soak": soak.run,
    "command": command.run,
    "first_answers": first_answers.run,
}


ON_REQUEST = frozenset({"load", "hostile", "soak"})
"""They take long, and a program that is not a package of Python."""


def main() -> None:
    """Print a JSON line for each result as soon as there is one."""
    if sys.argv[1:2] == ["roadef"]:
        _of_files(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure; a JSON object a line.")
    parser.add_argument(
        "subjects",
        nargs="*",
        metavar="subject",
        help=f"of {', '.join(SUBJECTS)}; default: all but load, hostile and soak",
    )
    wanted = parser.parse_args().subjects
    if unknown := set(wanted) - SUBJECTS.keys():
        parser.error(f"there is no subject {', '.join(sorted(unknown))}; there are {', '.join(SUBJECTS)}")
    for name in wanted or [name for name in SUBJECTS if name not in ON_REQUEST]:
        for result in SUBJECTS[name]():
            print(result.line(), flush=True)


def _of_files(files: list[str]) -> None:
    """The subject that reads instances, in pairs of files; what is wrong with them ends it with code 2."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks roadef", description=roadef.__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="model_*.txt assignment_*.txt, in pairs")
    try:
        for result in roadef.run(parser.parse_args(files).files):
            print(result.line(), flush=True)
    except (ValueError, OSError) as failure:
        parser.error(str(failure))


if __name__ == "__main__":
    main()
