"""Snapshots and plans: from a cluster's texts to files for Kafka."""

import asyncio
from pathlib import Path

import httpx
import pytest

from app.api.examples import EXAMPLE_PLAN_ID
from rackplan import AsyncClient, Client, NotFound, Plan, ReassignmentPlan, Unprocessable
from tests.conftest import SAMPLES

TEXTS = [SAMPLES / "kafka-broker-api-versions.txt", SAMPLES / "kafka-topics-describe.txt"]


def test_from_texts_to_batches(rackplan: Client, tmp_path: Path) -> None:
    snapshot = rackplan.create_snapshot(cluster="prod", texts=TEXTS)
    plan = rackplan.plan_reassignment(snapshot_id=snapshot.id, remove_brokers=[106])
    export = plan.export("batches", f"{tmp_path}/batches/")
    assert export.media_type == "application/zip"
    assert (tmp_path / "batches" / "README.txt").exists()
    assert plan.certificate.moved_replicas


def test_texts_are_files_or_texts(rackplan: Client) -> None:
    of_files = rackplan.create_snapshot(cluster="prod", texts=TEXTS)
    of_texts = rackplan.create_snapshot(cluster="prod", texts=[TEXTS[0].read_text(), TEXTS[1].read_bytes()])
    assert of_files.content_hash == of_texts.content_hash


def test_a_snapshot_is_made_of_texts_or_of_records(rackplan: Client) -> None:
    with pytest.raises(ValueError, match="both texts and brokers"):
        rackplan.create_snapshot(cluster="prod", texts=["x"], brokers=[{"id": 1}])


def test_what_a_plan_is_read_by(rackplan: Client) -> None:
    plan = rackplan.get_plan(str(EXAMPLE_PLAN_ID))
    assert plan.picture().startswith("<svg")
    assert len(list(plan.list_partitions(page_size=2))) == len(plan.to_pandas()) == plan.to_arrow().num_rows
    assert plan.diff().summary["partitions"] > 0
    assert plan.created_at.tzinfo is not None


def test_lists_are_read_page_by_page(rackplan: Client) -> None:
    every = list(rackplan.list_plans(page_size=1))
    assert [plan.id for plan in every] == [plan.id for plan in rackplan.list_plans()]
    assert len(every) > 2
    assert isinstance(every[0], Plan)
    reassignments = list(rackplan.list_plans(kind="reassignment"))
    assert reassignments
    assert isinstance(rackplan.get_plan(reassignments[0].id), ReassignmentPlan)


def test_a_deleted_plan_is_not_found(rackplan: Client) -> None:
    plan = next(rackplan.list_plans())
    plan.delete()
    with pytest.raises(NotFound) as raised:
        rackplan.get_plan(plan.id)
    assert raised.value.code == "plan_not_found"


def test_problems_name_the_fields(rackplan: Client, snapshot_id: str) -> None:
    with pytest.raises(Unprocessable) as raised:
        rackplan.plan_reassignment(snapshot_id=snapshot_id, remove_brokers=["one"])  # type: ignore[list-item]
    (error,) = raised.value.errors
    assert error["pointer"] == "/remove_brokers/0"
    assert raised.value.status == 422


def test_a_job_is_waited_for(rackplan: Client, snapshot_id: str) -> None:
    plan = rackplan.plan_reassignment(snapshot_id=snapshot_id, remove_brokers=[105])
    job = rackplan.submit_reassignment(snapshot_id=snapshot_id, remove_brokers=[105])
    assert job.refresh().id == job.id
    assert plan.hash


def test_the_asynchronous_client_does_the_same(client: httpx.Client) -> None:
    async def run() -> None:
        async with AsyncClient(str(client.base_url)) as rackplan:
            snapshot = await rackplan.create_snapshot(cluster="prod", texts=TEXTS)
            plan = await rackplan.plan_reassignment(snapshot_id=snapshot.id, remove_brokers=[106])
            export = await plan.export("reassignment")
            assert '"version":1' in export.text.replace(" ", "")
            assert plan.id in [each.id async for each in rackplan.list_plans(page_size=1)]

    asyncio.run(run())
