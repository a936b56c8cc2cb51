"""Quotas of each team, declared once; each is a setting of the same name."""

from pydantic import BaseModel, ConfigDict, Field

from app.store.usage import QUOTAS


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
