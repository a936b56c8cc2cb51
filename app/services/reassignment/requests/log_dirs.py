"""What a request says about log directories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from app.core.reassignment import KEEP, TIGHT, Balance
from app.errors.requests import DuplicateLogDir
from app.services.snapshots import first_repeated

EVERY_BROKER = "*"


@dataclass(frozen=True, slots=True)
class LogDirTolerance:
    """How far the share of a directory may be above the mean of its broker, as a share of the mean."""

    tolerance: float


@dataclass(frozen=True, slots=True)
class LogDirsRequest:
    """Directories that replicas are moved between, and out of.

    Parameters
    ----------
    drain : by broker, the paths of directories that no replica is in afterwards.
    total_bytes : by broker id or `*`, and by path, bytes of the file system; over those of the snapshot.
    """

    balance: Literal["tight", "keep"] | LogDirTolerance = "keep"
    drain: Mapping[int, Sequence[str]] = field(default_factory=dict)
    total_bytes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def core_balance(self) -> Balance:
        """As the core knows it."""
        if isinstance(self.balance, LogDirTolerance):
            # The fraction that was written, and not the float next to it.
            return Balance(Fraction(repr(self.balance.tolerance)))
        return TIGHT if self.balance == "tight" else KEEP

    def stated_bytes(self, broker: int, path: str) -> int | None:
        """The stated size of a directory of a broker: that of its id, else of `*`, else None."""
        listed = (self.total_bytes.get(name, {}).get(path) for name in (str(broker), EVERY_BROKER))
        return next((size for size in listed if size is not None), None)


def check_log_dirs(request: LogDirsRequest | None) -> None:
    """Raise `DuplicateLogDir` if a directory is listed twice."""
    for broker, paths in ({} if request is None else request.drain).items():
        if (twice := first_repeated(paths)) is not None:
            detail = f"log directory {paths[twice]} of broker {broker} is listed twice"
            raise DuplicateLogDir(detail, path=("log_dirs", "drain", str(broker), twice), value=paths[twice])
