"""`POST /v1/plans/replicas`: the placement of new topics, and its explanation."""

import random
from typing import Any

import httpx
import orjson
import pytest

from app.api.examples import EXAMPLE_PLAN_ID, PLACE, SNAPSHOT, STORED_PLAN
from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic
from app.core.replicas.registry import PLACEMENTS, place_topics
from app.store.database import Database
from tests.api.conftest import RunService, Serve
from tests.api.contract import (
    SNAPSHOT_ID,
    UNKNOWN_ID,
    brokers,
    is_utc,
    is_uuid7,
    only_error,
    place,
    problem,
    topic,
)

INT32_MAX = 2**31 - 1
RANDOM = [name for name, algorithm in PLACEMENTS.items() if algorithm.envelope is not None]
"""Random choices of controllers; the others are not Kafka's."""
PLAN_FIELDS = [
    "id",
    "kind",
    "title",
    "summary",
    "status",
    "hash",
    "engine_version",
    "created_at",
    "cluster",
    "snapshot_id",
    "labels",
    "prediction",
    "seed",
    "notes",
    "history",
    "topics",
    "envelope",
    "measures",
    "violations",
    "warnings",
    "kafka",
    "request",
]


def _reordered(value: Any, rng: random.Random) -> Any:
    """The same JSON with the members of every object in another order."""
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: _reordered(value[name], rng) for name in names}
    return [_reordered(item, rng) for item in value] if isinstance(value, list) else value


class TestPlan:
    """Properties of a plan."""

    def test_every_field_of_the_contract(self, client: httpx.Client) -> None:
        response = place(client, topic("orders-v2", 12), algorithm="striped", seed=42, labels={"team": "a"})
        assert response.status_code == 201
        plan = response.json()
        assert list(plan) == PLAN_FIELDS
        assert is_uuid7(plan["id"])
        assert is_utc(plan["created_at"])
        assert response.headers["location"] == f"/v1/plans/{plan['id']}"
        said = {name: plan[name] for name in ("kind", "cluster", "snapshot_id", "labels", "prediction", "seed")}
        assert said == {
            "kind": "replicas",
            "cluster": "example",
            "snapshot_id": SNAPSHOT_ID,
            "labels": {"team": "a"},
            "prediction": "replay",
            "seed": 42,
        }
        (placed,) = plan["topics"]
        assert (placed["name"], placed["first_partition_id"]) == ("orders-v2", 0)
        assert [len(row) for row in placed["replicas"]] == [3] * 12
        assert (plan["violations"], plan["warnings"], plan["envelope"]) == ([], [], None)
        assert plan["measures"]["rack_safe_share"] == 1.0
        assert plan["measures"]["partitions"] == 12
        assert client.get(response.headers["location"]).content == response.content

    @pytest.mark.parametrize("algorithm", list(PLACEMENTS))
    def test_it_is_what_the_core_answers(self, client: httpx.Client, algorithm: str) -> None:
        """The contract's plan is the core's placement: nothing is lost or rearranged on the way."""
        listed = brokers(6, 3)
        topics = [topic("a", 7), topic("b", 30, 2, start_partition_id=4)]
        plan = place(client, *topics, brokers=listed, algorithm=algorithm, seed=-7).json()
        placed = place_topics(
            PLACEMENTS[algorithm],
            [Broker(**broker) for broker in listed],
            [NewTopic(**each) for each in topics],
            random=JavaRandom(-7),
        )
        assert plan["topics"] == [
            {"name": p.topic, "first_partition_id": p.first_partition_id, "replicas": p.replicas.tolist()}
            for p in placed
        ]

    def test_topics_and_labels_come_back_as_requested(self, client: httpx.Client) -> None:
        plan = place(client, topic("z"), topic("a"), topic("m"), seed=1, labels={"z": "1", "a": "2"}).json()
        assert [placed["name"] for placed in plan["topics"]] == ["z", "a", "m"]
        assert plan["labels"] == {"a": "2", "z": "1"}

    def test_the_request_is_in_the_plan_with_nothing_left_to_guess(self, client: httpx.Client) -> None:
        request = place(client, brokers=brokers(3, 3), seed=1).json()["request"]
        assert request["brokers"] == [
            {"id": i + 1, "rack": f"r{i}", "fenced": False, "capacity": None} for i in range(3)
        ]
        assert (request["algorithm"], request["rack_mode"], request["seed"]) == ("striped", None, 1)
        assert request["algorithm_assumed"] is True
        assert request["topics"] == [topic() | {"start_partition_id": 0}]

    def test_the_algorithms_are_the_registrys(self, client: httpx.Client) -> None:
        schema = client.get("/openapi.json").json()["components"]["schemas"]["PlaceRequest"]
        assert schema["properties"]["algorithm"]["anyOf"][0]["enum"] == list(PLACEMENTS)
        for name in PLACEMENTS:
            assert place(client, algorithm=name, seed=3).json()["request"]["algorithm"] == name


