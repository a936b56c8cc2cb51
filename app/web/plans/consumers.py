"""The view of consumers over time: rates, consumers and moves as a chart, and a table of the intervals."""

from typing import Any

from app.web.pictures import intervals
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted

SHOWN_INTERVALS = 500


def _draw(viewed: ViewedPlan, style: str) -> str:
    answer: Any = viewed.head.answer
    shown = answer["intervals"]
    proven = f"{answer['proven_consumers']} proven fewest, {answer['proven_moves']} proven to move least"
    facts = [f"{counted(len(shown), 'interval')}, {proven}; {answer['consumer_hours']:g} consumer hours."]
    figures = (
        ("rate", "follows", "bytes_per_s"),
        ("consumers", "span", "consumers"),
        ("moved", "cross-rack", "moved_bytes_per_s"),
    )
    series = [intervals.Part(name, look, [each[field] for each in shown]) for name, look, field in figures]
    moments = (shown[0]["from"], shown[-1]["from"])
    return intervals.draw(viewed.head.title, facts, series, moments, style=style)


VIEW = View(
    title=lambda head, _: head.title,
    draw=_draw,
    template="consumers_plan.html",
    values=lambda _: {"most": SHOWN_INTERVALS},
)
"""How consumers over time are shown."""
