"""Waves, certificate and what is blocked, as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from app.core.model import NO_REPLICA
from app.core.reassignment.resource_problem import NO_LIMIT, RESOURCES
from app.core.restarts import RestartWaves, WaveBound, outcomes_of
from app.errors import Json
from app.services.reassignment.problem.resources import in_unit
from app.services.restarts.problem import Restart

NAMED_PARTITIONS = 1_000
"""How many blocked partitions an answer names; it counts them all."""
REASONS = (
    "no_in_sync_replica",
    "min_isr_above_factor",
    "below_min_isr",
    "single_replica",
    "factor_equals_min_isr",
    "at_min_isr",
    "above_limit",
    "quorum",
)
"""What no schedule avoids. The first six are why a partition is not writable while any of its brokers restarts."""


def ordered(restart: Restart, schedule: RestartWaves) -> list[tuple[int, ...]]:
    """The waves in the requested order."""
    waves = list(schedule.waves)
    if restart.request.order == "controllers_last":
        waves.sort(key=lambda wave: bool(restart.core.is_voter[list(wave)].any()))
    return waves


def waves_json(restart: Restart, waves: Sequence[Sequence[int]]) -> list[dict[str, Json]]:
    """Each wave: its brokers, and what it does to partitions and to the other brokers."""
    outcomes = outcomes_of(restart.core, waves)
    return [
        {
            "brokers": restart.table.brokers.ids[list(wave)].tolist(),
            "unwritable": int(outcomes.unwritable[number]),
            "leaders_moved": int(outcomes.leaders_moved[number]),
            "largest_load": dict(_largest(restart, list(wave), restart.loads + outcomes.added[number])),
            "seconds": round(seconds_of(restart, wave), 1),
        }
        for number, wave in enumerate(waves)
    ]


def seconds_of(restart: Restart, wave: Sequence[int]) -> float:
    """The time of the broker of a wave that is back last."""
    return float(restart.seconds[list(wave)].max())


def _largest(restart: Restart, wave: list[int], loads: Any) -> Iterator[tuple[str, Json]]:
    """By resource the remaining broker that is nearest to its limit, or has the largest load if it has no limit."""
    remains = restart.core.is_up.copy()
    remains[wave] = False
    if not remains.any():
        return
    for place, column in enumerate(restart.columns):
        load, upper = loads[:, place], restart.upper[:, place]
        is_limited = remains & (upper < NO_LIMIT)
        share = load / np.maximum(upper, 1)
        broker = int(
            np.where(is_limited, share, -1).argmax() if is_limited.any() else np.where(remains, load, -1).argmax()
        )
        limit = int(upper[broker]) if is_limited[broker] else None
        yield (
            RESOURCES[column],
            {
                "broker": int(restart.table.brokers.ids[broker]),
                "value": in_unit(int(load[broker]), column),
                "limit": in_unit(limit, column),
            },
        )


def certificate_json(restart: Restart, schedule: RestartWaves) -> dict[str, Json]:
    """The number of waves beside its lower bound, with the brokers that prove it."""
    waves, bound = len(schedule.waves), schedule.lower_bound
    return {
        "waves": waves,
        "lower_bound_waves": bound,
        "optimal": waves == bound,
        "gap": (waves - bound) / waves,
        "conflict": [_bound_json(restart, each) for each in schedule.bounds],
    }


def _bound_json(restart: Restart, bound: WaveBound) -> dict[str, Json]:
    partition: dict[str, Json] = {"topic": None, "partition": None}
    return {
        "reason": bound.reason,
        "waves": bound.waves,
        "brokers": restart.table.brokers.ids[list(bound.brokers)].tolist(),
        **(partition if bound.row is None else _named(restart, bound.row)),
    }


def blocked_json(restart: Restart, schedule: RestartWaves) -> dict[str, Json]:
    """What no schedule avoids: partitions by topic and id, brokers above limits, the quorum of controllers."""
    core, table = restart.core, restart.table
    sizes, factors = core.sizes, (table.replicas != NO_REPLICA).sum(axis=1)
    reason = np.select(
        [
            sizes == 0,
            core.min_isr > factors,
            sizes < core.min_isr,
            factors == 1,
            factors == core.min_isr,
            sizes == core.min_isr,
        ],
        range(6),
        -1,
    )
    rows = np.flatnonzero(reason >= 0)
    nothing: dict[str, Json] = {"topic": None, "partition": None, "broker": None}
    blocked: list[Json] = [
        nothing | {"broker": broker, "reason": "above_limit"}
        for broker in table.brokers.ids[list(schedule.alone)].tolist()
    ]
    if restart.quorum_is_at_risk:
        blocked.append(nothing | {"reason": "quorum"})
    blocked += [
        nothing | _named(restart, row) | {"reason": REASONS[reason[row]]} for row in rows[:NAMED_PARTITIONS].tolist()
    ]
    return {"blocked": blocked, "blocked_partitions": len(rows)}


def _named(restart: Restart, row: int) -> dict[str, Json]:
    table = restart.table
    topic = int(np.searchsorted(table.starts, row, side="right")) - 1
    return {"topic": table.topics[topic], "partition": int(table.partition_ids[row])}
