"""`rackplan plan …`: the service's own answers, from files and without a service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from app.core.keys.partitioners import PARTITIONERS
from app.core.model import NewTopic
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.errors import ConflictingFields, MalformedKey
from app.formats.assembly import assemble
from app.formats.lines import decode
from app.services import keys, replicas
from app.services.exports import EXPORTS
from app.services.key_encodings import Encoding
from app.services.keys import KeysRequest
from app.services.kinds import to_json
from app.services.null_keys import NullKeys
from app.services.replicas import ReplicasRequest
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Texts:
    """The files that hold what the Kafka tools printed."""

    brokers: Path | None
    topics: Path | None
    log_dirs: Path | None

    def read(self, part: str) -> str | None:
        """The text of one file, or None where there is no such file."""
        path: Path | None = getattr(self, part)
        return None if path is None else decode(path.read_bytes(), part)


def place(
    topics: list[str],
    *,
    texts: Texts,
    cluster: str,
    algorithm: str,
    rack_mode: str | None,
    fixed_start_index: int | None,
    seed: int | None,
    export: str | None,
) -> bytes:
    """Place topics on the cluster that the files describe; the plan as the API writes it, or one of the exports.

    Raises what the service does, and `ConflictingFields` where an option is none of those there are.
    """
    _require("algorithm", algorithm, tuple(PLACEMENTS))
    _require("rack-mode", rack_mode, tuple(RackMode))
    _require("export", export, tuple(EXPORTS))
    found = assemble(cluster, **{f"{part}_text": texts.read(part) for part in ("brokers", "topics", "log_dirs")})
    request = ReplicasRequest(
        topics=[_topic(text) for text in topics],
        algorithm=algorithm,
        rack_mode=None if rack_mode is None else RackMode(rack_mode),
        fixed_start_index=fixed_start_index,
        seed=seed,
    )
    plan = replicas.plan(request, found.cluster, Settings().limits)
    if export is not None:
        return EXPORTS[export].write(plan.placements, found.cluster)
    return orjson.dumps(orjson.loads(to_json(plan)), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def place_keys(
    file: Path,
    *,
    partitions: int,
    partitioners: Sequence[str],
    encoding: str,
    null_marker: str | None,
    compare_partitions: Sequence[int],
    null_keys: Mapping[str, Any] | None,
) -> bytes:
    """Say where the keys of a file go, as the API writes it.

    A line, however it ends, is a key, an empty one an empty key, and one that says `null_marker` a record without key.
    `null_keys` are fields of `NullKeys`; None leaves such records unplaced.

    Raises what the service does, `MalformedKey` with the line's number, and `ConflictingFields` where an option is none
    of those there are.
    """
    _require("encoding", encoding, tuple(Encoding))
    for name in partitioners:
        _require("partitioner", name, tuple(PARTITIONERS))
    lines = [line.removesuffix("\r") for line in decode(file.read_bytes(), "keys").split("\n")]
    if lines[-1] == "":  # what follows the last line's end is no line
        del lines[-1]
    asked = KeysRequest(
        keys=[None if line == null_marker else line for line in lines],
        encoding=Encoding(encoding),
        partitioners=list(dict.fromkeys(partitioners)),
        partitions=partitions,
        compare_partitions=compare_partitions,
        null_keys=None if null_keys is None else NullKeys(**null_keys),
    )
    try:
        answer = keys.place_keys(asked, Settings().limits)
    except MalformedKey as malformed:
        line = int(malformed.path[-1]) + 1
        raise MalformedKey(f"line {line}: {malformed.detail}", path=malformed.path, line=line) from None
    return orjson.dumps(orjson.loads(keys.to_json(answer)), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _require(option: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise ConflictingFields(f"--{option} is {value}; it has to be one of {', '.join(known)}", path=(option,))


def _topic(text: str) -> NewTopic:
    name, *numbers = text.split(":")
    if not name or len(numbers) not in (2, 3) or not all(part.lstrip("-").isdigit() for part in numbers):
        raise ConflictingFields(f"--topic is {text}; it has to be name:partitions:replication_factor", path=("topic",))
    return NewTopic(name, *map(int, numbers))
