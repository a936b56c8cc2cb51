"""Migrate the schema of a database up or down."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
# An arbitrary number that all Rackplan processes share.
_LOCK = 0x7261636B706C616E


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Upgrade the schema to `revision`. Processes that start at the same time take turns."""
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.upgrade(_config(connection), revision)


def downgrade(engine: sa.Engine, revision: str = "base") -> None:
    """Downgrade the schema to `revision`; the rows of dropped tables are lost."""
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.downgrade(_config(connection), revision)


def current(connection: sa.Connection) -> str | None:
    """The current revision of the database, or None if it has no Rackplan schema."""
    return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The revision that this version of the code was written for."""
    return ScriptDirectory(str(FOLDER)).get_current_head()


def _config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
