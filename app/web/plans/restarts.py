"""The view of a restart: its waves, the proof of their number, and what no schedule keeps available."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.core.measures.partition_table import PartitionTable
from app.store.records import PlanHead
from app.web.pictures import waves as waves_picture
from app.web.pictures.waves import RestartedBroker, WavesPicture
from app.web.plans.view import View, ViewedPlan
from app.web.words import counted, number

SHOWN_WAVES, SHOWN_BLOCKED, SHOWN_BROKERS = 300, 100, 60
_PROOFS = {
    "pairs": "no two of these brokers may be in one wave",
    "partition": "of the brokers of this partition only so many may be in a wave",
    "controllers": "these controllers keep their quorum",
    "size": "waves have a largest number of brokers",
    "search": "a search of all schedules has none with fewer",
}
_BLOCKED = {
    "no_in_sync_replica": "no replica in sync is on a broker that is up",
    "min_isr_above_factor": "min.insync.replicas exceeds its replicas",
    "below_min_isr": "fewer replicas are in sync than min.insync.replicas",
    "single_replica": "it has one replica",
    "factor_equals_min_isr": "it has as many replicas as min.insync.replicas",
    "at_min_isr": "as many replicas are in sync as min.insync.replicas",
    "above_limit": "its leaders exceed a limit elsewhere, so that it is restarted alone",
    "quorum": "the restart of one controller leaves no majority",
}


def _title(head: PlanHead, _: Sequence[str]) -> str:
    return head.title


def _draw(viewed: ViewedPlan, style: str) -> str:
    answer: Any = viewed.head.answer
    table = PartitionTable.of(viewed.cluster)
    loads = table.loads(np.zeros(len(table.brokers.ids), np.bool_))
    at = {broker: place for place, broker in enumerate(table.brokers.ids.tolist())}
    brokers = [
        RestartedBroker(broker, wave, int(loads.leaders[at[broker]]), int(loads.replicas[at[broker]]))
        for wave, of_wave in enumerate(answer["waves"], 1)
        for broker in of_wave["brokers"]
    ]
    return waves_picture.draw(WavesPicture(viewed.head.title, [_fact(answer)], brokers), style=style)


def _fact(answer: Mapping[str, Any]) -> str:
    certificate = answer["certificate"]
    proof = (
        "No schedule has fewer" if certificate["optimal"] else f"At least {certificate['lower_bound_waves']} are needed"
    )
    return f"{proof}; {counted(answer['blocked_partitions'], 'partition')} blocked."


def _values(viewed: ViewedPlan) -> Mapping[str, object]:
    answer: Any = viewed.head.answer
    waves, blocked = answer["waves"], answer["blocked"]
    return {
        "waves": [(wave, _named(wave["brokers"])) for wave in waves[:SHOWN_WAVES]],
        "waves_in_all": len(waves),
        "resources": list(waves[0]["largest_load"]) if waves else [],
        "proofs": [
            (bound, _named(bound["brokers"]), _PROOFS[bound["reason"]]) for bound in answer["certificate"]["conflict"]
        ],
        "blocked": [(each, _BLOCKED[each["reason"]]) for each in blocked[:SHOWN_BLOCKED]],
        "blocked_shown": len(blocked[:SHOWN_BLOCKED]),
    }


def _named(brokers: Sequence[int]) -> str:
    more = f" and {number(len(brokers) - SHOWN_BROKERS)} more" if len(brokers) > SHOWN_BROKERS else ""
    return ", ".join(map(str, brokers[:SHOWN_BROKERS])) + more


VIEW = View(
    title=_title,
    prediction=lambda _: "Nothing in it is random. It holds as long as replicas are in sync as in the snapshot.",
    draw=_draw,
    template="restart_plan.html",
    values=_values,
)
"""How restarts are shown."""
