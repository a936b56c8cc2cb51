"""Requests in processes: a request that computes never blocks the event loop, and can be stopped.

    frames.py    requests and responses as bytes on a socket
    process.py   the process of a slot: serves one request at a time
    tied.py      processes that end with their parent
    pool.py      the processes, by lane; started, stopped and replaced
    dispatch.py  the middleware that passes requests to them

The process that listens reads bodies, checks keys, and answers health checks and streams. Everything else is parsed,
planned, stored and rendered in a slot (`docs/decisions/0037-requests-run-in-processes.md`).
"""
