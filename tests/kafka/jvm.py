"""One JVM for many of Kafka's clients and runs of its tools: `clients/` answers a line for each line that it reads."""

import json
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.jobs import java
from tests.kafka import jars

CLIENTS = Path(__file__).parent / "clients"
COMPILED_WITHIN_S, ANSWERED_WITHIN_S = 300, 120.0


@dataclass(slots=True)
class Jvm:
    """A running JVM."""

    process: subprocess.Popen[str]

    def ask(self, verb: str, **request: Any) -> dict[str, Any]:
        """The answer to a request. Raises `AssertionError` if it fails, or takes too long."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": verb, **request}) + "\n")
        self.process.stdin.flush()
        is_answered, _, _ = select.select([self.process.stdout], [], [], ANSWERED_WITHIN_S)
        if not is_answered:
            self.process.kill()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or '{"failure": "no answer"}')
        assert "failure" not in answer, f"{verb} {request}: {answer['failure']}"
        return answer


@contextmanager
def started(release: str, folder: Path, options: Sequence[str]) -> Iterator[Jvm]:
    """A JVM with the artifacts of a release, until the context ends.

    Parameters
    ----------
    folder : for classes. options : of the JVM.
    """
    classes = folder / "classes"
    path = f"{jars.resolve(release)}/*"
    command = ["javac", "-nowarn", "-d", os.fspath(classes), "-cp", path, os.fspath(CLIENTS / "Clients.java")]
    subprocess.run(command, check=True, capture_output=True, timeout=COMPILED_WITHIN_S)
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
    process = subprocess.Popen(
        [str(java.find().executable), *options, "-Xmx300m", quiet, "-cp", f"{classes}:{path}", "Clients"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1, cwd=folder,
    )  # fmt: skip
    try:
        yield Jvm(process)
    finally:
        process.kill()
        process.communicate()
