"""The issuer: its discovery document, and the keys that verify its tokens, read when they are needed, then cached."""

import asyncio
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from app.errors.access import IssuerUnavailable, TokenRejected
from app.services.oidc.exchange import Exchange
from app.services.oidc.options import OidcOptions

if TYPE_CHECKING:
    from joserfc.jwk import Key

REFRESHED_EVERY_S = 300.0
"""Age at which the documents are read again: a key that the issuer withdraws is used no longer than this."""
RETRIED_EVERY_S = 10.0
"""Time between two attempts, whatever tokens arrive: an unknown key id makes no more requests than this."""
USED_FOR_S = 86_400.0
"""Age up to which the documents are used if the issuer does not answer."""
MOST_KEYS = 100
_RSA_BITS = range(2048, 8193)
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "Ed25519": "Ed25519"}
_WELL_KNOWN = "/.well-known/openid-configuration"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What of the discovery document is used. `end_session_endpoint` is empty if there is none.

    Parameters
    ----------
    posts_secret : whether the client secret is sent in the form, since the token endpoint takes no HTTP Basic.
    states_issuer : whether its answers to sign-ins state the issuer (RFC 9207).
    """

    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    end_session_endpoint: str = ""
    posts_secret: bool = False
    states_issuer: bool = False


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key for signatures. `algorithm` is empty if the key states none; `kind` is its type and curve."""

    kid: str | None
    algorithm: str
    kind: tuple[str, str]
    key: "Key" = field(repr=False)

    def verifies(self, algorithm: str) -> bool:
        """Whether the key is for the algorithm: of its type and curve, and of its `alg` if it states one."""
        expected = (_type_of(algorithm), _CURVES.get(algorithm, ""))
        return self.algorithm in ("", algorithm) and self.kind == expected


@dataclass(frozen=True, slots=True)
class _Read:
    metadata: Metadata
    keys: Sequence[VerifyingKey]
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
        return found[0].key

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
    """Read a discovery document. Raises `IssuerUnavailable` if it is not that of the issuer."""
    if document.get("issuer") != options.issuer:
        raise IssuerUnavailable("the discovery document is of another issuer than RACKPLAN_OIDC_ISSUER")
    needed = ["jwks_uri", *(("authorization_endpoint", "token_endpoint") if options.may_sign_in else ())]
    missing = [name for name in needed if not _typed(document, name, str, "")]
    if missing:
        raise IssuerUnavailable(f"the discovery document has no {missing[0]}")
    methods = _typed(document, "token_endpoint_auth_methods_supported", list, ["client_secret_basic"])
    return Metadata(
        jwks_uri=document["jwks_uri"],
        authorization_endpoint=_typed(document, "authorization_endpoint", str, ""),
        token_endpoint=_typed(document, "token_endpoint", str, ""),
        end_session_endpoint=_typed(document, "end_session_endpoint", str, ""),
        posts_secret="client_secret_basic" not in methods,
        states_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _typed(document: Mapping[str, Any], name: str, kind: type[_T], default: _T) -> _T:
    value = document.get(name)
    return value if isinstance(value, kind) else default


def _keys(document: Mapping[str, Any]) -> Sequence[VerifyingKey]:
    """The keys of a JWK set that verify signatures; others are left out, as the standard says.

    Raises `IssuerUnavailable` if it is none.
    """
    listed = document.get("keys")
    if not isinstance(listed, list) or len(listed) > MOST_KEYS:
        raise IssuerUnavailable(f"the issuer's key set has no list of at most {MOST_KEYS} keys")
    return [key for each in listed if isinstance(each, dict) for key in _verifying(each)]


def _verifying(jwk: Mapping[str, Any]) -> Sequence[VerifyingKey]:
    from joserfc import errors  # noqa: PLC0415 -- see the package's docstring
    from joserfc.jwk import ECKey, OKPKey, RSAKey  # noqa: PLC0415 -- as above

    kinds: Mapping[str, type[RSAKey | ECKey | OKPKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
    kty, crv, kid, algorithm = jwk.get("kty"), jwk.get("crv", ""), jwk.get("kid"), jwk.get("alg", "")
    operations = jwk.get("key_ops", ["verify"])
    is_text = all(isinstance(each, str) for each in (kty, crv, algorithm, "" if kid is None else kid))
    if not is_text or kty not in kinds or jwk.get("use", "sig") != "sig" or operations != ["verify"]:
        return ()
    public = {name: value for name, value in jwk.items() if name in ("kty", "n", "e", "crv", "x", "y")}
    try:
        with warnings.catch_warnings(action="ignore", category=errors.SecurityWarning):
            key = kinds[str(kty)].import_key(public)
    except (errors.JoseError, ValueError, TypeError, KeyError):
        return ()
    if isinstance(key, RSAKey) and key.public_key.key_size not in _RSA_BITS:
        return ()
    return [VerifyingKey(kid, algorithm, (str(kty), crv), key)]


def _matching(keys: Sequence[VerifyingKey], kid: str | None, algorithm: str) -> Sequence[VerifyingKey]:
    fitting = [key for key in keys if key.verifies(algorithm)]
    return fitting if kid is None else [key for key in fitting if key.kid == kid]


def _type_of(algorithm: str) -> str:
    return {"R": "RSA", "P": "RSA"}.get(algorithm[0], "OKP" if algorithm == "Ed25519" else "EC")
