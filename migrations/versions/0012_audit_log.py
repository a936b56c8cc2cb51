"""The audit log: entries are added alone, by the role of requests too; the owner deletes old ones.

Revision ID: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TEAM = "team ~ '^[a-z0-9][a-z0-9_-]{0,62}$' OR team = '*'"
_MAY = "(SELECT current_setting('rackplan.team', true)) IN (team, '*')"
# Deleting takes a transaction that states the age of what it may delete, and is not of the role of requests.
_REJECT = """
    CREATE FUNCTION audit_entries_reject() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        days text := current_setting('rackplan.audit_days', true);
    BEGIN
        IF TG_OP = 'DELETE' AND current_user <> 'rackplan_api' AND days ~ '^[1-9][0-9]{0,4}$' THEN
            IF OLD.at < now() - make_interval(days => days::int) THEN
                RETURN OLD;
            END IF;
        END IF;
        RAISE EXCEPTION 'entries of the audit log are not changed, and deleted once they are old'
            USING ERRCODE = '42501';
    END $$
"""


def upgrade() -> None:
    text = sa.Text
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.clock_timestamp()),
        sa.Column("team", text),
        sa.Column("actor", text, nullable=False),
        sa.Column("name", text),
        sa.Column("key_id", text),
        sa.Column("address", text),
        sa.Column("request_id", text),
        sa.Column("action", text, nullable=False),
        sa.Column("resource", text),
        sa.Column("status", sa.Integer),
        sa.Column("code", text),
        sa.Column("count", sa.Integer, nullable=False, server_default="1"),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
        sa.CheckConstraint(_TEAM, name=op.f("ck_audit_entries_team")),
    )
    op.create_index("ix_audit_entries_team_id", "audit_entries", ["team", "id"])
    op.create_index("ix_audit_entries_at", "audit_entries", ["at"])
    op.execute("ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY team ON audit_entries FOR SELECT USING ({_MAY})")
    op.execute("CREATE POLICY adding ON audit_entries FOR INSERT WITH CHECK (true)")
    op.execute(_REJECT)
    op.execute(
        "CREATE TRIGGER changed BEFORE UPDATE OR DELETE ON audit_entries "
        "FOR EACH ROW EXECUTE FUNCTION audit_entries_reject()"
    )
    op.execute(
        "CREATE TRIGGER emptied BEFORE TRUNCATE ON audit_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_reject()"
    )


def downgrade() -> None:
    op.drop_table("audit_entries")
    op.execute("DROP FUNCTION audit_entries_reject")
