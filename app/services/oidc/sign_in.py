"""The sign-in of a browser: authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 3.1).

The state of a sign-in until the browser comes back is in a cookie of this browser alone: nothing is stored for a
stranger, and a browser that did not begin a sign-in cannot end one.
"""

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_urlsafe
from typing import Annotated
from urllib.parse import quote_plus, urlencode

import orjson
from pydantic import Field, TypeAdapter

from app.errors.every import IssuerUnavailable, ServiceBusy, SettingNotValid, SignInFailed, quoted
from app.services.callers import Caller
from app.services.oidc.issuer import Issuer, Metadata
from app.services.oidc.options import OidcOptions
from app.services.oidc.tokens import LONGEST_TOKEN, Tokens, caller_of, shown_name

CALLBACK = "/sign-in/callback"
SIGNED_OUT = "/sign-out"
PENDING_S = 600
"""Seconds within which a sign-in that was begun has to end."""
_MOST_EXCHANGES = 8
_LONGEST_PATH = 2_000
_AGAIN = "sign in again"


@dataclass(frozen=True, slots=True)
class Pending:
    """A sign-in that was begun, as the cookie of its browser states it.

    Parameters
    ----------
    to : the path of the service that the browser returns to. team : that it chose; empty if it chose none.
    """

    state: Annotated[str, Field(min_length=43)]
    nonce: str
    verifier: str
    expires: int
    to: str
    team: str

    def written(self) -> str:
        """The text of a cookie."""
        return urlsafe_b64encode(orjson.dumps(self)).decode()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A sign-in that has ended. `id_token` names the session to the issuer when the browser signs out."""

    caller: Caller
    to: str
    team: str
    id_token: str


class SignIn:
    """Begins and ends sign-ins at an issuer."""

    def __init__(self, options: OidcOptions, issuer: Issuer) -> None:
        self.options, self._issuer, self._tokens = options, issuer, Tokens(options, issuer)
        self._exchanges = 0

    async def begin(self, *, to: str, team: str) -> tuple[str, Pending]:
        """The address at the issuer that a browser goes to, and the cookie's content. Raises `IssuerUnavailable`."""
        metadata = await self._issuer.metadata()
        pending = Pending(
            state=token_urlsafe(32),
            nonce=token_urlsafe(32),
            verifier=token_urlsafe(32),
            expires=int(time.time()) + PENDING_S,
            to=local_path(to),
            team=team,
        )
        challenge = urlsafe_b64encode(sha256(pending.verifier.encode()).digest()).decode().rstrip("=")
        parameters = {
            "response_type": "code",
            "client_id": str(self.options.oidc_client_id),
            "redirect_uri": self._redirect_uri,
            "scope": self.options.oidc_sign_in_scopes,
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(metadata.authorization_endpoint, parameters), pending

    async def end(self, cookie: str, answer: Mapping[str, str]) -> SignedIn:
        """End the sign-in that a cookie states, by the parameters with which the browser came back.

        Raises
        ------
        SignInFailed : the browser began no such sign-in, or the issuer rejects it.
        TokenRejected : the ID token is not valid.
        Forbidden : its claims give no team or no scope.
        IssuerUnavailable, ServiceBusy
        """
        pending = _pending(cookie)
        if not hmac.compare_digest(pending.state.encode(), answer.get("state", "").encode("utf-8", "surrogateescape")):
            raise SignInFailed(f"the answer is not to the sign-in that this browser has begun; {_AGAIN}", check="state")
        metadata = await self._issuer.metadata()
        implied = "" if metadata.authorization_response_iss_parameter_supported else self.options.issuer
        if answer.get("iss", implied) != self.options.issuer:
            raise SignInFailed(f"the answer is of another issuer; {_AGAIN}", check="iss")
        if "error" in answer:
            described = answer.get("error_description", "")
            said = quoted(answer["error"]) + (f": {quoted(described)}" if described else "")
            raise SignInFailed(f"the issuer has rejected the sign-in: {said}", check="error")
        id_token = await self._exchanged(metadata, answer.get("code", ""), pending)
        claims = await self._tokens.of_sign_in(id_token, nonce=pending.nonce)
        caller = replace(caller_of(claims, self.options), shown=shown_name(claims))
        return SignedIn(caller, pending.to, pending.team, id_token)

    async def end_address(self, id_token: str) -> str:
        """The address at which the browser ends its session at the issuer; empty if it has none or does not answer."""
        try:
            metadata = await self._issuer.metadata()
        except IssuerUnavailable:
            return ""
        if not metadata.end_session_endpoint.startswith(("https://", "http://")):
            return ""
        parameters = {
            "client_id": str(self.options.oidc_client_id),
            "post_logout_redirect_uri": f"{self.options.public_url}{SIGNED_OUT}",
            **({"id_token_hint": id_token} if id_token else {}),
        }
        return _with_query(metadata.end_session_endpoint, parameters)

    @property
    def _redirect_uri(self) -> str:
        return f"{self.options.public_url}{CALLBACK}"

    async def _exchanged(self, metadata: Metadata, code: str, pending: Pending) -> str:
        """The ID token for a code."""
        if self._exchanges >= _MOST_EXCHANGES:
            raise ServiceBusy(f"{_MOST_EXCHANGES} browsers are signing in; try again", limit=_MOST_EXCHANGES)
        client, secret = str(self.options.oidc_client_id), self._secret()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": pending.verifier,
            **({} if secret and not metadata.posts_secret else {"client_id": client}),
            **({"client_secret": secret} if secret and metadata.posts_secret else {}),
        }
        basic = (quote_plus(client), quote_plus(secret)) if secret and not metadata.posts_secret else None
        self._exchanges += 1
        try:
            status, document = await self._issuer.exchange.ask("POST", metadata.token_endpoint, data=form, auth=basic)
        finally:
            self._exchanges -= 1
        id_token = document.get("id_token")
        if status != 200 or not isinstance(id_token, str) or len(id_token) > LONGEST_TOKEN:
            said = quoted(str(document.get("error", f"status {status}")))
            raise SignInFailed(f"the issuer gives no ID token: {said}; {_AGAIN}", check="code")
        return id_token

    def _secret(self) -> str:
        """The client secret, read anew: the operator may replace it. Raises `SettingNotValid`."""
        file = self.options.oidc_client_secret_file
        if file is None:
            return ""
        try:
            return file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as unreadable:
            reason = getattr(unreadable, "strerror", None) or "it is not UTF-8"
            raise SettingNotValid(f"RACKPLAN_OIDC_CLIENT_SECRET_FILE cannot be read: {reason}") from unreadable


def local_path(path: str) -> str:
    """The path, with its query, if it is one of this service for every browser; else `/`.

    A browser reads `//host`, `/\\host` and paths with control characters in them as addresses of another host.
    """
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if is_local and path.isascii() and path.isprintable() and len(path) <= _LONGEST_PATH else "/"


def _pending(cookie: str) -> Pending:
    try:
        pending = TypeAdapter(Pending).validate_json(urlsafe_b64decode(cookie.encode()), strict=True)
    except ValueError:
        raise SignInFailed(
            f"this browser has begun no sign-in, or does not send its cookie; {_AGAIN}", check="cookie"
        ) from None
    if pending.expires <= time.time():
        raise SignInFailed(f"the sign-in took longer than {PENDING_S // 60} minutes; {_AGAIN}", check="expiry")
    return replace(pending, to=local_path(pending.to))


def _with_query(address: str, parameters: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"
