"""HTTP, and nothing else: an operation parses, calls one service and renders the result.

One router a resource, each with the models of its requests and answers:

    replicas/  reassignment/  groups/  streams/  restarts/  consumers/
                 one plan kind each, with its documents
    plans/        list, read, compare, export and delete plans of every kind
    checks/       a reassignment of any origin, or a cluster as it is
    snapshots.py  keys.py  jobs.py  health.py
    administration.py  share links, the audit log, usage of teams with their quotas, errors of predictions
    webhooks.py      created, tried, deleted; their deliveries listed and replayed
    sweeps/       submitted, followed, cancelled, read; one request model a sweep kind

Common to plan kinds:

    planned.py         the operation that plans, answered at once or as a job
    forms.py           requests from the forms of pages

Below the resources:

    http/      parts of every operation over HTTP: keys, pages, preferences, representations, limits
    problems/  every failure as an RFC 9457 problem
    models/    the models that several resources share
    examples/  the examples of the documentation

Above them:

    resources.py  every resource by its path; imported when a request needs it
    slots/     requests in processes, with a deadline and a limit on memory
    openapi/   the OpenAPI document
    start/     work of a service once it listens
"""
