"""`/v1/usage`: the usage of teams, with their quotas."""

from fastapi import Request, Response

from app.api.http.auth import Uow
from app.api.http.negotiation import json_response
from app.api.http.operations import Operations
from app.services.bodies import AnswerRecord
from app.store.usage import QUOTAS

router = Operations("/v1/usage", "usage", scope="read")


class QuotaDocument(AnswerRecord):
    """A quota and its use."""

    used: int
    """Present number."""
    limit: int | None
    """Largest number that is allowed; null if there is no limit."""


class TeamUsageDocument(AnswerRecord):
    """Usage of a team, with its quotas."""

    team: str
    """Name of the team."""
    stored_bytes: QuotaDocument
    """Bytes of snapshots, plans, sweeps with their rows, and stored responses to an `Idempotency-Key`, as the database
    has compressed them, with 128 for each row."""
    plans: QuotaDocument
    """Plans that the team stores."""
    snapshots: QuotaDocument
    """Snapshots that the team stores."""
    share_links: QuotaDocument
    """Share links. Those that have expired count until the next one is made."""
    unfinished_jobs: QuotaDocument
    """Queued and running jobs and sweeps."""


class UsageDocument(AnswerRecord):
    """Usage of teams, with their quotas."""

    teams: list[TeamUsageDocument]
    """The team; every team for a key of all teams."""


@router.operation("GET", answer=UsageDocument)
def get_usage(request: Request, uow: Uow) -> Response:
    """Usage and quotas.

    The usage of the team and its quotas. A request that would exceed a quota is the problem `quota_exceeded`.

    A request that returns a stored plan or snapshot adds nothing. Deleting plans, snapshots, sweeps and share links
    frees their share at once.
    """
    limits = dict(zip(QUOTAS, request.app.state.database.quotas, strict=True))
    teams = uow.usage.of_teams()
    quotas = [{name: QuotaDocument(getattr(of, name), limits[name] or None) for name in QUOTAS} for of in teams]
    listed = [TeamUsageDocument.of(of, **used) for of, used in zip(teams, quotas, strict=True)]
    return json_response(UsageDocument(listed))
