"""Deadlines of jobs and sweeps, and counts of their failed attempts and lost workers.

Revision ID: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TABLES = ("jobs", "sweeps")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column("deadline_s", sa.Integer))
        op.add_column(table, sa.Column("failures", sa.Integer, nullable=False, server_default="0"))
        op.add_column(table, sa.Column("losses", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    for table in _TABLES:
        for column in ("deadline_s", "failures", "losses"):
            op.drop_column(table, column)
