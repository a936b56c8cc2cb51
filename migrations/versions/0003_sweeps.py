"""Sweeps, the ledger of their chunks, and a row a scenario.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sweeps",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("definition", sa.JSON, nullable=False),
        sa.Column("scenarios", sa.Integer, nullable=False),
        sa.Column("labels", JSONB, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("waiting", sa.JSON),
        sa.Column("error", sa.JSON),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="ck_sweeps_state"
        ),
    )
    op.create_index("ix_sweeps_principal", "sweeps", ["principal"])
    op.create_index("ix_sweeps_finished_at", "sweeps", ["finished_at"])
    op.create_table(
        "sweep_chunks",
        _sweep_id("sweep_chunks"),
        sa.Column("start", sa.Integer, primary_key=True),
        sa.Column("stop", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
    )
    op.create_table(
        "sweep_rows",
        _sweep_id("sweep_rows"),
        sa.Column("index", sa.Integer, primary_key=True),
        sa.Column("row", JSONB, nullable=False),
    )


def _sweep_id(table: str) -> sa.Column[object]:
    key = sa.ForeignKey("sweeps.id", ondelete="CASCADE", name=f"fk_{table}_sweep_id_sweeps")
    return sa.Column("sweep_id", sa.Uuid, key, primary_key=True)


def downgrade() -> None:
    for table in ("sweep_rows", "sweep_chunks", "sweeps"):
        op.drop_table(table)
