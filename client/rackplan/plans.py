"""Plans: find, read, compare, export, draw and delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from rackplan import models, notebook, requests
from rackplan.exchange import exchange, pages, path
from rackplan.exports import Export, export_of
from rackplan.flows import Bound, Flow, Items, K, Request, Session, iteration, operation
from rackplan.records import Record, best_fit
from rackplan.resources import Resource, items_of_resource, of_resource

Partition: TypeAlias = (
    models.PartitionDocument
    | models.ReadPartitionDocument
    | models.PlannedTaskDocument
    | models.PlannedWaveDocument
    | models.ScaledPartitionDocument
)
Difference: TypeAlias = (
    models.DiffDocument
    | models.ReassignmentDiffDocument
    | models.GroupDiffDocument
    | models.StreamsDiffDocument
    | models.RestartDiffDocument
    | models.ConsumersDiffDocument
)
_PARTITIONS: Sequence[type[Partition]] = [
    models.PartitionDocument,
    models.ReadPartitionDocument,
    models.PlannedTaskDocument,
    models.PlannedWaveDocument,
    models.ScaledPartitionDocument,
]
_DIFFERENCES: Mapping[type[Record], type[Difference]] = {
    models.DiffSummary: models.DiffDocument,
    models.ReassignmentDiffSummary: models.ReassignmentDiffDocument,
    models.Handover: models.GroupDiffDocument,
    models.TaskMoves: models.StreamsDiffDocument,
    models.WaveCounts: models.RestartDiffDocument,
    models.ConsumerCounts: models.ConsumersDiffDocument,
}


class PlanOperations(Bound[K]):
    """Operations on plans that exist."""

    @iteration
    def list_plans(
        self,
        *,
        kind: requests.ListPlansKind | None = None,
        status: requests.ListPlansStatus | None = None,
        cluster: str | None = None,
        topic: str | None = None,
        label: Sequence[str] | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        page_size: int | None = None,
    ) -> Items[Plan[K]]:
        """Iterate over plans, newest first.

        Parameters
        ----------
        label : `name=value`; plans that have all of them.
        created_after, created_before : moments, RFC 3339 if they are texts.
        page_size : how many are read at a time.
        """
        query = {
            "kind": kind,
            "status": status,
            "cluster": cluster,
            "topic": topic,
            "label": label,
            "created_after": _moment(created_after),
            "created_before": _moment(created_before),
            "page_size": page_size,
        }
        return pages(self._client, Request("GET", path("plans"), query), lambda raw: Plan(raw, self._client))

    @operation
    def get_plan(self, plan_id: str) -> Flow[AnyPlan[K]]:
        """Read a plan."""
        response = yield from exchange(self._client, Request("GET", path("plans", plan_id)))
        return plan_of(response.json(), self._client)

    @operation
    def update_plan(
        self, plan_id: str, *, if_match: str | None = None, **patch: Unpack[requests.PlanPatchRequest]
    ) -> Flow[AnyPlan[K]]:
        """Change the status, labels or notes of a plan; what is not given stays, and what is None is removed.

        Parameters
        ----------
        if_match : the ETag of the plan; raises `PreconditionFailed` if these have changed since.
        """
        request = Request("PATCH", path("plans", plan_id), json=patch, headers=if_match_header(if_match))
        response = yield from exchange(self._client, request)
        return plan_of(response.json(), self._client)

    @operation
    def delete_plan(self, plan_id: str) -> Flow[None]:
        """Delete a plan."""
        yield from exchange(self._client, Request("DELETE", path("plans", plan_id)))

    @iteration
    def list_plan_partitions(
        self, plan_id: str, *, topic: str | None = None, page_size: int | None = 1000
    ) -> Items[Partition]:
        """Iterate over the partitions of a plan; of Streams, its tasks."""
        query = {"topic": topic, "page_size": page_size}
        return pages(
            self._client,
            Request("GET", path("plans", plan_id, "partitions"), query),
            _partition,
        )

    @operation
    def diff_plan(self, plan_id: str, *, against: str | None = None) -> Flow[Difference]:
        """Compare a plan with another, or with what was before; `items` has the differences of all pages.

        Parameters
        ----------
        against : a plan of the same kind, or, for a plan of replicas, a snapshot; by default what the plan starts from.
        """
        query: dict[str, Any] = {"against": against, "page_size": 1000}
        items: list[Any] = []
        while True:
            response = yield from exchange(self._client, Request("GET", path("plans", plan_id, "diff"), query))
            page = response.json()
            items += page["items"]
            query["page_token"] = page["next_page_token"]
            if query["page_token"] is None:
                summary = best_fit(page["summary"], list(_DIFFERENCES))
                return _DIFFERENCES[summary]({**page, "items": items})

    @operation
    def compare_plan(
        self, plan_id: str, output: str, *, page_size: int | None = None, page_token: str | None = None
    ) -> Flow[models.ComparisonWithTextDocument]:
        """Compare a reassignment with one of another origin: a file or an output of Kafka's tool, or a proposal."""
        query = {"page_size": page_size, "page_token": page_token}
        request = Request("POST", path("plans", plan_id, "diff"), query, json={"output": output})
        response = yield from exchange(self._client, request)
        return models.ComparisonWithTextDocument(response.json())

    @operation
    def export_plan(  # noqa: PLR0913 -- those of the operation
        self,
        plan_id: str,
        format: requests.ExportPlanFormat = "reassignment",  # noqa: A002 -- the parameter's name
        to: str | Path | None = None,
        *,
        topic: str | None = None,
        batch: int | None = None,
        inverse: bool = False,
        from_: str | None = None,
        lost_broker: Sequence[int] = (),
        lost_rack: Sequence[str] = (),
        if_match: str | None = None,
    ) -> Flow[Export]:
        """Export a plan as a file.

        Parameters
        ----------
        to : where the file is saved, as by `Export.save`: a file, or a directory, in which an archive is unpacked.
        topic : only this topic.
        batch, inverse : of the format `batch`: its number, from 1 on, and whether its rollback is wanted.
        from_ : of the formats `batch` and `rollback`: a later snapshot, from whose state the file goes on or back.
        lost_broker, lost_rack : of the format `losses`: only the loss of these, not of every broker and rack.
        if_match : the content hash of a snapshot; raises `PreconditionFailed` if its cluster has changed since.
        """
        query: dict[str, Any] = {
            "format": format,
            "topic": topic,
            "batch": batch,
            "inverse": "true" if inverse else None,
        }
        query |= {"from": from_, "lost_broker": [*lost_broker], "lost_rack": [*lost_rack]}
        request = Request("GET", path("plans", plan_id, "export"), query, {"Accept": "*/*"} | if_match_header(if_match))
        response = yield from exchange(self._client, request)
        export = export_of(response, default_name=f"plan-{plan_id}")
        if to is not None:
            export.save(to)
        return export

    @operation
    def plan_progress(
        self, plan_id: str, **request: Unpack[requests.ProgressRequest]
    ) -> Flow[models.PlanProgressDocument]:
        """Compare a reassignment with a later snapshot: what is done and left, and the files to go on or back."""
        response = yield from exchange(self._client, Request("POST", path("plans", plan_id, "progress"), json=request))
        return models.PlanProgressDocument(response.json())

    @operation
    def draw_plan(self, plan_id: str) -> Flow[str]:
        """The picture of a plan: SVG."""
        request = Request("GET", path("plans", plan_id, "picture.svg"), headers={"Accept": "image/svg+xml"})
        response = yield from exchange(self._client, request)
        return response.text


