-- Every table, as the migrations leave it. A comment is above its column; columns of a name that several tables have
-- are described at the first one.

-- Snapshots of clusters.
CREATE TABLE snapshots (
    id uuid NOT NULL CONSTRAINT pk_snapshots PRIMARY KEY,
    -- The team, for which the migrations have policies.
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_snapshots_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    cluster text NOT NULL,
    content_hash text NOT NULL,
    -- The canonical document, of which content_hash is the hash; plans are made from it.
    document bytea NOT NULL,
    -- The same cluster as arrays, if it is large: read in a tenth of the time.
    columns bytea STORAGE EXTERNAL,
    -- Counts and warnings, so that a list parses no document.
    summary json NOT NULL,
    -- A cluster may return to an earlier state: the newest snapshot is the one last seen, not the one last created.
    last_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT uq_snapshots_team_cluster_content_hash UNIQUE (team, cluster, content_hash)
);
CREATE INDEX ix_snapshots_team_cluster_last_seen_at ON snapshots (team, cluster, last_seen_at);
CREATE INDEX ix_snapshots_team_id ON snapshots (team, id);

-- Plans, which never change.
CREATE TABLE plans (
    id uuid NOT NULL CONSTRAINT pk_plans PRIMARY KEY,
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_plans_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    -- SHA-256 of the canonical request and the engine's version: the same hash is the same plan.
    hash text NOT NULL,
    cluster text,
    snapshot_id uuid CONSTRAINT fk_plans_snapshot_id_snapshots REFERENCES snapshots (id),
    -- Parts of request and answer for lists, which read neither: they may have megabytes.
    engine_version integer NOT NULL,
    prediction text NOT NULL,
    seed bigint,
    title text NOT NULL,
    summary text NOT NULL,
    -- Beside the plan: callers' notes about it. `revision` counts their changes.
    status text NOT NULL DEFAULT 'proposed' CONSTRAINT ck_plans_ck_plans_status CHECK (
        status IN ('proposed', 'approved', 'executing', 'executed', 'failed', 'superseded')
    ),
    labels jsonb NOT NULL,
    notes text,
    history jsonb NOT NULL DEFAULT '[]',
    revision integer NOT NULL DEFAULT 0,
    -- json, not jsonb: the text is stored as it was written, so that a plan is the same bytes each time it is read.
    request json NOT NULL,
    answer json NOT NULL,
    -- Measured execution against its prediction; null until its log is recorded.
    ledger json,
    -- Bytes of its topics and of its ledger, which count for the team as soon as the plan is stored; see `team_usage`.
    part_bytes bigint NOT NULL DEFAULT '0',
    CONSTRAINT uq_plans_team_hash UNIQUE (team, hash)
);
CREATE INDEX ix_plans_cluster ON plans (cluster);
CREATE INDEX ix_plans_kind ON plans (kind);
CREATE INDEX ix_plans_labels ON plans USING gin (labels jsonb_path_ops);
CREATE INDEX ix_plans_ledger ON plans (team, id) WHERE ledger IS NOT NULL;
CREATE INDEX ix_plans_snapshot_id ON plans (snapshot_id);
CREATE INDEX ix_plans_status ON plans (status);
CREATE INDEX ix_plans_team_id ON plans (team, id);

-- The topics of a plan.
CREATE TABLE plan_topics (
    plan_id uuid NOT NULL CONSTRAINT fk_plan_topics_plan_id_plans REFERENCES plans (id) ON DELETE CASCADE,
    ordinal integer NOT NULL,
    name text NOT NULL,
    first_partition_id integer NOT NULL,
    partitions integer NOT NULL,
    replication_factor integer NOT NULL,
    -- (partitions × replication_factor) little-endian int32 broker ids, row by row. Stored out of line and
    -- uncompressed, so that a page of partitions is a slice.
    replicas bytea STORAGE EXTERNAL NOT NULL,
    CONSTRAINT pk_plan_topics PRIMARY KEY (plan_id, ordinal)
);
CREATE INDEX ix_plan_topics_name ON plan_topics (name);

