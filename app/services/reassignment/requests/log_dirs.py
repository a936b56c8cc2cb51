"""What a request says about log directories."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from app.core.reassignment import KEEP, TIGHT, Balance
from app.errors.requests import DuplicateLogDir
from app.services.bodies import ListOf, RequestRecord, word_or_object
from app.services.fields import BrokerKey, LogDirPath
from app.services.reassignment.requests.resources import BrokerOrAll, CapacityBytes, ShareOrZero
from app.services.snapshots import first_repeated

EVERY_BROKER = "*"


@dataclass(frozen=True)
class LogDirTolerance(RequestRecord, schema="LogDirToleranceFields"):
    """A ceiling above the mean of a broker's log directories: mean × (1 + tolerance), or the lowest reachable one."""

    tolerance: ShareOrZero
    """Share of the mean by which a directory may be above it, from 0 to 1."""


@dataclass(frozen=True)
class LogDirsRequest(RequestRecord, schema="LogDirsFields"):
    """Log directories (JBOD) that replicas are placed in and moved between. No directory is above its size, or above
    `batches.max_disk_share` of it, at any step.
    """

    balance: Annotated[
        Annotated[Literal["tight", "keep"], Tag("word")] | Annotated[LogDirTolerance, Tag("share")],
        Discriminator(word_or_object),
    ] = "keep"
    """Balance of the directories of each broker, by their share in use, or by bytes if a size is unknown. `tight`: the
    smallest largest share; `keep`: only necessary moves; a tolerance: the fewest bytes moved within it."""
    drain: Mapping[BrokerKey, Annotated[ListOf[LogDirPath], Field(min_length=1, max_length=1000)]] = field(
        default_factory=dict
    )
    """By broker, directories that have no replica after the plan."""
    total_bytes: Mapping[BrokerOrAll, Mapping[LogDirPath, CapacityBytes]] = field(default_factory=dict)
    """By broker, `*` for all others, and path: bytes of the file system; they override those of the snapshot."""

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