class TestDefaultAlgorithm:
    """A request without `algorithm` gets the one of the cluster's controller."""

    @pytest.mark.parametrize(
        ("cluster", "fields", "algorithm", "warnings"),
        [
            ({"controller": "kraft"}, {}, "striped", set()),
            ({"controller": "zookeeper"}, {}, "admin_utils", set()),
            ({"controller": "zookeeper", "kafka_version": "3.9"}, {}, "admin_utils", set()),
            ({"kafka_version": "4.2"}, {}, "striped", set()),
            ({"kafka_version": "2.8"}, {}, "admin_utils", set()),
            ({"kafka_version": "3.9"}, {}, "striped", {"algorithm_assumed"}),
            ({}, {}, "striped", {"algorithm_assumed"}),
            ({}, {"kafka_version": "4.2"}, "striped", set()),
            ({"controller": "zookeeper"}, {"kafka_version": "4.2"}, "striped", set()),
            ({}, {"fixed_start_index": 0}, "admin_utils", set()),
            ({}, {"algorithm": "admin_utils"}, "admin_utils", set()),
            ({}, {"algorithm": "striped"}, "striped", set()),
            ({"controller": "kraft"}, {"algorithm": "admin_utils"}, "admin_utils", {"algorithm_not_in_version"}),
            ({}, {"algorithm": "admin_utils", "kafka_version": "4.2"}, "admin_utils", {"algorithm_not_in_version"}),
        ],
    )
    def test_of_the_controller(
        self, client: httpx.Client, cluster: dict[str, str], fields: dict[str, Any], algorithm: str, warnings: set[str]
    ) -> None:
        snapshot = client.post(
            "/v1/snapshots", json={"cluster": "of a controller", "brokers": brokers(3, 3), **cluster}
        )
        assert snapshot.status_code == 201, snapshot.text
        response = place(client, snapshot_id=snapshot.json()["id"], **fields)
        assert response.status_code == 201, response.text
        plan = response.json()
        assert plan["request"]["algorithm"] == algorithm
        about = {warning["code"] for warning in plan["warnings"] if warning["code"].startswith("algorithm_")}
        assert about == warnings

    def test_a_stated_default_is_the_same_plan(self, client: httpx.Client) -> None:
        """Unless it is assumed, of which a plan of the stated algorithm has no warning."""
        body = {"cluster": "stated", "brokers": brokers(3, 3), "controller": "kraft"}
        known = client.post("/v1/snapshots", json=body).json()["id"]
        assert place(client, snapshot_id=known).content == place(client, snapshot_id=known, algorithm="striped").content
        listed = place(client, brokers=brokers(3, 3)), place(client, brokers=brokers(3, 3), algorithm="striped")
        assert listed[0].json()["hash"] != listed[1].json()["hash"]


