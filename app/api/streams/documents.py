"""What Streams plans look like as JSON."""

from typing import Any, Literal

from pydantic import BaseModel

from app.api.plan_documents import WholePlan
from app.api.snapshots import WarningDocument
from app.services.streams import Protocol


class MemberTasksDocument(BaseModel):
    """The tasks of one member of a streams group."""

    active: list[str]
    standby: list[str]


class ClientTasksDocument(BaseModel):
    """One client's tasks, ascending. `standby` includes `warmup`, as in the assignment that Kafka sends.

    `members` are the threads of a streams group; null under the classic protocol.
    """

    active: list[str]
    standby: list[str]
    warmup: list[str]
    members: dict[str, MemberTasksDocument] | None


class SharedValueDocument(BaseModel):
    """A tag value that several copies of a task have; null where so many copies' clients lack the tag."""

    tag: str
    value: str | None
    copies: int


class TaskDocument(BaseModel):
    """A task, its clients, and whether its copies differ in every tag; `ideal` is null for a stateless task."""

    task: str
    active: str | None
    standby: list[str]
    warmup: list[str]
    stateful: bool
    ideal: bool | None
    missing_standbys: int
    repeated_tags: list[str]
    shared: list[SharedValueDocument]


class TagDocument(BaseModel):
    """A tag, the number of clients with each value, and the number of values that a task's copies need."""

    tag: str
    values: dict[str, int]
    needed: int
    without: int
    enough: bool


class PromotedTask(BaseModel):
    """A task that another copy takes over, and the smallest lag of its copies; null if it is unknown."""

    task: str
    survivor_lag: int | None


class LossDocument(BaseModel):
    """The effect of losing clients: tasks without a copy, tasks that a copy takes over, and moved stateless tasks."""

    clients: int
    without_survivor: list[str]
    promoted: list[PromotedTask]
    moved: list[str]


class CountDocument(BaseModel):
    """The balance of clients."""

    min: int
    max: int
    spread: int
    total: int


class ReadsDocument(BaseModel):
    """Partitions read, those read across racks, and those whose racks are unknown."""

    partitions: int
    cross_rack: int
    unknown: int


class ClientLoadDocument(BaseModel):
    """The load of one client. Active tasks read `sources`; standbys and warm-ups read `changelogs`."""

    process_id: str
    capacity: int
    rack_id: str | None
    client_tags: dict[str, str]
    active: int
    standby: int
    warmup: int
    sources: ReadsDocument | None
    changelogs: ReadsDocument | None


class StreamsLoadsDocument(BaseModel):
    """The balance of clients, and their reads across racks."""

    active: CountDocument
    standby: CountDocument
    warmup: CountDocument
    sources: ReadsDocument | None
    changelogs: ReadsDocument | None
    per_client: list[ClientLoadDocument]


class TaskMovementDocument(BaseModel):
    """Tasks that change clients, and the copies of state that have to be restored."""

    active_kept: int
    active_moved: int
    active_started: int
    restored_copies: int
    restored_bytes: int | None


class TaskViolationDocument(BaseModel):
    """One way in which the assignment is illegal or fragile; the first tasks are listed."""

    code: str
    severity: Literal["illegal", "fragile"]
    count: int
    tasks: list[str]
    detail: str


class RackAwareDocument(BaseModel):
    """KIP-925: whether it is on, and the partitions that active tasks read across racks, beside the fewest possible.

    The plan shows Kafka's own optimum, replayed; an exact flow over as many tasks a client says what the fewest are.
    """

    on: bool
    shows: Literal["replay"]
    why_off: str | None
    sources_across_racks: int | None
    fewest_possible: int | None
    solver: str | None


class StandbyQualityDocument(BaseModel):
    """The quality of standbys, most important first. `imbalance` is the sum over clients of standbys² / threads."""

    missing: int
    ideal: int
    distinct_values: int
    imbalance: float
    restored: int
    spread: float


class StandbyCertificateDocument(BaseModel):
    """Lower bounds for standbys with as many ideal tasks and distinct values."""

    imbalance_bound: float
    restored_bound: int
    optimal: bool
    gap: float
    solver: str


class BestStandbysDocument(BaseModel):
    """The best standbys for the given active tasks, by client, compared with the assignor's."""

    standby: dict[str, list[str]]
    differing_tasks: list[str]
    quality: StandbyQualityDocument
    of_the_assignor: StandbyQualityDocument
    certificate: StandbyCertificateDocument


class AdditionDocument(BaseModel):
    """The fewest additional clients with which every task can be ideal, by tag values; null is a new value."""

    clients: list[dict[str, str | None]]
    new_values: dict[str, int]
    clients_apart_already: int
    clients_without_a_tag: list[str]


class StreamsRebalanceDocument(BaseModel):
    """One rebalance of a step. `not_running` are tasks whose state has to be restored first."""

    cause: Literal["left", "joined", "restarted", "probing", "nothing"]
    active_moved: int
    restored_copies: int
    warmups: int
    not_running: list[str]


class StreamsStepDocument(BaseModel):
    """One event, or the restart of one client in a rolling deploy, and the application after it has settled."""

    event_index: int
    event: dict[str, Any]
    process_id: str | None
    assignment: dict[str, ClientTasksDocument]
    ideal: bool
    active_moved: int
    interrupted: int
    without_copy: list[str]
    restored_copies: int
    restored_bytes: int | None
    probing_rebalances: int
    settled: bool
    by_chance: bool
    rebalances: list[StreamsRebalanceDocument]


class SingleValueTasksDocument(BaseModel):
    """Stateful tasks all of whose copies are on clients with one value of a tag, or in one rack: its loss takes them.

    `of_classic`: under the classic assignor, once all warm-ups have caught up. `of_best_standbys`: with the optimal
    standbys for the same active tasks. Null if they could not be computed.
    """

    by: str
    kind: Literal["tag", "rack"]
    values: int
    tasks: int
    named_tasks: list[str]
    of_classic: int | None
    of_best_standbys: int | None


class ComparedWithClassicDocument(BaseModel):
    """What a streams group lacks beside the classic protocol, whose assignor places standbys by client tags."""

    assignor: str
    single_value_tasks: list[SingleValueTasksDocument]


class StreamsPlanDocument(WholePlan):
    """The assignment of an application. Lists of tasks are sorted by subtopology and partition."""

    assignor: str
    protocol: Protocol
    assignment: dict[str, ClientTasksDocument]
    probing_rebalance: bool
    ideal: bool
    tasks: list[TaskDocument]
    tags: list[TagDocument]
    if_lost: dict[str, LossDocument]
    if_client_lost: dict[str, LossDocument]
    loads: StreamsLoadsDocument
    movement: TaskMovementDocument
    rack_aware: RackAwareDocument | None
    best_standbys: BestStandbysDocument | None
    addition: AdditionDocument | None
    compared_with_classic: ComparedWithClassicDocument | None
    steps: list[StreamsStepDocument]
    violations: list[TaskViolationDocument]
    warnings: list[WarningDocument]
    request: dict[str, Any]
