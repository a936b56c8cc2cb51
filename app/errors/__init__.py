"""The failures of the domain, as facts that a caller can act on.

Every failure has a stable `code`, a title, a detail with the numbers and a context that is JSON. The API decides its
HTTP status by its category (`app.api.problems.responses`). Executors report failures as JSON (`crossing`).

    failure.py        the base class, the categories, and how a failure gets its code
    every.py          every failure, by one import; compiled loops import the files that they need
    access.py         authentication, idempotency, content negotiation, overload
    requests.py       requests that are invalid or too large; malformed texts and documents; resources that do not
                      exist, names that are taken
    reassignments.py  requests for a reassignment that are infeasible or contradictory
    kafka.py          input that Kafka itself rejects
    machine.py        obstacles on the machine that runs the service, for its operator
    crossing.py       failures as JSON, from executors; every failure by its code
    quotation.py      quotes untrusted text in messages: escaped and bounded; the names that a misspelt name resembles
"""

from app.errors.failure import Failure, FieldPath, Json

__all__ = ["Failure", "FieldPath", "Json"]
