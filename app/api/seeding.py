"""Store the resources that examples of the documentation name, so that each example works on a new service."""

from app.api.clusters import SnapshotRequest
from app.api.examples import (
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_GROUPS_SNAPSHOT_ID,
    EXAMPLE_JOB_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_SNAPSHOT_ID,
    EXAMPLE_STREAMS_PLAN_ID,
    EXAMPLE_SWEEP_ID,
    KEPT_GROUP_PLAN,
    KEPT_PLAN,
    KEPT_STREAMS_PLAN,
    SNAPSHOT,
    SNAPSHOT_WITH_GROUP,
    SWEEP,
)
from app.api.groups import PlanGroupRequest
from app.api.reassignment import KEPT_REASSIGNMENT, PlanReassignmentRequest
from app.api.replicas import PlaceRequest
from app.api.streams import PlanStreamsRequest
from app.api.sweeps.capacity import CapacitySweepRequest
from app.errors.lookups import JobNotFound, PlanNotFound, SnapshotNotFound, SweepNotFound
from app.services import groups, reassignment, replicas, snapshots, streams, sweeps
from app.services.limits import Limits
from app.services.plans import make_plan
from app.store.database import Database


def keep_examples(database: Database) -> None:
    """Store the example snapshots, plans and job that are missing; existing ones are not changed."""
    limits = Limits()  # not those of the settings, which may be too low for an example
    request = PlaceRequest.model_validate(KEPT_PLAN).service()
    with database.begin() as uow:
        for snapshot_id, body in (
            (EXAMPLE_SNAPSHOT_ID, SNAPSHOT),
            (EXAMPLE_GROUPS_SNAPSHOT_ID, SNAPSHOT_WITH_GROUP),
        ):
            try:
                uow.snapshots.get(snapshot_id)
            except SnapshotNotFound:
                example = SnapshotRequest.model_validate(body).core()
                snapshots.keep(uow, example, limits, snapshot_id=snapshot_id)
        try:
            uow.plans.get(EXAMPLE_PLAN_ID)
        except PlanNotFound:
            make_plan(uow, replicas.PLANNER, request, limits, plan_id=EXAMPLE_PLAN_ID)
        try:
            uow.plans.get(EXAMPLE_GROUP_PLAN_ID)
        except PlanNotFound:
            group = PlanGroupRequest.model_validate(KEPT_GROUP_PLAN).service()
            make_plan(uow, groups.PLANNER, group, limits, plan_id=EXAMPLE_GROUP_PLAN_ID)
        try:
            uow.plans.get(EXAMPLE_STREAMS_PLAN_ID)
        except PlanNotFound:
            application = PlanStreamsRequest.model_validate(KEPT_STREAMS_PLAN).service()
            make_plan(uow, streams.PLANNER, application, limits, plan_id=EXAMPLE_STREAMS_PLAN_ID)
        try:
            uow.jobs.get(EXAMPLE_JOB_ID)
        except JobNotFound:
            uow.jobs.enqueue(replicas.KIND, replicas.PLANNER.stored(request), job_id=EXAMPLE_JOB_ID)


def keep_example_reassignment(database: Database) -> None:
    """Store the example reassignment. Planning it loads compiled loops, so it follows the other examples."""
    change = PlanReassignmentRequest.model_validate(KEPT_REASSIGNMENT).service()
    with database.begin() as uow:
        try:
            uow.plans.get(EXAMPLE_REASSIGNMENT_PLAN_ID)
        except PlanNotFound:
            make_plan(uow, reassignment.PLANNER, change, Limits(), plan_id=EXAMPLE_REASSIGNMENT_PLAN_ID)


def keep_example_sweep(database: Database) -> None:
    """Store the example sweep. Scoring it loads compiled loops, so it follows the other examples."""
    request = CapacitySweepRequest.model_validate(SWEEP).service()
    with database.begin() as uow:
        try:
            uow.sweeps.get(EXAMPLE_SWEEP_ID)
        except SweepNotFound:
            sweeps.keep_scored(uow, request, principal="documentation", sweep_id=EXAMPLE_SWEEP_ID)
