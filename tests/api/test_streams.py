"""`POST /v1/plans/streams`: the service's own words, and Kafka's measured answers through it."""

import csv
import io
import json
from base64 import b64encode
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.api.examples import EXAMPLE_SNAPSHOT_ID, EXAMPLE_STREAMS_PLAN_ID, STREAMS, STREAMS_REQUEST
from app.formats.streams.streams_subscription import SubscriptionInfo
from tests.api.contract import UNKNOWN_ID, only_error, problem
from tests.conftest import SAMPLES, VECTORS
from tests.formats.writers.streams_subscription import write

Json = dict[str, Any]
ZONES = ("a", "b", "c")
TASKS = [f"0_{number}" for number in range(6)]
UUIDS = [f"00000000-0000-0000-0000-00000000000{n}" for n in range(4)]


def clients(count: int = 3, **changed: Any) -> list[Json]:
    """So many clients over three zones, by names."""
    return [
        {"process_id": f"app-{place}", "client_tags": {"zone": ZONES[place % 3]}, "rack_id": ZONES[place % 3]} | changed
        for place in range(count)
    ]


def body_of(**changed: Any) -> Json:
    """An application of six stateful tasks, with other fields; None leaves one out."""
    body: Json = {
        "tasks": TASKS,
        "stateful_tasks": TASKS,
        "clients": clients(),
        "num_standby_replicas": 1,
        "rack_aware_assignment_tags": ["zone"],
    }
    return {name: value for name, value in (body | changed).items() if value is not None}


def planned(client: httpx.Client, **changed: Any) -> Json:
    response = client.post("/v1/plans/streams", json=body_of(**changed))
    assert response.status_code == 201, response.text
    found: Json = response.json()
    return found


def codes(plan: Json) -> list[str]:
    return [warning["code"] for warning in plan["warnings"]]


def cases(kind: str, every: int) -> list[Json]:
    """Some of the measured cases, evenly sampled; a request names partitions by subtopology, and not task by task."""
    measured = map(json.loads, (VECTORS / f"{kind}.jsonl").read_text().splitlines())
    return [case for case in measured if "task_partitions" not in case["input"]][::every]


@pytest.mark.parametrize(
    "case",
    [*cases("streams_high_availability", 9), *cases("streams_sticky", 9)],
    ids=lambda case: str(case["name"]),
)
def test_what_kafka_answered(client: httpx.Client, case: Json) -> None:
    """Each client's tasks, and whether a probing rebalance follows, as Kafka's own code said; or its refusal."""
    given, configs = case["input"], case["input"]["configs"]
    body: Json = {
        "tasks": given["tasks"],
        "stateful_tasks": given["stateful_tasks"],
        "assignor": given["assignor"],
        "clients": [
            {
                "process_id": its["process_id"],
                "capacity": its["capacity"],
                "client_tags": its["tags"],
                "rack_id": its["rack"],
                "previous_active": its["prev_active"],
                "previous_standby": its["prev_standby"],
                "lags": its["lags"],
                "default_lag": its["default_lag"],
            }
            for its in given["clients"]
        ],
        **configs,
    }
    response = client.post("/v1/plans/streams", json=body)
    if "error" in case["expected"]:
        assert response.status_code == 422
        return
    assert response.status_code == 201, response.text
    plan = response.json()
    found = {name: {"active": its["active"], "standby": its["standby"]} for name, its in plan["assignment"].items()}
    assert found == case["expected"]["assignment"]
    assert plan["probing_rebalance"] == case["expected"]["probing_rebalance_needed"]


