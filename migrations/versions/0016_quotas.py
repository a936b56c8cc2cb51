"""Usage of each team, counted in the transaction that stores or deletes; and turns of teams at the queue of jobs.

Triggers count, so that neither a new statement nor the release before this one can forget to. They reject what exceeds
the quotas that a connection states in `rackplan.quotas`, the counters and the
number of unfinished jobs in their order.

Revision ID: 0016
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_COUNTERS = ("stored_bytes", "plans", "snapshots", "share_links")
_ROW_BYTES = 128
_TEAM = "team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'"
_MAY = "(SELECT current_setting('rackplan.team', true)) IN (team, '*')"
_UNFINISHED = "state IN ('queued', 'running')"
_COUNTED = {
    "snapshots": ("snapshots", ("document", "columns", "summary"), ""),
    "plans": ("plans", ("request", "answer", "labels", "notes", "history"), " + {row}part_bytes"),
    "sweeps": (None, ("definition", "labels"), " + {row}part_bytes"),
    "share_links": ("share_links", ("name",), ""),
    "answers": (None, ("headers", "body"), ""),
}
"""By table: the counter of its rows, the columns whose bytes count, and bytes of other tables.

Bytes are those that Postgres stores, after compression. Triggers of rows see what is in the table, unlike transition
tables of an INSERT, so that a row is subtracted as it was added.
"""
_WITH_STATES = ("jobs", "sweeps")
# Unfinished jobs have no counter: the end of a job would wait for it while a plan of the team is stored. They are few.
# The row of the counters is locked before they are counted, so that no two transactions of a team add one at once.
_CHARGE = """
    CREATE FUNCTION charge_team(of_team text, added bigint[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        names constant text[] := '{{{counters},unfinished_jobs}}';
        quotas bigint[] := nullif(current_setting('rackplan.quotas', true), '')::bigint[];
        used bigint[];
    BEGIN
        INSERT INTO team_usage AS known (team, {counters}) VALUES (of_team, {values})
        ON CONFLICT (team) DO UPDATE SET {sums} RETURNING ARRAY[{known}, 0] INTO used;
        IF added[{last}] > 0 THEN
            used[{last}] := (SELECT count(*) FROM jobs WHERE team = of_team AND {unfinished})
                + (SELECT count(*) FROM sweeps WHERE team = of_team AND {unfinished});
        END IF;
        FOR i IN 1 .. {last} LOOP
            IF added[i] > 0 AND quotas[i] > 0 AND used[i] > quotas[i] THEN
                RAISE EXCEPTION 'the team % would exceed its quota of %', of_team, names[i]
                USING ERRCODE = 'RPQTA', DETAIL = json_build_object(
                    'team', of_team, 'quota', names[i], 'limit', quotas[i], 'used', used[i] - added[i],
                    'added', added[i]);
            END IF;
        END LOOP;
    END $$
"""
_FUNCTION = """
    CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
"""
_COUNT = """
    DECLARE
        bytes bigint;
        each record;
    BEGIN
        IF TG_OP = 'DELETE' THEN
            -- One update a statement, whatever number of rows it deletes; in the order of teams, against deadlocks.
            FOR each IN
                SELECT team, -sum({size}) AS bytes, -count(*) AS rows FROM deleted GROUP BY team ORDER BY team
            LOOP
                PERFORM charge_team(each.team, ARRAY[each.bytes, {deleted}, 0]::bigint[]);
            END LOOP;
            RETURN NULL;
        END IF;
        bytes := {new_size};
        IF TG_OP = 'UPDATE' THEN
            bytes := bytes - ({old_size});
            IF bytes <> 0 THEN
                PERFORM charge_team(NEW.team, ARRAY[bytes, {no_rows}, 0]);
            END IF;
        ELSE
            PERFORM charge_team(NEW.team, ARRAY[bytes, {inserted}, 0]);
        END IF;
        RETURN NULL;
    END $$
"""
_BEGIN = f"""
    BEGIN
        IF NEW.{_UNFINISHED} THEN
            PERFORM charge_team(NEW.team, ARRAY[{"0, " * len(_COUNTERS)}1]);
        END IF;
        RETURN NULL;
    END $$
"""
# The team with the fewest running tasks is next; of several, the one whose last turn is the longest ago. One worker
# chooses at a time: two at once would give the same team two turns.
_TAKE = """
    CREATE FUNCTION take_task(queues character varying[], worker bigint) RETURNS procrastinate_jobs LANGUAGE plpgsql
    AS $$
    DECLARE
        chosen record;
        taken procrastinate_jobs;
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('take_task', 0));
        WITH tasks AS MATERIALIZED (
            SELECT task.id, task.status, task.priority, task.scheduled_at, coalesce(
                (SELECT jobs.team FROM jobs WHERE jobs.id = (task.args->>'job_id')::uuid),
                (SELECT sweeps.team FROM sweeps WHERE sweeps.id = (task.args->>'sweep_id')::uuid), '') AS team
            FROM procrastinate_jobs task WHERE task.status IN ('todo', 'doing') AND task.queue_name = ANY (queues)
        )
        SELECT tasks.id, tasks.team INTO chosen FROM tasks LEFT JOIN job_turns USING (team)
        LEFT JOIN (SELECT team, count(*) AS running FROM tasks WHERE status = 'doing' GROUP BY team) busy USING (team)
        WHERE tasks.status = 'todo' AND coalesce(tasks.scheduled_at <= now(), true)
        ORDER BY tasks.priority DESC, coalesce(running, 0), coalesce(turn, 0), tasks.id LIMIT 1;
        IF FOUND THEN
            UPDATE procrastinate_jobs SET status = 'doing', worker_id = worker
            WHERE id = chosen.id AND status = 'todo' RETURNING * INTO taken;
            INSERT INTO job_turns (team, turn) SELECT chosen.team, coalesce(max(turn), 0) + 1 FROM job_turns
            ON CONFLICT (team) DO UPDATE SET turn = excluded.turn;
        END IF;
        RETURN taken;
    END $$
"""


def _size(table: str, row: str = "") -> str:
    """The bytes of a row as an expression; `row` is what precedes the names of its columns."""
    _, columns, parts = _COUNTED[table]
    sizes = " + ".join(f"coalesce(pg_column_size({row}{column}), 0)" for column in columns)
    return f"{_ROW_BYTES} + {sizes}{parts.format(row=row)}"


def _of_rows(table: str, rows: str) -> str:
    """What rows of a table add to each counter but that of bytes."""
    return ", ".join(rows if name == _COUNTED[table][0] else "0" for name in _COUNTERS[1:])


def upgrade() -> None:
    op.create_table(
        "team_usage",
        sa.Column("team", sa.Text, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _COUNTERS),
        sa.PrimaryKeyConstraint("team", name="pk_team_usage"),
        sa.CheckConstraint(_TEAM, name=op.f("ck_team_usage_team")),
    )
    op.execute("ALTER TABLE team_usage ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY team ON team_usage USING ({_MAY})")
    op.create_table(
        "job_turns",
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("team", name="pk_job_turns"),
    )
    op.execute(_TAKE)
    # Until the end of the migration nothing is stored that would be counted twice, or not at all.
    op.execute(f"LOCK TABLE {', '.join(_COUNTED)} IN SHARE ROW EXCLUSIVE MODE")
    for table in ("plans", "sweeps"):
        op.add_column(table, sa.Column("part_bytes", sa.BigInteger, nullable=False, server_default="0"))
    for table in _WITH_STATES:
        op.create_index(f"ix_{table}_unfinished", table, ["team"], postgresql_where=sa.text(_UNFINISHED))
    _count_rows()
    _create_triggers()


def _create_triggers() -> None:
    schema = op.get_bind().scalar(sa.text("SELECT quote_ident(current_schema())"))
    op.execute(
        _CHARGE.format(
            counters=",".join(_COUNTERS),
            values=", ".join(f"added[{place}]" for place in range(1, len(_COUNTERS) + 1)),
            sums=", ".join(f"{name} = known.{name} + excluded.{name}" for name in _COUNTERS),
            known=", ".join(f"known.{name}" for name in _COUNTERS),
            last=len(_COUNTERS) + 1,
            unfinished=_UNFINISHED,
        )
    )
    for table in _COUNTED:
        counting = _COUNT.format(
            size=_size(table),
            new_size=_size(table, "NEW."),
            old_size=_size(table, "OLD."),
            inserted=_of_rows(table, "1"),
            deleted=_of_rows(table, "each.rows"),
            no_rows=_of_rows(table, "0"),
        )
        op.execute(_FUNCTION.format(name=f"count_{table}", schema=schema) + counting)
        op.execute(
            f"CREATE TRIGGER counted AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION count_{table}()"
        )
        op.execute(
            f"CREATE TRIGGER uncounted AFTER DELETE ON {table} REFERENCING OLD TABLE AS deleted "
            f"FOR EACH STATEMENT EXECUTE FUNCTION count_{table}()"
        )
    op.execute(_FUNCTION.format(name="count_unfinished", schema=schema) + _BEGIN)
    for table in _WITH_STATES:
        op.execute(f"CREATE TRIGGER begun AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION count_unfinished()")


def _count_rows() -> None:
    """Count what is stored already."""
    op.execute(
        f"UPDATE plans SET part_bytes = parts.bytes FROM (SELECT plan_id, sum(octet_length(replicas) + {_ROW_BYTES}) "  # noqa: S608 -- a constant
        "AS bytes FROM plan_topics GROUP BY plan_id) parts WHERE plans.id = parts.plan_id"
    )
    op.execute(
        f"UPDATE sweeps SET part_bytes = parts.bytes FROM (SELECT sweep_id, sum(pg_column_size(row) + {_ROW_BYTES}) "  # noqa: S608 -- a constant
        "AS bytes FROM sweep_rows GROUP BY sweep_id) parts WHERE sweeps.id = parts.sweep_id"
    )
    # Requests of jobs that have ended are not read any more, and could not be deleted.
    op.execute(f"UPDATE jobs SET request = '{{}}' WHERE NOT ({_UNFINISHED})")  # noqa: S608 -- a constant
    sums = ", ".join(f"sum({name})" for name in _COUNTERS)
    counted = " UNION ALL ".join(
        f"SELECT team, sum({_size(table)}), {_of_rows(table, 'count(*)')} FROM {table} GROUP BY team"  # noqa: S608 -- constants
        for table in _COUNTED
    )
    op.execute(
        f"INSERT INTO team_usage (team, {', '.join(_COUNTERS)}) SELECT team, {sums} "  # noqa: S608 -- constants
        f"FROM ({counted}) AS counted (team, {', '.join(_COUNTERS)}) GROUP BY team"
    )


def downgrade() -> None:
    for table in _COUNTED:
        op.execute(f"DROP FUNCTION count_{table} CASCADE")
    op.execute("DROP FUNCTION count_unfinished CASCADE")
    op.execute("DROP FUNCTION charge_team")
    op.execute("DROP FUNCTION take_task")
    for table in _WITH_STATES:
        op.drop_index(f"ix_{table}_unfinished", table)
    for table in ("plans", "sweeps"):
        op.drop_column(table, "part_bytes")
    op.drop_table("job_turns")
    op.drop_table("team_usage")
