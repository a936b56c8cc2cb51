"""The view of a restart: its waves, the proof of their number, and the blockers in any schedule."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.web.pictures import waves
from app.web.pictures.waves import Wave
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted, number

SHOWN_WAVES, SHOWN_BLOCKED, SHOWN_BROKERS = 300, 100, 60


def _draw(viewed: ViewedPlan, style: str) -> str:
    answer: Any = viewed.head.answer
    certificate = answer["certificate"]
    bound = certificate["lower_bound_waves"]
    proof = "No schedule has fewer waves" if certificate["optimal"] else f"A schedule has at least {bound} waves"
    facts = [
        f"{proof}; {counted(answer['blocked_partitions'], 'partition')} blocked.",
        "A column is a wave, with its brokers in the row of their rack.",
    ]
    listed = [Wave(wave["brokers"], wave["leaders_moved"], wave["unwritable"]) for wave in answer["waves"]]
    racks = {broker.id: broker.rack for broker in viewed.cluster.brokers if broker.rack}
    return waves.draw(viewed.head.title, facts, listed, racks, style=style)


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer: Any = viewed.head.answer
    listed, blocked = answer["waves"], answer["blocked"]
    return {
        "waves": [(wave, _named(wave["brokers"])) for wave in listed[:SHOWN_WAVES]],
        "waves_in_all": len(listed),
        "resources": list(listed[0]["largest_load"]) if listed else [],
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
