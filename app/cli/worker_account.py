"""What root's worker needs to run as an unprivileged account: its paths, its environment, a folder of its own.

The folder is `worker` in root's shelter, with mode 0700 and owned by the account. It is the worker's HOME, its TMPDIR
and where numba keeps compiled loops. Those are pickles, so root's own processes never load them: the API's are in
`__pycache__` beside the code, where the account cannot write.
"""

import fcntl
import os
import re
import shutil
import site
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

import app
from app.errors.machine import WorkerNotConfinable
from app.services.dataset_roots import LOCAL, is_uri
from app.settings import Settings
from app.store.accounts import Account, make_open_folder
from app.store.confinement import Confinement, confine

INHERITED = re.compile(
    r"RACKPLAN_\w+|PATH|LANG|LC_\w+|TZ|LD_LIBRARY_PATH|JAVA_HOME|(?:SPARK|PYSPARK|HADOOP|YARN|OTEL)_\w+|PG\w+"
)
"""Names of the variables of root's environment that the worker gets; credentials of root's other programs are not."""

_WAYS_OUT = (
    "start as an ordinary user, install Rackplan and its Python where other accounts may read them, "
    "or let the worker run as root with --allow-root"
)
_SYSTEMS_OWN = (Path("/usr"), Path("/usr/local"))
"""Prefixes that have more than a Python in them: root's files there are never shown as the account's."""
_LOCKED_WITHIN_S = 5.0
_MAKE_AND_CLEAN = """
set -eu
cd "$1"
mkdir -p numba tmp
cd tmp
if [ "$2" = clean ]; then rm -rf ./rackplan-spark-* ./blockmgr-* ./spark-* ./tmp*; fi
"""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What was made for the worker's account.

    Parameters
    ----------
    confinement : how a command becomes the account and reaches its files.
    folder : the account's own.
    lock : descriptor that the worker inherits: while it is open, nothing is removed from the folder.
    changes : variables that differ from root's, by their names.
    """

    confinement: Confinement
    folder: Path
    lock: int
    changes: Mapping[str, str]

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """The worker's environment, out of root's."""
        allowed = {name: value for name, value in inherited.items() if INHERITED.fullmatch(name)}
        return {"SPARK_LOCAL_DIRS": str(self.folder / "tmp"), **allowed, **self.changes}


def prepare(settings: Settings, *, account: Account, shelter: Path) -> Preparation:
    """Make the account's folder, and find how it reaches what the worker needs.

    A dataset root that the account cannot read is logged as a warning: other jobs run without it.

    Raises
    ------
    WorkerNotConfinable : the account cannot read or execute what every worker needs; nothing is left running.
    """
    folder, lock = _own_folder(shelter, account=account)
    roots = [Path(_local(root)).absolute() for root in settings.dataset_roots if not is_uri(root)]
    changes = _changes(settings, folder=folder, account=account)
    code = Path(app.__file__).resolve().parent
    needed = _Needs(
        mounted=[*_interpreter(), code, *_configured(settings, changes)],
        checked=[*_packages(code), *_libraries(), *_configured(settings, changes)],
    )
    environment = Preparation(Confinement(account), folder, lock, changes).environment(os.environ)
    confinement = _confinement(account, needed, roots, environment=environment)
    preparation = Preparation(confinement, folder, lock, changes)
    for root in roots:
        if confinement.first_unreadable([root], environment=environment) is not None:
            structlog.get_logger().warning("worker.dataset_root_unreadable", root=str(root), account=account.name)
    return preparation


@dataclass(frozen=True, slots=True)
class _Needs:
    """What every worker needs: the trees that have it, and what in them is checked before the start."""

    mounted: list[Path]
    checked: list[Path]


def _confinement(account: Account, needs: _Needs, roots: list[Path], *, environment: Mapping[str, str]) -> Confinement:
    """The confinement in which the account can read what it needs: if possible, by the modes that files have."""
    plain = confine(account, [*needs.mounted, *roots])
    problem = _problem(plain, needs, environment=environment)
    if problem is None:
        return plain
    # An installation made with umask 077: its files are shown as the account's own, if the kernel can do that.
    owned = [path for path in needs.mounted if path.resolve() not in _SYSTEMS_OWN]
    mapped = confine(account, [*needs.mounted, *roots], owned=owned)
    if _problem(mapped, needs, environment=environment) is None:
        return mapped
    raise problem


def _problem(confinement: Confinement, needs: _Needs, *, environment: Mapping[str, str]) -> WorkerNotConfinable | None:
    account = confinement.account
    try:
        unreadable = confinement.first_unreadable(needs.checked, environment=environment)
    except WorkerNotConfinable as failure:
        detail, closed = f"{failure.detail}; {_WAYS_OUT}", failure.context["closed"]
        return WorkerNotConfinable(detail, closed=closed, account=account.name)
    if unreadable is None:
        return None
    detail = f"root's worker runs as {account.name} (uid {account.uid}) and cannot read {unreadable}; {_WAYS_OUT}"
    return WorkerNotConfinable(detail, closed=str(unreadable), account=account.name)


def _interpreter() -> list[Path]:
    executable = Path(sys.executable).absolute()
    return [executable, Path(sys.prefix).absolute(), Path(sys.base_prefix).absolute(), *_user_site()]


def _libraries() -> list[Path]:
    paths = (sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    return [*(path for path in map(Path, paths) if path.exists()), *_user_site()]


def _user_site() -> list[Path]:
    """Where root's `pip install --user` has put libraries; the account, with another HOME, would not look there."""
    folder = site.getusersitepackages()
    return [Path(folder)] if folder in sys.path else []


