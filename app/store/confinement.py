"""Run a command of root's as an unprivileged account that reaches what the command needs, and nothing else of root's.

An interpreter, its libraries or a clone below a folder such as `/root` (mode 0700) are closed to the account. Such a
folder is then covered, in a mount namespace that only the command has, by an empty one in which just the needed trees
are mounted, read-only and at the same paths. No permission changes, and no other process sees a difference.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.errors.machine import WorkerNotConfinable
from app.store import confined_exec
from app.store.accounts import Account

_ANSWERS_WITHIN_S = 60.0
_LINKS_AT_MOST = 40
"""As many as Linux follows in one path (path_resolution(7)); more of them are a loop."""

# Run as the account, in the namespace, by the interpreter that the command will have: it proves that this one starts.
_FIRST_UNREADABLE = """
import os, sys
for path in sys.argv[1:]:
    entries = sorted(os.listdir(path)) if os.path.isdir(path) and os.access(path, os.R_OK) else []
    for each in (path, *(os.path.join(path, entry) for entry in entries if entry != "__pycache__")):
        mode = os.R_OK | os.X_OK if os.path.isdir(each) else os.R_OK
        if not os.access(each, mode) and not os.path.islink(each):
            print(each)
            sys.exit()
"""


@dataclass(frozen=True, slots=True)
class Mounts:
    """What a command's mount namespace differs in.

    Parameters
    ----------
    covered : folders that are closed to the account; an empty, passable one covers each.
    mounted : files and folders that are mounted, read-only, at their own paths, none inside another.
    owned : those of `mounted` in which root's files are shown as the account's.
    links : symbolic links below them that lead to what is needed, with their targets.
    """

    covered: tuple[str, ...] = ()
    mounted: tuple[str, ...] = ()
    owned: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a command is executed as an account; `command` is what root has to run for it."""

    account: Account
    mounts: Mounts = field(default_factory=Mounts)

    def command(self, command: Sequence[str]) -> list[str]:
        """The command that root runs instead; it becomes the given one, in the same process."""
        mounts = self.mounts
        steps = {
            "uid": self.account.uid,
            "gid": self.account.gid,
            "covered": mounts.covered,
            "mounted": mounts.mounted,
            "owned": mounts.owned,
            "links": mounts.links,
        }
        return [sys.executable, "-I", "-S", confined_exec.__file__, json.dumps(steps), *command]

    def first_unreadable(self, paths: Iterable[Path], *, environment: Mapping[str, str]) -> Path | None:
        """Execute this interpreter as the account, and let it look for what it cannot read of `paths`.

        Parameters
        ----------
        paths : absolute; of a folder, its direct entries are looked at too, and nothing below them.
        environment : of the interpreter.

        Returns
        -------
        The first path that the account cannot read, or that is not there for it; None if it can read all of them.

        Raises
        ------
        WorkerNotConfinable : the interpreter cannot be executed so.
        """
        command = self.command([sys.executable, "-I", "-S", "-c", _FIRST_UNREADABLE, *map(str, paths)])
        attempt = subprocess.run(  # noqa: S603 — this interpreter, and no shell
            command, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWERS_WITHIN_S,
            check=False,
        )  # fmt: skip
        if attempt.returncode != 0:
            reason = attempt.stderr.decode(errors="replace").strip().splitlines() or ["it ends without a word"]
            closed = self.mounts.covered[0] if self.mounts.covered else None
            raise WorkerNotConfinable(self._detail(reason[-1]), account=self.account.name, closed=closed)
        return Path(os.fsdecode(attempt.stdout).rstrip("\n")) if attempt.stdout else None

    def _detail(self, reason: str) -> str:
        name = f"{self.account.name} (uid {self.account.uid})"
        if not self.mounts.covered:
            return f"root's worker runs as {name}, and {sys.executable} cannot be executed as it: {reason}"
        return (
            f"root's worker runs as {name}, which may not pass {self.mounts.covered[0]} on the way to "
            f"{(*self.mounts.mounted, sys.executable)[0]}, and it cannot be mounted for that account alone: {reason}"
        )


def confine(account: Account, paths: Iterable[Path], *, owned: Iterable[Path] = ()) -> Confinement:
    """Find out which folders on the way to `paths` are closed to the account, and plan the mounts that lead there.

    Parameters
    ----------
    paths : absolute; files and folders that the command needs. Links in them are followed, and made again if needed.
    owned : more of them, in which the account can read what root can, whatever the modes of root's files are.
    """
    roots_own = list(owned)
    needed = [*paths, *roots_own]
    links = {link: target for path in needed for link, target in _links(path)}
    trees = {path.resolve() for path in needed if path.exists()}
    shown = set(_outermost(path.resolve() for path in roots_own if path.exists()))
    closed = {tree: account.first_closed(tree) for tree in trees}
    behind = {tree for tree, folder in closed.items() if folder is not None and folder != tree} | shown
    on_the_way = {link: account.first_closed(link.parent) for link in links}
    obstacles = {folder for folder in (*closed.values(), *on_the_way.values()) if folder is not None}
    # A folder inside a needed tree is not covered: what else the tree has in it is needed as well.
    covered = _outermost(folder for folder in obstacles if not any(map(folder.is_relative_to, trees)))
    mounted = _outermost(behind)
    return Confinement(
        account,
        Mounts(
            covered=tuple(map(str, covered)),
            mounted=tuple(map(str, mounted)),
            owned=tuple(str(tree) for tree in mounted if tree in shown),
            links=tuple(
                (str(link), target) for link, target in links.items() if any(map(link.is_relative_to, covered))
            ),
        ),
    )


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Leave out every path that is below another one."""
    outermost: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(other) for other in outermost):
            outermost.append(path)
    return outermost


def _links(path: Path) -> Iterator[tuple[Path, str]]:
    """Every symbolic link that the kernel follows on the way along an absolute path, with its target."""
    rest = list(reversed(path.parts[1:]))
    resolved = Path(path.anchor)
    followed = 0
    while rest and followed < _LINKS_AT_MOST:
        part = rest.pop()
        step = resolved.parent if part == ".." else resolved / part
        if not step.is_symlink():
            resolved = step
            continue
        followed += 1
        target = os.readlink(step)  # noqa: PTH115 — as it was written: a Path would drop a leading `./`
        yield step, target
        aim = Path(target)
        rest.extend(reversed(aim.parts[1:] if aim.is_absolute() else aim.parts))
        resolved = Path(aim.anchor) if aim.is_absolute() else resolved
