"""Authentication, idempotency, paging and media types."""

from app.errors.failure import Conflict, Failure, Unavailable, Unprocessable


class Unauthenticated(Failure, title="A valid API key is required"):
    """The request has no API key, or one that is not valid."""


class ApiKeyExpired(Unauthenticated, title="The API key has expired"):
    """The API key has expired; says when. Only a request with the key itself gets this answer."""


class TokenRejected(Unauthenticated, title="The access token is not valid"):
    """The access token is not from the issuer for this service, or not valid now; names the failed check."""


class IssuerUnavailable(Unavailable, title="The OIDC issuer is not available"):
    """The OIDC issuer, which a token or a sign-in needs, does not answer. The same request may be sent again."""


class Forbidden(Failure, title="Not allowed"):
    """The API key lacks the scope that the operation requires, or the request was sent by a page of another origin."""


class SignInFailed(Forbidden, title="The sign-in has failed"):
    """The browser could not be signed in: the issuer rejected that, or it had not begun it."""


class ShareLinkRejected(Forbidden, title="The share link is not valid"):
    """The share link has expired, was revoked, or is not a link to this page."""


class IdempotencyKeyReused(Unprocessable, title="The Idempotency-Key belongs to another request"):
    """The Idempotency-Key was used for a different request."""


class IdempotencyKeyInFlight(Conflict, title="The request with this Idempotency-Key is in progress"):
    """The request with this Idempotency-Key is still in progress."""


class NotAcceptable(Failure, title="No acceptable representation"):
    """None of the media types in the Accept header is available."""


class UnsupportedMediaType(Failure, title="The media type of the body is not supported"):
    """The body has a media type that the operation does not accept, or is compressed."""


class InvalidPageToken(Unprocessable, title="The page token is not valid"):
    """The page token was not issued for this list."""


class ServiceStopping(Unavailable, title="The service stops"):
    """The service stops, and the request did not end within the grace period. The same request may be sent again."""


class ServiceBusy(Unavailable, title="The service is busy"):
    """More requests are under way than can be served now; says how many. The same request may be sent again."""


class TooManyRequests(Failure, title="Too many requests"):
    """The API key or the address has sent more requests than its limit; says when the next one may be sent."""


class ProcessLost(Unavailable, title="The process that served the request was lost"):
    """The process that served the request was ended from outside. The same request may be sent again."""


class StorageFull(Unavailable, title="The database has no space left"):
    """The disk of the database is full: nothing more can be stored until the operator makes space."""


class DatabaseUnavailable(Unavailable, title="The database is not available", code="unavailable"):
    """The database cannot be reached, or the connection to it was lost. The same request may be sent again.

    If the connection is lost during a commit, the change may have been made: an Idempotency-Key tells.
    """
