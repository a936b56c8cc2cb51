"""What the commands `rackplan plan …` share: the cluster that files describe, options with known values, documents.

A module a command imports the services of its kind alone: importing is most of the time that a plan of a file takes.
"""

from dataclasses import dataclass, fields
from pathlib import Path

import orjson

from app.core.model import Cluster
from app.errors.requests import ConflictingFields
from app.errors.suggestions import suggestion
from app.formats.assembly import assemble
from app.formats.lines import decode
from app.formats.pasted import Upload


@dataclass(frozen=True, slots=True)
class Texts:
    """The files with the output of the Kafka tools."""

    brokers: Path | None
    topics: Path | None
    log_dirs: Path | None = None
    groups: Path | None = None
    features: Path | None = None

    def cluster(self, name: str) -> Cluster:
        """The cluster that the files describe. Raises `MalformedText`."""
        paths = {field.name: getattr(self, field.name) for field in fields(self)}
        uploads = [Upload(decode(path.read_bytes(), part), part) for part, path in paths.items() if path is not None]
        return assemble(name, uploads).cluster


def printed(document: bytes) -> bytes:
    """A document with indentation."""
    return orjson.dumps(orjson.loads(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def require(option: str, value: str | None, known: tuple[str, ...]) -> None:
    """Raise `ConflictingFields` if the value of an option is unknown."""
    if value is not None and value not in known:
        meant = suggestion(value, known)
        raise ConflictingFields(f"--{option} is {value}; it has to be one of {', '.join(known)}{meant}", path=(option,))
