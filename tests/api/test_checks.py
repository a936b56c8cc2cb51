"""`/v1/checks`: a reassignment that anyone made, against the cluster as it was."""

import json
from typing import Any

import httpx
import pytest

from app.api.examples import SNAPSHOT
from tests.api.contract import SNAPSHOT_ID, UNKNOWN_ID, only_error, problem
from tests.conftest import SAMPLES

REPORTS = SAMPLES.parent / "reports"
CURRENT = json.loads((SAMPLES / "reassignment-current.json").read_text())
PROPOSED = json.loads((SAMPLES / "reassignment-proposed.json").read_text())


def _moved(*replicas: int, partition: int = 0, **fields: Any) -> dict[str, Any]:
    return {"topic": "orders", "partition": partition, "replicas": list(replicas), **fields}


def _check(client: httpx.Client, *partitions: dict[str, Any], snapshot_id: str = SNAPSHOT_ID) -> httpx.Response:
    reassignment = {"version": 1, "partitions": list(partitions)}
    return client.post("/v1/checks", json={"snapshot_id": snapshot_id, "reassignment": reassignment})


@pytest.fixture
def real(client: httpx.Client) -> str:
    """The snapshot of the real cluster that the captures are of."""
    names = {"brokers": "kafka-broker-api-versions.txt", "topics": "kafka-topics-describe.txt"}
    files = {part: (SAMPLES / name).read_bytes() for part, name in names.items()}
    snapshot_id: str = client.post("/v1/snapshots", data={"cluster": "prod"}, files=files).json()["id"]
    return snapshot_id


class TestRealCaptures:
    """Output of `kafka-reassign-partitions --generate`, against the cluster that it ran on."""

    def _post(self, client: httpx.Client, snapshot_id: str, reassignment: dict[str, Any]) -> dict[str, Any]:
        response = client.post("/v1/checks", json={"snapshot_id": snapshot_id, "reassignment": reassignment})
        assert response.status_code == 200, response.text
        document: dict[str, Any] = response.json()
        return document

    def test_as_it_is_nothing_moves(self, client: httpx.Client, real: str) -> None:
        found = self._post(client, real, CURRENT)
        fields = ["snapshot_id", "snapshot_content_hash", "violations", "measures", "movement", "minimum", "fresh"]
        assert list(found) == [*fields, "kafka_version", "changed", "source", "progress", "warnings"]
        assert {count for name, count in found["movement"].items() if name != "partitions"} == {0}
        assert found["measures"]["partitions"] == len(CURRENT["partitions"])
        assert found["fresh"] is True

    def test_what_the_tool_proposes(self, client: httpx.Client, real: str) -> None:
        """Its own documents say how much moves, although nothing had changed."""
        found = self._post(client, real, PROPOSED)
        before = {(p["topic"], p["partition"]): p["replicas"] for p in CURRENT["partitions"]}
        after = {(p["topic"], p["partition"]): p["replicas"] for p in PROPOSED["partitions"]}
        assert found["movement"] == {
            "partitions": len(after),
            "partitions_added": 0,
            "partitions_removed": 0,
            "partitions_changed": sum(before[key] != after[key] for key in after),
            "replicas_added": sum(len({*after[key]} - {*before[key]}) for key in after),
            "replicas_removed": sum(len({*before[key]} - {*after[key]}) for key in after),
            "preferred_leaders_changed": sum(before[key][0] != after[key][0] for key in after),
        }
        assert found["movement"]["replicas_added"] == 195
        nothing = {"moved_replicas": 0, "moved_bytes": 0, "optimal": True}
        assert found["minimum"] == {
            **nothing,
            "as_even": nothing | {"moved_replicas": found["minimum"]["as_even"]["moved_replicas"]},
            "minimised": "replicas",
            "emptied_brokers": [],
            "spread_over_racks": True,
        }
        assert found["minimum"]["as_even"]["moved_replicas"] < 40

    def test_emptying_a_broker_is_compared_with_the_least_movement(self, client: httpx.Client, real: str) -> None:
        on_105 = [partition for partition in CURRENT["partitions"] if 105 in partition["replicas"]]
        emptied = []
        for partition in CURRENT["partitions"]:
            taker = next(broker for broker in (104, 106, 107) if broker not in partition["replicas"])
            replicas = [taker if broker == 105 else broker for broker in partition["replicas"]]
            emptied.append({"topic": partition["topic"], "partition": partition["partition"], "replicas": replicas})
        found = self._post(client, real, {"version": 1, "partitions": emptied})
        assert found["movement"]["replicas_added"] == len(on_105) == found["minimum"]["moved_replicas"]
        assert found["minimum"]["emptied_brokers"] == [105]

    def test_while_it_is_being_reassigned(self, client: httpx.Client) -> None:
        files = {"topics": (SAMPLES / "kafka-topics-describe-reassigning.txt").read_bytes()}
        moving = client.post("/v1/snapshots", data={"cluster": "moving"}, files=files).json()["id"]
        assert [w["code"] for w in self._post(client, moving, PROPOSED)["warnings"]] == ["already_reassigning"]
        body = {"snapshot_id": moving, "reassignment": PROPOSED, "running_reassignment": "refuse"}
        rejection = problem(client.post("/v1/checks", json=body), 409, "reassignment_under_way")
        assert rejection["count"] > 0

    def test_onto_brokers_that_are_down(self, client: httpx.Client) -> None:
        """They are not listed, and Kafka knows them all the same: legal. Their unknown racks count for nothing."""
        names = {
            "brokers": "kafka-broker-api-versions-two-brokers-down.txt",
            "topics": "kafka-topics-describe-two-brokers-down.txt",
        }
        files = {part: (SAMPLES / name).read_bytes() for part, name in names.items()}
        down = client.post("/v1/snapshots", data={"cluster": "down"}, files=files).json()["id"]
        violations = self._post(client, down, CURRENT)["violations"]
        # Of clicks-4, broker 108 alone is in sync.
        assert {(v["code"], v["severity"]) for v in violations} == {
            ("fenced_leader", "fragile"),
            ("no_in_sync_replica", "illegal"),
        }