class TestSameBytes:
    """The same request gets the same bytes."""

    def test_twice(self, client: httpx.Client) -> None:
        body = {"snapshot_id": SNAPSHOT_ID, "topics": [topic(), topic("u")], "labels": {"b": "1", "a": "2"}}
        first = client.post("/v1/plans/replicas", json=body)
        rng = random.Random(5)
        for _ in range(5):
            again = client.post("/v1/plans/replicas", json=_reordered(body, rng))
            assert (again.status_code, again.content) == (201, first.content)
        assert len(client.get("/v1/plans", params={"kind": "replicas"}).json()["items"]) == 2, (
            "the example's plan and this one"
        )

    def test_what_is_the_default_may_be_said(self, client: httpx.Client) -> None:
        said: dict[str, Any] = {
            "algorithm": None,
            "rack_mode": None,
            "fixed_start_index": None,
            "labels": {},
        }
        one = place(client, topic(), seed=1)
        other = place(client, topic(start_partition_id=0), seed=1, brokers=None, **said)
        assert one.content == other.content

    def test_the_generated_seed_is_that_of_the_request(self, client: httpx.Client) -> None:
        """Deleted and requested again, it is another plan by its id and the same one by all the rest."""
        first = place(client).json()
        assert client.delete(f"/v1/plans/{first['id']}").status_code == 204
        second = place(client).json()
        assert first["id"] != second["id"]
        assert _without_identity(first) == _without_identity(second)

    @pytest.mark.parametrize(
        "changed",
        [
            {"seed": 2},
            {"labels": {"a": "b"}},
            {"algorithm": "striped"},
            {"rack_mode": "safe"},
            {"fixed_start_index": 0},
        ],
    )
    def test_another_request_is_another_plan(self, client: httpx.Client, changed: dict[str, Any]) -> None:
        one = place(client, seed=1).json()
        other = place(client, **{"seed": 1} | changed).json()
        assert one["id"] != other["id"]
        assert one["hash"] != other["hash"]

    def test_the_order_of_listed_brokers_counts(self, client: httpx.Client) -> None:
        """Without racks AdminUtils goes by the caller's order, so that it is part of the request."""
        listed = brokers(4, 0)
        one = place(client, brokers=listed, fixed_start_index=0).json()
        other = place(client, brokers=listed[::-1], fixed_start_index=0).json()
        assert one["hash"] != other["hash"]
        assert one["topics"] != other["topics"]

    @pytest.mark.long
    def test_in_another_process(self, client: httpx.Client, scratch: Database, run_service: RunService) -> None:
        """Neither the process nor the order of its hash tables shows in an answer: this one's order is random."""
        bodies = [
            {"brokers": brokers(9, 3), "algorithm": algorithm, "topics": [topic(f"t{i}", 20) for i in range(5)]}
            for algorithm in PLACEMENTS
        ]
        here = [_same_bytes(client.post("/v1/plans/replicas", json=body)) for body in bodies]
        with run_service(scratch, PYTHONHASHSEED="2") as service:
            there = [_same_bytes(service.client.post("/v1/plans/replicas", json=body)) for body in bodies]
        assert here == there


def _without_identity(plan: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plan.items() if name not in ("id", "created_at")}


def _same_bytes(response: httpx.Response) -> bytes:
    """The answer without the plan's id and time, which differ between any two."""
    assert response.status_code == 201
    content, plan = response.content, response.json()
    for name in ("id", "created_at"):
        content = content.replace(orjson.dumps(plan[name]), b"-")
    return content


class TestPrediction:
    """A prediction is a replay, an envelope or pinned; a plan says which."""

    def test_replay(self, client: httpx.Client) -> None:
        plan = place(client, seed=7).json()
        assert (plan["prediction"], plan["seed"], plan["envelope"]) == ("replay", 7, None)

    @pytest.mark.parametrize("algorithm", RANDOM)
    def test_a_generated_seed_is_returned_and_replays(self, client: httpx.Client, algorithm: str) -> None:
        generated = place(client, algorithm=algorithm).json()
        assert generated["prediction"] == "envelope"
        assert isinstance(generated["seed"], int)
        replayed = place(client, algorithm=algorithm, seed=generated["seed"]).json()
        assert replayed["prediction"] == "replay"
        assert replayed["topics"] == generated["topics"]
        assert replayed["measures"] == generated["measures"]

    @pytest.mark.parametrize("algorithm", RANDOM)
    def test_every_replay_is_within_the_envelope(self, client: httpx.Client, algorithm: str) -> None:
        (envelope,) = place(client, topic(partitions=5), algorithm=algorithm).json()["envelope"]
        assert envelope["topic"] == "t"
        assert envelope["method"] in {"enumerated", "bounded_and_sampled"}
        for seed in range(20):
            measures = place(client, topic(partitions=5), algorithm=algorithm, seed=seed).json()["measures"]
            for role in ("leaders", "replicas"):
                share = envelope[role]
                assert share["guaranteed_spread"] <= measures[role]["spread"] <= share["worst_case_spread"]
                for broker, count in measures[role]["per_broker"].items():
                    assert share["per_broker"][broker]["lowest"] <= count <= share["per_broker"][broker]["highest"]

    def test_pinned(self, client: httpx.Client) -> None:
        """Nothing is random, and so the answer is KIP-36's own worked example."""
        listed = [
            {"id": i, "rack": rack} for i, rack in enumerate(["rack1", "rack3", "rack3", "rack2", "rack2", "rack1"])
        ]
        plan = place(client, topic(partitions=6), brokers=listed, fixed_start_index=0).json()
        assert (plan["prediction"], plan["seed"], plan["envelope"]) == ("pinned", None, None)
        assert plan["topics"][0]["replicas"] == [[0, 3, 1], [3, 1, 5], [1, 5, 4], [5, 4, 2], [4, 2, 0], [2, 0, 3]]


