"""Migrate the schema of a database up or down.

Alembic is imported only when there is something to migrate: every start asks which revision the database has.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from app.store import row_security

if TYPE_CHECKING:
    from alembic.config import Config

FOLDER = Path(__file__).resolve().parents[2] / "migrations"
# An arbitrary number that all Rackplan processes share.
_LOCK = 0x7261636B706C616E


def upgrade(engine: sa.Engine, revision: str = "head") -> bool:
    """Upgrade the schema to `revision`; whether there was anything to do. Processes that start together take turns."""
    with engine.connect() as connection:
        if revision == "head" and suffices(current(connection)):
            # Roles belong to the server: a database that was restored on another one lacks it.
            row_security.establish(connection)
            connection.commit()
            return False
    from alembic import command  # noqa: PLC0415 — see the module's docstring

    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.upgrade(_config(connection), revision)
        if revision == "head":
            row_security.establish(connection)
    return True


def downgrade(engine: sa.Engine, revision: str = "base") -> None:
    """Downgrade the schema to `revision`; the rows of dropped tables are lost."""
    from alembic import command  # noqa: PLC0415 — see the module's docstring

    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.downgrade(_config(connection), revision)


def current(connection: sa.Connection) -> str | None:
    """The current revision of the database, or None if it has no Rackplan schema."""
    if connection.scalar(sa.text("SELECT to_regclass('alembic_version')")) is None:
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def suffices(revision: str | None) -> bool:
    """Whether this version can work with a schema: its own, or a newer one, which only adds to it."""
    return revision is not None and revision.isdecimal() and revision >= newest()


def newest() -> str:
    """The revision that this version of the code was written for: the names of the files begin with their revisions."""
    return max(file.name.partition("_")[0] for file in (FOLDER / "versions").glob("[0-9]*_*.py"))


def _config(connection: sa.Connection) -> "Config":
    from alembic.config import Config  # noqa: PLC0415 — see the module's docstring

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
