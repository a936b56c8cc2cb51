"""The lifecycle of a sweep: submitted, scored chunk by chunk by workers, ended; and its document.

A worker scores a chunk between two short transactions: one claims it (`next_chunk`), one stores its rows, writes its
line of the ledger and puts the next chunk on the queue (`record`). If the worker dies in between, the chunk is scored
again and stored once. Between two chunks of a sweep the queue serves other sweeps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

import orjson

from app.errors.every import ConflictingFields, Failure, Json, LimitExceeded, TooManySweeps, document_of
from app.services.limits import Limits
from app.services.sweeps.kinds import KINDS
from app.store.sweeps import Progress, Sweep
from app.store.unit import UnitOfWork

FIRST_SCENARIOS = 32
"""Scenarios of the first chunk, and of the smallest: few, so that there is progress before the cost is known."""
CHUNK_SECONDS = 8.0
"""The target duration of a chunk once its cost is known: Spark adds 0.2 to 0.4 s to a job of any size."""
MOST_SCENARIOS = 20_000
"""Scenarios of the largest chunk, which a worker has in memory, and loses if it dies."""
RETRY_AFTER = timedelta(seconds=5)
"""When a sweep that waits for Spark is tried again."""


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """A sweep to create; `definition` has the field names of the API contract for its kind."""

    kind: str
    definition: Mapping[str, Json]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Scenarios start … stop − 1 of a sweep, to be scored by a worker."""

    sweep: Sweep
    start: int
    stop: int


def submit(
    uow: UnitOfWork, request: SweepRequest, limits: Limits, *, principal: str, deadline_s: int | None = None
) -> Sweep:
    """Store a sweep and put it on the queue; `deadline_s` is the one that the request states.

    Raises
    ------
    LimitExceeded : it has more scenarios than a sweep may have.
    TooManySweeps : its principal has as many unfinished sweeps as allowed.
    Failures of the definition, with their paths : an unknown or empty axis, an invalid value, an unknown snapshot.
    """
    kind = KINDS[request.kind]
    definition = kind.resolve(uow, request.definition, limits)
    scenarios = kind.count(definition)
    limits.check_number("scenarios", scenarios, path=kind.counted_by)
    active = uow.sweeps.count_unfinished(principal)
    if active >= limits.max_active_sweeps:
        raise TooManySweeps(
            f"{active} sweeps are unfinished; the limit for one API key is {limits.max_active_sweeps}",
            limit_name="max_active_sweeps",
            limit=limits.max_active_sweeps,
            value=active,
        )
    sweep = _create(uow, request, definition, principal, deadline_s=deadline_s)
    uow.sweeps.enqueue(sweep.id)
    return sweep


def store_scored(uow: UnitOfWork, request: SweepRequest, *, principal: str, sweep_id: UUID) -> None:
    """Store a small sweep that is scored in this process, without a worker: the example of the documentation."""
    kind = KINDS[request.kind]
    definition = kind.resolve(uow, request.definition, Limits())
    scenarios = kind.count(definition)
    _create(uow, request, definition, principal, sweep_id)
    uow.sweeps.start(sweep_id)
    rows = [(row.index, orjson.dumps(row.document)) for row in kind.score(definition, 0, scenarios)]
    uow.sweeps.record(sweep_id, 0, rows, stop=scenarios, seconds=0.1)
    uow.sweeps.end(sweep_id, "succeeded")


def _create(
    uow: UnitOfWork,
    request: SweepRequest,
    definition: Mapping[str, Json],
    principal: str,
    sweep_id: UUID | None = None,
    deadline_s: int | None = None,
) -> Sweep:
    return uow.sweeps.create(
        kind=request.kind,
        definition=definition,
        scenarios=KINDS[request.kind].count(definition),
        labels=request.labels,
        principal=principal,
        sweep_id=sweep_id,
        deadline_s=deadline_s,
    )


def again(sweep: Sweep, changes: Mapping[str, Json]) -> SweepRequest:
    """A clone of the sweep as a request, with some fields changed; resolved data are not resolved again.

    Raises `ConflictingFields` if a clone of its kind may not change a field.
    """
    changeable = KINDS[sweep.kind].changes
    for name in changes:
        if name not in changeable:
            detail = f"a {sweep.kind} sweep can be run again with other {', '.join(changeable)}; {name} given"
            raise ConflictingFields(detail, path=(name,), known=list(changeable))
    return SweepRequest(sweep.kind, {**sweep.definition, **changes}, sweep.labels)


