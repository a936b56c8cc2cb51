"""Scenarios of a cluster, reassigned one after another: what an executor runs."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.least_movement import least_movement
from app.core.reassignment.counts.places import cheapest, movement_costs
from app.core.reassignment.model import MovementProblem, ReplicaPlacement
from app.core.reassignment.verifier import placement_violations
from app.core.reassignment.what_if.change import changed, racks_of
from app.core.reassignment.what_if.standing import Standing, Trial, WhatIfs
from app.core.scenario_error import ScenarioError
from app.errors import Json

NUMBERS = (
    "brokers",
    "moved_replicas",
    "moved_bytes",
    "lower_bound_bytes",
    "gap",
    "smallest_before",
    "largest_before",
    "spread_before",
    "smallest_after",
    "largest_after",
    "spread_after",
    "largest_bytes_before",
    "largest_bytes_after",
    "short_of_racks",
)
"""The figures of a scenario.

`brokers` are those that may receive replicas afterwards, and the smallest and largest count, its spread and the largest
bytes are theirs; before, of those that may receive now. No reassignment within the rules and the balance moves fewer
than `lower_bound_bytes`; `gap` is the share of what is minimised, bytes or replicas, that its bound does not prove.
`short_of_racks` counts partitions in fewer racks than their replicas could span before anyone goes; None where racks do
not count.
"""


def score_what_ifs(what_ifs: WhatIfs, start: int, stop: int) -> list[dict[str, Json]]:
    """Reassign for scenarios start … stop − 1; one that fails becomes a row with its error."""
    rows: list[dict[str, Json]] = []
    for index in range(start, stop):
        trial = what_ifs.trial(index)
        found: dict[str, Json] = {"index": index, "axes": trial.axes}
        try:
            rows.append(found | _figures(what_ifs, trial) | {"error": None})
        except Exception as error:  # noqa: BLE001 — one scenario must not take the others of its range with it
            rows.append(found | {"error": ScenarioError.of(error).document()})
    return rows


def _figures(what_ifs: WhatIfs, trial: Trial) -> dict[str, Json]:
    standing, problem = what_ifs.standing, changed(what_ifs, trial)
    placed = least_movement(problem, what_ifs.balance_of(trial))
    if faults := placement_violations(problem, placed):
        raise RuntimeError("; ".join(faults[:5]))
    stays = (placed.replicas[:, :, None] == problem.current[:, None, :]).any(axis=2)
    moved = ((placed.replicas != NO_REPLICA) & ~stays).sum(axis=1)
    moved_bytes = int((moved * standing.size_bytes).sum())
    receives = np.array([broker.receives for broker in standing.brokers], np.bool_)
    return {
        "brokers": int(np.count_nonzero(problem.target)),
        "moved_replicas": int(moved.sum()),
        "moved_bytes": moved_bytes,
        "lower_bound_bytes": _fewest_bytes(what_ifs, problem, placed),
        "optimal": placed.certificate.optimal,
        "gap": placed.certificate.gap,
        **_loads(standing, standing.homes, receives, "before"),
        **_loads(standing, placed.replicas, problem.target, "after"),
        "short_of_racks": _short_of_racks(standing, problem, placed.replicas),
    }


def _fewest_bytes(what_ifs: WhatIfs, problem: MovementProblem, placed: ReplicaPlacement) -> int:
    """No legal placement moves fewer bytes; where replicas are minded and not bytes, whatever the counts come to."""
    if what_ifs.minds_bytes:
        return placed.certificate.lower_bound
    weighed = replace(problem, weight=what_ifs.standing.size_bytes)
    free = np.zeros(len(problem.broker_ids), np.int64)
    return int(cheapest(weighed, movement_costs(weighed), free)[0].sum())


def _loads(standing: Standing, replicas: Int32s, of: NDArray[np.bool_], when: str) -> dict[str, Json]:
    """The ends of the counts, and the largest bytes, of some brokers; None where there are none of those."""
    ones = np.ones(len(replicas), np.int64)
    counts = _held(standing.base, replicas, ones, len(of))[of]
    held_bytes = _held(standing.base_bytes, replicas, standing.size_bytes, len(of))[of]
    low, high, most = (int(counts.min()), int(counts.max()), int(held_bytes.max())) if len(counts) else (None,) * 3
    return {
        f"smallest_{when}": low,
        f"largest_{when}": high,
        f"spread_{when}": None if low is None or high is None else high - low,
        f"largest_bytes_{when}": most,
    }


def _held(base: Int64s, replicas: Int32s, weight: Int64s, brokers: int) -> Int64s:
    """(brokers,) int64 what replicas weigh there, those that may not move included."""
    found = np.zeros(brokers, np.int64)
    found[: len(base)] = base
    for column in replicas.T:
        there = column != NO_REPLICA
        np.add.at(found, column[there], weight[there])
    return found


def _short_of_racks(standing: Standing, problem: MovementProblem, replicas: Int32s) -> int | None:
    racks = len(racks_of(standing))
    if not racks:
        return None
    rows, columns = np.nonzero(replicas != NO_REPLICA)
    is_in = np.zeros((len(replicas), problem.racks), np.bool_)
    is_in[rows, problem.rack_of[replicas[rows, columns]]] = True
    return int(np.count_nonzero(is_in[:, :racks].sum(axis=1) < np.minimum(problem.factors, racks)))
