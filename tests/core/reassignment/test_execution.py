"""Batches are executed under cordons: no list that Kafka rejects, and no cordon lifted longer than a batch needs."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from app.core.model import Int32s, padded
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.execution import (
    Action,
    Cordons,
    ExecutionStep,
    execution_steps,
    execution_violations,
)
from app.core.reassignment.batches.model import BatchLimits, ReassignedPartitions
from tests import draws as st
from tests.core.reassignment.small_reassignments import all_limits, reassignments

some_brokers = st.sets(st.integers(0, 5), max_size=3).map(frozenset)
cordons = st.builds(Cordons, some_brokers, some_brokers, some_brokers, st.booleans())
batches_of_lists = st.lists(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True), min_size=1, max_size=3).map(padded),
    max_size=5,
)
A, B, C = padded([[1, 2], [3, 4]]), padded([[2, 3]]), padded([[4, 5]])


def simulated(
    steps: Sequence[ExecutionStep], requested: Sequence[Int32s], known: Cordons
) -> tuple[bool, frozenset[int]]:
    """Whether a controller executes every batch, and final cordons: list by list, as Kafka checks."""
    cordoned = set(known.before)
    accepts = True
    for step in steps:
        if step.batch is None:
            change = cordoned.add if step.action is Action.CORDON else cordoned.discard
            for broker in step.brokers:
                change(broker)
            continue
        for row in requested[step.batch].tolist():
            accepts &= not known.rejects_lists or not any(broker in cordoned for broker in row)
    return accepts, frozenset(cordoned)


class TestLaws:
    @given(batches_of_lists, cordons, st.booleans())
    def test_every_list_is_accepted_and_the_end_is_as_it_shall_be(
        self, requested: list[Int32s], known: Cordons, is_backwards: bool
    ) -> None:
        order = range(len(requested))[:: -1 if is_backwards else 1]
        steps = execution_steps(requested, order, known)
        assert simulated(steps, requested, known) == (True, known.after)
        assert [step.batch for step in steps if step.batch is not None] == list(order)
        assert execution_violations(steps, requested, order, known) == []

    @given(batches_of_lists, cordons)
    def test_no_broker_is_uncordoned_for_a_batch_without_it(self, requested: list[Int32s], known: Cordons) -> None:
        cordoned = set(known.before)
        for step in execution_steps(requested, range(len(requested)), known):
            if step.batch is None:
                cordoned ^= set(step.brokers)
            else:
                in_lists = set(requested[step.batch].ravel().tolist()) if known.rejects_lists else set()
                assert known.during - cordoned == known.during & in_lists

    @given(batches_of_lists, cordons, st.data())
    def test_the_verifier_agrees_with_a_simulation(
        self, requested: list[Int32s], known: Cordons, data: st.DataObject
    ) -> None:
        """Of any execution of the batches in their order, whoever planned its cordons."""
        steps = []
        for batch in range(len(requested)):
            steps += [ExecutionStep(Action.UNCORDON, brokers=tuple(data.draw(some_brokers)))] * data.draw(st.booleans())
            steps.append(ExecutionStep(Action.EXECUTE, batch))
        violations = execution_violations(steps, requested, range(len(requested)), known)
        accepts, cordoned = simulated(steps, requested, known)
        is_twice = any("changes no cordon" in violation for violation in violations)
        assert is_twice or (not violations) == (accepts and cordoned == known.after)

    @given(reassignments(), all_limits)
    def test_batches_cut_around_cordons_need_none_lifted_that_could_stay(
        self, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        """A broker that leaves a partition is lifted only if the leader may not send all copies at once."""
        if reassigned.is_barred is None or limits.max_moves_out_per_broker is not None:
            return
        batches = cut_batches(reassigned, limits)
        requested = [batches.after[batches.steps(number)] for number in range(len(batches))]
        known = frozenset(np.flatnonzero(reassigned.is_barred).tolist())
        steps = execution_steps(requested, range(len(batches)), Cordons(known, known, known))
        listed = {broker for row in reassigned.after.tolist() for broker in row}
        assert {broker for step in steps for broker in step.brokers} <= listed & known


class TestExamples:
    def test_a_batch_without_the_broker_lifts_nothing(self) -> None:
        known = Cordons(frozenset({9}), frozenset({9}), frozenset({9}))
        assert execution_steps([A, B], [0, 1], known) == [
            ExecutionStep(Action.EXECUTE, 0),
            ExecutionStep(Action.EXECUTE, 1),
        ]

    def test_a_cordon_is_lifted_for_the_batches_that_have_the_broker(self) -> None:
        known = Cordons(frozenset({1, 2}), frozenset({1, 2}), frozenset({1, 2}))
        assert execution_steps([A, B, C], [0, 1, 2], known) == [
            ExecutionStep(Action.UNCORDON, brokers=(1, 2)),
            ExecutionStep(Action.EXECUTE, 0),
            ExecutionStep(Action.CORDON, brokers=(1,)),
            ExecutionStep(Action.EXECUTE, 1),
            ExecutionStep(Action.CORDON, brokers=(2,)),
            ExecutionStep(Action.EXECUTE, 2),
        ]

    def test_removed_brokers_are_cordoned_first_and_uncordoned_by_the_inverse(self) -> None:
        known = Cordons(frozenset(), frozenset({5}), frozenset({5}))
        assert execution_steps([A], [0], known) == [
            ExecutionStep(Action.CORDON, brokers=(5,)),
            ExecutionStep(Action.EXECUTE, 0),
        ]
        assert execution_steps([padded([[5, 2]])], [0], known.undone) == [
            ExecutionStep(Action.UNCORDON, brokers=(5,)),
            ExecutionStep(Action.EXECUTE, 0),
        ]

    def test_before_4_3_2_lists_may_have_the_broker(self) -> None:
        known = Cordons(frozenset({1}), frozenset({1}), frozenset({1}), rejects_lists=False)
        assert execution_steps([A], [0], known) == [ExecutionStep(Action.EXECUTE, 0)]

    @pytest.mark.parametrize(("first", "second"), list(product([Action.CORDON, Action.UNCORDON], repeat=2)))
    def test_a_cordon_that_is_no_change_is_reported(self, first: Action, second: Action) -> None:
        steps = [ExecutionStep(first, brokers=(1,)), ExecutionStep(second, brokers=(1,))]
        violations = execution_violations(steps, [], [], Cordons())
        assert bool(violations) == ((first, second) != (Action.CORDON, Action.UNCORDON))

    def test_batches_left_out_or_in_another_order_are_reported(self) -> None:
        steps = [ExecutionStep(Action.EXECUTE, 1), ExecutionStep(Action.EXECUTE, 0)]
        assert not execution_violations(steps, [A, B], [1, 0], Cordons())
        for order in ([0, 1], [1], [1, 0, 1]):
            assert len(execution_violations(steps, [A, B], order, Cordons())) == 1