class TestRackModes:
    """KIP-36's three modes."""

    PARTIAL = (*brokers(4, 2), {"id": 5}, {"id": 6})

    def test_enforced_rejects_and_names_the_brokers(self, client: httpx.Client) -> None:
        for mode in ({"algorithm": "admin_utils"}, {"rack_mode": "enforced"}):
            found = problem(place(client, brokers=list(self.PARTIAL), **mode), 422, "brokers_without_rack")
            assert only_error(found, "/brokers")["brokers"] == [5, 6]
            assert "5, 6" in found["detail"]

    def test_enforced_takes_none_at_all(self, client: httpx.Client) -> None:
        plan = place(client, brokers=brokers(4, 0)).json()
        assert plan["measures"]["rack_safe_share"] is None

    def test_safe_falls_back_and_says_so(self, client: httpx.Client) -> None:
        plan = place(client, brokers=list(self.PARTIAL), rack_mode="safe", fixed_start_index=0).json()
        warning = next(warning for warning in plan["warnings"] if warning["code"] == "racks_ignored")
        assert warning["brokers"] == [5, 6]
        ignored = place(client, brokers=list(self.PARTIAL), rack_mode="disabled", fixed_start_index=0).json()
        assert ignored["topics"] == plan["topics"]

    def test_disabled_is_measured_against_the_racks_all_the_same(self, client: httpx.Client) -> None:
        listed = [{"id": i, "rack": "a" if i < 4 else "b"} for i in range(6)]
        plan = place(client, topic(replication_factor=2), brokers=listed, rack_mode="disabled", seed=1).json()
        assert plan["measures"]["rack_safe_share"] < 1
        (violation,) = plan["violations"]
        assert (violation["code"], violation["severity"]) == ("too_few_racks", "fragile")
        assert violation["count"] == len(violation["partitions"])

    def test_fenced_brokers(self, client: httpx.Client) -> None:
        listed = brokers(4, 2)
        listed[3]["fenced"] = True
        plan = place(client, brokers=listed, algorithm="admin_utils", seed=1).json()
        left_out = next(warning for warning in plan["warnings"] if warning["code"] == "fenced_brokers_left_out")
        assert left_out["brokers"] == [4]
        assert plan["measures"]["replicas"]["per_broker"]["4"] == 0


