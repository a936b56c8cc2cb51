"""The view of a group plan: reads of each member by rack, movement, events, comparison of assignors."""

from collections.abc import Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from app.core.groups.registry import ASSIGNORS
from app.services.plans.record import some
from app.store.records import PlanHead
from app.web.pictures import members as members_picture
from app.web.pictures.members import Member, MembersPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted, extent, number, runs, share

PARTS = (("in rack", "in-rack"), ("across racks", "cross-rack"), ("rack unknown", "unknown"))
"""The parts of a bar in the picture, from the baseline up, in words and as a class of the style sheet."""
MOST_RUNS = 12
"""Ranges of partitions that are written out for one member; the rest is counted."""


def facts(answer: Mapping[str, Any]) -> list[str]:
    """The facts of the picture of a group, as sentences."""
    loads, optimum = answer["loads"], answer["optimum"]
    each = extent(loads["partitions"]["min"], loads["partitions"]["max"])
    spread = f"a member reads {each} partitions (spread {number(loads['partitions']['spread'])})"
    if optimum is None:
        return [_in_rack(answer), f"Members share partitions: {spread}."]
    moved = f"{counted(answer['moved'] or 0, 'partition')} moved, {number(optimum['moved'])} in the optimum"
    return [_in_rack(answer), f"{moved}; {spread}."]


def _in_rack(answer: Mapping[str, Any]) -> str:
    where, optimum = answer["locality"], answer["optimum"]
    known = where["in_rack"] + where["cross_rack"]
    if not known:
        return "The rack in which partitions are read is unknown."
    best = "" if optimum is None else f"; the optimum {number(optimum['in_rack'])}"
    unknown = f"; {number(where['unknown'])} more unknown" if where["unknown"] else ""
    shown = share(where["in_rack_share"])
    return f"In rack: {number(where['in_rack'])} of {counted(known, 'partition')} ({shown}){best}{unknown}."


def reads(by_topic: Mapping[str, Sequence[int]]) -> str:
    """The partitions of a member, with neighbouring ones as ranges: `orders 0–2, 5; payments 1`."""
    left, written = MOST_RUNS, []
    for topic, partitions in by_topic.items():
        shown = list(islice(runs(partitions), left + 1))
        if shown[:left]:
            written.append(f"{topic} {', '.join(shown[:left])}")
        if len(shown) > left:  # the others, of which there may be a million, are not looked at
            return "; ".join(written) + " …"
        left -= len(shown)
    return "; ".join(written)


SHOWN_MEMBERS, SHOWN_STEPS = 300, 100


def _title(head: PlanHead, topics: Sequence[str]) -> str:
    return f"{head.request.get('group') or some(topics, noun='topic')} under {head.answer['assignor']}"


def _draw(viewed: ViewedPlan, style: str) -> str:
    plan = viewed.plan
    answer: Any = plan.head.answer
    members = [
        Member(
            member["group_instance_id"] or member["member_id"],
            member["rack_id"] or None,
            (member["in_rack"], member["cross_rack"], member["unknown"]),
        )
        for member in answer["loads"]["per_member"]
    ]
    partitions = counted(sum(len(placement.replicas) for placement in plan.placements), "partition")
    title = _title(plan.head, [placement.topic for placement in plan.placements])
    racks = [broker.rack for broker in viewed.cluster.brokers if broker.rack and not broker.fenced]
    caption = f"{title}: {partitions} read by {counted(len(members), 'member')}"
    picture = MembersPicture(
        caption, facts(answer) if style else [], "rack", members, PARTS, "member", "partition", racks
    )
    return members_picture.draw(picture, style=style)


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer: Any = viewed.head.answer
    members = answer["loads"]["per_member"][:SHOWN_MEMBERS]
    by_event = (list(steps) for _, steps in groupby(answer["steps"], key=itemgetter("event_index")))
    steps = ((step, place, len(of_event)) for of_event in by_event for place, step in enumerate(of_event, 1))
    return {
        "facts": facts(answer),
        "members": [(member, reads(answer["assignment"].get(member["member_id"], {}))) for member in members],
        "steps": [*islice(steps, SHOWN_STEPS)],
        "runs_on": ASSIGNORS[answer["assignor"]].runs_on,
    }


VIEW = View(
    title=_title,
    draw=_draw,
    template="group_plan.html",
    values=_values,
    tabs={"members": "Members", "assignors": "Assignors", "traffic": "Traffic", "events": "Events"},
)
"""How group plans are shown."""
