"""Rackplan: where every Kafka replica, consumer partition, Streams task and key will land, before Kafka does it.

Imports point down, and a test holds them to it:

    main.py, worker.py, cli.py   composition roots: the API, the job loop, the `rackplan` command
    operations.py                the operations and pages as an application, for the API and its slots
    settings.py                  the environment, read once, passed on as values
    logs.py, tracing.py          how a process logs; spans, if the environment names a collector
    api/   web/   jobs/          HTTP · what people look at · what a worker runs
    slots/                       processes in which requests and jobs compute
    services/                    one use case a file
    store/   formats/            Postgres · Kafka's own texts and bytes
    core/                        the shared assignment core: numpy, numba and exact solvers
    errors/                      the domain's failures
    deferred.py                  registries whose values are imported when one is first read

A request becomes core records once (`api` or `formats`), one service calls one core function, the verifier and the
measures look at what came out, a plan is stored once and rendered once.
"""

__version__ = "0.1.0"
