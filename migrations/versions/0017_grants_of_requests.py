"""The role of requests reads neither the hashes of API keys nor tasks on the queue, which are of all teams.

Revision ID: 0017
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_REVOKE = "REVOKE ALL ON api_keys, procrastinate_jobs FROM rackplan_api"
_COLUMNS = "id, team, name, scopes, created_at, expires_at, last_used_at, revoked_at"


def upgrade() -> None:
    _if_there_is_the_role(
        _REVOKE,
        f"GRANT SELECT ({_COLUMNS}), INSERT, UPDATE (last_used_at, revoked_at) ON api_keys TO rackplan_api",
        "GRANT SELECT (id), INSERT ON procrastinate_jobs TO rackplan_api",
    )


def downgrade() -> None:
    _if_there_is_the_role(
        _REVOKE,
        "GRANT SELECT, INSERT, UPDATE ON api_keys TO rackplan_api",
        "GRANT SELECT, INSERT ON procrastinate_jobs TO rackplan_api",
    )


def _if_there_is_the_role(*statements: str) -> None:
    known = "EXISTS (SELECT FROM pg_roles WHERE rolname = 'rackplan_api')"
    op.execute(f"DO $$ BEGIN IF {known} THEN {'; '.join(statements)}; END IF; END $$")
