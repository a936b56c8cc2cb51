"""Reads in one round trip: the key of a request, the team that it acts for, and a row of that team.

The stores take ten: for the key a ping, `BEGIN`, the statement and `COMMIT`; for the plan the same with three
statements. What is read here is small and never locked, so that the process that listens reads it without a thread and
without a slot. Statements are prepared once a connection; those of a read are one implicit transaction, with which the
role and the team end.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg.types.json import set_json_loads

from app.core.model import Placement
from app.store import row_security, teams
from app.store.actors import Actor
from app.store.api_keys import USE_RECORDED_EVERY, key_hash
from app.store.database import Database
from app.store.plans import rows_of
from app.store.records import PlanHead

MOST_BYTES = 32 * 1024
"""A larger plan is not read: replicas as they are, the rest as Postgres has compressed it."""
_WITHIN_S = 1.0
_NO_KEY = ""
_HEAD = ", ".join(field.name for field in fields(PlanHead))

# The key counts as the stores count it. A key whose use is to be recorded, which takes a write, is not read here.
_PREPARE = f"""
PREPARE acting (text) AS
    WITH presented AS (
        SELECT team, scopes, id, name FROM api_keys
        WHERE key_hash = $1 AND revoked_at IS NULL AND coalesce(expires_at > now(), true)
        AND last_used_at > now() - interval '{USE_RECORDED_EVERY.total_seconds():.0f} s'
    ), acting AS (
        SELECT team, scopes, id, name FROM presented
        UNION ALL
        SELECT '{teams.DEFAULT}', NULL, NULL, NULL
        WHERE $1 = '{_NO_KEY}' AND {{may_be_open}} AND NOT EXISTS (SELECT FROM api_keys)
    )
    SELECT scopes, set_config('{row_security.SETTING}', team, true), set_config('role', '{{role}}', true),
        team, id::text, name
    FROM acting;
PREPARE head (uuid) AS
    SELECT {_HEAD} FROM plans
    WHERE id = $1 AND current_setting('{row_security.SETTING}', true) IN (team, '{teams.ALL}')
    AND pg_column_size(answer) + pg_column_size(request) + pg_column_size(history) + coalesce(octet_length(notes), 0)
        + (SELECT coalesce(sum(octet_length(replicas)), 0) FROM plan_topics WHERE plan_id = $1) <= {MOST_BYTES};
PREPARE topics (uuid) AS
    SELECT name, first_partition_id, replication_factor, replicas FROM plan_topics
    WHERE plan_id = $1 AND (SELECT sum(octet_length(replicas)) FROM plan_topics WHERE plan_id = $1) <= {MOST_BYTES}
    ORDER BY ordinal
"""  # noqa: S608 -- constants
_KEY = "EXECUTE acting (%s)"
_READ = "EXECUTE acting (%s); EXECUTE head (%s); EXECUTE topics (%s)"


@dataclass(frozen=True, slots=True)
class DirectPlan:
    """A plan that was read directly. `scopes` are those of the key; None if the service is open."""

    scopes: tuple[str, ...] | None
    head: PlanHead
    placements: tuple[Placement, ...]


class DirectReads:
    """Reads over connections of its own. Belongs to one event loop; a read that raises closes its connection.

    It answers or it does not: whatever is missing, locked, large or fails is left to the stores, which say why.

    Parameters
    ----------
    may_be_open : whether the service is open until the first key is created.
    """

    def __init__(self, database: Database, *, may_be_open: bool) -> None:
        self._may_be_open = may_be_open
        _, self._arguments = database.engine.dialect.create_connect_args(database.url)
        self._idle: list[psycopg.AsyncConnection[Any]] = []

    async def plan(self, secret: str | None, plan_id: UUID) -> DirectPlan | None:
        """A plan that the key may see; None if there is none, the key is not valid, or the plan is large.

        Raises `psycopg.Error`, `OSError` and `TimeoutError`: the database is not there, or takes a second.
        """
        hashed = _NO_KEY if secret is None else key_hash(secret)
        acting, heads, rows = await self._results(_READ, (hashed, plan_id, plan_id))
        if not acting or not heads:
            return None
        (scopes, *_), head = acting[0], heads[0]
        placements = tuple(Placement(name, first, rows_of(replicas, factor)) for name, first, factor, replicas in rows)
        return DirectPlan(None if scopes is None else tuple(scopes), PlanHead(*head), placements)

    async def actor(self, secret: str | None) -> Actor | None:
        """Who acts: anyone, if no key is needed, or the key, if its use was recorded lately. Raises as `plan`."""
        (rows,) = await self._results(_KEY, (_NO_KEY if secret is None else key_hash(secret),))
        if not rows:
            return None
        scopes, _, _, team, key_id, name = rows[0]
        return Actor("anyone", team=team) if scopes is None else Actor("key", name, key_id, team)

    def close(self) -> None:
        """Close the connections, none of which is in use."""
        for connection in self._idle:
            connection.pgconn.finish()
        self._idle.clear()

    async def _results(self, statements: str, parameters: Sequence[object]) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement."""
        async with asyncio.timeout(_WITHIN_S):
            connection = self._idle.pop() if self._idle else await self._connected()
            try:
                cursor = await connection.execute(statements, parameters)
                results = [await cursor.fetchall()]
                while cursor.nextset():
                    results.append(await cursor.fetchall())
            except BaseException:
                connection.pgconn.finish()
                raise
        self._idle.append(connection)
        return results

    async def _connected(self) -> psycopg.AsyncConnection[Any]:
        connection = await psycopg.AsyncConnection.connect(
            **self._arguments,
            autocommit=True,
            cursor_factory=psycopg.AsyncClientCursor,
            options=f"-c timezone=UTC -c statement_timeout={_WITHIN_S * 1000:.0f}",
            application_name="rackplan",
        )
        set_json_loads(orjson.loads, connection)
        try:
            found = await (await connection.execute(row_security.IS_USABLE)).fetchone()
            role = row_security.ROLE if found is not None and found[0] else "none"
            prepared = _PREPARE.replace("{role}", role).replace("{may_be_open}", str(self._may_be_open).lower())
            await connection.execute(prepared.encode())
        except BaseException:
            connection.pgconn.finish()
            raise
        return connection
