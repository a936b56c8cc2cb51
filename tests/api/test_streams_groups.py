"""`POST /v1/plans/streams` under `protocol: "streams"`: the coordinator's assignor (KIP-1071), measured and by hand."""

import json
from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.conftest import SAMPLES, VECTORS

Json = dict[str, Any]
TASKS = [f"0_{number}" for number in range(6)]
ZONES = "aabbcc"


def requested(**changed: Any) -> Json:
    """Six processes of one thread over three zones, six stateful tasks, one standby; None leaves a field out."""
    body: Json = {
        "protocol": "streams",
        "kafka_version": "4.2",
        "tasks": TASKS,
        "stateful_tasks": TASKS,
        "num_standby_replicas": 1,
        "clients": [
            {
                "process_id": f"app-{place}",
                "client_tags": {"zone": zone},
                "rack_id": zone,
                "members": [{"member_id": f"m-{place}"}],
            }
            for place, zone in enumerate(ZONES)
        ],
    }
    return {name: value for name, value in (body | changed).items() if value is not None}


def planned(client: httpx.Client, body: Json) -> Json:
    response = client.post("/v1/plans/streams", json=body)
    assert response.status_code == 201, response.text
    plan: Json = response.json()
    return plan


def codes(plan: Json) -> list[str]:
    return [warning["code"] for warning in plan["warnings"]]


def is_expressible(case: Json) -> bool:
    """Whether a request can have the case: subtopologies as Kafka Streams numbers them, in the coordinator's order."""
    given = case["input"]
    ids = [subtopology["id"] for subtopology in given["subtopologies"]]
    names = [*ids, *(entry[0] for member in given["members"] for role in ROLES for entry in member.get(role) or ())]
    active = [
        (entry[0], partition)
        for member in given["members"]
        for entry in member.get("active") or ()
        for partition in entry[1]
    ]
    return (
        "error" not in case["expected"]
        and ids == sorted(set(ids))
        and sum(subtopology["n_partitions"] for subtopology in given["subtopologies"]) > 0
        and all(name.isdigit() and str(int(name)) == name for name in names)
        and len(active) == len(set(active))
        and all(member["id"] and member["process_id"] for member in given["members"])
        and given["configs"].get("num.standby.replicas", "0").isdigit()
    )


ROLES = ("active", "standby", "task_offsets")


def cases(release: str, every: int) -> list[Json]:
    lines = (VECTORS / f"streams_group_sticky_{release}.jsonl").read_text().splitlines()
    return [case for case in map(json.loads, lines) if is_expressible(case)][::every]


def names(listed: list[Any]) -> list[str]:
    return [f"{subtopology}_{partition}" for subtopology, partitions in listed for partition in partitions]


def request_of(given: Json) -> Json:
    by_process: dict[str, list[Json]] = {}
    for member in given["members"]:
        offsets = {
            f"{subtopology}_{partition}": offset
            for subtopology, reported in member.get("task_offsets") or ()
            for partition, offset in reported
        }
        by_process.setdefault(member["process_id"], []).append(
            {
                "member_id": member["id"],
                "previous_active": names(member.get("active") or []),
                "previous_standby": names(member.get("standby") or []),
                "task_offsets": offsets,
            }
        )
    tasks = {
        f"{subtopology['id']}_{partition}": subtopology["stateful"]
        for subtopology in given["subtopologies"]
        for partition in range(subtopology["n_partitions"])
    }
    return {
        "protocol": "streams",
        "kafka_version": given["kafka_version"],
        "tasks": list(tasks),
        "stateful_tasks": [task for task, is_stateful in tasks.items() if is_stateful],
        "num_standby_replicas": int(given["configs"].get("num.standby.replicas", 0)),
        "clients": [{"process_id": process, "members": members} for process, members in by_process.items()],
    }


@pytest.mark.parametrize(
    "case",
    [case for release in ("4_1", "4_2", "4_3", "4_4") for case in cases(release, 12)],
    ids=lambda case: f"{case['input']['kafka_version']}-{case['name']}",
)
def test_members_have_the_tasks_that_kafka_gave_them(client: httpx.Client, case: Json) -> None:
    plan = planned(client, request_of(case["input"]))
    if case["hash_sensitivity"] == "identity":
        assert "ties_broken_by_chance" in codes(plan)
        return
    answered = {
        member: tasks for process in plan["assignment"].values() for member, tasks in process["members"].items()
    }
    for member, expected in case["expected"]["assignment"].items():
        for role in ("active", "standby"):
            assert sorted(answered[member][role]) == sorted(names(expected[role])), (member, role)


