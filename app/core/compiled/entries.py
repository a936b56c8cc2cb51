"""The cache of compiled loops: one file an entry, in a folder for each numba, Python and processor.

An entry is unpickled, so that whoever may write it may run code as its reader. Entries and folders are used if root,
the account of this process or the owner of this source owns them, and no other account may write to them. Whatever else
is wrong with an entry (cut off, of another source, of another processor), it does not exist, and its loop is compiled
again.

Folders are read in this order, and the first one that can be written gets new entries:

1. `NUMBA_CACHE_DIR`, if it is set;
2. `__pycache__` of the core, which is written when the software is installed and may be read-only later;
3. folders that `RACKPLAN_COMPILED` lists, which are only read: of the installation that executors belong to;
4. the cache folder of the account;
5. a folder of the account among temporary files.
"""

import functools
import hashlib
import os
import platform
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.core.compiled.sources import digest_of

_MAGIC = b"rackplan loop 1\n"
_SUFFIX = ".loop"
READ_ONLY_PATH = "RACKPLAN_COMPILED"
"""The variable that lists folders to read, as PATH does."""
_IGNORED_SETTINGS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}
_SHARED_ENTRIES_LAST_S = 30 * 24 * 3600
_BESIDE_THE_CORE = Path(__file__).parent.parent / "__pycache__" / "loops"


def read(loop: str) -> bytes | None:
    """The stored entry of a loop, by its dotted name; None without a trusted one."""
    name = _file_name(loop)
    if name is None:
        return None
    for folder in _folders():
        content = _content(folder / name) if _is_trusted(folder) else None
        if content is not None:
            return content
    return None


def write(loop: str, content: bytes) -> bool:
    """Store the entry of a loop; whether some folder has it now."""
    name = _file_name(loop)
    if name is None:
        return False
    framed = _MAGIC + hashlib.sha256(content).digest() + content
    for folder in _folders():
        if folder in _read_only_folders():
            continue
        with suppress(OSError):
            _make(folder)
            if _is_trusted(folder):
                _replace(folder / name, framed)
                _remove_older(folder, name)
                return True
    return False


def installed_folder() -> Path:
    """The folder of entries that are stored at installation, for all numbas, Pythons and processors."""
    return _BESIDE_THE_CORE


def remove_other_environments() -> None:
    """Remove the installation's entries for other numbas, Pythons and processors."""
    for folder in _BESIDE_THE_CORE.glob("*"):
        if folder.name != environment() and _is_trusted(folder):
            with suppress(OSError):
                for entry in folder.iterdir():
                    entry.unlink()
                folder.rmdir()


@functools.cache
def environment() -> str:
    """A digest of all that compiled code depends on beside its source."""
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    parts = (
        *(f"{package} {_version(package)}" for package in ("numba", "llvmlite", "numpy")),
        f"{sys.implementation.cache_tag} {platform.system()} {platform.machine()}",
        _processor(),
        *(f"{name}={value}" for name, value in settings if name not in _IGNORED_SETTINGS),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _version(package: str) -> str:
    """The version of a package, without importing it; executors that have just its files have imported it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", None))


def _processor() -> str:
    """The model and the features of the processor."""
    described = []
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                break
            if line.startswith(("model", "vendor", "cpu family", "flags", "Features", "CPU ")):
                described.append(line)
    return "".join(described) or platform.processor()


def _file_name(loop: str) -> str | None:
    module, _, _ = loop.rpartition(".")
    digest = digest_of(module)
    return None if digest is None else f"{loop.removeprefix('app.core.')}-{digest[:20]}{_SUFFIX}"


def _folders() -> Iterator[Path]:
    """The folders that may have entries, in the order in which they are tried."""
    user_provided = os.environ.get("NUMBA_CACHE_DIR")
    if user_provided:
        yield Path(user_provided, "rackplan", environment())
    yield _BESIDE_THE_CORE / environment()
    yield from _read_only_folders()
    with suppress(RuntimeError):  # an account without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rackplan", "loops", environment())
    yield Path(tempfile.gettempdir(), f"rackplan-loops-{os.geteuid()}", environment())


def _read_only_folders() -> list[Path]:
    listed = os.environ.get(READ_ONLY_PATH, "").split(os.pathsep)
    return [Path(folder, environment()) for folder in listed if folder]


def _make(folder: Path) -> None:
    """Create the folder, and those above it that are missing, writable by this account alone."""
    missing = [folder, *(above for above in folder.parents if not above.exists())]
    for each in sorted(set(missing)):
        with suppress(FileExistsError):
            each.mkdir(mode=0o755)
            each.chmod(0o755)


def _is_trusted(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _is_ours(status)


def _is_ours(status: os.stat_result) -> bool:
    """Whether an account owns it that may decide what this process runs, and no other account may write to it."""
    return status.st_uid in _trusted_accounts() and not status.st_mode & 0o022


def _trusted_accounts() -> set[int]:
    accounts = {0, os.geteuid()}
    with suppress(OSError):  # the source is in an archive
        accounts.add(Path(__file__).stat().st_uid)
    return accounts


def _content(path: Path) -> bytes | None:
    """The content of an entry if it is complete and no other account can have written it."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            return None
        framed = file.read()
    content = framed[len(_MAGIC) + 32 :]
    return content if framed == _MAGIC + hashlib.sha256(content).digest() + content else None


def _replace(path: Path, framed: bytes) -> None:
    """Replace a file atomically: other processes see the new content or the old."""
    opened, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(framed)
            os.fchmod(opened, 0o644)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _remove_older(folder: Path, name: str) -> None:
    """Remove entries of other versions of a loop; in folders that several installations share, only old ones."""
    loop = name.rpartition("-")[0]
    until = time.time() - (0 if folder.parent == _BESIDE_THE_CORE else _SHARED_ENTRIES_LAST_S)
    for other in folder.glob(f"{loop}-*{_SUFFIX}"):
        with suppress(OSError):
            if other.name != name and other.stat().st_mtime < until:
                other.unlink()
