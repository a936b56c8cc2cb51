"""A topic with remote storage moves the bytes that brokers have on their disks, as plans predict."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka import jars
from tests.kafka.cluster import Cluster, running, wait_for
from tests.kafka.conftest import release
from tests.kafka.handing import lists_of, planned, progress, run, snapshot, unpacked
from tests.kafka.vectors import number

pytestmark = [
    pytest.mark.slow,
    pytest.mark.kafka,
    pytest.mark.long,
    pytest.mark.skipif(
        release() not in jars.LOCAL_REMOTE_STORAGE, reason="the release has no storage for tests among its artifacts"
    ),
]

SEGMENT_BYTES, LOCAL_BYTES, UPLOADED_WITHIN_S = 2**20, 2**20, 120
REMOTE: dict[str, Any] = {
    "remote_log_storage_system_enable": "true",
    "remote_log_storage_manager_class_name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
    "remote_log_metadata_manager_listener_name": "PLAINTEXT",
    "rlmm_config_remote_log_metadata_topic_replication_factor": 3,
    "rlmm_config_remote_log_metadata_topic_num_partitions": 2,
    "remote_log_manager_task_interval_ms": 500,
    "log_retention_check_interval_ms": 500,
    "log_segment_delete_delay_ms": 100,
}


@contextmanager
def with_remote_storage(folder: Path, **settings: Any) -> Iterator[Cluster]:
    """Four brokers and a topic of which most bytes are in remote storage."""
    remote = folder / "remote"
    besides = [jars.local_remote_storage(release())]
    racks = ("r1", "r2", "r3", "r4")
    with running(
        folder / "cluster", racks, release=release(), besides=besides, rsm_config_dir=remote, **REMOTE, **settings
    ) as cluster:
        configs: dict[str, Any] = {
            "segment_bytes": SEGMENT_BYTES,
            "local_retention_bytes": LOCAL_BYTES,
            "remote_storage_enable": "true",
        }
        cluster.create_topic("tiered", partitions=3, factor=2, **configs)
        cluster.fill("tiered", records=30_000)
        wait_for(
            lambda: max(sizes(cluster)) <= 2 * LOCAL_BYTES, within_s=UPLOADED_WITHIN_S, what="the upload of segments"
        )
        yield cluster


def sizes(kafka: Cluster) -> list[int]:
    """The bytes on disks of each replica of the topic."""
    text = kafka.tool("kafka-log-dirs", "--describe", "--topic-list", "tiered")
    brokers = json.loads(next(line for line in text.splitlines() if line.startswith("{")))["brokers"]
    return [one["size"] for each in brokers for log_dir in each["logDirs"] for one in log_dir["partitions"]]


@pytest.fixture
def tiered(tmp_path: Path) -> Iterator[Cluster]:
    """Of which new replicas copy all that is on disks."""
    with with_remote_storage(tmp_path) as cluster:
        yield cluster


def test_local_bytes_are_moved(tiered: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    before = tiered.replicas()
    plan = planned(client, snapshot(client, tiered), {"topics": ["tiered"], "remove_brokers": [4]})
    assert "local_bytes_copied" in {warning["code"] for warning in plan["warnings"]}
    folder = unpacked(client, plan, tmp_path / "plan")
    done = run(tiered, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: tiered.replicas()[name] for name in lists_of(client, plan)} == lists_of(client, plan)
    ledger = progress(client, tiered, plan, (folder / "run.log").read_text())["ledger"]
    assert ledger["bytes_error"] <= 0.02, ledger
    assert sum(batch["moved_bytes"] for batch in plan["batches"]) < 30_000_000 / 4
    back = run(tiered, folder, "--rollback")
    assert back.returncode == 0, back.stdout + back.stderr
    assert {name: tiered.replicas()[name] for name in before} == before


@pytest.mark.skipif(number(release()) < (4, 3), reason="followers begin at the last tiered offset since Kafka 4.3")
def test_a_segment_is_moved(client: httpx.Client, tmp_path: Path) -> None:
    """New replicas have no more than the plan says, which is less than what the others have on their disks."""
    with with_remote_storage(tmp_path, follower_fetch_last_tiered_offset_enable="true") as kafka:
        everywhere = sum(sizes(kafka))
        plan = planned(client, snapshot(client, kafka, "--all"), {"topics": ["tiered"], "remove_brokers": [4]})
        assert "local_bytes_not_copied" in {warning["code"] for warning in plan["warnings"]}
        folder = unpacked(client, plan, tmp_path / "plan")
        done = run(kafka, folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert {name: kafka.replicas()[name] for name in lists_of(client, plan)} == lists_of(client, plan)
        ledger = progress(client, kafka, plan, (folder / "run.log").read_text())["ledger"]
        assert 0 < sum(each["actual_bytes"] for each in ledger["batches"]) <= plan["certificate"]["moved_bytes"]
        assert plan["certificate"]["moved_bytes"] <= plan["certificate"]["moved_replicas"] * SEGMENT_BYTES < everywhere
