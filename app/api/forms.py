"""Requests from the forms of pages: the same bodies as the API's, validated by the same models.

Pages and the API do not import each other; the application hands this to the pages.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from app.api import examples
from app.api.field_errors import field_error
from app.api.groups import PlanGroupRequest
from app.api.reassignment import PlanReassignmentRequest
from app.api.replicas import PlaceRequest
from app.api.streams import PlanStreamsRequest
from app.api.sweeps.requests import SweepSubmission
from app.errors import Json
from app.errors.requests import LimitExceeded
from app.services import sweeps
from app.services.limits import Limits
from app.services.plans import check_job, make_plan
from app.services.plans.kinds import KINDS
from app.store.database import UnitOfWork

SWEEP = "sweep"
_PRINCIPAL = "console"
"""Whose sweeps those of forms are, as their number is limited."""
_MODELS: Mapping[str, TypeAdapter[Any]] = MappingProxyType(
    {
        "replicas": TypeAdapter(PlaceRequest),
        "reassignment": TypeAdapter(PlanReassignmentRequest),
        "group": TypeAdapter(PlanGroupRequest),
        "streams": TypeAdapter(PlanStreamsRequest),
        SWEEP: TypeAdapter(SweepSubmission),
    }
)
EXAMPLES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "replicas": examples.PLACE_REQUEST,
        "reassignment": examples.REASSIGNMENT_REQUEST,
        "group": examples.GROUP_REQUEST,
        "streams": examples.STREAMS_REQUEST,
        SWEEP: examples.SWEEP_REQUEST,
    }
)
"""The example bodies of each kind, as OpenAPI has them."""


class FormRequests:
    """What forms ask for. `limits` are those of the service."""

    examples = EXAMPLES

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def submit(self, uow: UnitOfWork, kind: str, body: bytes) -> str | Sequence[Mapping[str, Json]]:
        """Carry out a request, and return the address of its result, or the errors of its fields.

        A plan that is too large to be answered at once becomes a job. Raises the `Failure`s of planning.
        """
        try:
            request = _MODELS[kind].validate_json(body)
        except ValidationError as invalid:
            return _errors(invalid, body)
        wanted = request.on_newest(uow).service()
        if kind == SWEEP:
            return f"/sweeps/{sweeps.submit(uow, wanted, self._limits, principal=_PRINCIPAL).id}"
        planner = KINDS[kind].planner
        try:
            return f"/plans/{make_plan(uow, planner, wanted, self._limits).head.id}"
        except LimitExceeded as exceeded:
            if exceeded.context.get("limit_name") != "max_sync_partitions":
                raise
        check_job(uow, planner, wanted, self._limits)
        return f"/jobs/{uow.jobs.enqueue(planner.kind, planner.stored(wanted)).id}"


def _errors(invalid: ValidationError, body: bytes) -> list[Mapping[str, Json]]:
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        return [{"pointer": "", "detail": str(invalid.errors(include_url=False)[0]["msg"])}]
    return [
        field_error({**error, "loc": ("body", *error["loc"])}, given) for error in invalid.errors(include_url=False)
    ]
