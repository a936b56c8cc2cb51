"""Small plans in one round trip: the key of a request, the team that it acts for, and a row that is read or stored.

The stores take ten: for the key a ping, `BEGIN`, the statement and `COMMIT`; for the plan the same with three
statements. What is read or stored here is small and seldom locked, so that the process that listens does it without a
thread and without a slot. Statements are prepared once a connection; those of a round trip are one implicit
transaction, with which the role and the team end.
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
from app.store import addresses, audit, row_security, teams, usage
from app.store.actors import Actor
from app.store.api_keys import USE_RECORDED_EVERY, key_hash
from app.store.database import Database
from app.store.plans import rows_of, topic_values, values_of
from app.store.records import NewPlan, PlanHead

MOST_BYTES = 32 * 1024
"""A larger plan is not read: replicas as they are, the rest as Postgres has compressed it."""
_WITHIN_S = 1.0
NO_KEY = ""
"""Takes the place of the hash of a key that a request does not have."""
_RECENT_S = f"{USE_RECORDED_EVERY.total_seconds():.0f}"
_ANSWERED = ("kind", "hash", "cluster", "snapshot_id", "request", "answer", "title", "summary")
_HEAD = ", ".join(field.name for field in fields(PlanHead))

_STORED_TYPES = (
    "id uuid, kind text, hash text, cluster text, engine_version int, prediction text, seed bigint, title text, "
    "summary text, labels jsonb, request json, answer json, part_bytes bigint"
)
_TOPIC_TYPES = "ordinal int, name text, first_partition_id int, partitions int, replication_factor int"
_STORED, _TOPIC = (", ".join(f"{part.split()[0]}" for part in of.split(", ")) for of in (_STORED_TYPES, _TOPIC_TYPES))

# The key counts as the stores count it. A key whose use is to be recorded, which takes a write, is not read here.
_OF_HASH = f"hash = $1 AND team = nullif(current_setting('{row_security.SETTING}', true), '{teams.ALL}')"
_NAMED = "jsonb_set($3, '{0,resource}', to_jsonb(($3->0->>'resource') || id))"
_PREPARE = f"""
PREPARE acting (text) AS
    WITH presented AS (
        SELECT team, scopes, id, name FROM api_keys
        WHERE key_hash = $1 AND revoked_at IS NULL AND coalesce(expires_at > now(), true)
        AND last_used_at BETWEEN now() - interval '{_RECENT_S} s' AND now() + interval '{_RECENT_S} s'
    ), acting AS (
        SELECT team, scopes, id, name FROM presented
        UNION ALL
        SELECT '{teams.DEFAULT}', NULL, NULL, NULL
        WHERE $1 = '{NO_KEY}' AND {{may_be_open}} AND NOT EXISTS (SELECT FROM api_keys)
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
    ORDER BY ordinal;
PREPARE stored (json) AS
    INSERT INTO plans (team, {_STORED})
    SELECT current_setting('{row_security.SETTING}', true), given.* FROM json_to_record($1) AS given ({_STORED_TYPES})
    WHERE nullif(current_setting('{row_security.SETTING}', true), '{teams.ALL}') <> ''
    AND NOT EXISTS (SELECT FROM webhooks WHERE disabled_at IS NULL AND 'plan.created' = ANY (events))
    ON CONFLICT (team, hash) DO NOTHING
    RETURNING created_at, labels;
PREPARE stored_topics (uuid, json) AS
    INSERT INTO plan_topics (plan_id, {_TOPIC}, replicas)
    SELECT plans.id, {_TOPIC}, decode(hex, 'hex') FROM plans, json_to_recordset($2) AS given ({_TOPIC_TYPES}, hex text)
    WHERE plans.id = $1;
PREPARE repeated (text) AS
    SELECT {_HEAD} FROM plans WHERE {_OF_HASH};
PREPARE repeated_topics (text) AS
    SELECT name, first_partition_id, replication_factor, replicas FROM plan_topics
    WHERE plan_id = (SELECT id FROM plans WHERE {_OF_HASH}) ORDER BY ordinal;
PREPARE audited (text, uuid, jsonb) AS
    {audit.adding(f"(SELECT {_NAMED} FROM plans WHERE {_OF_HASH} AND id = coalesce($2, id))")}
"""  # noqa: S608 -- constants
_KEY = "EXECUTE acting (%s)"
_STORE = "EXECUTE acting (%s); EXECUTE stored (%s); EXECUTE stored_topics (%s, %s); EXECUTE audited (%s, %s, %s)"
_FIND = "EXECUTE acting (%s); EXECUTE repeated (%s); EXECUTE repeated_topics (%s); EXECUTE audited (%s, %s, %s)"
_READ = "EXECUTE acting (%s); EXECUTE head (%s); EXECUTE topics (%s)"


@dataclass(frozen=True, slots=True)
class DirectPlan:
    """A plan that was read directly. `scopes` are those of the key; None if the service is open."""

    scopes: tuple[str, ...] | None
    head: PlanHead
    placements: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class Acting:
    """The caller of a request, by its key; `scopes` are those of the key, None if the service is open."""

    actor: Actor
    scopes: tuple[str, ...] | None
    key_hash: str


class DirectStore:
    """Round trips over connections of its own. Belongs to one event loop; one that raises closes its connection.

    It answers or it does not: whatever is missing, locked, large or fails is left to the stores, which say why.

    Parameters
    ----------
    may_be_open : whether the service is open until the first key is created.
    """

    def __init__(self, database: Database, *, may_be_open: bool) -> None:
        self._may_be_open = may_be_open
        self._arguments, self._quotas = addresses.parameters(database.url), usage.option(database.quotas)
        self._idle: list[psycopg.AsyncCursor[Any]] = []

    async def plan(self, secret: str | None, plan_id: UUID) -> DirectPlan | None:
        """A plan that the key may see; None if there is none, the key is not valid, or the plan is large.

        Raises `psycopg.Error`, `OSError` and `TimeoutError`: the database is not there, or takes a second.
        """
        hashed = NO_KEY if secret is None else key_hash(secret)
        acting, heads, rows = await self._results(_READ, (hashed, plan_id, plan_id))
        if not acting or not heads:
            return None
        (scopes, *_), head = acting[0], heads[0]
        return DirectPlan(None if scopes is None else tuple(scopes), PlanHead(*head), _placements(rows))

    async def acting(self, secret: str | None) -> Acting | None:
        """The actor: anyone, if no key is needed, or the key, if its use was recorded lately. Raises as `plan`."""
        hashed = NO_KEY if secret is None else key_hash(secret)
        (rows,) = await self._results(_KEY, (hashed,))
        if not rows:
            return None
        scopes, _, _, team, key_id, name = rows[0]
        if scopes is None:
            return Acting(Actor("anyone", team=team), None, hashed)
        return Acting(Actor("key", name, key_id, team), tuple(scopes), hashed)

    async def store(self, acting: Acting, plan_id: UUID, plan: NewPlan, entry: audit.NewEntry) -> DirectPlan | None:
        """Store a small plan of no snapshot, and the entry of the audit log on its request, for the acting caller.

        None, and nothing is stored, if the key is not valid any more, the team has a plan of the hash, or webhooks
        subscribe to new plans. Raises as `plan`; the plan may be stored then, and is found by its hash.

        Parameters
        ----------
        entry : its resource is what precedes the id of the plan.
        """
        row = orjson.dumps({"id": plan_id, **values_of(plan)}, option=orjson.OPT_NON_STR_KEYS).decode()
        topics = [
            {name: value for name, value in each.items() if name != "replicas"} | {"hex": each["replicas"].hex()}
            for each in topic_values(plan.placements)
        ]
        parameters = (acting.key_hash, row, plan_id, orjson.dumps(topics).decode())
        _, created, *_ = await self._results(_STORE, (*parameters, plan.hash, plan_id, _written(entry)))
        if not created:
            return None
        created_at, labels = created[0]
        answered = {name: getattr(plan, name) for name in _ANSWERED}
        head = PlanHead(id=plan_id, created_at=created_at, labels=labels, history=[], **answered)
        return DirectPlan(acting.scopes, head, tuple(plan.placements))

    async def find(self, acting: Acting, plan_hash: str, entry: audit.NewEntry) -> DirectPlan | None:
        """The plan of a hash that the team has, after the entry on its request is stored; None if there is none.

        Of small plans: their rows are read whatever their size. `entry` as in `store`; raises as `plan`.
        """
        parameters = (acting.key_hash, plan_hash, plan_hash, plan_hash, None, _written(entry))
        _, heads, rows, _ = await self._results(_FIND, parameters)
        return DirectPlan(acting.scopes, PlanHead(*heads[0]), _placements(rows)) if heads else None

    def close(self) -> None:
        """Close the connections, none of which is in use."""
        for cursor in self._idle:
            cursor.connection.pgconn.finish()
        self._idle.clear()

    async def _results(self, statements: str, parameters: Sequence[object]) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement."""
        async with asyncio.timeout(_WITHIN_S):
            cursor = self._idle.pop() if self._idle else await self._connected()
            try:
                await cursor.execute(statements, parameters)
                results = [await cursor.fetchall()]
                while cursor.nextset():
                    has_rows = cursor.pgresult is not None and cursor.pgresult.nfields
                    results.append(await cursor.fetchall() if has_rows else [])
            except BaseException:
                cursor.connection.pgconn.finish()
                raise
        self._idle.append(cursor)
        return results

    async def _connected(self) -> psycopg.AsyncCursor[Any]:
        connection = await psycopg.AsyncConnection.connect(
            **self._arguments,
            autocommit=True,
            cursor_factory=psycopg.AsyncClientCursor,
            options=f"-c timezone=UTC -c statement_timeout={_WITHIN_S * 1000:.0f}" + self._quotas,
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
        return connection.cursor()


def _placements(rows: Sequence[tuple[Any, ...]]) -> tuple[Placement, ...]:
    return tuple(Placement(name, first, rows_of(replicas, factor)) for name, first, factor, replicas in rows)


def _written(entry: audit.NewEntry) -> str:
    return orjson.dumps([entry.row()]).decode()
