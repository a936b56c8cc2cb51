"""The issuer: its discovery document, and the keys that verify its tokens, read when they are needed, then cached.

Requests to the issuer: JSON of bounded size in bounded time, from an address that TLS protects, without redirects.

Proxies and authorities of the environment (`HTTPS_PROXY`, `SSL_CERT_FILE`) are the operator's, and are used.
"""

import asyncio
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ssl import SSLContext
from typing import TYPE_CHECKING, Any

import orjson
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors.every import IssuerUnavailable, TokenRejected, quoted
from app.services.oidc.options import OidcOptions, require_protected

if TYPE_CHECKING:
    import httpx
    from joserfc.jwk import Key


ENDS_WITHIN_S = 5.0
LARGEST_ANSWER = 512 * 1024
_JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Exchange:
    """Sends requests to the issuer."""

    async def get(self, url: str) -> dict[str, Any]:
        """The JSON object at an address. Raises `IssuerUnavailable`."""
        status, document = await self.ask("GET", url)
        if status != 200:
            raise IssuerUnavailable(f"the issuer answers {status} at {quoted(url)}")
        return document

    async def ask(self, method: str, url: str, **content: Any) -> tuple[int, dict[str, Any]]:
        """The status and the JSON object of an answer. Raises `IssuerUnavailable`.

        Parameters
        ----------
        content : `data`, the members of a form, and `auth`, name and password of HTTP Basic.
        """
        import httpx  # noqa: PLC0415 -- it takes 0.1 s to import, and most services have no issuer

        try:
            # Reading every authority's certificate takes 30 ms; there is no TLS on loopback.
            verify = self._tls if require_protected(url).startswith("https") else False
            async with (
                asyncio.timeout(ENDS_WITHIN_S),
                httpx.AsyncClient(verify=verify, timeout=ENDS_WITHIN_S, headers=_JSON) as client,
                client.stream(method, url, **content) as response,
            ):
                return response.status_code, await _object(response)
        except TimeoutError:
            raise IssuerUnavailable(f"the issuer has not answered within {ENDS_WITHIN_S:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as failed:
            reason = quoted(str(failed) or type(failed).__name__)
            raise IssuerUnavailable(f"the issuer's answer cannot be used: {reason}") from failed

    @cached_property
    def _tls(self) -> SSLContext:
        """Read once."""
        import httpx  # noqa: PLC0415 — it takes 0.1 s to import, and most services have no issuer

        return httpx.create_ssl_context()


async def _object(response: "httpx.Response") -> dict[str, Any]:
    content = b""
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise ValueError(f"it has more than {LARGEST_ANSWER} bytes")
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise ValueError("it is not JSON") from None  # its text is not repeated: it may have tokens
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


REFRESHED_EVERY_S = 300.0
"""Age at which the documents are read again: a key that the issuer withdraws is used no longer than this."""
RETRIED_EVERY_S = 10.0
"""Time between two attempts, whatever tokens arrive: an unknown key id makes no more requests than this."""
USED_FOR_S = 86_400.0
"""Age up to which the documents are used if the issuer does not answer."""
MOST_KEYS = 100
_RSA_BITS = range(2048, 8193)
_MEMBERS = ("kty", "n", "e", "crv", "x", "y", "use", "key_ops", "alg", "kid")
_WELL_KNOWN = "/.well-known/openid-configuration"


class Metadata(BaseModel):
    """The members of the discovery document that are used; an endpoint that it does not state is empty.

    Parameters
    ----------
    authorization_response_iss_parameter_supported : whether answers to sign-ins state the issuer (RFC 9207).
    """

    model_config = ConfigDict(frozen=True)

    issuer: str
    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    end_session_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False

    @property
    def posts_secret(self) -> bool:
        """Whether the client secret is sent in the form, since the token endpoint takes no HTTP Basic."""
        return "client_secret_basic" not in self.token_endpoint_auth_methods_supported


@dataclass(frozen=True, slots=True)
class _Read:
    metadata: Metadata
    keys: "Sequence[Key]"
    at: float


class Issuer:
    """The documents of the issuer of the settings. Belongs to one event loop.

    Parameters
    ----------
    clock : seconds, from any beginning.
    """

    def __init__(self, options: OidcOptions, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._options, self._clock = options, clock
        self.exchange = Exchange()
        self._read: _Read | None = None
        self._tried_at: float | None = None
        self._failure: IssuerUnavailable | None = None
        self._lock = asyncio.Lock()

    async def metadata(self) -> Metadata:
        """The discovery document. Raises `IssuerUnavailable`."""
        return (await self._current()).metadata

    async def key(self, kid: str | None, algorithm: str) -> "Key":
        """The public key with an id; without one, the only key there is for the algorithm.

        Raises
        ------
        TokenRejected : the issuer has no such key.
        IssuerUnavailable : no such key is known, and the issuer cannot be reached.
        """
        found = _matching((await self._current()).keys, kid, algorithm)
        if not found:  # the issuer may have a new key
            await self._refresh()
            found = _matching((await self._current()).keys, kid, algorithm)
        if not found and self._failure is not None:
            raise self._failure
        if len(found) != 1:
            said = "no key of the issuer has its id" if kid is not None else "it has no `kid` that selects a key"
            raise TokenRejected(f"the token is rejected: {said}, or the key is for another algorithm", check="kid")
        return found[0]

    async def _current(self) -> _Read:
        age = self._age()
        if age > REFRESHED_EVERY_S and not (self._lock.locked() and age < USED_FOR_S):
            await self._refresh()
        if self._read is None or self._age() > USED_FOR_S:
            raise self._failure or IssuerUnavailable("the issuer has not been reached yet; try again in a moment")
        return self._read

    def _age(self) -> float:
        return float("inf") if self._read is None else self._clock() - self._read.at

    async def _refresh(self) -> None:
        """Read the documents, unless an attempt was made a short time ago; a failure is noted."""
        async with self._lock:
            now = self._clock()
            if self._tried_at is not None and now - self._tried_at < RETRIED_EVERY_S:
                return
            self._tried_at = now
            try:
                document = await self.exchange.get(self._options.issuer.removesuffix("/") + _WELL_KNOWN)
                metadata = _metadata(document, self._options)
                keys = _keys(await self.exchange.get(metadata.jwks_uri))
            except IssuerUnavailable as unavailable:
                self._failure = unavailable
                structlog.get_logger().warning("oidc.issuer_unavailable", detail=unavailable.detail)
            else:
                self._read, self._failure = _Read(metadata, keys, now), None


def _metadata(document: Mapping[str, Any], options: OidcOptions) -> Metadata:
    """Read a discovery document. Raises `IssuerUnavailable` if it is another issuer's."""
    stated = {name: value for name, value in document.items() if value is not None}
    needed = ("authorization_endpoint", "token_endpoint") if options.may_sign_in else ()
    try:
        metadata = Metadata.model_validate(stated)
        missing = [name for name in needed if not stated.get(name)]
    except ValidationError as failed:
        missing = [str(error["loc"][0]) for error in failed.errors()]
    if missing:
        raise IssuerUnavailable(f"the discovery document has no valid {missing[0]}")
    if metadata.issuer != options.issuer:
        raise IssuerUnavailable("the discovery document is of another issuer than RACKPLAN_OIDC_ISSUER")
    return metadata


def _keys(document: Mapping[str, Any]) -> "Sequence[Key]":
    """The keys of a JWK set that verify signatures; others are left out, as the standard says.

    Raises `IssuerUnavailable` if it is malformed.
    """
    listed = document.get("keys")
    if not isinstance(listed, list) or len(listed) > MOST_KEYS:
        raise IssuerUnavailable(f"the issuer's key set has no list of at most {MOST_KEYS} keys")
    return [key for each in listed if isinstance(each, dict) for key in _verifying(each)]


def _verifying(jwk: Mapping[str, Any]) -> "Sequence[Key]":
    from joserfc import errors  # noqa: PLC0415 -- see the package's docstring
    from joserfc.jwk import RSAKey, import_key  # noqa: PLC0415 — see the package's docstring

    try:
        with warnings.catch_warnings(action="ignore", category=errors.SecurityWarning):
            key = import_key({name: jwk[name] for name in _MEMBERS if name in jwk})  # no private or shared secret
            key.check_use("sig")
            key.check_key_op("verify")
    except (errors.JoseError, ValueError, TypeError, KeyError):
        return ()
    return () if isinstance(key, RSAKey) and key.public_key.key_size not in _RSA_BITS else (key,)


def _matching(keys: "Sequence[Key]", kid: str | None, algorithm: str) -> "Sequence[Key]":
    """The keys of an id, if one is stated, whose type, curve and `alg` fit the algorithm."""
    from joserfc.jws import JWSRegistry  # noqa: PLC0415 — see the package's docstring

    return [k for k in keys if kid in (None, k.kid) and JWSRegistry.filter_algorithms(k, [algorithm])]
