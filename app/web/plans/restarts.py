"""The view of a restart: its waves, the proof of their number, and the blockers in any schedule."""

from typing import Any

from app.web.pictures import waves
from app.web.pictures.waves import Wave
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted

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


VIEW = View(
    title=lambda head, _: head.title,
    draw=_draw,
    template="restart_plan.html",
    values=lambda _: {"most_waves": SHOWN_WAVES, "most_blocked": SHOWN_BLOCKED, "most_brokers": SHOWN_BROKERS},
)
"""How restarts are shown."""
