"""Numbers and moments in words, for pictures and pages."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from app.formats.syntax.quantities import byte_size, counted, known_size, share

__all__ = ["byte_size", "counted", "extent", "figure", "known_size", "measured", "number", "runs", "share", "since"]

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def number(value: float) -> str:
    """`1,000,000`; a fraction gets one decimal place."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def extent(low: float, high: float) -> str:
    """From a number to another one, `1 to 3`; or the only number."""
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def figure(value: float) -> str:
    """A measured number: whole from 1,000 on, else with up to four digits."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"


def measured(name: str, value: float) -> str:
    """A figure of a sweep with the unit that its name states: bytes as GiB, rates as MiB/s, shares in percent."""
    if name.endswith("bytes_per_s"):
        return f"{byte_size(round(value))}/s"
    if "bytes" in name:
        return byte_size(round(value))
    return share(value) if name.endswith(("_share", "_utilisation", "gap", "_probability")) else figure(value)


def since(moment: datetime, now: datetime) -> str:
    """How long ago a moment was, in its largest unit."""
    seconds = int((now - moment).total_seconds())
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def runs(partitions: Sequence[int]) -> Iterator[str]:
    """Ascending partition ids, neighbours as one range."""
    ordered = sorted(partitions)
    begin = 0
    for index in range(1, len(ordered) + 1):
        if index == len(ordered) or ordered[index] != ordered[index - 1] + 1:
            first, last = ordered[begin], ordered[index - 1]
            yield str(first) if first == last else f"{first}–{last}"
            begin = index
