"""Plans and sweeps as HTML, for notebooks. Every text of a document is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

_LONGEST = 200
"""Characters of a value; texts of strangers can have any length."""


def of_plan(raw: Mapping[str, Any]) -> str:
    """A plan: what it is, its measures, and its violations."""
    head = [(name, raw.get(name)) for name in ("cluster", "prediction", "snapshot_id", "created_at", "labels")]
    certificate = [(name, value) for name, value in (raw.get("certificate") or {}).items() if _is_scalar(value)]
    counts = [(name, len(raw[name])) for name in ("topics", "batches", "violations", "warnings") if raw.get(name)]
    violations = [("violation", each.get("detail", each)) for each in (raw.get("violations") or [])[:10]]
    return _table(f"{raw.get('kind')} plan {raw.get('id')}", [*head, *counts, *certificate, *violations])


def of_sweep(raw: Mapping[str, Any]) -> str:
    """A sweep: its state and how far it is."""
    names = ("state", "scenarios", "done", "rate_per_s", "seconds_left", "error", "labels", "created_at", "finished_at")
    progress = f'<progress value="{int(raw.get("done") or 0)}" max="{int(raw.get("scenarios") or 1)}"></progress>'
    return _table(f"{raw.get('kind')} sweep {raw.get('id')}", [(name, raw.get(name)) for name in names]) + progress


def _table(caption: str, rows: Iterable[tuple[str, Any]]) -> str:
    cells = "".join(_rows(rows))
    return f'<table><caption style="text-align: left">{_text(caption)}</caption>{cells}</table>'


def _rows(rows: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for name, value in rows:
        if value not in (None, {}, []):
            yield f'<tr><th style="text-align: left">{_text(name)}</th>'
            yield f'<td style="text-align: left">{_text(value)}</td></tr>'


def _text(value: object) -> str:
    text = ", ".join(f"{name}={each}" for name, each in value.items()) if isinstance(value, Mapping) else str(value)
    return escape(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _is_scalar(value: object) -> bool:
    return isinstance(value, bool | int | float | str)
