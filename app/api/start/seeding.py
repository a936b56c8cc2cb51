"""Store the resources that examples of the documentation name, so that each example works on a new service."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from app.api import examples
from app.api.groups import PlanGroupRequest
from app.api.models.clusters import SnapshotRequest
from app.api.replicas import PlaceRequest
from app.api.streams import PlanStreamsRequest
from app.api.sweeps.capacity import CapacitySweepRequest
from app.errors.failure import NotFound
from app.services import groups, reassignment, replicas, snapshots, streams, sweeps, webhooks
from app.services.limits import Limits
from app.services.outbound import Outbound
from app.services.plans import Planner, make_plan
from app.store.database import Database, UnitOfWork
from app.store.transaction import Rows

_LIMITS = Limits()  # not the settings' limits, which may be too low for an example


def steps(database: Database, *, has_webhooks: bool) -> tuple[Callable[[], None], ...]:
    """Functions that store all examples, in this order; a stop of the service may come between two."""
    stores = (store_examples, store_example_reassignment, store_example_sweep)
    return tuple(partial(store, database) for store in (*stores, *((store_example_webhook,) if has_webhooks else ())))


def store_examples(database: Database) -> None:
    """Store the example snapshots, plans and job that are missing; existing ones are not changed."""
    place = PlaceRequest.model_validate(examples.STORED_PLAN).service()
    with database.begin() as uow:
        _store_snapshot(uow, examples.EXAMPLE_SNAPSHOT_ID, examples.SNAPSHOT)
        _store_snapshot(uow, examples.EXAMPLE_GROUPS_SNAPSHOT_ID, examples.SNAPSHOT_WITH_GROUP)
        _store_plan(uow, examples.EXAMPLE_PLAN_ID, replicas.PLANNER, place)
        group = TypeAdapter(PlanGroupRequest).validate_python(examples.STORED_GROUP_PLAN).service()
        _store_plan(uow, examples.EXAMPLE_GROUP_PLAN_ID, groups.PLANNER, group)
        application = TypeAdapter(PlanStreamsRequest).validate_python(examples.STORED_STREAMS_PLAN).service()
        _store_plan(uow, examples.EXAMPLE_STREAMS_PLAN_ID, streams.PLANNER, application)
        if is_missing(uow.jobs, examples.EXAMPLE_JOB_ID):
            uow.jobs.enqueue(replicas.KIND, replicas.PLANNER.stored(place), job_id=examples.EXAMPLE_JOB_ID)


def store_example_reassignment(database: Database) -> None:
    """Store the example reassignment. Planning it loads compiled loops, so it follows the other examples."""
    change = reassignment.READER.validate_python(examples.STORED_REASSIGNMENT)
    with database.begin() as uow:
        _store_plan(uow, examples.EXAMPLE_REASSIGNMENT_PLAN_ID, reassignment.PLANNER, change)


def store_example_sweep(database: Database) -> None:
    """Store the example sweep. Scoring it loads compiled loops, so it follows the other examples."""
    request = CapacitySweepRequest.model_validate(examples.SWEEP).service()
    with database.begin() as uow:
        if is_missing(uow.sweeps, examples.EXAMPLE_SWEEP_ID):
            sweeps.store_scored(uow, request, principal="documentation", sweep_id=examples.EXAMPLE_SWEEP_ID)


def store_example_webhook(database: Database) -> None:
    """Store the example webhook, disabled, and a delivery to it that is not made."""
    value = examples.WEBHOOK_REQUEST["all"]["value"]
    webhook_id = examples.EXAMPLE_WEBHOOK_ID
    with database.begin() as uow:
        if is_missing(uow.webhooks, webhook_id):
            secret = examples.WEBHOOK_REQUEST["secret"]["value"]["secret"]
            uow.webhooks.create(url=value["url"], events=value["events"], secret=secret, webhook_id=webhook_id)
            webhooks.ping(uow, webhook_id, Outbound(is_enabled=True), delivery_id=examples.EXAMPLE_DELIVERY_ID)
            uow.webhooks.disable(webhook_id, "an example of the documentation")


def is_missing(rows: Rows[Any], row_id: UUID) -> bool:
    """Whether a store has no row of this id."""
    try:
        rows.get(row_id)
    except NotFound:
        return True
    return False


def _store_snapshot(uow: UnitOfWork, snapshot_id: UUID, body: dict[str, Any]) -> None:
    if is_missing(uow.snapshots, snapshot_id):
        snapshots.store(uow, SnapshotRequest.model_validate(body).core(), _LIMITS, snapshot_id=snapshot_id)


def _store_plan(uow: UnitOfWork, plan_id: UUID, planner: Planner[Any, Any, Any], request: Any) -> None:
    if is_missing(uow.plans, plan_id):
        make_plan(uow, planner, request, _LIMITS, plan_id=plan_id)
