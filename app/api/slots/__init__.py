"""Requests in slots: a request that computes never blocks the event loop, and can be stopped.

    scopes.py    heads of requests and responses as JSON
    serving.py   a slot's answer to a request
    sizes.py     how large a request is, before it is parsed
    dispatch.py  the middleware that passes requests to slots (`app.slots`); bytes that are held for clients, and
                 their limit

The process that listens reads bodies, checks keys, and answers health checks and streams. Everything else is parsed,
planned, stored and rendered in a slot (`docs/decisions/0037-requests-run-in-processes.md`), but small plans, which are
made by the same application in a thread (`docs/decisions/0073-one-application-answers.md`).
"""
