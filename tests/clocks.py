"""The clock of a database, set by tests while services and workers use it."""

from datetime import timedelta

import sqlalchemy as sa

from app.store.database import Database

# Names are looked up in this order, in statements and in the functions of the queue. Defaults of columns are bound to
# Postgres' own functions, and are not shifted: a heartbeat of a worker's start, and when rows were created.
_SHIFTED = """
    CREATE SCHEMA shifted;
    CREATE TABLE shifted.clock (ahead interval NOT NULL);
    INSERT INTO shifted.clock VALUES ('0');
    CREATE FUNCTION shifted.now() RETURNS timestamptz STABLE LANGUAGE sql AS
        'SELECT pg_catalog.now() + ahead FROM shifted.clock';
    CREATE FUNCTION shifted.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
        'SELECT pg_catalog.clock_timestamp() + ahead FROM shifted.clock';
    GRANT USAGE ON SCHEMA shifted TO PUBLIC;
    GRANT SELECT ON shifted.clock TO PUBLIC;
"""


class Clock:
    """The clock of a real Postgres, of which `now()` and `clock_timestamp()` are ahead of the machine's or behind.

    Connections that exist already keep the machine's clock.
    """

    def __init__(self, database: Database) -> None:
        self._engine = database.engine
        with self._engine.begin() as connection:
            connection.exec_driver_sql(_SHIFTED)
            name = connection.scalar(sa.text("SELECT quote_ident(current_database())"))
            connection.exec_driver_sql(f"ALTER DATABASE {name} SET search_path = shifted, pg_catalog, public")
        self._engine.dispose()

    def set(self, ahead: timedelta) -> None:
        """Set the clock so far ahead of the machine's, or behind."""
        with self._engine.begin() as connection:
            connection.execute(sa.text("UPDATE shifted.clock SET ahead = :ahead"), {"ahead": ahead})
