"""The view of a group plan: reads of each member by rack, movement, events, comparison of assignors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

from app.core.groups.registry import ASSIGNORS
from app.store.records import PlanHead
from app.web.pictures import members as members_picture
from app.web.pictures.members import Member, MembersPicture
from app.web.plans.view import View, ViewedPlan, topic_names
from app.web.words import counted, number, share

PARTS = (("in rack", "in-rack"), ("across racks", "cross-rack"), ("rack unknown", "unknown"))
"""The parts of a bar in the picture, from the baseline up, in words and as a class of the style sheet."""
MOST_RUNS = 12
"""Ranges of partitions that are written out for one member; the rest is counted."""

_CHANGES = {
    "appeared": "the topic is new",
    "vanished": "the topic was deleted",
    "partitions": "the number of partitions changed",
    "racks": "replicas are in other racks",
}


def facts(answer: Mapping[str, Any]) -> list[str]:
    """The facts of the picture of a group, as sentences."""
    loads, optimum = answer["loads"], answer["optimum"]
    spread = f"a member reads {_range(loads['partitions'])} partitions (spread {number(loads['partitions']['spread'])})"
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


def _range(evenness: Mapping[str, Any]) -> str:
    low, high = evenness["min"], evenness["max"]
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def event_words(event: Mapping[str, Any]) -> str:
    """The event of a step."""
    match event:
        case {"join": joined}:
            words = f"{joined['member_id']} joins{_rack_of(joined)}"
        case {"leave": member_id}:
            words = f"{member_id} leaves"
        case {"replace": {"member_id": member_id, "by": by}}:
            words = f"{member_id} rejoins as {by['member_id']}{_rack_of(by)}"
        case {"lose_rack": rack}:
            words = f"Rack {rack} is lost"
        case {"topic_grown": grown}:
            words = f"{grown['topic']} grows to {counted(grown['partitions'], 'partition')}"
        case {"replica_racks_changed": changed}:
            brokers, topics = len(changed.get("brokers") or ()), len(changed.get("replicas") or ())
            parts = [counted(brokers, "broker")] * bool(brokers) + [counted(topics, "topic")] * bool(topics)
            words = f"The racks of {' and '.join(parts) or 'nothing'} change"
        case _:
            words = "A member is restarted"
    return words


def _rack_of(member: Mapping[str, Any]) -> str:
    return f" in rack {member['rack_id']}" if member.get("rack_id") else ""


def step_names(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """The event of each step; steps of one event are numbered."""
    names = []
    for _, group in groupby(steps, key=lambda step: step["event_index"]):
        of_event = list(group)
        words = event_words(of_event[0]["event"])
        if len(of_event) == 1:
            names.append(words)
        else:
            names += [f"{words} ({place} of {len(of_event)})" for place in range(1, len(of_event) + 1)]
    return names


def change_words(change: Mapping[str, Any]) -> str:
    """The change of a topic, and its partitions."""
    words = f"{change['topic']}: {_CHANGES.get(change['what'], change['what'])}"
    if not change["partitions"]:
        return words
    named = ", ".join(runs(change["partitions"]))
    hidden = change["count"] - len(change["partitions"])
    return f"{words} (partitions {named}{f' and {hidden:,} more' if hidden > 0 else ''})"


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


def runs(partitions: Sequence[int]) -> Iterator[str]:
    """Ascending partition ids, neighbours as one range."""
    ordered = sorted(partitions)
    begin = 0
    for index in range(1, len(ordered) + 1):
        if index == len(ordered) or ordered[index] != ordered[index - 1] + 1:
            first, last = ordered[begin], ordered[index - 1]
            yield str(first) if first == last else f"{first}–{last}"
            begin = index


SHOWN_MEMBERS, SHOWN_STEPS = 300, 100


def _title(head: PlanHead, topics: Sequence[str]) -> str:
    return f"{head.request.get('group') or topic_names(topics)} under {head.answer['assignor']}"


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
    steps = answer["steps"]
    members = answer["loads"]["per_member"]
    return {
        "facts": facts(answer),
        "weights": [name for name in ("lag", "bytes_per_s") if name in answer["loads"]],
        "members": [
            (member, reads(answer["assignment"].get(member["member_id"], {}))) for member in members[:SHOWN_MEMBERS]
        ],
        "members_in_all": len(members),
        "steps": list(zip(step_names(steps), steps, strict=True))[:SHOWN_STEPS],
        "steps_in_all": len(steps),
        "change_words": change_words,
        "traffic": answer.get("traffic"),
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
