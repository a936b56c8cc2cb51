"""Snapshots, plans, jobs, API keys and answers.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _time(name: str, default: str | None = None) -> sa.Column[object]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, sa.DateTime(timezone=True), nullable=default is None, server_default=server_default)


def upgrade() -> None:
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("cluster", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("summary", sa.JSON, nullable=False),
        _time("created_at", "now()"),
        _time("last_seen_at", "clock_timestamp()"),
        sa.UniqueConstraint("cluster", "content_hash", name="uq_snapshots_cluster_content_hash"),
    )
    op.create_index("ix_snapshots_cluster_last_seen_at", "snapshots", ["cluster", "last_seen_at"])
    op.create_table(
        "plans",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("cluster", sa.Text),
        sa.Column("snapshot_id", sa.Uuid, sa.ForeignKey("snapshots.id", name="fk_plans_snapshot_id_snapshots")),
        sa.Column("labels", JSONB, nullable=False),
        sa.Column("request", sa.JSON, nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        _time("created_at", "now()"),
        sa.UniqueConstraint("hash", name="uq_plans_hash"),
    )
    op.create_index("ix_plans_cluster", "plans", ["cluster"])
    op.create_index("ix_plans_kind", "plans", ["kind"])
    op.create_index(
        "ix_plans_labels", "plans", ["labels"], postgresql_using="gin", postgresql_ops={"labels": "jsonb_path_ops"}
    )
    op.create_table(
        "plan_topics",
        sa.Column(
            "plan_id",
            sa.Uuid,
            sa.ForeignKey("plans.id", ondelete="CASCADE", name="fk_plan_topics_plan_id_plans"),
            primary_key=True,
        ),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("first_partition_id", sa.Integer, nullable=False),
        sa.Column("partitions", sa.Integer, nullable=False),
        sa.Column("replication_factor", sa.Integer, nullable=False),
        sa.Column("replicas", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_plan_topics_name", "plan_topics", ["name"])
    # Uncompressed and out of line: substring() then reads the pages it needs and no others.
    op.execute("ALTER TABLE plan_topics ALTER COLUMN replicas SET STORAGE EXTERNAL")
    op.create_table(
        "jobs",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("request", sa.JSON, nullable=False),
        sa.Column("plan_id", sa.Uuid, sa.ForeignKey("plans.id", ondelete="SET NULL", name="fk_jobs_plan_id_plans")),
        sa.Column("error", sa.JSON),
        _time("created_at", "now()"),
        _time("started_at"),
        _time("finished_at"),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name=op.f("ck_jobs_state")
        ),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key_hash", sa.Text, nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text), nullable=False),
        _time("created_at", "now()"),
        _time("revoked_at"),
        sa.UniqueConstraint("name", name="uq_api_keys_name"),
        sa.UniqueConstraint("key_hash", name="uq_api_keys_key_hash"),
    )
    op.create_table(
        "answers",
        sa.Column("principal", sa.Text, primary_key=True),
        sa.Column("idempotency_key", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("headers", sa.JSON, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        _time("created_at", "now()"),
    )
    op.create_index("ix_answers_created_at", "answers", ["created_at"])


def downgrade() -> None:
    for table in ("answers", "api_keys", "jobs", "plan_topics", "plans", "snapshots"):
        op.drop_table(table)
