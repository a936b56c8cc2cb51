"""The role that requests have in Postgres, for which policies hide the rows of other teams.

The stores filter by team in every query; the policies of the migrations hold if one forgets to. Owners of tables are
not subject to them, so that a request's transaction takes the role `ROLE`, and states its team, before anything else.
"""

import sqlalchemy as sa
import structlog

ROLE = "rackplan_api"
SETTING = "rackplan.team"

_CHANGED = (
    "snapshots",
    "plans",
    "plan_topics",
    "jobs",
    "sweeps",
    "sweep_chunks",
    "sweep_rows",
    "webhooks",
    "share_links",
)
_GRANTS = (
    f"GRANT USAGE ON SCHEMA {{schema}} TO {ROLE}",
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(_CHANGED)}, webhook_deliveries TO {ROLE}",
    f"GRANT SELECT, INSERT ON answers, audit_entries TO {ROLE}",
    f"GRANT SELECT ON team_usage TO {ROLE}",
    # All but the hash, by which only the service's own transactions look keys up.
    f"GRANT SELECT (id, team, name, scopes, created_at, expires_at, last_used_at, revoked_at) ON api_keys TO {ROLE}",
    f"GRANT INSERT, UPDATE (last_used_at, revoked_at) ON api_keys TO {ROLE}",
    # To put a task on the queue, in the transaction of what it is about; the id is what the statement returns.
    f"GRANT SELECT (id), INSERT ON procrastinate_jobs TO {ROLE}",
    f"GRANT INSERT ON procrastinate_events TO {ROLE}",
    f"GRANT USAGE ON SEQUENCE procrastinate_jobs_id_seq, procrastinate_events_id_seq TO {ROLE}",
)
IS_USABLE = (
    "SELECT pg_has_role(oid, 'MEMBER') AND has_table_privilege(oid, 'team_usage', 'SELECT') "  # noqa: S608 -- constants
    f"FROM pg_roles WHERE rolname = '{ROLE}'"
)
"""Whether the account of a connection can take the role, and the role the tables; no row if there is no role."""
_PATIENT = "set_config('lock_timeout', '0', true)"
"""Requests wait for locks until their deadline; `Database` limits the waits of the service's own transactions."""
_ENTER = f"SELECT set_config('role', '{ROLE}', true), set_config('{SETTING}', %s, true), {_PATIENT}"


def enter(connection: sa.Connection, team: str) -> None:
    """Take the role for a team, until the transaction ends."""
    connection.exec_driver_sql(_ENTER, (team,))


def enter_without_role(connection: sa.Connection) -> None:
    """Begin the transaction of a request if Postgres has no role for it."""
    connection.exec_driver_sql(f"SELECT {_PATIENT}")


def is_usable(connection: sa.Connection) -> bool:
    """Whether the account of the connection can take the role, and the role the tables."""
    is_known = connection.scalar(sa.text("SELECT to_regclass('team_usage') IS NOT NULL"))
    return bool(is_known and connection.scalar(sa.text(IS_USABLE)))


def establish(connection: sa.Connection) -> bool:
    """Make the role and grant it what requests do, if the account may; whether it can be used then."""
    if not is_usable(connection):
        try:
            with connection.begin_nested():
                _establish(connection)
        except sa.exc.DBAPIError as failure:
            reason, *_ = str(failure.orig).splitlines()
            structlog.get_logger().debug("row_security.not_established", reason=reason)
    return is_usable(connection)


def _establish(connection: sa.Connection) -> None:
    if not connection.scalar(sa.text(f"SELECT count(*) FROM pg_roles WHERE rolname = '{ROLE}'")):  # noqa: S608 -- ours
        connection.exec_driver_sql(f"CREATE ROLE {ROLE} NOLOGIN")
    if not connection.scalar(sa.text(f"SELECT pg_has_role('{ROLE}', 'MEMBER')")):
        connection.exec_driver_sql(f"GRANT {ROLE} TO CURRENT_USER")
    schema = connection.scalar(sa.text("SELECT quote_ident(current_schema())"))
    for grant in _GRANTS:
        connection.exec_driver_sql(grant.format(schema=schema))
