"""Laws of stored reassignments of random small clusters: differences, files, and progress along the batches."""

import csv
import io
from itertools import pairwise
from typing import Any

import httpx
import pyarrow as pa
import pytest

from tests.oracle.changes import planned_cluster
from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.instances import Instance
from tests.oracle.service import Answer

SEEDS = {"remove_broker": (0, 1), "tight_by_bytes": (3, 5), "lower_factor": (1,), "batches": (3,)}


class Stored:
    """An instance whose plan is stored: the lists before and after, and its files."""

    def __init__(self, client: httpx.Client, instance: Instance) -> None:
        self._client, self._instance = client, instance
        self.before = {
            (topic["name"], row["partition"]): tuple(row["replicas"])
            for topic in instance.snapshot["topics"]
            for row in topic["partitions"]
        }
        batches = {"throttle_bytes_per_s": 1000, "max_partitions": 2} | instance.request.get("batches", {})
        body = instance.request | {"snapshot_id": self._store(instance.snapshot), "batches": batches}
        response = client.post("/v1/plans/reassignment", json=body)
        assert response.status_code == 201, response.text
        self.answer: Document = response.json()
        self.path = f"/v1/plans/{self.answer['id']}"
        self.after = self.before | {
            (topic["name"], topic["first_partition_id"] + number): tuple(replicas)
            for topic in self.answer["topics"]
            for number, replicas in enumerate(topic["replicas"])
        }

    @property
    def changed(self) -> Replicas:
        """The lists of partitions that the plan changes."""
        return {key: replicas for key, replicas in self.after.items() if replicas != self.before[key]}

    def get(self, path: str, **params: str | int | bool) -> Any:
        """The JSON of what is below the plan's path."""
        response = self._client.get(f"{self.path}{path}", params=params)
        assert response.status_code == 200, response.text
        return response.json()

    def content(self, name: str) -> bytes:
        """A file of the plan."""
        return self._client.get(f"{self.path}/export", params={"format": name}).content

    def lists(self, name: str, **params: str | int | bool) -> Replicas:
        """The lists in a file for `kafka-reassign-partitions`."""
        return _lists(self.get("/export", format=name, **params))

    def progress(self, now: Replicas) -> Document:
        """The progress once the cluster has these lists."""
        request = self._instance.request
        cluster = planned_cluster(self._instance.snapshot, request, now, Answer(200, self.answer))
        response = self._client.post(f"{self.path}/progress", json={"snapshot_id": self._store(cluster)})
        assert response.status_code == 200, response.text
        found: Document = response.json()
        return found

    def restored(self, found: Document, now: Replicas) -> Replicas:
        """The lists after the rollback that a progress names."""
        return now | ({} if found["rollback"] is None else _lists(self._client.get(found["rollback"]).json()))

    def _store(self, snapshot: Document) -> str:
        response = self._client.post("/v1/snapshots", json=snapshot)
        assert response.is_success, response.text
        snapshot_id: str = response.json()["id"]
        return snapshot_id


def _lists(file: Document) -> Replicas:
    return {(row["topic"], row["partition"]): tuple(row["replicas"]) for row in file["partitions"]}


@pytest.fixture(params=[(kind, seed) for kind, seeds in SEEDS.items() for seed in seeds], ids=str)
def stored(request: pytest.FixtureRequest, client: httpx.Client) -> Stored:
    kind, seed = request.param
    return Stored(client, Instance.of(seed, kind))


def test_a_stored_plan_is_the_answer_and_no_different_from_itself(stored: Stored) -> None:
    assert stored.get("") == stored.answer
    itself = stored.get("/diff", against=stored.answer["id"])
    assert (itself["items"], itself["summary"]["flows"], itself["summary"]["moved_bytes"]) == ([], [], 0)
    listed = {(row["topic"], row["partition"]): tuple(row["replicas"]) for row in stored.get("/partitions")["items"]}
    assert listed == stored.after
    items = stored.get("/diff")["items"]
    assert {(row["topic"], row["partition"]): tuple(row["after"]) for row in items} == stored.changed


def test_files_have_the_lists_of_the_plan(stored: Stored) -> None:
    assert stored.lists("reassignment") == stored.changed
    assert stored.after | stored.lists("rollback") == stored.before
    rows = csv.DictReader(io.StringIO(stored.content("csv").decode()))
    written = {(row["topic"], int(row["partition"])): tuple(map(int, row["after"].split(";"))) for row in rows}
    assert written == stored.changed
    table = pa.ipc.open_stream(stored.content("arrow")).read_all().to_pylist()
    assert {(row["topic"], row["partition"]): tuple(row["after"]) for row in table} == stored.changed


def test_progress_goes_from_nothing_to_all_along_the_batches(stored: Stored) -> None:
    """What is left never grows, and from each state the rollback leads to the lists before the plan."""
    count = len(stored.answer["batches"])
    states = [stored.before]
    for number in range(1, count + 1):
        assert stored.lists("batch", batch=number, inverse=True).items() <= states[-1].items()
        states.append(states[-1] | stored.lists("batch", batch=number))
    assert states[-1] == stored.after
    found = [stored.progress(now) for now in states]
    assert [each["state"] for each in found] == ["not_started", *["in_progress"] * (count - 1), "done"]
    assert [sum(batch["state"] == "done" for batch in each["batches"]) for each in found] == list(range(count + 1))
    assert all(left["bytes_left"] >= less["bytes_left"] for left, less in pairwise(found))
    certificate = stored.answer["certificate"]
    assert [found[at]["bytes_left"] for at in (0, -1)] == [certificate["moved_bytes"], 0]
    assert [found[at]["replicas_left"] for at in (0, -1)] == [certificate["moved_replicas"], 0]
    assert [each["rollback"] is None for each in found] == [True, *[False] * count]
    assert all(stored.restored(each, now) == stored.before for each, now in zip(found, states, strict=True))
