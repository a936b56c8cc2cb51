"""A plan of any kind from the body of its request: made here from files, or by a service.

The options of a command become the fields of the request's body, which the API's own model validates. So the rules of a
field are in one place, and a command means the same with and without a service.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.offline import Inputs, printed, read_json, require, validated
from app.errors import Json
from app.errors.requests import ConflictingFields
from app.formats.syntax.garbage import uncollected
from app.services.plans import BATCH, Kind, draft_plan, plan_json
from app.settings import Settings

if TYPE_CHECKING:
    from app.services.plans import Plan
    from app.store.records import NewPlan

_ABOUT_SNAPSHOTS = ("snapshot_id", "cluster")


@dataclass(frozen=True, slots=True)
class Export:
    """The format of a plan: the API's JSON if `name` is None; `batch`, `is_inverse`: of one batch."""

    name: str | None = None
    batch: int | None = None
    is_inverse: bool = False


def body_of(options: Mapping[str, Json], request: Path | None) -> Json:
    """The body of a request: the fields that options state, or those of a file.

    Raises
    ------
    ConflictingFields : there are options and a file, or the file names a snapshot.
    MalformedText : the file is no JSON.
    """
    if request is None:
        return options
    if options:
        names = ", ".join(options)
        raise ConflictingFields(
            f"a request file has every field, and options state {names}: they exclude each other", path=("request",)
        )
    body = read_json(request, "request")
    for name in _ABOUT_SNAPSHOTS:
        if isinstance(body, Mapping) and name in body:
            detail = f"the cluster is that of the files or of --snapshot; leave {name} out of the request"
            raise ConflictingFields(detail, path=(name,))
    return body


def make(kind: str, body: Json, inputs: Inputs, export: Export) -> bytes:
    """Plan on the cluster that the files describe, if there are any; the plan as the API writes it, or an export.

    Raises what the service of the kind does, and `ConflictingFields` for an unknown format.
    """
    model, found = _kind(kind)
    if export.name is None and (export.batch is not None or export.is_inverse):
        option = "inverse" if export.batch is None else "batch"
        raise ConflictingFields(f"--{option} goes with --export {BATCH}", path=(option,))
    require("export", export.name, tuple(found.formats))
    request = validated(model, body).service()
    with uncollected():
        described = None if inputs.is_empty else inputs.cluster()
        plan: Plan | NewPlan = draft_plan(found.planner, request, described, Settings().limits)
        if export.name is None:
            return printed(plan_json(plan))
        return found.write(plan, export.name, lambda: described, batch=export.batch, is_inverse=export.is_inverse)


def _kind(kind: str) -> tuple[Any, Kind]:
    """The model of a kind's request and the kind; nothing of other kinds is imported."""
    if kind == "replicas":
        from app.api.replicas import PlaceRequest  # noqa: PLC0415 — see the docstring
        from app.services import replicas  # noqa: PLC0415 — as above

        return PlaceRequest, replicas.PLAN_KIND
    if kind == "reassignment":
        from app.services import reassignment  # noqa: PLC0415 — as above

        return reassignment.ReassignmentRequest, reassignment.PLAN_KIND
    if kind == "group":
        from app.api.groups import PlanGroupRequest  # noqa: PLC0415 — as above
        from app.services import groups  # noqa: PLC0415 — as above

        return PlanGroupRequest, groups.PLAN_KIND
    if kind == "restart":
        from app.services import restarts  # noqa: PLC0415 — as above

        return restarts.RestartRequest, restarts.PLAN_KIND
    if kind == "consumers":
        from app.services import consumers  # noqa: PLC0415 — as above

        return consumers.ConsumersRequest, consumers.PLAN_KIND
    from app.api.streams import PlanStreamsRequest  # noqa: PLC0415 — as above
    from app.services import streams  # noqa: PLC0415 — as above

    return PlanStreamsRequest, streams.PLAN_KIND
