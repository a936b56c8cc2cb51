"""One kind of plan: how it is planned, listed, compared, and written as JSON and as files.

Differences between kinds of plans, as the pipeline sees them: the request, the problem, its solver and its answer.

Site          the cluster that a plan is made on, its snapshot and its release of Kafka
Allowance     how much work one request may take
Planner       one kind of plan
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import UUID

import orjson
from pydantic import TypeAdapter

from app.core import ENGINE_VERSION
from app.core.kafka_versions import NEWEST, KafkaRange, KafkaVersion
from app.core.model import NO_REPLICA, Cluster, Placement, unpadded
from app.errors.every import ConflictingFields, FieldPath, Json, NotExportable
from app.services.bodies import ABSENT, AnswerRecord, reader_of_stored
from app.services.limits import Limits
from app.services.plans.answers import PartitionDocument, PlacedTopic, PlanAnswer, WholePlan
from app.services.plans.exports import BATCH, LOSSES, WHOLE, ClusterOf, FilePart, LossSelection, Write
from app.services.plans.record import JSON_OPTIONS, Difference, Plan, PlannedPartition, as_json
from app.services.plans.status import PROPOSED
from app.store.records import NewPlan, PlanHead
from app.store.unit import UnitOfWork

_AS_A_JOB = "; send the same request with the header `Prefer: respond-async` and it becomes a job"


@dataclass(frozen=True, slots=True)
class Site:
    """The cluster that a plan is made on, and the snapshot that it was read from.

    Parameters
    ----------
    cluster : None if the request lists its own brokers or members.
    snapshot_id, content_hash : None if the cluster was read from no snapshot.
    previous : the other snapshot that the request names, if it names one.
    version : the release of Kafka that the plan is made for: the request's, else the snapshot's, else the newest.
    """

    cluster: Cluster | None = None
    snapshot_id: UUID | None = None
    content_hash: str | None = None
    previous: "Site | None" = None
    version: KafkaVersion = NEWEST

    @property
    def cluster_name(self) -> str | None:
        """The cluster's name, or None."""
        return (None if self.cluster is None else self.cluster.name) or None

    @property
    def recorded_version(self) -> str | None:
        """The release that the snapshot states, or None."""
        return None if self.cluster is None else self.cluster.kafka_version


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much work one request may take: the operator's limits, and whether a job does it.

    Parameters
    ----------
    answers : the number of releases of Kafka that the request is answered for.
    """

    limits: Limits
    is_job: bool = False
    answers: int = 1

    def check_work(self, partitions: int, *, path: FieldPath) -> None:
        """Raise `LimitExceeded` if a request with that much work is to be answered at once.

        Parameters
        ----------
        partitions : partitions that the plan goes through, repetitions included.
        path : the field of the request that makes it large.
        """
        if not self.is_job:
            self.limits.check_number("sync_partitions", partitions * self.answers, path=path, remedy=_AS_A_JOB)


class PlanRequest(Protocol):
    """The fields of a request that the pipeline reads."""

    @property
    def snapshot_id(self) -> UUID | None:
        """The snapshot that the plan is made on."""

    @property
    def labels(self) -> Mapping[str, str]:
        """The caller's labels."""

    @property
    def kafka_version(self) -> str | None:
        """The release of Kafka that the caller states; it overrides the snapshot's."""


class PlanProblem(Protocol):
    """The fields of every kind's resolved problem."""

    @property
    def canonical(self) -> Mapping[str, Json]:
        """The kind's own fields of the request, all with a value: the content of the hash, and of the stored plan."""


RequestT = TypeVar("RequestT", bound=PlanRequest)
ProblemT = TypeVar("ProblemT", bound=PlanProblem)
SolutionT = TypeVar("SolutionT")


