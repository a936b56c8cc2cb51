"""Quotas of each team, declared once; each is a setting of the same name."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.store.usage import QUOTAS


class Quotas(BaseModel):
    """The quotas that the operator sets for every team; 0 is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quota_stored_bytes: Annotated[int, Field(ge=0)] = 10 * 1024**3
    """Bytes that each team may store, after compression; 0 is no limit."""
    quota_plans: Annotated[int, Field(ge=0)] = 100_000
    """Plans of each team; 0 is no limit."""
    quota_snapshots: Annotated[int, Field(ge=0)] = 10_000
    """Snapshots of each team; 0 is no limit."""
    quota_share_links: Annotated[int, Field(ge=0)] = 1_000
    """Share links of each team; 0 is no limit."""
    quota_unfinished_jobs: Annotated[int, Field(ge=0)] = 100
    """Queued and running jobs and sweeps of each team; 0 is no limit."""

    @property
    def quotas(self) -> tuple[int, ...]:
        """The quotas in the order of the store."""
        return tuple(getattr(self, f"quota_{name}") for name in QUOTAS)
