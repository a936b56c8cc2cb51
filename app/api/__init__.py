"""HTTP, and nothing else: an operation parses, calls one service and renders the result.

One router a resource, each with the shapes that it takes and gives:

    replicas.py   reassignment/  groups/  streams/   one plan kind each; plan_kinds.py: their registry
    plans.py      list, read, compare, export and delete plans of every kind
    snapshots.py  checks.py  keys.py  jobs.py  health.py
    sweeps/       submitted, followed, cancelled, read; one request model a sweep kind

What they share:

    fields.py        the scalar fields of requests
    clusters.py      a cluster as requests write it
    dependencies.py  the unit of work, the limits
    admission.py     how many requests are served at once, how many wait, when one is turned away
    auth.py          who asks, and what they may do
    idempotency.py   the same key, the same answer
    pagination.py    pages of a list
    planned.py       the operation that plans, answered at once or as a job
    negotiation.py   representations and entity tags
    problems.py      every failure as an RFC 9457 problem; statuses.py says which status, field_errors.py what is
                     wrong with which field
    middleware.py    request ids, the log, overload, the body limit, same origin
    request_head.py  the limit of a head
    examples.py      the documentation's examples, and seeding.py keeps what they name
    plan_documents.py, document.py  what plans look like as JSON; the OpenAPI document
"""