class TestBadInput:
    """Each rejected with a problem of its own."""

    @pytest.mark.parametrize("factor", [0, -1, -(2**31)])
    @pytest.mark.parametrize("algorithm", list(PLACEMENTS))
    def test_factor_not_positive(self, client: httpx.Client, factor: int, algorithm: str) -> None:
        response = place(client, topic(replication_factor=factor), algorithm=algorithm)
        found = problem(response, 422, "invalid_replication_factor")
        assert only_error(found, "/topics/0/replication_factor")["value"] == factor

    @pytest.mark.parametrize("algorithm", list(PLACEMENTS))
    def test_factor_above_the_brokers(self, client: httpx.Client, algorithm: str) -> None:
        response = place(client, topic("a"), topic("b", 1, 7), algorithm=algorithm)
        error = only_error(problem(response, 422, "invalid_replication_factor"), "/topics/1/replication_factor")
        assert error["value"] == 7
        assert "7" in error["detail"]
        assert "6" in error["detail"]

    @pytest.mark.parametrize("partitions", [0, -1])
    @pytest.mark.parametrize("algorithm", list(PLACEMENTS))
    def test_partitions_not_positive(self, client: httpx.Client, partitions: int, algorithm: str) -> None:
        found = problem(place(client, topic(partitions=partitions), algorithm=algorithm), 422, "invalid_partitions")
        assert only_error(found, "/topics/0/partitions")["value"] == partitions

    def test_a_broker_twice(self, client: httpx.Client) -> None:
        listed = [*brokers(3, 3), {"id": 2, "rack": "elsewhere"}]
        found = problem(place(client, brokers=listed), 422, "duplicate_broker")
        assert only_error(found, "/brokers/3/id")["value"] == 2

    def test_a_topic_twice(self, client: httpx.Client) -> None:
        found = problem(place(client, topic("a"), topic("b"), topic("a")), 422, "duplicate_topic")
        assert only_error(found, "/topics/2/name")["value"] == "a"

    def test_an_unknown_snapshot(self, client: httpx.Client) -> None:
        found = problem(place(client, snapshot_id=UNKNOWN_ID), 404, "snapshot_not_found")
        assert found["snapshot_id"] == UNKNOWN_ID
        only_error(found, "/snapshot_id")

    def test_neither_or_both_of_snapshot_and_brokers(self, client: httpx.Client) -> None:
        for fields in ({"snapshot_id": None}, {"snapshot_id": SNAPSHOT_ID, "brokers": brokers(3, 3)}):
            only_error(problem(place(client, **fields), 422, "conflicting_fields"), "/snapshot_id")

    @pytest.mark.parametrize("start", [INT32_MAX, INT32_MAX - 1])
    def test_an_overflowing_start_index(self, client: httpx.Client, start: int) -> None:
        """Kafka adds to it in 32 bits and fails; so does the plan."""
        found = problem(place(client, fixed_start_index=start), 422, "arithmetic_overflow")
        assert str(start) in found["detail"]

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"fixed_start_index": 2**31}, "/fixed_start_index"),
            ({"fixed_start_index": -1}, "/fixed_start_index"),
            ({"seed": 2**63}, "/seed"),
            ({"seed": 1.5}, "/seed"),
            ({"seed": "1"}, "/seed"),
            ({"snapshot_id": "7"}, "/snapshot_id"),
            ({"snapshot_id": 7}, "/snapshot_id"),
            ({"algorithm": "random"}, "/algorithm"),
            ({"rack_mode": "strict"}, "/rack_mode"),
            ({"labels": {"a": 1}}, "/labels/a"),
            ({"labels": {str(i): "" for i in range(65)}}, "/labels"),
            ({"factor": 3}, "/factor"),
            ({"topics": []}, "/topics"),
            ({"topics": "t"}, "/topics"),
            ({"topics": [topic(partitions=2**31)]}, "/topics/0/partitions"),
            ({"topics": [topic(replication_factor=2**31)]}, "/topics/0/replication_factor"),
            ({"topics": [topic(start_partition_id=-1)]}, "/topics/0/start_partition_id"),
            ({"topics": [topic(partitions=True)]}, "/topics/0/partitions"),
            ({"topics": [topic(name="a/b")]}, "/topics/0/name"),
            ({"topics": [topic(name=".")]}, "/topics/0/name"),
            ({"topics": [topic(name="t" * 250)]}, "/topics/0/name"),
            ({"brokers": [{"id": 2**31}], "snapshot_id": None}, "/brokers/0/id"),
            ({"brokers": [], "snapshot_id": None}, "/brokers"),
        ],
    )
    def test_fields(self, client: httpx.Client, fields: dict[str, Any], pointer: str) -> None:
        body = {"snapshot_id": SNAPSHOT_ID, "topics": [topic()]} | fields
        only_error(problem(client.post("/v1/plans/replicas", json=body), 422, "validation"), pointer)

    def test_partition_ids_past_32_bits(self, client: httpx.Client) -> None:
        found = problem(place(client, topic(partitions=2, start_partition_id=INT32_MAX)), 422, "invalid_partitions")
        error = only_error(found, "/topics/0/start_partition_id")
        assert (error["value"], error["maximum"]) == (INT32_MAX, INT32_MAX - 1)

    def test_the_first_fault_is_kafkas_first(self, client: httpx.Client) -> None:
        """AdminUtils looks at the partitions, then at the factor, and at last at the racks."""
        partial = [*brokers(2, 2), {"id": 3}]
        impossible = topic(partitions=0, replication_factor=9)
        by = {"brokers": partial, "algorithm": "admin_utils"}
        problem(place(client, impossible, **by), 422, "invalid_partitions")
        problem(place(client, topic(replication_factor=9), **by), 422, "invalid_replication_factor")
        problem(place(client, topic(replication_factor=1), **by), 422, "brokers_without_rack")


