"""Share links that are valid: one row for each, which ends with its revocation or after its expiry.

A row has a link's resource and expiry, but not its signature: a list of links does not open them.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa

from app.errors.requests import ShareLinkNotFound
from app.store import audit, transaction
from app.store.tables import share_links
from app.store.transaction import Page, Rows


@dataclass(frozen=True, slots=True)
class ShareLink:
    """A link that was made.

    Parameters
    ----------
    kind, name : a plan or sweep by its id, or a cluster by its name.
    created_by : name of the key or subject of the token; None if the service was open.
    """

    id: UUID
    team: str
    kind: str
    name: str
    created_by: str | None
    created_at: datetime
    expires_at: datetime


class ShareLinks(Rows[ShareLink]):
    """Share links in one transaction."""

    _table, _record, _missing = share_links, ShareLink, ShareLinkNotFound

    def create(
        self, kind: str, name: str, *, team: str, expires_at: datetime, link_id: UUID | None = None
    ) -> ShareLink:
        """Store a link of a team; links that have expired are deleted."""
        self._writing.execute(share_links.delete().where(share_links.c.expires_at <= sa.func.now()))
        made = {"kind": kind, "name": name, "created_by": audit.acting().name, "expires_at": expires_at}
        return self._inserted(link_id, team=team, **made)

    def expiry_after(self, valid_for: timedelta) -> datetime:
        """When a link expires that is made now, by the clock that decides whether it has."""
        expiry: datetime = self._reading.execute(sa.select(sa.func.now() + valid_for)).scalar_one()
        return expiry

    def is_stored(self, link_id: UUID) -> bool:
        """Whether a link was made and not revoked."""
        return self._reading.scalar(sa.select(share_links.c.id).where(share_links.c.id == link_id)) is not None

    def valid(self, *, before: UUID | None, size: int) -> Page[ShareLink]:
        """Links that have not expired, newest first; `before` is the last id of the page before."""
        return self.page(share_links.c.expires_at > sa.func.now(), before=before, size=size)

    def delete_all(self, *, team: str) -> None:
        """Delete the links of a team, or of all."""
        every = share_links.delete()
        self._writing.execute(every if team == transaction.ALL else every.where(share_links.c.team == team))
