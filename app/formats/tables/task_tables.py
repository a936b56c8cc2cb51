"""The clients of each task of a Streams application, as CSV and Markdown. These formats are not Kafka's.

CSV, a line a copy:

    task,role,process_id
    0_3,active,1d4b8c9e-5f0a-4c6b-9f5e-2f4f1a7a0c11
    0_3,standby,7c0f2a44-8b1d-4f8f-a5a0-3f0c9f8d2e52

`role` is one of active, standby or warmup. A task that runs nowhere has an active line with nothing behind it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from app.formats.tables import topic_tables
from app.formats.tables.topic_tables import CSV_END, MarkdownTable, csv_row, markdown_cell

_MARKDOWN_HEAD = ("| task | active | standby | warm-up |", "|---|---|---|---|")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task, and the names of the clients that run it, keep its state warm and warm it up."""

    task: str
    active: str | None
    standby: Sequence[str]
    warmup: Sequence[str]


def write_csv(rows: Iterable[TaskRow]) -> bytes:
    """One line a copy under a header line."""
    return topic_tables.write_csv(("task", "role", "process_id"), map(_csv_lines, rows))


def write_markdown(rows: Sequence[TaskRow], *, limit: int) -> str:
    """One table; `limit` is how many tasks it shows."""
    tables = [MarkdownTable("tasks", len(rows), partial(_markdown_lines, rows))] if rows else []
    return topic_tables.write_markdown(_MARKDOWN_HEAD, tables, limit=limit, noun="task")


def _csv_lines(row: TaskRow) -> str:
    clients = (("active", [row.active or ""]), ("standby", row.standby), ("warmup", row.warmup))
    return CSV_END.join(csv_row(row.task, role, client) for role, names in clients for client in names)


def _markdown_lines(rows: Sequence[TaskRow], shown: int) -> Iterable[str]:
    for row in rows[:shown]:
        cells = (row.active or "–", ", ".join(row.standby), ", ".join(row.warmup))
        yield f"| {row.task} | {' | '.join(map(markdown_cell, cells))} |"
