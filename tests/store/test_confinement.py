"""Root's commands as an unprivileged account: they reach what they need, and nothing else of root's.

Every test executes a real command. The interpreter itself may be below a closed folder, as a Python in root's home is.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors.machine import WorkerNotConfinable
from app.store import accounts
from app.store.confinement import Confinement, confine
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a command as another account")

ENVIRONMENT = {"PATH": os.defpath}
INTERPRETER = (Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix))
WITHOUT_MOUNTS = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_SYS_ADMIN = 24, 21
assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Executes a command as a root that may mount nothing, as root in most containers is."""


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder that every account can pass, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="rackplan-confinement-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


@pytest.fixture
def closed(place: Path) -> Path:
    """A folder of root's alone, with a tree that a command needs and a file that it does not."""
    folder = place / "closed"
    (folder / "further" / "tree").mkdir(parents=True)
    (folder / "further" / "tree" / "needed").write_text("needed")
    (folder / "secret").write_text("secret")
    (folder / "link").symlink_to("further")
    folder.chmod(0o700)
    return folder


def output(confinement: Confinement, script: str, *arguments: object) -> str:
    """What a shell script prints that is executed in the confinement."""
    command = confinement.command(["/bin/sh", "-c", script, "sh", *map(str, arguments)])
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False).stdout


