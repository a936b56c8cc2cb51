"""API keys expire, and their last use is recorded; sweeps have a scope of their own, which includes `plan`.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("expires_at", sa.DateTime(timezone=True)))
    op.add_column("api_keys", sa.Column("last_used_at", sa.DateTime(timezone=True)))
    # Until now `plan` included sweeps: the keys that have it keep what they could do.
    op.execute("UPDATE api_keys SET scopes = array_append(scopes, 'sweep') WHERE 'plan' = ANY(scopes)")


def downgrade() -> None:
    # A key of `sweep` alone could plan: without the scope it has `plan`.
    op.execute(
        "UPDATE api_keys SET scopes = array_remove(scopes, 'sweep') || "
        "CASE WHEN 'plan' = ANY(scopes) THEN '{}'::text[] ELSE '{plan}' END WHERE 'sweep' = ANY(scopes)"
    )
    op.drop_column("api_keys", "last_used_at")
    op.drop_column("api_keys", "expires_at")
