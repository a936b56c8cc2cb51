"""The log directories of brokers, by their paths."""

from collections.abc import Mapping, Sequence

from app.core.model import LogDirectory
from app.errors import FieldPath
from app.errors.quotation import quoted
from app.errors.reassignments import UnknownLogDir

NAMED_LOG_DIRS = 20
"""How many directories a problem names."""


def log_dir_index(
    broker: int, log_dir: str, directories: Mapping[int, Sequence[LogDirectory]], at: FieldPath = ()
) -> int:
    """The index of a directory among those of its broker. Raises `UnknownLogDir`."""
    paths = [directory.path for directory in directories.get(broker, ())]
    if log_dir in paths:
        return paths.index(log_dir)
    has = f"it has {', '.join(map(quoted, paths[:NAMED_LOG_DIRS]))}" if paths else "its directories are unknown"
    others = sorted(
        other for other, listed in directories.items() if any(log_dir == directory.path for directory in listed)
    )
    of_other = f"; broker {others[0]} has a directory of this path" if others else ""
    detail = f"broker {broker} has no log directory {quoted(log_dir)}: {has}{of_other}"
    raise UnknownLogDir(detail, path=at, value=log_dir, broker=broker, limit=paths[:NAMED_LOG_DIRS])
