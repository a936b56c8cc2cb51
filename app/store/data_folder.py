"""Choose the data folder of the embedded Postgres, and lock it for one process."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors.machine import DataFolderInUse, DataFolderOwnedByAnother, DataFolderUnreachable
from app.store.accounts import SHELTER, Account, make_open_folder, name_of

_CONTENTS = frozenset({"lock", "postgres", "postgres.log", "postgres.new"})


def candidates(wanted: Path, *, shelter: Path) -> tuple[Path, Path]:
    """Say where the data of a wanted folder can be: there, or in a folder of the shelter that is its alone."""
    wanted = wanted.resolve()
    return wanted, shelter / "data" / hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12]


def settled(wanted: Path, *, account: Account, may_relocate: bool, shelter: Path) -> Path:
    """Decide where the data lives, and make the folder.

    The wanted folder, where the account can reach it. Otherwise, if `may_relocate`, a folder of the shelter that is
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


def hand_over(folder: Path, *, account: Account) -> str | None:
    """Give a data folder to the account, as root; return the reason if that is not possible.

    A folder that has files of other programs keeps its owner.
    """
    if foreign := sorted({path.name for path in folder.iterdir()} - _CONTENTS):
        owner = folder.stat().st_uid
        return None if owner == account.uid else f"the data folder {folder} has other files, such as {foreign[0]}"
    os.chown(folder, 0, 0)  # until the end the account cannot replace a file by a link
    for path in (folder / "lock", folder / "postgres.log", folder):
        if path.exists():
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
    return None


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Lock the folder for the duration of the context.

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
        path.touch(mode=0o600)
        lock = path.open("a+", encoding="ascii")
    except PermissionError as error:
        raise _owned_by_another(folder, owner=folder.stat().st_uid, user=os.geteuid()) from error
    except OSError as error:
        detail = f"the data folder {folder} cannot be written: {error.strerror}; make it writable or name another one"
        raise DataFolderUnreachable(detail, folder=str(folder)) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip()
            detail = f"{folder} is used by process {holder or '?'}; stop that one or name another data folder"
            raise DataFolderInUse(detail, folder=str(folder), pid=holder) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _check_owner(folder: Path, *, account: Account) -> None:
    try:
        user = os.geteuid()
        # Root may use the files of a service that dropped its rights, but no link that its account has put there.
        files = [(folder / name, {user, account.uid}) for name in ("lock", "postgres.log")]
        for path, users in ((folder / "postgres", {account.uid}), *files):
            owner = path.lstat().st_uid if os.path.lexists(path) else user
            if path.is_symlink() or (os.path.lexists(path) and owner not in users):
                raise _owned_by_another(folder, owner=owner, user=user)
    except PermissionError as error:
        raise _owned_by_another(folder, owner=folder.stat().st_uid, user=os.geteuid()) from error


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
