"""The types that checkers see: `mypy` over this file is the test, and it fails on an ignored error that is none."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type

from rackplan import Async, AsyncClient, Client, GroupPlan, Job, Plan, ReassignmentPlan, Sweep, Sync
from rackplan.exports import Export
from rackplan.models import CheckDocument, SnapshotDocument
from rackplan.plans import AnyPlan


def seen_of_a_client(client: Client) -> None:
    """Results themselves."""
    plan = client.plan_reassignment(snapshot_id="1", remove_brokers=[1])
    assert_type(plan, ReassignmentPlan[Sync])
    assert_type(plan.certificate.moved_replicas, int | None)
    assert_type(plan.export("batches", "out/"), Export)
    assert_type(plan.update(status="approved"), AnyPlan[Sync])
    assert_type(client.list_plans(), Iterator[Plan[Sync]])
    assert_type(client.submit_group(assignor="range").wait(), AnyPlan[Sync])
    assert_type(client.create_snapshot(cluster="prod", texts=["a"]), SnapshotDocument)
    assert_type(
        client.check_reassignment(snapshot_id="1", reassignment={"version": 1, "partitions": []}), CheckDocument
    )
    assert_type(client.get_sweep("1").clone().wait(progress=True), Sweep[Sync])


async def seen_of_an_asynchronous_client(client: AsyncClient) -> None:
    """Results to be awaited, also of returned objects."""
    plan = await client.plan_group(assignor="range", group="billing", snapshot_id="1")
    assert_type(plan, GroupPlan[Async])
    assert_type(await plan.export("csv"), Export)
    assert_type(await plan.update(notes="x"), AnyPlan[Async])
    assert_type(client.list_plans(), AsyncIterator[Plan[Async]])
    assert_type(await client.get_job("1"), Job[Async])
    assert_type(await (await client.get_job("1")).wait(), AnyPlan[Async])
    assert_type(await (await client.get_sweep("1")).cancel(), Sweep[Async])


def seen_without_a_kind(plan: Plan) -> None:
    """`Plan` in an annotation is a `Client`'s."""
    assert_type(plan.picture(), str)
    assert_type(plan.to_pandas(), Any)


def mistakes(client: Client) -> None:
    """Each is an error."""
    client.plan_reassignment(remove_broker=[1])  # type: ignore[call-arg] # misspelt
    client.plan_group(assignor="rang")  # type: ignore[arg-type] # not one of the assignors
    client.export_plan("1", "pdf")  # type: ignore[arg-type] # not one of the formats
    client.get_plan(1)  # type: ignore[arg-type] # an id is a text
    client.create_snapshot(texts=[])  # type: ignore[call-arg] # of no cluster
    client.get_plan("1").certificat  # type: ignore[union-attr] # noqa: B018 -- a misspelt field of an answer
    client.healthz().statsu  # type: ignore[attr-defined] # noqa: B018 — a misspelt field of an answer
