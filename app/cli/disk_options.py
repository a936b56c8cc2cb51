"""The options of `rackplan plan reassignment` about log directories and capacities, as fields of a request's body."""

import re
from collections.abc import Sequence

from app.cli.output import listed
from app.errors import Json
from app.errors.requests import ConflictingFields
from app.services.amounts import number_of

_BROKER = re.compile(r"\*|[0-9]{1,10}")
_CAPACITIES = {
    "disk": "disk_bytes",
    "nic_in": "nic_in_bytes_per_s",
    "nic_out": "nic_out_bytes_per_s",
    "cpu": "vcpu",
}


def drained(texts: Sequence[str]) -> dict[str, list[str]]:
    """By broker the directories of `101:/data/d1`. Raises `ConflictingFields`."""
    drains: dict[str, list[str]] = {}
    for text in listed(texts):
        broker, _, path = text.partition(":")
        if not _BROKER.fullmatch(broker) or broker == "*" or not path:
            raise _malformed("drain-log-dir", text, "broker:path, such as 101:/data/d1")
        drains.setdefault(broker, []).append(path)
    return drains


def directory_bytes(texts: Sequence[str]) -> dict[str, dict[str, int]]:
    """By broker, or `*`, and path the bytes of `101:/data/d1=4000000000000`. Raises `ConflictingFields`."""
    stated: dict[str, dict[str, int]] = {}
    for text in listed(texts):
        place, _, number = text.rpartition("=")
        broker, _, path = place.partition(":")
        size = _amount(number)
        if not _BROKER.fullmatch(broker) or not path or not isinstance(size, int) or size < 0:
            raise _malformed("log-dir-bytes", text, "broker:path=bytes, such as *:/data/d1=4000000000000")
        if path in stated.setdefault(broker, {}):
            raise _twice("log-dir-bytes", f"{broker}:{path}")
        stated[broker][path] = size
    return stated


def capacities(texts: Sequence[str]) -> dict[str, dict[str, Json]]:
    """By broker, or `*`, the capacities of `disk=25000000` or `101:cpu=8`. Raises `ConflictingFields`."""
    stated: dict[str, dict[str, Json]] = {}
    for text in listed(texts):
        place, _, number = text.partition("=")
        broker, _, resource = place.rpartition(":")
        field, amount = _CAPACITIES.get(resource), _amount(number)
        if not _BROKER.fullmatch(broker or "*") or field is None or amount is None:
            form = f"resource=amount or broker:resource=amount, of {', '.join(_CAPACITIES)}, such as disk=4000000000000"
            raise _malformed("capacity", text, form)
        if field in stated.setdefault(broker or "*", {}):
            raise _twice("capacity", place)
        stated[broker or "*"][field] = amount
    return stated


def _amount(number: str) -> int | float | None:
    """A number as typed, such as `4TB`; None of what is no number."""
    try:
        return number_of(number)
    except ValueError:
        return None


def _malformed(option: str, text: str, form: str) -> ConflictingFields:
    return ConflictingFields(f"--{option} is {text}; it has to be {form}", path=(option,))


def _twice(option: str, what: str) -> ConflictingFields:
    return ConflictingFields(f"--{option} states {what} twice", path=(option,))
