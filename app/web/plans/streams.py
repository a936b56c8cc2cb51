"""The view of a Streams plan: tasks of each client, tasks that are not ideal, the cost of each loss."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.store.records import PlanHead
from app.web.pictures import members
from app.web.pictures.members import Member, MembersPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted, number

_PARTS = (("active", "leads"), ("standby", "follows"), ("warm-up", "cross-rack"))
SHOWN_TASKS, SHOWN_CLIENTS, SHOWN_LOSSES, SHOWN_STEPS = 100, 300, 100, 100


def _title(head: PlanHead, _: Sequence[str]) -> str:
    answer: Any = head.answer
    size = f"{counted(len(answer['tasks']), 'task')} over {counted(len(answer['loads']['per_client']), 'client')}"
    return f"{size} under {answer['assignor']}"


def _draw(viewed: ViewedPlan, style: str) -> str:
    answer, request = _both(viewed.head)
    tag = next(iter(request["rack_aware_assignment_tags"]), None)
    clients = [
        Member(
            client["process_id"],
            client["client_tags"].get(tag) if tag else client["rack_id"],
            (client["active"], client["standby"], client["warmup"]),
        )
        for client in answer["loads"]["per_client"]
    ]
    title = _title(viewed.head, ())
    picture = MembersPicture(title, _facts(answer), tag or "rack", clients, _PARTS, "client", "task")
    return members.draw(picture, style=style)


def _facts(answer: Mapping[str, Any]) -> list[str]:
    judged = [task["ideal"] for task in answer["tasks"] if task["ideal"] is not None]
    ideal = f"{number(sum(judged))} of {counted(len(judged), 'stateful task')} ideal"
    loads, moved = answer["loads"]["active"], answer["movement"]
    least, most = number(loads["min"]), number(loads["max"])
    each = least if least == most else f"{least} to {most}"
    sentences = [f"{ideal}; a client runs {each} tasks; {number(moved['active_moved'])} moved."]
    if answer["probing_rebalance"]:
        warmups = counted(answer["loads"]["warmup"]["total"], "warm-up")
        sentences.append(f"{warmups} restore state; a probing rebalance follows.")
    return sentences


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer, request = _both(viewed.head)
    tasks = answer["tasks"]
    fragile = [task for task in tasks if task["ideal"] is False]
    losses = list(answer["if_lost"].items())
    clients = answer["loads"]["per_client"]
    return {
        "facts": _facts(answer),
        "ideal_tasks": sum(task["ideal"] is True for task in tasks),
        "stateful_tasks": sum(task["stateful"] for task in tasks),
        "fragile": fragile[:SHOWN_TASKS],
        "fragile_in_all": len(fragile),
        "losses": losses[:SHOWN_LOSSES],
        "losses_in_all": len(losses),
        "clients": [(client, answer["if_client_lost"][client["process_id"]]) for client in clients[:SHOWN_CLIENTS]],
        "clients_in_all": len(clients),
        "steps": answer["steps"][:SHOWN_STEPS],
        "steps_in_all": len(answer["steps"]),
        "best": answer["best_standbys"],
        "addition": answer["addition"],
        "tags": request["rack_aware_assignment_tags"],
        "standbys": request["num_standby_replicas"],
        "compared": answer.get("compared_with_classic"),
        "in_group": answer["protocol"] == "streams",
    }


def _both(head: PlanHead) -> tuple[Any, Any]:
    return head.answer, head.request


VIEW = View(
    title=_title,
    draw=_draw,
    template="streams_plan.html",
    values=_values,
    tabs={"clients": "Clients", "tasks": "Tasks", "losses": "Losses", "events": "Events"},
)
"""How Streams plans are shown."""