def _packages(code: Path) -> list[Path]:
    return [code, *(folder for folder in code.rglob("*") if folder.is_dir() and folder.name != "__pycache__")]


def _configured(settings: Settings, changes: Mapping[str, str]) -> Iterator[Path]:
    """What the operator's settings and variables name beside datasets, where it is there."""
    if settings.spark_properties is not None:
        yield settings.spark_properties.absolute()
    for name in ("JAVA_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        value = changes.get(name) or os.environ.get(name)
        if value and Path(value).exists():
            yield Path(value).absolute()


def _changes(settings: Settings, *, folder: Path, account: Account) -> dict[str, str]:
    changes = {
        "HOME": str(folder),
        "USER": account.name,
        "LOGNAME": account.name,
        "TMPDIR": str(folder / "tmp"),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
    }
    # The worker has another working directory, so what is relative to this one is made absolute.
    if settings.spark_properties is not None:
        changes["RACKPLAN_SPARK_PROPERTIES"] = str(settings.spark_properties.absolute())
    if settings.dataset_roots:
        roots = [root if is_uri(root) else os.path.realpath(_local(root)) for root in settings.dataset_roots]
        changes["RACKPLAN_DATASET_ROOTS"] = ",".join(roots)
    code = Path(app.__file__).resolve().parent.parent
    is_clone = code not in {path.resolve() for path in _libraries()}  # the code is beside the environment, not in it
    if beside := [*([code] if is_clone else []), *_user_site()]:
        changes["PYTHONPATH"] = os.pathsep.join(map(str, beside))
    java = _closed_java(account)
    if java is not None:
        changes["JAVA_HOME"] = str(java)
    return changes


def _closed_java(account: Account) -> Path | None:
    """The home of the Java on root's PATH, if the account cannot pass there without help."""
    command = shutil.which("java")
    if "JAVA_HOME" in os.environ or command is None:
        return None
    executable = Path(command).resolve()
    if account.first_closed(executable) is None or executable.parent.name != "bin":
        return None
    return executable.parent.parent


def _own_folder(shelter: Path, *, account: Account) -> tuple[Path, int]:
    """Make or reuse the account's folder; remove what killed workers left there, unless another one runs."""
    folder = shelter / "worker"
    try:
        make_open_folder(shelter)
        if not folder.exists():
            folder.mkdir(mode=0o700)
            os.chown(folder, account.uid, account.gid)
        lock = os.open(shelter / "worker.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        detail = f"{folder} cannot be made for root's worker: {error.strerror}; {_WAYS_OUT}"
        raise WorkerNotConfinable(detail, folder=str(folder)) from error
    is_alone = _lock(lock, fcntl.LOCK_EX, within_s=0)
    # As the account, so that links which it may have made there lead to nothing that it cannot change anyway.
    made = account.run(["/bin/sh", "-c", _MAKE_AND_CLEAN, "sh", folder, "clean" if is_alone else ""])
    _lock(lock, fcntl.LOCK_SH, within_s=_LOCKED_WITHIN_S)
    if made.returncode != 0 or folder.is_symlink() or folder.stat().st_uid != account.uid:
        reason = made.stdout.decode(errors="replace").strip() or f"it belongs to uid {folder.stat().st_uid}"
        detail = f"{folder} cannot be used by root's worker as {account.name}: {reason}; {_WAYS_OUT}"
        raise WorkerNotConfinable(detail, folder=str(folder))
    return folder, lock


def _lock(descriptor: int, kind: int, *, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def _local(root: str) -> str:
    return root[len(LOCAL) :] if root.lower().startswith(LOCAL) else root
