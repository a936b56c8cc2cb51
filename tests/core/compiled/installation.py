"""A small installation of its own: the package that compiles loops, and two modules of loops, in a temporary folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

CALLED = """
from app.core.compiled.arrays import Int64Vector
from app.core.compiled.loops import compiled, subroutine


@subroutine
def doubled(value: int) -> int:
    return 2 * value


@compiled
def total(values: Int64Vector) -> int:
    result = 0
    for value in values:
        result += value
    return result
"""
CALLING = """
from app.core.compiled.loops import compiled
from app.core.called_kernel import doubled


@compiled
def answer(value: int) -> int:
    return doubled(value) + 1
"""
TOTAL, ANSWER = LOOPS = ["app.core.called_kernel.total", "app.core.calling_kernel.answer"]


class Installation:
    """The package in `folder`, and processes that import it, with empty home and temporary folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.core = folder / "app" / "core"
        (self.core / "compiled").mkdir(parents=True)
        for package in (folder / "app", self.core):
            (package / "__init__.py").touch()
        for source in (ROOT / "app" / "core" / "compiled").glob("*.py"):
            (self.core / "compiled" / source.name).write_bytes(source.read_bytes())
        (self.core / "called_kernel.py").write_text(CALLED, encoding="utf-8")
        (self.core / "calling_kernel.py").write_text(CALLING, encoding="utf-8")
        for name in ("home", "tmp"):
            (folder / name).mkdir()

    def copy(self, folder: Path) -> "Installation":
        """The same in another folder, with the loops that it has compiled."""
        copied = Installation(folder)
        shutil.copytree(self.core, copied.core, dirs_exist_ok=True)
        return copied

    def environment(self, **settings: str) -> dict[str, str]:
        """The variables of its processes."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
        home, temporary = self.folder / "home", self.folder / "tmp"
        return {
            **inherited,
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",  # else an edit within a second of the last one is not seen
            "HOME": str(home),
            "TMPDIR": str(temporary),
            **settings,
        }

    def start(self, code: str, **settings: str) -> "subprocess.Popen[str]":
        """Start a process that runs the code."""
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code],
            cwd=self.folder,
            env=self.environment(**settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, **settings: str) -> str:
        """Run code in a process. Returns its output."""
        process = self.start(code, **settings)
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        return printed.strip()

    def answer(self, value: int, **settings: str) -> tuple[int, bool]:
        """The calling loop's result in a new process, and whether it was compiled there."""
        code = f"""
from numba.core import event
with event.install_recorder("numba:compile") as compilations:
    from app.core.calling_kernel import answer
    print(answer({value}), len(compilations.buffer) > 0)
"""
        number, was_compiled = self.run(code, **settings).split()
        return int(number), was_compiled == "True"

    def compile_all(self, **settings: str) -> int:
        """Compile all loops; the number of those that were missing."""
        code = "from app.core.compiled.building import compile_all; print(compile_all(2))"
        return int(self.run(code, **settings))

    def stored(self) -> dict[str, Path]:
        """The entries beside the core, by loop."""
        entries = (self.core / "__pycache__" / "loops").glob("*/*.loop")
        return {f"app.core.{path.name.rpartition('-')[0]}": path for path in entries}

    def replace(self, source: str, old: str, new: str) -> None:
        """Edit a source."""
        path = self.core / source
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
