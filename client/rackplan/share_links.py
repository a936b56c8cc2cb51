"""Share links: signed links to a page that need no API key until they expire."""

from __future__ import annotations

from typing import Unpack

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, pages, path
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation


class ShareLinkOperations(Bound[K]):
    """Operations on share links."""

    @operation
    def create_share_link(self, **request: Unpack[fields.ShareLinkRequest]) -> Flow[models.ShareLinkDocument]:
        """Create a link to a plan, sweep or cluster, and one to its picture alone."""
        response = yield from exchange(self._client, Request("POST", path("share-links"), json=request))
        return models.ShareLinkDocument(response.json())

    @iteration
    def list_share_links(self, *, page_size: int | None = None) -> Items[models.ListedShareLink]:
        """Iterate over the share links that are valid, newest first.

        Parameters
        ----------
        page_size : how many are read at a time.
        """
        return pages(
            self._client, Request("GET", path("share-links"), {"page_size": page_size}), models.ListedShareLink
        )

    @operation
    def revoke_share_link(self, share_link_id: str) -> Flow[None]:
        """Revoke a share link."""
        yield from exchange(self._client, Request("DELETE", path("share-links", share_link_id)))

    @operation
    def revoke_share_links(self) -> Flow[None]:
        """Revoke all share links."""
        yield from exchange(self._client, Request("DELETE", path("share-links")))
