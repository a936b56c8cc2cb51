"""Exports of the audit log."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import orjson

from app.formats.tables.topic_tables import CSV_END, csv_row
from app.services.fields import rfc3339
from app.store.audit import FIELDS, AuditEntry, AuditFilter

if TYPE_CHECKING:
    from app.store.database import Database

_PAGE = 1000


class AuditFormat(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    CSV = "csv"


MEDIA_TYPES: Mapping[AuditFormat, str] = {
    AuditFormat.JSONL: "application/x-ndjson",
    AuditFormat.CSV: "text/csv; charset=utf-8",
}


def document(entry: AuditEntry) -> dict[str, object]:
    """An entry as a JSON object."""
    # Not `asdict`, which copies each value: that was three quarters of the time of a line.
    return {name: getattr(entry, name) for name in FIELDS} | {"at": entry.at.astimezone(UTC)}


def export(database: "Database", wanted: AuditFilter, written: AuditFormat) -> Iterator[bytes]:
    """The entries that the team sees, newest first, a page at a time; those added meanwhile are left out."""
    line = _LINES[written]
    if written is AuditFormat.CSV:
        yield (",".join(FIELDS) + CSV_END).encode()
    before: int | None = None
    while True:
        with database.begin() as uow:
            page = uow.audit.page(wanted, before=before, size=_PAGE)
        yield b"".join(map(line, page.items))
        if not page.has_more:
            return
        before = page.items[-1].id


def _json_line(entry: AuditEntry) -> bytes:
    return orjson.dumps(document(entry), option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)


def _csv_line(entry: AuditEntry) -> bytes:
    return (csv_row(*map(_cell, document(entry).values())) + CSV_END).encode()


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value)
    return "" if value is None else str(value)


_LINES: Mapping[AuditFormat, Callable[[AuditEntry], bytes]] = {
    AuditFormat.JSONL: _json_line,
    AuditFormat.CSV: _csv_line,
}