class TestLimits:
    """Limits are settings; the problem names the one that is exceeded."""

    def test_beyond_the_synchronous_size_the_way_is_named(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch, max_sync_partitions=12)
        assert place(client, topic(partitions=12)).status_code == 201
        found = problem(place(client, topic("a", 6), topic("b", 7)), 413, "limit_exceeded")
        error = only_error(found, "/topics")
        assert (error["value"], error["limit"], error["limit_name"]) == (13, 12, "max_sync_partitions")
        assert "Prefer: respond-async" in found["detail"]
        body = {"snapshot_id": SNAPSHOT_ID, "topics": [topic(partitions=13)]}
        assert client.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"}).status_code == 202

    @pytest.mark.parametrize(
        ("limit_name", "topics", "limit"),
        [
            ("max_partitions", [topic("a", 12), topic("b", 1)], 12),
            ("max_replicas", [topic("a", 12), topic("b", 1, 1)], 36),
            ("max_topics", [topic(str(i), 1) for i in range(9)], 8),
        ],
    )
    def test_limits_that_a_job_has_too(
        self, scratch: Database, serve: Serve, limit_name: str, topics: list[dict[str, Any]], limit: int
    ) -> None:
        client = serve(scratch, **{limit_name: limit})
        for headers in ({}, {"Prefer": "respond-async"}):
            body = {"brokers": brokers(3, 3), "topics": topics}
            response = client.post("/v1/plans/replicas", json=body, headers=headers)
            error = only_error(problem(response, 413, "limit_exceeded"), "/topics")
            assert (error["value"], error["limit"], error["limit_name"]) == (limit + 1, limit, limit_name)

    def test_brokers(self, scratch: Database, serve: Serve) -> None:
        error = only_error(
            problem(place(serve(scratch, max_brokers=6), brokers=brokers(7, 0)), 413, "limit_exceeded"), "/brokers"
        )
        assert (error["value"], error["limit"]) == (7, 6)

    @pytest.mark.long
    def test_they_are_in_the_document(self, scratch: Database, serve: Serve) -> None:
        info = serve(scratch, max_brokers=4321).get("/openapi.json").json()["info"]
        assert info["x-limits"]["max_brokers"] == 4321
        assert "`max_brokers`: 4,321" in info["description"]


class TestIfMatch:
    """`If-Match` with a snapshot's hash: 412 when the cluster has changed since."""

    @staticmethod
    def _place(client: httpx.Client, etag: str, **headers: str) -> httpx.Response:
        return client.post("/v1/plans/replicas", json=PLACE, headers={"If-Match": etag, **headers})

    @pytest.mark.parametrize("headers", [{}, {"Prefer": "respond-async"}])
    def test_changed_and_back_again(self, client: httpx.Client, headers: dict[str, str]) -> None:
        etag = client.get(f"/v1/snapshots/{SNAPSHOT_ID}").headers["etag"]
        assert self._place(client, etag, **headers).status_code in {201, 202}
        changed = client.post("/v1/snapshots", json=SNAPSHOT | {"topics": []})
        found = problem(self._place(client, etag, **headers), 412, "snapshot_changed")
        assert (found["cluster"], found["content_hash"]) == ("example", changed.json()["content_hash"])
        both = f"{etag}, {changed.headers['etag']}"
        assert self._place(client, both, **headers).status_code in {201, 202}
        assert client.post("/v1/snapshots", json=SNAPSHOT).json()["id"] == SNAPSHOT_ID
        assert self._place(client, etag, **headers).status_code in {201, 202}

    def test_any(self, client: httpx.Client) -> None:
        assert self._place(client, "*").status_code == 201

    def test_another_cluster_does_not_count(self, client: httpx.Client) -> None:
        etag = client.get(f"/v1/snapshots/{SNAPSHOT_ID}").headers["etag"]
        client.post("/v1/snapshots", json=SNAPSHOT | {"cluster": "other"})
        assert self._place(client, etag).status_code == 201


