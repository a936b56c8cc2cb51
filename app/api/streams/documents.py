"""What Streams plans look like as JSON."""

from typing import Any

from pydantic import BaseModel

from app.api.models.clusters import WarningDocument
from app.api.plan_documents import WholePlan
from app.services.streams import Protocol, TaskChange, TaskMoves
from app.services.streams.answers import (
    Addition,
    BestStandbys,
    ClientTasks,
    ComparedWithClassic,
    Loss,
    RackAware,
    StreamsLoads,
    StreamsStep,
    Tag,
    Task,
    TaskMovement,
    TaskViolation,
)


class StreamsPlanDocument(WholePlan):
    """The assignment of an application. Lists of tasks are sorted by subtopology and partition."""

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
    """What the group lacks beside the classic protocol; null under that protocol."""
    steps: list[StreamsStep]
    """Effect of each event, in order; empty without events."""
    violations: list[TaskViolation]
    """Ways in which the assignment is illegal or fragile; empty if there are none."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""


class StreamsDiffDocument(BaseModel):
    """The tasks whose clients differ, by task id."""

    summary: TaskMoves
    """Counts over all tasks, not only those of the page."""
    items: list[TaskChange]
    """Tasks with other clients, by task id."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""
