"""Authentication, idempotency, paging and media types."""

from app.errors.failure import Conflict, Failure, Unavailable, Unprocessable


class Unauthenticated(Failure):
    """The request has no API key, or one that is not valid."""

    title = "A valid API key is required"


class ApiKeyExpired(Unauthenticated):
    """The API key has expired; says when. Only a request with the key itself gets this answer."""

    title = "The API key has expired"


class TokenRejected(Unauthenticated):
    """The access token is not one of the issuer for this service, or not now; says which check failed."""

    title = "The access token is not valid"


class IssuerUnavailable(Unavailable):
    """The OIDC issuer, which a token or a sign-in needs, does not answer. The same request may be sent again."""

    title = "The OIDC issuer is not available"


class Forbidden(Failure):
    """The API key lacks the scope that the operation requires, or the request was sent by a page of another origin."""

    title = "Not allowed"


class SignInFailed(Forbidden):
    """The browser could not be signed in: the issuer rejected that, or it had not begun it."""

    title = "The sign-in has failed"


class ShareLinkRejected(Forbidden):
    """The share link has expired, was revoked, or is not a link to this page."""

    title = "The share link is not valid"


class IdempotencyKeyReused(Unprocessable):
    """The Idempotency-Key was used for a different request."""

    title = "The Idempotency-Key belongs to another request"


class IdempotencyKeyInFlight(Conflict):
    """The request with this Idempotency-Key is still in progress."""

    title = "The request with this Idempotency-Key is in progress"


class NotAcceptable(Failure):
    """None of the media types in the Accept header is available."""

    title = "No acceptable representation"


class UnsupportedMediaType(Failure):
    """The body has a media type that the operation does not accept."""

    title = "The media type of the body is not supported"


class InvalidPageToken(Unprocessable):
    """The page token was not issued for this list."""

    title = "The page token is not valid"


class ServiceStopping(Unavailable):
    """The service stops, and the request did not end within the grace period. The same request may be sent again."""

    title = "The service stops"


class ServiceBusy(Unavailable):
    """More requests are under way than can be served now; says how many. The same request may be sent again."""

    title = "The service is busy"


class TooManyRequests(Failure):
    """The API key or the address has sent more requests than its limit; says when the next one may be sent."""

    title = "Too many requests"


class ProcessLost(Unavailable):
    """The process that served the request was ended from outside. The same request may be sent again."""

    title = "The process that served the request was lost"


class StorageFull(Unavailable):
    """The disk of the database is full: nothing more can be stored until the operator makes space."""

    title = "The database has no space left"


class DatabaseUnavailable(Unavailable):
    """The database cannot be reached, or the connection to it was lost. The same request may be sent again.

    If the connection is lost during a commit, the change may have been made: an Idempotency-Key tells.
    """

    code = "unavailable"
    title = "The database is not available"
