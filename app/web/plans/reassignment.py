"""The view of a reassignment: movement and its certificate, batches, brokers before and after."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from app.core.kafka_versions import KafkaVersion
from app.core.model import CORDONS_SINCE
from app.formats.tables import load_tables
from app.formats.tables.reassignment_diffs import sentences
from app.services.reassignment import broker_transfers
from app.store.records import PlanHead
from app.web.pictures import moves as moves_picture
from app.web.pictures.moves import MovesPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted

SHOWN_BATCHES, SHOWN_BROKERS = 100, 300


def _title(head: PlanHead, _: Sequence[str]) -> str:
    request: Any = head.request
    changes = [
        *_brokers("add", [broker["id"] for broker in request.get("add_brokers") or ()]),
        *_brokers("remove", list(request.get("remove_brokers") or ())),
        *(f"{new} for {old}" for old, new in (request.get("replace_brokers") or {}).items()),
        *(f"{topic} × {factor}" for topic, factor in (request.get("replication_factor") or {}).items()),
        *(f"{topic} to {counted(count, 'partition')}" for topic, count in (request.get("partitions") or {}).items()),
        *(["leaders only"] if request.get("leaders_only") else []),
        *(["log directories"] if request.get("log_dirs") else []),
    ]
    if not changes:
        return "Reassignment"
    more = f" and {len(changes) - 3} more changes" if len(changes) > 4 else ""
    return f"Reassignment: {', '.join(changes[:3] if more else changes)}{more}"


def _brokers(verb: str, ids: Sequence[int]) -> list[str]:
    if not ids:
        return []
    return [f"{verb} broker {ids[0]}"] if len(ids) == 1 else [f"{verb} {counted(len(ids), 'broker')}"]


def _draw(viewed: ViewedPlan, style: str) -> str:
    transfers = viewed.transfers
    answer: Any = viewed.head.answer
    facts = sentences(transfers, answer.get("log_dirs"))
    picture = MovesPicture(_title(viewed.head, ()), facts, transfers)
    return moves_picture.draw(picture, style=style)


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer: Any = viewed.head.answer
    request: Any = viewed.head.request
    return {
        "loads": load_tables.cells(answer.get("loads") or {})[:SHOWN_BROKERS],
        "most_brokers": SHOWN_BROKERS,
        "most_batches": SHOWN_BATCHES,
        "cordons": _cordon_steps(answer.get("execution")),
        "cordons_since": CORDONS_SINCE,
        "lacks_cordons": bool(stated := request.get("kafka_version")) and KafkaVersion.of(stated) < CORDONS_SINCE,
        "viewed": viewed,
        "broker_rows": lambda: broker_transfers(viewed.transfers),
    }


def _cordon_steps(execution: Mapping[str, Any] | None) -> Sequence[str]:
    """The steps of an execution that changes cordons; empty if batches alone are executed."""
    steps = [] if execution is None else execution["batches"]
    if all(step["action"] == "execute" for step in steps):
        return []
    words: list[str] = []
    for action, group in groupby(steps[:SHOWN_BATCHES], key=lambda step: step["action"]):
        if action == "execute":
            numbers = [step["batch"] for step in group]
            last = f"es {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f" {numbers[0]}"
            words.append(f"Execute batch{last}")
            continue
        words += [
            f"{action.capitalize()} {counted(len(step['brokers']), 'broker')}: "
            + ", ".join(map(str, step["brokers"][:SHOWN_BROKERS]))
            for step in group
        ]
    return words


VIEW = View(
    title=_title,
    draw=_draw,
    template="reassignment_plan.html",
    has_batches=True,
    values=_values,
    tabs={"changes": "Changes", "brokers": "Brokers", "execute": "Execute"},
)
"""How reassignments are shown."""
