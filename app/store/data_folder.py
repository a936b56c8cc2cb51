"""Choose the data folder of the embedded Postgres, and lock it for one process."""

import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.errors.machine import DataFolderInUse, DataFolderOwnedByAnother, DataFolderUnreachable
from app.store.accounts import SHELTER, Account, make_open_folder, name_of

_FILES = ("lock", "postgres.log")
_CONTENTS = {*_FILES, "postgres", "postgres.new"}


def candidates(wanted: Path, *, shelter: Path) -> tuple[Path, Path]:
    """Say where the data of a wanted folder can be: there, or in a folder of the shelter that is its alone."""
    wanted = wanted.resolve()
    return wanted, shelter / "data" / hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12]


def settled(wanted: Path, *, account: Account, may_relocate: bool, shelter: Path) -> Path:
    """Decide where the data lives, and make the folder.

    The wanted folder, if the account can reach it. Otherwise, if `may_relocate`, a folder of the shelter that is
    always the same for the same wanted folder; a shelter once used stays in use, so that opening a parent later does
    not hide the data. Data that is already in the wanted folder is never left behind for an empty shelter.

    Raises
    ------
    DataFolderUnreachable : the account cannot reach the folder, or the caller cannot make it.
    DataFolderOwnedByAnother : the folder was first used by another account.
    """
    wanted, sheltered = candidates(wanted, shelter=shelter)
    try:
        closed = account.first_closed(wanted)
        settled_before = account.borrowed and sheltered.exists()
        if may_relocate and (closed or settled_before) and not (wanted / "postgres").exists():
            folder, closed = sheltered, account.first_closed(sheltered)
        else:
            folder = wanted
        _check_owner(folder, account=account)
        if closed is None:
            _make_folder(folder, account=account)
            return folder
    except OSError as error:
        detail = f"the data folder {wanted} cannot be made: {error.strerror} ({error.filename}); name another one"
        raise DataFolderUnreachable(detail, folder=str(wanted)) from error
    detail = (
        f"Postgres cannot run as root and runs as {account.name} (uid {account.uid}), which may not pass {closed} "
        f"on the way to {folder}; name a data folder outside of it (such as {SHELTER}), start as an ordinary "
        f"user, or let others pass it (chmod o+x {closed})"
    )
    raise DataFolderUnreachable(detail, folder=str(folder), closed=str(closed), account=account.name)


def give(folder: Path, uid: int, gid: int) -> str | None:
    """Give a data folder, its lock and its log to an account; the caller is root and holds the lock.

    Returns None, or the name of a file of another program in the folder, which then keeps its owner.
    """
    others = {path.name for path in folder.iterdir()} - _CONTENTS
    if others and folder.stat().st_uid != uid:
        return min(others)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(opened, 0, 0)  # until the end no other account can replace a file by a link
        shutil.rmtree("postgres.new", ignore_errors=True, dir_fd=opened)  # which a killed process has left
        for name in _FILES:
            with suppress(FileNotFoundError):
                if _is_link(os.stat(name, dir_fd=opened, follow_symlinks=False)):
                    raise _link_found(folder / name)
                os.chown(name, uid, gid, dir_fd=opened, follow_symlinks=False)
        os.fchown(opened, uid, gid)
    finally:
        os.close(opened)
    return None


@contextmanager
def sole_use(folder: Path, *, account: Account) -> Iterator[None]:
    """Lock the folder for the duration of the context. Root takes it back from the account of its Postgres.

    The lock is the kernel's: it is released when the process ends, however it ends, and child processes do not inherit
    it.

    Raises
    ------
    DataFolderInUse : another live process holds it.
    DataFolderUnreachable : its file system is read-only, or full.
    DataFolderOwnedByAnother : the caller may not write to the folder.
    """
    path = folder / "lock"
    try:
        opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except PermissionError as error:
        raise _owned_by_another(folder, owner=folder.stat().st_uid, user=os.geteuid()) from error
    except OSError as error:
        detail = f"the data folder {folder} cannot be written: {error.strerror}; make it writable or name another one"
        raise DataFolderUnreachable(detail, folder=str(folder)) from error
    with os.fdopen(opened, "a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip()
            detail = f"{folder} is used by process {holder or '?'}; stop that one or name another data folder"
            raise DataFolderInUse(detail, folder=str(folder), pid=holder) from error
        if account.borrowed:
            if _is_link(os.fstat(lock.fileno())):
                raise _link_found(path)
            give(folder, 0, 0)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _check_owner(folder: Path, *, account: Account) -> None:
    user = os.geteuid()
    for name in ("postgres", *_FILES):
        path = folder / name
        try:
            status = path.lstat() if account.borrowed else path.stat()
        except FileNotFoundError:
            continue
        except PermissionError as error:
            raise _owned_by_another(folder, owner=folder.stat().st_uid, user=user) from error
        # Root may use the files of a service that dropped its rights.
        if status.st_uid not in ({account.uid} if name == "postgres" else {account.uid, user}):
            raise _owned_by_another(folder, owner=status.st_uid, user=user)
        if account.borrowed and _is_link(status):
            raise _link_found(path)


def _is_link(status: os.stat_result) -> bool:
    """Whether it is a symbolic link, or a file with another name: the account may have linked a file of root."""
    return stat.S_ISLNK(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink > 1)


def _link_found(path: Path) -> DataFolderOwnedByAnother:
    detail = f"{path} is a link, which root neither reads nor changes; remove it"
    return DataFolderOwnedByAnother(detail, file=str(path))


def _owned_by_another(folder: Path, *, owner: int, user: int) -> DataFolderOwnedByAnother:
    detail = (
        f"the data in {folder} belongs to {name_of(owner)} (uid {owner}), and {name_of(user)} (uid {user}) may not use "
        f"it (root's Postgres runs as `nobody`); start as whoever used it first, or name another data folder"
    )
    return DataFolderOwnedByAnother(detail, folder=str(folder), owner=owner, user=user)


def _make_folder(folder: Path, *, account: Account) -> None:
    if account.borrowed:
        make_open_folder(folder)
    else:
        folder.mkdir(parents=True, exist_ok=True)
