"""HTTP, and nothing else: an operation parses, calls one service and renders the result.

One router a resource, each with the models of its requests and answers:

    replicas.py   reassignment/  groups/  streams/   one plan kind each; plan_kinds.py: their registry
    plans.py      list, read, compare, export and delete plans of every kind
    snapshots.py  checks.py  keys.py  jobs.py  health.py
    webhooks.py      created, tried, deleted; their deliveries listed and replayed
    sweeps/       submitted, followed, cancelled, read; one request model a sweep kind

What they share:

    fields.py        the scalar fields of requests
    clusters.py      the cluster of a snapshot request
    dependencies.py  the unit of work, the limits
    admission.py     limits on concurrent and waiting requests
    slots/           processes in which requests are computed, with limits on time and memory
    auth.py          API keys and scopes
    idempotency.py   one answer for each Idempotency-Key
    pagination.py    pages of a list
    preferences.py   `Prefer`: answer with a job, wait for its end
    following.py     jobs and sweeps followed to their end, as events or by a response that waits
    planned.py       the operation that plans, answered at once or as a job
    negotiation.py   representations and entity tags
    problems.py      every failure as an RFC 9457 problem; statuses.py has the status of each category,
                     field_errors.py the errors of fields
    middleware.py    request ids, the log, overload, the body limit, same origin
    compression.py   gzip and Zstandard
    known_query.py   query parameters that an operation does not have
    request_head.py  limits on a request's head, on the time of head and body, and on connections
    examples/        the examples of the documentation; seeding.py stores the resources that they name
    plan_documents.py, document.py  the models of plans; the OpenAPI document, to which descriptions.py adds
                     those of fields
"""