def definition(sweep: Sweep) -> Mapping[str, Json]:
    """The definition as it was requested, without `resolved`, which is as long as a snapshot."""
    return {name: value for name, value in sweep.definition.items() if name != "resolved"}


def request_of(sweep: Sweep) -> Mapping[str, Json]:
    """The body of a request that submits the sweep again; what was resolved is not part of it."""
    stated = {name: value for name, value in definition(sweep).items() if name not in _RESOLVED}
    return {"kind": sweep.kind, **stated, "labels": dict(sweep.labels)}


_RESOLVED = ("snapshot_content_hash", "warnings")


def cancel(uow: UnitOfWork, sweep_id: UUID) -> Sweep:
    """End an unfinished sweep; scored scenarios stay. A worker that scores a chunk of it notices by polling.

    A sweep that has ended is not changed. Raises `SweepNotFound`.
    """
    if not uow.sweeps.get(sweep_id, for_update=True).has_ended:
        uow.sweeps.end(sweep_id, "cancelled")
    return uow.sweeps.get(sweep_id)


def next_chunk(uow: UnitOfWork, sweep_id: UUID, limits: Limits) -> Chunk | None:
    """The next chunk to score; None if the sweep has ended.

    A sweep that an earlier release stored is resolved again if executors need more. Raises `Failure` if it cannot be.
    """
    sweep = uow.sweeps.get(sweep_id, for_update=True)
    if sweep.has_ended:
        return None
    kind = KINDS[sweep.kind]
    uow.sweeps.start(sweep_id)
    if not kind.is_resolved(sweep.definition):
        sweep = replace(sweep, definition=kind.resolve(uow, sweep.definition, limits))
    if kind.is_measured_whole:
        return Chunk(sweep, 0, sweep.scenarios)
    progress = uow.sweeps.progress(sweep_id)
    return Chunk(sweep, progress.done, min(progress.done + _chunk_size(progress), sweep.scenarios))


def record(uow: UnitOfWork, chunk: Chunk, rows: Sequence[tuple[int, bytes]], *, seconds: float) -> None:
    """Store the rows of a chunk, and queue the next or end the sweep. A chunk stored by another worker is dropped."""
    sweep_id = chunk.sweep.id
    if uow.sweeps.get(sweep_id, for_update=True).has_ended or uow.sweeps.progress(sweep_id).done != chunk.start:
        return
    uow.sweeps.record(sweep_id, chunk.start, rows, stop=chunk.stop, seconds=seconds)
    if chunk.stop == chunk.sweep.scenarios:
        uow.sweeps.end(sweep_id, "succeeded")
    else:
        uow.sweeps.enqueue(sweep_id)


def wait(uow: UnitOfWork, sweep_id: UUID, failure: Failure) -> None:
    """Record why a sweep waits, and queue it again after `RETRY_AFTER`."""
    if not uow.sweeps.get(sweep_id, for_update=True).has_ended:
        uow.sweeps.wait(sweep_id, document_of(failure))
        uow.sweeps.enqueue(sweep_id, after=RETRY_AFTER)


def fail_late(uow: UnitOfWork, sweep_id: UUID, *, limit_s: int) -> None:
    """End a sweep that has reached its deadline: its own, or the limit of the service."""
    left = uow.sweeps.seconds_left(sweep_id, limit_s=limit_s)
    if left is not None and left <= 0:
        deadline_s = uow.sweeps.deadline(sweep_id, limit_s=limit_s)
        detail = f"the sweep takes longer than its deadline of {deadline_s} s; sweep fewer scenarios, or sample them"
        fail(uow, sweep_id, LimitExceeded(detail, limit_name="sweep_deadline_seconds", limit=deadline_s))


def fail(uow: UnitOfWork, sweep_id: UUID, failure: Failure) -> None:
    """End a sweep that cannot be scored."""
    if not uow.sweeps.get(sweep_id, for_update=True).has_ended:
        uow.sweeps.end(sweep_id, "failed", error=document_of(failure))


def seconds_left(sweep: Sweep, progress: Progress) -> float | None:
    """The time until the sweep ends at its present rate; None if it has ended, or its rate is unknown."""
    if sweep.has_ended or not progress.rate_per_s:
        return None
    return (sweep.scenarios - progress.done) / progress.rate_per_s


def _chunk_size(progress: Progress) -> int:
    return max(FIRST_SCENARIOS, min(int((progress.fastest_per_s or 0.0) * CHUNK_SECONDS), MOST_SCENARIOS))
