"""What tasks, their loads and their losses look like in a Streams plan as JSON."""

from typing import Literal

from pydantic import BaseModel


class MemberTasksDocument(BaseModel):
    """The tasks of one member of a streams group."""

    active: list[str]
    """Ids of tasks that the member runs, ascending."""
    standby: list[str]
    """Ids of tasks of which the member has a standby, ascending."""


class ClientTasksDocument(BaseModel):
    """One client's tasks, ascending. `standby` includes `warmup`, as in the assignment that Kafka sends.

    `members` are the threads of a streams group; null under the classic protocol.
    """

    active: list[str]
    """Ids of tasks that the client runs, ascending."""
    standby: list[str]
    """Ids of tasks of which the client has a standby or warm-up, ascending."""
    warmup: list[str]
    """Ids of tasks of which the client has a warm-up, ascending."""
    members: dict[str, MemberTasksDocument] | None
    """Tasks of each thread by member id; null under the classic protocol."""


class SharedValueDocument(BaseModel):
    """A tag value that several copies of a task have; null where so many copies' clients lack the tag."""

    tag: str
    """Name of the tag."""
    value: str | None
    """Value that the copies share; null if their clients lack the tag."""
    copies: int
    """Number of copies on clients with this value."""


class TaskDocument(BaseModel):
    """A task, its clients, and whether its copies differ in every tag; `ideal` is null for a stateless task."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    active: str | None
    """Process id of the client that runs it; null if none does."""
    standby: list[str]
    """Process ids of clients with a standby or warm-up of it."""
    warmup: list[str]
    """Process ids of clients with a warm-up of it."""
    stateful: bool
    """Whether the task has state."""
    ideal: bool | None
    """Whether it has all its standbys, apart by every listed tag; null for a stateless task."""
    missing_standbys: int
    """Number of standbys that it lacks."""
    repeated_tags: list[str]
    """Tags of which several of its copies share a value, in the order of the request."""
    shared: list[SharedValueDocument]
    """Values that several of its copies share."""


class TagDocument(BaseModel):
    """A tag, the number of clients with each value, and the number of values that a task's copies need."""

    tag: str
    """Name of the tag."""
    values: dict[str, int]
    """Number of clients by value of the tag."""
    needed: int
    """Number of distinct values that the copies of a task need: one more than its standbys."""
    without: int
    """Number of clients that lack the tag."""
    enough: bool
    """Whether the clients have as many values as needed."""


class PromotedTask(BaseModel):
    """A task that another copy takes over, and the smallest lag of its copies; null if it is unknown."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    survivor_lag: int | None
    """Smallest lag of the remaining copies, in offsets; null if it is unknown."""


class LossDocument(BaseModel):
    """The effect of losing clients: tasks without a copy, tasks that a copy takes over, and moved stateless tasks."""

    clients: int
    """Number of lost clients."""
    without_survivor: list[str]
    """Ids of stateful tasks that lose every copy, ascending."""
    promoted: list[PromotedTask]
    """Stateful tasks that another copy takes over, by task id."""
    moved: list[str]
    """Ids of stateless tasks that other clients take over, ascending."""


class CountDocument(BaseModel):
    """The balance of clients."""

    min: int
    """Smallest number of a client."""
    max: int
    """Largest number of a client."""
    spread: int
    """Largest number minus the smallest."""
    total: int
    """Sum over all clients."""


class ReadsDocument(BaseModel):
    """Partitions read, those read across racks, and those whose racks are unknown."""

    partitions: int
    """Number of partitions that are read."""
    cross_rack: int
    """Number of partitions without a replica in the client's rack."""
    unknown: int
    """Number of partitions whose racks, or the client's, are unknown."""


class ClientLoadDocument(BaseModel):
    """The load of one client. Active tasks read `sources`; standbys and warm-ups read `changelogs`."""

    process_id: str
    """Process id of the client."""
    capacity: int
    """Number of its stream threads."""
    rack_id: str | None
    """Its `client.rack`; null if it has none."""
    client_tags: dict[str, str]
    """Its client tags, name → value."""
    active: int
    """Number of tasks that it runs."""
    standby: int
    """Number of its standbys, without warm-ups."""
    warmup: int
    """Number of its warm-ups."""
    sources: ReadsDocument | None
    """Source partitions that its active tasks read; null if the topics are unknown."""
    changelogs: ReadsDocument | None
    """Changelog partitions that its standbys and warm-ups read; null if the topics are unknown."""


class StreamsLoadsDocument(BaseModel):
    """The balance of clients, and their reads across racks."""

    active: CountDocument
    """Balance of active tasks."""
    standby: CountDocument
    """Balance of standbys."""
    warmup: CountDocument
    """Balance of warm-ups."""
    sources: ReadsDocument | None
    """Source partitions that all clients read; null if the topics are unknown."""
    changelogs: ReadsDocument | None
    """Changelog partitions that all clients read; null if the topics are unknown."""
    per_client: list[ClientLoadDocument]
    """Load of each client, in the order of the request."""


class TaskMovementDocument(BaseModel):
    """Tasks that change clients, and the copies of state that have to be restored."""

    active_kept: int
    """Number of tasks that the same client runs as before."""
    active_moved: int
    """Number of tasks that another client runs than before."""
    active_started: int
    """Number of tasks that no client ran before."""
    restored_copies: int
    """Number of copies of state that have to be restored."""
    restored_bytes: int | None
    """Bytes of these copies; null if `state_bytes` is not in the request."""


class TaskViolationDocument(BaseModel):
    """One way in which the assignment is illegal or fragile; the first tasks are listed."""

    code: str
    """Stable code of the violation."""
    severity: Literal["illegal", "fragile"]
    """`illegal`: a task runs on no client or on two, or has a forbidden copy. `fragile`: legal, few copies."""
    count: int
    """Number of tasks concerned."""
    tasks: list[str]
    """Ids of the first tasks concerned, ascending."""
    detail: str
    """The violation in a sentence, with its numbers."""
