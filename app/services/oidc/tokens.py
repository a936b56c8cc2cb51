"""The checks of a token, form, algorithm, key, signature, then issuer, audience, party and times; its caller.

The claims of a verified token are its caller: its name, its teams, its scopes.

Each rejection names the check (`check` in the problem) and states nothing of the token. No key, address or certificate
in a token is used: the only keys are those that the issuer publishes.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from app.errors.every import Forbidden, TokenRejected
from app.services.api_keys import Scope
from app.services.callers import OIDC_PREFIX, Caller
from app.services.oidc.issuer import Issuer
from app.services.oidc.options import OidcOptions
from app.store import transaction

if TYPE_CHECKING:
    from joserfc.jwt import ClaimsOption


LONGEST_TOKEN = 16_384
_LONGEST_HEADER = 2_048
_LONGEST_TEXT = 255
_KEY_HEADERS = ("jwk", "jku", "x5u", "x5c")
_ACCESS_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_ID_TYPES = frozenset({"", "jwt"})

_MOST_VALUES = 1_000
_SHOWN = ("preferred_username", "email", "name", "sub")


class Tokens:
    """Verifies tokens of an issuer.

    Parameters
    ----------
    now : seconds since 1970.
    """

    def __init__(self, options: OidcOptions, issuer: Issuer, *, now: Callable[[], float] = time.time) -> None:
        self._options, self._issuer, self._now = options, issuer, now

    async def of_access(self, token: str) -> Mapping[str, Any]:
        """The claims of an access token.

        Raises
        ------
        TokenRejected : it is not from the issuer for this service, or not valid now; `check` names the failed check.
        IssuerUnavailable : its key is not known, and the issuer cannot be reached.
        """
        options = self._options
        if options.oidc_audience is None:
            _reject("aud", "this service accepts no access tokens; RACKPLAN_OIDC_AUDIENCE allows them")
        claims = await self._signed(token, _ACCESS_TYPES)
        self._check(claims, aud={"essential": True, "value": str(options.oidc_audience)})
        parties, party = options.oidc_authorized_parties, claims.get("azp")
        if parties and party not in parties:
            _reject("azp", "its `azp` is not in RACKPLAN_OIDC_AUTHORIZED_PARTIES")
        return claims

    async def of_sign_in(self, token: str, *, nonce: str) -> Mapping[str, Any]:
        """The claims of the ID token of a sign-in, which has the nonce that began it. Raises as `of_access`."""
        client = str(self._options.oidc_client_id)
        claims = await self._signed(token, _ID_TYPES)
        self._check(
            claims,
            aud={"essential": True, "value": client},
            nonce={"essential": True, "value": nonce},
            iat={"essential": True},
        )
        is_shared = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if is_shared else client) != client:
            _reject("azp", "its `azp` is not RACKPLAN_OIDC_CLIENT_ID")
        return claims

    async def _signed(self, token: str, types: frozenset[str]) -> dict[str, Any]:
        """The claims of a token with a valid signature of the issuer."""
        from joserfc import jws  # noqa: PLC0415 -- see the package's docstring
        from joserfc.errors import JoseError  # noqa: PLC0415 — see the package's docstring

        if len(token) > LONGEST_TOKEN:
            _reject("length", f"it has {len(token)} characters; the limit is {LONGEST_TOKEN}")
        if not token.isascii() or token.count(".") != 2:
            _reject("form", "it is not three parts of base64url with dots between them")
        registry = jws.JWSRegistry(algorithms=self._options.oidc_algorithms, strict_check_header=False)
        registry.max_header_length = _LONGEST_HEADER
        try:
            signed = jws.extract_compact(token.encode(), None, registry)
            header = signed.headers()
            algorithm = self._algorithm(header, types)
        except (JoseError, ValueError, TypeError, RecursionError):
            _reject("form", "its header cannot be read")
        key = await self._issuer.key(_kid(header), algorithm)
        try:
            is_valid = jws.validate_compact(signed, key, [algorithm], registry)
        except (JoseError, ValueError):
            is_valid = False
        if not is_valid:
            _reject("signature", "its signature is not one of the issuer")
        return _claims(signed.payload)

    def _algorithm(self, header: Mapping[str, Any], types: frozenset[str]) -> str:
        algorithm, stated = header.get("alg"), header.get("typ", "")
        if algorithm not in self._options.oidc_algorithms:
            allowed = ", ".join(self._options.oidc_algorithms)
            _reject("alg", f"its `alg` is not one of {allowed}")
        named = next((name for name in _KEY_HEADERS if name in header), None)
        if named is not None:
            _reject(named, f"its header has `{named}`; keys are those of the issuer alone")
        if "crit" in header or header.get("b64", True) is not True:
            _reject("crit", "its header has extensions that are not understood")
        if not isinstance(stated, str) or stated.lower() not in types:
            _reject("typ", "its `typ` is not that of a token of this use")
        return str(algorithm)

    def _check(self, claims: dict[str, Any], **needed: "ClaimsOption") -> None:
        from joserfc.errors import ClaimError  # noqa: PLC0415 — see the package's docstring
        from joserfc.jwt import JWTClaimsRegistry  # noqa: PLC0415 — see the package's docstring

        issuer: ClaimsOption = {"essential": True, "value": self._options.issuer}
        now, skew = int(self._now()), self._options.oidc_skew_seconds
        registry = JWTClaimsRegistry(now, skew, iss=issuer, exp={"essential": True}, sub={"essential": True}, **needed)
        try:
            registry.validate(claims)
        except ClaimError as failed:
            _reject(failed.claim.partition(",")[0], failed.description[0].lower() + failed.description[1:])
        if len(claims["sub"]) > _LONGEST_TEXT:
            _reject("sub", f"its `sub` has more than {_LONGEST_TEXT} characters")


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        claims = orjson.loads(payload)
    except orjson.JSONDecodeError:
        claims = None
    if not isinstance(claims, dict):
        _reject("form", "its claims are not a JSON object")
    return claims


def _kid(header: Mapping[str, Any]) -> str | None:
    kid = header.get("kid")
    if kid is not None and (not isinstance(kid, str) or len(kid) > _LONGEST_TEXT):
        _reject("kid", f"its `kid` is not a text of at most {_LONGEST_TEXT} characters")
    return kid


def _reject(check: str, reason: str) -> NoReturn:
    raise TokenRejected(f"the token is rejected: {reason}", check=check)


def caller_of(claims: Mapping[str, Any], options: OidcOptions) -> Caller:
    """The caller of a token. Values of claims that mean no team and no scope are ignored.

    Raises
    ------
    Forbidden : the claims give no team, or no scope, or no name: such a token may do nothing.
    """
    name = _claim(claims, options.oidc_name_claim)
    if not isinstance(name, str) or not (0 < len(name) <= _LONGEST_TEXT and name.isprintable()):
        raise Forbidden(
            f"the claim {options.oidc_name_claim} of the token is no name of 1 to {_LONGEST_TEXT} printable characters",
            claim=options.oidc_name_claim,
        )
    return Caller(
        name=OIDC_PREFIX + name,
        described=OIDC_PREFIX + name,
        teams=_teams(claims, options),
        scopes=_scopes(claims, options),
    )


def shown_name(claims: Mapping[str, Any]) -> str:
    """The name that pages show to the person who has signed in."""
    for claim in _SHOWN:
        value = claims.get(claim)
        if isinstance(value, str) and value and value.isprintable():
            return value[:_LONGEST_TEXT]
    return ""


def _teams(claims: Mapping[str, Any], options: OidcOptions) -> tuple[str, ...]:
    mapping = options.oidc_teams
    stated = _values(_claim(claims, options.oidc_team_claim))
    found = [mapping.get(value, "") for value in stated] if mapping else [v for v in stated if transaction.is_name(v)]
    unique = tuple(dict.fromkeys(filter(None, found)))
    if not unique:
        whose = "in RACKPLAN_OIDC_TEAMS" if mapping else f"the name of a team ({transaction.PATTERN})"
        raise Forbidden(
            f"the token gives no team: no value of its claim {options.oidc_team_claim} is {whose}",
            claim=options.oidc_team_claim,
        )
    return (transaction.ALL,) if transaction.ALL in unique else unique


def _scopes(claims: Mapping[str, Any], options: OidcOptions) -> tuple[str, ...]:
    mapping: Mapping[str, str] = options.oidc_scopes or {str(scope): scope for scope in Scope}
    stated = _values(_claim(claims, options.oidc_scopes_claim))
    given = {mapping[value] for value in stated if value in mapping}
    if not given:
        raise Forbidden(
            f"the token gives no scope: no value of its claim {options.oidc_scopes_claim} is one of "
            f"{', '.join(sorted(mapping))}",
            claim=options.oidc_scopes_claim,
        )
    return tuple(str(scope) for scope in Scope if scope in given)


def _claim(claims: Mapping[str, Any], name: str) -> object:
    """A claim by its name, which may have dots; else dots lead into objects (`realm_access.roles`)."""
    if name in claims:
        return claims[name]
    value: object = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _values(claim: object) -> Iterator[str]:
    """The texts of a list; of a text it itself and, as `scope` has them, those between spaces."""
    if isinstance(claim, str):
        claim = [claim, *claim.split(" ")]
    if isinstance(claim, list):
        yield from (value for value in claim[:_MOST_VALUES] if isinstance(value, str))
