"""The one way from a request to a plan, for every kind: for callers, for jobs and for the offline command.

    check → load snapshot → If-Match → resolve → canonical → hash → solve → verify → measure → compare → store

Kinds differ in their `Planner`: its request, the problem that the request resolves to, its solver and its
answer. Below `resolve` nothing reads the request.

The problem is solved again as other releases of Kafka have it, and the answers are compared row by row.

The outcome of each attempt is reported to the process that makes it, for its log and its metrics. The pipeline knows
neither: a context variable has the receiver, because operations, pages and idempotency between the API and the pipeline
have no use for it, and a request that is answered in a thread takes its context with it.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeAlias, cast
from uuid import UUID

import numpy as np

from app import tracing
from app.core.kafka_versions import KafkaRange, KafkaVersion, release_of, supported_version
from app.core.model import NO_REPLICA, Cluster, Int32s, Placement
from app.errors import Failure, Json
from app.services import snapshots
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution, caution
from app.services.limits import Limits
from app.services.plans import record
from app.services.plans.kind import Allowance, Planner, ProblemT, RequestT, Site, SolutionT
from app.store.records import NewPlan
from app.store.unit import UnitOfWork

SUCCEEDED = "ok"
UNEXPECTED = "internal_error"


@dataclass(slots=True)
class PlanOutcome:
    """Outcome of one attempt.

    Parameters
    ----------
    kind : of the plan.
    code : `ok`, the code of the failure, or `internal_error`.
    hash : content hash of the plan, or None without a plan.
    solver_seconds : time in the kind's solver, without reading, measuring and storing; None if it did not finish.
    gap : relative optimality gap of the plan's certificate, in [0, 1]; None if the plan has no certificate.
    """

    kind: str
    code: str = UNEXPECTED
    hash: str | None = None
    solver_seconds: float | None = None
    gap: float | None = None

    def succeed(self, plan: NewPlan, gap: float | None) -> None:
        """Record the plan that was made."""
        self.code, self.hash, self.solver_seconds, self.gap = SUCCEEDED, plan.hash, plan.solver_seconds, gap

    def log_fields(self) -> dict[str, object]:
        """The fields of a log line, without those that are not known."""
        seconds = None if self.solver_seconds is None else round(self.solver_seconds, 4)
        fields = {"plan_kind": self.kind, "plan_hash": self.hash, "solver_seconds": seconds, "gap": self.gap}
        return {name: value for name, value in fields.items() if value is not None}


_receiver: ContextVar[Callable[[PlanOutcome], None] | None] = ContextVar("receiver", default=None)


@contextmanager
def receiving(receiver: Callable[[PlanOutcome], None]) -> Iterator[None]:
    """Call `receiver` with the outcome of every attempt within this context; it must not raise."""
    token = _receiver.set(receiver)
    try:
        yield
    finally:
        _receiver.reset(token)


@contextmanager
def attempt(kind: str) -> Iterator[PlanOutcome]:
    """One attempt to make a plan; its outcome is reported when the context ends, also by an exception."""
    outcome = PlanOutcome(kind)
    try:
        yield outcome
    except Failure as failure:
        outcome.code = failure.code
        raise
    finally:
        report(outcome)


def report(outcome: PlanOutcome) -> None:
    """Pass the outcome of an attempt, of this process or of another one, to the receiver of this context."""
    if (receiver := _receiver.get()) is not None:
        receiver(outcome)


def gap_of(answer: Mapping[str, Any], certificate_path: tuple[str, ...]) -> float | None:
    """The relative optimality gap that the certificate at this path of an answer states; None without a certificate."""
    certificate: Any = answer
    for name in certificate_path:
        certificate = certificate.get(name)
        if certificate is None:
            return None
    return float(certificate["gap"])


LISTED_ROWS = 1000
"""How many rows of a difference are listed; it counts them all."""


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """Answer of one release.

    Parameters
    ----------
    releases : those that answer alike; None if the release was not compared.
    placements : the rows of the answer.
    """

    releases: KafkaRange | None
    placements: Sequence[Placement]


AnswerOf: TypeAlias = Callable[[KafkaVersion], ReleaseAnswer]
"""Solves the problem as a release has it; raises the release's `Failure`."""
ListedRow: TypeAlias = Callable[[record.PlannedPartition], AnswerRecord]
"""A row as pages of a plan list it."""


def releases_of(releases: KafkaRange | None, version: KafkaVersion) -> record.KafkaReleases | None:
    """The releases that a plan holds for; None if the one that it is made for was not compared."""
    return None if releases is None or version not in releases else record.KafkaReleases(releases.from_, releases.to)


def compared_release(
    own: Sequence[Placement], version: KafkaVersion, answer_of: AnswerOf, listed: ListedRow
) -> record.ComparedRelease:
    """The answer of another release, as its difference from a plan's own."""
    try:
        other = answer_of(version)
    except Failure as failure:
        return record.ComparedRelease(str(version), None, None, [], record.KafkaFailure.of_failure(failure))
    differing = _differing(own, other.placements)
    rows = [
        record.DifferingRow(vars(listed(before)), vars(listed(after)))
        for before, after in islice(differing, LISTED_ROWS)
    ]
    number = len(rows) + sum(1 for _ in differing)
    return record.ComparedRelease(str(version), releases_of(other.releases, version), number, rows, None)


