"""`/v1/snapshots`: clusters at one moment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from app.api import examples
from app.api.http import operations
from app.api.http.auth import RawBody, RequestLimits, Uow, media_type_of
from app.api.http.idempotency import OnceOnly
from app.api.models.clusters import SnapshotRequest
from app.core.kafka_versions import Controller
from app.core.measures.health import ClusterHealth
from app.core.model import Cluster
from app.errors import requests
from app.formats.snapshots import assembly
from app.formats.snapshots.pasted import Upload
from app.formats.syntax import unique_json
from app.formats.syntax.lines import MAX_DECOMPRESSED_BYTES, decode
from app.services import snapshots
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution
from app.services.fields import Id, Name, Release
from app.store.records import Snapshot

router = operations.Operations("/v1/snapshots", "snapshots")

_MOST_PARTS = 100
_STATED = ("cluster", "kafka_version")
"""The parts of a form that are no text of a tool."""


class SnapshotDocument(AnswerRecord):
    """A snapshot without its cluster: counts and warnings."""

    id: UUID
    """Id of the snapshot, a UUIDv7: later snapshots have greater ids."""
    cluster: str
    """Name of the cluster, as the request states it."""
    content_hash: str
    """SHA-256 of the cluster's state, in hexadecimal; equal states have equal hashes, at any time."""
    brokers: int
    """Number of brokers."""
    racks: int
    """Number of distinct racks of brokers."""
    topics: int
    """Number of topics."""
    partitions: int
    """Number of partitions of all topics."""
    groups: int
    """Number of recorded groups."""
    kafka_version: str | None
    """The release that the brokers run; null if it is unknown."""
    controller: Controller | None
    """Controller, which elects leaders and places new partitions: `kraft` or `zookeeper`; null if it is unknown."""
    health: ClusterHealth | None
    """State of the cluster in a few numbers; null for a snapshot that an earlier release stored."""
    warnings: list[Caution]
    """Conditions that did not prevent the snapshot; empty if there are none."""
    created_at: datetime
    """When the snapshot was stored, RFC 3339 in UTC."""


class SnapshotWithCluster(SnapshotDocument):
    """A snapshot with its cluster."""

    document: dict[str, Any]
    """The state of the cluster, in the form of a request for a snapshot."""


