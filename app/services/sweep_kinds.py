"""What differs between the kinds of sweeps, a row a kind: the one table that everything else reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from app.core.capacity import ranking
from app.core.groups.estate import scoring as estates
from app.core.reassignment.what_if import scoring as what_ifs
from app.core.replicas import draws
from app.errors import FieldPath, Json
from app.formats.scenario_tables import Column
from app.services import capacity_sweeps, group_sweeps, key_skew, placement_draws, reassignment_sweeps
from app.services.limits import Limits
from app.services.plans import Plan
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep

Definition: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a kind with an objective can answer besides.

    Parameters
    ----------
    front : the scenarios that no other beats. best : the best one, and why nothing cheaper will do.
    """

    front: Callable[[UnitOfWork, Sweep], list[Mapping[str, Any]]]
    best: Callable[[UnitOfWork, Sweep], dict[str, Json]]


@dataclass(frozen=True, slots=True)
class SweepKind:
    """One kind of sweep.

    Parameters
    ----------
    resolve : checks a definition and adds, under `resolved`, what executors need and callers do not read; raises
        `Failure`s whose paths begin at the definition. What is resolved already stays.
    count : how many scenarios a resolved definition has. counted_by : the field that says so when they are too many.
    kernel : of `app.jobs.kernels.registry`, which scores a range of them. score : the same, here and now.
    changes : the fields that another sweep over the same may do differently.
    numbers : the rows' numeric fields, which scenarios are sorted by and summaries are over.
    columns : of its tables, between the index and the error; the axes first.
    opened : one scenario as a full plan.
    ranking : None where no scenario is better than another.
    is_measured_whole : one job finds all scenarios, since what it reads is the same for each.
    """

    name: str
    resolve: Callable[[UnitOfWork, Definition, Limits], Definition]
    count: Callable[[Definition], int]
    counted_by: FieldPath
    kernel: str
    score: Callable[[Definition, int, int], list[dict[str, Json]]]
    changes: Sequence[str]
    numbers: Sequence[str]
    columns: Callable[[Definition], Sequence[Column]]
    opened: Callable[[UnitOfWork, Sweep, int, Limits], Plan]
    ranking: Ranking | None = None
    is_measured_whole: bool = False


KINDS: Mapping[str, SweepKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            SweepKind(
                name="capacity",
                resolve=capacity_sweeps.resolve,
                count=capacity_sweeps.scenarios,
                counted_by=("axes",),
                kernel="score_scenarios",
                score=capacity_sweeps.score,
                changes=("axes", "sample", "objective", "constraints"),
                numbers=ranking.NUMBERS,
                columns=capacity_sweeps.columns,
                opened=capacity_sweeps.opened,
                ranking=Ranking(capacity_sweeps.front, capacity_sweeps.best),
            ),
            SweepKind(
                name="placement_draws",
                resolve=placement_draws.resolve,
                count=placement_draws.scenarios,
                counted_by=("seeds", "count"),
                kernel="draw_placements",
                score=placement_draws.score,
                changes=("seeds",),
                numbers=draws.NUMBERS,
                columns=placement_draws.columns,
                opened=placement_draws.opened,
            ),
            SweepKind(
                name="consumer_groups",
                resolve=group_sweeps.resolve,
                count=group_sweeps.scenarios,
                counted_by=("groups",),
                kernel="rebalance_groups",
                score=group_sweeps.score,
                changes=("assignors", "members_lost", "members_added"),
                numbers=estates.NUMBERS,
                columns=group_sweeps.columns,
                opened=group_sweeps.opened,
            ),
            SweepKind(
                name="key_skew",
                resolve=key_skew.resolve,
                count=key_skew.scenarios,
                counted_by=("partitioners",),
                kernel="key_skew",
                score=key_skew.score,
                changes=("partitioners", "partitions", "compare_partitions", "heaviest"),
                numbers=key_skew.NUMBERS,
                columns=key_skew.columns,
                opened=key_skew.opened,
                is_measured_whole=True,
            ),
            SweepKind(
                name="reassignment",
                resolve=reassignment_sweeps.resolve,
                count=reassignment_sweeps.scenarios,
                counted_by=("axes",),
                kernel="reassign",
                score=reassignment_sweeps.score,
                changes=("axes", "balance", "minimise", "racks_of_added"),
                numbers=what_ifs.NUMBERS,
                columns=reassignment_sweeps.columns,
                opened=reassignment_sweeps.opened,
            ),
        )
    }
)
"""Every kind of sweep by its name; the API, the workers and the results read it."""
