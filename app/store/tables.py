"""Every table of tables.sql, which the migrations create and a test compares with it; the statements of statements.sql.

A table here has the columns that Python reads and writes: its keys, indices and constraints are Postgres' own concern.
"""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB


def _parts(file_name: str, beginning: re.Pattern[str]) -> dict[str, str]:
    """The parts of a file of SQL, by the name in the line that begins each."""
    _, *parts = beginning.split(files("app.store").joinpath(file_name).read_text("utf-8"))
    return {name: text.rstrip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


STATEMENTS: Mapping[str, str] = _parts("statements.sql", re.compile(r"^-- :(\w+)\n", re.MULTILINE))
"""Statements of SQL by their names."""
_TYPES: Mapping[str, sa.types.TypeEngine[Any]] = {
    "uuid": sa.Uuid(),
    "text": sa.Text(),
    "text[]": sa.ARRAY(sa.Text),
    "integer": sa.Integer(),
    "bigint": sa.BigInteger(),
    "double": sa.Double(),
    "timestamptz": sa.DateTime(timezone=True),
    "bytea": sa.LargeBinary(),
    "json": sa.JSON(none_as_null=True),
    "jsonb": JSONB(none_as_null=True),
}
_TABLE = re.compile(r"^CREATE TABLE (\w+) \(\n", re.MULTILINE)
_COLUMN = re.compile(r"^    ([a-z_]+) ([a-z]+(?:\[\])?)", re.MULTILINE)
_METADATA = sa.MetaData()
TABLES: Mapping[str, sa.Table] = {
    table: sa.Table(table, _METADATA, *(sa.Column(name, _TYPES[kind]) for name, kind in _COLUMN.findall(text)))
    for table, text in _parts("tables.sql", _TABLE).items()
}
"""Every table by its name, after those that it refers to."""

answers = TABLES["answers"]
api_keys = TABLES["api_keys"]
audit_entries = TABLES["audit_entries"]
installation_keys = TABLES["installation_keys"]
jobs = TABLES["jobs"]
plan_topics = TABLES["plan_topics"]
plans = TABLES["plans"]
sessions = TABLES["sessions"]
share_links = TABLES["share_links"]
snapshots = TABLES["snapshots"]
sweep_chunks = TABLES["sweep_chunks"]
sweep_rows = TABLES["sweep_rows"]
sweeps = TABLES["sweeps"]
team_usage = TABLES["team_usage"]
webhook_deliveries = TABLES["webhook_deliveries"]
webhooks = TABLES["webhooks"]
