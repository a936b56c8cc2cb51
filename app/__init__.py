"""Rackplan: where every Kafka replica, consumer partition, Streams task and key will land, before Kafka does it.

Imports point down, and a test holds them to it:

    main.py, worker.py, cli/     composition roots: the API, the job loop, the `rackplan` command
    operations.py                the operations and pages as an application, for the API and its slots
    settings.py                  the environment, read once, passed on as values
    logs.py, tracing.py          how a process logs; spans, if the environment names a collector
    api/   web/   jobs/          HTTP; pages and pictures; the work of a worker
    slots/                       processes in which requests and jobs compute
    services/                    the use cases: each loads, calls the core, verifies and stores
    store/   formats/            Postgres; the texts and bytes of Kafka
    core/                        the shared assignment core: numpy, numba and exact solvers
    errors/                      the domain's failures
    deferred.py                  registries whose values are imported when one is first read
    shipped.py                   where the migrations and the documentation are

`api` or `formats` parses a request once, into records. A service calls one function of the core; the verifier and the
measures check the result. A plan is stored once. docs/architecture.md lists the files that a request passes.
"""

__version__ = "0.1.0"
