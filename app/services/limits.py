"""How large one request may be: the limits, declared once.

`app.settings` reads each of them from the environment; the OpenAPI document and `docs/settings.md` list them with the
defaults, minimums and descriptions below.
"""

from collections.abc import Sized

from pydantic import BaseModel, ConfigDict, Field

from app.errors import FieldPath
from app.errors.requests import LimitExceeded
from app.store.usage import QUOTAS


class Limits(BaseModel):
    """The limits that the operator sets; each one is a setting of the same name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_body_bytes: int = Field(10 * 1024 * 1024, ge=1024, description="Bytes of a request body.")
    max_brokers: int = Field(10_000, ge=1, description="Brokers of a snapshot or a request.")
    max_topics: int = Field(10_000, ge=1, description="Topics of one plan.")
    max_members: int = Field(10_000, ge=1, description="Members of one consumer group.")
    max_events: int = Field(1_000, ge=1, description="Events of one group plan.")
    max_sync_partitions: int = Field(
        1_000_000,
        ge=1,
        description="Partitions of a plan that is answered immediately; a larger one needs `Prefer: respond-async`.",
    )
    max_partitions: int = Field(5_000_000, ge=1, description="Partitions of one plan.")
    max_replicas: int = Field(20_000_000, ge=1, description="Replicas of one plan: partitions × replication factor.")
    max_key_placements: int = Field(
        5_000_000, ge=1, description="Keys × partitioners × partition counts of one request."
    )
    max_scenarios: int = Field(1_000_000, ge=1, description="Scenarios of one sweep.")
    max_active_sweeps: int = Field(10, ge=1, description="Unfinished sweeps of one API key.")
    max_wait_seconds: int = Field(
        60, ge=1, le=3600, description="Longest wait of `Prefer: wait=…`, in seconds; a longer one is shortened to it."
    )
    deadline_seconds: int = Field(
        30,
        ge=1,
        description="Longest time that a request takes, its wait for a slot included, in seconds; a plan that needs "
        "longer needs `Prefer: respond-async`.",
    )
    slot_memory_mib: int = Field(2048, ge=64, description="Memory that a request may allocate, in MiB.")
    job_deadline_seconds: int = Field(
        3600,
        ge=1,
        description="Longest time of a job that plans, from its first start, in seconds; then it fails. "
        "`Prefer: deadline=…` states a shorter one.",
    )
    sweep_deadline_seconds: int = Field(
        86_400,
        ge=1,
        description="Longest time of a sweep, from its first start, in seconds; then it fails, and the scenarios that "
        "are scored stay. `Prefer: deadline=…` states a shorter one.",
    )
    job_memory_mib: int = Field(4096, ge=64, description="Memory that a job that plans may allocate, in MiB.")
    max_webhooks: int = Field(20, ge=1, description="Webhooks of the service.")
    dataset_roots: tuple[str, ...] = Field(
        (),
        description="Folders and URI prefixes under which sweeps may read datasets, separated by commas; "
        "if empty, sweeps read no datasets.",
    )

    @classmethod
    def numbers(cls) -> dict[str, str]:
        """The description of every limit that is a number, by name.

        `dataset_roots` is not among them: paths are not published to callers.
        """
        return {name: field.description or "" for name, field in cls.model_fields.items() if name != "dataset_roots"}

    def check_count(self, name: str, items: Sized, *, path: FieldPath) -> None:
        """Raise `LimitExceeded` if there are more `items` than the limit `max_<name>`."""
        self.check_number(name, len(items), path=path)

    def check_number(self, name: str, number: int, *, path: FieldPath, remedy: str = "") -> None:
        """Raise `LimitExceeded` if `number` is above the limit `max_<name>`.

        Parameters
        ----------
        name : the limit without `max_`; its words are those of the message.
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


class Quotas(BaseModel):
    """The quotas that the operator sets for every team; 0 is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quota_stored_bytes: int = Field(
        10 * 1024**3,
        ge=0,
        description="Bytes that each team may store, after compression; 0 is no limit.",
    )
    quota_plans: int = Field(100_000, ge=0, description="Plans of each team; 0 is no limit.")
    quota_snapshots: int = Field(10_000, ge=0, description="Snapshots of each team; 0 is no limit.")
    quota_share_links: int = Field(1_000, ge=0, description="Share links of each team; 0 is no limit.")
    quota_unfinished_jobs: int = Field(
        100, ge=0, description="Queued and running jobs and sweeps of each team; 0 is no limit."
    )

    @property
    def quotas(self) -> tuple[int, ...]:
        """The quotas in the order of the store."""
        return tuple(getattr(self, f"quota_{name}") for name in QUOTAS)