class TestAnswer:
    def test_three_zones_are_ideal_for_one_standby(self, client: httpx.Client) -> None:
        plan = planned(client)
        assert (plan["kind"], plan["prediction"], plan["ideal"], plan["violations"]) == ("streams", "replay", True, [])
        assert plan["tags"] == [
            {"tag": "zone", "values": {"a": 1, "b": 1, "c": 1}, "needed": 2, "without": 0, "enough": True}
        ]
        assert [task["task"] for task in plan["tasks"]] == TASKS
        for task in plan["tasks"]:
            assert task["ideal"]
            assert len({task["active"], *task["standby"]}) == 2
        for value in ZONES:
            lost = plan["if_lost"][f"zone={value}"]
            assert (lost["clients"], lost["without_survivor"]) == (1, [])
            assert len(lost["promoted"]) == 2
        assert plan["loads"]["active"] == {"min": 2, "max": 2, "spread": 0, "total": 6}
        assert plan["movement"] == {
            "active_kept": 0,
            "active_moved": 0,
            "active_started": 6,
            "restored_copies": 12,
            "restored_bytes": None,
        }

    def test_one_zone_is_not_and_the_plan_says_why(self, client: httpx.Client) -> None:
        plan = planned(client, clients=clients(2, client_tags={"zone": "a"}))
        assert not plan["ideal"]
        assert all(task["repeated_tags"] == ["zone"] for task in plan["tasks"])
        assert plan["tasks"][0]["shared"] == [{"tag": "zone", "value": "a", "copies": 2}]
        assert not plan["tags"][0]["enough"]
        assert plan["if_lost"]["zone=a"]["without_survivor"] == TASKS

    def test_the_best_standbys_and_what_would_make_them_ideal(self, client: httpx.Client) -> None:
        """One zone is too few for three copies: two clients in zones of their own are enough. It is never worse."""
        plan = planned(client, clients=clients(4, client_tags={"zone": "a"}), num_standby_replicas=2)
        assert plan["addition"]["clients"] == [{"zone": None}, {"zone": None}]
        best = plan["best_standbys"]
        assert best["certificate"]["optimal"]
        assert best["quality"]["imbalance"] <= best["of_the_assignor"]["imbalance"]
        assert sum(map(len, best["standby"].values())) == 12
        three = planned(client)
        assert three["addition"]["clients"] == []
        assert three["best_standbys"]["quality"] == three["best_standbys"]["of_the_assignor"]
        without = planned(client, num_standby_replicas=0, rack_aware_assignment_tags=[])
        assert (without["best_standbys"], without["addition"]) == (None, None)

    def test_a_new_client_warms_up_first(self, client: httpx.Client) -> None:
        """Two clients have everything; the third gets copies, which move to it once they have caught up."""
        before = clients(3)
        before[0]["previous_active"], before[1]["previous_active"] = TASKS[:3], TASKS[3:]
        plan = planned(
            client, clients=before, num_standby_replicas=0, rack_aware_assignment_tags=[], state_bytes={"0_0": 7}
        )
        assert plan["probing_rebalance"]
        assert "probing_rebalance_follows" in codes(plan)
        warm = plan["assignment"]["app-2"]
        assert (warm["active"], warm["standby"]) == ([], warm["warmup"])
        assert plan["movement"]["active_kept"] == 6
        warmups = [task for its in plan["assignment"].values() for task in its["warmup"]]
        assert plan["movement"]["restored_copies"] == plan["loads"]["warmup"]["total"] == len(warmups) == 2
        assert plan["movement"]["restored_bytes"] == 7 * warmups.count("0_0")
        settled = planned(
            client, clients=before, num_standby_replicas=0, rack_aware_assignment_tags=[], assignor="sticky"
        )
        assert settled["movement"]["active_moved"] == 2
        assert not settled["probing_rebalance"]

    def test_tasks_come_from_what_subtopologies_read(self, client: httpx.Client) -> None:
        """Racks of partitions are a snapshot's: orders has two partitions, each with a replica in every zone."""
        body = {
            "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
            "subtopologies": [{"id": 3, "source_topics": ["orders"], "is_stateful": True}],
            "clients": [
                {"process_id": f"00000000-0000-0000-0000-00000000000{n}", "rack_id": f"use1-az{n}"} for n in (1, 2)
            ],
            "rack_aware_assignment_strategy": "min_traffic",
        }
        response = client.post("/v1/plans/streams", json=body)
        assert response.status_code == 201, response.text
        plan = response.json()
        assert [(task["task"], task["stateful"]) for task in plan["tasks"]] == [("3_0", True), ("3_1", True)]
        assert plan["loads"]["sources"] == {"partitions": 2, "cross_rack": 0, "unknown": 0}
        assert (plan["cluster"], plan["snapshot_id"]) == ("example", str(EXAMPLE_SNAPSHOT_ID))
        assert "rack_aware_assignment_off" not in codes(plan)

    def test_the_same_request_is_the_same_plan(self, client: httpx.Client) -> None:
        assert planned(client)["id"] == planned(client)["id"]
        assert planned(client)["hash"] != planned(client, num_standby_replicas=2)["hash"]

    @pytest.mark.parametrize("name", list(STREAMS_REQUEST))
    def test_examples_run(self, client: httpx.Client, name: str) -> None:
        response = client.post("/v1/plans/streams", json=STREAMS_REQUEST[name]["value"])
        assert response.status_code == 201, response.text


