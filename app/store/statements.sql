-- Statements that SQLAlchemy's expressions would only obscure. Each follows a line with its name.

-- :take_task
-- Takes the next task of the team whose turn it is. The migration has the function.
SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts, worker_id
FROM take_task(%(queues)s::varchar[], %(worker_id)s)

-- :defer_task
SELECT procrastinate_defer_jobs_v1(ARRAY[
    ROW(:queue, :task, 0, NULL, NULL, CAST(:args AS jsonb),
        now() + make_interval(secs => CAST(:seconds AS double precision)))::procrastinate_job_to_defer_v1
])

-- :retry_task
SELECT procrastinate_retry_job_v2(
    %(job_id)s, now() + make_interval(secs => %(seconds)s), %(priority)s, %(queue)s, %(lock)s
)

-- :silent_workers
SELECT id, last_heartbeat FROM procrastinate_workers
WHERE abs(extract(epoch FROM now() - last_heartbeat)) > :seconds

-- :any_worker
-- Whether one has a recent heartbeat. A time after now is of a clock that was set back since.
SELECT EXISTS (
    SELECT FROM procrastinate_workers
    WHERE last_heartbeat BETWEEN now() - make_interval(secs => :seconds) AND now() + make_interval(secs => :seconds)
)

-- :repeat_tasks
-- The event of a repetition, which the queue's own triggers write, needs one more attempt.
UPDATE procrastinate_jobs SET status = 'todo', attempts = attempts + 1, scheduled_at = now()
WHERE id IN (
    SELECT task.id FROM procrastinate_jobs task LEFT JOIN procrastinate_workers worker ON worker.id = task.worker_id
    WHERE task.status = 'doing' AND (worker.id IS NULL OR (worker.id, worker.last_heartbeat) IN (
        SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:heartbeats AS timestamptz[]))
    ))
    FOR UPDATE OF task SKIP LOCKED
)
RETURNING id, task_name, args

-- :bring_tasks_forward
UPDATE procrastinate_jobs SET scheduled_at = now()
WHERE status = 'todo' AND queue_name = :queue AND scheduled_at > now() + make_interval(secs => :seconds)

-- :due_tasks
-- By name: their number, and the seconds for which the oldest has been due.
SELECT task_name, count(*), extract(epoch FROM now() - min(coalesce(scheduled_at, created_at)))
FROM (
    SELECT j.task_name, j.scheduled_at,
        (SELECT min(e.at) FROM procrastinate_events e WHERE e.job_id = j.id) AS created_at
    FROM procrastinate_jobs j WHERE j.status = 'todo' AND j.task_name = ANY(:tasks)
) due
WHERE coalesce(scheduled_at, now()) <= now() GROUP BY task_name

-- :add_audit_entries
INSERT INTO audit_entries (team, actor, name, key_id, address, request_id, action, resource, status, code, count)
SELECT team, actor, name, key_id, address, request_id, action, resource, status, code, count
FROM jsonb_to_recordset(%s::jsonb) AS entry (
    team text, actor text, name text, key_id text, address text, request_id text, action text, resource text,
    status int, code text, count int
)

-- :role_is_usable
-- Whether the account of a connection can take the role, and the role the tables. No row if there is no role.
SELECT pg_has_role(oid, 'MEMBER') AND has_table_privilege(oid, 'team_usage', 'SELECT')
FROM pg_roles WHERE rolname = 'rackplan_api'

-- :grant_rights
-- Of keys all but the hash, by which only the service's own transactions look keys up. A request puts a task on the
-- queue in the transaction of its row, by a statement that returns the id.
GRANT SELECT, INSERT, UPDATE, DELETE ON snapshots, plans, plan_topics, jobs, sweeps, sweep_chunks, sweep_rows, webhooks,
    webhook_deliveries, share_links TO rackplan_api;
GRANT SELECT, INSERT ON answers, audit_entries TO rackplan_api;
GRANT SELECT ON team_usage TO rackplan_api;
GRANT SELECT (id, team, name, scopes, created_at, expires_at, last_used_at, revoked_at) ON api_keys TO rackplan_api;
GRANT INSERT, UPDATE (last_used_at, revoked_at) ON api_keys TO rackplan_api;
GRANT SELECT (id), INSERT ON procrastinate_jobs TO rackplan_api;
GRANT INSERT ON procrastinate_events TO rackplan_api;
GRANT USAGE ON SEQUENCE procrastinate_jobs_id_seq, procrastinate_events_id_seq TO rackplan_api

-- :tables_with_columns
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum) FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
GROUP BY 1 ORDER BY 1

-- :references_of_tables
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid

-- :sequences_of_columns
-- As the default of a column: of `serial` and of identities.
SELECT t.relname, a.attname, pg_get_serial_sequence(quote_ident(t.relname), a.attname) FROM pg_class t
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p')
    AND pg_get_serial_sequence(quote_ident(t.relname), a.attname) IS NOT NULL
