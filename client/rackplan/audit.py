"""The audit log: changes with their actors, and denied requests."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, pages, path
from rackplan.exports import Export, export_of
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation


class AuditOperations(Bound[K]):
    """Operations on the audit log, for keys of administrators."""

    @iteration
    def list_audit_entries(  # noqa: PLR0913 -- the parameters of the operation
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        actor: fields.ListAuditEntriesActor | None = None,
        name: str | None = None,
        address: str | None = None,
        request_id: str | None = None,
        action: str | None = None,
        resource: str | None = None,
        status: int | None = None,
        outcome: fields.ListAuditEntriesOutcome | None = None,
        page_size: int | None = None,
    ) -> Items[models.AuditEntryDocument]:
        """Iterate over the entries, newest first.

        Parameters
        ----------
        since, until : moments with a time zone; the first is included, the second is not.
        page_size : how many are read at a time.
        """
        query = _query(since, until, actor, name, address, request_id, action, resource, status, outcome)
        request = Request("GET", path("audit"), query | {"page_size": page_size})
        return pages(self._client, request, models.AuditEntryDocument)

    @operation
    def export_audit_log(  # noqa: PLR0913 — the parameters of the operation
        self,
        format: Literal["jsonl", "csv"] = "jsonl",  # noqa: A002 -- as of `export_plan`
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        actor: fields.ListAuditEntriesActor | None = None,
        name: str | None = None,
        address: str | None = None,
        request_id: str | None = None,
        action: str | None = None,
        resource: str | None = None,
        status: int | None = None,
        outcome: fields.ListAuditEntriesOutcome | None = None,
    ) -> Flow[Export]:
        """The entries as one file; the parameters are those of `list_audit_entries`."""
        query = _query(since, until, actor, name, address, request_id, action, resource, status, outcome)
        request = Request("GET", path("audit", "export"), query | {"format": format}, headers={"Accept": "*/*"})
        response = yield from exchange(self._client, request)
        return export_of(response, default_name=f"audit.{format}")


def _query(since: datetime | None, until: datetime | None, *filters: str | int | None) -> dict[str, Any]:
    names = ("actor", "name", "address", "request_id", "action", "resource", "status", "outcome")
    moments = {"since": since, "until": until}
    stated = {name: None if moment is None else moment.isoformat() for name, moment in moments.items()}
    return stated | dict(zip(names, filters, strict=True))
