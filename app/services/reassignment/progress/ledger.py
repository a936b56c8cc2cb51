"""The ledger: what the execution of a plan took, against what the plan has predicted."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from app.errors import Json
from app.services.cautions import Caution
from app.services.reassignment.progress.progress import PlanProgress
from app.services.reassignment.progress.run_log import ExecutedBatch, executed_batches
from app.store.records import PlanHead

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


def with_log(uow: "UnitOfWork", progress: PlanProgress, log: str) -> dict[str, Json]:
    """The document of a progress, after the log of the execution was stored with the plan, if the plan is done.

    The entry of a plan replaces the one before; an equal one changes nothing.

    Raises
    ------
    MalformedText, LogOfAnotherPlan : of the log.
    PlanNotFound : the plan was deleted meanwhile.
    """
    document: dict[str, Any] = progress.as_json()
    head = progress.plan.head
    executed = executed_batches(log, head.hash, len(progress.located.steps))
    if document["state"] != "done" or not executed:
        reason = "it has no complete batch" if document["state"] == "done" else f"the plan is {document['state']}"
        caution = Caution("log_not_recorded", f"the log is not recorded in the ledger: {reason}")
        return document | {"warnings": [*document["warnings"], caution.as_json()]}
    entry = entry_of(head, executed)
    uow.plans.record(head.id, entry)
    return document | {"ledger": entry}


def entry_of(head: PlanHead, executed: Mapping[int, ExecutedBatch]) -> dict[str, Json]:
    """The entry of a plan: its batches, and the relative error of the sums over those that can be compared."""
    request: Any = head.request
    planned: Any = head.answer["batches"]
    throttle = request["batches"]["throttle_bytes_per_s"]
    batches = [_batch(planned[number - 1], number, executed[number], throttle) for number in sorted(executed)]
    return {
        "bytes_error": _error((batch["predicted_bytes"], batch["actual_bytes"]) for batch in batches),
        "seconds_error": _error((batch["predicted_seconds"], batch["actual_seconds"]) for batch in batches),
        "ended_at": max(str(batch["ended_at"]) for batch in batches),
        "batches": batches,
    }


def _batch(planned: Any, number: int, executed: ExecutedBatch, throttle: int | None) -> dict[str, Any]:
    """One batch. Bytes of unknown sizes, and seconds at another throttle than the plan's, have no prediction."""
    return {
        "index": number,
        "began_at": _moment(executed.began_at.isoformat()),
        "ended_at": _moment(executed.ended_at.isoformat()),
        "throttle_bytes_per_s": executed.throttle,
        "predicted_bytes": None if planned["unknown_size_replicas"] else planned["moved_bytes"],
        "actual_bytes": executed.copied_bytes,
        "predicted_seconds": planned.get("seconds") if executed.throttle == throttle else None,
        "actual_seconds": executed.seconds,
    }


def _moment(text: str) -> str:
    return text.replace("+00:00", "Z")


def _error(pairs: Iterable[tuple[float | None, float | None]]) -> float | None:
    """|actual − predicted| / predicted of the sums; None if nothing is predicted."""
    known = [(predicted, actual) for predicted, actual in pairs if predicted is not None and actual is not None]
    predicted, actual = (sum(column) for column in zip(*known, strict=True)) if known else (0, 0)
    return round(abs(actual - predicted) / predicted, 6) if predicted else None
