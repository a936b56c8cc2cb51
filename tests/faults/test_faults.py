"""A hundred faults; `make faults` injects a thousand."""

from pathlib import Path

import pytest

from tests import databases
from tests.faults.run import run

FAULTS = 100


@pytest.mark.long
def test_what_was_acknowledged_survives_a_hundred_faults() -> None:
    """Kills and pauses of the API, its slots, Postgres, the worker, the JVM and Spark's Python, at random."""
    with databases.folder_of_postgres() as folder:
        outcome = run(Path(folder), faults=FAULTS, seed=2, within_s=150.0)
    assert not outcome.wrong, outcome
    assert sum(outcome.faults.values()) >= FAULTS // 4, "a busy machine injects fewer in its time"
    assert outcome.counts["plans"]
