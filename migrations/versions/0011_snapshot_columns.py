"""Large clusters as arrays beside their documents.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Snapshots that are stored already have none, and are read from their documents.
    op.add_column("snapshots", sa.Column("columns", sa.LargeBinary))
    op.execute("ALTER TABLE snapshots ALTER COLUMN columns SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_column("snapshots", "columns")
