"""`/v1/plans/{plan_id}`: read, compare, export, draw, change and delete a plan."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import Body, Header, Query, Request, Response, Security
from pydantic import BaseModel, Field

from app.api import examples
from app.api.http import operations
from app.api.http.auth import Uow, merge_patch_only, principal
from app.api.reassignment import comparison, progress
from app.core.model import INT32_MAX, Cluster
from app.errors import every as errors
from app.services import plans, snapshots
from app.services.bodies import Request as RequestModel
from app.services.consumers.answers import ConsumersPlanDocument, ScaledPartitionDocument
from app.services.consumers.differences import ConsumersDiffDocument
from app.services.fields import MOST_LABELS, PRINTABLE_LINES, Id, Int32, LabelName, LabelValue, Rack, TopicName
from app.services.groups.answers import GroupPlanDocument
from app.services.groups.differences import GroupDiffDocument
from app.services.groups.stored import ReadPartitionDocument
from app.services.plans import FORMATS, Plan, PlanPatch, Status
from app.services.plans.answers import DifferencePage, PartitionDocument, WholePlan
from app.services.plans.kinds import KINDS
from app.services.plans.kinds import export as export_of
from app.services.reassignment.differences import ReassignmentDiffDocument
from app.services.reassignment.reports.report import ReassignmentPlanDocument
from app.services.replicas.answers import PlanDocument
from app.services.replicas.differences import DiffDocument
from app.services.restarts.differences import RestartDiffDocument
from app.services.restarts.reports import PlannedWaveDocument, RestartPlanDocument
from app.services.streams.answers import StreamsPlanDocument
from app.services.streams.differences import StreamsDiffDocument
from app.services.streams.rows import PlannedTaskDocument
from app.store.database import UnitOfWork
from app.store.records import PlanHead


class PlanPatchRequest(RequestModel):
    """A JSON merge patch (RFC 7396): absent fields stay, null removes a field."""

    status: Status = "proposed"
    """The next status of the plan."""
    labels: (
        Annotated[dict[LabelName, LabelValue | None], Field(max_length=MOST_LABELS, examples=[{"team": "storage"}])]
        | None
    ) = None
    """Labels to set, name → value; null removes one, or all in place of the object."""
    notes: Annotated[str, Field(max_length=2000, pattern=PRINTABLE_LINES)] | None = None
    """Notes, which replace those before; null removes them."""

    def service(self) -> PlanPatch:
        """The patch as the service takes it."""
        return PlanPatch(frozenset(self.model_fields_set), self.status, self.labels, self.notes)


class PartitionsDocument(BaseModel):
    """A page of partitions, in the order of the request's topics (of a group: by name) and by id; of tasks or waves."""

    items: (
        list[PartitionDocument]
        | list[ReadPartitionDocument]
        | list[PlannedTaskDocument]
        | list[PlannedWaveDocument]
        | list[ScaledPartitionDocument]
    )
    """Partitions, tasks or waves of the page."""
    total: int
    """Number of partitions or tasks on all pages."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


def version_of(head: PlanHead) -> str:
    """The state of a plan, its labels and notes; an ETag also has the media type of a representation."""
    return f"{head.hash}-{head.id}-{head.revision}"


def etag_of(head: PlanHead, media_type: str) -> str:
    """The ETag of a representation, without quotes."""
    return f"{version_of(head)}-{media_type}"


class PlanResource(NamedTuple):
    """One kind of plan in the API: the documents of a plan and of a difference."""

    plan: type[WholePlan]
    difference: type[DifferencePage]


PLAN_RESOURCES: Mapping[str, PlanResource] = {
    "replicas": PlanResource(PlanDocument, DiffDocument),
    "reassignment": PlanResource(ReassignmentPlanDocument, ReassignmentDiffDocument),
    "group": PlanResource(GroupPlanDocument, GroupDiffDocument),
    "streams": PlanResource(StreamsPlanDocument, StreamsDiffDocument),
    "restart": PlanResource(RestartPlanDocument, RestartDiffDocument),
    "consumers": PlanResource(ConsumersPlanDocument, ConsumersDiffDocument),
}
"""Every kind of `KINDS`, in its order; the documents of `/v1/plans` are made of it."""


router = operations.Operations("/v1/plans", "plans")

# One of the documents, as each kind has its own.
_PLAN: Any = reduce(or_, (resource.plan for resource in PLAN_RESOURCES.values()))
_DIFFERENCE: Any = reduce(or_, (resource.difference for resource in PLAN_RESOURCES.values()))

JSON = "application/json"
SVG = "image/svg+xml"
FILES: dict[str, Any] = {written.media_type: {} for written in FORMATS.values()}
NOT_MODIFIED = {"description": "The caller has the current version"}
Picture = Callable[[Plan, Cluster], bytes]
"""Draws a plan over the cluster it was made on; the composition root puts the one that the pages use on the app."""

PlanId = Annotated[Id, examples.PLAN_ID]
IfMatch = Annotated[
    str | None, Header(description="The content hash of a snapshot: 412 if the plan's cluster has changed since.")
]


@router.operation(
    "GET /{plan_id:uuid}",
    answer=_PLAN,
    scope="read",
    others={200: {"content": FILES | {SVG: {}}, "description": "The plan"}, 304: NOT_MODIFIED},
)
def get_plan(request: Request, uow: Uow, plan_id: PlanId) -> Response:
    """Read a plan.

    Return a plan as JSON, or in the representation that the Accept header names. The plan itself never changes;
    status, labels and notes beside it may, and the ETag with them.
    """
    plan = plans.load(uow, plan_id)
    uow.release()
    by_media_type = {
        FORMATS[name].media_type.split(";")[0]: name
        for name in KINDS[plan.head.kind].exports
        if FORMATS[name].is_negotiable
    }
    media_type = operations.chosen(request, [JSON, *by_media_type, SVG])
    if media_type == JSON:
        response = Response(plans.plan_json(plan), media_type=JSON)
    elif media_type == SVG:
        response = _drawn(request, uow, plan)
    else:
        response = _exported(uow, plan, by_media_type[media_type])
    return operations.with_etag(request, etag_of(plan.head, media_type), response)


@router.operation("GET /{plan_id:uuid}/partitions", answer=PartitionsDocument, scope="read")
def list_plan_partitions(
    uow: Uow,
    plan_id: PlanId,
    topic: Annotated[TopicName | None, Query(description="Partitions of this topic.")] = None,
    page_size: operations.PageSize = 100,
    page_token: operations.PageToken = None,
) -> Response:
    """List partitions of a plan.

    Page through the partitions, of one topic if `topic` is given. Only the page is read.
    """
    head = uow.plans.get(plan_id)
    start = operations.offset_of_token(page_token)
    rows, total = plans.partitions(uow, plan_id, topic=topic, offset=start, size=page_size)
    token = operations.token_of_offset(start + page_size) if start + page_size < total else None
    items = [KINDS[head.kind].planner.listed_row(head, row) for row in rows]
    return operations.json_response({"items": items, "total": total, "next_page_token": token})


@router.operation("GET /{plan_id:uuid}/diff", answer=_DIFFERENCE, scope="read")
def diff_plan(
    uow: Uow,
    plan_id: PlanId,
    against: Annotated[
        Id | None,
        Query(
            description="A plan of the same kind, or, for a plan of replicas, a snapshot. By default: the plan's own "
            "snapshot, or, for a group or a Streams plan, the previous partitions or tasks."
        ),
    ] = None,
    page_size: operations.PageSize = 100,
    page_token: operations.PageToken = None,
) -> Response:
    """Compare a plan with another one or the previous state.

    List the changes of the plan: new and removed partitions, replicas to copy, changed preferred leaders; of a
    group the partitions that pass from one member to another, of an application the tasks that change clients. Of a
    reassignment also the transfers of each broker, and the bytes and racks of each partition.
    """
    plan = plans.load(uow, plan_id)
    difference = KINDS[plan.head.kind].difference(uow, plan, against)
    start = operations.offset_of_token(page_token)
    token = operations.token_of_offset(start + page_size) if start + page_size < difference.total else None
    return operations.json_response(
        DifferencePage(difference.summary, difference.items(start, start + page_size), token)
    )


@router.operation(
    "GET /{plan_id:uuid}/export",
    scope="read",
    others={200: {"content": FILES, "description": "The file"}, 304: NOT_MODIFIED},
)
def export_plan(
    request: Request,
    uow: Uow,
    plan_id: PlanId,
    format: Annotated[Literal[tuple(FORMATS)], Query(description="The format of the file.")] = "reassignment",  # type: ignore[valid-type] # noqa: A002 — the contract's word; the registry decides
    topic: Annotated[TopicName | None, Query(description="Only this topic of the plan.")] = None,
    batch: Annotated[
        int | None, Query(ge=1, le=INT32_MAX, description="Of the format `batch`: its number, from 1 on.")
    ] = None,
    inverse: Annotated[bool, Query(description="Of the format `batch`: its rollback.")] = False,
    from_: Annotated[
        Id | None,
        Query(
            alias="from",
            description="Of the formats `batch` and `rollback` of a reassignment: a later snapshot, from whose state "
            "the file continues or rolls back. It has the partitions of the batch that are not done, or those that are "
            "begun, or the previous lists of all partitions that have other ones; never partitions that something else "
            "has changed.",
        ),
    ] = None,
    lost_broker: Annotated[
        list[Int32] | None, Query(description="Of the format `losses`: only the loss of these brokers.")
    ] = None,
    lost_rack: Annotated[
        list[Rack] | None, Query(description="Of the format `losses`: only the loss of these racks.")
    ] = None,
    if_match: IfMatch = None,
) -> Response:
    """Export a plan as a file.

    Return the file for `kafka-reassign-partitions --reassignment-json-file`, a bash script that creates the topics
    with `kafka-topics`, its argument `--replica-assignment` (of one topic), or a table as CSV, Markdown or an Arrow
    stream. The table of a group plan has the member of each partition, and whether it is in its rack. The files of a
    reassignment have its changes: `rollback` reverts it, `batches` is an archive of each batch with its rollback,
    `batch` one of them; `losses` has the load of every remaining broker after the loss of each broker and of each rack.
    """
    plan = plans.load(uow, plan_id)
    hashes = operations.matched_hashes(if_match)
    if hashes and plan.head.cluster is not None:
        snapshots.require_unchanged(uow, plan.head.cluster, hashes)
    if topic is not None:
        if not FORMATS[format].has_topics:
            raise errors.NotExportable(f"{format} is of the whole plan, and not of one topic", format=format)
        placements = tuple(placement for placement in plan.placements if placement.topic == topic)
        if not placements:
            raise errors.NotExportable(f"the plan has no topic {topic}", topic=topic)
        if from_ is not None:
            raise errors.ConflictingFields(
                "from is of the whole plan, and not of one topic", path=("topic",), value=topic
            )
        plan = replace(plan, placements=placements)
    part = plans.FilePart(batch, inverse, from_, plans.LossSelection(lost_broker, lost_rack))
    written = export_of(uow, plan, format, part)
    name = plans.file_name(plan_id, format, part, topic=topic)
    headers = {"Content-Type": FORMATS[format].media_type, "Content-Disposition": f'attachment; filename="{name}"'}
    response = Response(written, headers=headers)
    return operations.with_etag(request, operations.digest_of(bytes(response.body)), response)


@router.operation(
    "GET /{plan_id:uuid}/picture.svg",
    scope="read",
    others={200: {"content": {SVG: {}}, "description": "Racks × brokers"}, 304: NOT_MODIFIED},
)
def draw_plan(request: Request, uow: Uow, plan_id: PlanId) -> Response:
    """Draw a plan.

    Return the plan as a picture of racks and brokers, which a page can embed.
    """
    response = _drawn(request, uow, plans.load(uow, plan_id))
    return operations.with_etag(request, operations.digest_of(bytes(response.body)), response)


@router.operation("PATCH /{plan_id:uuid}", answer=_PLAN, takes=merge_patch_only)
def update_plan(
    uow: Uow,
    plan_id: PlanId,
    caller: Annotated[str, Security(principal, scopes=["plan"])],
    body: Annotated[PlanPatchRequest, Body(openapi_examples=examples.PLAN_PATCH)],
    if_match: Annotated[
        str | None, Header(description="The ETag of the plan: 412 if its status, labels or notes have changed since.")
    ] = None,
) -> Response:
    """Change the status, labels or notes of a plan.

    Change status, labels and notes by a JSON merge patch (RFC 7396), and append the change to its `history` with the
    name of the API key and the time. The plan itself and its hash do not change.

    A plan is `proposed`, `approved`, `executing`, then `executed` or `failed`; `superseded` at any time but while it
    is executed. A status that cannot follow the present one is a 409 problem with those that can.
    """
    expected = {tag.strip('"') for tag in operations.tags(if_match)}

    def is_current(head: PlanHead) -> bool:
        return not expected or "*" in expected or any(tag.startswith(version_of(head) + "-") for tag in expected)

    head = plans.change(uow, plan_id, body.service(), principal=caller, is_current=is_current)
    plan = Plan(head, uow.plans.placements(plan_id))
    return Response(plans.plan_json(plan), media_type=JSON, headers={"ETag": f'"{etag_of(head, JSON)}"'})


@router.operation("DELETE /{plan_id:uuid}", status=204, scope="admin")
def delete_plan(uow: Uow, plan_id: PlanId) -> Response:
    """Delete a plan.

    Delete a plan and its assignments. The same request makes the same plan again, with another id.
    """
    uow.plans.delete(plan_id)
    return Response(status_code=204)


# With their whole path, as entries of the audit log state it; an included router would have its own part alone.
router.routes += [*progress.router.routes, *comparison.router.routes]


def _exported(uow: UnitOfWork, plan: Plan, name: str) -> Response:
    return Response(export_of(uow, plan, name), headers={"Content-Type": FORMATS[name].media_type})


def _drawn(request: Request, uow: UnitOfWork, plan: Plan) -> Response:
    draw: Picture = request.app.state.picture
    cluster = plans.made_on(uow, plan.head)
    uow.release()
    return Response(draw(plan, cluster), media_type=SVG)
