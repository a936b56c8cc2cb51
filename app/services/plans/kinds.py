"""The registry of plan kinds."""

from app.deferred import Registry
from app.errors.every import ConflictingFields
from app.services import snapshots
from app.services.plans import Kind, Plan
from app.services.plans.exports import WHOLE, FilePart
from app.store.records import NewPlan
from app.store.unit import UnitOfWork

KINDS = Registry[Kind](
    {
        "replicas": "app.services.replicas:PLAN_KIND",
        "reassignment": "app.services.reassignment:PLAN_KIND",
        "group": "app.services.groups:PLAN_KIND",
        "streams": "app.services.streams:PLAN_KIND",
        "restart": "app.services.restarts:PLAN_KIND",
        "consumers": "app.services.consumers:PLAN_KIND",
    }
)
"""Every kind of plan by its name; the API's filter, the pages and the jobs read it."""


def kind_of(plan: Plan | NewPlan) -> Kind:
    """The kind of a plan."""
    return KINDS[plan.head.kind]


def export(uow: UnitOfWork, plan: Plan, name: str, part: FilePart = WHOLE) -> bytes:
    """A stored plan, or a part of it, as a file: `Kind.write`, with the cluster of its snapshot."""
    kind = kind_of(plan)
    if part.from_snapshot is not None:
        if kind.resumed is None:
            detail = f"a {kind.planner.kind} plan has no progress, which `from` starts at"
            raise ConflictingFields(detail, path=("from",), value=str(part.from_snapshot))
        return kind.resumed(uow, plan, part.from_snapshot, name, part)
    snapshot_id = plan.head.snapshot_id
    return kind.write(plan, name, lambda: None if snapshot_id is None else snapshots.load(uow, snapshot_id)[1], part)
