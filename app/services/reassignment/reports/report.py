"""The answer of a reassignment: certificate, balance, movement by broker, batches, loads and warnings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import numpy as np

from app.core.measures.copysets import Copysets
from app.core.measures.losses import Losses
from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.violations import Violation
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.plan import Moves, Plan, bytes_bound
from app.core.replica_lists import per_broker
from app.formats.syntax.quantities import byte_size, counted, known_size, share
from app.services.bodies import ABSENT, AnswerRecord, ListOf
from app.services.fields import min_isr_of
from app.services.plans.answers import PlacedTopic, PlanAnswer, WholePlan
from app.services.plans.record import Certificate, at, some
from app.services.reassignment.problem.problem import ReassignmentProblem, Relaxation
from app.services.reassignment.problem.resources import RebalancingGroup
from app.services.reassignment.reports import balance as balances
from app.services.reassignment.reports import batches as batch_reports
from app.services.reassignment.reports.loads import BrokerLoads, CrossRackReport, cross_rack_of, load_report
from app.services.reassignment.reports.plan_cautions import cautions_of, not_preferred
from app.services.reassignment.solve import GeneratedMovement, ReassignmentSolution
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
    copied = np.where(moves.is_copied, after, NO_REPLICA)
    removed = np.where(moves.is_removed, problem.before, NO_REPLICA)
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


class ReassignmentAnswer(PlanAnswer, kw_only=True):
    """The fields of a reassignment that its planner computes."""

    certificate: Certificate
    """The movement, and the proof that no plan within the constraints moves less."""
    leader_changes: int
    """Number of partitions whose preferred leader changes."""
    not_preferred: int
    """Partitions that are led by another replica than the preferred leader before the plan."""
    balance: balances.Balance
    """Load of brokers before and after the plan."""
    batches: list[batch_reports.Batch]
    """Steps of the plan, in the order of execution."""
    recommended_throttle_bytes_per_s: int | None
    """Least of 1, 2, 5, 10, … bytes per second that is twice the rate of writes to the partitions which one broker
    sends or receives in a batch; null if no rate is known, or a network has less left."""
    fewest_batches: int
    """No schedule of these steps has fewer batches."""
    execution: batch_reports.Execution | None
    """Null if no broker is cordoned, nor removed from a cluster of Kafka 4.3 or later."""
    rebalancing_groups: list[RebalancingGroup]
    """Groups of the consumer and the streams protocol, since Kafka 4.1 (KIP-1101), by batch and id."""
    kafka_generate: GeneratedMovement
    """Movement of Kafka's own tool for the same change."""
    movement: list[BrokerMovement]
    """Movement of each broker, by ascending broker id."""
    loads: dict[str, BrokerLoads]
    """By broker id, the load of each resource whose loads are known, before and after the plan, and after losses."""
    cross_rack: CrossRackReport | None
    """Bytes/s between racks; null without ingress rates, or with fewer than two racks."""
    excess: balances.ExcessReport | None
    """Loads above limits, if limits are soft or conflicts relaxed; null if every limit holds."""
    log_dirs: batch_reports.LogDirsReport | None = ABSENT
    """Log directories before and after; absent if the request has no `log_dirs`."""
    trade_off: list[balances.TradeOffPoint] | None
    """Least movement for each load band, if the request has `trade_off`; null otherwise."""
    relaxed: ListOf[Relaxation]
    """Constraints that were relaxed because they conflict, if `on_conflict` is `relax`; empty otherwise."""
    measures: PlacementMeasures
    """Balance over brokers, rack safety and the cost of each loss, after the plan."""
    measures_before: MeasuresBefore
    """Balance over brokers and rack safety before the plan."""
    violations: ListOf[Violation]
    """Ways in which the result is illegal or fragile, by topic; empty if there are none."""


class StoredReassignment(ReassignmentAnswer, kw_only=True):
    """The fields of a reassignment that are stored."""

    kept_steps: dict[str, Any]
    """The steps, of which its files are made."""


