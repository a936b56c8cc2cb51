"""Sweeps chunk by chunk on the Spark session of this process: lost chunks are scored again, cancelled ones end.

`test_sweep_faults.py` has the same with workers of their own, which are really killed (`make test-long`).
"""

import pytest

from app.jobs import sweeps as jobs
from app.jobs.spark import Spark
from app.services import sweeps
from app.services.limits import Limits
from app.store.database import Database
from tests.jobs.cluster import wait_for
from tests.jobs.test_sweep_faults import done, ended, rows_of, state_of, submitted, undisturbed
from tests.jobs.working import working
from tests.store.test_usage import counted, quoted, recounted

pytestmark = pytest.mark.slow


class Killed(BaseException):
    """An exception that ends a worker at once; nothing catches it."""


@pytest.mark.long
@pytest.mark.parametrize("moment", ["_scored", "record"])
def test_a_worker_that_dies_in_a_chunk(
    database: Database, spark: Spark, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Before Spark has its scenarios, or with its rows on the way to the database: the next worker scores it again."""
    scenarios = 60
    sweep_id = submitted(database, scenarios, partitions=60)
    jobs.run_chunk(database, spark, sweep_id, limits=Limits())
    stored = done(database, sweep_id)
    assert 0 < stored < scenarios

    def kill(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(jobs if moment == "_scored" else sweeps, moment, kill)
        with pytest.raises(Killed):
            jobs.run_chunk(database, spark, sweep_id, limits=Limits())
    assert done(database, sweep_id) == stored, "no chunk is stored in part"
    while state_of(database, sweep_id) == "running":
        jobs.run_chunk(database, spark, sweep_id, limits=Limits())
    assert state_of(database, sweep_id) == "succeeded"
    assert rows_of(database, sweep_id) == undisturbed(database, scenarios, partitions=60)


def test_a_chunk_beyond_the_quota_of_its_team(database: Database, spark: Spark) -> None:
    """The sweep fails and says why; the scenarios before it stay, and count."""
    sweep_id = submitted(database, 60, partitions=60)
    jobs.run_chunk(database, spark, sweep_id, limits=Limits())
    stored = done(database, sweep_id)
    limit = counted(database)["default"].stored_bytes + 100
    with quoted(database, stored_bytes=limit) as limited:
        jobs.run_chunk(limited, spark, sweep_id, limits=Limits())
    with database.begin() as uow:
        sweep = uow.sweeps.get(sweep_id)
    assert (sweep.state, done(database, sweep_id)) == ("failed", stored)
    assert sweep.error is not None
    assert (sweep.error["code"], sweep.error["limit"]) == ("quota_exceeded", limit)
    assert counted(database) == recounted(database)


@pytest.mark.long
def test_a_cancelled_sweep_ends_in_spark_too(database: Database, spark: Spark) -> None:
    """Long before its chunk would have been scored, and the worker goes on with the next."""
    large = submitted(database, 50_000, partitions=60_000)
    status = spark.session().sparkContext.statusTracker()
    with working(database, spark):
        wait_for(lambda: bool(status.getActiveStageIds()), within_s=60)
        with database.begin() as uow:
            sweeps.cancel(uow, large)
        other = submitted(database, 10, partitions=60)
        assert ended(database, other) == "succeeded"
        wait_for(lambda: not status.getActiveStageIds(), within_s=60)
    assert state_of(database, large) == "cancelled"
