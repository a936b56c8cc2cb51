"""Who asks, how often, and in which form."""

from app.errors.failure import Failure


class Unauthenticated(Failure):
    """No API key, or one that is not valid."""

    code = "unauthenticated"
    title = "A valid API key is needed"


class Forbidden(Failure):
    """The API key lacks the scope that the operation needs, or a page of another origin sent the request."""

    code = "forbidden"
    title = "Not allowed"


class IdempotencyKeyReused(Failure):
    """The Idempotency-Key was used for another request before."""

    code = "idempotency_key_reused"
    title = "The Idempotency-Key belongs to another request"


class IdempotencyKeyInFlight(Failure):
    """The request with this Idempotency-Key is being answered right now."""

    code = "idempotency_key_in_flight"
    title = "The request with this Idempotency-Key is still being answered"


class NotAcceptable(Failure):
    """None of the media types that the caller accepts can be given."""

    code = "not_acceptable"
    title = "No acceptable representation"


class UnsupportedMediaType(Failure):
    """The body is of a media type that the operation does not take."""

    code = "unsupported_media_type"
    title = "The body's media type is not supported"


class InvalidPageToken(Failure):
    """The page token is not one that a page of this list gave."""

    code = "invalid_page_token"
    title = "The page token is not valid"


class ServiceBusy(Failure):
    """More requests are under way than can be served now; says how many. The same request may be sent again."""

    code = "service_busy"
    title = "The service is busy"