class Plan(models.PlanSummary, Resource[K]):
    """A plan of any kind."""

    delete = of_resource(PlanOperations.delete_plan)
    diff = of_resource(PlanOperations.diff_plan)
    export = of_resource(PlanOperations.export_plan)
    list_partitions = items_of_resource(PlanOperations.list_plan_partitions)
    picture = of_resource(PlanOperations.draw_plan)

    @operation
    def update(self, *, if_match: str | None = None, **patch: Unpack[requests.PlanPatchRequest]) -> Flow[AnyPlan[K]]:
        """As `PlanOperations.update_plan`."""
        return PlanOperations.update_plan.flow(self._client, self.id, if_match=if_match, **patch)

    @operation
    def to_arrow(self) -> Flow[Any]:
        """The partitions or tasks as a `pyarrow.Table`; needs `rackplan-client[arrow]`."""
        export = yield from PlanOperations.export_plan.flow(self._client, self.id, "arrow")
        return export.to_arrow()

    @operation
    def to_pandas(self) -> Flow[Any]:
        """The partitions or tasks as a `pandas.DataFrame`; needs `rackplan-client[pandas]`."""
        export = yield from PlanOperations.export_plan.flow(self._client, self.id, "arrow")
        return export.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        return notebook.of_plan(self.raw)


class ReplicaPlan(models.PlanDocument, Plan[K]):
    """Where the replicas of new partitions are placed."""


class ReassignmentPlan(models.ReassignmentPlanDocument, Plan[K]):
    """Which replicas move."""

    @operation
    def progress(self, **request: Unpack[requests.ProgressRequest]) -> Flow[models.PlanProgressDocument]:
        """As `PlanOperations.plan_progress`."""
        return PlanOperations.plan_progress.flow(self._client, self.id, **request)


class GroupPlan(models.GroupPlanDocument, Plan[K]):
    """Which partitions the members of a group consume."""


class StreamsPlan(models.StreamsPlanDocument, Plan[K]):
    """Which tasks the clients of a Streams application run."""


class RestartPlan(models.RestartPlanDocument, Plan[K]):
    """The waves in which the brokers of a cluster are restarted."""


class ConsumersPlan(models.ConsumersPlanDocument, Plan[K]):
    """The consumers of a group over time."""


AnyPlan: TypeAlias = (
    ReplicaPlan[K] | ReassignmentPlan[K] | GroupPlan[K] | StreamsPlan[K] | RestartPlan[K] | ConsumersPlan[K]
)
_KINDS: Mapping[str, Any] = {
    "replicas": ReplicaPlan,
    "reassignment": ReassignmentPlan,
    "group": GroupPlan,
    "streams": StreamsPlan,
    "restart": RestartPlan,
    "consumers": ConsumersPlan,
}


def plan_of(raw: Mapping[str, Any], session: Session) -> AnyPlan[Any]:
    """The plan of a document, by its kind; a `Plan` if this version of the client does not know the kind."""
    plan: AnyPlan[Any] = _KINDS.get(raw["kind"], Plan)(raw, session)
    return plan


def if_match_header(tag: str | None) -> dict[str, str]:
    """The header for what is only wanted while this content hash or ETag is current."""
    return {} if tag is None else {"If-Match": f'"{tag.removeprefix("W/").strip(chr(34))}"'}


def _partition(raw: Mapping[str, Any]) -> Partition:
    return best_fit(raw, _PARTITIONS)(raw)


def _moment(moment: datetime | str | None) -> str | None:
    return moment.isoformat() if isinstance(moment, datetime) else moment
