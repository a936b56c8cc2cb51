"""Signed links to one page or picture, which need no API key until they expire or are revoked.

A link states its subject, its expiry, its id, and an HMAC-SHA256 of these under a key that the installation makes
for itself. The row of its id is deleted to revoke it; replacing the key revokes all of them.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, cast, get_args
from urllib.parse import quote, urlencode
from uuid import UUID

from app.errors.every import PlanNotFound, ShareLinkRejected, SweepNotFound
from app.services import snapshots
from app.services.bodies import AnswerRecord
from app.store import transaction
from app.store.unit import UnitOfWork

if TYPE_CHECKING:
    from app.store.api_keys import ShareLink

SubjectKind = Literal["plan", "sweep", "cluster"]
Granted = Literal["page", "picture"]
MOST_DAYS = 365
PARAMETER = "share"
"""The parameter of an address that has the signed part of a link."""
_PICTURES: Mapping[SubjectKind, str] = {
    "plan": "pictures/plan",
    "cluster": "pictures/cluster-map",
    "sweep": "pictures/sweep-compared",
}
_PURPOSE = "share links"
_DOTS_WITH_TEAM = 3
_INVALID = "the link was revoked, was changed, or is for another page"
_LONGEST_EXPIRY = 11
"""Digits of the moment in seconds: until the year 5138."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a link: a plan or sweep by its id, a cluster by its name."""

    kind: SubjectKind
    name: str


class SharedLinks(AnswerRecord, schema="ShareLinkDocument"):
    """A link to a page, and one to its picture alone."""

    id: UUID
    """Id of both links (UUIDv7), by which they can be revoked."""
    page: str
    """URL of the page, with its pictures and files."""
    picture: str
    """URL of the picture alone, as SVG; `.png` is the same as PNG."""
    expires_at: datetime
    """When both links expire."""


def signing_key(uow: UnitOfWork, team: str = transaction.DEFAULT) -> bytes:
    """The key that signs the links of a team. Keys of the installation are read by the service's own transactions."""
    return uow.installation_keys.of(_purpose(team))


def require(uow: UnitOfWork, subject: Subject) -> None:
    """Raise the `Failure` of a plan, sweep or cluster that does not exist."""
    if subject.kind == "cluster":
        snapshots.newest(uow, subject.name)
    elif subject.kind == "plan":
        uow.plans.get(_id(subject, PlanNotFound))
    else:
        uow.sweeps.get(_id(subject, SweepNotFound))


def _id(subject: Subject, missing: type[PlanNotFound] | type[SweepNotFound]) -> UUID:
    """Raises `missing` if the text is no id."""
    try:
        known = UUID(subject.name)
    except ValueError:
        known = None
    if known is None or str(known) != subject.name:  # a link is for the id as pages write it
        raise missing(f"{subject.name} is not the id of a {subject.kind}", path=("name",))
    return known


def links(
    uow: UnitOfWork, key: bytes, base: str, subject: Subject, *, days: int, team: str = transaction.DEFAULT
) -> SharedLinks:
    """Both links to a plan, sweep or cluster of a team. `base` is the address of the service and ends with a slash."""
    expires_at = uow.share_links.expiry_after(timedelta(days=days))
    made = uow.share_links.create(subject.kind, subject.name, team=team, expires_at=expires_at)
    path = f"{subject.kind}s/{quote(subject.name, safe='')}"
    page, picture = (make(key, subject, granted, made, team=team) for granted in get_args(Granted))
    of_page, of_picture = {PARAMETER: page}, {subject.kind: subject.name, PARAMETER: picture}
    uow.audit.record("share_link.created", _resource(made), team=team)
    return SharedLinks(
        made.id,
        f"{base}{path}?{urlencode(of_page)}",
        f"{base}{_PICTURES[subject.kind]}.svg?{urlencode(of_picture)}",
        made.expires_at,
    )


def make(key: bytes, subject: Subject, granted: Granted, link: "ShareLink", *, team: str = transaction.DEFAULT) -> str:
    """The signed part of a link to a subject of a team. `page` grants the page, its pictures and files."""
    stated = f"{int(link.expires_at.timestamp())}-{link.id}"
    signed = f"{granted}.{stated}.{_signature(key, subject, granted, stated)}"
    return signed if team == transaction.DEFAULT else f"{signed}.{team}"


def team_of(token: str) -> str:
    """The team whose page a link shows, which `verify` verifies too: each team's links have a key of their own."""
    _, _, team = token.rpartition(".") if token.count(".") == _DOTS_WITH_TEAM else ("", "", transaction.DEFAULT)
    return team


def verify(uow: UnitOfWork, subject: Subject, wanted: Granted, token: str) -> datetime:
    """When a link to a page or picture expires.

    Raises
    ------
    ShareLinkRejected : it has expired, was revoked, or was not signed for this with the present key.
    """
    granted, _, rest = token.partition(".")
    stated, _, rest = rest.partition(".")
    moment, _, link_id = stated.partition("-")  # links that were made before each had an id end with the moment
    team = team_of(token)
    signature = rest if team == transaction.DEFAULT else rest.removesuffix(f".{team}")
    if granted not in get_args(Granted) or not (
        moment.isascii() and moment.isdigit() and len(moment) <= _LONGEST_EXPIRY and transaction.is_name(team)
    ):
        raise ShareLinkRejected("this is not a share link of Rackplan: part of the address is missing or was changed")
    signed = _signature(signing_key(uow, team), subject, cast("Granted", granted), stated)
    # The signature first: whoever changes the moment learns nothing but that the link was changed.
    if not hmac.compare_digest(signed.encode(), signature.encode("utf-8", "surrogateescape")):
        raise ShareLinkRejected(_INVALID)
    if granted == "picture" and wanted == "page":
        raise ShareLinkRejected("the link is for the picture alone, not for its page")
    expires = datetime.fromtimestamp(int(moment), UTC)
    if uow.share_links.is_past(expires):
        raise ShareLinkRejected(f"the link expired at {expires:%Y-%m-%d %H:%M} UTC")
    if link_id and not uow.share_links.is_stored(UUID(link_id)):
        raise ShareLinkRejected(_INVALID)
    return expires


def revoke(uow: UnitOfWork, link_id: UUID) -> None:
    """Revoke one link of the team, both of its addresses. Raises `ShareLinkNotFound`."""
    revoked = uow.share_links.get(link_id, for_update=True)
    uow.share_links.delete(link_id)
    uow.audit.record("share_link.revoked", _resource(revoked), team=revoked.team)


def revoke_all(uow: UnitOfWork, *, team: str = transaction.DEFAULT) -> None:
    """Replace the key of a team, or of all: no link of it that was made until now is valid any longer."""
    uow.audit.record("share_links.revoked", "every link of the team", team=team)
    uow.share_links.delete_all(team=team)
    if team == transaction.ALL:
        uow.installation_keys.forget(_PURPOSE)
    else:
        uow.installation_keys.rotate(_purpose(team))


def _purpose(team: str) -> str:
    return _PURPOSE if team == transaction.DEFAULT else f"{_PURPOSE} of {team}"


def _resource(link: "ShareLink") -> str:
    return f"{link.kind} {link.name}"


def _signature(key: bytes, subject: Subject, granted: Granted, stated: str) -> str:
    # The name comes last: it alone may have line breaks.
    message = f"{granted}\n{stated}\n{subject.kind}\n{subject.name}".encode("utf-8", "surrogateescape")
    return urlsafe_b64encode(hmac.digest(key, message, "sha256")).decode().rstrip("=")
