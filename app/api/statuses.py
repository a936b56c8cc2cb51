"""The HTTP status of every failure: one for each category, and the few failures with a status of their own."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

from app.errors.access import (
    Forbidden,
    IdempotencyKeyInFlight,
    NotAcceptable,
    ServiceBusy,
    Unauthenticated,
    UnsupportedMediaType,
)
from app.errors.failure import Conflict, Failure, NotFound, Unprocessable
from app.errors.requests import LimitExceeded, SnapshotChanged, TooManySweeps

STATUS: Mapping[type[Failure], HTTPStatus] = MappingProxyType(
    {
        Unprocessable: HTTPStatus.UNPROCESSABLE_ENTITY,
        NotFound: HTTPStatus.NOT_FOUND,
        Conflict: HTTPStatus.CONFLICT,
        Unauthenticated: HTTPStatus.UNAUTHORIZED,
        Forbidden: HTTPStatus.FORBIDDEN,
        NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
        SnapshotChanged: HTTPStatus.PRECONDITION_FAILED,
        LimitExceeded: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        UnsupportedMediaType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        TooManySweeps: HTTPStatus.TOO_MANY_REQUESTS,
        ServiceBusy: HTTPStatus.SERVICE_UNAVAILABLE,
    }
)

HEADERS: Mapping[type[Failure], Mapping[str, str]] = MappingProxyType(
    {
        Unauthenticated: {"WWW-Authenticate": 'Bearer realm="rackplan", Basic realm="rackplan"'},
        IdempotencyKeyInFlight: {"Retry-After": "1"},
        TooManySweeps: {"Retry-After": "30"},
        ServiceBusy: {"Retry-After": "1"},
    }
)


def status_of(failure: type[Failure]) -> HTTPStatus | None:
    """The status of a failure: its own, or that of its nearest category.

    None if only the operator of the machine can act on it (`MachineRefuses`): to a caller that is an internal error.
    """
    return next((STATUS[base] for base in failure.__mro__ if base in STATUS), None)
