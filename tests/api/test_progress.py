"""`POST /v1/plans/{id}/progress`, and the files that go on or back from a later snapshot."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.api.reassignment.progress import MOST_LOG_CHARACTERS
from tests.api.contract import UNKNOWN_ID, only_error, problem

Json = dict[str, Any]
TIME = "%Y-%m-%dT%H:%M:%SZ"
BROKERS = [{"id": broker, "rack": "abc"[broker % 3]} for broker in range(1, 8)]
SIZE, THROTTLE = 200_000_000, 20_000_000
LISTS = [[1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 1], [6, 1, 2], [1, 3, 5], [7, 1, 2]]


def _partition(number: int, replicas: list[int], **fields: Any) -> Json:
    return {"partition": number, "replicas": replicas, "leader": replicas[0], "size_bytes": SIZE, **fields}


class Case:
    """A cluster that a plan is executed on, step by step."""

    def __init__(self, client: httpx.Client, name: str, **change: Any) -> None:
        self.client, self.name = client, name
        self.topics: Json = {"orders": dict(enumerate(LISTS)), "other": {0: [1, 2], 1: [2, 3]}}
        self.moving: dict[tuple[str, int], Json] = {}
        self.first = self.store()
        body = {
            "cluster": name,
            "remove_brokers": [1],
            "kafka_version": "4.1",
            "batches": {"max_moves_in_per_broker": 1, "throttle_bytes_per_s": THROTTLE},
            **change,
        }
        response = client.post("/v1/plans/reassignment", json=body)
        assert response.status_code == 201, response.text
        self.plan: Json = response.json()
        self.before = deepcopy(self.topics)

    def store(self, **changed: Any) -> str:
        topics = [
            {
                "name": topic,
                "partitions": [
                    _partition(number, replicas, **self.moving.get((topic, number), {}))
                    for number, replicas in sorted(lists.items())
                ],
            }
            for topic, lists in self.topics.items()
        ]
        body = {"cluster": self.name, "brokers": BROKERS, "topics": topics} | changed
        response = self.client.post("/v1/snapshots", json=body)
        assert response.status_code == 201, response.text
        snapshot_id: str = response.json()["id"]
        return snapshot_id

    def file(self, **params: Any) -> list[Json]:
        response = self.client.get(f"/v1/plans/{self.plan['id']}/export", params=params)
        assert response.status_code == 200, response.text
        partitions: list[Json] = response.json()["partitions"]
        return partitions

    def execute(self, rows: list[Json]) -> None:
        for row in rows:
            self.topics[row["topic"]][row["partition"]] = row["replicas"]

    def begin(self, row: Json) -> None:
        """Kafka has all replicas of both lists until those that are added are in sync."""
        key, after = (row["topic"], row["partition"]), row["replicas"]
        before = self.topics[key[0]][key[1]]
        removing = [broker for broker in before if broker not in after]
        adding = [broker for broker in after if broker not in before]
        self.topics[key[0]][key[1]] = after + removing
        isr = [broker for broker in after + removing if broker not in adding]
        self.moving[key] = {"adding_replicas": adding, "removing_replicas": removing, "isr": isr, "leader": isr[0]}

    def progress(self, snapshot_id: str | None = None) -> Json:
        body = {} if snapshot_id is None else {"snapshot_id": snapshot_id}
        response = self.client.post(f"/v1/plans/{self.plan['id']}/progress", json=body)
        assert response.status_code == 200, response.text
        found: Json = response.json()
        return found


def test_from_the_first_batch_to_the_end(client: httpx.Client) -> None:
    """Each time the file of `next` is executed, until nothing is left."""
    case = Case(client, "to-the-end")
    found = case.progress(case.first)
    assert (found["state"], found["next"], found["rollback"]) == ("not_started", "batch/1", None)
    assert found["replicas_left"] == case.plan["certificate"]["moved_replicas"] > 0
    assert found["bytes_left"] == case.plan["certificate"]["moved_bytes"]
    assert [batch["index"] for batch in found["batches"]] == [*range(1, len(case.plan["batches"]) + 1)]
    while found["next"]:
        number = int(found["next"].removeprefix("batch/"))
        rows = case.client.get(found["next_file"]).json()["partitions"]
        assert rows == case.file(format="batch", batch=number)
        case.execute(rows)
        case.store()
        found = case.progress()
        assert found["batches"][number - 1]["state"] == "done"
    assert (found["state"], found["replicas_left"], found["seconds_left"]) == ("done", 0, 0)
    planned = {row["name"]: dict(enumerate(row["replicas"])) for row in case.plan["topics"]}
    assert case.topics == planned


def test_the_way_back_from_the_middle_of_a_batch(client: httpx.Client) -> None:
    case = Case(client, "way-back", batches={"max_partitions": 2})
    case.execute(case.file(format="batch", batch=1))
    done, going, *_ = case.file(format="batch", batch=2)
    case.execute([done])
    case.begin(going)
    snapshot_id = case.store()
    found = case.progress(snapshot_id)
    assert found["state"] == "in_progress"
    states = [batch["state"] for batch in found["batches"]]
    assert states[:2] == ["done", "in_progress"]
    assert set(states[2:]) <= {"not_started"}
    assert found["batches"][1]["partitions_done"] >= 1
    assert found["batches"][1]["partitions_in_progress"] == 1
    assert [step["batch"] for step in found["rollback_execution"]] == [2, 1]
    assert [warning["code"] for warning in found["warnings"]] == ["reassignment_in_progress"]
    back = client.get(found["rollback"]).json()["partitions"]
    at_once = {(row["topic"], row["partition"]): row["replicas"] for row in back}
    for key, replicas in at_once.items():
        assert case.before[key[0]][key[1]] == replicas
    case.moving.clear()
    case.execute([going])
    after = deepcopy(case.topics)
    for step in found["rollback_execution"]:
        case.execute(case.file(format="batch", batch=step["batch"], inverse=True, **{"from": snapshot_id}))
    assert case.topics == case.before
    for (topic, partition), replicas in at_once.items():
        after[topic][partition] = replicas
    assert after == case.before


def test_what_somebody_else_changed(client: httpx.Client) -> None:
    case = Case(client, "drifted")
    rows = case.file(format="reassignment")
    deleted, moved, reordered = [row["partition"] for row in rows if row["topic"] == "orders"][:3]
    del case.topics["orders"][deleted]
    case.topics["orders"][moved] = [7]  # no list of the plan is of one broker
    case.topics["orders"][reordered] = case.before["orders"][reordered][::-1]
    case.topics["new"] = {0: [3, 4]}
    snapshot_id = case.store()
    found = case.progress(snapshot_id)
    assert found["state"] == "drifted"
    assert {(row["topic"], row["partition"], row["reason"], row["is_planned"]) for row in found["drift"]} == {
        ("orders", deleted, "deleted", True),
        ("orders", moved, "other_replicas", True),
        ("orders", reordered, "other_order", True),
        ("new", 0, "created", False),
    }
    assert (found["drifted_partitions"], found["drifted_other_partitions"]) == (3, 1)
    [row] = [row for row in found["drift"] if row["partition"] == moved and row["topic"] == "orders"]
    assert row["actual"] == case.topics["orders"][moved]
    assert row["planned"] == {(one["topic"], one["partition"]): one["replicas"] for one in rows}["orders", moved]
    for batch in found["batches"]:
        if batch["partitions_left"]:
            left = case.file(format="batch", batch=batch["index"], **{"from": snapshot_id})
            assert not {("orders", deleted), ("orders", moved)} & {(one["topic"], one["partition"]) for one in left}
    back = client.get(found["rollback"]).json()["partitions"]
    assert back == [{"topic": "orders", "partition": reordered, "replicas": case.before["orders"][reordered]}]


def test_a_topic_that_was_created_again_is_another_one(client: httpx.Client) -> None:
    case = Case(client, "recreated")
    topics = [
        {
            "name": topic,
            "topic_id": "qZugq_NJRUyvZZHyC6trPg",
            "partitions": [_partition(number, replicas) for number, replicas in lists.items()],
        }
        for topic, lists in case.topics.items()
        if topic == "orders"
    ]
    first = case.store(topics=topics)
    plan = client.post("/v1/plans/reassignment", json={"snapshot_id": first, "remove_brokers": [1]}).json()
    topics[0]["topic_id"] = "AAAAAAAAAAAAAAAAAAAAAQ"
    body = {"snapshot_id": case.store(topics=topics)}
    found = client.post(f"/v1/plans/{plan['id']}/progress", json=body).json()
    assert {row["reason"] for row in found["drift"]} == {"recreated"}
    assert (found["next"], found["rollback"]) == (None, None)


def test_new_partitions(client: httpx.Client) -> None:
    case = Case(client, "grown", remove_brokers=[], partitions={"other": 4})
    found = case.progress()
    assert (found["state"], found["new_partitions"], found["new_partitions_left"]) == ("not_started", 2, 2)
    [planned] = [topic["replicas"] for topic in case.plan["topics"] if topic["name"] == "other"]
    case.topics["other"][2] = planned[2]
    case.store()
    found = case.progress()
    assert (found["state"], found["new_partitions_left"], found["drift"]) == ("in_progress", 1, [])
    case.topics["other"][3] = planned[3][::-1]
    case.store()
    [drift] = case.progress()["drift"]
    assert (drift["partition"], drift["reason"], drift["is_planned"]) == (3, "other_order", True)
    case.topics["other"][3] = planned[3]
    case.store()
    assert case.progress()["state"] == "done"


def test_brokers_that_are_down(client: httpx.Client) -> None:
    """Broker 1 was removed and shut down: its replicas cannot return."""
    case = Case(client, "down")
    case.execute(case.file(format="reassignment"))
    case.store(brokers=BROKERS[1:])
    found = case.progress()
    assert found["state"] == "done"
    assert [(one["code"], one["brokers"]) for one in found["warnings"]] == [("rollback_brokers_down", [1])]


def _jbod(client: httpx.Client, first: str | None) -> str:
    """Three partitions on brokers 1 and 2; the replicas of broker 1 are in this directory, if it is known."""
    dirs = [{"path": path} for path in ("/a", "/b")]
    known = {} if first is None else {"log_dirs": [first, "/a"]}
    brokers = [{"id": broker, "log_dirs": dirs} for broker in (1, 2, 3)]
    topics = [{"name": "t", "partitions": [_partition(number, [1, 2], **known) for number in range(3)]}]
    response = client.post("/v1/snapshots", json={"cluster": "jbod", "brokers": brokers, "topics": topics})
    snapshot_id: str = response.json()["id"]
    return snapshot_id


def test_moves_between_log_directories(client: httpx.Client) -> None:
    body = {"snapshot_id": _jbod(client, "/a"), "log_dirs": {"drain": {"1": ["/a"]}}}
    plan = client.post("/v1/plans/reassignment", json=body).json()
    path = f"/v1/plans/{plan['id']}/progress"
    for directory, state, codes in (("/a", "not_started", []), (None, "not_started", ["log_dirs_not_compared"])):
        found = client.post(path, json={"snapshot_id": _jbod(client, directory)}).json()
        assert (found["state"], found["next"]) == (state, "batch/1")
        assert (found["rollback"], found["rollback_execution"]) == (None, [])
        assert [warning["code"] for warning in found["warnings"]] == codes
        left = client.get(found["next_file"]).json()["partitions"]
        assert [row["log_dirs"] for row in left] == [["/b", "any"]] * len(left)
    found = client.post(path, json={"snapshot_id": _jbod(client, "/b")}).json()
    assert (found["state"], found["next"]) == ("done", None)
    assert [step["batch"] for step in found["rollback_execution"]] == [1]
    back = client.get(found["rollback"]).json()["partitions"]
    assert [(row["replicas"], row["log_dirs"][0]) for row in back] == [([1, 2], "/a")] * 3


class TestRejected:
    def test_a_snapshot_of_another_cluster(self, client: httpx.Client) -> None:
        case, other = Case(client, "one"), Case(client, "another")
        path = f"/v1/plans/{case.plan['id']}"
        found = problem(
            client.post(f"{path}/progress", json={"snapshot_id": other.first}), 422, "snapshot_of_another_cluster"
        )
        error = only_error(found, "/snapshot_id")
        assert (error["value"], error["limit"]) == ("another", "one")
        found = problem(
            client.get(f"{path}/export", params={"format": "rollback", "from": other.first}),
            422,
            "snapshot_of_another_cluster",
        )
        assert only_error(found, "#query/from")["value"] == "another"

    def test_an_older_snapshot(self, client: httpx.Client) -> None:
        case = Case(client, "older")
        case.topics["orders"][0] = [3, 2, 1]
        body = {"snapshot_id": case.store(), "remove_brokers": [2]}
        plan = client.post("/v1/plans/reassignment", json=body).json()
        response = client.post(f"/v1/plans/{plan['id']}/progress", json={"snapshot_id": case.first})
        error = only_error(problem(response, 422, "snapshot_too_old"), "/snapshot_id")
        assert error["value"] < error["limit"]

    def test_a_plan_of_another_kind(self, client: httpx.Client) -> None:
        case = Case(client, "kinds")
        body = {"snapshot_id": case.first, "topics": [{"name": "t", "partitions": 2, "replication_factor": 2}]}
        plan = client.post("/v1/plans/replicas", json=body).json()
        path = f"/v1/plans/{plan['id']}"
        found = problem(client.post(f"{path}/progress", json={"snapshot_id": case.first}), 422, "no_progress")
        assert found["value"] == "replicas"
        problem(client.get(f"{path}/export", params={"from": case.first}), 422, "conflicting_fields")

    def test_ids_of_nothing(self, client: httpx.Client) -> None:
        case = Case(client, "nothing")
        path = f"/v1/plans/{case.plan['id']}"
        problem(client.post(f"/v1/plans/{UNKNOWN_ID}/progress", json={"cluster": "nothing"}), 404, "plan_not_found")
        for body in ({"snapshot_id": UNKNOWN_ID}, {"cluster": "no-such"}):
            problem(client.post(f"{path}/progress", json=body), 404, "snapshot_not_found")
        request = {"brokers": [{"id": 1}], "topics": [{"name": "t", "partitions": 1, "replication_factor": 1}]}
        without = client.post("/v1/plans/replicas", json=request).json()["id"]
        answer = client.post(f"/v1/plans/{without}/progress", json={})
        only_error(problem(answer, 422, "conflicting_fields"), "/snapshot_id")
        problem(client.get(f"{path}/export?format=rollback&from={UNKNOWN_ID}"), 404, "snapshot_not_found")

    @pytest.mark.parametrize(
        ("query", "code", "pointer"),
        [
            ("format=csv", "conflicting_fields", "#query/from"),
            ("format=batch", "conflicting_fields", "#query/batch"),
            ("format=rollback&batch=1", "conflicting_fields", "#query/batch"),
            ("format=rollback&topic=orders", "conflicting_fields", "#query/topic"),
            ("format=batch&batch=99", "not_exportable", None),
            ("format=rollback", "not_exportable", None),
            ("format=batch&batch=1&inverse=true", "not_exportable", None),
        ],
    )
    def test_files_that_there_are_not(self, client: httpx.Client, query: str, code: str, pointer: str | None) -> None:
        case = Case(client, "files")
        response = client.get(f"/v1/plans/{case.plan['id']}/export?{query}&from={case.first}")
        found = problem(response, 422, code)
        if pointer:
            only_error(found, pointer)


def test_what_has_no_replica_to_copy_from_has_no_time(client: httpx.Client) -> None:
    """Brokers 1 and 2 die after the plan: nothing can be copied to `other-0`, and all else takes its time."""
    case = Case(client, "no-source", batches={"max_partitions": 1, "throttle_bytes_per_s": THROTTLE})
    snapshot_id = case.store(brokers=[broker | {"fenced": broker["id"] in {1, 2}} for broker in BROKERS])
    found = case.progress(snapshot_id)
    of_batch = {
        (its["topic"], its["partition"]): left["seconds_left"]
        for planned, left in zip(case.plan["batches"], found["batches"], strict=True)
        for its in planned["partitions"]
        if planned["moves_data"]
    }
    assert {key for key, seconds in of_batch.items() if seconds is None} == {("other", 0)}
    assert found["seconds_left"] is None
    details = [warning["detail"] for warning in found["warnings"] if warning["code"] == "no_in_sync_replica"]
    assert [("other-0" in detail, "1 partition" in detail) for detail in details] == [(True, True)]


def log_of(case: Case, share: float, *, seconds: float = 1.0, throttle: int = THROTTLE, pause_s: int = 11) -> str:
    """A log of all batches: each has copied `share` of its bytes, and took `seconds` times the prediction."""
    now = datetime(2026, 11, 26, tzinfo=UTC)
    lines = [f"{now:{TIME}} plan {case.plan['hash']}"]
    for number, batch in enumerate(case.plan["batches"], start=1):
        file = f"{number:02d}-execute.json"
        lines += [f"{now:{TIME}} throttled {file} {throttle} bytes/s", f"{now:{TIME}} begun {file}"]
        now += timedelta(seconds=round(batch["seconds"] * seconds))
        lines.append(f"{now:{TIME}} complete {file} {round(batch['moved_bytes'] * share)} bytes 0 s")
        now += timedelta(seconds=pause_s)
    return "\n".join([*lines, f"{now:{TIME}} finished execute", ""])


def done(client: httpx.Client, name: str) -> Case:
    """A plan that is executed."""
    case = Case(client, name)
    case.execute(case.file(format="reassignment"))
    case.store()
    return case


def recorded(case: Case, log: str) -> Json:
    response = case.client.post(f"/v1/plans/{case.plan['id']}/progress", json={"cluster": case.name, "log": log})
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def test_the_log_of_an_execution_is_recorded(client: httpx.Client) -> None:
    """The same log twice is one entry, of which the ETag of the plan says nothing new."""
    case = done(client, "recorded")
    address = f"/v1/plans/{case.plan['id']}"
    before = client.get(address)
    assert (case.progress()["ledger"], "ledger" in before.json()) == (None, False)
    entry = recorded(case, log_of(case, 1.01, seconds=1.1))["ledger"]
    assert entry["bytes_error"] == pytest.approx(0.01)
    predicted, actual = (
        sum(batch[f"{what}_seconds"] for batch in entry["batches"]) for what in ("predicted", "actual")
    )
    assert entry["seconds_error"] == pytest.approx(abs(actual - predicted) / predicted, abs=1e-6)
    assert [batch["index"] for batch in entry["batches"]] == [*range(1, len(case.plan["batches"]) + 1)]
    first, planned = entry["batches"][0], case.plan["batches"][0]
    assert first["predicted_bytes"] == planned["moved_bytes"]
    assert first["predicted_seconds"] == pytest.approx(planned["seconds"], abs=1.3)
    assert (first["actual_bytes"], first["actual_seconds"]) == (planned["moved_bytes"] * 1.01, planned["seconds"] * 1.1)
    after = client.get(address)
    assert after.json() == before.json() | {"ledger": entry}
    assert after.headers["ETag"] != before.headers["ETag"]
    assert recorded(case, log_of(case, 1.01, seconds=1.1))["ledger"] == entry
    assert client.get(address).headers["ETag"] == after.headers["ETag"]
    assert case.progress()["ledger"] == entry
    summary = client.get("/v1/ledger", params={"cluster": "recorded"}).json()
    errors = {"bytes_error": entry["bytes_error"], "seconds_error": entry["seconds_error"]}
    plan = {"id": case.plan["id"], "title": case.plan["title"], "cluster": "recorded", **errors}
    assert summary["plans"] == [plan]
    assert summary["count"] == 1
    assert summary["bytes_error"] == {"median": entry["bytes_error"], "p90": entry["bytes_error"]}
    again = recorded(case, log_of(case, 0.98, throttle=2 * THROTTLE))["ledger"]
    assert (again["bytes_error"], again["seconds_error"]) == (pytest.approx(0.02), None), "at another throttle"
    assert client.get("/v1/ledger", params={"cluster": "recorded"}).json()["count"] == 1
    assert client.delete(address).status_code == 204
    assert client.get("/v1/ledger", params={"cluster": "recorded"}).json()["count"] == 0


def test_a_batch_soon_after_another_is_predicted_with_its_credit(client: httpx.Client) -> None:
    """The first three copy to the same broker, the third one from another leader, which has the credit of a window.

    The fourth copies to another broker, which has none. The looks of a fetcher, and the end of a batch, add a second.
    """
    case = done(client, "credited")
    assert [batch["seconds"] for batch in case.plan["batches"]] == [10] * 4
    entry = recorded(case, log_of(case, 1.0, pause_s=4))["ledger"]
    assert [batch["predicted_seconds"] for batch in entry["batches"]] == pytest.approx([10, 6, 6, 10], abs=1.3)


def test_a_log_of_a_plan_that_is_not_done_is_not_recorded(client: httpx.Client) -> None:
    case = Case(client, "not-recorded")
    found = recorded(case, log_of(case, 1.0))
    assert (found["state"], found["ledger"]) == ("not_started", None)
    assert [warning["code"] for warning in found["warnings"]] == ["log_not_recorded"]
    case = done(client, "without-batches")
    found = recorded(case, f"2026-11-26T10:00:00Z plan {case.plan['hash']}")
    assert [warning["code"] for warning in found["warnings"]] == ["log_not_recorded"]


def test_a_log_that_cannot_be_read_is_a_problem(client: httpx.Client) -> None:
    case = done(client, "unreadable")
    log = log_of(case, 1.0)
    for text, code in ((log.replace(case.plan["hash"], "0" * 64), "log_of_another_plan"), (log[:-3], "malformed_text")):
        body = {"cluster": case.name, "log": text}
        refused = problem(client.post(f"/v1/plans/{case.plan['id']}/progress", json=body), 422, code)
        assert only_error(refused, "/log")
    too_long = {"cluster": case.name, "log": "x" * (MOST_LOG_CHARACTERS + 1)}
    refused = problem(client.post(f"/v1/plans/{case.plan['id']}/progress", json=too_long), 422, "validation")
    assert only_error(refused, "/log")
    assert case.progress()["ledger"] is None
