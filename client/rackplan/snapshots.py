"""Snapshots: clusters at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, pages, path
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation

Text: TypeAlias = str | bytes | Path


class SnapshotOperations(Bound[K]):
    """Operations on snapshots."""

    @operation
    def create_snapshot(
        self,
        *,
        cluster: str,
        texts: Sequence[Text] = (),
        brokers: Sequence[fields.CordonableBrokerRequest] | None = None,
        topics: Sequence[fields.TopicRequest] | None = None,
        groups: Sequence[fields.RecordedGroupRequest] | None = None,
        kafka_version: str | None = None,
    ) -> Flow[models.SnapshotDocument]:
        """Create a snapshot of a cluster, from the output of Kafka's tools or from records.

        Parameters
        ----------
        cluster : its name.
        texts : the unchanged output of Kafka's tools, in any order, recognized by content. A `Path` is a file, a `str`
            is the text itself.
        brokers, topics, groups : the cluster as records; not together with texts.
        kafka_version : the release that the brokers run.
        """
        records = {"brokers": brokers, "topics": topics, "groups": groups}
        given = {name: value for name, value in records.items() if value is not None}
        if texts and given:
            raise ValueError(f"a snapshot is made of texts or of records: both texts and {', '.join(given)} are given")
        stated = {"cluster": cluster} | ({} if kafka_version is None else {"kafka_version": kafka_version})
        if texts:
            parts = dict(_part(number, text) for number, text in enumerate(texts, 1))
            request = Request("POST", path("snapshots"), fields=stated, texts=parts)
        else:
            request = Request("POST", path("snapshots"), json={"brokers": [], **stated, **given})
        response = yield from exchange(self._client, request)
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


def _part(number: int, text: Text) -> tuple[str, bytes]:
    """The name and content of a part of a form. Messages of the service name a text by it."""
    if isinstance(text, Path):
        return f"{number}-{text.name}", text.read_bytes()
    return f"text-{number}", text.encode() if isinstance(text, str) else text