-- Requests that a worker computes.
CREATE TABLE jobs (
    id uuid NOT NULL CONSTRAINT pk_jobs PRIMARY KEY,
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_jobs_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    state text NOT NULL CONSTRAINT ck_jobs_state CHECK (
        state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')
    ),
    -- Code, detail and context of the failure of one that failed.
    error json,
    -- The longest time from the first start that the request states; null if it states none.
    deadline_s integer,
    -- Attempts that failed unexpectedly, and workers that were lost during one; of a sweep, for the chunk in progress.
    failures integer NOT NULL DEFAULT 0,
    losses integer NOT NULL DEFAULT 0,
    started_at timestamptz,
    finished_at timestamptz,
    -- Empty once the job has ended.
    request json NOT NULL,
    -- The step that a running job is at.
    step text,
    plan_id uuid CONSTRAINT fk_jobs_plan_id_plans REFERENCES plans (id) ON DELETE SET NULL
);
CREATE INDEX ix_jobs_team_id ON jobs (team, id);
CREATE INDEX ix_jobs_unfinished ON jobs (team) WHERE state IN ('queued', 'running');

CREATE TABLE sweeps (
    id uuid NOT NULL CONSTRAINT pk_sweeps PRIMARY KEY,
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_sweeps_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    state text NOT NULL CONSTRAINT ck_sweeps_ck_sweeps_state CHECK (
        state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')
    ),
    error json,
    deadline_s integer,
    failures integer NOT NULL DEFAULT 0,
    losses integer NOT NULL DEFAULT 0,
    started_at timestamptz,
    finished_at timestamptz,
    definition json NOT NULL,
    scenarios integer NOT NULL,
    labels jsonb NOT NULL,
    -- The API key that created the sweep: the unfinished sweeps of a key are limited.
    principal text NOT NULL,
    -- Why the sweep is paused, for example because Spark cannot be reached; null if it is not.
    waiting json,
    -- Bytes of its rows, as in `plans`.
    part_bytes bigint NOT NULL DEFAULT '0'
);
CREATE INDEX ix_sweeps_finished_at ON sweeps (finished_at);
CREATE INDEX ix_sweeps_principal ON sweeps (principal);
CREATE INDEX ix_sweeps_team_id ON sweeps (team, id);
CREATE INDEX ix_sweeps_unfinished ON sweeps (team) WHERE state IN ('queued', 'running');

-- The ledger: a chunk's line is written in the transaction of its rows, so that each chunk is stored once.
CREATE TABLE sweep_chunks (
    sweep_id uuid NOT NULL CONSTRAINT fk_sweep_chunks_sweep_id_sweeps REFERENCES sweeps (id) ON DELETE CASCADE,
    start integer NOT NULL,
    stop integer NOT NULL,
    seconds double precision NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_sweep_chunks PRIMARY KEY (sweep_id, start)
);

CREATE TABLE sweep_rows (
    sweep_id uuid NOT NULL CONSTRAINT fk_sweep_rows_sweep_id_sweeps REFERENCES sweeps (id) ON DELETE CASCADE,
    index integer NOT NULL,
    -- The result of the scenario, in the fields of the sweep's kind.
    row jsonb NOT NULL,
    CONSTRAINT pk_sweep_rows PRIMARY KEY (sweep_id, index)
);

CREATE TABLE api_keys (
    id uuid NOT NULL CONSTRAINT pk_api_keys PRIMARY KEY,
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_api_keys_team CHECK (
        team ~ '^[a-z0-9][a-z0-9_-]{0,62}$' OR team = '*'
    ),
    name text NOT NULL,
    -- SHA-256: the key has 256 random bits, so that a slower hash would not make it harder to guess.
    key_hash text NOT NULL CONSTRAINT uq_api_keys_key_hash UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Null if it does not expire.
    expires_at timestamptz,
    -- To the minute; null if it was never used.
    last_used_at timestamptz,
    revoked_at timestamptz,
    CONSTRAINT uq_api_keys_team_name UNIQUE (team, name)
);

CREATE TABLE webhooks (
    id uuid NOT NULL CONSTRAINT pk_webhooks PRIMARY KEY,
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_webhooks_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    url text NOT NULL,
    events text[] NOT NULL,
    -- Readable, unlike an API key: a signature needs the secret itself.
    secret text NOT NULL,
    -- When the first of the attempts failed of which none has succeeded since; null if the last one succeeded.
    failing_since timestamptz,
    disabled_at timestamptz,
    disabled_reason text
);