TOPOLOGY = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> KSTREAM-SINK-0000000001
    Sink: KSTREAM-SINK-0000000001 (topic: totals-repartition)
      <-- KSTREAM-SOURCE-0000000000

  Sub-topology: 1
    Source: KSTREAM-SOURCE-0000000002 (topics: [totals-repartition])
      --> KSTREAM-AGGREGATE-0000000003
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [totals])
      --> none
      <-- KSTREAM-SOURCE-0000000002
"""
MADE = [
    {"name": "orders", "partitions": 4},
    {"name": "app-totals-repartition", "partitions": 3},
    {"name": "app-totals-changelog", "partitions": 3},
]


class TestPasted:
    """The library's output, and members' own reports."""

    def test_a_topology(self, client: httpx.Client) -> None:
        """Four tasks read orders; three aggregate the repartitioned records, and have state."""
        plan = planned(client, tasks=None, stateful_tasks=None, topology=TOPOLOGY, application_id="app", topics=MADE)
        assert [task["task"] for task in plan["tasks"] if task["stateful"]] == ["1_0", "1_1", "1_2"]
        assert len(plan["tasks"]) == 7
        assert plan["loads"]["sources"]["partitions"] == 7
        assert plan["loads"]["changelogs"]["partitions"] == 3

    @pytest.mark.parametrize(
        ("changed", "code", "pointer"),
        [
            ({"topology": TOPOLOGY + "  Sink?"}, "malformed_text", "/topology"),
            ({"subtopologies": []}, "conflicting_fields", "/subtopologies"),
            ({"application_id": "other"}, "conflicting_fields", "/subtopologies/1/source_topics/0"),
            (
                {"topology": TOPOLOGY.replace("(topics: [orders])", "(topics: ord.*)")},
                "conflicting_fields",
                "/topology",
            ),
            ({"topics": None}, "conflicting_fields", "/tasks"),
        ],
    )
    def test_a_topology_that_cannot_be_used(self, client: httpx.Client, changed: Json, code: str, pointer: str) -> None:
        body = {"tasks": None, "stateful_tasks": None, "topology": TOPOLOGY, "application_id": "app", "topics": MADE}
        only_error(problem(client.post("/v1/plans/streams", json=body_of(**body | changed)), 422, code), pointer)

    def test_subscriptions(self, client: httpx.Client) -> None:
        """Two members by their own bytes: one runs everything, the other has a copy of a task."""
        infos = [
            SubscriptionInfo(UUID(UUIDS[1]), {(0, n): -2 for n in range(6)}, client_tags={"zone": "a"}),
            SubscriptionInfo(UUID(UUIDS[2]), {(0, 0): 9}, client_tags={"zone": "b"}),
        ]
        listed = [{"subscription_info": b64encode(write(info)).decode()} for info in infos]
        plan = planned(client, clients=listed)
        assert list(plan["assignment"]) == UUIDS[1:3]
        assert plan["movement"]["active_kept"] + plan["movement"]["active_moved"] == 6
        assert [its["client_tags"] for its in plan["loads"]["per_client"]] == [{"zone": "a"}, {"zone": "b"}]
        found = client.get(f"/v1/plans/{plan['id']}/diff").json()
        assert all(item["before"]["active"] == UUIDS[1] for item in found["items"])

    @pytest.mark.parametrize(
        ("listed", "code", "pointer"),
        [
            ({}, "conflicting_fields", "/clients/0/process_id"),
            ({"subscription_info": "?"}, "impossible_value", "/clients/0/subscription_info"),
            ({"subscription_info": "AAAA"}, "corrupt_protocol_bytes", "/clients/0/subscription_info"),
            ({"subscription_info": "AAAAYwAAAGM="}, "impossible_value", "/clients/0/subscription_info"),
            ({"subscription_info": "AAAA", "process_id": "x"}, "conflicting_fields", "/clients/0/process_id"),
        ],
    )
    def test_a_subscription_that_cannot_be_read(
        self, client: httpx.Client, listed: Json, code: str, pointer: str
    ) -> None:
        only_error(problem(client.post("/v1/plans/streams", json=body_of(clients=[listed])), 422, code), pointer)


class TestEvents:
    """Events after the plan."""

    def test_a_lost_zone_a_new_client_and_a_deploy(self, client: httpx.Client) -> None:
        events: list[Json] = [
            {"lose_tag": {"tag": "zone", "value": "c"}},
            {"scale_out": [{"process_id": "app-3", "client_tags": {"zone": "c"}}]},
            {"rolling_deploy": {"behind": 100}},
        ]
        plan = planned(client, events=events, state_bytes=dict.fromkeys(TASKS, 10))
        lost, joined, *deployed = plan["steps"]
        assert [step["event_index"] for step in plan["steps"]] == [0, 1, 2, 2, 2]
        assert lost["event"] == events[0]
        assert joined["event"]["scale_out"][0] == {**events[1]["scale_out"][0], "capacity": 1, "rack_id": None}
        assert (lost["interrupted"], lost["without_copy"], lost["ideal"]) == (2, [], True)
        assert list(lost["assignment"]) == ["app-0", "app-1"]
        assert list(joined["assignment"]) == ["app-0", "app-1", "app-3"]
        assert joined["rebalances"][0]["cause"] == "joined"
        assert joined["probing_rebalances"] == len(joined["rebalances"]) - 1 > 0
        assert joined["restored_bytes"] == 10 * joined["restored_copies"] > 0
        assert [step["process_id"] for step in deployed] == ["app-0", "app-1", "app-3"]
        for step in plan["steps"]:
            assert step["settled"]
            assert sorted(task for its in step["assignment"].values() for task in its["active"]) == TASKS

    def test_a_deploy_without_state_restores_everything(self, client: httpx.Client) -> None:
        [step] = planned(client, events=[{"deploy_at_once": {}}])["steps"]
        assert (step["restored_copies"], step["without_copy"]) == (0, TASKS)
        [lost] = planned(client, events=[{"deploy_at_once": {"keeps_state": False}}])["steps"]
        assert lost["restored_copies"] == 12
        assert lost["rebalances"][0]["not_running"] == TASKS
        assert list(lost["assignment"]) == ["app-0", "app-1", "app-2"]

    @pytest.mark.parametrize(
        ("events", "code", "pointer"),
        [
            ([{"lose_client": "nobody"}], "conflicting_fields", "/events/0/lose_client"),
            ([{"lose_rack": "z"}], "conflicting_fields", "/events/0"),
            ([{"scale_in": ["app-0"]}, {"scale_in": ["app-0"]}], "conflicting_fields", "/events/1"),
            ([{"scale_in": ["app-0", "app-1", "app-2"]}], "conflicting_fields", "/events/0"),
            ([{"scale_out": [{"process_id": "app-0"}]}], "conflicting_fields", "/events/0/scale_out/0/process_id"),
            ([{"scale_out": []}], "validation", "/events/0/scale_out"),
            ([{"explode": True}], "validation", "/events/0"),
            ([{"lose_rack": "a", "lose_client": "app-0"}], "validation", "/events/0"),
        ],
    )
    def test_an_event_that_cannot_be(self, client: httpx.Client, events: list[Json], code: str, pointer: str) -> None:
        only_error(problem(client.post("/v1/plans/streams", json=body_of(events=events)), 422, code), pointer)


class TestSaidAloud:
    """Kafka's unrequested follow-ups."""

    @pytest.mark.parametrize(
        ("changed", "code"),
        [
            ({}, "process_ids_are_names"),
            ({"rack_aware_assignment_tags": ["zone", "cluster"]}, "tag_nobody_has"),
            ({"clients": [*clients(2), {"process_id": "app-9"}]}, "clients_without_tag"),
            ({"clients": clients(lags={"9_9": 5})}, "lags_of_unknown_tasks"),
            ({"clients": [{"process_id": "app-0", "previous_active": ["9_9"]}]}, "previous_tasks_unknown"),
            ({"clients": [{"process_id": "app-0", "previous_active": ["0_1"]}]}, "lags_assumed"),
            ({"assignor": "sticky"}, "assignor_ignores_tags"),
            ({"num_standby_replicas": 0}, "no_standbys"),
            ({"rack_aware_assignment_strategy": "min_traffic"}, "rack_aware_assignment_off"),
            ({}, "classic_protocol_only"),
        ],
    )
    def test_it_is_in_the_warnings(self, client: httpx.Client, changed: Json, code: str) -> None:
        assert code in codes(planned(client, **changed))

    @pytest.mark.parametrize(
        ("changed", "moves_at_once"),
        [
            ({}, False),
            ({"changelog_offsets": dict.fromkeys(TASKS, 10_000)}, True),
            ({"changelog_offsets": dict.fromkeys(TASKS, 10_001)}, False),
            ({"state_bytes": dict.fromkeys(TASKS, 0)}, True),
            ({"state_bytes": dict.fromkeys(TASKS, 1)}, False),
        ],
    )
    def test_the_size_of_state_decides_whether_tasks_move_at_once(
        self, client: httpx.Client, changed: Json, moves_at_once: bool
    ) -> None:
        """A new client has caught up with a changelog of at most `acceptable_recovery_lag` offsets."""
        listed = [{"process_id": "app-0", "previous_active": TASKS}, {"process_id": "app-1"}]
        options: Json = {"num_standby_replicas": 0, "rack_aware_assignment_tags": []}
        plan = planned(client, clients=listed, **options, **changed)
        assert (plan["movement"]["active_moved"] > 0) == moves_at_once
        assert plan["probing_rebalance"] != moves_at_once
        assert "lags_assumed" in codes(plan)

    def test_a_client_without_a_rack_turns_racks_off(self, client: httpx.Client) -> None:
        body = STREAMS_REQUEST["racks"]["value"]
        on = client.post("/v1/plans/streams", json=body).json()
        assert "rack_aware_assignment_off" not in codes(on)
        assert on["rack_aware"]["on"]
        assert on["rack_aware"]["sources_across_racks"] == on["loads"]["sources"]["cross_rack"]
        assert on["rack_aware"]["fewest_possible"] <= on["rack_aware"]["sources_across_racks"]
        rackless = [{**its, "rack_id": ""} for its in body["clients"]]
        off = client.post("/v1/plans/streams", json=body | {"clients": rackless}).json()
        [warning] = [its for its in off["warnings"] if its["code"] == "rack_aware_assignment_off"]
        assert "no client.rack" in warning["detail"]
        assert (off["rack_aware"]["on"], "no client.rack" in off["rack_aware"]["why_off"]) == (False, True)
        assert planned(client)["rack_aware"] is None