class TestRespondAsync:
    """`Prefer: respond-async` makes a job of it."""

    @pytest.mark.parametrize(
        ("prefer", "applied"),
        [
            ("respond-async", "respond-async"),
            ("respond-async, wait=1", "respond-async, wait=1"),
            ("wait=1,Respond-Async", "respond-async, wait=1"),
        ],
    )
    def test_accepted(self, client: httpx.Client, prefer: str, applied: str) -> None:
        response = client.post("/v1/plans/replicas", json=PLACE, headers={"Prefer": prefer})
        assert response.status_code == 202
        job = response.json()
        assert response.headers["location"] == f"/v1/jobs/{job['id']}"
        assert int(response.headers["retry-after"]) >= 1
        assert response.headers["preference-applied"] == applied
        assert (job["kind"], job["state"], job["plan"], job["error"]) == ("replicas", "queued", None, None)
        assert is_uuid7(job["id"])

    @pytest.mark.parametrize("prefer", ["wait=10", "return=minimal", "respond-asynchronously", ""])
    def test_other_preferences_are_let_pass(self, client: httpx.Client, prefer: str) -> None:
        response = client.post("/v1/plans/replicas", json=STORED_PLAN, headers={"Prefer": prefer})
        assert (response.status_code, response.json()["id"]) == (201, str(EXAMPLE_PLAN_ID))

    def test_what_can_be_known_at_once_is_said_at_once(self, client: httpx.Client) -> None:
        body = {"brokers": [{"id": 1}, {"id": 1}], "topics": [topic()]}
        response = client.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"})
        problem(response, 422, "duplicate_broker")


OF_4_0: dict[str, Any] = {"seed": 1, "kafka_version": "4.0"}
"""The last release that has the default algorithm."""


class TestWarnings:
    """Warnings beside an answer."""

    @pytest.mark.parametrize(
        ("names", "colliding"),
        [(["or.ders_2", "or_ders.2"], ["or_ders.2"]), (["orders", "or_ders"], []), (["a.b"], []), (["a.b", "a_c"], [])],
    )
    def test_names_that_collide_in_metrics(self, client: httpx.Client, names: list[str], colliding: list[str]) -> None:
        topics = [{"name": name, "partitions": 1, "replication_factor": 1} for name in names]
        plan = client.post("/v1/plans/replicas", json={"brokers": [{"id": 1}], "topics": topics}).json()
        found = [warning["topics"][-1] for warning in plan["warnings"] if warning["code"] == "name_collides"]
        assert found == colliding

    def test_configurations_of_new_topics_count_in_losses(self, client: httpx.Client) -> None:
        """With min.insync.replicas of 2, two replicas and two brokers, either loss stops writes; with 1 it does not."""
        for least, unwritable in (("1", 0), ("2", 4)):
            topic = {"name": "t", "partitions": 4, "replication_factor": 2, "configs": {"min.insync.replicas": least}}
            body = {"brokers": [{"id": 1}, {"id": 2}], "topics": [topic]}
            plan = client.post("/v1/plans/replicas", json=body).json()
            losses = plan["measures"]["losses"]["brokers"]
            assert {loss["unwritable"] for loss in losses.values()} == {unwritable}

    def test_the_topic_exists(self, client: httpx.Client) -> None:
        codes = [warning["code"] for warning in place(client, topic("orders"), **OF_4_0).json()["warnings"]]
        assert codes == ["topic_exists"]

    def test_more_partitions(self, client: httpx.Client) -> None:
        plan = place(client, topic("orders", start_partition_id=2), **OF_4_0).json()
        assert plan["warnings"] == []
        assert plan["topics"][0]["first_partition_id"] == 2
        (warning,) = place(client, topic("orders", start_partition_id=3), **OF_4_0).json()["warnings"]
        assert warning["code"] == "start_partition_id_differs"

    def test_racks_of_unequal_size(self, client: httpx.Client) -> None:
        plan = place(client, brokers=brokers(5, 2), topics=[topic(replication_factor=2)], **OF_4_0).json()
        (warning,) = plan["warnings"]
        assert warning["code"] == "unequal_racks"