class SnapshotsPage(AnswerRecord):
    """Snapshots, newest first."""

    items: list[SnapshotDocument]
    """Snapshots without their clusters, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


@dataclass(frozen=True, slots=True)
class _Body:
    """A body, by its media type: JSON, one text, or the texts of a form."""

    media_type: str
    content: bytes
    stated: Mapping[str, str] = field(default_factory=dict)
    uploads: Sequence[Upload] = ()


async def _body(request: Request, body: RawBody) -> _Body:
    media_type = media_type_of(request, "application/json", "multipart/form-data", "text/plain")
    if media_type == "multipart/form-data":
        form = request.form(max_files=_MOST_PARTS, max_fields=_MOST_PARTS, max_part_size=len(body) + 1)
        async with form as parts:
            return await _of_form(body, parts)
    return _Body(media_type, body)


async def _of_form(body: bytes, form: FormData) -> _Body:
    stated: dict[str, str] = {}
    uploads: list[Upload] = []
    parts = form.multi_items()
    bytes_left = len(body) + MAX_DECOMPRESSED_BYTES
    repeated = {name for name, count in Counter(name for name, _ in parts).items() if count > 1}
    for part, value in parts:
        content = await value.read() if isinstance(value, UploadFile) else value.encode()
        if part in stated:
            raise requests.ConflictingFields(f"the part {part} is there twice", path=(part,))
        if part in _STATED:
            stated[part] = decode(content, part, max_bytes=bytes_left)
        else:
            upload = Upload.of(content, part, part, max_bytes=bytes_left)
            bytes_left -= len(upload.text)
            file = value.filename if isinstance(value, UploadFile) and part in repeated else None
            uploads.append(replace(upload, name=file or part))
    return _Body("multipart/form-data", body, stated, uploads)


@router.operation("POST", answer=SnapshotDocument, status=201, openapi_extra=examples.SNAPSHOT_BODY)
def create_snapshot(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[_Body, Depends(_body)],
    cluster: Annotated[
        Name | None, Query(description="The cluster's name, for a `text/plain` body.", examples=["example-texts"])
    ] = None,
    kafka_version: Annotated[
        Release | None, Query(description="The release of Kafka, for a `text/plain` body.", examples=["4.1.0"])
    ] = None,
) -> Response:
    """Create a snapshot of a cluster.

    Store a cluster from JSON, or from the unchanged output of Kafka's tools: as parts of a form (with `cluster`
    and perhaps `kafka_version`), or one after another as `text/plain`.

    Texts are recognized by their contents, in any order and any number, whatever the names of the parts, also if one
    has the output of several tools. Logs, commands and shell output in between are ignored, which a warning
    says. A text may be UTF-8, UTF-16 with a byte order mark, or either compressed by gzip.

    `brokers` is the output of `kafka-broker-api-versions`, or of `kafka-cluster` with `api-versions` or
    `list-endpoints`; or ZooKeeper registrations (versions 1 to 5), each after a line with its path
    `/brokers/ids/<id>`, or as a JSON array with the key `id` in each; or the body of a TopicMetadata response v1 or an
    UpdateMetadata request v2, in hexadecimal or base64.

    `log_dirs` is the output of `kafka-log-dirs --describe`, also with output of `kafka-configs --describe --entity-type
    brokers`, which names cordoned log directories.

    `groups` is the output of `kafka-consumer-groups`, `kafka-share-groups` or `kafka-streams-groups` with `--describe`,
    also with `--members --verbose` or `--state`, one after another in any order; or an admin client's description of
    groups as JSON, which alone has racks and subscriptions, and may have `member_metadata` in base64 as the coordinator
    returns it.

    `features` is the output of `kafka-features describe`, or lines of a broker's log with `Kafka version:`; the part
    `kafka_version`, or the field of JSON, states the release and overrides it.

    Posting the same state of the same cluster again returns the same snapshot. The warnings name the brokers without
    rack, and the parts of the texts that could not be joined.
    """

    def answer() -> Response:
        state, cautions = _cluster(body, cluster, kafka_version)
        return _created(snapshots.store(uow, state, limits, cautions=cautions))

    return once(answer)


@router.operation("GET", answer=SnapshotsPage, scope="read")
def list_snapshots(
    uow: Uow,
    cluster: Annotated[Name | None, Query(description="Snapshots of this cluster.")] = None,
    page_size: operations.PageSize = 50,
    page_token: operations.PageToken = None,
) -> Response:
    """List snapshots, newest first.

    Page through the snapshots, of one cluster if `cluster` is given.
    """
    page = uow.snapshots.page(cluster=cluster, before=operations.id_of_token(page_token), size=page_size)
    return operations.page_response(page, map(_document, page.items))


@router.operation(
    "GET /{snapshot_id}",
    answer=SnapshotWithCluster,
    scope="read",
    others={304: {"description": "The caller has the current version"}},
)
def get_snapshot(request: Request, uow: Uow, snapshot_id: Annotated[Id, examples.SNAPSHOT_ID]) -> Response:
    """Read a snapshot.

    Return a snapshot with its cluster. The ETag is its content hash.
    """
    snapshot = uow.snapshots.get(snapshot_id)
    document = orjson.Fragment(uow.snapshots.document(snapshot_id))
    return operations.with_etag(
        request, snapshot.content_hash, operations.json_response(_document(snapshot) | {"document": document})
    )


@router.operation("DELETE /{snapshot_id}", status=204, scope="admin")
def delete_snapshot(uow: Uow, snapshot_id: Annotated[Id, examples.UNUSED_SNAPSHOT_ID]) -> Response:
    """Delete a snapshot.

    Delete a snapshot that no plan, sweep or unfinished job reads. Otherwise the answer is a 409 problem with the
    number of each, so that every stored plan can be drawn, compared and exported as before.

    Capacity sweeps with measured topics have copied these, and do not count.
    """
    uow.snapshots.delete(snapshot_id)
    return Response(status_code=204)


def _cluster(body: _Body, cluster: str | None, kafka_version: str | None) -> tuple[Cluster, list[Caution]]:
    try:
        if body.media_type == "application/json":
            request = SnapshotRequest.model_validate_json(body.content)
            unique_json.require_unique(body.content, request.members)
            return request.core(), []
        fields = {"cluster": cluster, "kafka_version": kafka_version, **body.stated}
        given = {name: value for name, value in fields.items() if value is not None}
        stated = SnapshotRequest.model_validate({**given, "brokers": []}).core()
    except ValidationError as invalid:
        raise _as_request_error(invalid, body) from None
    except unique_json.RepeatedMember as repeated:
        fault = {"type": "json_invalid", "loc": ("body", repeated.pos), "msg": "", "ctx": {"error": repeated.msg}}
        raise RequestValidationError([fault]) from None
    is_form = body.media_type == "multipart/form-data"
    uploads = body.uploads if is_form else [replace(Upload.of(body.content, "body"), name=None)]
    assembled = assembly.assemble(stated.name, uploads)
    if stated.kafka_version is not None:
        read = replace(assembled.cluster, kafka_version=stated.kafka_version)
        assembled = replace(assembled, cluster=read, releases=None)
    return assembled.cluster, snapshots.of_assembly(assembled)


def _as_request_error(invalid: ValidationError, body: _Body) -> RequestValidationError:
    errors_in_body = [dict(error, loc=("body", *error["loc"])) for error in invalid.errors(include_url=False)]
    try:
        return RequestValidationError(errors_in_body, body=orjson.loads(body.content))
    except orjson.JSONDecodeError:
        return RequestValidationError(errors_in_body)


_OF_EARLIER_RELEASES = {"groups": 0, "kafka_version": None, "controller": None, "health": None}
"""Fields that summaries lack which earlier releases stored."""


def _document(snapshot: Snapshot) -> dict[str, object]:
    stated: Any = _OF_EARLIER_RELEASES | dict(snapshot.summary)
    return vars(SnapshotDocument.of(snapshot, **stated))


def _created(snapshot: Snapshot) -> Response:
    response = operations.json_response(_document(snapshot), status=201)
    response.headers["Location"] = f"/v1/snapshots/{snapshot.id}"
    response.headers["ETag"] = f'"{snapshot.content_hash}"'
    return response
