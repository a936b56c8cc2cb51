"""Webhooks, and the deliveries of events to them.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("events", sa.ARRAY(sa.Text), nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("failing_since", sa.DateTime(timezone=True)),
        sa.Column("disabled_at", sa.DateTime(timezone=True)),
        sa.Column("disabled_reason", sa.Text),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column(
            "webhook_id",
            sa.Uuid,
            sa.ForeignKey("webhooks.id", ondelete="CASCADE", name="fk_webhook_deliveries_webhook_id_webhooks"),
            nullable=False,
        ),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("attempts_replayed", sa.Integer, nullable=False, server_default="0"),
        sa.Column("status", sa.Integer),
        sa.Column("error", sa.Text),
        sa.Column("response", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("attempted_at", sa.DateTime(timezone=True)),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("state IN ('pending', 'succeeded', 'failed')", name=op.f("ck_webhook_deliveries_state")),
    )
    op.create_index("ix_webhook_deliveries_webhook_id_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_index("ix_webhook_deliveries_state", "webhook_deliveries", ["state"])
    op.create_index("ix_webhook_deliveries_created_at", "webhook_deliveries", ["created_at"])


def downgrade() -> None:
    for table in ("webhook_deliveries", "webhooks"):
        op.drop_table(table)
