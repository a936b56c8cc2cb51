"""What Streams plans look like as JSON."""

from typing import Any, Literal

from pydantic import BaseModel

from app.api.plan_documents import PlanSummary
from app.api.snapshots import WarningDocument


class ClientTasksDocument(BaseModel):
    """One client's tasks, ascending. `standby` is what Kafka sends, in which `warmup` is the part that catches up."""

    active: list[str]
    standby: list[str]
    warmup: list[str]


class SharedValueDocument(BaseModel):
    """A tag value that several copies of a task have; null where so many copies' clients lack the tag."""

    tag: str
    value: str | None
    copies: int


class TaskDocument(BaseModel):
    """A task, who has it, and whether its copies are apart; `ideal` is null of a task without state."""

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
    """A tag, how many clients have each of its values, and how many values each task's copies need."""

    tag: str
    values: dict[str, int]
    needed: int
    without: int
    enough: bool


class PromotedTask(BaseModel):
    """A task that goes on elsewhere, and the smallest lag of those that take it up; null if it is unknown."""

    task: str
    survivor_lag: int | None


class LossDocument(BaseModel):
    """What goes with some clients: stateful tasks restored from nothing, taken up by a copy, stateless ones moved."""

    clients: int
    without_survivor: list[str]
    promoted: list[PromotedTask]
    moved: list[str]


class CountDocument(BaseModel):
    """How even clients' counts are."""

    min: int
    max: int
    spread: int
    total: int


class ReadsDocument(BaseModel):
    """Partitions read, those of them across racks, and those of which that is not known."""

    partitions: int
    cross_rack: int
    unknown: int


class ClientLoadDocument(BaseModel):
    """What one client has. `sources` are read by its active tasks, `changelogs` by its standbys and warm-ups."""

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
    """How even the application is, and what crosses racks."""

    active: CountDocument
    standby: CountDocument
    warmup: CountDocument
    sources: ReadsDocument | None
    changelogs: ReadsDocument | None
    per_client: list[ClientLoadDocument]


class TaskMovementDocument(BaseModel):
    """What moves from where tasks were, and how many copies of state have to be made for it."""

    active_kept: int
    active_moved: int
    active_started: int
    restored_copies: int
    restored_bytes: int | None


class TaskViolationDocument(BaseModel):
    """One way in which the assignment is illegal or fragile; the first tasks are named."""

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
    """How good standbys are, most important first. `imbalance` is the sum over clients of standbys² / threads."""

    missing: int
    ideal: int
    distinct_values: int
    imbalance: float
    restored: int
    spread: float


class StandbyCertificateDocument(BaseModel):
    """What no standbys with as many ideal tasks and distinct values can be better than."""

    imbalance_bound: float
    restored_bound: int
    optimal: bool
    gap: float
    solver: str


class BestStandbysDocument(BaseModel):
    """The best standbys for the active tasks as they are, by client, and how the assignor's own compare."""

    standby: dict[str, list[str]]
    differing_tasks: list[str]
    quality: StandbyQualityDocument
    of_the_assignor: StandbyQualityDocument
    certificate: StandbyCertificateDocument


class AdditionDocument(BaseModel):
    """The fewest clients that make every task's ideal possible, by tag values; null is one that no client has yet."""

    clients: list[dict[str, str | None]]
    new_values: dict[str, int]
    clients_apart_already: int
    clients_without_a_tag: list[str]


class StreamsRebalanceDocument(BaseModel):
    """One rebalance of a step. `not_running` are tasks that have to be restored first, as no client has their state."""

    cause: Literal["left", "joined", "restarted", "probing", "nothing"]
    active_moved: int
    restored_copies: int
    warmups: int
    not_running: list[str]


class StreamsStepDocument(BaseModel):
    """One event, or one client's part in a rolling deploy, and the application once it has settled."""

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
    rebalances: list[StreamsRebalanceDocument]


class StreamsPlanDocument(PlanSummary):
    """Where the tasks of an application land. Lists of tasks are by subtopology and partition."""

    assignor: str
    protocol: Literal["classic"]
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
    steps: list[StreamsStepDocument]
    violations: list[TaskViolationDocument]
    warnings: list[WarningDocument]
    request: dict[str, Any]
