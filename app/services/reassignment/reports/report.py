"""The answer of a reassignment: certificate, balance, movement by broker, batches, loads and warnings."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from app.core.measures.copysets import Copysets
from app.core.measures.losses import Losses
from app.core.measures.placement import PlacementMeasures, measure
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.plan import Moves, Plan, bytes_bound
from app.core.replica_lists import per_broker
from app.formats.syntax.quantities import byte_size, counted, known_size, share
from app.services.bodies import ABSENT, AnswerRecord
from app.services.fields import min_isr_of
from app.services.plans import STEPS
from app.services.plans.record import Certificate, at, some
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.reports.balance import balance_of, excess_of, trade_off_point
from app.services.reassignment.reports.batches import (
    batch_of,
    batch_times,
    execution_of,
    log_dirs_of,
    packed_log_dirs,
    steps_json,
)
from app.services.reassignment.reports.loads import cross_rack_of, load_report
from app.services.reassignment.reports.plan_cautions import cautions_of, not_preferred
from app.services.reassignment.solve import ReassignmentSolution
from app.store.records import NewPlan


def certificate_of(problem: ReassignmentProblem, solution: Plan, moves: Moves) -> Certificate:
    """The movement with its lower bound; of plans of leaders alone, the proof of their changes."""
    placement = solution.placement
    per_row = moves.is_copied.sum(axis=1)
    moved_bytes = int((per_row * problem.sizes.copied_bytes).sum())
    proof, cost = placement.certificate, problem.bytes_per_replica
    proven: Any = solution.leaders.changes if problem.leaders_only else proof
    return Certificate.of(
        proven,
        constraints=[*(proof if problem.leaders_only else problem).constraints, *proven.constraints],
        minimised="replicas" if cost is None else "cost" if cost else "bytes",
        moved_replicas=int(per_row.sum()),
        moved_bytes=moved_bytes,
        lower_bound_bytes=bytes_bound(problem, placement, moved_bytes),
        lower_bound_replicas=proof.lower_bound if cost is None else None,
        bytes_per_replica=cost or ABSENT,
        moved_cost=proof.value if cost else ABSENT,
        lower_bound_cost=proof.lower_bound if cost else ABSENT,
        unknown_size_replicas=int(per_row[~problem.sizes.is_known].sum()),
        seconds=round(solution.seconds, 3) if isinstance(solution, ReassignmentSolution) else ABSENT,
    )


def leader_changes(problem: ReassignmentProblem, solution: Plan) -> int:
    """Preferred leaders that change; if the preferred ones are to lead, actual leaders that change."""
    first, before = solution.leaders.after[:, 0], problem.before[:, 0]
    if not problem.leaders.counts_actual:
        return int(np.count_nonzero((before != NO_REPLICA) & (first != before)))
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.as_ids(first))))


class BrokerMovement(AnswerRecord):
    """Replicas that a broker receives and sends. Bytes and leaders are of the topics that may move."""

    broker: int
    """Id of the broker."""
    rack: str | None
    """Rack of the broker; null if it has none."""
    replicas_before: int
    """Number of replicas before the plan."""
    replicas_in: int
    """Number of replicas that are copied to the broker."""
    replicas_out: int
    """Number of replicas that are removed from the broker."""
    replicas_after: int
    """Number of replicas after the plan."""
    bytes_before: int
    """Bytes before the plan, of replicas of known size."""
    bytes_in: int
    """Bytes that are copied to the broker, of replicas of known size."""
    bytes_out: int
    """Bytes that are removed from the broker, of replicas of known size."""
    bytes_after: int
    """Bytes after the plan, of replicas of known size."""
    leaders_before: int
    """Number of preferred leaders before the plan."""
    leaders_after: int
    """Number of preferred leaders after the plan."""


def movement_of(problem: ReassignmentProblem, after: Int32s, moves: Moves) -> list[BrokerMovement]:
    """Replicas, bytes and leaders of each broker before, in, out and after, by ascending id.

    Partitions outside the scope count as replicas.
    """
    sizes, base = problem.sizes.size_bytes, problem.movement.base
    brokers = len(problem.brokers.ids)

    copied, removed = (
        np.where(moves.is_copied, after, NO_REPLICA),
        np.where(moves.is_removed, problem.before, NO_REPLICA),
    )
    columns: Mapping[str, Int64s] = {
        "replicas_before": base + per_broker(problem.before, brokers),
        "replicas_in": per_broker(copied, brokers),
        "replicas_out": per_broker(removed, brokers),
        "replicas_after": base + per_broker(after, brokers),
        "bytes_before": per_broker(problem.before, brokers, sizes),
        "bytes_in": per_broker(copied, brokers, problem.sizes.copied_bytes),
        "bytes_out": per_broker(removed, brokers, sizes),
        "bytes_after": per_broker(after, brokers, sizes),
        "leaders_before": per_broker(problem.before[:, :1], brokers),
        "leaders_after": per_broker(after[:, :1], brokers),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        BrokerMovement(broker.id, broker.rack, **dict(zip(columns, row, strict=True)))
        for broker, row in zip(problem.brokers.known, rows, strict=True)
    ]


def answer(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Any]:
    """All fields of a plan besides its replica lists."""
    after, steps = solution.leaders.after, solution.steps
    moves = Moves.of(problem, after)
    min_isr = min_isr_of(problem.scope.described)
    times = batch_times(problem, steps)
    return {
        # Nothing is random: the assignment is there to be handed to Kafka.
        "prediction": "pinned",
        "seed": None,
        "certificate": certificate_of(problem, solution, moves),
        "leader_changes": leader_changes(problem, solution),
        "not_preferred": not_preferred(problem),
        "balance": balance_of(problem, solution, moves),
        "batches": [batch_of(problem, steps, times, number) for number in range(len(steps))],
        "recommended_throttle_bytes_per_s": times.recommended,
        "fewest_batches": steps.lower_bound,
        "execution": None if solution.executions is None else execution_of(solution.executions),
        "rebalancing_groups": solution.rebalances.named,
        "kafka_generate": solution.generated,
        "movement": movement_of(problem, after, moves),
        **_loads(problem, after),
        "excess": None if solution.resources is None else excess_of(problem, solution.resources.placement),
        **({} if (log_dirs := log_dirs_of(problem, solution)) is None else {"log_dirs": log_dirs}),
        "trade_off": None
        if solution.trade_off is None
        else [trade_off_point(problem, placements) for placements in solution.trade_off],
        "relaxed": solution.relaxed,
        "measures": measure(solution.tally, min_isr),
        "measures_before": _small(measure(solution.tally_before, min_isr)),
        "violations": solution.violations,
        "warnings": [
            caution.as_json() for caution in (*problem.cautions, *cautions_of(problem, solution), *times.cautions())
        ],
        STEPS: steps_json(problem, steps) | packed_log_dirs(problem, solution),
    }


def _loads(problem: ReassignmentProblem, after: Int32s) -> dict[str, Any]:
    loaded = problem.brokers, problem.resources, problem.limits
    report = load_report(*loaded, before=problem.before, after=after, reads=problem.reads)
    return {"loads": report.of_brokers(), "cross_rack": cross_rack_of(report, problem.prices)}


class Spread(AnswerRecord):
    """A count over brokers."""

    min: int
    """Smallest count of a broker."""
    max: int
    """Largest count of a broker."""
    spread: int
    """Largest count minus the smallest."""


class MeasuresBefore(AnswerRecord):
    """The measures before the plan."""

    rack_safe_share: float | None
    """Share of partitions that span min(replicas, racks) racks; null if no broker has a rack."""
    replicas: Spread
    """Replicas of brokers."""
    leaders: Spread
    """Preferred leaders of brokers."""
    losses: Losses | None = ABSENT
    """Cost of each loss; absent from plans of earlier releases."""
    copysets: Copysets | None = ABSENT
    """Distinct replica sets, and the odds that simultaneous losses contain one; absent likewise."""


def _small(measures: PlacementMeasures) -> MeasuresBefore:
    """The measures before the change, without their lists by broker."""
    return MeasuresBefore.of(measures, replicas=Spread.of(measures.replicas), leaders=Spread.of(measures.leaders))


def title(plan: NewPlan) -> str:
    """`Remove broker 105 from prod-eu`, `Add 2 brokers to prod-eu, set orders to 4 replicas`."""
    request, answer = cast("Any", plan.request), cast("Any", plan.answer)
    added = [broker["id"] for broker in request.get("add_brokers") or ()]
    removed = list(request.get("remove_brokers") or ())
    replaced = request.get("replace_brokers") or {}
    factors = request.get("replication_factor") or {}
    partitions = request.get("partitions") or {}
    changes = [
        *([f"remove {_brokers(removed)}{at(plan.cluster, 'from')}"] if removed else []),
        *([f"add {_brokers(added)}{at(plan.cluster, 'to')}"] if added else []),
        *(f"replace broker {old} by {new}{at(plan.cluster, 'in')}" for old, new in replaced.items()),
        *(f"set {topic} to {counted(factor, 'replica')}" for topic, factor in factors.items()),
        *(f"grow {topic} to {counted(count, 'partition')}" for topic, count in partitions.items()),
        *([f"choose the leaders{at(plan.cluster, 'of')}"] if request.get("leaders_only") else []),
    ]
    words = some(changes, noun="change") if changes else f"{_unstated(answer)} {plan.cluster or 'the cluster'}"
    return words[0].upper() + words[1:]


def summary(plan: NewPlan) -> str:
    """`moves 12 replicas, 3.4 GiB; 2 batches; proven least`."""
    answer: Any = plan.answer
    certificate, batches = answer["certificate"], len(answer["batches"])
    replicas = certificate["moved_replicas"]
    log_dirs = answer.get("log_dirs") or {"moved_replicas": 0}
    within = f"moves {counted(log_dirs['moved_replicas'], 'replica')} between log directories"
    if not replicas and log_dirs["moved_replicas"]:
        return f"{within}, {byte_size(log_dirs['moved_bytes'])}; {batches} batch{'' if batches == 1 else 'es'}"
    if not replicas:
        changed = answer["leader_changes"]
        return f"moves no replica; {counted(changed, 'leader')} {'changes' if changed == 1 else 'change'}"
    size = known_size(certificate["moved_bytes"], replicas=replicas, unknown=certificate["unknown_size_replicas"])
    proof = "proven least" if certificate["optimal"] else f"optimality gap {share(certificate['gap'])}"
    steps = f"{batches} batch{'' if batches == 1 else 'es'}"
    also = f"; {within}" if log_dirs["moved_replicas"] else ""
    return f"moves {counted(replicas, 'replica')}, {size}; {steps}; {proof}{also}"


def _unstated(answer: Any) -> str:
    """The change of a plan whose request adds, removes and sets nothing; the name of the cluster follows."""
    if not (answer.get("log_dirs") or {}).get("moved_replicas", 0):
        return "rebalance"
    within = "move replicas between log directories"
    if not answer["certificate"]["moved_replicas"]:
        return f"{within} of"
    before, after = (answer[name]["rack_safe_share"] or 0 for name in ("measures_before", "measures"))
    return f"{within} and repair the racks of" if after > before else f"{within} and rebalance"


def _brokers(ids: Sequence[int]) -> str:
    return f"broker {ids[0]}" if len(ids) == 1 else counted(len(ids), "broker")
