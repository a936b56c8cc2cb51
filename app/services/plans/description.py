"""The words of titles and summaries that several kinds of plans use."""

from collections.abc import Sequence

LONGEST = 200
"""Characters of a title or summary at most: names of topics may have 249 each."""


def shortened(text: str) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def some(names: Sequence[str], *, noun: str, shown: int = 3) -> str:
    """All names if there are few, else the first ones and how many more: `a, b and 7 more topics`."""
    if len(names) <= shown:
        return ", ".join(names) or f"no {noun}"
    return f"{', '.join(names[: shown - 1])} and {len(names) - shown + 1} more {noun}s"


def at(cluster: str | None, preposition: str) -> str:
    """` on prod-eu`; empty if the plan is of no named cluster."""
    return f" {preposition} {cluster}" if cluster else ""