def states(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Mode, owner and time of change of everything in a folder."""
    stats = {path: path.lstat() for path in (folder, *folder.rglob("*"))}
    return {path: (stat.st_mode, stat.st_uid, stat.st_ctime_ns) for path, stat in stats.items()}


class TestAccount:
    """What the command may do."""

    def test_it_has_no_privileges_and_cannot_gain_any(self) -> None:
        nobody = accounts.current()
        lines = output(confine(nobody, []), "cat /proc/self/status").splitlines()
        status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
        assert set(status["Uid"]) == {str(nobody.uid)}
        assert set(status["Gid"]) == {str(nobody.gid)}
        assert status["Groups"] == []
        for name in ("CapPrm", "CapEff", "CapAmb"):
            assert int(status[name][0], 16) == 0, name
        assert status["NoNewPrivs"] == ["1"]
        assert status["Umask"] == ["0077"]

    def test_it_cannot_read_or_write_what_is_roots(self, place: Path) -> None:
        script = 'cat /etc/shadow; touch "$1/file"; pwd'
        assert output(confine(accounts.current(), []), script, place) == "/\n"
        assert list(place.iterdir()) == []

    def test_nothing_is_mounted_if_nothing_is_closed(self, place: Path) -> None:
        (place / "open").mkdir(mode=0o755)
        confinement = confine(accounts.current(), [place / "open"])
        assert confinement.mounts.covered == ()
        assert output(confinement, "readlink /proc/self/ns/mnt").strip() == os.readlink("/proc/self/ns/mnt")  # noqa: PTH115 — no path


class TestClosedFolder:
    """As `/root` with mode 0700, in which a clone and its Python are."""

    def test_the_needed_tree_is_there_and_nothing_else(self, closed: Path) -> None:
        tree = closed / "further" / "tree"
        before = states(closed)
        confinement = confine(accounts.current(), [tree])
        assert confinement.mounts.covered == (str(closed),)
        script = 'cat "$1/needed"; echo; ls "$2" "$2/further"; cat "$2/secret"'
        assert output(confinement, script, tree, closed).split() == [
            *("needed", f"{closed}:", "further", f"{closed}/further:", "tree"),
        ]
        assert states(closed) == before, "no permission changes"

    def test_the_tree_is_read_only_also_if_its_modes_let_the_account_write(self, closed: Path) -> None:
        tree = closed / "further" / "tree"
        tree.chmod(0o777)
        assert output(confine(accounts.current(), [tree]), 'echo x > "$1/new"; ls "$1"', tree) == "needed\n"
        assert output(confine(accounts.current(), [tree]), 'mkdir "$1/new"; ls "$1"', closed) == "further\n"

    def test_no_other_process_sees_the_mounts(self, closed: Path) -> None:
        before = Path("/proc/self/mountinfo").read_text()
        confinement = confine(accounts.current(), [closed / "further"])
        command = confinement.command(["/bin/sh", "-c", "echo; read line"])
        with subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert Path("/proc/self/mountinfo").read_text() == before
            assert (closed / "secret").read_text() == "secret"
            process.communicate(b"\n")

    def test_links_on_the_way_lead_there_too(self, place: Path, closed: Path) -> None:
        outer = place / "outer"
        outer.symlink_to(closed / "link")
        path = outer / "tree" / ".." / "tree" / "needed"
        assert output(confine(accounts.current(), [path]), 'cat "$1"', path) == "needed"

    def test_a_loop_of_links_ends(self, place: Path) -> None:
        (place / "a").symlink_to("b")
        (place / "b").symlink_to("a")
        assert confine(accounts.current(), [place / "a" / "x"]).mounts.covered == ()

    def test_a_file_alone_is_mounted(self, closed: Path) -> None:
        confinement = confine(accounts.current(), [closed / "further" / "tree" / "needed"])
        assert output(confinement, 'cat "$1"/*/*/*', closed) == "needed"


class TestOwned:
    """Trees whose files only root can read, as an installation with umask 077 has them."""

    def test_the_account_reads_them_and_changes_nothing(self, closed: Path) -> None:
        tree = closed / "further" / "tree"
        (tree / "needed").chmod(0o600)
        tree.chmod(0o700)
        before = states(closed)
        assert output(confine(accounts.current(), [tree]), 'cat "$1/needed"', tree) == ""
        confinement = confine(accounts.current(), [], owned=[tree])
        script = 'cat "$1/needed"; echo x > "$1/needed"; chmod 0644 "$1/needed"; touch "$1/new"; ls "$2"'
        assert output(confinement, script, tree, closed) == "neededfurther\n"
        assert states(closed) == before

    def test_an_open_folder_of_closed_files_needs_no_other_mount(self, place: Path) -> None:
        (place / "file").touch(mode=0o600)
        (place / "file").write_text("needed")
        (place / "other").touch(mode=0o600)
        confinement = confine(accounts.current(), [], owned=[place / "file"])
        assert confinement.mounts.covered == ()
        assert output(confinement, 'cat "$1/file" "$1/other"; ls "$1"', place) == "neededfile\nother\n"

    def test_files_of_others_stay_closed(self, place: Path) -> None:
        (place / "file").touch(mode=0o600)
        (place / "file").write_text("of somebody else")
        os.chown(place / "file", 1, 1)
        assert output(confine(accounts.current(), [], owned=[place]), 'cat "$1/file"', place) == ""


class TestUnreadable:
    """What the account cannot read although it is mounted, and systems that mount nothing."""

    def test_this_interpreter_starts_and_reads_what_it_is_given(self, closed: Path) -> None:
        tree = closed / "further" / "tree"
        confinement = confine(accounts.current(), [*INTERPRETER, tree])
        assert confinement.first_unreadable([tree], environment=ENVIRONMENT) is None

    def test_a_missing_path_is_named(self, closed: Path) -> None:
        confinement = confine(accounts.current(), INTERPRETER)
        assert confinement.first_unreadable([closed / "secret"], environment=ENVIRONMENT) == closed / "secret"

    def test_without_the_right_to_mount_the_closed_folder_is_named(self, closed: Path) -> None:
        code = closed / "code"
        shutil.copytree(ROOT / "app", code / "app", ignore=shutil.ignore_patterns("__pycache__"))
        script = (
            "import sys\n"
            "from pathlib import Path\n"
            "from app.store import accounts\n"
            "from app.store.confinement import confine\n"
            "from app.errors.machine import WorkerNotConfinable\n"
            "try:\n"
            "    confine(accounts.current(), [Path(sys.argv[1])]).first_unreadable([], environment={})\n"
            "except WorkerNotConfinable as failure:\n"
            "    print(failure.context['closed'], failure.detail)\n"
        )
        command = [sys.executable, "-c", WITHOUT_MOUNTS, sys.executable, "-c", script, str(code)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"{closed} root's worker runs as nobody"), done.stderr
        assert "Operation not permitted (a mount namespace)" in done.stdout

    def test_a_command_that_cannot_be_executed_says_why(self, closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", shutil.copy("/bin/false", closed / "python"))
        with pytest.raises(WorkerNotConfinable, match="cannot be executed"):
            confine(accounts.current(), []).first_unreadable([], environment=ENVIRONMENT)