class Planner(Protocol[RequestT, ProblemT, SolutionT]):
    """One kind of plan as the pipeline sees it.

    A problem is frozen and holds everything that a solver, a verifier and a report need. A solution is whatever the
    kind's solver returns.
    """

    @property
    def kind(self) -> str:
        """The kind's name in the API, in stored plans and in jobs."""

    @property
    def reader(self) -> TypeAdapter[RequestT]:
        """Reads the request record from plain values."""

    @property
    def engine_version(self) -> int:
        """Part of the hash: raised whenever answers of the kind change."""
        return ENGINE_VERSION

    @property
    def certificate_path(self) -> tuple[str, ...]:
        """Where the answer has its certificate, whose gap is logged; a kind without one has nothing there."""
        return ("certificate",)

    def stored(self, request: RequestT) -> Mapping[str, Json]:
        """The request as a job stores it."""
        plain: dict[str, Json] = as_json(request)
        return plain

    def restored(self, plain: Mapping[str, Any]) -> RequestT:
        """The inverse of `stored`."""
        restored: RequestT = reader_of_stored(self.reader)(plain)
        return restored

    def check_site(self, _request: RequestT) -> None:
        """Raise `ConflictingFields` unless the request names the cluster that it needs. Not called offline."""
        return

    def check(self, request: RequestT, limits: Limits) -> None:
        """Validate the request by itself, before anything is looked up."""

    def previous_snapshot(self, _request: RequestT) -> UUID | None:
        """Another snapshot that the request names, if the kind reads another."""
        return None

    def resolve(self, request: RequestT, site: Site, allowance: Allowance) -> ProblemT:
        """The request and the cluster as one frozen problem. Raises if they cannot be planned."""

    def with_seed(self, problem: ProblemT, _seed: int) -> ProblemT:
        """The problem with this seed if the caller chose none and the kind is random; otherwise the same object."""
        return problem

    def releases(self, _problem: ProblemT) -> KafkaRange | None:
        """The releases whose code was compared and plans alike, or None if Kafka has no such plan.

        The plan has them as `kafka` if the release that it is made for is one of them.
        """
        return None

    def later_versions(self, _problem: ProblemT) -> Sequence[KafkaVersion]:
        """Later releases that have other code for the problem, ascending; warnings state where the answer differs."""
        return ()

    def title(self, _plan: NewPlan) -> str:
        """The plan's effect, in a few words: `Remove broker 105 from prod-eu`."""
        return self.kind

    def summary(self, _plan: NewPlan) -> str:
        """Movement and result in a few words: `moves 12 replicas, 3.4 GiB; 2 batches; proven least`."""
        return ""

    def listed_row(self, _head: PlanHead | NewPlan, row: PlannedPartition) -> AnswerRecord:
        """One row of the plan, as its pages list it."""
        listed = [broker for broker in row.row if broker != NO_REPLICA]
        return PartitionDocument(row.topic, row.partition, listed[0], listed)

    def solve(self, problem: ProblemT) -> SolutionT:
        """Solve the problem."""

    def violations(self, _problem: ProblemT, _solution: SolutionT) -> Sequence[str]:
        """Violations that no plan of the kind may have; those that Kafka itself produces belong to the answer."""
        return ()

    def answer(self, problem: ProblemT, solution: SolutionT) -> PlanAnswer:
        """Measures and all other fields of the plan."""

    def placements(self, problem: ProblemT, solution: SolutionT) -> Sequence[Placement]:
        """The rows of the plan, by topic and partition."""


STEPS = "kept_steps"
"""The field of a reassignment's answer from which its batches are exported."""
_LAST = ("warnings", "kafka", "compared_kafka_versions")
_NOT_SHOWN = ("prediction", "seed", *_LAST, STEPS)
"""Fields of an answer that its JSON has elsewhere, or that only exported files have."""


_WITH_REPLICA_LISTS = frozenset({"replicas", "reassignment"})
"""Kinds whose JSON has the rows beside the stored answer; of the others the answer has them, in an order of its own."""