def upgrade_cautions(own: Sequence[Placement], later: Sequence[KafkaVersion], answer_of: AnswerOf) -> Iterator[Caution]:
    """Warnings about later releases that answer otherwise; `later` are those whose code is another."""
    rows = sum(len(placement.replicas) for placement in own)
    for version in later:
        try:
            differing = sum(1 for _ in _differing(own, answer_of(version).placements))
        except Failure as failure:
            yield caution("differs_after_upgrade.fails", reason=failure.detail, kafka_version=str(version))
            continue
        if differing:
            yield caution("differs_after_upgrade", differing=differing, rows=rows, kafka_version=str(version))


def _differing(
    own: Sequence[Placement], other: Sequence[Placement]
) -> Iterator[tuple[record.PlannedPartition, record.PlannedPartition]]:
    """The rows that differ, of the plan and of the other answer, in the plan's order. Both have the same rows."""
    for mine, theirs in zip(own, other, strict=True):
        if (mine.topic, mine.first_partition_id, len(mine.replicas)) != (
            theirs.topic,
            theirs.first_partition_id,
            len(theirs.replicas),
        ):
            raise RuntimeError(f"rows of {mine.topic} and {theirs.topic} are compared")
        width = max(mine.replicas.shape[1], theirs.replicas.shape[1])
        before, after = _widened(mine.replicas, width), _widened(theirs.replicas, width)
        for row in np.flatnonzero((before != after).any(axis=1)).tolist():
            partition = mine.first_partition_id + row
            yield (
                record.PlannedPartition(mine.topic, partition, mine.replicas[row].tolist()),
                record.PlannedPartition(mine.topic, partition, theirs.replicas[row].tolist()),
            )


def _widened(rows: Int32s, width: int) -> Int32s:
    """The rows, padded to (rows, width)."""
    widened = np.full((len(rows), width), NO_REPLICA, np.int32)
    widened[:, : rows.shape[1]] = rows
    return widened


SHOWN_VIOLATIONS = 5
OnStep: TypeAlias = Callable[[str], None]
"""Called with the name of each step as it begins; an exception ends the planning."""


def make_plan(
    uow: UnitOfWork,
    planner: Planner[RequestT, ProblemT, SolutionT],
    request: RequestT,
    limits: Limits,
    *,
    if_match: Sequence[str] = (),
    on_step: OnStep | None = None,
    plan_id: UUID | None = None,
) -> record.Plan:
    """Plan and store. A request that was answered before gets the stored plan again.

    Parameters
    ----------
    if_match : content hashes; the snapshot's cluster was last seen in one of these states.
    on_step : of a job, for which the limit of immediate answers does not hold: called as each of its steps begins.
    plan_id : the id of the new plan; chosen by the store if it is None.

    Raises
    ------
    SnapshotNotFound, SnapshotChanged, UnsupportedKafkaVersion
    As the planner's steps.
    """
    with attempt(planner.kind) as outcome:
        planner.check_site(request)
        planner.check(request, limits)
        site = _site(uow, request.snapshot_id, if_match)
        if (previous := planner.previous_snapshot(request)) is not None:
            site = replace(site, previous=_site(uow, previous, ()))
        uow.release()  # the connection, which planning does without
        begin = on_step or _ignore
        new = _draft(planner, request, site, Allowance(limits, is_job=on_step is not None), begin)
        begin("store")
        plan = record.Plan(uow.plans.store(new, plan_id=plan_id), tuple(new.placements))
        outcome.succeed(new, gap_of(new.answer, planner.certificate_path))
    return plan


def draft_plan(
    planner: Planner[RequestT, ProblemT, SolutionT], request: RequestT, cluster: Cluster | None, limits: Limits
) -> NewPlan:
    """Plan on a cluster that the caller has, and store nothing: the offline command, sweeps, benchmarks.

    Raises
    ------
    DuplicateBroker, LimitExceeded : the cluster's brokers.
    UnsupportedKafkaVersion
    As the planner's steps.
    """
    snapshots.check_brokers(() if cluster is None else cluster.brokers, limits)
    planner.check(request, limits)
    return _draft(planner, request, Site(cluster), Allowance(limits, is_job=True), _ignore)


def check_job(
    uow: UnitOfWork,
    planner: Planner[RequestT, Any, Any],
    request: RequestT,
    limits: Limits,
    *,
    if_match: Sequence[str] = (),
) -> None:
    """Validate a request that is to become a job.

    The cluster is compared with `if_match` when the request is received, not when a worker begins.
    """
    planner.check_site(request)
    planner.check(request, limits)
    release_of(request.kafka_version, None)
    _compared_versions(request)
    if if_match and request.snapshot_id is not None:
        snapshots.require_unchanged(uow, uow.snapshots.get(request.snapshot_id).cluster, if_match)


