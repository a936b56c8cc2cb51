"""`plan(problem)`: its stages, its conflicts and its status, without any request."""

from dataclasses import replace

import numpy as np
import pytest

from app.core.model import NO_REPLICA
from app.core.reassignment.batches.execution import Cordons
from app.core.reassignment.batches.model import BatchLimits
from app.core.reassignment.completion import CompletionRule, CompletionRules
from app.core.reassignment.model import KEEP, TIGHT, Balance, Domain, MovementProblem
from app.core.reassignment.parts import Share, parts_of
from app.core.reassignment.plan import plan, verify
from app.core.reassignment.problem import (
    BatchRules,
    BudgetConflict,
    EvacuationConflict,
    Infeasible,
    LeaderObjective,
    Problem,
    ReplicaObjective,
)
from app.core.reassignment.resource_problem import Limits
from app.core.reassignment.solvers.flow.destinations import TieBreaks
from app.core.reassignment.stages.sets_of_width import sets_of_width_violations

ROWS, BROKERS = 4, 4
BEFORE = np.array([[0, 1], [1, 0], [0, 1], [1, 2]], np.int32)
"""Broker 3 is new, and has nothing yet."""


def problem(
    balance: Balance = TIGHT, *, by: str = "count", removed: int | None = None, budget: int | None = None
) -> Problem:
    """Four partitions of two replicas and 10 bytes, balanced over four brokers of one rack."""
    sizes, every = np.full(ROWS, 10, np.int64), np.ones(BROKERS, np.bool_)
    ones, nothing = np.ones(ROWS, np.int64), np.zeros(BROKERS, np.int64)
    is_removed = np.arange(BROKERS) == (-1 if removed is None else removed)
    rack_of, topic_of = np.zeros(BROKERS, np.int32), np.zeros(ROWS, np.int64)
    domain = Domain(2, ~is_removed, ~is_removed, np.zeros(1, np.int64), np.full(1, 2, np.int64))
    movement = MovementProblem(
        broker_ids=np.arange(100, 100 + BROKERS, dtype=np.int32),
        rack_of=rack_of,
        target=~is_removed,
        base=nothing,
        domains=(domain,),
        domain_of=np.zeros(ROWS, np.int32),
        current=BEFORE,
        is_copied=np.zeros(BEFORE.shape, np.bool_),
        must_keep=np.full(ROWS, NO_REPLICA, np.int32),
        weight=sizes,
    )
    share = Share(None, np.arange(ROWS), every, ~is_removed, None)
    return Problem(
        movement=movement,
        parts=parts_of([share], movement, TieBreaks(sizes, nothing, topic_of), None),
        before=BEFORE,
        is_ready=np.ones(BEFORE.shape, np.bool_),
        is_new=np.zeros(ROWS, np.bool_),
        topic_of=topic_of,
        size_bytes=sizes,
        is_removed=is_removed,
        is_offline=~every,
        may_receive=~is_removed,
        successor_of=np.arange(BROKERS, dtype=np.int32),
        topics=None,
        topic_leaders=None,
        weights=None,
        counts_bytes=True,
        pins={},
        replicas=ReplicaObjective(by, balance, sizes if by == "bytes" else ones, nothing),
        leaders=LeaderObjective(
            by="count",
            balance=TIGHT,
            load=ones,
            base_load=nothing,
            frees_moved=False,
            moves_replicas=False,
            fewest_changes=False,
            may_lead=every,
            evacuates=False,
            counts_actual=False,
            preferred=None,
            minimums=None,
        ),
        objective=None,
        limits=Limits.none(BROKERS),
        log_dirs=None,
        batches=BatchRules(
            *(BatchLimits(), sizes, sizes, None, Cordons(), None, None),
            CompletionRules(BEFORE, np.full_like(BEFORE, NO_REPLICA), every, CompletionRule.TARGET),
            BEFORE[:, 0],
        ),
        max_moved_bytes=budget,
        has_trade_off=False,
        leaders_only=False,
        relaxes=False,
    )


