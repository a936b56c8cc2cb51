"""The problems of an operation in the OpenAPI document."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from app.api.problems.statuses import status_of
from app.errors import Failure
from app.errors.access import (
    DatabaseUnavailable,
    Forbidden,
    IdempotencyKeyInFlight,
    IdempotencyKeyReused,
    IssuerUnavailable,
    ServiceBusy,
    ServiceStopping,
    TokenRejected,
    TooManyRequests,
    Unauthenticated,
)
from app.errors.requests import InvalidField, LimitExceeded, QuotaExceeded

MEDIA_TYPE = "application/problem+json"
_OF_EVERY_OPERATION: tuple[type[Failure], ...] = (
    Unauthenticated,
    TokenRejected,
    Forbidden,
    InvalidField,
    LimitExceeded,  # of time and of memory
    TooManyRequests,
    ServiceBusy,
    ServiceStopping,
    DatabaseUnavailable,
    IssuerUnavailable,
)
_IMPLIED: Mapping[type[Failure], Sequence[type[Failure]]] = {
    IdempotencyKeyInFlight: (IdempotencyKeyReused, QuotaExceeded),
}
"""Failures of operations that have another one: with an Idempotency-Key, whose answer is stored."""


def responses(
    *failures: type[Failure], others: Mapping[int, Mapping[str, Any]] | None = None
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation in OpenAPI: its failures by status, and those that every operation has.

    Parameters
    ----------
    failures : what the operation itself raises.
    others : its responses that are not problems, by status.
    """
    by_status: dict[int, dict[str, str]] = {
        HTTPStatus.BAD_REQUEST.value: {"malformed_body": "The body cannot be parsed"},
        HTTPStatus.UNAUTHORIZED.value: {"unauthorized": "The credentials cannot be read"},
        HTTPStatus.INTERNAL_SERVER_ERROR.value: {"internal_error": "The service failed"},
    }
    implied = (failure for cause, others in _IMPLIED.items() if cause in failures for failure in others)
    for failure in (*_OF_EVERY_OPERATION, *implied, *failures):
        status = status_of(failure)
        if status is not None:
            by_status.setdefault(status.value, {})[failure.code] = failure.title
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