BAD: list[tuple[Json, int, str, str]] = [
    ({"tasks": ["0_0", "0-1"]}, 422, "impossible_value", "/tasks/1"),
    ({"tasks": ["0_2147483648"]}, 422, "impossible_value", "/tasks/0"),
    ({"tasks": ["0_0", "0_0"]}, 422, "conflicting_fields", "/tasks/1"),
    ({"stateful_tasks": ["x"]}, 422, "impossible_value", "/stateful_tasks/0"),
    ({"tasks": None}, 422, "conflicting_fields", "/tasks"),
    ({"clients": clients(capacity=0)[:1]}, 422, "validation", "/clients/0/capacity"),
    ({"clients": [*clients(2), clients(1)[0]]}, 422, "duplicate_client", "/clients/2/process_id"),
    ({"clients": clients(2, previous_active=["0_0"])}, 422, "conflicting_fields", "/clients/1/previous_active/0"),
    (
        {"clients": clients(1, previous_active=["0_0"], previous_standby=["0_0"])},
        422,
        "conflicting_fields",
        "/clients/0/previous_standby/0",
    ),
    ({"clients": clients(1, lags={"zero": 1})}, 422, "impossible_value", "/clients/0/lags/zero"),
    ({"clients": clients(1, lags={"0_0": -4})}, 422, "validation", "/clients/0/lags/0_0"),
    (
        {"clients": [{"process_id": UUIDS[0]}, {"process_id": "second"}]},
        422,
        "impossible_value",
        "/clients/1/process_id",
    ),
    ({"assignor": "range"}, 422, "validation", "/assignor"),
    ({"num_standby_replicas": -1}, 422, "validation", "/num_standby_replicas"),
    ({"num_standby_replicas": 10_001}, 422, "validation", "/num_standby_replicas"),
    (
        {"subtopologies": [{"id": 0, "source_topics": ["nope"]}], "topics": []},
        422,
        "conflicting_fields",
        "/subtopologies/0/source_topics/0",
    ),
    (
        {"subtopologies": [{"id": 0, "source_topics": []}], "topics": []},
        422,
        "conflicting_fields",
        "/subtopologies/0/source_topics",
    ),
    ({"snapshot_id": str(EXAMPLE_SNAPSHOT_ID), "topics": []}, 422, "conflicting_fields", "/snapshot_id"),
    (
        {"rack_aware_assignment_tags": [f"t{n}" for n in range(6)]},
        422,
        "tags_beyond_limits",
        "/rack_aware_assignment_tags",
    ),
    (
        {"clients": clients(1, client_tags={"z" * 21: "a"})},
        422,
        "tags_beyond_limits",
        f"/clients/0/client_tags/{'z' * 21}",
    ),
    ({"clients": clients(1, client_tags={"zone": "a" * 31})}, 422, "tags_beyond_limits", "/clients/0/client_tags/zone"),
]


