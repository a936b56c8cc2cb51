"""`rackplan plan keys`: the partitions of the keys of a file."""

from collections.abc import Mapping
from pathlib import Path

from app.cli.output import read_input
from app.cli.planning import printed, validated
from app.errors import Json
from app.errors.requests import MalformedKey
from app.formats.syntax.lines import decode


def body_of(file: Path, fields: Mapping[str, Json], *, null_marker: str | None, null_keys: bool) -> dict[str, Json]:
    """The body of `POST /v1/keys/partitions` for the keys of a file.

    A line is a key, an empty line an empty key, and a line equal to `null_marker` a record without key; these are
    placed if `null_keys` is true or the fields say how.

    Raises
    ------
    MalformedText : the file is no text.
    """
    lines = [line.removesuffix("\r") for line in decode(read_input(file), "keys").split("\n")]
    if lines[-1] == "":  # the end of the last line does not begin another one
        del lines[-1]
    keys: list[Json] = [None if line == null_marker else line for line in lines]
    return {"keys": keys, **({"null_keys": {}} if null_keys else {}), **fields}


def place_keys(body: Mapping[str, Json]) -> bytes:
    """Find the partitions of the keys, as the API writes them.

    Raises what the service does, `InvalidField`, and `MalformedKey` with the number of the line.
    """
    from app.services import keys  # noqa: PLC0415 — the core comes with it
    from app.settings import Settings  # noqa: PLC0415 — as above

    try:
        answer = keys.place_keys(validated(keys.KeysRequest, body), Settings().limits)
    except MalformedKey as malformed:
        line = int(malformed.path[-1]) + 1
        raise MalformedKey(f"line {line}: {malformed.detail}", path=malformed.path, line=line) from None
    return printed(keys.to_json(answer))
