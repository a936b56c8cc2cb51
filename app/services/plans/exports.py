"""The registry of export formats, and texts with names to fill in. A kind's `EXPORTS` has the writers that fit it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

from app.core.model import Cluster
from app.errors.every import ConflictingFields
from app.services.plans.record import Plan
from app.store.records import NewPlan

MARKDOWN_ROWS = 1_000
"""The most rows that a Markdown file shows; it counts those that it leaves out."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Parameters
    ----------
    suffix : of the file name. tail : before the suffix, if another format of the same plan has the same suffix.
    is_negotiable : whether the media type identifies the format. has_topics : whether it can be of one topic.
    """

    media_type: str
    suffix: str
    tail: str = ""
    is_negotiable: bool = True
    has_topics: bool = True


_REASSIGNMENT = "application/vnd.kafka.reassignment+json"
BATCH = "batch"
"""The format of a single batch of a plan."""
LOSSES = "losses"
"""The format that may be of some losses alone."""
FORMATS: Mapping[str, Format] = {
    "reassignment": Format(_REASSIGNMENT, "json"),
    "rollback": Format(_REASSIGNMENT, "json", "-rollback", is_negotiable=False),
    "batch": Format(_REASSIGNMENT, "json", "-batch", is_negotiable=False, has_topics=False),
    "batches": Format("application/zip", "zip", has_topics=False),
    "kubernetes": Format("application/yaml", "yaml", has_topics=False),
    "replica_assignment": Format("text/plain; charset=utf-8", "txt", is_negotiable=False),
    "script": Format("application/x-sh", "sh"),
    "keda": Format("application/yaml", "yaml", "-keda", is_negotiable=False, has_topics=False),
    "hpa": Format("application/yaml", "yaml", "-hpa", is_negotiable=False, has_topics=False),
    "schedule": Format("text/plain; charset=utf-8", "txt", "-schedule", is_negotiable=False, has_topics=False),
    "csv": Format("text/csv; charset=utf-8", "csv"),
    "loads": Format("text/csv; charset=utf-8", "csv", "-loads", is_negotiable=False, has_topics=False),
    "losses": Format("text/csv; charset=utf-8", "csv", "-losses", is_negotiable=False, has_topics=False),
    "text": Format("text/plain; charset=utf-8", "txt", "-diff"),
    "markdown": Format("text/markdown; charset=utf-8", "md"),
    "arrow": Format("application/vnd.apache.arrow.stream", "arrow"),
}
"""Every format by its name; the API's enum and its content negotiation read it."""


@dataclass(frozen=True, slots=True)
class LossSelection:
    """Which brokers and racks are lost, each alone, by id and name; both None for every broker and every rack."""

    brokers: Sequence[int] | None = None
    racks: Sequence[str] | None = None

    @property
    def is_of_all(self) -> bool:
        """Whether every broker and every rack is lost in turn."""
        return self.brokers is None and self.racks is None


@dataclass(frozen=True, slots=True)
class FilePart:
    """The part of a plan that a file has, or the state that it starts from; by default the whole plan.

    Parameters
    ----------
    batch, is_inverse : the number of a batch, from 1 on, and whether its inverse; for the format `BATCH` alone.
    from_snapshot : a later snapshot, from whose state the file goes on or back.
    lost : which losses; for the format `LOSSES` alone.
    """

    batch: int | None = None
    is_inverse: bool = False
    from_snapshot: UUID | None = None
    lost: LossSelection = LossSelection()

    def check_batch(self, name: str) -> None:
        """Raise `ConflictingFields` unless a format of one batch names it, and another format names none."""
        if name == BATCH and self.batch is None:
            raise ConflictingFields("the format batch is of one batch; name its number, from 1 on", path=("batch",))
        if name != BATCH and (self.batch is not None or self.is_inverse):
            field = "inverse" if self.batch is None else "batch"
            raise ConflictingFields(f"{field} is of the format batch; {name} is of the whole plan", path=(field,))


WHOLE = FilePart()
ClusterOf: TypeAlias = Callable[[], Cluster | None]
"""Loads the cluster that a plan was made for, if it was made for one; few formats need it."""
Write: TypeAlias = Callable[[Plan | NewPlan, ClusterOf], bytes]
"""Writes a plan in one format. Raises `NotExportable`."""


def file_name(plan_id: UUID, name: str, part: FilePart = WHOLE, *, topic: str | None = None) -> str:
    """The name of the file of a plan in a format."""
    tail = FORMATS[name].tail + (f"-{part.batch}" if part.batch else "") + ("-rollback" if part.is_inverse else "")
    tail += f"-from-{part.from_snapshot}" if part.from_snapshot else ""
    return f"{topic or 'plan'}-{plan_id}{tail}.{FORMATS[name].suffix}"


def filled(template: Path, **values: object) -> str:
    """The text of a template, with the value of `name` for `@NAME@`. Values are inserted as they are."""
    return re.sub("@([A-Z_]+)@", lambda found: str(values[found[1].lower()]), template.read_text(encoding="utf-8"))
