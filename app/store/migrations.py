"""Migrate the schema of a database up or down.

Alembic is imported only when there is something to migrate: every start asks which revision the database has.
"""

from time import monotonic, sleep
from typing import TYPE_CHECKING

import psycopg
import sqlalchemy as sa
import structlog

from app.errors.access import DatabaseUnavailable
from app.errors.machine import DatabaseNewer
from app.errors.quotation import quoted
from app.shipped import shipped
from app.store import transaction

if TYPE_CHECKING:
    from alembic.config import Config

FOLDER = shipped("migrations")
# An arbitrary number that all Rackplan processes share.
_LOCK = 0x7261636B706C616E
OLDEST_CODE = "0018"
"""Code that was written for an older revision cannot work with this schema: raised by a migration that takes something
from it. The schema states it, for older code to read."""
_OLDEST_CODE = "SELECT substring(obj_description(to_regclass('alembic_version')) FROM 'code from ([0-9]+)')"
WAITS_FOR_LOCKS_S = 1.0
"""A statement that waits for the lock of a table makes every later statement on the table wait, of a service too."""
TRIED_FOR_S = 120.0
_TRIED_AGAIN_AFTER_S = 1.0


def upgrade(engine: sa.Engine, revision: str = "head") -> bool:
    """Upgrade the schema to `revision`; whether there was anything to do. Processes that start together take turns.

    A service may run meanwhile. If a table is in use for longer than `WAITS_FOR_LOCKS_S`, everything is rolled back and
    tried again, so that requests wait no longer than that for the migration.

    Raises
    ------
    DatabaseUnavailable : a table was in use at each of the attempts, for `TRIED_FOR_S`. Nothing has been changed.
    DatabaseNewer : this version cannot work with the schema.
    """
    with engine.connect() as connection:
        check_age(connection)
        if revision == "head" and suffices(current(connection)):
            # Roles belong to the server: a database that was restored on another one lacks it.
            transaction.establish(connection)
            connection.commit()
            return False
    ends = monotonic() + TRIED_FOR_S
    while True:
        try:
            _upgrade(engine, revision)
        except DatabaseUnavailable as failure:
            if not isinstance(failure.__cause__, psycopg.errors.LockNotAvailable) or monotonic() > ends:
                raise
            structlog.get_logger().info("schema.locked", again_after_s=_TRIED_AGAIN_AFTER_S)
            sleep(_TRIED_AGAIN_AFTER_S)
        else:
            return True


def _upgrade(engine: sa.Engine, revision: str) -> None:
    from alembic import command  # noqa: PLC0415 — see the module's docstring

    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        connection.execute(sa.text(f"SET LOCAL lock_timeout = '{WAITS_FOR_LOCKS_S * 1000:.0f}ms'"))
        command.upgrade(_config(connection), revision)
        connection.execute(sa.text(f"COMMENT ON TABLE alembic_version IS 'code from {OLDEST_CODE}'"))
        if revision == "head":
            transaction.establish(connection)


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


def check_age(connection: sa.Connection) -> None:
    """Raise `DatabaseNewer` if the schema states that it is for newer code, or has a revision of another software."""
    revision, oldest = current(connection), connection.scalar(sa.text(_OLDEST_CODE))
    if revision is not None and not revision.isdecimal():
        detail = f"the schema has revision {quoted(revision)}, which Rackplan does not have"
        raise DatabaseNewer(detail, revision=revision)
    if oldest is not None and oldest > newest():
        raise DatabaseNewer(
            f"the schema {revision} needs Rackplan with schema {oldest} or newer, and this version has {newest()}: "
            "start the newer version, or restore the backup from before its upgrade",
            revision=revision,
        )


def suffices(revision: str | None) -> bool:
    """Whether this version can work with a schema: its own, or a newer one, which only adds to it."""
    return revision is not None and revision.isdecimal() and revision >= newest()


def newest() -> str:
    """The revision that this version of the code was written for: the names of the files begin with their revisions."""
    return max(revisions())


def revisions() -> list[str]:
    """Every revision, in no order."""
    return [file.name.partition("_")[0] for file in (FOLDER / "versions").glob("[0-9]*_*.py")]


def _config(connection: sa.Connection) -> "Config":
    from alembic.config import Config  # noqa: PLC0415 — see the module's docstring

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
