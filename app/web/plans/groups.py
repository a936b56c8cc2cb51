"""The view of a group plan: reads of each member by rack, movement, events, comparison of assignors."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.groups.registry import ASSIGNORS
from app.store.records import PlanHead
from app.web.pictures import reading as reading_picture
from app.web.pictures.reading import ReadingMember, ReadingPicture
from app.web.plans import group_words
from app.web.plans.view import View, ViewedPlan, topic_names
from app.web.words import counted

SHOWN_MEMBERS, SHOWN_STEPS = 300, 100

_PREDICTIONS = {
    "leader": "Whichever consumer leads the group computes exactly this, as long as it gets these members in this "
    "order; the assignment has no random part.",
    "coordinator": "The group coordinator computes exactly this for these members; the assignment has no random part.",
    "nowhere": "No assignor of Kafka's computes this: it is the best that there is, balanced, then read in rack, then "
    "moved least.",
}


def _title(head: PlanHead, topics: Sequence[str]) -> str:
    return f"{head.request.get('group') or topic_names(topics)} under {head.answer['assignor']}"


def _draw(viewed: ViewedPlan, style: str) -> str:
    plan = viewed.plan
    answer: Any = plan.head.answer
    members = [
        ReadingMember(
            name=member["group_instance_id"] or member["member_id"],
            rack=member["rack_id"] or None,
            in_rack=member["in_rack"],
            cross_rack=member["cross_rack"],
            unknown=member["unknown"],
        )
        for member in answer["loads"]["per_member"]
    ]
    partitions = counted(sum(len(placement.replicas) for placement in plan.placements), "partition")
    title = _title(plan.head, [placement.topic for placement in plan.placements])
    racks = [broker.rack for broker in viewed.cluster.brokers if broker.rack and not broker.fenced]
    caption = f"{title}: {partitions} read by {counted(len(members), 'member')}"
    return reading_picture.draw(ReadingPicture(caption, group_words.facts(answer), racks, members), style=style)


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer: Any = viewed.head.answer
    steps = answer["steps"]
    members = answer["loads"]["per_member"]
    return {
        "weights": [name for name in ("lag", "bytes_per_s") if name in answer["loads"]],
        "members": [
            (member, group_words.reads(answer["assignment"].get(member["member_id"], {})))
            for member in members[:SHOWN_MEMBERS]
        ],
        "members_in_all": len(members),
        "steps": list(zip(group_words.step_names(steps), steps, strict=True))[:SHOWN_STEPS],
        "steps_in_all": len(steps),
        "change_words": group_words.change_words,
        "traffic": answer.get("traffic"),
        "what_if": group_words.what_if,
        "runs_on": ASSIGNORS[answer["assignor"]].runs_on,
    }


VIEW = View(
    title=_title,
    prediction=lambda head: _PREDICTIONS[ASSIGNORS[str(head.answer["assignor"])].runs_on],
    draw=_draw,
    template="group_plan.html",
    values=_values,
)
"""How group plans are shown."""
