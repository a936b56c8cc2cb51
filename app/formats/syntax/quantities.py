"""Counts, bytes and shares as texts, pictures and pages have them: `2 brokers`, `12.3 MiB`, `0.1 %`."""

from collections.abc import Sequence

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def counted(value: int, noun: str) -> str:
    """`1 broker`, `2 brokers`."""
    return f"{value:,} {noun}" + ("" if value == 1 else "s")


def first_of(names: Sequence[object], most: int) -> str:
    """The first of some names, for a text: `a, b`, and `a, b …` if there are more."""
    return ", ".join(map(str, names[:most])) + (" …" if len(names) > most else "")


def byte_size(size_bytes: float) -> str:
    """A number of bytes >= 0 in its largest unit, with one decimal place from KiB on."""
    if size_bytes < 1024:
        return f"{size_bytes:.0f} B"
    size = size_bytes / 1024
    for unit in _UNITS[:-1]:
        # A value that rounds to 1,024.0 of a unit is 1.0 of the next one.
        if round(size, 1) < 1024:
            return f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"


def known_size(size_bytes: int, *, replicas: int, unknown: int) -> str:
    """The bytes of some replicas, of which some have an unknown size: `≥ 12.3 MiB`, or `size unknown`."""
    if unknown and unknown == replicas:
        return "size unknown"
    return f"≥ {byte_size(size_bytes)}" if unknown else byte_size(size_bytes)


def share(value: float) -> str:
    """A share rounded to tenths: `100 %` only of exactly 1, `0 %` only of exactly 0. A load may be above 1."""
    if value in (0, 1):
        return f"{value * 100:.0f} %"
    percent = min(max(value * 100, 0.1), 99.9) if 0 < value < 1 else value * 100
    return f"{percent:,.1f} %"
