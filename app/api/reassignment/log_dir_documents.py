"""What log directories look like in a plan as JSON."""

from pydantic import BaseModel


class LogDirDocument(BaseModel):
    """A log directory. Bytes are of replicas, by the largest replica of each partition."""

    path: str
    """Path of the directory."""
    total_bytes: int | None
    """Bytes of its file system; null if unknown."""
    limit_bytes: int | None
    """Bytes of replicas that it may have at any time; null without a limit."""
    drained: bool
    """Whether the request drains it."""
    offline: bool
    """Whether it is offline."""
    bytes_before: int
    """Bytes before the plan."""
    bytes_after: int
    """Bytes after the plan."""
    replicas_in: int
    """Replicas that are moved into it from another directory of the broker."""
    replicas_out: int
    """Replicas that are moved out of it to another directory of the broker."""


class BrokerLogDirsDocument(BaseModel):
    """The log directories of a broker."""

    broker: int
    """Id of the broker."""
    largest_share: float | None
    """Largest share in use after the plan, of directories that are neither drained nor offline; null if a size is
    unknown."""
    largest_share_lower_bound: float | None
    """Lower bound on it, with `keep` among plans that move no more; 0 with a tolerance."""
    moved_bytes: int
    """Bytes that are moved between its directories."""
    lower_bound_bytes: int
    """Lower bound on these bytes, for the largest share that is reached."""
    log_dirs: list[LogDirDocument]
    """Its directories by path."""


class LogDirsDocument(BaseModel):
    """Moves between log directories of the same broker, and their certificate. What arrives from other brokers is in
    `certificate` alone.
    """

    moved_replicas: int
    """Number of replicas that are moved between directories."""
    moved_bytes: int
    """Bytes of these replicas."""
    lower_bound_bytes: int
    """Lower bound on these bytes, for the largest share that each broker reaches."""
    optimal: bool
    """Whether moved bytes reach their lower bound, and every largest share is within 0.1 % of its own."""
    gap: float
    """Relative optimality gap of the moved bytes."""
    solver: str
    """The solver that chose the directories."""
    brokers: list[BrokerLogDirsDocument]
    """Brokers whose directories are known, by ascending id."""
