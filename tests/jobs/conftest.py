"""The local Spark session that tests of one process share: PySpark allows one at a time, and it takes 5 s to start."""

from collections.abc import Iterator

import pytest

from app.jobs.spark import Spark
from tests.jobs.cluster import quick_java


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spark]:
    """A local Spark, whose session the first job starts; a test may close it, and the next job starts another."""
    with Spark("local[2]", properties=quick_java(tmp_path_factory.mktemp("driver"))) as spark:
        yield spark