def _site(uow: UnitOfWork, snapshot_id: UUID | None, if_match: Sequence[str]) -> Site:
    if snapshot_id is None:
        return Site()
    snapshot, cluster = snapshots.load(uow, snapshot_id)
    if if_match:
        snapshots.require_unchanged(uow, snapshot.cluster, if_match)
    return Site(cluster, snapshot.id, snapshot.content_hash)


def _draft(
    planner: Planner[RequestT, ProblemT, SolutionT], request: RequestT, site: Site, allowance: Allowance, begin: OnStep
) -> NewPlan:
    """resolve → canonical → hash → solve → verify → measure → compare with other releases."""
    site = replace(site, version=release_of(request.kafka_version, site.recorded_version))
    compared = _compared_versions(request)
    allowance = replace(allowance, answers=1 + len(compared))
    begin("resolve")
    problem = planner.resolve(request, site, allowance)
    canonical = _canonical(planner, request, site, problem, compared)
    # Taken before a seed is chosen: a request with that seed is a replay, which is another plan.
    plan_hash = record.digest(canonical)
    seed = record.seed_of(plan_hash)
    seeded = planner.with_seed(problem, seed)
    if seeded is not problem:
        canonical = _canonical(planner, request, site, seeded, compared)
    begin("solve")
    started = time.perf_counter()
    with tracing.span(f"solve {planner.kind}", rackplan_kind=planner.kind, rackplan_plan__hash=plan_hash.hex()):
        solution = planner.solve(seeded)
    solver_seconds = time.perf_counter() - started
    begin("measure")
    if violations := planner.violations(seeded, solution):
        # A defect of Rackplan's own; such a plan is never stored.
        raise RuntimeError("; ".join(violations[:SHOWN_VIOLATIONS]))
    # A plan that compares itself with Kafka's code states the releases of that code itself.
    answer = {"kafka": releases_of(planner.releases(seeded), site.version)} | vars(planner.answer(seeded, solution))
    plan = NewPlan(
        kind=planner.kind,
        hash=plan_hash.hex(),
        cluster=site.cluster_name,
        snapshot_id=site.snapshot_id,
        labels=dict(request.labels),
        request=canonical,
        answer=record.as_json(answer),
        placements=planner.placements(seeded, solution),
        solver_seconds=solver_seconds,
    )
    plan = replace(plan, title=record.shortened(planner.title(plan)), summary=record.shortened(planner.summary(plan)))
    begin("compare")
    answer_of = partial(_answer_of, planner, request, site, allowance, seed)
    return _with_releases(plan, planner, planner.later_versions(seeded), compared, answer_of)


def _answer_of(
    planner: Planner[RequestT, ProblemT, Any],
    request: RequestT,
    site: Site,
    allowance: Allowance,
    seed: int,
    version: KafkaVersion,
) -> ReleaseAnswer:
    """The answer of a release to a request."""
    other = planner.with_seed(planner.resolve(request, replace(site, version=version), allowance), seed)
    return ReleaseAnswer(planner.releases(other), planner.placements(other, planner.solve(other)))


def _with_releases(
    plan: NewPlan,
    planner: Planner[Any, Any, Any],
    later: Sequence[KafkaVersion],
    compared: Sequence[KafkaVersion],
    answer_of: AnswerOf,
) -> NewPlan:
    """The plan with warnings about later releases that answer otherwise, and with the requested comparisons."""
    if not later and not compared:
        return plan
    answer = dict(plan.answer)
    if cautions := [*upgrade_cautions(plan.placements, later, answer_of)]:
        answer["warnings"] = [*cast("list[Json]", answer["warnings"]), *record.as_json(cautions)]
    if compared:
        listed = partial(planner.listed_row, plan)
        answer["compared_kafka_versions"] = record.as_json(
            [compared_release(plan.placements, version, answer_of, listed) for version in compared]
        )
    return replace(plan, answer=answer)


def _compared_versions(request: object) -> list[KafkaVersion]:
    """The releases that the request compares, each once. Raises `UnsupportedKafkaVersion`, with the place."""
    stated: Sequence[str] = getattr(request, "compare_kafka_versions", ())
    read = [supported_version(text, path=("compare_kafka_versions", place)) for place, text in enumerate(stated)]
    return list(dict.fromkeys(read))


def _canonical(
    planner: Planner[RequestT, ProblemT, Any],
    request: RequestT,
    site: Site,
    problem: ProblemT,
    compared: Sequence[KafkaVersion],
) -> dict[str, Json]:
    """The content of a snapshot counts, not the id under which it is stored."""
    return {
        "kind": planner.kind,
        "engine_version": planner.engine_version,
        "cluster": site.cluster_name,
        "snapshot_content_hash": site.content_hash,
        **problem.canonical,
        "kafka_version": str(site.version),
        **({"compare_kafka_versions": [str(version) for version in compared]} if compared else {}),
        "labels": dict(sorted(request.labels.items())),
    }


def _ignore(_: str) -> None:
    """No one follows the steps of a plan that is answered at once."""
