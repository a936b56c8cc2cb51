"""Sweeps: started, waited for, read as tables, opened as plans."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from app.api.examples import EXAMPLE_JOB_ID, SWEEP
from app.store.database import Database
from rackplan import AsyncClient, Client, Conflict, JobCancelled, ReplicaPlan, Sweep
from rackplan.requests import CapacitySweepRequest
from tests.api.conftest import Serve, StartWorker, serve, start_worker
from tests.api.test_sweeps import score

DEFINITION = cast("CapacitySweepRequest", SWEEP)
__all__ = ["serve", "start_worker"]


@pytest.fixture
def scored(rackplan: Client, database: Database) -> Sweep:
    """A sweep whose scenarios are scored."""
    sweep = rackplan.create_sweep(DEFINITION)
    score(database, sweep.id)
    return sweep


def test_a_scored_sweep_is_read_in_every_form(scored: Sweep, tmp_path: Path) -> None:
    ended = scored.wait(timeout=60)
    assert ended.state == "succeeded"
    assert ended.definition["base"]
    rows = list(ended.list_scenarios(page_size=5))
    assert len(rows) == ended.scenarios == ended.to_arrow().num_rows == len(ended.to_pandas())
    assert [row.index for row in rows] == list(range(len(rows)))
    assert all(row.feasible for row in ended.list_scenarios(feasible=True, sort="monthly_cost", descending=True))
    assert ended.scenario(0) == rows[0]
    assert ended.best().counts.raw
    assert ended.front().items
    assert ended.summary(feasible=True).raw
    assert ended.compare(ended.id).raw
    ended.export("parquet", tmp_path / "rows.parquet")
    assert (tmp_path / "rows.parquet").read_bytes().startswith(b"PAR1")
    assert isinstance(ended.open_scenario(0), ReplicaPlan)
    assert [sweep.state for sweep in ended.follow()] == ["succeeded"]


def test_a_cancelled_sweep_is_not_waited_for(rackplan: Client) -> None:
    sweep = rackplan.create_sweep(DEFINITION)
    shown: list[Any] = []
    with pytest.raises(TimeoutError, match="it goes on"):
        sweep.wait(timeout=0.2, progress=shown.append)
    assert [each.state for each in shown][:2] == ["queued", "queued"]
    assert sweep.cancel().state == "cancelled"
    with pytest.raises(JobCancelled, match="cancelled"):
        sweep.wait()
    clone = sweep.clone(axes={"topology.brokers_per_rack": [3]})
    assert clone.scenarios < sweep.scenarios
    assert [each.id for each in rackplan.list_sweeps(state="cancelled")] == [sweep.id]


def test_a_job_is_cancelled(rackplan: Client) -> None:
    job = rackplan.get_job(str(EXAMPLE_JOB_ID))
    assert job.id in [each.id for each in rackplan.list_jobs(state="queued")]
    assert job.cancel().state == "cancelled"
    with pytest.raises(JobCancelled):
        job.wait()
    with pytest.raises(Conflict):
        job.cancel()


@pytest.mark.slow
def test_a_large_plan_becomes_a_job(
    database: Database, serve: Serve, start_worker: StartWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    """By itself if the service does not answer it immediately, or at the caller's wish."""
    url = str(serve(database, max_sync_partitions=10).base_url)
    start_worker()
    brokers: Any = [{"id": number, "rack": f"r{number % 3}"} for number in range(6)]
    topics: Any = [{"name": "orders", "partitions": 12, "replication_factor": 3}]
    with Client(url) as rackplan:
        plan = rackplan.plan_replicas(brokers=brokers, topics=topics, seed=1, progress=True)
        job = next(rackplan.list_jobs())
    assert isinstance(plan, ReplicaPlan)
    assert job.raw["plan"] == f"/v1/plans/{plan.id}"
    assert f"replicas {job.id}: succeeded" in capsys.readouterr().err

    async def run() -> None:
        async with AsyncClient(url) as rackplan:
            job = await rackplan.submit_replicas(brokers=brokers, topics=topics, seed=2)
            states = [each.state async for each in job.follow()]
            assert states[-1] == "succeeded"
            assert (await job.wait())["topics"][0]["name"] == "orders"

    asyncio.run(run())
