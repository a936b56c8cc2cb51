"""The parts of the answer of a Streams plan, as JSON and the OpenAPI document have them."""

from typing import Any, Literal

from app.services.bodies import AnswerRecord
from app.services.plans.answers import PlanAnswer, WholePlan
from app.services.streams.requests import Protocol


class MemberTasks(AnswerRecord, schema="MemberTasksDocument"):
    """The tasks of one member of a streams group."""

    active: list[str]
    """Ids of tasks that the member runs, ascending."""
    standby: list[str]
    """Ids of tasks of which the member has a standby, ascending."""


class ClientTasks(AnswerRecord, schema="ClientTasksDocument"):
    """One client's tasks, ascending. `standby` includes `warmup`, as in the assignment that Kafka sends.

    `members` are the threads of a streams group; null under the classic protocol.
    """

    active: list[str]
    """Ids of tasks that the client runs, ascending."""
    standby: list[str]
    """Ids of tasks of which the client has a standby or warm-up, ascending."""
    warmup: list[str]
    """Ids of tasks of which the client has a warm-up, ascending."""
    members: dict[str, MemberTasks] | None
    """Tasks of each thread by member id; null under the classic protocol."""


class SharedValue(AnswerRecord, schema="SharedValueDocument"):
    """A tag value that several copies of a task have; null for copies on clients without it, even a single one."""

    tag: str
    """Name of the tag."""
    value: str | None
    """Value that the copies share; null if their clients lack the tag, which then separates none of them."""
    copies: int
    """Number of copies on clients with this value."""


class Task(AnswerRecord, schema="TaskDocument"):
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
    shared: list[SharedValue]
    """Values that several of its copies share, and copies on clients without the tag."""


class Tag(AnswerRecord, schema="TagDocument"):
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


class PromotedTask(AnswerRecord):
    """A task that another copy takes over, and the smallest lag of its copies; null if it is unknown."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    survivor_lag: int | None
    """Smallest lag of the remaining copies, in offsets; null if it is unknown."""


class Loss(AnswerRecord, schema="LossDocument"):
    """The effect of losing clients: tasks without a copy, tasks that a copy takes over, and moved stateless tasks."""

    clients: int
    """Number of lost clients."""
    without_survivor: list[str]
    """Ids of stateful tasks that lose every copy, ascending."""
    promoted: list[PromotedTask]
    """Stateful tasks that another copy takes over, by task id."""
    moved: list[str]
    """Ids of stateless tasks that other clients take over, ascending."""


class Count(AnswerRecord, schema="CountDocument"):
    """The balance of clients."""

    min: int
    """Smallest number of a client."""
    max: int
    """Largest number of a client."""
    spread: int
    """Largest number minus the smallest."""
    total: int
    """Sum over all clients."""


class Reads(AnswerRecord, schema="ReadsDocument"):
    """Partitions read, those read across racks, and those whose racks are unknown."""

    partitions: int
    """Number of partitions that are read."""
    cross_rack: int
    """Number of partitions without a replica in the client's rack."""
    unknown: int
    """Number of partitions whose racks, or the client's, are unknown."""


class ClientLoad(AnswerRecord, schema="ClientLoadDocument"):
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
    sources: Reads | None
    """Source partitions that its active tasks read; null if the topics are unknown."""
    changelogs: Reads | None
    """Changelog partitions that its standbys and warm-ups read; null if the topics are unknown."""


class StreamsLoads(AnswerRecord, schema="StreamsLoadsDocument"):
    """The balance of clients, and their reads across racks."""

    active: Count
    """Balance of active tasks."""
    standby: Count
    """Balance of standbys."""
    warmup: Count
    """Balance of warm-ups."""
    sources: Reads | None
    """Source partitions that all clients read; null if the topics are unknown."""
    changelogs: Reads | None
    """Changelog partitions that all clients read; null if the topics are unknown."""
    per_client: list[ClientLoad]
    """Load of each client, in the order of the request."""


class TaskMovement(AnswerRecord, schema="TaskMovementDocument"):
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


