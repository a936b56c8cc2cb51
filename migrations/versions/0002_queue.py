"""The queue that jobs wait in: procrastinate's own tables.

Revision ID: 0002
"""

from importlib.resources import files

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The schema of the version that the lock file pins; a newer one brings its own migrations, to be added as ours.
    schema = (files("procrastinate") / "sql" / "schema.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(schema.replace("%", "%%"))


def downgrade() -> None:
    # The library ships no way down; everything that it made is named for it.
    op.execute(
        """
        DO $$
        DECLARE thing record;
        BEGIN
            FOR thing IN SELECT tablename AS name FROM pg_tables
                         WHERE schemaname = current_schema() AND tablename LIKE 'procrastinate\\_%' LOOP
                EXECUTE format('DROP TABLE %I CASCADE', thing.name);
            END LOOP;
            FOR thing IN SELECT p.oid::regprocedure AS name FROM pg_proc p
                         WHERE p.pronamespace = current_schema()::regnamespace
                           AND p.proname LIKE 'procrastinate\\_%' LOOP
                EXECUTE 'DROP FUNCTION ' || thing.name || ' CASCADE';
            END LOOP;
            FOR thing IN SELECT t.typname AS name FROM pg_type t
                         WHERE t.typnamespace = current_schema()::regnamespace
                           AND t.typname LIKE 'procrastinate\\_%' AND t.typtype IN ('e', 'c') LOOP
                EXECUTE format('DROP TYPE IF EXISTS %I CASCADE', thing.name);
            END LOOP;
        END $$
        """
    )
