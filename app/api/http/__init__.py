"""HTTP for all operations: middleware, dependencies, headers.

middleware.py    request ids, the log, overload, the body limit, same origin
deferred_routers.py  routers that are built when a request arrives for one of their paths; query parameters that an
                     operation does not have
operations.py    the declaration of operations; their JSON bodies, whose repeated members are rejected; their answers:
                 JSON, representations, entity tags, pages of a list
bounded_protocol.py  bounds on the head of a request, on time, connections and slow readers
compression.py   gzip and Zstandard; responses in pieces, no more of which is buffered than a client reads
memory.py        freed memory goes back to the system
metrics.py       metrics of requests and of the process
auth.py          API keys and scopes; the unit of work, the limits
identification.py  callers that the OIDC issuer identifies, by a token or by the cookie of a browser
rate_limits.py   limits on the requests of a key and of an address, by rate and by concurrency
audit.py         the audit log of requests
idempotency.py   one answer for each Idempotency-Key
following.py     jobs and sweeps followed to their end, as events or by a response that waits; `Prefer`: answer with a
                 job, wait for its end
"""
