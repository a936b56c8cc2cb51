"""Applications to try assignors on, and how to read their answers."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

from app.core.jvm.hashes import TaskId, task_id
from app.core.streams.model import (
    RackAwareStrategy,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
    name_of,
)
from tests import draws as st

Given: TypeAlias = tuple[list[StreamsClient], StreamsTasks, StreamsOptions, TaskPartitions]

PROCESS_IDS = st.one_of(
    st.integers(0, 2**128 - 1), st.integers(1, 20), st.integers(2**127, 2**127 + 20), st.integers(2**63, 2**63 + 9)
).map(lambda number: UUID(int=number))
RACKS = ("r0", "r1", "r2")
N_PARTITIONS = 4


def client(number: int, capacity: int = 1, **more: object) -> StreamsClient:
    """A client whose process id is a small number."""
    return StreamsClient(UUID(int=number), capacity, **more)  # type: ignore[arg-type] # whatever a client has


def tasks(names: str, stateful: str | None = None) -> StreamsTasks:
    """Tasks as Kafka prints them: `0_0 0_1`; all are stateful unless said."""
    ids = tuple(map(task_id, names.split()))
    return StreamsTasks(ids, ids if stateful is None else tuple(map(task_id, stateful.split())))


def ids(names: str) -> tuple[TaskId, ...]:
    """Task ids as Kafka prints them."""
    return tuple(map(task_id, names.split()))


def written(assignment: StreamsAssignment) -> list[str]:
    """Each client's tasks as a line, in the order in which clients were given: `0_0 0_1 | 0_2 | 0_3`."""
    lines = []
    for at in range(len(assignment.process_ids)):
        own = assignment.of_client(at)
        parts = (" ".join(map(name_of, role)) for role in (own.active, own.standby, own.warmup))
        lines.append(" | ".join(parts))
    return lines


def running(assignment: StreamsAssignment, clients: Sequence[StreamsClient], **lags: int) -> list[StreamsClient]:
    """The clients some time after an assignment: active tasks run, and copies are as far behind as said."""
    later = []
    for at, before in enumerate(clients):
        own = assignment.of_client(at)
        behind: Mapping[TaskId, int] = {
            **dict.fromkeys(own.active, -2),
            **dict.fromkeys(own.standby, lags.get("standby", 0)),
            **dict.fromkeys(own.warmup, lags.get("warmup", 0)),
        }
        later.append(
            StreamsClient(
                before.process_id,
                before.capacity,
                before.client_tags,
                before.rack_id,
                own.active,
                own.standby + own.warmup,
                behind,
                before.default_lag,
            )
        )
    return later


@st.composite
def applications(draw: st.DrawFn, *, min_clients: int = 1, racks: bool = False) -> Given:
    """Clients with tags, racks, previous tasks and lags; tasks of some subtopologies; settings; partitions."""
    counts = draw(st.lists(st.integers(0, N_PARTITIONS), min_size=1, max_size=4))
    every = [(sub, partition) for sub, count in enumerate(counts) for partition in range(count)]
    has_state = draw(st.lists(st.booleans(), min_size=len(counts), max_size=len(counts)))
    given = StreamsTasks(draw(st.permutations(every)), [task for task in every if has_state[task[0]]])
    process_ids = draw(st.lists(PROCESS_IDS, min_size=min_clients, max_size=6, unique=True))
    holder = st.sampled_from(process_ids)
    owned = draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    prior = {
        task: (draw(holder), draw(st.lists(holder, max_size=2)))
        for task, is_owned in zip(every, owned, strict=True)
        if is_owned
    }
    clients = [_client(draw, process_id, given, prior, racks=racks) for process_id in process_ids]
    return clients, given, draw(options()), draw(partitions(every))


def _client(
    draw: st.DrawFn,
    process_id: UUID,
    given: StreamsTasks,
    prior: Mapping[TaskId, tuple[UUID, list[UUID]]],
    *,
    racks: bool,
) -> StreamsClient:
    lag = st.sampled_from([-3, -2, 0, 5, 10_000, 10_001, 70_000])
    return StreamsClient(
        process_id,
        draw(st.integers(1, 4)),
        draw(st.dictionaries(st.sampled_from(["zone", "cluster"]), st.sampled_from(["a", "b", "c"]))),
        draw(st.sampled_from(RACKS if racks else (*RACKS, None))),
        [task for task, (owner, _) in prior.items() if owner == process_id],
        [task for task, (_, standbys) in prior.items() if process_id in standbys],
        draw(st.dictionaries(st.sampled_from(given.stateful), lag)) if given.stateful else {},
        draw(st.sampled_from([0, 20_000, 90_000])),
    )


def options() -> st.SearchStrategy[StreamsOptions]:
    """Settings of all kinds."""
    return st.builds(
        StreamsOptions,
        st.integers(0, 3),
        st.integers(0, 4),
        st.sampled_from([0, 100, 10_000, 2**63 - 1]),
        st.sampled_from([(), ("zone",), ("zone", "cluster"), ("cluster", "nobody")]),
        st.sampled_from(RackAwareStrategy),
        st.sampled_from([None, 0, 1, 10]),
        st.sampled_from([None, 0, 1, 10]),
    )


@st.composite
def partitions(draw: st.DrawFn, every: Sequence[TaskId]) -> TaskPartitions:
    """A source and a changelog topic for each subtopology, on brokers of all racks."""
    replicas = st.lists(st.integers(0, 5), min_size=1, max_size=2, unique=True)
    rows = st.lists(replicas, min_size=N_PARTITIONS, max_size=N_PARTITIONS)
    subtopologies = sorted({subtopology for subtopology, _ in every})
    return TaskPartitions(
        {task: [(f"in{task[0]}", task[1])] for task in every},
        {task: [(f"log{task[0]}", task[1])] for task in every},
        {f"{kind}{subtopology}": draw(rows) for subtopology in subtopologies for kind in ("in", "log")},
        {broker: RACKS[broker % len(RACKS)] for broker in range(6)},
    )
