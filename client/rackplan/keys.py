"""Keys: the partition of each, in each client."""

from __future__ import annotations

from typing import Unpack

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, path
from rackplan.flows import Bound, Flow, K, Request, operation


class KeyOperations(Bound[K]):
    """Operations on keys."""

    @operation
    def list_partitioners(self) -> Flow[models.PartitionersDocument]:
        """The partitioners and what they are like."""
        response = yield from exchange(self._client, Request("GET", path("keys", "partitioners")))
        return models.PartitionersDocument(response.json())

    @operation
    def place_keys(self, **request: Unpack[fields.PlaceKeysRequest]) -> Flow[models.KeysDocument]:
        """The partition of each key, and what another number of partitions changes."""
        response = yield from exchange(self._client, Request("POST", path("keys", "partitions"), json=request))
        return models.KeysDocument(response.json())
