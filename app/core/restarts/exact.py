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
    model, is_in = _model(part, count)
    for _ in range(_NO_GOODS):
        found, is_infeasible = _solved(model, is_in)
        broken = [wave for wave in found or () if not part.fits(wave)]
        if not broken:
            return found, is_infeasible
        for wave in broken:
            core = _smallest_broken(part, wave)
            _limit(model, is_in, core, len(core) - 1)
    return None, False


def _model(part: Part, count: int) -> tuple[Any, list[list[Any]]]:
    """The model without limits, and by broker and wave whether the broker is in it."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model, size = cp_model.CpModel(), len(part.brokers)
    is_in: list[list[Any]] = [[model.new_bool_var("") for _ in range(count)] for _ in range(size)]
    for waves in is_in:
        model.add_exactly_one(waves)
    _limit(model, is_in, range(size), part.most)
    for pair in np.argwhere(np.triu(part.pairs)).tolist():
        _limit(model, is_in, pair, 1)
    for members, cap in zip(part.sets.tolist(), part.caps.tolist(), strict=True):
        _limit(model, is_in, [member for member in members if member < size], cap)
    for wave, broker in enumerate(clique_of(part.pairs)[:count]):  # waves have no order
        model.add(is_in[broker][wave] == 1)
    return model, is_in


def _solved(model: Any, is_in: list[list[Any]]) -> tuple[list[list[int]] | None, bool]:
    """Waves that are not empty, or None; and whether there are none."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 — as above

    solver = small_model_solver(SOLVER_TIME)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, bool(status == cp_model.INFEASIBLE)
    waves = [
        [broker for broker, one in enumerate(of_wave) if solver.value(one)] for of_wave in zip(*is_in, strict=True)
    ]
    return [wave for wave in waves if wave], False


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
