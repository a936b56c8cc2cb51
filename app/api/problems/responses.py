"""The HTTP status of every failure, and the problems of an operation in the OpenAPI document."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from app.errors import Failure
from app.errors import every as errors
from app.errors.crossing import FAILURES

_CHALLENGES = 'Bearer realm="rackplan", Basic realm="rackplan"'

STATUS: Mapping[type[Failure], HTTPStatus] = MappingProxyType(
    {
        errors.Unprocessable: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.NotFound: HTTPStatus.NOT_FOUND,
        errors.Conflict: HTTPStatus.CONFLICT,
        errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
        errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
        errors.Forbidden: HTTPStatus.FORBIDDEN,
        errors.NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
        errors.SnapshotChanged: HTTPStatus.PRECONDITION_FAILED,
        errors.PlanChanged: HTTPStatus.PRECONDITION_FAILED,
        errors.LimitExceeded: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        errors.UnsupportedMediaType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        errors.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
        errors.TooManySweeps: HTTPStatus.TOO_MANY_REQUESTS,
        errors.QuotaExceeded: HTTPStatus.FORBIDDEN,
    }
)

HEADERS: Mapping[type[Failure], Mapping[str, str]] = MappingProxyType(
    {
        errors.Unauthenticated: {"WWW-Authenticate": _CHALLENGES},
        errors.ApiKeyExpired: {"WWW-Authenticate": _CHALLENGES},
        errors.TokenRejected: {"WWW-Authenticate": 'Bearer realm="rackplan", error="invalid_token"'},
        errors.IssuerUnavailable: {"Retry-After": "10"},
        errors.IdempotencyKeyInFlight: {"Retry-After": "1"},
        errors.TooManyRequests: {"Retry-After": "1"},  # at least; `retry_after_s` of the failure states it
        errors.TooManySweeps: {"Retry-After": "30"},
        errors.ServiceBusy: {"Retry-After": "1"},  # the same
        errors.ServiceStopping: {"Retry-After": "5"},
        errors.DatabaseUnavailable: {"Retry-After": "2"},
        errors.ProcessLost: {"Retry-After": "1"},
        errors.StorageFull: {"Retry-After": "30"},
    }
)


def status_of(kind: type[Failure]) -> HTTPStatus | None:
    """The status of a failure: its own, or its nearest category's.

    None if only the operator of the machine can act on it (`MachineRefuses`): to a caller that is an internal error.
    """
    return next((STATUS[base] for base in kind.__mro__ if base in STATUS), None)


MEDIA_TYPE = "application/problem+json"
_OF_EVERY_OPERATION: tuple[type[Failure], ...] = (
    errors.Unauthenticated,
    errors.TokenRejected,
    errors.Forbidden,
    errors.InvalidField,
    errors.LimitExceeded,  # of time and of memory
    errors.TooManyRequests,
    errors.ServiceBusy,
    errors.ServiceStopping,
    errors.DatabaseUnavailable,
    errors.IssuerUnavailable,
)
_IMPLIED: Mapping[type[Failure], Sequence[type[Failure]]] = {
    errors.IdempotencyKeyInFlight: (errors.IdempotencyKeyReused, errors.QuotaExceeded)
}
"""Failures of operations that have another one: with an Idempotency-Key, whose answer is stored."""


_TABLE = files("app.api.problems").joinpath("failures.json").read_bytes()
OF_OPERATIONS: Mapping[str, Sequence[str]] = json.loads(_TABLE)
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
