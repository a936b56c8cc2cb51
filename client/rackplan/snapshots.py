"""Snapshots: clusters at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, Unpack

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, pages, path
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation

Text: TypeAlias = str | bytes | Path
_OF_A_FORM = {"cluster", "kafka_version"}


class SnapshotOperations(Bound[K]):
    """Operations on snapshots."""

    @operation
    def create_snapshot(
        self, *, texts: Sequence[Text] = (), **request: Unpack[fields.SnapshotRequest]
    ) -> Flow[models.SnapshotDocument]:
        """Create a snapshot of a cluster, from the output of Kafka's tools or from records.

        Parameters
        ----------
        texts : the unchanged output of Kafka's tools, in any order, recognized by content. A `Path` is a file, a `str`
            is the text itself. Besides texts there are `cluster` and `kafka_version`, and no records.
        """
        if texts and (others := sorted(request.keys() - _OF_A_FORM)):
            raise ValueError(f"a snapshot is made of texts or of records: both texts and {', '.join(others)} are given")
        if texts:
            stated = {name: str(value) for name, value in request.items()}
            parts = dict(_part(number, text) for number, text in enumerate(texts, 1))
            response = yield from exchange(self._client, Request("POST", path("snapshots"), fields=stated, texts=parts))
        else:
            response = yield from exchange(self._client, Request("POST", path("snapshots"), json=request))
        return models.SnapshotDocument(response.json())

    @iteration
    def list_snapshots(
        self, *, cluster: str | None = None, page_size: int | None = None
    ) -> Items[models.SnapshotDocument]:
        """Iterate over snapshots, newest first.

        Parameters
        ----------
        page_size : how many are read at a time.
        """
        request = Request("GET", path("snapshots"), {"cluster": cluster, "page_size": page_size})
        return pages(self._client, request, models.SnapshotDocument)

    @operation
    def get_snapshot(self, snapshot_id: str) -> Flow[models.SnapshotWithCluster]:
        """Read a snapshot with its cluster."""
        response = yield from exchange(self._client, Request("GET", path("snapshots", snapshot_id)))
        return models.SnapshotWithCluster(response.json())

    @operation
    def delete_snapshot(self, snapshot_id: str) -> Flow[None]:
        """Delete a snapshot that nothing reads; raises `Conflict` otherwise."""
        yield from exchange(self._client, Request("DELETE", path("snapshots", snapshot_id)))


def _part(number: int, text: Text) -> tuple[str, bytes]:
    """The name and content of a part of a form. Messages of the service name a text by it."""
    if isinstance(text, Path):
        return f"{number}-{text.name}", text.read_bytes()
    return f"text-{number}", text.encode() if isinstance(text, str) else text