class TestFresh:
    """Whether the cluster was last seen in the state of the snapshot."""

    def test_changed_and_back_again(self, client: httpx.Client) -> None:
        assert _check(client, _moved(102, 103, 105)).json()["fresh"] is True
        client.post("/v1/snapshots", json=SNAPSHOT | {"cluster": "other", "topics": []})
        assert _check(client, _moved(102, 103, 105)).json()["fresh"] is True
        newest = client.post("/v1/snapshots", json=SNAPSHOT | {"topics": []}).json()["id"]
        stale = _check(client, _moved(102, 103, 105)).json()
        assert stale["fresh"] is False
        assert (stale["changed"]["snapshot_id"], stale["changed"]["count"]) == (newest, 1)
        assert stale["changed"]["partitions"][0]["after"] is None
        client.post("/v1/snapshots", json=SNAPSHOT)
        assert _check(client, _moved(102, 103, 105)).json()["fresh"] is True


class TestWhatIsFragile:
    """Legal, and worth knowing."""

    def test_a_rack_twice(self, client: httpx.Client) -> None:
        (violation,) = _check(client, _moved(101, 102, 103)).json()["violations"]
        said = {name: violation[name] for name in ("code", "severity", "topic", "count", "partitions")}
        assert said == {
            "code": "too_few_racks",
            "severity": "fragile",
            "topic": "orders",
            "count": 1,
            "partitions": [0],
        }

    def test_the_order_of_partitions_is_no_matter(self, client: httpx.Client) -> None:
        both = [_moved(102, 103, 105), _moved(103, 106, 102, partition=1)]
        assert _check(client, *both).content == _check(client, *reversed(both)).content