def test_the_new_broker_gets_two_of_eight_replicas_with_one_leader_each() -> None:
    stated = problem()
    found = plan(stated)
    assert verify(stated, found) == []
    after = found.leaders.after
    assert np.bincount(after.ravel(), minlength=BROKERS).tolist() == [2, 2, 2, 2]
    assert np.bincount(after[:, 0], minlength=BROKERS).tolist() == [1, 1, 1, 1]
    assert (found.placement.moved, found.status) == (30, "optimal")
    assert found.steps is not None
    assert int(found.steps.moved_bytes.sum()) == 30


def test_a_plan_without_batches_has_the_same_placement() -> None:
    whole, placed = plan(problem()), plan(problem(), in_batches=False)
    assert placed.steps is None
    assert placed.leaders.after.tolist() == whole.leaders.after.tolist()
    assert verify(problem(), placed) == []


def test_a_placement_that_is_not_in_its_band_is_a_violation() -> None:
    """The placement of `keep` leaves the new broker empty, which a tight band does not allow."""
    tight, kept = plan(problem()), plan(problem(KEEP))
    placed = replace(kept.placed, parts=[replace(kept.placed.parts[0], band=tight.placed.parts[0].band)])
    assert verify(problem(), replace(kept, placed=placed)) != []


def test_a_batch_that_is_missing_is_a_violation() -> None:
    stated = problem()
    found, nothing = plan(stated), plan(problem(KEEP))
    assert verify(stated, replace(found, steps=nothing.steps)) != []


def test_replicas_outside_the_brokers_of_their_part_are_a_violation() -> None:
    stated = problem()
    found = plan(stated)
    [part] = stated.parts
    inside = replace(part, share=replace(part.share, brokers=np.arange(BROKERS) < 3))
    assert any("outside its broker set" in each for each in verify(replace(stated, parts=(inside,)), found))


def test_a_budget_below_the_least_movement_is_a_conflict_and_relaxed_on_request() -> None:
    """Removing broker 1 moves its four replicas, whatever the balance."""
    stated = problem(removed=1, budget=39)
    with pytest.raises(BudgetConflict) as conflict:
        plan(stated)
    assert (conflict.value.least, conflict.value.lower_bound) == (40, 40)
    relaxed = plan(replace(stated, relaxes=True))
    [given_up] = relaxed.conflicts
    assert isinstance(given_up, BudgetConflict)
    assert (given_up.least, relaxed.placement.moved) == (40, 40)
    assert plan(problem(removed=1, budget=40)).conflicts == ()


def test_partitions_that_no_broker_may_lead_are_a_conflict() -> None:
    stated = problem(KEEP)
    evacuated = replace(stated.leaders, may_lead=np.array([False, False, True, True]), evacuates=True)
    stated = replace(stated, leaders=evacuated)
    with pytest.raises(EvacuationConflict) as conflict:
        plan(stated)
    assert conflict.value.rows.tolist() == [0, 1, 2]
    assert isinstance(conflict.value, Infeasible)
    relaxed = plan(replace(stated, relaxes=True))
    assert [type(each) for each in relaxed.conflicts] == [EvacuationConflict]
    assert verify(replace(stated, relaxes=True), relaxed) == []


@pytest.mark.parametrize(("remaining_s", "status"), [(-1.0, "deadline"), (1e9, "optimal")])
def test_a_plan_past_its_deadline_is_legal_and_does_not_count_as_optimal(remaining_s: float, status: str) -> None:
    """After the deadline no replica is moved for the balance of bytes, whose lower bound then is not reached."""
    stated = replace(problem(by="bytes"), remaining_s=lambda: remaining_s)
    found = plan(stated)
    assert verify(stated, found) == []
    assert found.status == status


def test_a_search_ends_at_the_deadline_and_never_without_one() -> None:
    over = replace(problem(), remaining_s=lambda: -1.0)
    assert (over.is_over(), over.ends_search()()) == (True, True)
    assert (problem().is_over(), problem().ends_search()()) == (False, False)


def test_a_set_of_a_scatter_width_that_is_there_twice_has_two_shares() -> None:
    """Of three sets two are the same one: of six partitions it has four."""
    sets = {2: np.array([[0, 1], [1, 0], [2, 3]], np.int32)}
    once, twice = [[2, 3]] * 2, [[0, 1]] * 4
    assert sets_of_width_violations(np.array(once + twice, np.int32), sets) == []
    assert sets_of_width_violations(np.array(once * 2 + twice[:2], np.int32), sets) == [
        "sets of 2 have 2 to 4 partitions"
    ]
