"""The difference between two plans, or between a plan and the state before it: the record that every kind returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.errors import Json
from app.errors.lookups import PlanNotFound
from app.errors.requests import ConflictingFields
from app.services.plans.record import Plan, load
from app.store.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two plans, or between a plan and the state before it.

    Parameters
    ----------
    summary : counts. total : the number of partitions that differ.
    items : differences start … stop − 1 of them, by topic and partition id, as JSON or records of the core.
    """

    summary: Mapping[str, Json]
    total: int
    items: Callable[[int, int], Sequence[object]]


def named_plan(uow: UnitOfWork, plan: Plan, against: UUID) -> Plan | None:
    """The plan of the id `against`; None if there is none.

    Raises `ConflictingFields` where it is of another kind: the two have nothing in common.
    """
    try:
        named = load(uow, against)
    except PlanNotFound:
        return None
    if named.head.kind != plan.head.kind:
        detail = f"{against} is a {named.head.kind} plan, and a {plan.head.kind} plan is compared with one of its kind"
        raise ConflictingFields(detail, path=("against",), value=str(against))
    return named
