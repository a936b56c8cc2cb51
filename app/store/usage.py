"""Usage of each team: bytes and rows that triggers in Postgres count. They reject statements that exceed a quota."""

from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from app.errors.requests import QuotaExceeded
from app.store.tables import jobs, sweeps, team_usage
from app.store.transaction import Store

SQLSTATE = "RPQTA"
"""SQLSTATE of the triggers' errors."""
QUOTAS = {
    "stored_bytes": "delete plans, snapshots or sweeps",
    "plans": "delete plans",
    "snapshots": "delete snapshots",
    "share_links": "revoke share links",
    "unfinished_jobs": "wait until jobs or sweeps end, or cancel some",
}
"""The remedy of each quota, in the order of the triggers and of the setting of connections."""
ROW_BYTES = 128
"""Bytes that count for a row besides its content."""


@dataclass(frozen=True, slots=True)
class TeamUsage:
    """Bytes and rows that count for one team."""

    team: str
    stored_bytes: int
    plans: int
    snapshots: int
    share_links: int
    unfinished_jobs: int


class Usage(Store):
    """Usage in one transaction."""

    def of_teams(self) -> list[TeamUsage]:
        """The usage of the team, or of every team that has stored something; by name."""
        counters: list[sa.ColumnElement[Any]] = [team_usage.c[name] for name in QUOTAS if name in team_usage.c]
        columns = (team_usage.c.team, *counters, _unfinished(jobs) + _unfinished(sweeps))
        query = sa.select(*columns).where(*self._visible(team_usage))
        rows = [TeamUsage(*row) for row in self._reading.execute(query.order_by(team_usage.c.team))]
        return rows or [TeamUsage(self._team, **dict.fromkeys(QUOTAS, 0))]


def _unfinished(table: sa.Table) -> sa.ScalarSelect[int]:
    of_team = sa.and_(table.c.team == team_usage.c.team, table.c.state.in_(("queued", "running")))
    return sa.select(sa.func.count()).where(of_team).scalar_subquery()


def option(quotas: tuple[int, ...]) -> str:
    """The option of a connection whose statements are rejected beyond the quotas; 0 is no limit."""
    return f" -c rackplan.quotas={{{','.join(map(str, quotas))}}}" if quotas else ""


def failure_of(detail: str) -> QuotaExceeded:
    """The failure that a trigger reports."""
    found = orjson.loads(detail)
    quota, limit, used = found["quota"], found["limit"], found["used"]
    return QuotaExceeded(
        f"the team {found['team']} has {used} of at most {limit} {quota.replace('_', ' ')}, and this adds "
        f"{found['added']}; {QUOTAS[quota]}, or let an operator raise RACKPLAN_QUOTA_{quota.upper()}",
        team=found["team"],
        limit_name=f"quota_{quota}",
        limit=limit,
        value=used + found["added"],
    )
