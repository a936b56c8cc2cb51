"""Sweeps: thousands of what-ifs, scored chunk by chunk by workers, and kept.

A worker scores a chunk between two short transactions: one claims it (`next_chunk`), one keeps its rows, writes its
line of the ledger and puts the next chunk on the queue (`record`). Whatever dies in between, the chunk is scored again
and kept once. Between two chunks of a sweep the queue serves the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import orjson

from app.errors import ConflictingFields, Failure, Json, TooManySweeps
from app.errors.quotation import document_of
from app.services.limits import Limits
from app.services.sweep_kinds import KINDS
from app.store.database import UnitOfWork
from app.store.sweeps import Progress, Sweep

FIRST_SCENARIOS = 32
"""Of a sweep's first chunk, and the least of any: small, so that there is progress before the cost is known."""
CHUNK_SECONDS = 8.0
"""What a chunk is to take once its cost is known: Spark adds 0.2 to 0.4 s to a job, however much there is to do."""
MOST_SCENARIOS = 20_000
"""Of a chunk: what a worker holds in memory, and loses when it dies."""
RETRY_AFTER = timedelta(seconds=5)
"""When a sweep that waits for Spark asks again."""


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """A sweep to be made; `definition` is in the contract's words, which are those of its kind."""

    kind: str
    definition: Mapping[str, Json]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Scenarios start … stop − 1 of a sweep, which a worker is to score."""

    sweep: Sweep
    start: int
    stop: int


def submit(uow: UnitOfWork, request: SweepRequest, limits: Limits, *, principal: str) -> Sweep:
    """Keep a sweep and put it on the queue.

    Raises
    ------
    LimitExceeded : it has more scenarios than a sweep may have. TooManySweeps : its principal has enough on the way.
    Failures of the definition : an unknown or empty axis, a value that cannot be, a snapshot that is not there; with
        their paths.
    """
    kind = KINDS[request.kind]
    definition = kind.resolve(uow, request.definition, limits)
    scenarios = kind.count(definition)
    limits.check_number("scenarios", scenarios, path=kind.counted_by)
    on_the_way = uow.sweeps.on_the_way(principal)
    if on_the_way >= limits.max_active_sweeps:
        raise TooManySweeps(
            f"{on_the_way} sweeps are on the way, and {limits.max_active_sweeps} are the limit for one key",
            limit_name="max_active_sweeps",
            limit=limits.max_active_sweeps,
            value=on_the_way,
        )
    sweep = uow.sweeps.create(
        kind=request.kind,
        definition=definition,
        scenarios=scenarios,
        labels=request.labels,
        principal=principal,
    )
    uow.sweeps.go_on(sweep.id)
    return sweep


def keep_scored(uow: UnitOfWork, request: SweepRequest, *, principal: str, sweep_id: UUID) -> None:
    """Keep a small sweep that is scored here and now, without a worker: the documentation's example."""
    kind = KINDS[request.kind]
    definition = kind.resolve(uow, request.definition, Limits())
    scenarios = kind.count(definition)
    uow.sweeps.create(
        kind=request.kind,
        definition=definition,
        scenarios=scenarios,
        labels=request.labels,
        principal=principal,
        sweep_id=sweep_id,
    )
    uow.sweeps.start(sweep_id)
    rows = [(index, orjson.dumps(row)) for index, row in enumerate(kind.score(definition, 0, scenarios))]
    uow.sweeps.record(sweep_id, 0, rows, stop=scenarios, seconds=0.1)
    uow.sweeps.end(sweep_id, "succeeded")


def again(sweep: Sweep, changes: Mapping[str, Json]) -> SweepRequest:
    """The sweep as a request, with those fields of it that are given; what was resolved for it stays as it was.

    Raises `ConflictingFields` where one is none that sweeps of its kind can do differently.
    """
    changeable = KINDS[sweep.kind].changes
    for name in changes:
        if name not in changeable:
            detail = f"a {sweep.kind} sweep can be run again with other {', '.join(changeable)}; {name} given"
            raise ConflictingFields(detail, path=(name,), known=list(changeable))
    return SweepRequest(sweep.kind, {**sweep.definition, **changes}, sweep.labels)