class TestAnswer:
    def test_tasks_whose_copies_share_a_zone_are_beside_those_of_the_classic_assignor(
        self, client: httpx.Client
    ) -> None:
        """Two processes that each have one task's active and the other's standby, in one zone, lose both with it."""
        pairs = [("app-0", "0_0", "0_1"), ("app-1", "0_1", "0_0"), ("app-2", "0_2", "0_3"), ("app-3", "0_3", "0_2")]
        members = {
            process: {"member_id": f"m{process}", "previous_active": [active], "previous_standby": [standby]}
            for process, active, standby in pairs
        }
        plan = planned(
            client,
            requested(
                tasks=TASKS[:4],
                stateful_tasks=TASKS[:4],
                clients=[
                    {"process_id": process, "client_tags": {"zone": zone}, "rack_id": zone, "members": [member]}
                    for (process, member), zone in zip(members.items(), "aabb", strict=True)
                ],
            ),
        )
        assert plan["compared_with_classic"] == {
            "assignor": "high_availability",
            "single_value_tasks": [
                {
                    "by": by,
                    "kind": kind,
                    "values": 2,
                    "tasks": 4,
                    "named_tasks": TASKS[:4],
                    "of_classic": 0,
                    "of_best_standbys": 0,
                }
                for by, kind in (("zone", "tag"), ("rack", "rack"))
            ],
        }
        assert plan["movement"]["active_moved"] == plan["movement"]["restored_copies"] == 0
        assert plan["protocol"], plan["assignor"] == ("streams", "sticky")

    def test_without_standbys_every_task_is_in_one_zone(self, client: httpx.Client) -> None:
        plan = planned(client, requested(num_standby_replicas=0))
        by_zone = plan["compared_with_classic"]["single_value_tasks"][0]
        assert (by_zone["tasks"], by_zone["of_classic"], by_zone["of_best_standbys"]) == (6, 6, 6)

    def test_the_classic_protocol_has_none_of_it(self, client: httpx.Client) -> None:
        clients = [{"process_id": "app-0"}]
        plan = planned(client, requested(protocol="classic", clients=clients, num_standby_replicas=0))
        assert plan["compared_with_classic"] is None
        assert plan["assignment"]["app-0"]["members"] is None
        explicit = requested(protocol=None, assignor="high_availability", clients=clients, num_standby_replicas=0)
        assert planned(client, explicit)["hash"] == plan["hash"]

    def test_members_that_are_not_listed_are_assumed(self, client: httpx.Client) -> None:
        plan = planned(client, requested(clients=[{"process_id": "app-0", "capacity": 2}, {"process_id": "app-1"}]))
        assert [list(process["members"]) for process in plan["assignment"].values()] == [
            ["app-0-1", "app-0-2"],
            ["app-1-1"],
        ]
        assert "member_ids_assumed" in codes(plan)

    @pytest.mark.parametrize(
        ("changed", "code"),
        [
            ({"rack_aware_assignment_tags": ["zone"]}, "assignor_ignores_tags"),
            ({"rack_aware_assignment_strategy": "min_traffic"}, "assignor_ignores_racks"),
            ({"num_standby_replicas": 3}, "standbys_above_brokers_limit"),
            ({"kafka_version": "4.1"}, "ties_broken_by_chance"),
        ],
    )
    def test_what_kafka_does_silently_is_a_warning(self, client: httpx.Client, changed: Json, code: str) -> None:
        assert code in codes(planned(client, requested(**changed)))
        assert code not in codes(planned(client, requested()))

    def test_offsets_decide_between_standbys_since_4_4(self, client: httpx.Client) -> None:
        """The owner is gone; of two standbys of equal load, the one that has restored more runs the task."""
        clients: list[Any] = [
            {
                "process_id": process,
                "members": [{"member_id": process, "previous_standby": ["0_0"], "task_offsets": {"0_0": offset}}],
            }
            for process, offset in (("p1", 10), ("p2", 20), ("p3", 5))
        ]
        body = requested(tasks=["0_0"], stateful_tasks=["0_0"], num_standby_replicas=2, clients=clients)
        plan = planned(client, body | {"kafka_version": "4.4"})
        assert plan["assignment"]["p2"]["active"] == ["0_0"]
        for listed in clients:
            del listed["members"][0]["task_offsets"]
        assert "task_offsets_unknown" in codes(planned(client, body | {"kafka_version": "4.4"}))


