"""How large one request may be: the limits, declared once.

`app.settings` reads each of them from the environment; the OpenAPI document and `docs/settings.md` list them with the
defaults, minimums and descriptions below.
"""

from collections.abc import Sequence, Sized
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.errors.every import FieldPath, LimitExceeded

T = TypeVar("T")


def parts(value: object) -> object:
    """The values of a text with commas between them, as the environment has lists; other values as they are."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Listed = Annotated[tuple[T, ...], BeforeValidator(parts)]


class Limits(BaseModel):
    """The limits that the operator sets; each one is a setting of the same name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_body_bytes: Annotated[int, Field(ge=1024)] = 10 * 1024 * 1024
    """Bytes of a request body."""
    max_brokers: Annotated[int, Field(ge=1)] = 10_000
    """Brokers of a snapshot or a request."""
    max_topics: Annotated[int, Field(ge=1)] = 10_000
    """Topics of one plan."""
    max_members: Annotated[int, Field(ge=1)] = 10_000
    """Members of one consumer group."""
    max_events: Annotated[int, Field(ge=1)] = 1_000
    """Events of one group plan."""
    max_sync_partitions: Annotated[int, Field(ge=1)] = 1_000_000
    """Partitions of a plan that is answered immediately; a larger one needs `Prefer: respond-async`."""
    max_partitions: Annotated[int, Field(ge=1)] = 5_000_000
    """Partitions of one plan."""
    max_replicas: Annotated[int, Field(ge=1)] = 20_000_000
    """Replicas of one plan: partitions × replication factor."""
    max_key_placements: Annotated[int, Field(ge=1)] = 5_000_000
    """Keys × partitioners × partition counts of one request."""
    max_scenarios: Annotated[int, Field(ge=1)] = 1_000_000
    """Scenarios of one sweep."""
    max_active_sweeps: Annotated[int, Field(ge=1)] = 10
    """Unfinished sweeps of one API key."""
    max_wait_seconds: Annotated[int, Field(ge=1, le=3600)] = 60
    """Longest wait of `Prefer: wait=…`, in seconds; a longer one is shortened to it."""
    deadline_seconds: Annotated[int, Field(ge=1)] = 30
    """Longest time that a request takes, its wait for a slot included, in seconds; a plan that needs longer needs
    `Prefer: respond-async`."""
    slot_memory_mib: Annotated[int, Field(ge=64)] = 2048
    """Memory that a request may allocate, in MiB."""
    job_deadline_seconds: Annotated[int, Field(ge=1)] = 3600
    """Longest time of a job that plans, from its first start, in seconds; then it fails. `Prefer: deadline=…` states a
    shorter one."""
    sweep_deadline_seconds: Annotated[int, Field(ge=1)] = 86_400
    """Longest time of a sweep, from its first start, in seconds; then it fails, and the scenarios that are scored stay.
    `Prefer: deadline=…` states a shorter one."""
    job_memory_mib: Annotated[int, Field(ge=64)] = 4096
    """Memory that a job that plans may allocate, in MiB."""
    max_webhooks: Annotated[int, Field(ge=1)] = 20
    """Webhooks of the service."""
    dataset_roots: Listed[str] = ()
    """Folders and URI prefixes under which sweeps may read datasets, separated by commas; if empty, sweeps read no
    datasets."""

    @classmethod
    def numbers(cls) -> Sequence[str]:
        """The names of the limits that are numbers. `dataset_roots` is not: paths are not published to callers."""
        return [name for name in cls.model_fields if name != "dataset_roots"]

    def check_count(self, name: str, items: Sized, *, path: FieldPath) -> None:
        """Raise `LimitExceeded` if there are more `items` than the limit `max_<name>`."""
        self.check_number(name, len(items), path=path)

    def check_number(self, name: str, number: int, *, path: FieldPath, remedy: str = "") -> None:
        """Raise `LimitExceeded` if `number` is above the limit `max_<name>`.

        Parameters
        ----------
        name : the limit without `max_`; its words are used in the message.
        remedy : appended to the message, after the numbers.
        """
        limit: int = getattr(self, f"max_{name}")
        if number > limit:
            raise LimitExceeded(
                f"{number} {name.replace('_', ' ')} are more than the limit of {limit}" + remedy,
                path=path,
                limit_name=f"max_{name}",
                limit=limit,
                value=number,
            )