class TestSafety:
    """Effects of a reassignment that have to be allowed by name."""

    def _post(self, client: httpx.Client, *replicas: int, **fields: Any) -> httpx.Response:
        topic = {
            "name": "orders",
            "configs": {"min.insync.replicas": "2"},
            "partitions": [{"partition": 0, "replicas": [1, 2, 3], "leader": 1, "isr": [1, 2]}],
        }
        brokers = [{"id": broker, "rack": "abcd"[broker - 1], "fenced": broker == 3} for broker in (1, 2, 3, 4)]
        snapshot = {"cluster": "unsafe", "controller": "kraft", "brokers": brokers, "topics": [topic]}
        snapshot_id = client.post("/v1/snapshots", json=snapshot).json()["id"]
        reassignment = {"version": 1, "partitions": [_moved(*replicas)]}
        return client.post("/v1/checks", json={"snapshot_id": snapshot_id, "reassignment": reassignment, **fields})

    def test_a_lower_factor(self, client: httpx.Client) -> None:
        found = self._post(client, 1).json()["violations"]
        below, lowered = ("below_min_isr", "illegal"), ("factor_lowered", "fragile")
        assert [(one["code"], one["severity"]) for one in found] == [below, lowered]
        allowed = self._post(client, 1, allow_lower_factor=True).json()
        assert [(one["code"], one["severity"]) for one in allowed["violations"]] == [below]
        assert [(w["code"], w["topics"]) for w in allowed["warnings"]] == [("factor_lowered", ["orders"])]

    def test_the_default_of_the_request_is_for_what_is_unknown(self, client: httpx.Client) -> None:
        defaults = {"min_insync_replicas": 3}
        assert self._post(client, 1, 2, defaults=defaults).json()["violations"] == []
        reassignment = {"version": 1, "partitions": [_moved(102, 103)]}
        body = {"snapshot_id": SNAPSHOT_ID, "reassignment": reassignment, "defaults": defaults}
        found = client.post("/v1/checks", json=body).json()
        assert "min.insync.replicas=3" in found["violations"][0]["detail"]
        assert [w["code"] for w in found["warnings"]] == ["min_isr_assumed"]

    def test_a_list_that_is_never_complete(self, client: httpx.Client) -> None:
        """By the release that executes it (KAFKA-19975)."""
        for release, codes in (("4.2", ["waits_for_offline_replica"]), ("4.3", [])):
            found = self._post(client, 1, 2, 3, 4, kafka_version=release).json()
            assert [violation["code"] for violation in found["violations"]] == codes

    def test_a_cluster_as_it_is_has_no_factor_to_lower(self, client: httpx.Client) -> None:
        response = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, "allow_lower_factor": True})
        only_error(problem(response, 422, "conflicting_fields"), "/allow_lower_factor")

    def test_a_reassignment_with_limits(self, client: httpx.Client) -> None:
        """Its loads are reported as for a current cluster, and rejected for the same reasons."""
        limits = {"leaders": {"absolute": 1}}
        checked = self._post(client, 1, 2, 4, limits=limits, losses="all").json()
        assert (checked["loads"]["1"]["leaders"]["after"], checked["over_limit"]) == (1, [])
        assert (checked["least_repair"], len(checked["losses"])) == (None, 8)
        missing = self._post(client, 1, 2, 4, limits={"disk": 0.8})
        only_error(problem(missing, 422, "sizes_missing"), "/limits/disk")

    def test_losses_of_a_cluster_as_it_is(self, client: httpx.Client) -> None:
        """By its in-sync replicas: 1 and 2, so that the loss of either stops writes. Unknown is said."""
        self._post(client, 1, 2, 3)
        found = client.post("/v1/checks", json={"cluster": "unsafe"}).json()["measures"]
        assert {broker: loss["unwritable"] for broker, loss in found["losses"]["brokers"].items()} == {
            "1": 1, "2": 1, "3": 0, "4": 0
        }  # fmt: skip
        assert found["losses"]["during_restart"] == {"share_of_failures_unwritable": 1.0}
        assert (found["copysets"]["sets"], found["copysets"]["loss_probability"]) == (1, {"2": 0.0, "3": 0.25})
        unknown = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID}).json()
        losses = unknown["measures"]["losses"]
        assert losses["min_isr_unknown"] == unknown["measures"]["partitions"]
        assert {loss["unwritable"] for loss in losses["brokers"].values()} == {None}
        defaults = {"defaults": {"min_insync_replicas": 2}}
        assumed = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, **defaults}).json()
        assert assumed["measures"]["losses"]["min_isr_unknown"] == 0
        assert [warning["code"] for warning in assumed["warnings"]][:1] == ["min_isr_assumed"]

    @pytest.mark.parametrize("number", [0, -1, 2**31, "2", None, 1.5])
    def test_min_isr_out_of_range(self, client: httpx.Client, number: object) -> None:
        response = self._post(client, 1, 2, defaults={"min_insync_replicas": number})
        if number is None:
            assert response.status_code == 200
            return
        only_error(problem(response, 422, "validation"), "/defaults/min_insync_replicas")