@pytest.mark.parametrize(("changed", "status", "code", "pointer"), BAD, ids=lambda value: str(value)[:60])
def test_what_cannot_be_is_named(client: httpx.Client, changed: Json, status: int, code: str, pointer: str) -> None:
    only_error(problem(client.post("/v1/plans/streams", json=body_of(**changed)), status, code), pointer)


def test_an_application_without_clients_is_rejected_as_by_kafka(client: httpx.Client) -> None:
    problem(client.post("/v1/plans/streams", json=body_of(clients=[])), 422, "no_clients")


def test_a_snapshot_that_is_not_there(client: httpx.Client) -> None:
    body = body_of(snapshot_id=UNKNOWN_ID)
    problem(client.post("/v1/plans/streams", json=body), 404, "snapshot_not_found")


def test_a_plan_too_large_for_an_answer_at_once_names_the_way_to_a_job(client: httpx.Client) -> None:
    body = body_of(tasks=[f"0_{n}" for n in range(30_000)], stateful_tasks=[], clients=clients(400))
    found = problem(client.post("/v1/plans/streams", json=body), 413, "limit_exceeded")
    assert "respond-async" in found["detail"]
    accepted = client.post("/v1/plans/streams", json=body_of(), headers={"Prefer": "respond-async"})
    assert accepted.status_code == 202


