"""The view of a Streams plan: tasks of each client, tasks that are not ideal, the cost of each loss."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.store.records import PlanHead
from app.web.pictures import members
from app.web.pictures.members import Member, MembersPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted, extent, number

_PARTS = (("active", "leads"), ("standby", "follows"), ("warm-up", "cross-rack"))
SHOWN_CLIENTS, SHOWN_ROWS = 300, 100


def _title(head: PlanHead, _: Sequence[str]) -> str:
    answer: Any = head.answer
    size = f"{counted(len(answer['tasks']), 'task')} over {counted(len(answer['loads']['per_client']), 'client')}"
    return f"{size} under {answer['assignor']}"


def _draw(viewed: ViewedPlan, style: str) -> str:
    answer: Any = viewed.head.answer
    request: Any = viewed.head.request
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
    picture = MembersPicture(title, _facts(answer) if style else [], tag or "rack", clients, _PARTS, "client", "task")
    return members.draw(picture, style=style)


def _facts(answer: Mapping[str, Any]) -> list[str]:
    judged = [task["ideal"] for task in answer["tasks"] if task["ideal"] is not None]
    ideal = f"{number(sum(judged))} of {counted(len(judged), 'stateful task')} ideal"
    loads, moved = answer["loads"]["active"], answer["movement"]
    each = extent(loads["min"], loads["max"])
    sentences = [f"{ideal}; a client runs {each} tasks; {number(moved['active_moved'])} moved."]
    if answer["probing_rebalance"]:
        warmups = counted(answer["loads"]["warmup"]["total"], "warm-up")
        sentences.append(f"{warmups} restore state; a probing rebalance follows.")
    return sentences


VIEW = View(
    title=_title,
    draw=_draw,
    template="streams_plan.html",
    values=lambda viewed: {"facts": _facts(viewed.head.answer), "most_clients": SHOWN_CLIENTS, "most": SHOWN_ROWS},
    tabs={"clients": "Clients", "tasks": "Tasks", "losses": "Losses", "events": "Events"},
)
"""How Streams plans are shown."""
