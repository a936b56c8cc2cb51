"""The HTTP status of every failure: one for each category, and the few failures with a status of their own."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

from app.errors import access, failure, requests

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


def status_of(failure: type[failure.Failure]) -> HTTPStatus | None:
    """The status of a failure: its own, or that of its nearest category.

    None if only the operator of the machine can act on it (`MachineRefuses`): to a caller that is an internal error.
    """
    return next((STATUS[base] for base in failure.__mro__ if base in STATUS), None)
