"""Events: laws of consequences, and applications whose deploys can be followed by eye."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given

from app.core.streams.assignors import high_availability, sticky
from app.core.streams.lifecycle.events import (
    Cause,
    DeployAtOnce,
    Event,
    LoseClient,
    LoseRack,
    LoseTag,
    NoChange,
    RollingDeploy,
    ScaleIn,
    ScaleOut,
)
from app.core.streams.lifecycle.state import Changelogs, restarted_id
from app.core.streams.lifecycle.steps import StreamsStep, apply_events
from app.core.streams.model import RUNNING_ACTIVE, StreamsClient, StreamsOptions, StreamsTasks, name_of
from app.core.streams.violations import violations
from app.errors.requests import ConflictingFields
from tests import draws as st
from tests.core.streams.small_applications import Given, applications, client, ids, tasks, written
from tests.profiles import examples

CHANGELOGS = Changelogs(default_offsets=90_000)
SPARE = client(999)


def named(clients: Sequence[StreamsClient], number: int) -> UUID:
    """One of some clients."""
    return clients[number % len(clients)].process_id


@st.composite
def events_of(draw: st.DrawFn, clients: Sequence[StreamsClient]) -> list[Event]:
    """Events that can be, whatever comes before: no client is named that may have gone."""
    deploys = st.builds(RollingDeploy, st.booleans(), st.sampled_from([0, 20_000]), st.booleans())
    at_once = st.builds(DeployAtOnce, st.booleans(), st.sampled_from([0, 20_000]))
    chosen: list[Event] = draw(st.lists(st.one_of(deploys, at_once, st.just(NoChange())), max_size=2))
    if draw(st.booleans()):
        chosen.append(ScaleOut([SPARE]))
    if len(clients) > 1 and draw(st.booleans()):
        chosen.insert(0, LoseClient(named(clients, draw(st.integers(0, 9)))))
    return chosen


def run(application: Given, events: Sequence[Event], **more: object) -> tuple[StreamsStep, ...]:
    """Events by the high-availability assignor."""
    clients, given_tasks, options, _ = application
    return apply_events(
        clients,
        given_tasks,
        options,
        events,
        assign=high_availability.assign,
        changelogs=CHANGELOGS,
        **more,  # type: ignore[arg-type] # whatever a test sets
    )


class TestLaws:
    """Laws of every application."""

    @given(st.data(), applications(min_clients=2))
    @examples(60)
    def test_every_assignment_is_legal(self, data: st.DataObject, application: Given) -> None:
        """Nothing is active twice, at no rebalance."""
        for step in run(application, data.draw(events_of(application[0]))):
            for rebalance in step.rebalances:
                answer = rebalance.assignment
                assert (answer.active.sum(axis=0) == 1).all()
                clients = [its for its in step.after.clients if its.process_id in answer.process_ids]
                if len(clients) == len(answer.process_ids):
                    found = violations(answer, clients, application[1], application[2])
                    assert not [its for its in found if its.severity == "illegal"]

    @given(st.data(), applications(min_clients=2))
    @examples(60)
    def test_two_events_are_one_after_the_other(self, data: st.DataObject, application: Given) -> None:
        events = data.draw(events_of(application[0]))
        together = run(application, [NoChange(), *events])
        apart: tuple[StreamsStep, ...] = ()
        for event in [NoChange(), *events]:
            clients = list(apart[-1].after.clients) if apart else application[0]
            apart += run((clients, *application[1:]), [event])
        assert len(together) == len(apart)
        for one, other in zip(together, apart, strict=True):
            assert written(one.after.assignment) == written(other.after.assignment)
            assert (one.active_moved, one.restored_copies, one.without_copy) == (
                other.active_moved,
                other.restored_copies,
                other.without_copy,
            )

    @given(applications())
    @examples(60)
    def test_what_has_settled_stays(self, application: Given) -> None:
        """With warm-ups allowed it settles; another rebalance then moves and restores nothing."""
        options = replace(application[2], max_warmup_replicas=max(application[2].max_warmup_replicas, 1))
        first, again = run((*application[:2], options, application[3]), [NoChange(), NoChange()])
        assert first.is_settled
        assert again.is_settled
        assert written(first.after.assignment) == written(again.after.assignment)
        assert (again.active_moved, again.restored_copies, again.probes) == ((), 0, 0)
        assert not again.after.assignment.warmup.any()

    @given(applications(min_clients=2))
    @examples(60)
    def test_what_a_step_leaves_behind_is_what_clients_say(self, application: Given) -> None:
        (step,) = run(application, [NoChange()])
        for place, its in enumerate(step.after.clients):
            own = step.after.assignment.of_client(place)
            assert tuple(its.previous_active) == own.active
            for task in application[1].stateful:
                holds = task in own.standby or task in own.warmup
                expected = RUNNING_ACTIVE if task in own.active else 0 if holds else 90_000
                assert its.lags.get(task, its.default_lag) == expected

    @given(applications(min_clients=2))
    @examples(40)
    def test_a_client_back_with_all_it_had_changes_nothing(self, application: Given) -> None:
        """Within the session timeout no rebalance happens, and it is where it was in the end."""
        options = replace(application[2], max_warmup_replicas=2)
        steps = run((*application[:2], options, application[3]), [NoChange(), RollingDeploy(outlasts_session=False)])
        before = steps[0].after
        assert len(steps) == 1 + len(before.clients)
        assert written(steps[-1].after.assignment) == written(before.assignment)
        assert sum(its.restored_copies for its in steps[1:]) == 0


class TestExamples:
    """Two or three clients, which can be followed by eye."""

    zones = (
        client(1, client_tags={"zone": "a"}, rack_id="a"),
        client(2, client_tags={"zone": "b"}, rack_id="b"),
        client(3, client_tags={"zone": "c"}, rack_id="c"),
    )
    options = StreamsOptions(1, rack_aware_assignment_tags=("zone",))
    given_tasks = tasks("0_0 0_1 0_2")
    state = Changelogs(default_offsets=90_000, state_bytes=dict.fromkeys(ids("0_0 0_1 0_2"), 1_000))

    def run(self, *events: Event, options: StreamsOptions | None = None, **more: object) -> tuple[StreamsStep, ...]:
        """Events after a first start."""
        return apply_events(
            self.zones,
            self.given_tasks,
            options or self.options,
            [NoChange(), *events],
            assign=high_availability.assign,
            changelogs=self.state,
            **more,  # type: ignore[arg-type] # whatever a test sets
        )

    def test_a_first_start_restores_every_copy(self) -> None:
        (start,) = self.run()
        assert written(start.after.assignment) == ["0_0 | 0_1 0_2 | ", "0_1 | 0_0 | ", "0_2 |  | "]
        assert (start.restored_copies, start.restored_bytes) == (6, 6_000)
        assert start.rebalances[0].not_running == ids("0_0 0_1 0_2")
        assert (start.interrupted, start.active_moved, start.is_settled) == ((), (), True)

    @pytest.mark.parametrize("loss", [LoseTag("zone", "a"), LoseRack("a"), LoseClient(UUID(int=1))])
    def test_a_zone_is_lost_and_its_standby_takes_over(self, loss: Event) -> None:
        """0_0 runs at once where its standby was; the standbys are restored.

        Dealt in turn to two clients, 0_1 and 0_2 belong to the other one each, and change places once their standbys
        have caught up there.
        """
        _, lost = self.run(loss)
        assert (lost.interrupted, lost.without_copy) == (ids("0_0"), ())
        assert [its.cause for its in lost.rebalances] == [Cause.LEFT, Cause.PROBING]
        assert [written(its.assignment) for its in lost.rebalances] == [
            ["0_0 0_1 | 0_2 | ", "0_2 | 0_0 0_1 | "],
            ["0_0 0_2 | 0_1 | ", "0_1 | 0_0 0_2 | "],
        ]
        assert [its.active_moved for its in lost.rebalances] == [ids("0_0"), ids("0_1 0_2")]
        assert not any(its.not_running for its in lost.rebalances)
        assert (lost.restored_copies, lost.restored_bytes, lost.is_settled) == (3, 3_000, True)

    def test_without_standbys_a_lost_client_means_restoring(self) -> None:
        """0_0 is restored before it runs; 0_1 and 0_2 warm up where they are to run from then on."""
        _, lost = self.run(LoseClient(UUID(int=1)), options=StreamsOptions())
        assert lost.without_copy == ids("0_0")
        assert lost.rebalances[0].not_running == ids("0_0")
        assert written(lost.rebalances[0].assignment) == ["0_0 0_1 |  | 0_2", "0_2 |  | 0_1"]
        assert (lost.probes, lost.restored_copies, lost.restored_bytes) == (1, 3, 3_000)

    def test_a_new_client_warms_up_and_then_takes_over(self) -> None:
        """One client runs both tasks; the new one warms up 0_1 and runs it after one probing rebalance."""
        one = client(1)
        steps = apply_events(
            [one],
            tasks("0_0 0_1"),
            StreamsOptions(),
            [NoChange(), ScaleOut([client(2)])],
            assign=high_availability.assign,
            changelogs=self.state,
        )
        joined = steps[1]
        assert written(joined.rebalances[0].assignment) == ["0_0 0_1 |  | ", " |  | 0_1"]
        assert written(joined.after.assignment) == ["0_0 |  | ", "0_1 |  | "]
        assert (joined.probes, joined.restored_copies, joined.is_settled) == (1, 1, True)
        assert joined.active_moved == ids("0_1")

    def test_without_warm_ups_it_never_settles_and_says_so(self) -> None:
        options = StreamsOptions(max_warmup_replicas=0)
        _, joined = self.run(ScaleOut([client(4), client(0)]), options=options)
        assert not joined.is_settled
        assert joined.probes == 1

    def test_few_probes_may_not_suffice(self) -> None:
        options = StreamsOptions(max_warmup_replicas=1)
        _, joined = self.run(ScaleOut([client(0)]), options=options, most_probes=0)
        assert (joined.is_settled, joined.probes) == (False, 0)

    def test_a_rolling_deploy_is_a_step_a_client(self) -> None:
        steps = self.run(RollingDeploy())
        assert [its.process_id for its in steps[1:]] == [its.process_id for its in self.zones]
        for step, name in zip(steps[1:], ("0_0", "0_1", "0_2"), strict=True):
            assert (step.interrupted, step.without_copy) == (ids(name), ())
            assert [its.cause for its in step.rebalances[:2]] == [Cause.LEFT, Cause.RESTARTED]
            assert step.is_settled
        assert written(steps[-1].after.assignment) == written(steps[0].after.assignment)

    def test_a_deploy_that_loses_state_restores_it_all(self) -> None:
        steps = self.run(DeployAtOnce(keeps_state=False))
        assert steps[1].restored_copies == 6
        assert steps[1].without_copy == ids("0_0 0_1 0_2")
        assert steps[1].after.assignment.process_ids == tuple(restarted_id(its.process_id) for its in self.zones)
        step = self.run(DeployAtOnce(behind=45_000))[1]
        assert (step.active_moved, step.restored_copies, step.restored_bytes) == ((), 6, 3_000)

    def test_scaling_in_is_leaving_together(self) -> None:
        _, left = self.run(ScaleIn([UUID(int=1), UUID(int=2)]))
        assert [name_of(task) for task in left.interrupted] == ["0_0", "0_1"]
        assert left.without_copy == ids("0_0 0_1")
        assert written(left.after.assignment) == ["0_0 0_1 0_2 |  | "]

    def test_any_assignor_will_do(self) -> None:
        steps = apply_events(
            self.zones, self.given_tasks, StreamsOptions(1), [NoChange(), RollingDeploy()], assign=sticky.assign
        )
        assert all(its.is_settled for its in steps)
        prior = apply_events(
            self.zones, self.given_tasks, StreamsOptions(1), [NoChange()], assign=sticky.assign_prior, most_probes=5
        )
        assert not prior[0].is_settled

    def test_tasks_without_state_have_nothing_to_restore(self) -> None:
        (start,) = apply_events(
            self.zones,
            StreamsTasks(ids("0_0 0_1"), ()),
            StreamsOptions(1),
            [NoChange()],
            assign=high_availability.assign,
        )
        assert (start.restored_copies, start.without_copy, start.is_settled) == (0, (), True)
        assert np.array_equal(start.after.assignment.active.sum(axis=0), [1, 1])


class TestBadInput:
    """Events that cannot be say which of them it is."""

    @pytest.mark.parametrize(
        ("event", "detail"),
        [
            (LoseTag("zone", "z"), "no client with zone = z"),
            (LoseRack("z"), "no client in rack z"),
            (LoseClient(UUID(int=77)), "no client 0+4d"),
            (ScaleIn([UUID(int=1), UUID(int=77)]), "no client 0+4d"),
            (ScaleIn([UUID(int=1), UUID(int=2), UUID(int=3)]), "leaves no client"),
            (ScaleIn([]), "no client that is named"),
            (ScaleOut([client(4), client(1)]), "is in the group already"),
        ],
    )
    def test_it_is_rejected(self, event: Event, detail: str) -> None:
        with pytest.raises(ConflictingFields) as failure:
            TestExamples().run(event)
        assert failure.match(detail.replace("0+4d", ".*0000004d"))
        assert failure.value.path[:2] == ("events", 1)
