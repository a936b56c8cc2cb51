"""Bring a database's schema up to date, or take it down again."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
# Any number will do, as long as every Rackplan process takes the same one.
_LOCK = 0x7261636B706C616E


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the schema up to `revision`. Processes that start together take turns."""
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.upgrade(_config(connection), revision)


def downgrade(engine: sa.Engine, revision: str = "base") -> None:
    """Take the schema down to `revision`; what the dropped tables held is lost."""
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.downgrade(_config(connection), revision)


def current(connection: sa.Connection) -> str | None:
    """The revision that the database is at, or None where it has no schema of ours."""
    return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The revision that this version of the code was written for."""
    return ScriptDirectory(str(FOLDER)).get_current_head()


def _config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
