"""Laws of plans of Kafka Streams: verdicts, losses, loads and movement follow from the assignment."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from hypothesis import event, given

from app.services.limits import Limits
from app.services.plans import draft_plan, plan_json
from app.services.streams import PLAN_KIND
from tests import draws as st
from tests.profiles import examples

Json = dict[str, Any]


@st.composite
def applications(draw: st.DrawFn) -> Json:
    """Up to five clients with a zone and up to six tasks, some of which had a client before."""
    tasks = [f"0_{number}" for number in range(draw(st.integers(1, 6)))]
    stateful = [task for task in tasks if draw(st.integers(0, 3))]
    clients: list[Json] = [
        {
            "process_id": str(UUID(int=draw(st.integers(0, 2**120)) << 3 | number)),
            "capacity": draw(st.integers(1, 3)),
            "client_tags": {"zone": draw(st.sampled_from("abc"))},
            "previous_active": [],
            "previous_standby": [],
        }
        for number in range(draw(st.integers(1, 5)))
    ]
    for task in tasks:
        if draw(st.booleans()):
            draw(st.sampled_from(clients))["previous_active"].append(task)
    return {
        "tasks": tasks,
        "stateful_tasks": stateful,
        "clients": clients,
        "num_standby_replicas": draw(st.integers(0, 2)),
        "rack_aware_assignment_tags": ["zone"],
        "state_bytes": dict.fromkeys(stateful, 7),
        "assignor": draw(st.sampled_from(["high_availability", "sticky", "fallback_prior"])),
    }


def planned(request: Json) -> Json:
    """The answer to a request that lists its clients."""
    planner = PLAN_KIND.planner
    body = planner.reader.validate_python(request)
    answer: Json = json.loads(plan_json(draft_plan(planner, body, None, Limits())))
    return answer


@given(applications())
@examples(60)
def test_tasks_losses_loads_and_movement_follow_from_the_assignment(request: Json) -> None:
    answer = planned(request)
    clients = {client["process_id"]: client for client in request["clients"]}
    assigned, stateful = answer["assignment"], set(request["stateful_tasks"])
    active = {task: client for client, tasks in assigned.items() for task in tasks["active"]}
    assert Counter(task for tasks in assigned.values() for task in tasks["active"]) == Counter(request["tasks"])
    copies = {task: {client for client in assigned if task in assigned[client]["standby"]} for task in request["tasks"]}
    for row in answer["tasks"]:
        task = row["task"]
        settled = [client for client in copies[task] if task not in assigned[client]["warmup"]]
        zones = Counter(clients[client]["client_tags"]["zone"] for client in [active[task], *settled])
        shared = {zone: count for zone, count in zones.items() if count > 1} if task in stateful else {}
        assert (row["active"], set(row["standby"])) == (active[task], set(settled))
        assert {each["value"]: each["copies"] for each in row["shared"]} == shared
        if task in stateful:
            assert row["missing_standbys"] == max(0, request["num_standby_replicas"] - len(settled))
            assert row["ideal"] == (not shared and row["missing_standbys"] == 0)

    def loss(lost: Iterable[str]) -> tuple[set[str], set[str], set[str]]:
        gone = set(lost)
        stopped = {task for task, client in active.items() if client in gone}
        promoted = {task for task in stopped & stateful if copies[task] - gone}
        return stopped & stateful - promoted, promoted, stopped - stateful

    def reported(row: Json) -> tuple[set[str], set[str], set[str]]:
        return set(row["without_survivor"]), {each["task"] for each in row["promoted"]}, set(row["moved"])

    for client, row in answer["if_client_lost"].items():
        assert reported(row) == loss([client])
    for tag, row in answer["if_lost"].items():
        zone = tag.removeprefix("zone=")
        assert reported(row) == loss(name for name, each in clients.items() if each["client_tags"]["zone"] == zone)
    for row in answer["loads"]["per_client"]:
        tasks = assigned[row["process_id"]]
        warmups = len(tasks["warmup"])
        counts = (len(tasks["active"]), len(tasks["standby"]) - warmups, warmups)
        assert (row["active"], row["standby"], row["warmup"]) == counts
    previous = {task: name for name, client in clients.items() for task in client["previous_active"]}
    kept = sum(previous.get(task) == client for task, client in active.items())
    restored = sum(previous.get(task) != client for task in stateful for client in {active[task], *copies[task]})
    event(f"{request['assignor']}, {'something' if restored else 'nothing'} is restored")
    assert answer["movement"] == {
        "active_kept": kept,
        "active_moved": len(previous) - kept,
        "active_started": len(active) - len(previous),
        "restored_copies": restored,
        "restored_bytes": 7 * restored if stateful else None,
    }
