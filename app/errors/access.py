"""Failures of authentication, idempotency, content negotiation and overload."""

from app.errors.failure import Conflict, Failure, Unprocessable


class Unauthenticated(Failure):
    """No API key, or one that is not valid."""

    title = "A valid API key is needed"


class Forbidden(Failure):
    """The API key lacks the scope that the operation needs, or a page of another origin sent the request."""

    title = "Not allowed"


class IdempotencyKeyReused(Unprocessable):
    """The Idempotency-Key was used before, for another request."""

    title = "The Idempotency-Key belongs to another request"


class IdempotencyKeyInFlight(Conflict):
    """The first request with this Idempotency-Key is still being answered."""

    title = "The request with this Idempotency-Key is still being answered"


class NotAcceptable(Failure):
    """The resource has none of the media types in `Accept`."""

    title = "No acceptable representation"


class UnsupportedMediaType(Failure):
    """The operation does not accept the media type of the body."""

    title = "The body's media type is not supported"


class InvalidPageToken(Unprocessable):
    """The page token was not issued by a page of this list."""

    title = "The page token is not valid"


class ServiceBusy(Failure):
    """More requests are in progress than the service can take; states how many. The request can be repeated."""

    title = "The service is busy"
