"""The settings of OpenID Connect."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, FilePath, field_validator, model_validator

from app.services.api_keys import Scope
from app.services.limits import Listed, parts
from app.store import transaction

Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"
]  # fmt: skip
"""Signatures by a private key alone. With a shared secret, each program that can verify a token could issue one."""
LONGEST_CLAIM_NAME = 200
SESSION_COOKIES = ("__Host-rackplan-session", "rackplan-session")
"""The names of the cookie of a session: by https, where with `__Host-` no other host of the domain can set it, and on
loopback.
"""


class OidcOptions(BaseModel):
    """Accepted issuer and the meaning of its claims; each one is a setting of the same name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    oidc_issuer: str | None = None
    """OIDC issuer whose tokens are accepted, as its `iss` has it: https, or http on loopback."""
    oidc_audience: str | None = None
    """Audience that access tokens need in `aud`; if empty, the API accepts no tokens."""
    oidc_authorized_parties: Listed[str] = ()
    """Clients whose access tokens are accepted, by `azp`, separated by commas; if empty, any."""
    oidc_client_id: str | None = None
    """Client id with which browsers sign in; if empty, pages need an API key."""
    oidc_client_secret_file: FilePath | None = None
    """File with the client secret; a public client has none."""
    oidc_sign_in_scopes: Annotated[str, Field(pattern=r"^[!-~ ]*\bopenid\b[!-~ ]*$")] = "openid profile"
    """`scope` of the request to sign in."""
    oidc_session_hours: Annotated[int, Field(ge=1, le=168)] = 8
    """Hours after which a browser has to sign in again."""
    oidc_algorithms: Annotated[Listed[Algorithm], Field(min_length=1)] = ("RS256", "PS256", "ES256")
    """Algorithms of signatures, separated by commas."""
    oidc_skew_seconds: Annotated[int, Field(ge=0, le=300)] = 60
    """Difference of clocks that `exp`, `nbf` and `iat` may have, in seconds."""
    oidc_name_claim: Annotated[str, Field(max_length=LONGEST_CLAIM_NAME)] = "sub"
    """Claim with the name that changes are recorded under."""
    oidc_team_claim: Annotated[str, Field(max_length=LONGEST_CLAIM_NAME)] = "team"
    """Claim with the team, or a list; dots lead into objects."""
    oidc_teams: Mapping[str, str] = {}
    """Team of each value of the claim, such as group-1=payments, separated by commas; * is all teams. If empty, a value
    is the name of a team."""
    oidc_scopes_claim: Annotated[str, Field(max_length=LONGEST_CLAIM_NAME)] = "roles"
    """Claim with the scopes; dots lead into objects."""
    oidc_scopes: Mapping[str, Scope] = {}
    """Scope of each value of the claim, such as planner=sweep, separated by commas. If empty, a value is the name of a
    scope."""
    public_url: str | None = None
    """Address at which browsers reach the service, such as https://rackplan.example.org; needed by
    RACKPLAN_OIDC_CLIENT_ID."""

    @field_validator("oidc_teams", "oidc_scopes", mode="before")
    @classmethod
    def _paired(cls, value: object) -> object:
        if not isinstance(listed := parts(value), tuple):
            return value
        pairs = [part.rpartition("=") for part in listed]
        unpaired = next((last for first, _, last in pairs if not first), None)
        if unpaired is not None:
            raise ValueError(f"{unpaired!r} has no `=`")
        return {first.strip(): last.strip() for first, _, last in pairs}

    @field_validator("oidc_teams")
    @classmethod
    def _are_teams(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        wrong = next(
            (team for team in value.values() if team != transaction.ALL and not transaction.is_name(team)), None
        )
        if wrong is not None:
            raise ValueError(
                f"{wrong!r} is no name of a team: {transaction.PATTERN}, or {transaction.ALL} for all teams"
            )
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _is_issuer(cls, value: str | None) -> str | None:
        return None if value is None else _checked(value)

    @field_validator("public_url")
    @classmethod
    def _is_public_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        checked = _checked(value).removesuffix("/")
        if urlsplit(checked).path:
            raise ValueError("it has a path; the pages are at the root of a host")
        return checked

    @model_validator(mode="after")
    def _check_oidc(self) -> Self:
        if self.oidc_issuer is None:
            stated = [name for name in ("oidc_audience", "oidc_client_id") if getattr(self, name) is not None]
            if stated:
                raise ValueError(f"RACKPLAN_{stated[0].upper()} needs RACKPLAN_OIDC_ISSUER")
        elif self.oidc_audience is None and self.oidc_client_id is None:
            raise ValueError("RACKPLAN_OIDC_ISSUER needs RACKPLAN_OIDC_AUDIENCE, RACKPLAN_OIDC_CLIENT_ID or both")
        if self.oidc_client_id is not None and self.public_url is None:
            raise ValueError("RACKPLAN_OIDC_CLIENT_ID needs RACKPLAN_PUBLIC_URL, to which browsers return")
        if self.oidc_client_secret_file is not None and self.oidc_client_id is None:
            raise ValueError("RACKPLAN_OIDC_CLIENT_SECRET_FILE needs RACKPLAN_OIDC_CLIENT_ID")
        return self

    @property
    def issuer(self) -> str:
        """The issuer, where there is one."""
        if self.oidc_issuer is None:
            raise ValueError("there is no issuer")
        return self.oidc_issuer

    @property
    def may_sign_in(self) -> bool:
        """Whether browsers can sign in."""
        return self.oidc_client_id is not None

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the service by https, so that cookies are sent in no other way."""
        return str(self.public_url).startswith("https:")

    @property
    def session_cookie(self) -> str:
        """The name of the cookie of a session."""
        return SESSION_COOKIES[not self.is_secure]


def of(settings: Any) -> OidcOptions | None:
    """The options among settings; None if there is no issuer."""
    if settings.oidc_issuer is None:
        return None
    return OidcOptions(**{name: getattr(settings, name) for name in OidcOptions.model_fields})


def require_protected(url: str) -> str:
    """The address, if a request to it can be neither read nor answered by others. Raises `ValueError`."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
        raise ValueError("it has to begin with https:// (http:// for a loopback address alone)")
    if not parts.hostname or parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError("it has to have a host, and neither a user nor a fragment")
    _ = parts.port  # raises if it is malformed
    return url


def _checked(url: str) -> str:
    if not url.isascii() or not url.isprintable() or " " in url or urlsplit(require_protected(url)).query:
        raise ValueError("it has to be an address without a query")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
