"""Teams: everything belongs to one, and policies hide the rows of others from the role of requests.

Owners of tables, which migrations and workers are, are not subject to the policies.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_OF_TEAMS = ("snapshots", "plans", "jobs", "sweeps", "webhooks", "api_keys", "answers")
_PARTS = {
    "plan_topics": ("plans", "plan_id"),
    "sweep_chunks": ("sweeps", "sweep_id"),
    "sweep_rows": ("sweeps", "sweep_id"),
    "webhook_deliveries": ("webhooks", "webhook_id"),
}
_LISTED = ("snapshots", "plans", "jobs", "sweeps")
_NAME = "team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'"
# A subquery is evaluated once a statement, a bare function once a row.
_MAY = "(SELECT current_setting('rackplan.team', true)) IN (team, '*')"


def upgrade() -> None:
    for table in _OF_TEAMS:
        op.add_column(table, sa.Column("team", sa.Text, nullable=False, server_default="default"))
        allowed = f"{_NAME} OR team = '*'" if table == "api_keys" else _NAME
        op.create_check_constraint(op.f(f"ck_{table}_team"), table, allowed)
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY team ON {table} USING ({_MAY})")
    for table in _LISTED:
        op.create_index(f"ix_{table}_team_id", table, ["team", "id"])
    for table, (whole, reference) in _PARTS.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        # The policy of the whole table decides which of its rows the subquery sees.
        visible = f"EXISTS (SELECT FROM {whole} WHERE {whole}.id = {table}.{reference})"
        op.execute(f"CREATE POLICY team ON {table} USING ({visible})")
    # The same content, hash or name in two teams is not the same row.
    op.drop_constraint("uq_snapshots_cluster_content_hash", "snapshots")
    op.create_unique_constraint(
        "uq_snapshots_team_cluster_content_hash", "snapshots", ["team", "cluster", "content_hash"]
    )
    op.drop_index("ix_snapshots_cluster_last_seen_at", "snapshots")
    op.create_index("ix_snapshots_team_cluster_last_seen_at", "snapshots", ["team", "cluster", "last_seen_at"])
    op.drop_constraint("uq_plans_hash", "plans")
    op.create_unique_constraint("uq_plans_team_hash", "plans", ["team", "hash"])
    op.drop_constraint("uq_api_keys_name", "api_keys")
    op.create_unique_constraint("uq_api_keys_team_name", "api_keys", ["team", "name"])
    op.drop_constraint("pk_answers", "answers")
    op.create_primary_key("pk_answers", "answers", ["team", "principal", "idempotency_key"])


def downgrade() -> None:
    # Fails, and changes nothing, if two teams have a row that only one of them could have had.
    op.drop_constraint("pk_answers", "answers")
    op.create_primary_key("pk_answers", "answers", ["principal", "idempotency_key"])
    op.drop_constraint("uq_api_keys_team_name", "api_keys")
    op.create_unique_constraint("uq_api_keys_name", "api_keys", ["name"])
    op.drop_constraint("uq_plans_team_hash", "plans")
    op.create_unique_constraint("uq_plans_hash", "plans", ["hash"])
    op.drop_index("ix_snapshots_team_cluster_last_seen_at", "snapshots")
    op.create_index("ix_snapshots_cluster_last_seen_at", "snapshots", ["cluster", "last_seen_at"])
    op.drop_constraint("uq_snapshots_team_cluster_content_hash", "snapshots")
    op.create_unique_constraint("uq_snapshots_cluster_content_hash", "snapshots", ["cluster", "content_hash"])
    for table in _PARTS:
        op.execute(f"DROP POLICY team ON {table}")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    for table in _LISTED:
        op.drop_index(f"ix_{table}_team_id", table)
    for table in _OF_TEAMS:
        op.execute(f"DROP POLICY team ON {table}")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
        op.drop_column(table, "team")