class TestStored:
    """Operations on every plan."""

    def test_slices_are_tasks(self, client: httpx.Client) -> None:
        plan = planned(client, tasks=[*TASKS, "2_7"])
        path = f"/v1/plans/{plan['id']}/partitions"
        page = client.get(path, params={"page_size": 4}).json()
        assert (page["total"], len(page["items"])) == (7, 4)
        for row, task in zip(page["items"], plan["tasks"], strict=False):
            assert row == {name: task[name] for name in ("task", "active", "standby")}
        last = client.get(path, params={"topic": "2"}).json()
        assert [row["task"] for row in last["items"]] == ["2_7"]

    def test_compared_with_what_was_there_and_with_another(self, client: httpx.Client) -> None:
        before = clients(2)
        before[0]["previous_active"] = TASKS
        plan = planned(client, clients=before, num_standby_replicas=0, rack_aware_assignment_tags=[], assignor="sticky")
        found = client.get(f"/v1/plans/{plan['id']}/diff").json()
        assert found["summary"] == {
            "tasks": 6,
            "unchanged": 3,
            "active_moved": 3,
            "standbys_changed": 0,
            "added": 0,
            "removed": 0,
        }
        assert found["items"][0]["before"] == {"active": "app-0", "standby": []}
        other = planned(client)
        against = client.get(f"/v1/plans/{plan['id']}/diff", params={"against": other["id"]}).json()
        assert against["summary"]["tasks"] == 6
        same = client.get(f"/v1/plans/{plan['id']}/diff", params={"against": plan["id"]}).json()
        assert (same["summary"]["unchanged"], same["items"]) == (6, [])
        missing = client.get(f"/v1/plans/{plan['id']}/diff", params={"against": UNKNOWN_ID})
        problem(missing, 404, "plan_not_found")

    def test_written_as_csv_and_markdown(self, client: httpx.Client) -> None:
        plan = planned(client)
        exported = client.get(f"/v1/plans/{plan['id']}/export", params={"format": "csv"})
        rows = list(csv.DictReader(io.StringIO(exported.text)))
        assert len(rows) == 12
        assert rows[0] == {"task": "0_0", "role": "active", "process_id": plan["tasks"][0]["active"]}
        markdown = client.get(f"/v1/plans/{plan['id']}", headers={"Accept": "text/markdown"}).text
        assert f"| 0_0 | {plan['tasks'][0]['active']} |" in markdown
        problem(client.get(f"/v1/plans/{plan['id']}/export", params={"format": "reassignment"}), 422, "not_exportable")

    def test_looked_at(self, client: httpx.Client) -> None:
        picture = client.get(f"/v1/plans/{EXAMPLE_STREAMS_PLAN_ID}/picture.svg")
        assert picture.headers["content-type"].startswith("image/svg+xml")
        assert "4 of 4 stateful tasks ideal" in picture.text
        page = client.get(f"/plans/{EXAMPLE_STREAMS_PLAN_ID}/losses")
        assert page.status_code == 200
        for text in ("Cost of each loss", "zone=use1-az1", "high_availability"):
            assert text in page.text
        fragile = planned(client, clients=clients(2, client_tags={"zone": "a"}))
        assert "2 copies in zone=a" in client.get(f"/plans/{fragile['id']}/tasks").text

    def test_listed_by_kind(self, client: httpx.Client) -> None:
        found = client.get("/v1/plans", params={"kind": "streams"}).json()["items"]
        assert [its["id"] for its in found] == [str(EXAMPLE_STREAMS_PLAN_ID)]
        assert found[0]["labels"] == {"example": "documentation"}
        assert client.get(f"/v1/plans/{EXAMPLE_STREAMS_PLAN_ID}").json()["request"]["tasks"] == STREAMS["tasks"]