class TestStored:
    def test_the_page_names_the_coordinator_and_what_one_rack_takes(self, client: httpx.Client) -> None:
        plan = planned(client, requested(num_standby_replicas=0))
        page = client.get(f"/plans/{plan['id']}").text
        assert "run by the coordinator of the group" in client.get(f"/plans/{plan['id']}/about").text
        assert "Tasks whose copies are all in one place" in client.get(f"/plans/{plan['id']}/tasks").text
        assert "computes exactly this for these members" in page
        by_chance = planned(client, requested(kafka_version="4.1"))
        assert "breaks ties by chance" in client.get(f"/plans/{by_chance['id']}").text
        for suffix in ("/picture.svg", "/export?format=csv", "/export?format=markdown"):
            assert client.get(f"/v1/plans/{plan['id']}{suffix}").status_code == 200

    def test_compared_with_the_members_previous_tasks(self, client: httpx.Client) -> None:
        """A settled assignment changes nothing."""
        members = [{"member_id": f"m{n}", "previous_active": TASKS[3 * n : 3 * n + 3]} for n in range(2)]
        body = requested(num_standby_replicas=0, clients=[{"process_id": "app-0", "members": members}])
        difference = client.get(f"/v1/plans/{planned(client, body)['id']}/diff").json()
        assert (difference["summary"]["unchanged"], difference["items"]) == (6, [])


class TestEvents:
    def test_each_step_has_the_members_of_its_group(self, client: httpx.Client) -> None:
        plan = planned(
            client,
            requested(
                events=[
                    {"lose_client": "app-0"},
                    {"lose_rack": "c"},
                    {"scale_in": ["app-1"]},
                    {"scale_out": [{"process_id": "app-9", "member_ids": ["x", "y"], "capacity": 2}]},
                    {"deploy_at_once": {"keeps_state": False}},
                ]
            ),
        )
        assert [list(step["assignment"]) for step in plan["steps"]] == [
            [f"app-{place}" for place in (1, 2, 3, 4, 5)],
            ["app-1", "app-2", "app-3"],
            ["app-2", "app-3"],
            ["app-2", "app-3", "app-9"],
            ["app-2", "app-3", "app-9"],
        ]
        assert list(plan["steps"][3]["assignment"]["app-9"]["members"]) == ["x", "y"]
        assert all(step["settled"] and not step["probing_rebalances"] for step in plan["steps"])
        for step in plan["steps"]:
            active = [task for process in step["assignment"].values() for task in process["active"]]
            assert sorted(active) == TASKS

    def test_a_lost_standby_owner_moves_no_active_task(self, client: httpx.Client) -> None:
        """With six tasks over six processes, the tasks of a lost process go to where their standbys are."""
        plan = planned(client, requested(events=[{"lose_client": "app-0"}]))
        lost = plan["assignment"]["app-0"]["active"]
        step = plan["steps"][0]
        assert step["interrupted"] == step["active_moved"] == len(lost)
        assert step["without_copy"] == []

    def test_a_rolling_deploy_leaves_and_joins_under_new_ids(self, client: httpx.Client) -> None:
        plan = planned(client, requested(events=[{"rolling_deploy": {}}]))
        assert [step["process_id"] for step in plan["steps"]] == [f"app-{place}" for place in range(6)]
        assert [[rebalance["cause"] for rebalance in step["rebalances"]] for step in plan["steps"]] == [
            ["left", "restarted"]
        ] * 6
        assert list(plan["steps"][-1]["assignment"]["app-0"]["members"]) == ["m-0-restarted"]


