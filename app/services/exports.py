"""The files that plans are handed over as. What a kind of plan writes of them stands with the kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from app.core.model import Cluster
from app.services.plans import Plan
from app.store.plans import NewPlan

MARKDOWN_ROWS = 1_000
"""How many rows a Markdown file shows; it says how many it leaves out."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its media type and the file's ending; `is_negotiable` where the media type says which it is."""

    media_type: str
    suffix: str
    is_negotiable: bool = True


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "reassignment": Format("application/vnd.kafka.reassignment+json", "json"),
        "replica_assignment": Format("text/plain; charset=utf-8", "txt", is_negotiable=False),
        "csv": Format("text/csv; charset=utf-8", "csv"),
        "markdown": Format("text/markdown; charset=utf-8", "md"),
        "arrow": Format("application/vnd.apache.arrow.stream", "arrow"),
    }
)
"""Every format by its name; the API's enum and its content negotiation read it."""

ClusterOf: TypeAlias = Callable[[], Cluster | None]
"""Loads the cluster that a plan was made for, if it was made for one; few formats need it."""
Write: TypeAlias = Callable[[Plan | NewPlan, ClusterOf], bytes]
"""Writes a plan in one format. Raises `NotExportable`."""
