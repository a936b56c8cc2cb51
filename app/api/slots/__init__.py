"""Requests in slots: a request that computes never blocks the event loop, and can be stopped.

    scopes.py    heads of requests and responses as JSON
    serving.py   what a slot answers to a request
    sizes.py     how large a request is, before it is parsed
    dispatch.py  the middleware that passes requests to slots (`app.slots`)
    buffers.py   bytes that are held for clients, and their limit
    direct.py    the middleware that answers reads of small plans without a slot
    direct_plans.py  the middleware that makes small plans without a slot

The process that listens reads bodies, checks keys, and answers health checks and streams. Everything else is parsed,
planned, stored and rendered in a slot (`docs/decisions/0037-requests-run-in-processes.md`), but reads of small plans
(`docs/decisions/0052-small-reads-take-no-slot.md`)
and small plans (`docs/decisions/0058-small-plans-take-no-slot.md`).
"""
