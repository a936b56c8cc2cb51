"""Share links, so that they can be listed and revoked one by one. Those made before have no row and stay valid.

Revision ID: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TEAM = "team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'"
_MAY = "(SELECT current_setting('rackplan.team', true)) IN (team, '*')"


def upgrade() -> None:
    op.create_table(
        "share_links",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("team", sa.Text, nullable=False, server_default="default"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_share_links"),
        sa.CheckConstraint(_TEAM, name=op.f("ck_share_links_team")),
    )
    op.create_index("ix_share_links_team_id", "share_links", ["team", "id"])
    op.create_index("ix_share_links_expires_at", "share_links", ["expires_at"])
    op.execute("ALTER TABLE share_links ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY team ON share_links USING ({_MAY})")


def downgrade() -> None:
    op.drop_table("share_links")
