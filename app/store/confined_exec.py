"""Give up root's privileges for good, in a mount namespace if one is needed, and execute a command.

`confinement.py` runs this file as root by its path, in a process of its own: `python -I -S confined_exec.py STEPS
COMMAND…`. It imports the standard library alone, since nothing else can be found at that point. A process that has
threads could not do the same between fork and exec.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

FAILED = 125
"""The exit status if the command could not be executed; standard error has the reason, in one line."""

# Source: linux/sched.h, linux/mount.h, linux/fcntl.h, linux/prctl.h; the numbers of the calls are every machine's.
_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_SLAVE = 32, 4096, 16384, 1 << 19
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH, _AT_EMPTY_PATH, _AT_FDCWD = 1, 4, 0x1000, -100
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV, _MOUNT_ATTR_IDMAP = 1, 2, 4, 0x100000
_PR_SET_NO_NEW_PRIVS = 38
_FOLDER_OPTIONS = b"mode=0755,size=1m"


def main(arguments: Sequence[str]) -> NoReturn:
    """Follow the steps and become the command.

    Parameters
    ----------
    arguments : the steps as JSON (`uid`, `gid`; `covered`, `mounted`, `owned` and `links`, as `confinement.Mounts`
        has them), then the command.
    """
    steps, command = json.loads(arguments[0]), list(arguments[1:])
    try:
        if steps["covered"] or steps["owned"]:
            _mount(steps)
        os.umask(0o077)
        os.chdir("/")  # the caller's working directory may be closed to the account
        _become(steps["uid"], steps["gid"])
        os.execve(command[0], command, os.environ)  # noqa: S606 — what this file is for, and no shell
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        sys.stderr.write(f"{error.strerror or error}{place}\n")
        raise SystemExit(FAILED) from None


def _mount(steps: dict[str, Any]) -> None:
    """Cover closed folders with empty ones that every account can pass, and mount the needed trees in them."""
    # Changes of the system's mounts still arrive here; those that are made here stay here.
    _check(_libc().unshare(_CLONE_NEWNS), "a mount namespace")
    _mount_one(None, "/", None, _MS_REC | _MS_SLAVE)
    # Opened before they are covered; a bind mount takes its source by the open file.
    sources = {path: os.open(path, os.O_PATH) for path in steps["mounted"]}
    for folder in steps["covered"]:
        _mount_one("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, _FOLDER_OPTIONS)
    for path, descriptor in sources.items():
        _make_target(descriptor, Path(path))
        if path in steps["owned"]:
            _bind_owned(descriptor, path, steps["uid"], steps["gid"])
        else:
            _bind_read_only(descriptor, path)
    for path, target in steps["links"]:
        _make_folders(Path(path).parent)
        if not os.path.lexists(path):  # else it is in a tree that is mounted
            os.symlink(target, path)  # noqa: PTH211 — a PosixPath would normalise nothing, and this is plainer
    for folder in steps["covered"]:
        _mount_one(None, folder, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def _make_target(source: int, target: Path) -> None:
    """Make the folder or file that is mounted upon; below a covered folder it is not there yet."""
    if Path(f"/proc/self/fd/{source}").is_dir():
        _make_folders(target)
    elif not target.exists():
        _make_folders(target.parent)
        target.touch()


def _bind_read_only(source: int, target: str) -> None:
    _mount_one(f"/proc/self/fd/{source}", target, None, _MS_BIND | _MS_REC)
    without_execution = _MS_NOEXEC if os.statvfs(target).f_flag & os.ST_NOEXEC else 0
    flags = _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | without_execution
    _mount_one(None, target, None, flags)


def _bind_owned(source: int, target: str, uid: int, gid: int) -> None:
    """Mount a tree read-only in which root's files are the account's: an id-mapped mount, of Linux 5.12 on."""
    tree = _call(_OPEN_TREE, target, source, b"", _OPEN_TREE_CLONE | _AT_EMPTY_PATH | os.O_CLOEXEC)
    attributes = _MOUNT_ATTR_IDMAP | _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV
    # struct mount_attr: what is set, what is cleared, the propagation, the user namespace.
    attr = (ctypes.c_uint64 * 4)(attributes, 0, 0, _namespace_of_owner(uid, gid))
    _call(_MOUNT_SETATTR, target, tree, b"", _AT_EMPTY_PATH, attr, ctypes.sizeof(attr))
    _call(_MOVE_MOUNT, target, tree, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)


def _namespace_of_owner(uid: int, gid: int) -> int:
    """Open a user namespace whose root is the account; a process is needed to make one, and ends at once."""
    readable, writable = os.pipe()
    process = os.fork()
    if process == 0:
        os.write(writable, b"." if _libc().unshare(_CLONE_NEWUSER) == 0 else b"!")
        signal.alarm(60)  # should the other process be killed before it ends this one
        signal.pause()
    try:
        if os.read(readable, 1) != b".":
            raise PermissionError(1, "no user namespace can be made")
        Path(f"/proc/{process}/uid_map").write_bytes(b"0 %d 1" % uid)
        Path(f"/proc/{process}/gid_map").write_bytes(b"0 %d 1" % gid)
        return os.open(f"/proc/{process}/ns/user", os.O_RDONLY)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(readable)
        os.close(writable)


def _make_folders(folder: Path) -> None:
    for missing in _missing(folder):
        missing.mkdir()
        missing.chmod(0o755)  # whatever root's umask is


def _missing(folder: Path) -> Iterable[Path]:
    return [part for part in (*reversed(folder.parents), folder) if not part.exists()]


def _become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if sys.platform != "linux":
        return
    # No program that it starts gains anything, a set-uid one such as sudo included.
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))), "no_new_privs")
    # As bytes: a codec would be imported now, from a library that may be closed to the account.
    status = Path("/proc/self/status").read_bytes().splitlines()
    capabilities = {line.split()[0]: int(line.split()[1], 16) for line in status if line.startswith(b"Cap")}
    if any(capabilities[name] for name in (b"CapPrm:", b"CapEff:", b"CapAmb:")):
        raise PermissionError(1, "the system lets capabilities outlive the change of the account")


def _mount_one(source: str | None, target: str, kind: str | None, flags: int, options: bytes | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _check(_libc().mount(*texts, ctypes.c_ulong(flags), options), target)


def _call(number: int, subject: str, *arguments: Any) -> int:
    """Make a system call that the C library may have no function for."""
    numbers = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer: int = _libc().syscall(ctypes.c_long(number), *numbers)
    _check(min(answer, 0), subject)
    return answer


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(status: int, subject: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), subject)


if __name__ == "__main__":
    main(sys.argv[1:])