class LedgerBatchDocument(AnswerRecord):
    """The execution of one batch."""

    index: int
    """Number of the batch, from 1, as its file has it."""
    began_at: datetime
    """When Kafka accepted the batch, RFC 3339 in UTC."""
    ended_at: datetime
    """When the batch was seen to be complete."""
    throttle_bytes_per_s: int | None
    """Throttle that was set; null if there was none."""
    predicted_bytes: int | None
    """Bytes that the plan predicted; null if sizes were unknown."""
    actual_bytes: int | None
    """Bytes of the new replicas when the batch was complete; null if they were not measured."""
    predicted_seconds: float | None
    """Duration that the plan predicted, less what Kafka's quota lets through at once: whole fetches, and the throttle
    of up to 11 s before the batch in which its brokers sent nothing; null without a prediction, or at another
    throttle than the plan's."""
    actual_seconds: float
    """Duration, up to half of the time between the last two looks at the batch more or less."""


class LedgerDocument(AnswerRecord):
    """The execution of a plan against its prediction."""

    bytes_error: float | None
    """|actual − predicted| / predicted of the bytes of all batches that can be compared; null if none can."""
    seconds_error: float | None
    """The same of seconds."""
    ended_at: datetime
    """When the last of the batches was seen to be complete."""
    batches: list[LedgerBatchDocument]
    """Batches whose begin and end the log has, by number."""


class ReassignmentPlanDocument(ReassignmentAnswer, WholePlan, kw_only=True):
    """A change of a cluster with the least movement, in batches, with its certificate."""

    topics: list[PlacedTopic]
    """Topics whose partitions may move, with the replicas of all their partitions after the plan."""
    ledger: LedgerDocument | None = ABSENT
    """The execution against its prediction; absent until its log was recorded."""


def answer(problem: ReassignmentProblem, solution: ReassignmentSolution) -> StoredReassignment:
    """All fields of a plan besides its replica lists."""
    after, steps = solution.leaders.after, solution.steps
    moves = Moves.of(problem, after)
    min_isr = min_isr_of(problem.scope.described)
    times = batch_reports.batch_times(problem, steps)
    report = load_report(
        problem.brokers, problem.resources, problem.limits, before=problem.before, after=after, reads=problem.reads
    )
    trade_off, before = solution.trade_off, measure(solution.tally_before, min_isr)
    spreads = {name: Spread.of(getattr(before, name)) for name in ("replicas", "leaders")}
    return StoredReassignment(
        # Nothing is random: the assignment is there to be handed to Kafka.
        prediction="pinned",
        seed=None,
        certificate=certificate_of(problem, solution, moves),
        leader_changes=leader_changes(problem, solution),
        not_preferred=not_preferred(problem),
        balance=balances.balance_of(problem, solution, moves),
        batches=[batch_reports.batch_of(problem, steps, times, number) for number in range(len(steps))],
        recommended_throttle_bytes_per_s=times.recommended,
        fewest_batches=steps.lower_bound,
        execution=None if solution.executions is None else batch_reports.execution_of(solution.executions),
        rebalancing_groups=solution.rebalances.named,
        kafka_generate=solution.generated,
        movement=movement_of(problem, after, moves),
        loads=report.of_brokers(),
        cross_rack=cross_rack_of(report, problem.prices),
        excess=None if solution.resources is None else balances.excess_of(problem, solution.resources.placement),
        log_dirs=batch_reports.log_dirs_of(problem, solution) or ABSENT,
        trade_off=None
        if trade_off is None
        else [balances.trade_off_point(problem, placements) for placements in trade_off],
        relaxed=solution.relaxed,
        measures=measure(solution.tally, min_isr),
        measures_before=MeasuresBefore.of(before, **spreads),
        violations=solution.violations,
        warnings=[*problem.cautions, *cautions_of(problem, solution), *times.cautions()],
        kept_steps=batch_reports.steps_json(problem, steps) | batch_reports.packed_log_dirs(problem, solution),
    )


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