class TaskViolation(AnswerRecord, schema="TaskViolationDocument"):
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


class RackAware(AnswerRecord, schema="RackAwareDocument"):
    """KIP-925: whether it is on, and the partitions that active tasks read across racks, beside the fewest possible.

    The plan shows Kafka's own optimum, replayed; an exact flow over as many tasks a client finds the fewest.
    """

    on: bool
    """Whether Kafka assigns by racks."""
    shows: Literal["replay"]
    """The plan has Kafka's own optimum, replayed."""
    why_off: str | None
    """Why Kafka does not assign by racks; null if it does or it is unknown."""
    sources_across_racks: int | None
    """Number of source partitions that active tasks read across racks; null if it is off."""
    fewest_possible: int | None
    """Smallest possible number of these; null if it is off."""
    solver: str | None
    """The solver that computed it; null if it is off."""


class StandbyQuality(AnswerRecord, schema="StandbyQualityDocument"):
    """The quality of standbys, most important first. `imbalance` is the sum over clients of standbys² / threads."""

    missing: int
    """Number of missing standbys."""
    ideal: int
    """Number of ideal tasks."""
    distinct_values: int
    """Number of distinct tag values of the copies, summed over tasks and tags."""
    imbalance: float
    """Sum over clients of standbys² / threads."""
    restored: int
    """Number of standbys whose state has to be restored."""
    spread: float
    """Largest difference between two clients, in standbys for each thread."""


class StandbyCertificate(AnswerRecord, schema="StandbyCertificateDocument"):
    """Lower bounds for standbys with as many ideal tasks and distinct values."""

    imbalance_bound: float
    """Lower bound on `imbalance`."""
    restored_bound: int
    """Lower bound on `restored`."""
    optimal: bool
    """Whether both bounds are reached."""
    gap: float
    """Relative optimality gap: (value − lower bound) / value; 0 if optimal."""
    solver: str
    """The solver that computed the standbys."""


class BestStandbys(AnswerRecord, schema="BestStandbysDocument"):
    """The best standbys for the given active tasks, by client, compared with the assignor's."""

    standby: dict[str, list[str]]
    """Ids of tasks by process id, ascending."""
    differing_tasks: list[str]
    """Ids of tasks whose standbys differ from the assignor's, ascending."""
    quality: StandbyQuality
    """Quality of the best standbys."""
    of_the_assignor: StandbyQuality
    """Quality of the assignor's standbys."""
    certificate: StandbyCertificate
    """Proof that no standbys are better."""


class Addition(AnswerRecord, schema="AdditionDocument"):
    """The fewest additional clients with which every task can be ideal, by tag values; null is a new value."""

    clients: list[dict[str, str | None]]
    """Tags of each client to add, name → value; null is a value that no client has yet."""
    new_values: dict[str, int]
    """Number of values to add by tag."""
    clients_apart_already: int
    """Largest number of clients that are apart by every tag already."""
    clients_without_a_tag: list[str]
    """Process ids of clients that lack a listed tag."""


class StreamsRebalance(AnswerRecord, schema="StreamsRebalanceDocument"):
    """One rebalance of a step. `not_running` are tasks whose state has to be restored first."""

    cause: Literal["left", "joined", "restarted", "probing", "nothing"]
    """Why the group rebalances."""
    active_moved: int
    """Number of tasks that another client runs than before."""
    restored_copies: int
    """Number of copies of state that have to be restored."""
    warmups: int
    """Number of warm-ups after the rebalance."""
    not_running: list[str]
    """Ids of tasks whose state has to be restored before they run, ascending."""


