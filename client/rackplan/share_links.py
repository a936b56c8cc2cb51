"""Share links: signed links to a page that need no API key until they expire."""

from __future__ import annotations

from typing import Unpack

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, path
from rackplan.flows import Bound, Flow, K, Request, operation


class ShareLinkOperations(Bound[K]):
    """Operations on share links."""

    @operation
    def create_share_link(self, **request: Unpack[fields.ShareLinkRequest]) -> Flow[models.ShareLinkDocument]:
        """Create a link to a plan, sweep or cluster, and one to its picture alone."""
        response = yield from exchange(self._client, Request("POST", path("share-links"), json=request))
        return models.ShareLinkDocument(response.json())

    @operation
    def revoke_share_links(self) -> Flow[None]:
        """Revoke all share links."""
        yield from exchange(self._client, Request("DELETE", path("share-links")))
