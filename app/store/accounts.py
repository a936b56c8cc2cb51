"""The account of Postgres if root starts the service, and the files that it can reach.

An ordinary user runs everything as itself. Postgres rejects root, so root's Postgres runs as `nobody`, an account that
every system has (initdb looks its account up, so an unlisted number does not work), and the service drops to it if it
can read the installation. That account may not be able to pass the folders in which root works; a clone under `/root`
is the usual case. No permission of a folder on the way is ever changed: Postgres' programs and data are then in a
shelter that the account can reach.
"""

import os
import pwd
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.errors.machine import AccountUnusable

SHELTER = Path("/var/lib/rackplan")
"""Root's folder for Postgres' programs and data if the account cannot reach the caller's own."""

_FIRST_CLOSED = Path(__file__).with_name("first_closed.sh").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Account:
    """The account as which child processes run."""

    name: str
    uid: int
    gid: int
    borrowed: bool
    """Whether the calling process is root and has to become this account to run something as it."""

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[bytes]:
        """Run a command as this account to its end; its output is captured, its exit status left to the caller.

        Raises
        ------
        AccountUnusable : the command cannot be executed at all.
        """
        process = self.start(command, output=subprocess.PIPE)
        with process:
            try:
                output, _ = process.communicate()
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, output)

    def start(self, command: Sequence[str | Path], *, output: IO[bytes] | int) -> subprocess.Popen[bytes]:
        """Start a command as this account, in its own session, with none of the caller's environment.

        A terminal sends Ctrl-C to everything in the foreground; in a session of its own, the command does not get it
        and is stopped when its starter has drained.

        Raises
        ------
        AccountUnusable : the command cannot be executed at all.
        """
        try:
            return subprocess.Popen(  # noqa: S603 -- the commands are this package's own
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                user=self.uid if self.borrowed else None,
                group=self.gid if self.borrowed else None,
                extra_groups=[] if self.borrowed else None,
                start_new_session=True,
                umask=0o077,
                cwd="/",  # initdb asks for its working directory, and the caller's may be closed to this account
                env=_environment(),
            )
        except OSError as error:
            detail = f"{command[0]} cannot be run as {self.name} (uid {self.uid}): {error.strerror or error}"
            raise AccountUnusable(detail, program=str(command[0]), account=self.name) from error

    def first_closed(self, path: Path) -> Path | None:
        """The first part of an absolute path, from the root down, that this account cannot pass (or, a file, read).

        Parts that do not exist yet are left out. None if it can pass all of them.
        """
        if not self.borrowed:
            return None
        return self._first_closed([part for part in (*reversed(path.parents), path) if part.exists()], test="-x")

    def first_unreadable(self, paths: Iterable[Path]) -> Path | None:
        """The first of these paths, or of the entries of these folders, that this account cannot read; None if none.

        Raises
        ------
        AccountUnusable : the account cannot execute this interpreter.
        """
        answer = self.run([sys.executable, "-I", "-S", "-c", ""])
        if answer.returncode != 0:
            words = os.fsdecode(answer.stdout[-200:])
            detail = f"{sys.executable} cannot be run as {self.name} (uid {self.uid}): {words}"
            raise AccountUnusable(detail, program=sys.executable, account=self.name)
        entries = [each for path in paths for each in (path, *(sorted(path.iterdir()) if path.is_dir() else ()))]
        return self._first_closed([each for each in entries if each.exists() and each.name != "__pycache__"], test="-r")

    def _first_closed(self, paths: Sequence[Path], *, test: str) -> Path | None:
        closed = self.run(["/bin/sh", "-c", _FIRST_CLOSED, "sh", test, *paths]).stdout
        return Path(os.fsdecode(closed)) if closed else None


def current() -> Account:
    """The account as which child processes run: the caller's, or `nobody` if the caller is root.

    Raises
    ------
    AccountUnusable : the caller is root and the system has no account `nobody`.
    """
    uid = os.geteuid()
    if uid != 0:
        return Account(name_of(uid), uid, os.getegid(), borrowed=False)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError as error:
        raise AccountUnusable("root runs Postgres as the account `nobody`, which this system does not have") from error
    return Account(nobody.pw_name, nobody.pw_uid, nobody.pw_gid, borrowed=True)


def name_of(uid: int) -> str:
    """Name an account for a message; by number if the system does not list it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def make_open_folder(folder: Path) -> None:
    """Make a folder, as root, that every account can pass, whatever root's umask says.

    Only folders that are new get a mode; those that were there keep theirs.
    """
    for missing in [part for part in (*reversed(folder.parents), folder) if not part.exists()]:
        missing.mkdir()
        missing.chmod(0o755)
    folder.mkdir(exist_ok=True)  # a file of that name is found out here


def _environment() -> dict[str, str]:
    # The caller's locale and PG… variables must not shape the database. Paths of shared libraries remain.
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}
    return {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath, **libraries}