-- The outbox: a delivery is written in the transaction of the change that its event reports.
CREATE TABLE webhook_deliveries (
    id uuid NOT NULL CONSTRAINT pk_webhook_deliveries PRIMARY KEY,
    webhook_id uuid NOT NULL CONSTRAINT fk_webhook_deliveries_webhook_id_webhooks REFERENCES webhooks (id) ON DELETE CASCADE,
    -- Text, not JSON: every attempt sends and signs the same bytes.
    body text NOT NULL,
    state text NOT NULL CONSTRAINT ck_webhook_deliveries_state CHECK (state IN ('pending', 'succeeded', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    -- How many attempts there had been at the last replay, which begins the schedule anew.
    attempts_replayed integer NOT NULL DEFAULT 0,
    -- Of the last attempt: the HTTP status or the failure, and the beginning of the answer.
    status integer,
    error text,
    response text,
    created_at timestamptz NOT NULL DEFAULT now(),
    attempted_at timestamptz,
    next_attempt_at timestamptz
);
CREATE INDEX ix_webhook_deliveries_created_at ON webhook_deliveries (created_at);
CREATE INDEX ix_webhook_deliveries_state ON webhook_deliveries (state);
CREATE INDEX ix_webhook_deliveries_webhook_id_id ON webhook_deliveries (webhook_id, id);

-- Answers to requests with an Idempotency-Key.
CREATE TABLE answers (
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_answers_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    principal text NOT NULL,
    idempotency_key text NOT NULL,
    -- SHA-256 of the request: method, path, content type and body.
    fingerprint text NOT NULL,
    status integer NOT NULL,
    headers json NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_answers PRIMARY KEY (team, principal, idempotency_key)
);
CREATE INDEX ix_answers_created_at ON answers (created_at);

-- Rows are added alone: the migration has triggers that reject any other change.
CREATE TABLE audit_entries (
    -- The order in which entries were added, whatever the clock says.
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_audit_entries PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Null if a request had no valid key.
    team text CONSTRAINT ck_audit_entries_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$' OR team = '*'),
    actor text NOT NULL,
    name text,
    key_id text,
    address text,
    request_id text,
    action text NOT NULL,
    resource text,
    status integer,
    code text,
    count integer NOT NULL DEFAULT 1
);
CREATE INDEX ix_audit_entries_at ON audit_entries (at);
CREATE INDEX ix_audit_entries_team_id ON audit_entries (team, id);

-- Secrets of the installation, such as the key that signs share links; a rotated key is replaced.
CREATE TABLE installation_keys (
    purpose text NOT NULL CONSTRAINT pk_installation_keys PRIMARY KEY,
    key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Links that are valid, without their signatures.
CREATE TABLE share_links (
    id uuid NOT NULL CONSTRAINT pk_share_links PRIMARY KEY,
    team text NOT NULL DEFAULT 'default' CONSTRAINT ck_share_links_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    name text NOT NULL,
    created_by text,
    expires_at timestamptz NOT NULL
);
CREATE INDEX ix_share_links_expires_at ON share_links (expires_at);
CREATE INDEX ix_share_links_team_id ON share_links (team, id);

-- Of browsers that have signed in at the OIDC issuer, with the caller as its ID token had it.
CREATE TABLE sessions (
    secret_hash text NOT NULL CONSTRAINT pk_sessions PRIMARY KEY,
    issuer text NOT NULL,
    caller json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX ix_sessions_expires_at ON sessions (expires_at);

-- Usage of each team. Triggers of the migration count in the transaction that stores or deletes, and reject a statement
-- that would exceed a quota; the role of requests only reads.
CREATE TABLE team_usage (
    team text NOT NULL CONSTRAINT pk_team_usage PRIMARY KEY
        CONSTRAINT ck_team_usage_team CHECK (team ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    -- As Postgres has compressed them, with a constant for each row: of snapshots, plans, sweeps and stored answers.
    stored_bytes bigint NOT NULL,
    plans bigint NOT NULL,
    snapshots bigint NOT NULL,
    share_links bigint NOT NULL
);

-- The number of each team's last turn at the queue of jobs, for `take_task`; requests neither read nor change it.
CREATE TABLE job_turns (
    team text NOT NULL CONSTRAINT pk_job_turns PRIMARY KEY,
    turn bigint NOT NULL
);
