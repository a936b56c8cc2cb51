"""`python -m tests.fuzz`: fuzz the targets by coverage, in turns, until the time is over; `make fuzz` runs it.

Atheris (libFuzzer) instruments the code of `app`, and keeps inputs that reach new branches. Each fault is stored once,
by its cause, as a file in tests/fuzz/corpus/<target>, which `test_fuzz.py` runs from then on.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from random import Random

from tests.conftest import ROOT
from tests.fuzz import mutations

_MEMORY_MIB = 2_048
_HANGS_AFTER_S = 60
_TURN_S = 60
_ENDED = "ended"
_INSTRUMENTED = ("app.api", "app.services")
"""Modules of models of requests, beside `app.formats`, which everything reads with. Not the core, whose compiled
loops have no branches that Python could count."""


def main() -> None:
    """Fuzz in turns, each a process; or, for a turn, one target in this process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("patterns", nargs="*", help="parts of the names of targets; default: all")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--turn", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=int, default=_TURN_S, help="seconds of one target at a time")
    parser.add_argument("--kept", type=Path, help="folder of inputs that reached new branches; default: temporary")
    options = parser.parse_args()
    if options.turn is not None:
        _turn(options.turn, options.kept, options.seconds)
        return
    with tempfile.TemporaryDirectory(prefix="rackplan-fuzz-") as temporary:
        raise SystemExit(_turns(options, options.kept or Path(temporary)))


def _turns(options: argparse.Namespace, kept: Path) -> int:
    """Turns of all targets, one after another, until the time is over; 1 if there was a fault."""
    from tests.fuzz.targets import CORPUS, targets  # noqa: PLC0415 -- a turn imports it while it is instrumented

    names = [name for name in targets() if not options.patterns or any(part in name for part in options.patterns)]
    until = time.monotonic() + options.hours * 3600
    has_faults = False
    while names:
        for name in names:
            if time.monotonic() >= until:
                return int(has_faults)
            command = [sys.executable, "-m", "tests.fuzz", "--turn", name, "--seconds", str(options.seconds)]
            ended = subprocess.run([*command, "--kept", str(kept)], check=False)
            has_faults |= ended.returncode != 0
            for path in (kept / _ENDED / name).glob("*"):
                (CORPUS / name).mkdir(exist_ok=True)
                shutil.move(path, CORPUS / name)
                has_faults = True
    return 2


def _turn(name: str, kept: Path, seconds: int) -> None:
    import atheris  # noqa: PLC0415 -- an extra of fuzzing

    with atheris.instrument_imports(include=["app"], exclude=_uninstrumented(name)):
        from tests.fuzz.findings import tried  # noqa: PLC0415 -- instrumented
        from tests.fuzz.targets import CORPUS, LONGEST_BYTES, target_of  # noqa: PLC0415 — instrumented

        target = target_of(name)
    folder = kept / name
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [*target.seeds(), *target.corpus()]
    for seed in seeds:
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    seen: set[str] = set()

    def one(content: bytes) -> None:
        found = tried(target, content)
        if found is None or found.key in seen:
            return
        seen.add(found.key)
        path = CORPUS / name / hashlib.sha256(found.key.encode()).hexdigest()[:12]
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(content)
        sys.stderr.write(f"FAULT {name}: {found.key}; {path}\n{found.text[-1500:]}\n")

    artifacts = kept / _ENDED / name  # of inputs that end the process: too much memory, no end
    artifacts.mkdir(parents=True, exist_ok=True)
    arguments = [sys.argv[0], f"-max_total_time={seconds}", f"-max_len={4 * LONGEST_BYTES}", "-print_final_stats=1"]
    arguments += [f"-timeout={_HANGS_AFTER_S}", f"-rss_limit_mb={_MEMORY_MIB}", f"-artifact_prefix={artifacts}/"]
    with tempfile.NamedTemporaryFile("w", suffix=".dict") as dictionary:
        dictionary.writelines(map(_entry, mutations.TOKENS))
        dictionary.flush()
        arguments += [f"-dict={dictionary.name}", str(folder)]
        if target.is_json:
            atheris.Setup(arguments, one, custom_mutator=partial(_mutated, seeds))
        else:
            atheris.Setup(arguments, one)
        atheris.Fuzz()  # which ends the process


def _uninstrumented(name: str) -> list[str]:
    """The modules that are imported as they are: instrumenting one takes as long as thousands of inputs."""
    wanted = ("app.formats", *(_INSTRUMENTED if name.startswith(("body.", "draft.")) else ()))
    paths = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "app").rglob("*.py")]
    modules = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    return [module for module in modules if not module.startswith(wanted)]


def _mutated(seeds: list[bytes], content: bytes, max_size: int, seed: int) -> bytes:
    """A document with other values: changes of bytes are seldom JSON."""
    return mutations.of_json(content, seeds, Random(seed))[:max_size]


def _entry(token: bytes) -> str:
    """A line of a dictionary of libFuzzer."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in token) + '"\n'


if __name__ == "__main__":
    main()
