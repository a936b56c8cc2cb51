"""Drop root's rights: a service that root starts continues as the account of its Postgres.

Requests and datasets are not trusted, and a defect in the code that reads them must not give root's rights away. The
account has to read the installation. If it cannot, the service runs as root, and one line of the log has the reason.
"""

import ctypes
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import structlog

import app
from app.errors.machine import AccountUnusable
from app.services.dataset_roots import LOCAL, is_uri
from app.settings import Settings
from app.store import accounts, data_folder, migrations
from app.store.accounts import SHELTER, Account

_PR_SET_NO_NEW_PRIVS = 38


def drop(settings: Settings, *, allow_root: bool, with_data: bool) -> Settings:
    """Become the account of root's Postgres, for good, and return the settings that hold from then on.

    Does nothing if the caller is not root. Must be called before a process, a thread or a file is made that the
    account has to use.

    Parameters
    ----------
    allow_root : whether to remain root, which is logged as a warning.
    with_data : whether the process runs Postgres over the data folder, which the account then gets.

    Raises
    ------
    DataFolderUnreachable, DataFolderOwnedByAnother, DataFolderInUse : see `data_folder`.
    """
    if os.geteuid() != 0:
        return settings
    try:
        account = accounts.current()
        reason = "--allow-root" if allow_root else _obstacle(account, settings)
    except AccountUnusable as failure:
        reason = failure.detail
    if reason is None and with_data:
        settings, reason = _with_given_data(settings, account)
    if reason is not None:
        structlog.get_logger().warning("service.runs_as_root", reason=reason)
        return settings
    _become(account)
    structlog.get_logger().info("service.runs_as", account=account.name)
    for root in settings.dataset_roots:
        path = Path(root[len(LOCAL) :] if root.lower().startswith(LOCAL) else root)
        if not is_uri(root) and not os.access(path, os.R_OK | os.X_OK):
            structlog.get_logger().warning("service.dataset_root_unreadable", root=str(path), account=account.name)
    return settings


def _with_given_data(settings: Settings, account: Account) -> tuple[Settings, str | None]:
    """Give the data folder to the account: the settings that name it, or the reason why that is not possible."""
    is_default = "data_dir" not in settings.model_fields_set
    folder = data_folder.settled(settings.data_dir, account=account, may_relocate=is_default, shelter=SHELTER)
    with data_folder.sole_use(folder, account=account):
        other = data_folder.give(folder, account.uid, account.gid)
    if other is not None:
        return settings, f"the data folder {folder} has other files, such as {other}"
    os.environ["RACKPLAN_DATA_DIR"] = str(folder)
    return settings.model_copy(update={"data_dir": folder}), None


def _become(account: Account) -> None:
    os.setgroups([])
    os.setgid(account.gid)
    os.setuid(account.uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.environ.update(HOME="/", USER=account.name, LOGNAME=account.name)
    if not os.access(os.environ.get("TMPDIR", "/"), os.W_OK):
        os.environ.pop("TMPDIR", None)


def _obstacle(account: Account, settings: Settings) -> str | None:
    """The reason for which the account cannot run the installation; None if it can."""
    unreadable = account.first_unreadable(_needed(settings))
    return None if unreadable is None else f"{account.name} cannot read {unreadable}"


def _needed(settings: Settings) -> Iterator[Path]:
    """The files and folders that a service reads, each of which stands for its neighbours."""
    code = Path(app.__file__).resolve().parent
    yield from (migrations.FOLDER, code)
    yield from (folder for folder in code.rglob("*") if folder.is_dir() and folder.name != "__pycache__")
    yield from (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))
    yield from (Path(entry).absolute() for entry in sys.path if entry)
    yield from (file.absolute() for file in (settings.spark_properties, settings.oidc_client_secret_file) if file)
    for name in ("JAVA_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        if name in os.environ:
            yield Path(os.environ[name])
    if (java := shutil.which("java")) is not None:
        yield Path(java).resolve()
