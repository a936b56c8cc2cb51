"""What lists answer of plans, in columns of their own; and status, notes and history beside each plan.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_LISTED = ("engine_version", "prediction", "title", "summary")
_BESIDE = ("status", "notes", "history", "revision")


def upgrade() -> None:
    op.add_column("plans", sa.Column("engine_version", sa.Integer))
    op.add_column("plans", sa.Column("prediction", sa.Text))
    op.add_column("plans", sa.Column("seed", sa.BigInteger))
    op.add_column("plans", sa.Column("title", sa.Text))
    op.add_column("plans", sa.Column("summary", sa.Text))
    op.execute(
        """
        UPDATE plans SET
            engine_version = coalesce((request->>'engine_version')::integer, 1),
            prediction = answer->>'prediction',
            seed = (answer->>'seed')::bigint,
            title = CASE kind
                WHEN 'replicas' THEN 'Place topics'
                WHEN 'reassignment' THEN 'Reassign'
                WHEN 'group' THEN 'Assign a group'
                ELSE 'Assign tasks'
            END || coalesce(' of ' || cluster, ''),
            summary = ''
        """
    )
    for name in _LISTED:
        op.alter_column("plans", name, nullable=False)
    op.add_column("plans", sa.Column("status", sa.Text, nullable=False, server_default="proposed"))
    op.add_column("plans", sa.Column("notes", sa.Text))
    op.add_column("plans", sa.Column("history", JSONB, nullable=False, server_default="[]"))
    op.add_column("plans", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.create_check_constraint(
        "ck_plans_status",
        "plans",
        "status IN ('proposed', 'approved', 'executing', 'executed', 'failed', 'superseded')",
    )
    op.create_index("ix_plans_status", "plans", ["status"])
    op.create_index("ix_plans_snapshot_id", "plans", ["snapshot_id"])


def downgrade() -> None:
    op.drop_index("ix_plans_snapshot_id")
    for name in (*_LISTED, "seed", *_BESIDE):
        op.drop_column("plans", name)
