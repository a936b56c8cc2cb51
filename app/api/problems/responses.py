"""The HTTP status of every failure, and the problems of an operation in the OpenAPI document."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from app.errors import Failure
from app.errors import every as errors
from app.errors.crossing import FAILURES


def _table(name: str) -> Any:
    return json.loads(files("app.api.problems").joinpath(name).read_bytes())


PROBLEM_TABLES: Mapping[str, Any] = _table("problems.json")
"""By name or category of failures their status and headers; problems that are no failures; failures of all operations.

`Retry-After` of `TooManyRequests` and `ServiceBusy` is the least: `retry_after_s` of the failure states it.
"""
STATUS: Mapping[type[Failure], HTTPStatus] = {
    getattr(errors, name): HTTPStatus(status) for name, status in PROBLEM_TABLES["status"].items()
}
HEADERS: Mapping[type[Failure], Mapping[str, str]] = {
    getattr(errors, name): headers for name, headers in PROBLEM_TABLES["headers"].items()
}


def status_of(kind: type[Failure]) -> HTTPStatus | None:
    """The status of a failure: its own, or its nearest category's.

    None if only the operator of the machine can act on it (`MachineRefuses`): to a caller that is an internal error.
    """
    return next((STATUS[base] for base in kind.__mro__ if base in STATUS), None)


MEDIA_TYPE = "application/problem+json"
_IMPLIED: Mapping[type[Failure], Sequence[type[Failure]]] = {
    errors.IdempotencyKeyInFlight: (errors.IdempotencyKeyReused, errors.QuotaExceeded)
}
"""Failures of operations that have another one: with an Idempotency-Key, whose answer is stored."""


OF_OPERATIONS: Mapping[str, Sequence[str]] = _table("failures.json")
"""The codes of the failures of each operation by its id, besides those of every operation."""


def responses(operation_id: str, others: Mapping[int, Mapping[str, Any]] | None) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation in OpenAPI: its failures by status, and the failures of every operation.

    Parameters
    ----------
    others : its responses that are not problems, by status.
    """
    by_status: dict[int, dict[str, str]] = {
        HTTPStatus.BAD_REQUEST.value: {"malformed_body": "The body cannot be parsed"},
        HTTPStatus.UNAUTHORIZED.value: {"unauthorized": "The credentials cannot be read"},
        HTTPStatus.INTERNAL_SERVER_ERROR.value: {"internal_error": "The service failed"},
    }
    failures = [FAILURES[code] for code in OF_OPERATIONS.get(operation_id, ())]
    implied = (also for cause, others in _IMPLIED.items() if cause in failures for also in others)
    for kind in (*(FAILURES[code] for code in PROBLEM_TABLES["of_every_operation"]), *implied, *failures):
        status = status_of(kind)
        if status is not None:
            by_status.setdefault(status.value, {})[kind.code] = kind.title
    if HTTPStatus.NOT_FOUND.value in by_status:  # an id with a slash is another path
        by_status[HTTPStatus.NOT_FOUND.value]["not_found"] = "Not found"
    documented: dict[int | str, dict[str, Any]] = {
        number: dict(response) for number, response in (others or {}).items()
    }
    for number, titles in sorted(by_status.items()):
        schema = {"$ref": "#/components/schemas/Problem", "properties": {"code": {"enum": sorted(titles)}}}
        described = "; ".join(f"{title} (`{code}`)" for code, title in titles.items())
        documented[number] = {"description": described, "content": {MEDIA_TYPE: {"schema": schema}}}
    return documented
