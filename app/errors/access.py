"""Authentication, idempotency, paging and media types."""

from app.errors.failure import Failure


class Unauthenticated(Failure):
    """The request has no API key, or one that is not valid."""

    code = "unauthenticated"
    title = "A valid API key is required"


class Forbidden(Failure):
    """The API key lacks the scope that the operation requires, or the request was sent by a page of another origin."""

    code = "forbidden"
    title = "Not allowed"


class IdempotencyKeyReused(Failure):
    """The Idempotency-Key was used for a different request."""

    code = "idempotency_key_reused"
    title = "The Idempotency-Key belongs to another request"


class IdempotencyKeyInFlight(Failure):
    """The request with this Idempotency-Key is still in progress."""

    code = "idempotency_key_in_flight"
    title = "The request with this Idempotency-Key is in progress"


class NotAcceptable(Failure):
    """None of the media types in the Accept header is available."""

    code = "not_acceptable"
    title = "No acceptable representation"


class UnsupportedMediaType(Failure):
    """The body has a media type that the operation does not accept."""

    code = "unsupported_media_type"
    title = "The media type of the body is not supported"


class InvalidPageToken(Failure):
    """The page token was not issued for this list."""

    code = "invalid_page_token"
    title = "The page token is not valid"


class ServiceBusy(Failure):
    """More requests are under way than can be served now; says how many. The same request may be sent again."""

    code = "service_busy"
    title = "The service is busy"
