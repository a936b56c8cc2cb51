"""Requests from the forms of pages: the same bodies as the API's, validated by the same models.

Pages and the API do not import each other; the application hands this to the pages.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from pydantic import TypeAdapter, ValidationError

from app.api import examples
from app.api.checks import CheckRequest, run_check
from app.api.groups import PlanGroupRequest
from app.api.problems.field_errors import field_errors, within_body
from app.api.replicas import PlaceRequest
from app.api.streams import PlanStreamsRequest
from app.api.sweeps.requests import ChangesRequest, SweepSubmission
from app.api.webhooks import WebhookRequest
from app.errors import Json
from app.errors.requests import ConflictingFields, InvalidField, LimitExceeded
from app.formats.syntax import unique_json
from app.services import consumers, keys, reassignment, restarts, snapshots, sweeps, webhooks
from app.services.checks import Check
from app.services.keys import KeysAnswer
from app.services.limits import Limits
from app.services.outbound import Outbound
from app.services.plans import check_job, draft_plan, make_plan
from app.services.plans.kinds import KINDS
from app.store.database import UnitOfWork
from app.store.webhooks import Webhook

SWEEP = "sweep"
MOST_ESTIMATED = 5_000
"""Partitions of a cluster whose plans are estimated while a form is filled in."""
_CHECK = TypeAdapter(CheckRequest)
_CHANGES = TypeAdapter(ChangesRequest)
_KEYS = TypeAdapter(keys.KeysRequest)
_WEBHOOK = TypeAdapter(WebhookRequest)
_MODELS: Mapping[str, TypeAdapter[Any]] = {
    "replicas": TypeAdapter(PlaceRequest),
    "reassignment": reassignment.READER,
    "group": TypeAdapter(PlanGroupRequest),
    "streams": TypeAdapter(PlanStreamsRequest),
    "restart": restarts.READER,
    "consumers": consumers.READER,
    SWEEP: TypeAdapter(SweepSubmission),
}
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "replicas": examples.PLACE_REQUEST,
    "reassignment": examples.REASSIGNMENT_REQUEST,
    "group": examples.GROUP_REQUEST,
    "streams": examples.STREAMS_REQUEST,
    "restart": examples.RESTART_REQUEST,
    "consumers": examples.CONSUMERS_REQUEST,
    SWEEP: examples.SWEEP_REQUEST,
}
"""The example bodies of each kind, as OpenAPI has them."""


class FormRequests:
    """Requests of forms; each raises `InvalidField` with the errors of its fields.

    `limits` are the service's; `outbound`, its allowed destinations, is empty by default.
    """

    examples = EXAMPLES

    def __init__(self, limits: Limits, outbound: Outbound | None = None) -> None:
        self._limits = limits
        self._outbound = outbound or Outbound()

    @property
    def are_enabled(self) -> bool:
        """Whether the operator allows webhooks."""
        return self._outbound.is_enabled

    def subscribe(self, uow: UnitOfWork, url: str, events: Sequence[str]) -> Webhook:
        """Create a webhook. Raises the `Failure`s of creating it."""
        request = _read(_WEBHOOK, orjson.dumps({"url": url, "events": events}))
        return webhooks.create(uow, request.service(), self._outbound, self._limits)

    def ping(self, uow: UnitOfWork, webhook_id: UUID) -> None:
        """Send an event that reports nothing to a webhook. Raises `WebhooksDisabled`, `WebhookNotFound`."""
        webhooks.ping(uow, webhook_id, self._outbound)

    def replay(self, uow: UnitOfWork, webhook_id: UUID, delivery_id: UUID) -> None:
        """Send a delivery again. Raises `WebhooksDisabled`, `WebhookNotFound`, `DeliveryNotFound`."""
        webhooks.replay(uow, webhook_id, delivery_id, self._outbound)

    def submit(self, uow: UnitOfWork, kind: str, body: bytes, *, principal: str, like: UUID | None = None) -> str:
        """Carry out a request, and return the address of its result.

        A plan that is too large to be answered at once becomes a job. `principal` is whose sweep it is: their number is
        limited. `like` is a sweep whose resolved data is used again. Raises the `Failure`s of planning.
        """
        request = _read(_MODELS[kind], body)
        if like is not None:
            request = _read(_CHANGES, orjson.dumps(_changed(sweeps.request_of(uow.sweeps.get(like)), body)))
        wanted = sweeps.again(uow.sweeps.get(like), request.changes()) if like else request.on_newest(uow).service()
        if kind == SWEEP:
            return f"/sweeps/{sweeps.submit(uow, wanted, self._limits, principal=principal).id}"
        planner = KINDS[kind].planner
        try:
            return f"/plans/{make_plan(uow, planner, wanted, self._limits).head.id}"
        except LimitExceeded as exceeded:
            if exceeded.context.get("limit_name") != "max_sync_partitions":
                raise
        check_job(uow, planner, wanted, self._limits)
        return f"/jobs/{uow.jobs.enqueue(planner.kind, planner.stored(wanted)).id}"

    def estimate(self, uow: UnitOfWork, kind: str, body: bytes) -> str:
        """Summarise the plan that a request would be, and store nothing; empty if it is too large for that.

        Errors of fields have an empty summary as well. Raises the `Failure`s of planning.
        """
        try:
            request = _read(_MODELS[kind], body)
        except InvalidField:
            return ""
        wanted = request.on_newest(uow).service()
        cluster = snapshots.load(uow, wanted.snapshot_id)[1] if wanted.snapshot_id else None
        uow.release()  # the connection, which planning does without
        if cluster is not None and sum(len(topic.partition_ids) for topic in cluster.topics) > MOST_ESTIMATED:
            return ""
        planner = KINDS[kind].planner
        return planner.summary(draft_plan(planner, wanted, cluster, self._limits))

    def place_keys(self, body: bytes) -> KeysAnswer:
        """Place keys. Raises the `Failure`s of placing them."""
        return keys.place_keys(_read(_KEYS, body), self._limits)

    def check(self, uow: UnitOfWork, body: bytes) -> Check:
        """Check a reassignment or a cluster. Raises the `Failure`s of checking."""
        return run_check(uow, _read(_CHECK, body), self._limits)


def _read(model: TypeAdapter[Any], body: bytes) -> Any:
    """The request that a body is. Raises `InvalidField` with the errors of its fields."""
    try:
        unique_json.loads(body)
        return model.validate_json(body)
    except (ValidationError, json.JSONDecodeError) as invalid:
        raise InvalidField("the form has invalid fields", errors=_errors(invalid, body)) from None


def _changed(before: Mapping[str, Json], body: bytes) -> Mapping[str, Json]:
    """The fields of a sweep that a request changes; its data and labels stay. Raises `ConflictingFields`."""
    stays, after = {"kind", "cluster", "snapshot_id", "labels"}, orjson.loads(body)
    for name in before.keys() - after.keys() - stays:
        if before[name] is not None:
            raise ConflictingFields(f"a study on the same data has {name}, as the one before", path=(name,))
    return {name: value for name, value in after.items() if name not in stays and value != before.get(name)}


def _errors(invalid: ValidationError | json.JSONDecodeError, body: bytes) -> list[Json]:
    if isinstance(invalid, json.JSONDecodeError):
        return [{"pointer": "", "detail": str(invalid) if invalid.pos >= 0 else invalid.msg}]
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        return [{"pointer": "", "detail": str(invalid.errors(include_url=False)[0]["msg"])}]
    return [*field_errors(within_body(invalid), given)]
