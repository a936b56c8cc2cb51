"""Why the cheaper neighbours of a scenario fail: those one step away along one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.capacity.definition import SweepDefinition
from app.core.capacity.grid import digits_of, grid_index_of
from app.core.capacity.ranking import CONSTRAINTS, columns
from app.errors import Json


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A scenario one step away: which axis takes which other value, and its place in the grid."""

    axis: str
    value: Json
    grid_index: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a cheaper neighbour is not the answer: an error, a limit that breaks, or constraints that it does not keep.

    monthly_cost : None where the neighbour could not be scored. broken_constraints : name, the neighbour's value (null
    where it is without limit), the bound.
    """

    neighbour: Neighbour
    monthly_cost: float | None
    error: Json
    binding: Json
    broken_constraints: tuple[tuple[str, Json, float], ...]


def neighbours(definition: SweepDefinition, in_grid: int) -> list[Neighbour]:
    """The scenarios one step before and after along each axis, in the order of the axes."""
    digits = digits_of(definition, in_grid)
    found = []
    for place, axis in enumerate(definition.axes):
        for digit in (digits[place] - 1, digits[place] + 1):
            if 0 <= digit < len(axis.values):
                moved = (*digits[:place], digit, *digits[place + 1 :])
                found.append(Neighbour(axis.path, axis.values[digit], grid_index_of(definition, moved)))
    return found


def why_not_cheaper(
    definition: SweepDefinition, in_grid: int, documents: Mapping[int, Mapping[str, Json]]
) -> list[Reason]:
    """The reasons of every neighbour that costs less and is not acceptable, or could not be scored.

    documents : scored scenarios by their place in the grid; neighbours that are not among them (a sample leaves most
    out) are passed over.
    """
    cost = _cost(documents[in_grid])
    reasons = []
    for neighbour in neighbours(definition, in_grid):
        scored = documents.get(neighbour.grid_index)
        if scored is None:
            continue
        its_cost = _cost(scored)
        if its_cost is not None and cost is not None and its_cost >= cost:
            continue
        reason = Reason(
            neighbour=neighbour,
            monthly_cost=its_cost,
            error=scored.get("error"),
            binding=scored.get("binding"),
            broken_constraints=tuple(_broken(scored, definition.constraints)),
        )
        if reason.error is not None or reason.binding is not None or reason.broken_constraints:
            reasons.append(reason)
    return reasons


def _cost(scored: Mapping[str, Json]) -> float | None:
    cost = scored.get("monthly_cost")
    return float(cost) if isinstance(cost, int | float) else None


def _broken(scored: Mapping[str, Json], constraints: Mapping[str, float]) -> Sequence[tuple[str, Json, float]]:
    if scored.get("error") is not None:
        return ()
    numbers = columns([scored])
    return [
        (name, scored.get(CONSTRAINTS[name].column), bound)
        for name, bound in constraints.items()
        if not CONSTRAINTS[name].holds(numbers[CONSTRAINTS[name].column], bound)[0]
    ]
