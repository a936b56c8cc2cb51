"""Every table. The migrations create the same; a test compares them."""

from collections.abc import Iterator

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


_MOMENT = DateTime(timezone=True)
_IS_TEAM = "team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'"


def _of_teams(*, is_listed: bool = True) -> Iterator[SchemaItem]:
    """Columns of rows of teams: an id, the team, for which the migrations have policies, and the time of creation.

    Parameters
    ----------
    is_listed : whether pages of a team's rows are read by an index.
    """
    yield Column("id", Uuid, primary_key=True)
    yield Column("team", Text, CheckConstraint(_IS_TEAM, name="team"), nullable=False, server_default="default")
    yield _created_at()
    if is_listed:
        yield Index(None, "team", "id")


def _of_runs(table: str) -> Iterator[SchemaItem]:
    """Columns of jobs and sweeps: a state, a deadline and the attempts."""
    yield Column("kind", Text, nullable=False)
    yield Column("state", Text, nullable=False)
    # Code, detail and context of the failure of one that failed.
    yield Column("error", JSON)
    # The longest time from the first start that the request states; null if it states none.
    yield Column("deadline_s", Integer)
    # Attempts that failed unexpectedly, and workers that were lost during one; of a sweep, for the chunk in progress.
    yield Column("failures", Integer, nullable=False, server_default="0")
    yield Column("losses", Integer, nullable=False, server_default="0")
    yield Column("started_at", _MOMENT)
    yield Column("finished_at", _MOMENT)
    yield Index(f"ix_{table}_unfinished", "team", postgresql_where=text("state IN ('queued', 'running')"))
    yield CheckConstraint("state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="state")


def _created_at() -> Column[object]:
    return Column("created_at", _MOMENT, nullable=False, server_default=func.now())


snapshots = Table(
    "snapshots",
    metadata,
    *_of_teams(),
    Column("cluster", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    # The canonical document, of which content_hash is the hash; plans are made from it.
    Column("document", LargeBinary, nullable=False),
    # The same cluster as arrays, if it is large: read in a tenth of the time. Stored out of line and uncompressed (the
    # migration says so).
    Column("columns", LargeBinary),
    # Counts and warnings, so that a list parses no document.
    Column("summary", JSON, nullable=False),
    # A cluster may return to an earlier state: the newest snapshot is the one last seen, not the one last created.
    Column("last_seen_at", _MOMENT, nullable=False, server_default=func.clock_timestamp()),
    UniqueConstraint("team", "cluster", "content_hash"),
    Index(None, "team", "cluster", "last_seen_at"),
)

plans = Table(
    "plans",
    metadata,
    *_of_teams(),
    Column("kind", Text, nullable=False),
    # SHA-256 of the canonical request and the engine's version: the same hash is the same plan.
    Column("hash", Text, nullable=False),
    Column("cluster", Text),
    Column("snapshot_id", Uuid, ForeignKey("snapshots.id"), index=True),
    # Parts of request and answer for lists, which read neither: they may have megabytes.
    Column("engine_version", Integer, nullable=False),
    Column("prediction", Text, nullable=False),
    Column("seed", BigInteger),
    Column("title", Text, nullable=False),
    Column("summary", Text, nullable=False),
    # Beside the plan, which never changes: callers' notes about it. `revision` counts their changes.
    Column("status", Text, nullable=False, server_default="proposed", index=True),
    Column("labels", JSONB, nullable=False),
    Column("notes", Text),
    Column("history", JSONB, nullable=False, server_default="[]"),
    Column("revision", Integer, nullable=False, server_default="0"),
    # JSON, not JSONB: the text is stored as it was written, so that a plan is the same bytes each time it is read.
    Column("request", JSON, nullable=False),
    Column("answer", JSON, nullable=False),
    # Measured execution against its prediction; null until its log is recorded.
    Column("ledger", JSON(none_as_null=True)),
    # Bytes of its topics and of its ledger, which count for the team as soon as the plan is stored; see `team_usage`.
    Column("part_bytes", BigInteger, nullable=False, server_default="0"),
    Index(None, "cluster"),
    Index(None, "kind"),
    UniqueConstraint("team", "hash"),
    Index("ix_plans_ledger", "team", "id", postgresql_where=text("ledger IS NOT NULL")),
    CheckConstraint(
        "status IN ('proposed', 'approved', 'executing', 'executed', 'failed', 'superseded')", name="status"
    ),
    Index("ix_plans_labels", "labels", postgresql_using="gin", postgresql_ops={"labels": "jsonb_path_ops"}),
)

plan_topics = Table(
    "plan_topics",
    metadata,
    Column("plan_id", Uuid, ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("first_partition_id", Integer, nullable=False),
    Column("partitions", Integer, nullable=False),
    Column("replication_factor", Integer, nullable=False),
    # (partitions × replication_factor) little-endian int32 broker ids, row by row. Stored out of line and uncompressed
    # (the migration says so), so that a page of partitions is a slice.
    Column("replicas", LargeBinary, nullable=False),
    Index(None, "name"),
)

jobs = Table(
    "jobs",
    metadata,
    *_of_teams(),
    *_of_runs("jobs"),
    # Empty once the job has ended.
    Column("request", JSON, nullable=False),
    # The step that a running job is at.
    Column("step", Text),
    Column("plan_id", Uuid, ForeignKey("plans.id", ondelete="SET NULL")),
)

sweeps = Table(
    "sweeps",
    metadata,
    *_of_teams(),
    *_of_runs("sweeps"),
    Column("definition", JSON, nullable=False),
    Column("scenarios", Integer, nullable=False),
    Column("labels", JSONB, nullable=False),
    # The API key that created the sweep: the unfinished sweeps of a key are limited.
    Column("principal", Text, nullable=False, index=True),
    # Why the sweep is paused, for example because Spark cannot be reached; null if it is not.
    Column("waiting", JSON),
    # Bytes of its rows, as in `plans`.
    Column("part_bytes", BigInteger, nullable=False, server_default="0"),
    Index(None, "finished_at"),
)

# The ledger: a chunk's line is written in the transaction of its rows, so that each chunk is stored once.
sweep_chunks = Table(
    "sweep_chunks",
    metadata,
    Column("sweep_id", Uuid, ForeignKey("sweeps.id", ondelete="CASCADE"), primary_key=True),
    Column("start", Integer, primary_key=True),
    Column("stop", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("finished_at", _MOMENT, nullable=False, server_default=func.now()),
)

sweep_rows = Table(
    "sweep_rows",
    metadata,
    Column("sweep_id", Uuid, ForeignKey("sweeps.id", ondelete="CASCADE"), primary_key=True),
    Column("index", Integer, primary_key=True),
    # The result of the scenario, in the fields of the sweep's kind.
    Column("row", JSONB, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("team", Text, nullable=False, server_default="default"),
    Column("name", Text, nullable=False),
    # SHA-256: the key has 256 random bits, so that a slower hash would not make it harder to guess.
    Column("key_hash", Text, nullable=False, unique=True),
    Column("scopes", ARRAY(Text), nullable=False),
    UniqueConstraint("team", "name"),
    _created_at(),
    # Null if it does not expire.
    Column("expires_at", _MOMENT),
    # To the minute; null if it was never used.
    Column("last_used_at", _MOMENT),
    Column("revoked_at", _MOMENT),
    CheckConstraint(f"{_IS_TEAM} OR team = '*'", name="team"),
)

webhooks = Table(
    "webhooks",
    metadata,
    *_of_teams(is_listed=False),
    Column("url", Text, nullable=False),
    Column("events", ARRAY(Text), nullable=False),
    # Readable, unlike an API key: a signature needs the secret itself.
    Column("secret", Text, nullable=False),
    # When the first of the attempts failed of which none has succeeded since; null if the last one succeeded.
    Column("failing_since", _MOMENT),
    Column("disabled_at", _MOMENT),
    Column("disabled_reason", Text),
)

# The outbox: a delivery is written in the transaction of the change that its event reports.
webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("webhook_id", Uuid, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    # Text, not JSON: every attempt sends and signs the same bytes.
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False, index=True),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # How many attempts there had been at the last replay, which begins the schedule anew.
    Column("attempts_replayed", Integer, nullable=False, server_default="0"),
    # Of the last attempt: the HTTP status or the failure, and the beginning of the answer.
    Column("status", Integer),
    Column("error", Text),
    Column("response", Text),
    _created_at(),
    Column("attempted_at", _MOMENT),
    Column("next_attempt_at", _MOMENT),
    CheckConstraint("state IN ('pending', 'succeeded', 'failed')", name="state"),
    Index(None, "webhook_id", "id"),
    Index(None, "created_at"),
)

answers = Table(
    "answers",
    metadata,
    Column("team", Text, primary_key=True, server_default="default"),
    Column("principal", Text, primary_key=True),
    Column("idempotency_key", Text, primary_key=True),
    # SHA-256 of the request: method, path, content type and body.
    Column("fingerprint", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", JSON, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _created_at(),
    Index(None, "created_at"),
    CheckConstraint(_IS_TEAM, name="team"),
)

# Rows are added alone: the migration has triggers that reject any other change.
audit_entries = Table(
    "audit_entries",
    metadata,
    # The order in which entries were added, whatever the clock says.
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at", _MOMENT, nullable=False, server_default=func.clock_timestamp()),
    # Null if a request had no valid key.
    Column("team", Text),
    Column("actor", Text, nullable=False),
    Column("name", Text),
    Column("key_id", Text),
    Column("address", Text),
    Column("request_id", Text),
    Column("action", Text, nullable=False),
    Column("resource", Text),
    Column("status", Integer),
    Column("code", Text),
    Column("count", Integer, nullable=False, server_default="1"),
    CheckConstraint(f"{_IS_TEAM} OR team = '*'", name="team"),
    Index(None, "team", "id"),
    Index(None, "at"),
)

# Secrets of the installation, such as the key that signs share links; a rotated key is replaced.
installation_keys = Table(
    "installation_keys",
    metadata,
    Column("purpose", Text, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    _created_at(),
)

# Links that are valid, without their signatures.
share_links = Table(
    "share_links",
    metadata,
    *_of_teams(),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_by", Text),
    Column("expires_at", _MOMENT, nullable=False),
    Index(None, "expires_at"),
)

# Of browsers that have signed in at the OIDC issuer, with the caller as its ID token had it.
sessions = Table(
    "sessions",
    metadata,
    Column("secret_hash", Text, primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("caller", JSON, nullable=False),
    _created_at(),
    Column("expires_at", _MOMENT, nullable=False),
    Index(None, "expires_at"),
)

# Usage of each team. Triggers of the migration count in the transaction that stores or deletes, and reject a statement
# that would exceed a quota; the role of requests only reads.
team_usage = Table(
    "team_usage",
    metadata,
    Column("team", Text, primary_key=True),
    # As Postgres has compressed them, with a constant for each row: of snapshots, plans, sweeps and stored answers.
    Column("stored_bytes", BigInteger, nullable=False),
    Column("plans", BigInteger, nullable=False),
    Column("snapshots", BigInteger, nullable=False),
    Column("share_links", BigInteger, nullable=False),
    CheckConstraint(_IS_TEAM, name="team"),
)

# The number of each team's last turn at the queue of jobs, for `take_task`; requests neither read nor change it.
job_turns = Table(
    "job_turns",
    metadata,
    Column("team", Text, primary_key=True),
    Column("turn", BigInteger, nullable=False),
)
