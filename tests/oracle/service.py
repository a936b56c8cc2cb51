"""The planner of the service, in this process: from the JSON of a snapshot and a request to the JSON of the answer."""

import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from app.api.models.clusters import SnapshotRequest
from app.api.replicas.requests import PlaceRequest
from app.errors import Failure
from app.services.plans import FilePart, draft_plan, plan_json
from app.services.reassignment import PLAN_KIND, READER
from app.services.replicas import PLAN_KIND as PLACEMENT
from app.services.restarts import PLAN_KIND as RESTART
from app.settings import Settings
from tests.oracle.clusters import Document

_LIMITS = Settings().limits


@dataclass(frozen=True, slots=True)
class Answer:
    """A plan with its files, or the problem.

    Parameters
    ----------
    status : 200, or 422 if the request is rejected.
    document : the JSON of the plan, without times, or of the problem.
    batches, rollbacks : the replica lists of each batch and of its rollback, by topic and partition.
    files : rows of the file of the whole plan, with log directories if the plan chooses them.
    """

    status: int
    document: Document
    batches: list[dict[tuple[str, int], list[int]]] = field(default_factory=list)
    rollbacks: list[dict[tuple[str, int], list[int]]] = field(default_factory=list)
    files: list[Document] = field(default_factory=list)

    @property
    def log_dirs(self) -> dict[tuple[tuple[str, int], int], str]:
        """The directory that the file names for a replica, by partition and broker."""
        return {
            ((row["topic"], row["partition"]), broker): path
            for row in self.files
            for broker, path in zip(row["replicas"], row.get("log_dirs", ()), strict=False)
            if path != "any"
        }


def plan(snapshot: Document, request: Document, *, with_files: bool = False) -> Answer:
    """The answer to a request on a snapshot; files of batches are read if `with_files`."""
    try:
        cluster = SnapshotRequest.model_validate(snapshot).core()
        body = READER.validate_python(request)
        made = draft_plan(PLAN_KIND.planner, body, cluster, _LIMITS)
    except ValidationError as invalid:
        return Answer(422, {"code": "validation", "detail": str(invalid)})
    except Failure as failure:
        return Answer(422, {"code": failure.code, "detail": failure.detail, **failure.context})
    document = json.loads(plan_json(made))
    _without_times(document)
    answer = Answer(200, document)
    if with_files:
        answer.files.extend(json.loads(PLAN_KIND.write(made, "reassignment", lambda: cluster))["partitions"])
        for number in range(1, len(document["batches"]) + 1):
            for lists, is_inverse in ((answer.batches, False), (answer.rollbacks, True)):
                lists.append(_lists(PLAN_KIND.write(made, "batch", lambda: cluster, FilePart(number, is_inverse))))
    return answer


def restart(snapshot: Document, request: Document) -> Document:
    """The plan of a restart, which the service accepts."""
    cluster = SnapshotRequest.model_validate(snapshot).core()
    body = RESTART.planner.reader.validate_python(request)
    document: Document = json.loads(plan_json(draft_plan(RESTART.planner, body, cluster, _LIMITS)))
    return document


def new_topic(request: Document) -> list[list[int]]:
    """The replica lists of the one topic of a request for new topics that lists brokers."""
    body = PlaceRequest.model_validate(request).service()
    [topic] = json.loads(plan_json(draft_plan(PLACEMENT.planner, body, None, _LIMITS)))["topics"]
    lists: list[list[int]] = topic["replicas"]
    return lists


def _lists(file: bytes) -> dict[tuple[str, int], list[int]]:
    return {(row["topic"], row["partition"]): row["replicas"] for row in json.loads(file)["partitions"]}


def _without_times(document: Any) -> None:
    """Leave out the seconds that solvers took, which differ from run to run."""
    if isinstance(document, dict):
        if "solver" in document:
            document.pop("seconds", None)
        for value in document.values():
            _without_times(value)
    if isinstance(document, list):
        for value in document:
            _without_times(value)
