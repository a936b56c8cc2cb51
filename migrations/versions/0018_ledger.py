"""The ledger: what the execution of a plan took, against what the plan has predicted.

Revision ID: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("plans", sa.Column("ledger", sa.JSON))
    op.create_index("ix_plans_ledger", "plans", ["team", "id"], postgresql_where=sa.text("ledger IS NOT NULL"))


def downgrade() -> None:
    op.drop_index("ix_plans_ledger", "plans")
    op.drop_column("plans", "ledger")