def plan_json(plan: Plan | NewPlan) -> bytes:
    """The plan as the API writes it. One that is not stored has neither id nor time. No planner is imported for it."""
    head = plan.head
    unstored: dict[str, Any] = {"id": None, "created_at": None, "status": PROPOSED, "notes": None, "history": []}
    whole = WholePlan.of(
        head,
        engine_version=head.request.get("engine_version", ENGINE_VERSION),
        prediction=head.answer["prediction"],
        seed=head.answer["seed"],
        request=ABSENT,  # written last
        **({} if isinstance(head, PlanHead) else unstored),
    )
    ledger = head.ledger if isinstance(head, PlanHead) else None
    document = (
        vars(whole)
        # Only a plan with an entry has the field.
        | ({} if ledger is None else {"ledger": ledger})
        | ({"topics": [*map(_placed, plan.placements)]} if head.kind in _WITH_REPLICA_LISTS else {})
        | {name: value for name, value in head.answer.items() if name not in _NOT_SHOWN}
        | {"warnings": []}
        | {name: head.answer[name] for name in _LAST if name in head.answer}
        | {"request": head.request}
    )
    return orjson.dumps(document, option=JSON_OPTIONS)


def _placed(placement: Placement) -> PlacedTopic:
    """The replica lists of a topic; lists of unequal length are not padded."""
    rows = placement.replicas
    lists = unpadded(rows) if (rows == NO_REPLICA).any() else rows
    return PlacedTopic(placement.topic, placement.first_partition_id, lists)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of plan.

    Parameters
    ----------
    planner : from a request to a plan; see `app.services.plans.pipeline`.
    difference : changes of a plan, against the id that a caller names or, if None, the state before it.
    exports : the formats that fit the kind. content : of its rows, for the problem about formats that do not.
    batch : writes the batch of a number, from 1 on, or its inverse; None if the kind's plans have no batches.
    losses : writes the loads after losses; None if the kind's plans have no loads of brokers.
    resumed : writes a file from the state of a later snapshot; None if the kind's plans have no progress.
    """

    planner: Planner[Any, Any, Any]
    difference: Callable[[UnitOfWork, Plan, UUID | None], Difference]
    exports: Mapping[str, Write]
    content: str
    batch: Callable[[Plan | NewPlan, int, bool], bytes] | None = None
    losses: Callable[[Plan | NewPlan, ClusterOf, LossSelection], bytes] | None = None
    resumed: Callable[[UnitOfWork, Plan, UUID, str, FilePart], bytes] | None = None

    @property
    def formats(self) -> list[str]:
        """The names of all formats that fit the kind."""
        return [*self.exports, *([BATCH] if self.batch else []), *([LOSSES] if self.losses else [])]

    def write(self, plan: Plan | NewPlan, name: str, cluster_of: ClusterOf, part: FilePart = WHOLE) -> bytes:
        """The plan, or a part of it, as a file in the format of that name.

        Raises
        ------
        LimitExceeded, UnknownBroker, UnknownRack : of losses.
        NotExportable : the plan cannot be written in that format, or has no such batch.
        ConflictingFields : a batch or losses are named and the format is of a whole plan, or the other way round.
        """
        formats = self.formats
        if name not in formats:
            detail = (
                f"a {self.planner.kind} plan contains {self.content}; its formats are {', '.join(formats)}, not {name}"
            )
            raise NotExportable(detail, formats=formats)
        if not part.lost.is_of_all and name != LOSSES:
            field = "lost_rack" if part.lost.brokers is None else "lost_broker"
            raise ConflictingFields(f"{field} is of the format {LOSSES}; {name} is of the whole plan", path=(field,))
        part.check_batch(name)
        if self.batch and part.batch is not None:
            return self.batch(plan, part.batch, part.is_inverse)
        if name == LOSSES and self.losses:
            return self.losses(plan, cluster_of, part.lost)
        return self.exports[name](plan, cluster_of)
