"""`rackplan plan keys`: the partitions of the keys of a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.cli.offline import printed, require
from app.core.keys.partitioners import PARTITIONERS
from app.errors.requests import MalformedKey
from app.formats.lines import decode
from app.services import keys
from app.services.keys import Encoding, KeysRequest, NullKeys
from app.settings import Settings


def place_keys(
    file: Path,
    *,
    partitions: int,
    partitioners: Sequence[str],
    encoding: str,
    null_marker: str | None,
    compare_partitions: Sequence[int],
    null_keys: Mapping[str, Any] | None,
    kafka_version: str | None = None,
) -> bytes:
    """Find the partitions of the keys of a file, as the API writes them.

    A line is a key, an empty line an empty key, and a line equal to `null_marker` a record without key. `null_keys` are
    fields of `NullKeys`; None leaves such records unplaced.

    Raises what the service does, `MalformedKey` with the number of the line, and `ConflictingFields` if the value of an
    option is unknown.
    """
    require("encoding", encoding, tuple(Encoding))
    for name in partitioners:
        require("partitioner", name, tuple(PARTITIONERS))
    lines = [line.removesuffix("\r") for line in decode(file.read_bytes(), "keys").split("\n")]
    if lines[-1] == "":  # the end of the last line does not begin another one
        del lines[-1]
    request = KeysRequest(
        keys=[None if line == null_marker else line for line in lines],
        encoding=Encoding(encoding),
        partitioners=list(dict.fromkeys(partitioners)),
        partitions=partitions,
        compare_partitions=compare_partitions,
        null_keys=None if null_keys is None else NullKeys(**null_keys),
        kafka_version=kafka_version,
    )
    try:
        answer = keys.place_keys(request, Settings().limits)
    except MalformedKey as malformed:
        line = int(malformed.path[-1]) + 1
        raise MalformedKey(f"line {line}: {malformed.detail}", path=malformed.path, line=line) from None
    return printed(keys.to_json(answer))
