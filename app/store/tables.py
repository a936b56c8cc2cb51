"""Every table, and the statements of statements.sql. The migrations create the same tables; a test compares them."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem

_, *_PARTS = re.split(
    r"^-- :(\w+)\n", files("app.store").joinpath("statements.sql").read_text("utf-8"), flags=re.MULTILINE
)
STATEMENTS: Mapping[str, str] = {name: text.strip() for name, text in zip(_PARTS[::2], _PARTS[1::2], strict=True)}
"""Statements of SQL by their names."""
metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


_MOMENT = sa.DateTime(timezone=True)
_IS_TEAM = "team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'"


def _of_teams(*, is_listed: bool = True) -> Iterator[SchemaItem]:
    """Columns of rows of teams: an id, the team, for which the migrations have policies, and the time of creation.

    Parameters
    ----------
    is_listed : whether pages of a team's rows are read by an index.
    """
    yield sa.Column("id", sa.Uuid, primary_key=True)
    yield sa.Column(
        "team", sa.Text, sa.CheckConstraint(_IS_TEAM, name="team"), nullable=False, server_default="default"
    )
    yield _created_at()
    if is_listed:
        yield sa.Index(None, "team", "id")


def _of_runs(table: str) -> Iterator[SchemaItem]:
    """Columns of jobs and sweeps: a state, a deadline and the attempts."""
    yield sa.Column("kind", sa.Text, nullable=False)
    yield sa.Column("state", sa.Text, nullable=False)
    # Code, detail and context of the failure of one that failed.
    yield sa.Column("error", sa.JSON)
    # The longest time from the first start that the request states; null if it states none.
    yield sa.Column("deadline_s", sa.Integer)
    # Attempts that failed unexpectedly, and workers that were lost during one; of a sweep, for the chunk in progress.
    yield sa.Column("failures", sa.Integer, nullable=False, server_default="0")
    yield sa.Column("losses", sa.Integer, nullable=False, server_default="0")
    yield sa.Column("started_at", _MOMENT)
    yield sa.Column("finished_at", _MOMENT)
    yield sa.Index(f"ix_{table}_unfinished", "team", postgresql_where=sa.text("state IN ('queued', 'running')"))
    yield sa.CheckConstraint("state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="state")


def _created_at() -> sa.Column[object]:
    return sa.Column("created_at", _MOMENT, nullable=False, server_default=sa.func.now())


snapshots = sa.Table(
    "snapshots",
    metadata,
    *_of_teams(),
    sa.Column("cluster", sa.Text, nullable=False),
    sa.Column("content_hash", sa.Text, nullable=False),
    # The canonical document, of which content_hash is the hash; plans are made from it.
    sa.Column("document", sa.LargeBinary, nullable=False),
    # The same cluster as arrays, if it is large: read in a tenth of the time. Stored out of line and uncompressed (the
    # migration says so).
    sa.Column("columns", sa.LargeBinary),
    # Counts and warnings, so that a list parses no document.
    sa.Column("summary", sa.JSON, nullable=False),
    # A cluster may return to an earlier state: the newest snapshot is the one last seen, not the one last created.
    sa.Column("last_seen_at", _MOMENT, nullable=False, server_default=sa.func.clock_timestamp()),
    sa.UniqueConstraint("team", "cluster", "content_hash"),
    sa.Index(None, "team", "cluster", "last_seen_at"),
)

plans = sa.Table(
    "plans",
    metadata,
    *_of_teams(),
    sa.Column("kind", sa.Text, nullable=False),
    # SHA-256 of the canonical request and the engine's version: the same hash is the same plan.
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("cluster", sa.Text),
    sa.Column("snapshot_id", sa.Uuid, sa.ForeignKey("snapshots.id"), index=True),
    # Parts of request and answer for lists, which read neither: they may have megabytes.
    sa.Column("engine_version", sa.Integer, nullable=False),
    sa.Column("prediction", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    # Beside the plan, which never changes: callers' notes about it. `revision` counts their changes.
    sa.Column("status", sa.Text, nullable=False, server_default="proposed", index=True),
    sa.Column("labels", JSONB, nullable=False),
    sa.Column("notes", sa.Text),
    sa.Column("history", JSONB, nullable=False, server_default="[]"),
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    # JSON, not JSONB: the text is stored as it was written, so that a plan is the same bytes each time it is read.
    sa.Column("request", sa.JSON, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    # Measured execution against its prediction; null until its log is recorded.
    sa.Column("ledger", sa.JSON(none_as_null=True)),
    # Bytes of its topics and of its ledger, which count for the team as soon as the plan is stored; see `team_usage`.
    sa.Column("part_bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index(None, "cluster"),
    sa.Index(None, "kind"),
    sa.UniqueConstraint("team", "hash"),
    sa.Index("ix_plans_ledger", "team", "id", postgresql_where=sa.text("ledger IS NOT NULL")),
    sa.CheckConstraint(
        "status IN ('proposed', 'approved', 'executing', 'executed', 'failed', 'superseded')", name="status"
    ),
    sa.Index("ix_plans_labels", "labels", postgresql_using="gin", postgresql_ops={"labels": "jsonb_path_ops"}),
)

plan_topics = sa.Table(
    "plan_topics",
    metadata,
    sa.Column("plan_id", sa.Uuid, sa.ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("first_partition_id", sa.Integer, nullable=False),
    sa.Column("partitions", sa.Integer, nullable=False),
    sa.Column("replication_factor", sa.Integer, nullable=False),
    # (partitions × replication_factor) little-endian int32 broker ids, row by row. Stored out of line and uncompressed
    # (the migration says so), so that a page of partitions is a slice.
    sa.Column("replicas", sa.LargeBinary, nullable=False),
    sa.Index(None, "name"),
)

jobs = sa.Table(
    "jobs",
    metadata,
    *_of_teams(),
    *_of_runs("jobs"),
    # Empty once the job has ended.
    sa.Column("request", sa.JSON, nullable=False),
    # The step that a running job is at.
    sa.Column("step", sa.Text),
    sa.Column("plan_id", sa.Uuid, sa.ForeignKey("plans.id", ondelete="SET NULL")),
)

sweeps = sa.Table(
    "sweeps",
    metadata,
    *_of_teams(),
    *_of_runs("sweeps"),
    sa.Column("definition", sa.JSON, nullable=False),
    sa.Column("scenarios", sa.Integer, nullable=False),
    sa.Column("labels", JSONB, nullable=False),
    # The API key that created the sweep: the unfinished sweeps of a key are limited.
    sa.Column("principal", sa.Text, nullable=False, index=True),
    # Why the sweep is paused, for example because Spark cannot be reached; null if it is not.
    sa.Column("waiting", sa.JSON),
    # Bytes of its rows, as in `plans`.
    sa.Column("part_bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index(None, "finished_at"),
)

# The ledger: a chunk's line is written in the transaction of its rows, so that each chunk is stored once.
sweep_chunks = sa.Table(
    "sweep_chunks",
    metadata,
    sa.Column("sweep_id", sa.Uuid, sa.ForeignKey("sweeps.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("start", sa.Integer, primary_key=True),
    sa.Column("stop", sa.Integer, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("finished_at", _MOMENT, nullable=False, server_default=sa.func.now()),
)

sweep_rows = sa.Table(
    "sweep_rows",
    metadata,
    sa.Column("sweep_id", sa.Uuid, sa.ForeignKey("sweeps.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("index", sa.Integer, primary_key=True),
    # The result of the scenario, in the fields of the sweep's kind.
    sa.Column("row", JSONB, nullable=False),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("team", sa.Text, nullable=False, server_default="default"),
    sa.Column("name", sa.Text, nullable=False),
    # SHA-256: the key has 256 random bits, so that a slower hash would not make it harder to guess.
    sa.Column("key_hash", sa.Text, nullable=False, unique=True),
    sa.Column("scopes", sa.ARRAY(sa.Text), nullable=False),
    sa.UniqueConstraint("team", "name"),
    _created_at(),
    # Null if it does not expire.
    sa.Column("expires_at", _MOMENT),
    # To the minute; null if it was never used.
    sa.Column("last_used_at", _MOMENT),
    sa.Column("revoked_at", _MOMENT),
    sa.CheckConstraint(f"{_IS_TEAM} OR team = '*'", name="team"),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    *_of_teams(is_listed=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("events", sa.ARRAY(sa.Text), nullable=False),
    # Readable, unlike an API key: a signature needs the secret itself.
    sa.Column("secret", sa.Text, nullable=False),
    # When the first of the attempts failed of which none has succeeded since; null if the last one succeeded.
    sa.Column("failing_since", _MOMENT),
    sa.Column("disabled_at", _MOMENT),
    sa.Column("disabled_reason", sa.Text),
)

# The outbox: a delivery is written in the transaction of the change that its event reports.
webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("webhook_id", sa.Uuid, sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    # Text, not JSON: every attempt sends and signs the same bytes.
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, index=True),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # How many attempts there had been at the last replay, which begins the schedule anew.
    sa.Column("attempts_replayed", sa.Integer, nullable=False, server_default="0"),
    # Of the last attempt: the HTTP status or the failure, and the beginning of the answer.
    sa.Column("status", sa.Integer),
    sa.Column("error", sa.Text),
    sa.Column("response", sa.Text),
    _created_at(),
    sa.Column("attempted_at", _MOMENT),
    sa.Column("next_attempt_at", _MOMENT),
    sa.CheckConstraint("state IN ('pending', 'succeeded', 'failed')", name="state"),
    sa.Index(None, "webhook_id", "id"),
    sa.Index(None, "created_at"),
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("team", sa.Text, primary_key=True, server_default="default"),
    sa.Column("principal", sa.Text, primary_key=True),
    sa.Column("idempotency_key", sa.Text, primary_key=True),
    # SHA-256 of the request: method, path, content type and body.
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("headers", sa.JSON, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    _created_at(),
    sa.Index(None, "created_at"),
    sa.CheckConstraint(_IS_TEAM, name="team"),
)

# Rows are added alone: the migration has triggers that reject any other change.
audit_entries = sa.Table(
    "audit_entries",
    metadata,
    # The order in which entries were added, whatever the clock says.
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("at", _MOMENT, nullable=False, server_default=sa.func.clock_timestamp()),
    # Null if a request had no valid key.
    sa.Column("team", sa.Text),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("name", sa.Text),
    sa.Column("key_id", sa.Text),
    sa.Column("address", sa.Text),
    sa.Column("request_id", sa.Text),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("resource", sa.Text),
    sa.Column("status", sa.Integer),
    sa.Column("code", sa.Text),
    sa.Column("count", sa.Integer, nullable=False, server_default="1"),
    sa.CheckConstraint(f"{_IS_TEAM} OR team = '*'", name="team"),
    sa.Index(None, "team", "id"),
    sa.Index(None, "at"),
)

# Secrets of the installation, such as the key that signs share links; a rotated key is replaced.
installation_keys = sa.Table(
    "installation_keys",
    metadata,
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False),
    _created_at(),
)

# Links that are valid, without their signatures.
share_links = sa.Table(
    "share_links",
    metadata,
    *_of_teams(),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_by", sa.Text),
    sa.Column("expires_at", _MOMENT, nullable=False),
    sa.Index(None, "expires_at"),
)

# Of browsers that have signed in at the OIDC issuer, with the caller as its ID token had it.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("secret_hash", sa.Text, primary_key=True),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.Column("caller", sa.JSON, nullable=False),
    _created_at(),
    sa.Column("expires_at", _MOMENT, nullable=False),
    sa.Index(None, "expires_at"),
)

# Usage of each team. Triggers of the migration count in the transaction that stores or deletes, and reject a statement
# that would exceed a quota; the role of requests only reads.
team_usage = sa.Table(
    "team_usage",
    metadata,
    sa.Column("team", sa.Text, primary_key=True),
    # As Postgres has compressed them, with a constant for each row: of snapshots, plans, sweeps and stored answers.
    sa.Column("stored_bytes", sa.BigInteger, nullable=False),
    sa.Column("plans", sa.BigInteger, nullable=False),
    sa.Column("snapshots", sa.BigInteger, nullable=False),
    sa.Column("share_links", sa.BigInteger, nullable=False),
    sa.CheckConstraint(_IS_TEAM, name="team"),
)

# The number of each team's last turn at the queue of jobs, for `take_task`; requests neither read nor change it.
job_turns = sa.Table(
    "job_turns",
    metadata,
    sa.Column("team", sa.Text, primary_key=True),
    sa.Column("turn", sa.BigInteger, nullable=False),
)