class TestBadInput:
    """A reassignment that Kafka would refuse whole; each place is named."""

    @pytest.mark.parametrize(
        ("partition", "code", "pointer", "value"),
        [
            (_moved(101, 999), "unknown_broker", "/replicas/1", 999),
            (_moved(-1), "unknown_broker", "/replicas/0", -1),
            (_moved(101, 103, 101), "duplicate_replica", "/replicas/2", 101),
            (_moved(), "no_replicas", "/replicas", []),
            (_moved(101, partition=2), "unknown_partition", "", "orders-2"),
            (_moved(101, partition=-1), "unknown_partition", "", "orders--1"),
            (_moved(101) | {"topic": "none"}, "unknown_partition", "", "none-0"),
            (_moved(101, 103, log_dirs=["any"]), "log_dirs_differ", "/log_dirs", 1),
        ],
    )
    def test_each_fault(
        self, client: httpx.Client, partition: dict[str, Any], code: str, pointer: str, value: object
    ) -> None:
        found = problem(_check(client, _moved(102, 103, 105, partition=1), partition), 422, "illegal_reassignment")
        error = only_error(found, f"/reassignment/partitions/1{pointer}")
        assert (error["code"], error["value"]) == (code, value)

    def test_a_partition_twice(self, client: httpx.Client) -> None:
        found = problem(_check(client, _moved(101), _moved(102)), 422, "illegal_reassignment")
        assert only_error(found, "/reassignment/partitions/1")["code"] == "duplicate_partition"

    def test_all_are_counted_and_some_are_named(self, client: httpx.Client) -> None:
        found = problem(_check(client, *(_moved(999, partition=i) for i in range(2, 152))), 422, "illegal_reassignment")
        assert (found["count"], len(found["errors"])) == (300, 100)
        assert "and 299 more" in found["detail"]

    def test_an_unknown_snapshot(self, client: httpx.Client) -> None:
        response = _check(client, _moved(101), snapshot_id=UNKNOWN_ID)
        only_error(problem(response, 404, "snapshot_not_found"), "/snapshot_id")

    @pytest.mark.parametrize(
        ("reassignment", "pointer"),
        [
            ({"version": 2, "partitions": [_moved(101)]}, "/reassignment/version"),
            ({"version": 1, "partitions": []}, "/reassignment/partitions"),
            ({"version": 1}, "/reassignment/partitions"),
            ({"partitions": [_moved(2**31)]}, "/reassignment/partitions/0/replicas/0"),
            ({"partitions": [_moved(101, throttle=1)]}, "/reassignment/partitions/0/throttle"),
            ({"partitions": [_moved(101, partition=2**31)]}, "/reassignment/partitions/0/partition"),
            ({"partitions": [_moved(101) | {"topic": "a b"}]}, "/reassignment/partitions/0/topic"),
            ("{}", "/reassignment"),
        ],
    )
    def test_fields(self, client: httpx.Client, reassignment: object, pointer: str) -> None:
        response = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, "reassignment": reassignment})
        only_error(problem(response, 422, "validation"), pointer)


