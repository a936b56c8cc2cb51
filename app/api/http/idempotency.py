"""`Idempotency-Key`: repetitions of a request with the same key get the response of the first."""

from collections.abc import Callable
from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header, Request, Response, Security

from app.api.http.auth import RawBody, Uow, principal
from app.errors.access import IdempotencyKeyInFlight, IdempotencyKeyReused
from app.store.answers import Answer

_STORED_HEADERS = ("content-type", "location", "etag", "retry-after", "preference-applied")


IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="Any unique text. A repeated request with the same key gets the first answer; another request "
        "with the key gets a 422, and a concurrent one a 409.",
    ),
]


class Once:
    """Answers a request with an Idempotency-Key once; without a key, every time."""

    def __init__(
        self,
        request: Request,
        uow: Uow,
        body: RawBody,
        principal_name: Annotated[str, Security(principal, scopes=["plan"])],
        idempotency_key: IdempotencyKey = None,
    ) -> None:
        self._uow, self._principal, self._key = uow, principal_name, idempotency_key
        self._fingerprint = _fingerprint(request, body)

    def __call__(self, answer: Callable[[], Response]) -> Response:
        """Return the stored response, or create and store it, in the transaction of the answer itself.

        Raises `IdempotencyKeyReused`, `IdempotencyKeyInFlight`, and as `answer`: failures are not stored.
        """
        if self._key is None:
            return answer()
        answers = self._uow.answers
        if not answers.claim(self._principal, self._key):
            raise IdempotencyKeyInFlight(f"a request with the Idempotency-Key {self._key} is being answered")
        earlier = answers.find(self._principal, self._key)
        if earlier is None:
            response = answer()
            headers = {name: response.headers[name] for name in _STORED_HEADERS if name in response.headers}
            stored = Answer(self._fingerprint, response.status_code, headers, bytes(response.body))
            answers.store(self._principal, self._key, stored)
            return response
        if earlier.fingerprint != self._fingerprint:
            raise IdempotencyKeyReused(f"the Idempotency-Key {self._key} was sent with another request before")
        return Response(earlier.body, earlier.status, headers=dict(earlier.headers) | {"Idempotency-Replayed": "true"})


def _fingerprint(request: Request, body: bytes) -> str:
    digest = sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    _, is_multipart, boundary = parameters.partition("boundary=")
    if is_multipart:  # the boundary is random in every request
        body = body.replace(boundary.split(";")[0].strip('" ').encode(), b"")
    for header in ("accept", "prefer", "if-match"):
        digest.update(f"{header}: {request.headers.get(header, '')}\n".encode())
    digest.update(media_type.encode() + b"\n" + body)
    return digest.hexdigest()


OnceOnly = Annotated[Once, Depends(scope="function")]
