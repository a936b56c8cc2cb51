"""The answer of a restart: its declaration; waves, certificate and blockers."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from app.core.model import NO_REPLICA
from app.core.reassignment.resource_problem import NO_LIMIT, RESOURCES
from app.core.restarts import RestartWaves, WaveBound, outcomes_of
from app.core.restarts.model import Reason
from app.services.bodies import AnswerRecord, one_of
from app.services.plans.answers import PlanAnswer, WholePlan
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
"""Blockers in any schedule. The first six are why a partition is not writable while any of its brokers restarts."""


class LargestLoad(AnswerRecord):
    """The load of the remaining broker that is nearest to its limit, or has the largest load if none is limited."""

    broker: int
    """Id of the broker."""
    value: float
    """Its load while the wave is down: partitions that it leads, bytes/s or vCPU."""
    limit: float | None
    """Its limit in the same unit; null if it has none."""


class WaveDocument(AnswerRecord):
    """Brokers that are restarted together."""

    brokers: list[int]
    """Ids of the brokers, ascending."""
    unwritable: int
    """Number of partitions that fall below `min.insync.replicas` while the wave is down; they are in `blocked`."""
    leaders_moved: int
    """Number of partitions that another broker leads while the wave is down."""
    largest_load: dict[str, LargestLoad]
    """By resource, `leaders` and those whose rates are known; empty if no broker remains."""
    seconds: float
    """Time until the last broker of the wave is back and, if `catch_up_bytes_per_s` is stated, in sync."""


class WaveConflict(AnswerRecord):
    """A proof that some brokers need several waves."""

    reason: Reason
    """`pairs`: no two of the brokers may be in one wave: they share a partition without slack, are in different racks
    and waves are per rack, or one is above a limit alone. `partition`, `controllers`: a wave can take
    only a part of these brokers. `size`: waves have `max_brokers_per_wave`. `search`: no schedule has fewer waves."""
    waves: int
    """Number of waves that the brokers need at least."""
    brokers: list[int]
    """Ids of the brokers, ascending. Brokers of different proofs are never in one wave, so that their waves add up."""
    topic: str | None
    """Topic of the partition; null unless `reason` is `partition`."""
    partition: int | None
    """Id of the partition; null likewise."""


class WaveCertificate(AnswerRecord):
    """The number of waves and the proof that there are none with fewer."""

    waves: int
    """Number of waves."""
    lower_bound_waves: int
    """No schedule has fewer waves: the sum over `conflict`."""
    optimal: bool
    """Whether the bound is reached."""
    gap: float
    """Relative optimality gap: (waves − lower bound) / waves."""
    conflict: list[WaveConflict]
    """The brokers that need these waves."""


class BlockedDocument(AnswerRecord):
    """A blocker in any schedule; the waves are planned in spite of it."""

    topic: str | None
    """Topic of the partition; null if it is no partition."""
    partition: int | None
    """Id of the partition; null likewise."""
    broker: int | None
    """Id of the broker; null unless `reason` is `above_limit`."""
    reason: Annotated[str, one_of(REASONS)]
    """Why a partition is not writable during the restart of any of its brokers: it has no replica in sync on a broker
    that is up; `min.insync.replicas` exceeds its replicas; fewer are in sync than it needs; it has one replica; it has
    as many replicas as it needs; as many are in sync as it needs. `above_limit`: the leaders of the broker alone exceed
    a limit elsewhere, so that it is restarted alone. `quorum`: the restart of one controller leaves no majority."""


class PlannedWaveDocument(AnswerRecord):
    """One wave of a restart."""

    wave: int
    """Number of the wave, from 1."""
    brokers: list[int]
    """Ids of the brokers that are restarted in it, ascending."""


class RestartAnswer(PlanAnswer, kw_only=True):
    """The fields of a restart that its planner computes."""

    waves: list[WaveDocument]
    """The waves, each after the one before is complete."""
    seconds: float
    """Sum of the times of the waves."""
    certificate: WaveCertificate
    """Proof of the number of waves."""
    blocked: list[BlockedDocument]
    """Brokers, the quorum and the first 1,000 partitions that no schedule keeps available."""
    blocked_partitions: int
    """Number of blocked partitions."""


class RestartPlanDocument(RestartAnswer, WholePlan, kw_only=True):
    """The waves of a restart, in the order of execution."""


def ordered(restart: Restart, schedule: RestartWaves) -> list[tuple[int, ...]]:
    """The waves in the requested order."""
    waves = list(schedule.waves)
    if restart.request.order == "controllers_last":
        waves.sort(key=lambda wave: bool(restart.core.is_voter[list(wave)].any()))
    return waves


def waves_of(restart: Restart, waves: Sequence[Sequence[int]]) -> list[WaveDocument]:
    """Each wave: its brokers, and its effect on partitions and on the other brokers."""
    outcomes = outcomes_of(restart.core, waves)
    return [
        WaveDocument(
            restart.table.brokers.ids[list(wave)].tolist(),
            unwritable=int(outcomes.unwritable[number]),
            leaders_moved=int(outcomes.leaders_moved[number]),
            largest_load=dict(_largest(restart, list(wave), restart.loads + outcomes.added[number])),
            seconds=round(seconds_of(restart, wave), 1),
        )
        for number, wave in enumerate(waves)
    ]


def seconds_of(restart: Restart, wave: Sequence[int]) -> float:
    """The time of the broker of a wave that is back last."""
    return float(restart.seconds[list(wave)].max())


def _largest(restart: Restart, wave: list[int], loads: Any) -> Iterator[tuple[str, LargestLoad]]:
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
        ids = restart.table.brokers.ids
        value = in_unit(int(load[broker]), column)
        yield RESOURCES[column], LargestLoad(int(ids[broker]), value, in_unit(limit, column))


def certificate_of(restart: Restart, schedule: RestartWaves) -> WaveCertificate:
    """The number of waves beside its lower bound, with the brokers that prove it."""
    waves, bound = len(schedule.waves), schedule.lower_bound
    conflict = [_conflict(restart, each) for each in schedule.bounds]
    return WaveCertificate(waves, bound, waves == bound, (waves - bound) / waves, conflict)


def _conflict(restart: Restart, bound: WaveBound) -> WaveConflict:
    brokers = restart.table.brokers.ids[list(bound.brokers)].tolist()
    named = (None, None) if bound.row is None else _named(restart, bound.row)
    return WaveConflict(bound.reason, bound.waves, brokers, *named)


def blocked_by(restart: Restart, schedule: RestartWaves) -> tuple[list[BlockedDocument], int]:
    """Blockers in any schedule: brokers above limits, the quorum of controllers, partitions by topic and id; the number
    of these partitions.
    """
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
    alone = table.brokers.ids[list(schedule.alone)].tolist()
    blocked = [BlockedDocument(None, None, broker, "above_limit") for broker in alone]
    if restart.quorum_is_at_risk:
        blocked.append(BlockedDocument(None, None, None, "quorum"))
    named = rows[:NAMED_PARTITIONS].tolist()
    blocked += [BlockedDocument(*_named(restart, row), None, REASONS[reason[row]]) for row in named]
    return blocked, len(rows)


def _named(restart: Restart, row: int) -> tuple[str, int]:
    table = restart.table
    topic = int(np.searchsorted(table.starts, row, side="right")) - 1
    return table.topics[topic], int(table.partition_ids[row])
