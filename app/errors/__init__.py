"""The failures of the domain, as facts that a caller can act on.

Every failure has a stable `code`, a title, a detail with the numbers and a context that is JSON. The API decides its
HTTP status by its category (`app.api.problems.statuses`). Executors report failures as JSON (`crossing`).

    failure.py        the base class, the categories, and how a failure gets its code
    access.py         authentication, idempotency, content negotiation, overload
    lookups.py        resources that do not exist, names that are taken
    requests.py       requests that are invalid or too large
    reassignments.py  requests for a reassignment that are infeasible or contradictory
    kafka.py          input that Kafka itself rejects
    texts.py          malformed texts and documents
    machine.py        obstacles on the machine that runs the service, for its operator
    registry.py       every failure by its code
    crossing.py       failures as JSON, from executors
    quotation.py      quotes untrusted text in messages: escaped and bounded
    suggestions.py    the names that a misspelt name resembles
"""

from app.errors.failure import Failure, FieldPath, Json

__all__ = ["Failure", "FieldPath", "Json"]
