"""What differs between the kinds of plans, a row a kind: how one is made later, and how it is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

from app.errors import Json
from app.services import replicas
from app.services.groups import planning, readers
from app.services.limits import Limits
from app.services.plans import JSON_OPTIONS, Plan, PlannedPartition, summary
from app.store.database import UnitOfWork
from app.store.plans import NewPlan, PlanHead


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of plan.

    Parameters
    ----------
    run : makes a plan of a request that a job has kept, as the service does that answers it at once.
    placed : what the plan's rows are as JSON, beside the answer that is kept.
    partition : one row as JSON.
    """

    run: Callable[[UnitOfWork, Mapping[str, Any], Limits], Plan]
    placed: Callable[[Plan | NewPlan], dict[str, object]]
    partition: Callable[[PlanHead, PlannedPartition], dict[str, Json]]


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        replicas.KIND: Kind(replicas.run, replicas.placed, replicas.partition_json),
        # The answer of a group plan is whole: its lists have an order that rows do not keep.
        planning.KIND: Kind(planning.run, lambda _: {}, readers.partition_json),
    }
)
"""Every kind of plan by its name; the API's filter and the jobs read it."""


def to_json(plan: Plan | NewPlan) -> bytes:
    """The plan as the API writes it. One that was not kept has neither id nor time."""
    head = plan.head if isinstance(plan, Plan) else plan
    document = (
        summary(head)
        | KINDS[head.kind].placed(plan)
        | {name: value for name, value in head.answer.items() if name not in ("prediction", "seed")}
        | {"request": head.request}
    )
    return orjson.dumps(document, option=JSON_OPTIONS)