def definition(sweep: Sweep) -> Mapping[str, Json]:
    """What the sweep sweeps, as it was asked for; what was resolved for its executors is as long as a snapshot."""
    return {name: value for name, value in sweep.definition.items() if name != "resolved"}


def cancel(uow: UnitOfWork, sweep_id: UUID) -> Sweep:
    """End a sweep that is on the way; what it has scored stays. A worker that is at it is told by its own look.

    One that has ended stays as it is. Raises `SweepNotFound`.
    """
    if not uow.sweeps.get(sweep_id, for_update=True).has_ended:
        uow.sweeps.end(sweep_id, "cancelled")
    return uow.sweeps.get(sweep_id)


def next_chunk(uow: UnitOfWork, sweep_id: UUID) -> Chunk | None:
    """What is to be scored next; None where the sweep has ended."""
    sweep = uow.sweeps.get(sweep_id, for_update=True)
    if sweep.has_ended:
        return None
    uow.sweeps.start(sweep_id)
    if KINDS[sweep.kind].is_measured_whole:
        return Chunk(sweep, 0, sweep.scenarios)
    progress = uow.sweeps.progress(sweep_id)
    return Chunk(sweep, progress.done, min(progress.done + _chunk_size(progress), sweep.scenarios))


def record(uow: UnitOfWork, chunk: Chunk, rows: Sequence[tuple[int, bytes]], *, seconds: float) -> None:
    """Keep what was found, and go on or end. A chunk that another worker has kept before is dropped."""
    sweep_id = chunk.sweep.id
    if uow.sweeps.get(sweep_id, for_update=True).has_ended or uow.sweeps.progress(sweep_id).done != chunk.start:
        return
    uow.sweeps.record(sweep_id, chunk.start, rows, stop=chunk.stop, seconds=seconds)
    if chunk.stop == chunk.sweep.scenarios:
        uow.sweeps.end(sweep_id, "succeeded")
    else:
        uow.sweeps.go_on(sweep_id)


def wait(uow: UnitOfWork, sweep_id: UUID, failure: Failure) -> None:
    """Say why a sweep does not go on, and have it tried again in a while."""
    if not uow.sweeps.get(sweep_id, for_update=True).has_ended:
        uow.sweeps.wait(sweep_id, document_of(failure))
        uow.sweeps.go_on(sweep_id, after=RETRY_AFTER)


def fail(uow: UnitOfWork, sweep_id: UUID, failure: Failure) -> None:
    """End a sweep that cannot be scored."""
    if not uow.sweeps.get(sweep_id, for_update=True).has_ended:
        uow.sweeps.end(sweep_id, "failed", error=document_of(failure))


def document(sweep: Sweep, progress: Progress) -> dict[str, object]:
    """A sweep as the contract writes it."""
    left = sweep.scenarios - progress.done
    seconds_left = None if sweep.has_ended or not progress.rate_per_s else left / progress.rate_per_s
    return {
        "id": sweep.id,
        "kind": sweep.kind,
        "state": sweep.state,
        "scenarios": sweep.scenarios,
        "done": progress.done,
        "rate_per_s": progress.rate_per_s,
        "seconds_left": seconds_left,
        "waiting": sweep.waiting,
        "error": sweep.error,
        "labels": sweep.labels,
        "created_at": sweep.created_at,
        "started_at": sweep.started_at,
        "finished_at": sweep.finished_at,
    }


def _chunk_size(progress: Progress) -> int:
    wanted = int((progress.fastest_per_s or 0.0) * CHUNK_SECONDS)
    return max(FIRST_SCENARIOS, min(wanted, MOST_SCENARIOS))