class StreamsStep(AnswerRecord, schema="StreamsStepDocument"):
    """One event, or the restart of one client in a rolling deploy, and the application after it has settled."""

    event_index: int
    """Index in `events` of the event, from 0."""
    event: dict[str, Any]
    """The event, as in the request."""
    process_id: str | None
    """Process id of the client that restarts; null unless it is a step of a rolling deploy."""
    assignment: dict[str, ClientTasks]
    """Tasks by process id, once the application has settled."""
    ideal: bool
    """Whether every stateful task has all its standbys, apart by every listed tag."""
    active_moved: int
    """Number of tasks that another client runs than before."""
    interrupted: int
    """Number of tasks that stop running."""
    without_copy: list[str]
    """Ids of the interrupted tasks without another copy of their state, ascending."""
    restored_copies: int
    """Number of copies of state that have to be restored."""
    restored_bytes: int | None
    """Bytes of these copies; null if `state_bytes` is not in the request."""
    probing_rebalances: int
    """Number of rebalances until all warm-ups have caught up."""
    settled: bool
    """Whether the application becomes stable."""
    by_chance: bool
    """Whether Kafka breaks ties by chance, so that this is one of several possible outcomes."""
    rebalances: list[StreamsRebalance]
    """Rebalances of the step, in order."""


class SingleValueTasks(AnswerRecord, schema="SingleValueTasksDocument"):
    """Stateful tasks all of whose copies are on clients with one value of a tag, or in one rack: its loss takes them.

    `of_classic`: under the classic assignor, once all warm-ups have caught up. `of_best_standbys`: with the optimal
    standbys for the same active tasks. Null if they could not be computed.
    """

    by: str
    """Name of the tag, or `rack`."""
    kind: Literal["tag", "rack"]
    """Whether values are of a tag or are racks."""
    values: int
    """Number of distinct values of all clients."""
    tasks: int
    """Number of tasks whose copies share one value."""
    named_tasks: list[str]
    """Ids of the first of these tasks, ascending."""
    of_classic: int | None
    """Number of such tasks under the classic assignor; null if it could not be computed."""
    of_best_standbys: int | None
    """Number of such tasks with the optimal standbys; null if it could not be computed."""


class ComparedWithClassic(AnswerRecord, schema="ComparedWithClassicDocument"):
    """Gaps of a streams group beside the classic protocol, whose assignor places standbys by client tags."""

    assignor: str
    """Name of the classic assignor."""
    single_value_tasks: list[SingleValueTasks]
    """Counts by tag, then by rack."""


class StreamsAnswer(PlanAnswer, kw_only=True):
    """The fields of a Streams plan that its planner computes."""

    assignor: str
    """Name of the assignor."""
    protocol: Protocol
    """Protocol of the group: the leader assigns (`classic`), or the coordinator (`streams`)."""
    assignment: dict[str, ClientTasks]
    """Tasks of each client by process id."""
    probing_rebalance: bool
    """Whether the group rebalances again once warm-ups have caught up."""
    ideal: bool
    """Whether every stateful task has all its standbys, apart by every listed tag."""
    tasks: list[Task]
    """Clients and verdict of each task, ascending."""
    tags: list[Tag]
    """Whether each listed tag has enough values, in the order of the request."""
    if_lost: dict[str, Loss]
    """Effect of losing all clients with a tag value, by `<tag>=<value>`."""
    if_client_lost: dict[str, Loss]
    """Effect of losing one client, by process id."""
    loads: StreamsLoads
    """Balance of clients, and the load of each."""
    movement: TaskMovement
    """Tasks that change clients, and the state to restore."""
    rack_aware: RackAware | None
    """Result of KIP-925; null if it is not requested or the assignor ignores racks."""
    best_standbys: BestStandbys | None
    """The optimal standbys for the same active tasks; null if there are none or the search is too large."""
    addition: Addition | None
    """The fewest clients to add; null if no tags are listed or the search is too large."""
    compared_with_classic: ComparedWithClassic | None
    """Gaps beside the classic protocol; null under that protocol."""
    steps: list[StreamsStep]
    """Effect of each event, in order; empty without events."""
    violations: list[TaskViolation]
    """Ways in which the assignment is illegal or fragile; empty if there are none."""


class StreamsPlanDocument(StreamsAnswer, WholePlan, kw_only=True):
    """The assignment of an application. Lists of tasks are sorted by subtopology and partition."""
