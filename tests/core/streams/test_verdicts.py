"""KIP-708's verdicts and losses, on applications that can be checked by eye; and the verifier's findings."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given

from app.core.streams.assignors.high_availability import assign
from app.core.streams.model import UNKNOWN_LAG, StreamsAssignment, StreamsOptions
from app.core.streams.verdicts import SharedValue, losses, tag_verdicts, task_verdicts
from app.core.streams.violations import violations
from tests.core.streams.small_applications import Given, applications, client, ids, tasks

BY_ZONE = StreamsOptions(1, rack_aware_assignment_tags=("zone",))
CLIENTS = [
    client(1, client_tags={"zone": "a"}, lags={(0, 0): -2}, default_lag=100),
    client(2, client_tags={"zone": "a"}, lags={(0, 0): 5}, default_lag=UNKNOWN_LAG),
    client(3, default_lag=7),
]
TASKS = tasks("0_0 0_1 1_0", "0_0 0_1")


def assignment(active: list[str], standby: list[str], warmup: list[str] | None = None) -> StreamsAssignment:
    """Three clients' rows of three tasks: `x` where they hold one."""
    matrices = ([[mark == "x" for mark in row] for row in rows] for rows in (active, standby, warmup or ["..."] * 3))
    roles = [np.array(matrix, np.bool_) for matrix in matrices]
    return StreamsAssignment(tuple(one.process_id for one in CLIENTS), ids("0_0 0_1 1_0"), roles[0], roles[1], roles[2])


CROWDED = assignment(["x..", ".x.", "..x"], [".x.", "x..", "..."])
"""Both copies of each task are in zone a; the third client has no zone."""


class TestTasks:
    """Whether a task's copies are apart."""

    def test_a_value_that_repeats_is_named(self) -> None:
        verdicts = task_verdicts(CROWDED, CLIENTS, TASKS.stateful, BY_ZONE)
        assert [verdict.task for verdict in verdicts] == list(ids("0_0 0_1"))
        assert all(verdict.shared == (SharedValue("zone", "a", 2),) for verdict in verdicts)
        assert not any(verdict.is_ideal for verdict in verdicts)

    def test_a_client_without_the_tag_cannot_be_distinguished(self) -> None:
        spread = assignment(["x..", "...", ".xx"], ["...", ".x.", "x.."])
        (first, _) = task_verdicts(spread, CLIENTS, TASKS.stateful, BY_ZONE)
        assert first.shared == (SharedValue("zone", None, 1),)
        assert task_verdicts(spread, CLIENTS, TASKS.stateful, StreamsOptions(1))[0].is_ideal

    def test_missing_standbys_are_counted_and_warm_ups_are_none(self) -> None:
        warming = assignment(["xxx", "...", "..."], ["...", "xx.", "..."], ["...", "x..", "..."])
        verdicts = task_verdicts(warming, CLIENTS, TASKS.stateful, StreamsOptions(1))
        assert [verdict.missing_standbys for verdict in verdicts] == [1, 0]

    @given(applications())
    def test_a_tag_with_too_few_values_lets_no_task_be_ideal(self, application: Given) -> None:
        clients, given_tasks, options, _ = application
        # Without standbys one value is enough, and without tags none is needed.
        options = replace(
            options,
            num_standby_replicas=options.num_standby_replicas or 3,
            rack_aware_assignment_tags=options.rack_aware_assignment_tags or ("zone",),
        )
        assume(not all(verdict.has_enough for verdict in tag_verdicts(clients, options)))
        answer = assign(clients, given_tasks, options)
        assert not any(v.is_ideal for v in task_verdicts(answer, clients, given_tasks.stateful, options))


class TestTags:
    """Whether a tag has values enough."""

    def test_values_are_counted_against_copies(self) -> None:
        (verdict,) = tag_verdicts(CLIENTS, BY_ZONE)
        assert (verdict.values, verdict.needed, verdict.without) == ((("a", 2),), 2, 1)
        assert not verdict.has_enough


