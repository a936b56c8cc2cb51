"""The status of a plan, and its callers' labels and notes.

A plan never changes: its hash is its request's. Status, labels and notes are facts about it, each change of which
is appended to its history with the name of the API key and the time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias
from uuid import UUID

from app.errors.every import ImpossibleTransition, InvalidField, Json, PlanChanged
from app.services.fields import MOST_LABELS, rfc3339
from app.store.records import PlanHead
from app.store.unit import UnitOfWork

if TYPE_CHECKING:
    from collections.abc import Callable


Status: TypeAlias = Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
PROPOSED: Status = "proposed"
TRANSITIONS: Mapping[str, tuple[Status, ...]] = {
    PROPOSED: ("approved", "executing", "superseded"),
    "approved": (PROPOSED, "executing", "superseded"),
    "executing": ("executed", "failed"),
    "executed": ("superseded",),
    "failed": (PROPOSED, "executing", "superseded"),
    "superseded": (PROPOSED,),
}
"""Every status with its successors. A running plan ends executed or failed; an executed one is not undone."""


@dataclass(frozen=True, slots=True)
class PlanPatch:
    """A merge patch (RFC 7396): a field that is not in `given` stays.

    Parameters
    ----------
    labels : None removes all of them; a label that is None is removed.
    """

    given: frozenset[str]
    status: Status = PROPOSED
    labels: Mapping[str, str | None] | None = None
    notes: str | None = None


def change(
    uow: UnitOfWork, plan_id: UUID, patch: PlanPatch, *, principal: str, is_current: "Callable[[PlanHead], bool]"
) -> PlanHead:
    """Apply a patch; one that changes nothing leaves no trace.

    Parameters
    ----------
    is_current : whether the caller knows the state of the plan that is patched, if the request states one.

    Raises
    ------
    PlanNotFound
    PlanChanged : `is_current` is false.
    InvalidField : it would have more than `MOST_LABELS` labels.
    ImpossibleTransition : the status cannot follow the present one.
    """
    head = uow.plans.get(plan_id, for_update=True)
    if not is_current(head):
        raise PlanChanged(f"plan {plan_id} has been changed since", plan_id=str(plan_id), revision=head.revision)
    status = patch.status if "status" in patch.given else head.status
    if status != head.status and status not in TRANSITIONS[head.status]:
        following = TRANSITIONS[head.status]
        detail = f"a plan that is {head.status} cannot become {status}; it can become {' or '.join(following)}"
        raise ImpossibleTransition(detail, path=("status",), status=head.status, value=status, allowed=list(following))
    labels = _merged(head.labels, patch.labels) if "labels" in patch.given else dict(head.labels)
    if len(labels) > MOST_LABELS:
        errors: list[Json] = [{"pointer": "/labels", "detail": f"the plan would have {len(labels)} labels"}]
        raise InvalidField(f"a plan has at most {MOST_LABELS} labels, not {len(labels)}", errors=errors)
    notes = patch.notes if "notes" in patch.given else head.notes
    changed: dict[str, Json] = {
        name: new
        for name, new, old in (
            ("status", status, head.status),
            ("labels", labels, dict(head.labels)),
            ("notes", notes, head.notes),
        )
        if new != old
    }
    if not changed:
        return head
    entry = {"at": rfc3339(datetime.now(UTC)), "by": principal, **changed}
    return uow.plans.change(plan_id, entry, status=status, labels=labels, notes=notes)


def _merged(labels: Mapping[str, str], patch: Mapping[str, str | None] | None) -> dict[str, str]:
    merged: dict[str, str | None] = {} if patch is None else {**labels, **patch}
    return {name: value for name, value in merged.items() if value is not None}
