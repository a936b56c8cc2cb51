"""One kind of plan: how it is planned, listed, compared, and written as JSON and as files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

import orjson

from app.core.model import NO_REPLICA, unpadded
from app.errors import Json
from app.errors.requests import ConflictingFields, NotExportable
from app.services.plans.exports import BATCH, LOSSES, ClusterOf, LossSelection, Write
from app.services.plans.planner import Planner
from app.services.plans.record import JSON_OPTIONS, Difference, Plan, PlannedPartition, beside, summary
from app.store.records import NewPlan, PlanHead

if TYPE_CHECKING:
    from app.store.database import UnitOfWork

_OF_ALL = LossSelection()
STEPS = "kept_steps"
"""The field of a reassignment's answer from which its batches are exported."""
_NOT_SHOWN = ("prediction", "seed", STEPS)
"""Fields of an answer that its JSON has elsewhere, or that only exported files have."""


class Resume(Protocol):
    """Writes a stored plan as a file from the state that a later snapshot has."""

    def __call__(
        self, uow: "UnitOfWork", plan: Plan, snapshot_id: UUID, name: str, *, batch: int | None, is_inverse: bool
    ) -> bytes:
        """The file. Raises `ConflictingFields`, `NotExportable`, `SnapshotNotFound`."""


_WITH_REPLICA_LISTS = frozenset({"replicas", "reassignment"})
"""Kinds whose JSON has the rows beside the stored answer; of the others the answer has them, in an order of its own."""


def plan_json(plan: Plan | NewPlan) -> bytes:
    """The plan as the API writes it. One that is not stored has neither id nor time. No planner is imported for it."""
    head = plan.head if isinstance(plan, Plan) else plan
    document = (
        summary(head)
        | beside(head)
        | (_replica_lists(plan) if head.kind in _WITH_REPLICA_LISTS else {})
        | {name: value for name, value in head.answer.items() if name not in _NOT_SHOWN}
        | {"request": head.request}
    )
    return orjson.dumps(document, option=JSON_OPTIONS)


def _replica_lists(plan: Plan | NewPlan) -> dict[str, object]:
    """The replica lists by topic; lists of unequal length are not padded."""
    return {
        "topics": [
            {
                "name": placement.topic,
                "first_partition_id": placement.first_partition_id,
                "replicas": unpadded(rows) if (rows == NO_REPLICA).any() else rows,
            }
            for placement in plan.placements
            for rows in (placement.replicas,)
        ]
    }


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of plan.

    Parameters
    ----------
    planner : from a request to a plan; see `app.services.plans.pipeline`.
    partition : one row as JSON.
    difference : what a plan changes, against what a caller names or, if that is None, the state before it.
    exports : the formats that fit the kind. content : what its rows say, for the problem about formats that do not.
    batch : writes the batch of a number, from 1 on, or its inverse; None if the kind's plans have no batches.
    losses : writes the loads after losses; None if the kind's plans have no loads of brokers.
    resumed : writes a file from the state of a later snapshot; None if the kind's plans have no progress.
    """

    planner: Planner[Any, Any, Any]
    partition: Callable[[PlanHead, PlannedPartition], dict[str, Json]]
    difference: Callable[["UnitOfWork", Plan, UUID | None], Difference]
    exports: Mapping[str, Write]
    content: str
    batch: Callable[[Plan | NewPlan, int, bool], bytes] | None = None
    losses: Callable[[Plan | NewPlan, ClusterOf, LossSelection], bytes] | None = None
    resumed: Resume | None = None

    @property
    def formats(self) -> list[str]:
        """The names of all formats that fit the kind."""
        return [*self.exports, *([BATCH] if self.batch else []), *([LOSSES] if self.losses else [])]

    def write(
        self,
        plan: Plan | NewPlan,
        name: str,
        cluster_of: ClusterOf,
        *,
        batch: int | None = None,
        is_inverse: bool = False,
        lost: LossSelection = _OF_ALL,
    ) -> bytes:
        """The plan as a file in the format of that name.

        Parameters
        ----------
        batch, is_inverse : which batch, and whether what undoes it; for the format `BATCH` alone.
        lost : which losses; for the format `LOSSES` alone.

        Raises
        ------
        LimitExceeded, UnknownBroker, UnknownRack : of losses.
        NotExportable : the plan cannot be written in that format, or has no such batch.
        ConflictingFields : a batch or losses are named and the format is of a whole plan, or the other way round.
        """
        formats = self.formats
        if name not in formats:
            detail = (
                f"a {self.planner.kind} plan contains {self.content}; its formats are {', '.join(formats)}, not {name}"
            )
            raise NotExportable(detail, formats=formats)
        if not lost.is_of_all and name != LOSSES:
            field = "lost_rack" if lost.brokers is None else "lost_broker"
            raise ConflictingFields(f"{field} is of the format {LOSSES}; {name} is of the whole plan", path=(field,))
        if name == BATCH and self.batch:
            if batch is None:
                raise ConflictingFields("the format batch is of one batch; name its number, from 1 on", path=("batch",))
            return self.batch(plan, batch, is_inverse)
        if batch is not None or is_inverse:
            field = "inverse" if batch is None else "batch"
            raise ConflictingFields(f"{field} is of the format batch; {name} is of the whole plan", path=(field,))
        if name == LOSSES and self.losses:
            return self.losses(plan, cluster_of, lost)
        return self.exports[name](plan, cluster_of)
