"""A running Kafka of the release that `KAFKA_VERSION` names, for the whole run."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from app.errors import Failure
from app.jobs import java
from tests.kafka import jars
from tests.kafka.cluster import Cluster, running
from tests.kafka.handing import LEDGER, uncordon

LONG_ENOUGH_S = 10
"""For shorter plans the script's polling interval dominates the error."""

RACKS = ("r1", "r2", "r3", "r1", "r2")
"""Of the brokers 1 to 5."""

QUICK_HEARTBEATS: dict[str, Any] = {
    f"group_{kind}_{name}heartbeat_interval_ms": 500
    for kind in ("consumer", "share", "streams")
    for name in ("", "min_")
}
STEADY: dict[str, Any] = {
    "broker_session_timeout_ms": 30_000,  # coordinators stay where they are, however busy the machine is
    "group_streams_initial_rebalance_delay_ms": 0,
    "share_coordinator_state_topic_num_partitions": 2,
    "share_coordinator_state_topic_replication_factor": 1,
    "share_coordinator_state_topic_min_isr": 1,
    "transaction_state_log_replication_factor": 1,
    "transaction_state_log_min_isr": 1,
}


def missing() -> str | None:
    """Missing requirements of a Kafka broker on this machine."""
    if shutil.which("javac") is None:
        return "javac, which compiles what asks Kafka's classes"
    if shutil.which("mvn") is None and not (jars.FOLDER / release()).is_dir():
        return "Maven, which resolves Kafka's artifacts"
    try:
        java.find()
    except Failure as failure:
        return str(failure)
    return None


def require() -> None:
    """Skip a test if a requirement of a Kafka broker is missing; `.ci/run` runs these tests only if none is."""
    if (lacking := missing()) is not None:
        pytest.skip(f"there is no {lacking}")


def release() -> str:
    """The release that is tested."""
    return os.environ.get("KAFKA_VERSION", jars.NEWEST)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the errors of predictions for the executed plans."""
    for what in ("bytes", "seconds"):
        errors = sorted(
            entry[f"{what}_error"]
            for entry in LEDGER
            if entry[f"{what}_error"] is not None
            and sum(batch["predicted_seconds"] or 0 for batch in entry["batches"]) >= LONG_ENOUGH_S
        )
        if errors:
            median, high = (errors[round(share * (len(errors) - 1))] for share in (0.5, 0.9))
            terminalreporter.line(
                f"{what}: median error {median:.1%}, 90th percentile {high:.1%}, of {len(errors)} executed plans of at "
                f"least {LONG_ENOUGH_S} s"
            )


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Five brokers in three racks, each with two log directories."""
    require()
    with running(tmp_path_factory.mktemp("kafka") / "cluster", RACKS, release=release()) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers in three racks, whose groups have short heartbeats."""
    require()
    folder = tmp_path_factory.mktemp("kafka") / "groups"
    with running(folder, ("r1", "r2", "r3"), release=release(), **QUICK_HEARTBEATS, **STEADY) as cluster:
        yield cluster


@pytest.fixture
def topics(kafka: Cluster) -> Iterator[Cluster]:
    """The cluster with two topics that have records, which are deleted afterwards."""
    kafka.create_topic("orders", partitions=6, factor=3, min_insync_replicas=2)
    kafka.create_topic("clicks.raw", partitions=4, factor=2)
    kafka.fill("orders", records=3000)
    kafka.fill("clicks.raw", records=2000)
    yield kafka
    uncordon(kafka)
    for name in ("orders", "clicks.raw"):
        kafka.tool("kafka-topics", "--delete", "--topic", name)
