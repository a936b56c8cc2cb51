"""The step that a running job is at.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("step", sa.Text))


def downgrade() -> None:
    op.drop_column("jobs", "step")