class TestOutputs:
    """The tool's output, in place of its file."""

    GENERATED = (SAMPLES / "kafka-reassign-partitions-generate.txt").read_text()
    EXECUTED = (SAMPLES / "kafka-reassign-partitions-execute.txt").read_text()

    def _post(self, client: httpx.Client, snapshot_id: str, output: str, **fields: Any) -> httpx.Response:
        return client.post("/v1/checks", json={"snapshot_id": snapshot_id, "output": output, **fields})

    def test_generate_is_checked_as_its_proposal(self, client: httpx.Client, real: str) -> None:
        prompt = "$ kafka-reassign-partitions.sh --generate\n"
        checked = self._post(client, real, prompt + self.GENERATED).json()
        by_file = client.post("/v1/checks", json={"snapshot_id": real, "reassignment": PROPOSED}).json()
        assert (checked.pop("source"), by_file.pop("source")) == ("generate", None)
        (skipped,) = checked.pop("warnings")
        assert (skipped["code"], skipped["detail"][:8]) == ("lines_skipped", "1 lines ")
        assert checked == {name: value for name, value in by_file.items() if name != "warnings"}

    def test_execute_is_checked_as_its_rollback(self, client: httpx.Client, real: str) -> None:
        checked = self._post(client, real, self.EXECUTED).json()
        assert (checked["source"], checked["progress"]) == ("execute", None)
        assert checked["measures"]["partitions"] > 0

    def test_verify_reports_the_progress(self, client: httpx.Client) -> None:
        """Beside the planned lists: the request's, else the output's."""
        output = (
            "Status of partition reassignment:\n"
            "Reassignment of partition orders-0 is still in progress.\n"
            "There is no active reassignment of partition orders-1, but replica set is 104,106,102 rather than "
            "104,106,101.\n\nClearing broker-level throttles on brokers 101,102\n"
        )
        response = self._post(client, SNAPSHOT_ID, output)
        assert response.status_code == 200, response.text
        checked = response.json()
        assert (checked["source"], [one["code"] for one in checked["warnings"]]) == (
            "verify",
            ["planned_lists_unknown"],
        )
        progress = checked["progress"]
        assert [progress[name] for name in ("complete", "in_progress", "failed", "not_reported")] == [0, 1, 1, 0]
        assert [(one["partition"], one["state"], one["planned"]) for one in progress["partitions"]] == [
            (0, "in_progress", None),  # the snapshot has no reassignment of it
            (1, "failed", [104, 106, 101]),
        ]
        planned = {"version": 1, "partitions": [_moved(102, 103, 105), _moved(104, 106, 101, partition=1)]}
        one_line = "Reassignment of partition orders-0 is completed."
        with_plan = self._post(client, SNAPSHOT_ID, one_line, reassignment=planned).json()
        assert (with_plan["progress"]["complete"], with_plan["progress"]["not_reported"]) == (1, 1)
        assert with_plan["movement"]["partitions"] == 2

    @pytest.mark.parametrize(
        ("fields", "code", "pointer"),
        [
            ({"output": "x", "limits": {"disk": 1.5}}, "validation", "/limits/disk"),
            ({"output": "nothing of the kind"}, "malformed_text", "/output"),
            ({"output": json.dumps(CURRENT), "reassignment": CURRENT}, "conflicting_fields", "/reassignment"),
            ({"output": ""}, "validation", "/output"),
        ],
    )
    def test_bad_input(self, client: httpx.Client, fields: dict[str, Any], code: str, pointer: str) -> None:
        response = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, **fields})
        only_error(problem(response, 422, code), pointer)

    @pytest.mark.parametrize(
        ("name", "counts", "planned"),
        [
            ("2.6-to-3.2-is-complete", (1, 1, 1), {1: [0, 1, 3], 2: None}),
            ("0.8-to-0.11-brackets", (1, 1, 1), {1: None, 2: [1, 2, 0]}),
            ("failed-with-planned-list", (1, 1, 1), {1: None, 2: [1, 2, 0]}),
            ("log-dir-moves", (0, 0, 1), {0: [3, 0, 1]}),
        ],
    )
    def test_verify_of_every_release(
        self, client: httpx.Client, name: str, counts: tuple[int, ...], planned: dict[int, list[int] | None]
    ) -> None:
        """The present list of a partition is the planned one only if the partition is complete."""
        document = json.loads((REPORTS / "verify-snapshot.json").read_text())
        snapshot_id = client.post("/v1/snapshots", json=document).json()["id"]
        response = self._post(client, snapshot_id, (REPORTS / f"verify-{name}.txt").read_text())
        assert response.status_code == 200, response.text
        progress, warnings = response.json()["progress"], response.json()["warnings"]
        assert tuple(progress[state] for state in ("complete", "in_progress", "failed")) == counts
        assert {one["partition"]: one["planned"] for one in progress["partitions"]} == planned
        codes = ["planned_lists_unknown"] if None in planned.values() else []
        assert [warning["code"] for warning in warnings] == codes

    def test_verify_names_moves_between_log_directories(self, client: httpx.Client) -> None:
        document = json.loads((REPORTS / "verify-snapshot.json").read_text())
        snapshot_id = client.post("/v1/snapshots", json=document).json()["id"]
        output = (REPORTS / "verify-log-dir-moves.txt").read_text()
        (partition,) = self._post(client, snapshot_id, output).json()["progress"]["partitions"]
        assert partition["log_dirs"] == [
            {"broker": 0, "state": "failed", "planned": "/d1"},
            {"broker": 3, "state": "in_progress", "planned": None},
        ]

    def test_an_unknown_partition_of_verify_is_a_problem(self, client: httpx.Client) -> None:
        response = self._post(client, SNAPSHOT_ID, "Reassignment of partition gone-0 is completed.")
        assert "gone-0" in problem(response, 422, "illegal_reassignment")["detail"]


