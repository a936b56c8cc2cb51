"""The caller that the claims of a verified token are about: its name, its teams, its scopes."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.errors.access import Forbidden
from app.services.api_keys import Scope
from app.services.callers import OIDC_PREFIX, Caller
from app.services.oidc.options import OidcOptions
from app.store import transaction

_LONGEST_NAME = 255
_MOST_VALUES = 1_000
_SHOWN = ("preferred_username", "email", "name", "sub")


def caller_of(claims: Mapping[str, Any], options: OidcOptions) -> Caller:
    """The caller of a token. Values of claims that mean no team and no scope are ignored.

    Raises
    ------
    Forbidden : the claims give no team, or no scope, or no name: such a token may do nothing.
    """
    name = _claim(claims, options.oidc_name_claim)
    if not isinstance(name, str) or not (0 < len(name) <= _LONGEST_NAME and name.isprintable()):
        raise Forbidden(
            f"the claim {options.oidc_name_claim} of the token is no name of 1 to {_LONGEST_NAME} printable characters",
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
            return value[:_LONGEST_NAME]
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