class TestLosses:
    """Losses with a zone or a client."""

    def test_a_zone_takes_what_has_both_copies_there(self) -> None:
        zone, *_ = losses(CROWDED, CLIENTS, TASKS.stateful, BY_ZONE)
        assert (zone.tag, zone.value, zone.n_clients) == ("zone", "a", 2)
        assert zone.without_survivor == ids("0_0 0_1")
        assert zone.promoted == zone.moved == ()

    def test_a_client_hands_over_to_the_copy_that_is_least_behind(self) -> None:
        _, first, second, third = losses(CROWDED, CLIENTS, TASKS.stateful, BY_ZONE)
        assert (first.process_id, first.promoted, first.survivor_lag.tolist()) == (
            CLIENTS[0].process_id,
            ids("0_0"),
            [5],
        )
        assert (second.promoted, second.survivor_lag.tolist()) == (ids("0_1"), [100])
        assert (third.promoted, third.moved) == ((), ids("1_0"))

    def test_an_unknown_lag_is_reported_as_unknown(self) -> None:
        swapped = assignment(["xx.", "...", "..x"], ["...", "xx.", "..."])
        _, first, *_ = losses(swapped, CLIENTS, TASKS.stateful, BY_ZONE)
        assert first.survivor_lag.tolist() == [5, UNKNOWN_LAG]

    @given(applications())
    def test_without_standbys_a_lost_client_loses_all_its_state(self, application: Given) -> None:
        clients, given_tasks, options, _ = application
        alone = replace(options, num_standby_replicas=0, max_warmup_replicas=0)
        answer = assign(clients, given_tasks, alone)
        found = losses(answer, clients, given_tasks.stateful, replace(alone, rack_aware_assignment_tags=()))
        assert sorted(task for loss in found for task in loss.without_survivor) == sorted(given_tasks.stateful)
        assert not any(loss.promoted for loss in found)


class TestViolations:
    """Findings of the verifier in assignments made elsewhere."""

    def codes(self, answer: StreamsAssignment, options: StreamsOptions = BY_ZONE) -> list[str]:
        return [found.code for found in violations(answer, CLIENTS, TASKS, options)]

    def test_nothing_where_all_is_well(self) -> None:
        assert self.codes(CROWDED) == []

    def test_each_way_to_be_wrong(self) -> None:
        assert self.codes(assignment(["x..", "...", "..x"], [".x.", "x..", "..."])) == ["not_active"]
        assert self.codes(assignment(["x..", ".xx", "..x"], [".x.", "x..", "..."])) == ["doubly_active"]
        assert self.codes(assignment(["x..", ".x.", "..x"], ["xx.", "...", "..."])) == ["beside_active"]
        assert self.codes(assignment(["x..", ".x.", "..x"], [".xx", "x..", "..."])) == ["stateless_standby"]
        assert self.codes(assignment(["x..", ".x.", "..x"], [".x.", "x..", "x.."])) == ["too_many_standbys"]
        assert self.codes(assignment(["x..", ".x.", "..x"], [".x.", "...", "..."])) == ["too_few_standbys"]
        warming = assignment(["x..", ".x.", "..x"], [".x.", "x..", "..."], ["...", "...", "x.."])
        assert self.codes(warming) == ["not_a_standby"]
        warm = assignment(["x..", ".x.", "..x"], [".x.", "x..", "xx."], ["...", "...", "xx."])
        assert self.codes(warm) == []
        assert self.codes(warm, replace(BY_ZONE, max_warmup_replicas=1)) == ["too_many_warmups"]

    def test_strangers(self) -> None:
        unknown = replace(CROWDED, process_ids=(*CROWDED.process_ids[:2], client(9).process_id))
        assert self.codes(unknown) == ["unknown_client"]
        other = replace(CROWDED, task_ids=ids("0_0 0_1 7_0"))
        assert self.codes(other) == ["unknown_task", "not_assigned"]
