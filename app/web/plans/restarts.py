"""The view of a restart: its waves, the proof of their number, and the blockers in any schedule."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.core.measures.partition_table import PartitionTable
from app.web.pictures import members
from app.web.pictures.members import Member, MembersPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted, number

SHOWN_WAVES, SHOWN_BLOCKED, SHOWN_BROKERS = 300, 100, 60


def _draw(viewed: ViewedPlan, style: str) -> str:
    answer: Any = viewed.head.answer
    waves, certificate = answer["waves"], answer["certificate"]
    table = PartitionTable.of(viewed.cluster)
    loads = table.loads(np.zeros(len(table.brokers.ids), np.bool_))
    counts = zip(loads.leaders.tolist(), (loads.replicas - loads.leaders).tolist(), strict=True)
    counts_of = dict(zip(table.brokers.ids.tolist(), counts, strict=True))
    width = len(str(len(waves)))
    brokers = [
        Member(str(broker), f"{number:0{width}}", counts_of[broker])
        for number, wave in enumerate(waves, 1)
        for broker in wave["brokers"]
    ]
    bound = certificate["lower_bound_waves"]
    proof = "No schedule has fewer waves" if certificate["optimal"] else f"A schedule has at least {bound} waves"
    facts = [f"{proof}; {counted(answer['blocked_partitions'], 'partition')} blocked. A panel is a wave."]
    parts = (("leaders", "leads"), ("followers", "follows"))
    picture = MembersPicture(viewed.head.title, facts, "wave", brokers, parts, "broker", "replica")
    return members.draw(picture, style=style)


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer: Any = viewed.head.answer
    waves, blocked = answer["waves"], answer["blocked"]
    return {
        "waves": [(wave, _named(wave["brokers"])) for wave in waves[:SHOWN_WAVES]],
        "waves_in_all": len(waves),
        "resources": list(waves[0]["largest_load"]) if waves else [],
        "proofs": [(bound, _named(bound["brokers"])) for bound in answer["certificate"]["conflict"]],
        "blocked": blocked[:SHOWN_BLOCKED],
    }


def _named(brokers: Sequence[int]) -> str:
    more = f" and {number(len(brokers) - SHOWN_BROKERS)} more" if len(brokers) > SHOWN_BROKERS else ""
    return ", ".join(map(str, brokers[:SHOWN_BROKERS])) + more


VIEW = View(
    title=lambda head, _: head.title,
    draw=_draw,
    template="restart_plan.html",
    values=_values,
)
"""How restarts are shown."""
