"""The HTTP status of every failure, and the problems of an operation in the OpenAPI document."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from app.errors import Failure, access, failure, requests
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

_CHALLENGES = 'Bearer realm="rackplan", Basic realm="rackplan"'

STATUS: Mapping[type[failure.Failure], HTTPStatus] = MappingProxyType(
    {
        failure.Unprocessable: HTTPStatus.UNPROCESSABLE_ENTITY,
        failure.NotFound: HTTPStatus.NOT_FOUND,
        failure.Conflict: HTTPStatus.CONFLICT,
        failure.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
        access.Unauthenticated: HTTPStatus.UNAUTHORIZED,
        access.Forbidden: HTTPStatus.FORBIDDEN,
        access.NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
        requests.SnapshotChanged: HTTPStatus.PRECONDITION_FAILED,
        requests.PlanChanged: HTTPStatus.PRECONDITION_FAILED,
        requests.LimitExceeded: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        access.UnsupportedMediaType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        access.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
        requests.TooManySweeps: HTTPStatus.TOO_MANY_REQUESTS,
        requests.QuotaExceeded: HTTPStatus.FORBIDDEN,
    }
)

HEADERS: Mapping[type[failure.Failure], Mapping[str, str]] = MappingProxyType(
    {
        access.Unauthenticated: {"WWW-Authenticate": _CHALLENGES},
        access.ApiKeyExpired: {"WWW-Authenticate": _CHALLENGES},
        access.TokenRejected: {"WWW-Authenticate": 'Bearer realm="rackplan", error="invalid_token"'},
        access.IssuerUnavailable: {"Retry-After": "10"},
        access.IdempotencyKeyInFlight: {"Retry-After": "1"},
        access.TooManyRequests: {"Retry-After": "1"},  # at least; `retry_after_s` of the failure states it
        requests.TooManySweeps: {"Retry-After": "30"},
        access.ServiceBusy: {"Retry-After": "1"},  # the same
        access.ServiceStopping: {"Retry-After": "5"},
        access.DatabaseUnavailable: {"Retry-After": "2"},
        access.ProcessLost: {"Retry-After": "1"},
        access.StorageFull: {"Retry-After": "30"},
    }
)


def status_of(kind: type[failure.Failure]) -> HTTPStatus | None:
    """The status of a failure: its own, or its nearest category's.

    None if only the operator of the machine can act on it (`MachineRefuses`): to a caller that is an internal error.
    """
    return next((STATUS[base] for base in kind.__mro__ if base in STATUS), None)


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
    IdempotencyKeyInFlight: (IdempotencyKeyReused, QuotaExceeded)
}
"""Failures of operations that have another one: with an Idempotency-Key, whose answer is stored."""


def responses(
    *failures: type[Failure], others: Mapping[int, Mapping[str, Any]] | None = None
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation in OpenAPI: its failures by status, and the failures of every operation.

    Parameters
    ----------
    failures : of the operation itself.
    others : its responses that are not problems, by status.
    """
    by_status: dict[int, dict[str, str]] = {
        HTTPStatus.BAD_REQUEST.value: {"malformed_body": "The body cannot be parsed"},
        HTTPStatus.UNAUTHORIZED.value: {"unauthorized": "The credentials cannot be read"},
        HTTPStatus.INTERNAL_SERVER_ERROR.value: {"internal_error": "The service failed"},
    }
    implied = (also for cause, others in _IMPLIED.items() if cause in failures for also in others)
    for kind in (*_OF_EVERY_OPERATION, *implied, *failures):
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