class TestRecordedGroup:
    """`group`: a Streams group of a snapshot (KIP-1071) in place of clients."""

    @pytest.fixture
    def snapshot(self, client: httpx.Client) -> str:
        text = (SAMPLES / "kafka-streams-groups-members-verbose.txt").read_text(encoding="utf-8")
        headers = {"content-type": "text/plain"}
        found: str = client.post("/v1/snapshots?cluster=streams", content=text, headers=headers).json()["id"]
        return found

    def test_processes_are_clients_with_their_tasks(self, client: httpx.Client, snapshot: str) -> None:
        """Two threads of one process are a client of capacity 2; a warm-up is a previous standby."""
        response = client.post("/v1/plans/streams", json={"snapshot_id": snapshot, "group": "enrichment"})
        assert response.status_code == 201, response.text
        plan = response.json()
        listed = [
            (client["process_id"][:4], client["capacity"], client["previous_active"], client["previous_standby"])
            for client in plan["request"]["clients"]
        ]
        assert listed == [
            ("4f1d", 2, ["0_0", "0_1", "1_0", "0_2", "1_1"], ["1_2"]),
            ("9e8d", 1, ["1_2"], ["1_0", "1_1"]),
        ]
        assert sorted(plan["request"]["tasks"]) == ["0_0", "0_1", "0_2", "1_0", "1_1", "1_2"]
        assert sorted(plan["request"]["stateful_tasks"]) == ["1_0", "1_1", "1_2"]
        assert "stateful_tasks_not_recorded" in [warning["code"] for warning in plan["warnings"]]
        # The same clients, listed, are the same plan.
        names = ("tasks", "stateful_tasks", "clients")
        explicit = {"snapshot_id": snapshot} | {name: plan["request"][name] for name in names}
        assert client.post("/v1/plans/streams", json=explicit).json()["hash"] == plan["hash"]

    def test_given_tasks_need_no_assumption(self, client: httpx.Client, snapshot: str) -> None:
        body = {"snapshot_id": snapshot, "group": "enrichment", "stateful_tasks": ["0_0"]}
        plan = client.post("/v1/plans/streams", json=body).json()
        assert plan["request"]["stateful_tasks"] == ["0_0"]
        assert "stateful_tasks_not_recorded" not in [warning["code"] for warning in plan["warnings"]]

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"group": "enrichment", "clients": [{"process_id": "a"}]}, "/clients"),
            ({"group": "unknown"}, "/group"),
            ({}, "/clients"),
            ({"group": "enrichment", "snapshot_id": None}, "/group"),
        ],
    )
    def test_what_is_no_recorded_group_is_rejected(
        self, client: httpx.Client, snapshot: str, fields: dict[str, Any], pointer: str
    ) -> None:
        response = client.post("/v1/plans/streams", json={"snapshot_id": snapshot, **fields})
        only_error(problem(response, 422, "conflicting_fields"), pointer)
