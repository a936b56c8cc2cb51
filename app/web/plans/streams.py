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
        "steps": [(_event_words(step), step) for step in answer["steps"][:SHOWN_STEPS]],
        "steps_in_all": len(answer["steps"]),
        "best": answer["best_standbys"],
        "addition": answer["addition"],
        "tags": request["rack_aware_assignment_tags"],
        "standbys": request["num_standby_replicas"],
        "why": _why,
        "compared": answer.get("compared_with_classic"),
        "assigned_by": "the coordinator of the group" if _in_group(viewed.head) else "the leader of the group",
    }


def _event_words(step: Mapping[str, Any]) -> str:
    """The event of a step in words."""
    match step["event"]:
        case {"rolling_deploy": _}:
            words = f"{step['process_id']} is restarted"
        case {"deploy_at_once": _}:
            words = "All clients are restarted together"
        case {"lose_client": name}:
            words = f"{name} is lost"
        case {"lose_tag": {"tag": tag, "value": value}}:
            words = f"{tag}={value} is lost"
        case {"lose_rack": rack}:
            words = f"Rack {rack} is lost"
        case {"scale_in": names}:
            words = _together(names, "leaves", "leave")
        case event:
            words = _together([client["process_id"] for client in event["scale_out"]], "joins", "join")
    return words


def _together(names: Sequence[str], does: str, do: str) -> str:
    return f"{names[0]} {does}" if len(names) == 1 else f"{counted(len(names), 'client')} {do}"


def _why(task: Mapping[str, Any]) -> str:
    """Why a task is not ideal, in a few words."""
    reasons = []
    if task["missing_standbys"]:
        reasons.append(f"{counted(task['missing_standbys'], 'standby')} missing")
    for shared in task["shared"]:
        if shared["value"] is None:
            reasons.append(f"{counted(shared['copies'], 'client')} without {shared['tag']}")
        else:
            reasons.append(f"{shared['copies']} copies in {shared['tag']}={shared['value']}")
    return ", ".join(reasons)


def _in_group(head: PlanHead) -> bool:
    return bool(_both(head)[0]["protocol"] == "streams")


def _prediction(head: PlanHead) -> str:
    if not _in_group(head):
        return (
            "The group's leader computes exactly this for these clients under the classic protocol; the assignment "
            "has no random part."
        )
    if any(warning["code"] == "ties_broken_by_chance" for warning in _both(head)[0]["warnings"]):
        return "The coordinator computes an assignment as balanced as this: it breaks ties by chance in this release."
    return (
        "The coordinator computes exactly this for these members under the streams protocol; the assignment has no "
        "random part."
    )


def _both(head: PlanHead) -> tuple[Any, Any]:
    return head.answer, head.request


VIEW = View(
    title=_title,
    prediction=_prediction,
    draw=_draw,
    template="streams_plan.html",
    values=_values,
    tabs={"clients": "Clients", "tasks": "Tasks", "losses": "Losses", "events": "Events"},
)
"""How Streams plans are shown."""
