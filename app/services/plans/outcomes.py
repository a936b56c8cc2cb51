"""Report what became of each attempt to make a plan, to the process that makes it: for its log and its metrics.

The pipeline reports without knowing of either. A context variable has the receiver, because between the API and the
pipeline are operations, pages and idempotency, none of which has a use for it; and a request that is answered in a
thread takes its context with it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from app.errors import Failure
from app.store.records import NewPlan

SUCCEEDED = "ok"
UNEXPECTED = "internal_error"


@dataclass(slots=True)
class PlanOutcome:
    """What became of one attempt.

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
    receiver = _receiver.get()
    if receiver is not None:
        receiver(outcome)


def gap_of(answer: Mapping[str, Any], certificate_path: tuple[str, ...]) -> float | None:
    """The relative optimality gap that the certificate at this path of an answer states; None without a certificate."""
    certificate: Any = answer
    for name in certificate_path:
        certificate = certificate.get(name)
        if certificate is None:
            return None
    return float(certificate["gap"])