class TestAsItIs:
    """Without a reassignment, the cluster is checked as it is."""

    def test_loads_limits_and_the_least_repair(self, client: httpx.Client) -> None:
        limits = {"replicas": {"absolute": 1}, "disk": 0.5}
        fields = {"capacity": {"*": {"disk_bytes": 2097152}}, "limits": limits}
        response = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, **fields})
        assert response.status_code == 200, response.text
        checked = response.json()
        assert (checked["movement"], checked["minimum"], checked["fresh"]) == (None, None, True)
        assert {over["broker"] for over in checked["over_limit"]} == {102, 104, 106}
        assert {over["resource"] for over in checked["over_limit"]} == {"disk"}
        first = checked["fails_first"][0]
        assert (first["loss"], first["resource"], first["share"]) == ("none", "disk", 2.0)

    @pytest.mark.parametrize(
        ("fields", "code", "pointer"),
        [
            ({"limits": {"disk": 0.8}}, "capacity_missing", "/limits/disk"),
            ({"limits": {"nic_out": {"absolute": 9}}}, "rates_missing", "/limits/nic_out"),
            ({"limits": {"replicas": 0.8}}, "conflicting_fields", "/limits/replicas"),
            ({"limits": {"disk": {"soft": True}}}, "conflicting_fields", "/limits/disk"),
            ({"limits": {"disk": 1.5}}, "validation", "/limits/disk"),
            ({"capacity": {"7": {"vcpu": 4}}}, "unknown_broker", "/capacity/7"),
            ({"capacity": {"*": {"disk_bytes": 0}}}, "validation", "/capacity/*/disk_bytes"),
            ({"capacity": {"no": {}}}, "validation", "/capacity/no"),
            ({"consumers": {"ordres": 2}}, "unknown_topic", "/consumers/ordres"),
            ({"growth": {"ordres": 2}}, "unknown_topic", "/growth/ordres"),
            ({"growth": {"orders": -1}}, "validation", "/growth/orders"),
        ],
    )
    def test_bad_input(self, client: httpx.Client, fields: dict[str, Any], code: str, pointer: str) -> None:
        response = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, **fields})
        only_error(problem(response, 422, code), pointer)


class TestTexts:
    """A body of text is what a tool printed; the query names the snapshot."""

    @staticmethod
    def _post(client: httpx.Client, text: bytes, **query: str) -> httpx.Response:
        return client.post("/v1/checks", content=text, params=query, headers={"Content-Type": "text/plain"})

    @pytest.mark.parametrize("name", ["kafka-reassign-partitions-generate.txt", "reassignment-proposed.json"])
    def test_a_text_is_read_as_the_output_of_a_body(self, client: httpx.Client, real: str, name: str) -> None:
        text = (SAMPLES / name).read_text()
        as_field = client.post("/v1/checks", json={"snapshot_id": real, "output": text})
        assert as_field.status_code == 200, as_field.text
        assert self._post(client, text.encode(), snapshot_id=real).json() == as_field.json()
        assert self._post(client, text.encode("utf-16"), cluster="prod").json() == as_field.json()

    def test_what_is_wrong_is_named(self, client: httpx.Client, real: str) -> None:
        text = b'{"version":1,\n"partitions":[{"topic":"orders" "partition":0,"replicas":[101]}]}'
        assert problem(self._post(client, text, snapshot_id=real), 422, "malformed_text")["line"] == 2
        problem(self._post(client, b"\xff\xfe\xff", snapshot_id=real), 422, "malformed_text")
        assert "snapshot" in problem(self._post(client, text), 422, "conflicting_fields")["detail"]
        problem(self._post(client, text, snapshot_id=real, cluster="prod"), 422, "conflicting_fields")
        assert self._post(client, b"", snapshot_id=real).status_code == 422
        assert client.post("/v1/checks", content=b"a", headers={"Content-Type": "text/csv"}).status_code == 415
