"""An integer model of a part with a number of waves: waves, a proof that there are none, or neither in time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.core.integer import small_model_solver
from app.core.restarts.bounds import clique_of
from app.core.restarts.conflicts import Part

MOST_TERMS = 40_000
"""The most terms of the model's constraints; larger parts keep the waves and the bound that they have."""
SOLVER_TIME = 1.0
_NO_GOODS = 5


def waves_within(part: Part, count: int) -> tuple[list[list[int]] | None, bool]:
    """Waves of indices, at most `count`, or None; and whether it is proven that there are none.

    Limits enter as sets that are learned: the smallest found part of a wave that breaks one.
    """
    size = len(part.brokers)
    if count * (int(part.pairs.sum()) + int((part.sets < size).sum()) + size) > MOST_TERMS:
        return None, False
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model = cp_model.CpModel()
    is_in: list[list[Any]] = [[model.new_bool_var("") for _ in range(count)] for _ in range(size)]
    for waves in is_in:
        model.add_exactly_one(waves)
    for wave in range(count):
        model.add(sum(of_broker[wave] for of_broker in is_in) <= part.most)
    for one, other in np.argwhere(np.triu(part.pairs)).tolist():
        for wave in range(count):
            model.add_at_most_one(is_in[one][wave], is_in[other][wave])
    for members, cap in zip(part.sets.tolist(), part.caps.tolist(), strict=True):
        _limit(model, is_in, [member for member in members if member < size], cap)
    for wave, broker in enumerate(clique_of(part.pairs)[:count]):  # waves have no order
        model.add(is_in[broker][wave] == 1)
    for _ in range(_NO_GOODS):
        solver = small_model_solver(SOLVER_TIME)
        status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None, bool(status == cp_model.INFEASIBLE)
        found = [[broker for broker in range(size) if solver.value(is_in[broker][wave])] for wave in range(count)]
        broken = [wave for wave in found if not part.fits(wave)]
        if not broken:
            return [wave for wave in found if wave], False
        for members in broken:
            core = _smallest_broken(part, members)
            _limit(model, is_in, core, len(core) - 1)
    return None, False


def _limit(model: Any, is_in: list[list[Any]], members: Sequence[int], cap: int) -> None:
    for wave in range(len(is_in[0])):
        model.add(sum(is_in[member][wave] for member in members) <= cap)


def _smallest_broken(part: Part, wave: Sequence[int]) -> list[int]:
    """Brokers of a wave that break a limit together, and of which none can be left out (deletion filter)."""
    core = list(wave)
    for broker in wave:
        fewer = [other for other in core if other != broker]
        if fewer and not part.fits(fewer):
            core = fewer
    return core
