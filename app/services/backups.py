"""Verify a restored database: every plan and every snapshot has the content that its hash names."""

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from app.errors.every import BackupUnreadable, Json
from app.services.plans.record import digest

if TYPE_CHECKING:
    from app.store.database import Database

_SHOWN = 5


def verify(database: "Database") -> int:
    """Compute the hash of every plan and snapshot anew; return their number. Raises `BackupUnreadable`."""
    verified, wrong = 0, []
    with database.begin() as uow:
        for plan_id, request, stated in uow.plans.requests():
            if stated not in _hashes(request):
                wrong.append(f"plan {plan_id} does not have the request of its hash {stated}")
            verified += 1
        for snapshot_id, document, stated in uow.snapshots.documents():
            if sha256(document).hexdigest() != stated:
                wrong.append(f"snapshot {snapshot_id} does not have the content of its hash {stated}")
            verified += 1
    if wrong:
        raise BackupUnreadable("; ".join(wrong[:_SHOWN]), wrong=len(wrong))
    return verified


def _hashes(request: Mapping[str, Json]) -> set[str]:
    """The hashes that a stored request may have: of itself, or without the seed that was derived from its hash."""
    return {digest(request).hex(), digest({**request, "seed": None}).hex()}