class TestRecorded:
    @pytest.fixture
    def snapshot(self, client: httpx.Client) -> str:
        text = (SAMPLES / "kafka-streams-groups-members-verbose.txt").read_text(encoding="utf-8")
        headers = {"content-type": "text/plain"}
        found: str = client.post("/v1/snapshots?cluster=streams", content=text, headers=headers).json()["id"]
        return found

    def test_members_start_from_their_target_tasks(self, client: httpx.Client, snapshot: str) -> None:
        """A warm-up in the target assignment is not read by the assignor."""
        body = {"snapshot_id": snapshot, "group": "enrichment", "protocol": "streams", "kafka_version": "4.2"}
        plan = planned(client, body)
        listed = [
            (member["member_id"][:2], member["previous_active"], member["previous_standby"])
            for process in plan["request"]["clients"]
            for member in process["members"]
        ]
        assert listed == [
            ("k3", ["0_0", "0_1", "1_0"], ["1_2"]),
            ("uW", ["0_2"], []),
            ("zP", ["1_1", "1_2"], ["1_0"]),
        ]
        assert "target_tasks_not_recorded" not in codes(plan)

    @pytest.mark.parametrize("sample", ["members", "members-verbose"])
    def test_the_other_tables_will_do(self, client: httpx.Client, sample: str) -> None:
        text = (SAMPLES / f"kafka-streams-groups-{sample}.txt").read_text(encoding="utf-8")
        state = (SAMPLES / "kafka-streams-groups-state-verbose.txt").read_text(encoding="utf-8")
        response = client.post(
            "/v1/snapshots?cluster=streams", content=f"{text}\n{state}", headers={"content-type": "text/plain"}
        )
        body = {"snapshot_id": response.json()["id"], "group": "enrichment", "protocol": "streams"}
        plan = planned(client, body | {"kafka_version": "4.3"})
        assert ("target_tasks_not_recorded" in codes(plan)) == (sample == "members")
        active = [task for process in plan["assignment"].values() for task in process["active"]]
        assert sorted(active) == ["0_0", "0_1", "0_2", "1_0", "1_1", "1_2"]


MEMBER = {"member_id": "m"}


@pytest.mark.parametrize(
    ("changed", "code", "pointer"),
    [
        ({"kafka_version": "4.0.1"}, "assignor_unavailable", "/protocol"),
        ({"kafka_version": "5.0"}, "unsupported_kafka_version", "/kafka_version"),
        ({"assignor": "high_availability"}, "conflicting_fields", "/assignor"),
        ({"tasks": [], "stateful_tasks": []}, "conflicting_fields", "/subtopologies"),
        ({"tasks": None, "stateful_tasks": None}, "conflicting_fields", "/tasks"),
        ({"tasks": ["0_0", "0_2147483647"], "stateful_tasks": []}, "conflicting_fields", "/tasks"),
        ({"stateful_tasks": TASKS[:2]}, "conflicting_fields", "/stateful_tasks"),
        ({"protocol": "classic"}, "conflicting_fields", "/clients/0/members"),
        (
            {"clients": [{"process_id": "a", "capacity": 2, "previous_active": ["0_0"]}]},
            "conflicting_fields",
            "/clients/0/previous_active",
        ),
        (
            {"clients": [{"process_id": "a", "members": [MEMBER], "previous_standby": ["0_0"]}]},
            "conflicting_fields",
            "/clients/0/previous_standby",
        ),
        (
            {"clients": [{"process_id": "a", "members": [MEMBER], "capacity": 3}]},
            "conflicting_fields",
            "/clients/0/capacity",
        ),
        ({"clients": [{"process_id": "a", "capacity": 2_000_000}]}, "conflicting_fields", "/clients/0/capacity"),
        (
            {"clients": [{"process_id": name, "members": [MEMBER]} for name in "ab"]},
            "duplicate_member",
            "/clients/1/members/0/member_id",
        ),
        (
            {
                "clients": [
                    {
                        "process_id": "a",
                        "members": [{"member_id": name, "previous_active": ["0_0"]} for name in "mn"],
                    }
                ]
            },
            "conflicting_fields",
            "/clients/0/members/1/previous_active",
        ),
        (
            {"clients": [{"process_id": "a", "members": [MEMBER | {"task_offsets": {"x": 1}}]}]},
            "impossible_value",
            "/clients/0/members/0/task_offsets/x",
        ),
        (
            {"events": [{"rolling_deploy": {"outlasts_session": False}}]},
            "conflicting_fields",
            "/events/0/rolling_deploy/outlasts_session",
        ),
        (
            {"events": [{"scale_out": [{"process_id": "z", "member_ids": ["m-0"]}]}]},
            "duplicate_member",
            "/events/0/scale_out/0/member_ids/0",
        ),
        (
            {"events": [{"scale_out": [{"process_id": "z", "capacity": 3, "member_ids": ["n"]}]}]},
            "conflicting_fields",
            "/events/0/scale_out/0/capacity",
        ),
    ],
)
def test_what_cannot_be_is_named(client: httpx.Client, changed: Json, code: str, pointer: str) -> None:
    only_error(problem(client.post("/v1/plans/streams", json=requested(**changed)), 422, code), pointer)


def test_tasks_without_members_are_rejected_as_kafka_does(client: httpx.Client) -> None:
    rejection = problem(client.post("/v1/plans/streams", json=requested(clients=[])), 422, "no_members_for_tasks")
    assert "6 tasks" in rejection["detail"]
