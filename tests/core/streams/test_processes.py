"""Streams groups over clients: laws of the assignment by process, and of events."""

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given

from app.core.kafka_versions import KafkaVersion
from app.core.streams.coordinator.processes import irregular_task, subtopologies_of
from app.core.streams.lifecycle.events import DeployAtOnce, Event, LoseClient, NoChange, RollingDeploy
from app.core.streams.lifecycle.state import Changelogs
from app.core.streams.lifecycle.steps import apply_events
from app.core.streams.model import StreamsClient, StreamsOptions, StreamsTasks, StreamThread
from app.core.streams.registry import GROUP_TASK_ASSIGNORS, group_task_assignor_for, streams_assignor_for
from app.core.streams.violations import violations
from app.errors.requests import ConflictingFields
from tests import draws as st
from tests.core.streams.small_applications import tasks
from tests.profiles import costly

RELEASES = [assignor.replays.holds.from_ for assignor in GROUP_TASK_ASSIGNORS]
SUBTOPOLOGIES = st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=4).map(
    lambda sizes: StreamsTasks(
        [(number, partition) for number, (size, _) in enumerate(sizes) for partition in range(size)],
        [
            (number, partition)
            for number, (size, has_state) in enumerate(sizes)
            if has_state
            for partition in range(size)
        ],
    )
)


@st.composite
def groups(draw: st.DrawFn) -> list[StreamsClient]:
    """Clients with threads that have no tasks yet."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    return [
        StreamsClient(
            UUID(int=number + 1),
            size,
            rack_id=draw(st.sampled_from(["r0", "r1", None])),
            threads=tuple(StreamThread(f"{number}-{thread}") for thread in range(size)),
        )
        for number, size in enumerate(sizes)
    ]


@pytest.mark.parametrize("release", RELEASES)
class TestLaws:
    @costly()
    @given(clients=groups(), given_tasks=SUBTOPOLOGIES, standbys=st.integers(0, 2))
    def test_a_client_has_what_its_threads_have(
        self, release: str, clients: list[StreamsClient], given_tasks: StreamsTasks, standbys: int
    ) -> None:
        assign = group_task_assignor_for(KafkaVersion.of(release)).assign
        options = StreamsOptions(num_standby_replicas=standbys)
        answer = assign(clients, given_tasks, options)
        assert not answer.warmup.any()
        assert violations(answer, clients, given_tasks, options) == []
        for place, client in enumerate(clients):
            threads = answer.threads[client.process_id]
            assert [thread.member_id for thread in threads] == [thread.member_id for thread in client.threads]
            own = answer.of_client(place)
            assert sorted(task for thread in threads for task in thread.active) == list(own.active)
            assert sorted(task for thread in threads for task in thread.standby) == list(own.standby)

    @pytest.mark.long
    @given(clients=groups(), given_tasks=SUBTOPOLOGIES, standbys=st.integers(0, 2))
    def test_tags_racks_and_lags_change_nothing(
        self, release: str, clients: list[StreamsClient], given_tasks: StreamsTasks, standbys: int
    ) -> None:
        assign = group_task_assignor_for(KafkaVersion.of(release)).assign
        other = [replace(client, rack_id="x", client_tags={"zone": "z"}, default_lag=3) for client in clients]
        options = StreamsOptions(num_standby_replicas=standbys)
        answer = assign(clients, given_tasks, options)
        tagged = assign(other, given_tasks, replace(options, rack_aware_assignment_tags=("zone",)))
        assert np.array_equal(answer.active, tagged.active)
        assert np.array_equal(answer.standby, tagged.standby)

    @costly()
    @given(clients=groups(), given_tasks=SUBTOPOLOGIES, standbys=st.integers(0, 2))
    def test_every_step_has_every_task_once_and_settles(
        self, release: str, clients: list[StreamsClient], given_tasks: StreamsTasks, standbys: int
    ) -> None:
        assign = group_task_assignor_for(KafkaVersion.of(release)).assign
        options = StreamsOptions(num_standby_replicas=standbys)
        happening: list[Event] = [NoChange(), RollingDeploy(), DeployAtOnce(keeps_state=False)]
        if len(clients) > 1:
            happening.insert(1, LoseClient(clients[0].process_id))
        steps = apply_events(clients, given_tasks, options, happening, assign=assign)
        for step in steps:
            assert step.is_settled
            assert not step.probes
            assert (step.after.assignment.active.sum(axis=0) == 1).all()
            assert violations(step.after.assignment, step.after.clients, given_tasks, options) == []


class TestEvents:
    TASKS = tasks("0_0 0_1")
    CLIENTS = (
        StreamsClient(UUID(int=1), threads=(StreamThread("a", active=((0, 1),)),)),
        StreamsClient(UUID(int=2), threads=(StreamThread("b", active=((0, 0),)),)),
    )

    def test_a_restarted_client_reports_the_state_on_its_disk(self) -> None:
        """Since 4.4 that is how it gets its tasks back; before, it is a member like any new one."""
        assign = group_task_assignor_for(KafkaVersion.of("4.4")).assign
        steps = apply_events(
            self.CLIENTS,
            self.TASKS,
            StreamsOptions(),
            [NoChange(), DeployAtOnce(behind=5)],
            assign=assign,
            changelogs=Changelogs({(0, 0): 100, (0, 1): 100}),
        )
        before, after = steps[-1].before.assignment, steps[-1].after.assignment
        assert [thread.member_id for client in steps[-1].after.clients for thread in client.threads] == [
            "a-restarted",
            "b-restarted",
        ]
        assert np.array_equal(before.active, after.active)

    def test_a_deploy_without_state_is_a_new_process(self) -> None:
        assign = group_task_assignor_for(KafkaVersion.of("4.2")).assign
        named = [replace(client, process_name=name) for client, name in zip(self.CLIENTS, "pq", strict=True)]
        (step,) = apply_events(named, self.TASKS, StreamsOptions(), [DeployAtOnce(keeps_state=False)], assign=assign)
        assert [client.process_name for client in step.after.clients] == ["p-restarted", "q-restarted"]
        (step,) = apply_events(
            self.CLIENTS, self.TASKS, StreamsOptions(), [DeployAtOnce(keeps_state=False)], assign=assign
        )
        assert [client.process_name for client in step.after.clients] == [
            str(client.process_id) for client in step.after.clients
        ]


class TestTopology:
    def test_subtopologies_are_in_the_order_of_their_texts(self) -> None:
        listed = subtopologies_of(tasks("9_0 10_0 10_1", stateful="10_0 10_1"))
        assert [(each.id, each.partitions, each.is_stateful) for each in listed] == [("10", 2, True), ("9", 1, False)]

    @pytest.mark.parametrize(
        ("given_tasks", "irregular"),
        [
            (tasks("0_0 0_1 3_0"), None),
            (tasks(""), None),
            (tasks("0_1"), ((0, 0), "is missing")),
            (tasks("0_0 0_2147483647"), ((0, 1), "is missing")),
            (tasks("0_0 0_1", stateful="0_1"), ((0, 0), "is stateless")),
        ],
    )
    def test_tasks_are_those_of_whole_subtopologies(self, given_tasks: StreamsTasks, irregular: object) -> None:
        assert irregular_task(given_tasks) == irregular

    def test_an_assignor_is_one_of_its_protocol(self) -> None:
        version = KafkaVersion.of("4.2")
        assert streams_assignor_for("classic", None, version).name == "high_availability"
        assert streams_assignor_for("streams", "sticky", version) is streams_assignor_for("streams", None, version)
        with pytest.raises(ConflictingFields):
            streams_assignor_for("streams", "fallback_prior", version)
