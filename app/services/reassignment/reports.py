"""The answer of a reassignment: certificate, balance, movement by broker, batches and warnings."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from math import ceil, floor
from zlib import compress

import numpy as np

from app.core.cordons import LISTS_CHECKED_SINCE
from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.violations import violations
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment import Action, Band, Batches, ExecutionStep, ReplicaPlacement, TopicBalance
from app.core.replica_lists import not_among, per_broker
from app.errors import Json
from app.formats.syntax.quantities import counted
from app.services.cautions import Caution
from app.services.plans import STEPS, as_json
from app.services.reassignment.brokers import NAMED_BROKERS, Bools
from app.services.reassignment.load_reports import cross_rack_json, load_report
from app.services.reassignment.log_dir_reports import batch_json, log_dirs_json, step_log_dirs
from app.services.reassignment.measure_cautions import of_measures
from app.services.reassignment.resolve import Executions, ReassignmentProblem, ReassignmentSolution
from app.services.reassignment.resource_reports import excess_json, goals_json
from app.services.reassignment.times import batch_times

NAMED_PARTITIONS = 100
"""How many partitions of a batch are named; it counts them all, and its file has them all."""

NAMED_TOPICS = 20
"""How many topics a warning names."""
NAMED_GROUPS = 20
"""How many groups a warning names; it counts them all."""


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Replicas that are copied and replicas that are removed.

    Parameters
    ----------
    is_removed : (rows, widest) bool, replicas of the lists before that are not there afterwards.
    is_copied : (rows, widest) bool, replicas of the lists afterwards that have to be copied.
    """

    is_removed: Bools = field(repr=False)
    is_copied: Bools = field(repr=False)

    @classmethod
    def of(cls, problem: ReassignmentProblem, after: Int32s) -> "Moves":
        """Compare (rows, widest) int32 positions with where the replicas are."""
        before = problem.before
        stays = (before[:, :, None] == after[:, None, :]) & (before != NO_REPLICA)[:, :, None]
        # A partition that is yet to be has nothing that could be copied.
        is_there = ~problem.scope.is_new[:, None]
        is_copied = (after != NO_REPLICA) & ~stays.any(axis=1) & is_there
        return cls((before != NO_REPLICA) & ~stays.any(axis=2), is_copied)


def answer(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """All fields of a plan besides its replica lists."""
    after, steps = solution.leaders.after, solution.steps
    moves = Moves.of(problem, after)
    times = batch_times(problem, steps)
    return {
        # Nothing is random: the assignment is there to be handed to Kafka.
        "prediction": "pinned",
        "seed": None,
        "certificate": _certificate(problem, solution, moves),
        "leader_changes": _leader_changes(problem, solution),
        "not_preferred": _not_preferred(problem),
        "balance": _balance(problem, solution),
        "batches": [_batch(problem, steps, number) | times.of_batch(number) for number in range(len(steps))],
        "recommended_throttle_bytes_per_s": times.recommended,
        "fewest_batches": steps.lower_bound,
        "execution": None if solution.executions is None else _execution(solution.executions),
        "rebalancing_groups": solution.rebalances.as_json(),
        "kafka_generate": solution.generated.as_json(),
        "movement": movement_json(problem, after, moves),
        **_loads(problem, after),
        "excess": _excess(problem, solution),
        **log_dirs_json(problem, solution),
        "trade_off": None
        if solution.trade_off is None
        else [_point(problem, placement) for placement in solution.trade_off],
        "relaxed": as_json(solution.relaxed),
        "measures": as_json(measure(solution.tally)),
        "measures_before": _small(measure(solution.tally_before)),
        "violations": as_json(violations(solution.tally)),
        "warnings": [
            caution.as_json() for caution in (*problem.cautions, *_cautions(problem, solution), *times.cautions())
        ],
        STEPS: steps_json(problem, steps) | _packed_log_dirs(problem, solution),
    }


def _loads(problem: ReassignmentProblem, after: Int32s) -> dict[str, Json]:
    report = load_report(problem.brokers, problem.resources, problem.limits, before=problem.before, after=after)
    return {"loads": report.as_json(), "cross_rack": cross_rack_json(report, problem.prices)}


def _excess(problem: ReassignmentProblem, solution: ReassignmentSolution) -> Json:
    return None if solution.resources is None else excess_json(problem, solution.resources.placement)


def _certificate(problem: ReassignmentProblem, solution: ReassignmentSolution, moves: Moves) -> dict[str, Json]:
    placement, choice = solution.placement, solution.leaders.choice
    per_row = moves.is_copied.sum(axis=1)
    moved_bytes = int((per_row * problem.sizes.size_bytes).sum())
    proof = placement.certificate
    certificate: dict[str, Json] = {
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": moved_bytes,
        "lower_bound_bytes": bytes_bound(problem, placement, moved_bytes),
        "lower_bound_replicas": None if problem.counts_bytes else proof.lower_bound,
        "unknown_size_replicas": int(per_row[~problem.sizes.is_known].sum()),
        "minimised": "bytes" if problem.counts_bytes else "replicas",
        "optimal": proof.optimal,
        "gap": proof.gap,
        "constraints": [*problem.constraints, *proof.constraints],
        "solver": proof.solver,
        "seconds": round(solution.seconds, 3),
    }
    if problem.leaders_only:
        leaders = choice.certificate
        return certificate | {
            "optimal": leaders.optimal,
            "gap": leaders.gap,
            "solver": leaders.solver,
            "constraints": [*proof.constraints, *leaders.constraints],
        }
    return certificate


def bytes_bound(problem: ReassignmentProblem, placement: ReplicaPlacement, moved_bytes: int) -> int:
    """Lower bound on the bytes that a placement moves, which are `moved_bytes`."""
    proven = placement.certificate.lower_bound if problem.counts_bytes else _unavoidable_bytes(problem)
    return min(proven, moved_bytes)


def _unavoidable_bytes(problem: ReassignmentProblem) -> int:
    """Lower bound on moved bytes if something else is minimised: the replicas that cannot stay."""
    movement = problem.movement
    may_keep = np.array([[*domain.may_keep, False] for domain in movement.domains], np.bool_)
    if not len(may_keep):
        return 0
    stays = may_keep[movement.domain_of[:, None], movement.current]
    stays &= (movement.current != NO_REPLICA) & ~movement.is_copied
    lacking = np.maximum(movement.factors - stays.sum(axis=1), 0)
    lacking[problem.scope.is_new] = 0
    return int((lacking * problem.sizes.size_bytes).sum())


def _leader_changes(problem: ReassignmentProblem, solution: ReassignmentSolution) -> int:
    """Preferred leaders that change; if the preferred ones are to lead, actual leaders that change."""
    first, before = solution.leaders.after[:, 0], problem.before[:, 0]
    if not problem.leaders.counts_actual:
        return int(np.count_nonzero((before != NO_REPLICA) & (first != before)))
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.as_ids(first))))


def _not_preferred(problem: ReassignmentProblem) -> int:
    """Partitions whose actual leader is not the first broker of their list."""
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.scope.before[:, 0])))


def _balance(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    target, after, choice = problem.movement.target, solution.leaders.after, solution.leaders.choice
    preferred = problem.leaders.preferred
    replicas: dict[str, Json] = {
        "by": problem.replicas.by,
        **_band(solution.placement.band, problem.replicas.loads(after), target),
        "before": _ends(problem.replicas.loads(problem.before), target),
        "largest_bound": solution.largest_bound,
        "per_topic": None if problem.topics is None else _per_topic(problem, problem.topics, solution.placement, after),
    }
    leaders: dict[str, Json] = {
        "by": problem.leaders.by,
        **_band(choice.band, problem.leaders.loads(after), target),
        "before": _ends(problem.leaders.loads(problem.before), target),
        "largest_bound": choice.largest.lower_bound,
        "changes": choice.certificate.value,
        "bound": choice.certificate.lower_bound,
        "optimal": choice.certificate.optimal,
        "gap": choice.certificate.gap,
        "preferred_racks": None if preferred is None else preferred.as_json(after[:, 0]),
        "solver": choice.certificate.solver,
    }
    goals = None if solution.resources is None else goals_json(solution.resources.placement)
    return {"replicas": replicas, "leaders": leaders, "resources": goals}


def _per_topic(
    problem: ReassignmentProblem, topics: TopicBalance, placement: ReplicaPlacement, after: Int32s
) -> dict[str, Json]:
    """The bands of topics, and the topics that are the least balanced afterwards, then before."""
    movement, brokers = problem.movement, len(problem.brokers.ids)
    low, high = (bounds[:, movement.target] for bounds in topics.bands(movement))
    is_banded = np.array([share is not None for share in topics.tolerance], np.bool_)
    now, then = (topics.table(replicas, brokers)[:, movement.target] for replicas in (after, problem.before))
    spread_now, spread_then = (np.ptp(table, axis=1) if table.size else np.zeros(len(table)) for table in (now, then))
    worst = np.lexsort((-spread_then, -spread_now))
    worst = worst[is_banded[worst]][:NAMED_TOPICS]
    every = np.ones(now.shape[1], np.bool_)
    return {
        "topics": int(np.count_nonzero(is_banded)),
        "excess": placement.topic_excess,
        "worst": [
            {
                "topic": problem.scope.topics[topic],
                "low": _ends(low[topic], every)["smallest"],
                "high": _ends(high[topic], every)["largest"],
                **_ends(now[topic], every),
                "before": _ends(then[topic], every),
            }
            for topic in worst.tolist()
        ],
    }


def _band(band: Band | None, loads: Int64s, target: Bools) -> dict[str, Json]:
    """The band, None if there was none, and the extremes over the target brokers."""
    return {
        "low": None if band is None else band.low,
        "high": None if band is None else band.high,
        **_ends(loads, target),
    }


def _ends(loads: Int64s, target: Bools) -> dict[str, Json]:
    of_targets = loads[target]
    if not len(of_targets):
        return {"smallest": 0, "largest": 0}
    return {"smallest": int(of_targets.min()), "largest": int(of_targets.max())}


def _batch(problem: ReassignmentProblem, steps: Batches, number: int) -> dict[str, Json]:
    where = steps.steps(number)
    scope, rows = problem.scope, steps.rows[where]
    named = rows[:NAMED_PARTITIONS]
    names = (scope.topics[topic] for topic in scope.topic_of[named].tolist())
    partitions: list[Json] = [
        {"topic": topic, "partition": partition}
        for topic, partition in zip(names, scope.partition_ids[named].tolist(), strict=True)
    ]
    return {
        "partitions": partitions,
        "count": len(rows),
        "moves_data": number < steps.moving,
        "moved_replicas": int(steps.moved_replicas[number]),
        "moved_bytes": int(steps.moved_bytes[number]),
        "unknown_size_replicas": int(steps.unknown_sizes[number]),
        "max_bytes_in": int(steps.max_bytes_in[number]),
        **batch_json(problem, steps, number),
    }


def _point(problem: ReassignmentProblem, placement: ReplicaPlacement) -> dict[str, Json]:
    """One point of movement against balance."""
    per_row = Moves.of(problem, placement.replicas).is_copied.sum(axis=1)
    return {
        "low": None if placement.band is None else placement.band.low,
        "high": None if placement.band is None else placement.band.high,
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": int((per_row * problem.sizes.size_bytes).sum()),
        "optimal": placement.certificate.optimal,
    }


def _small(measures: PlacementMeasures) -> dict[str, Json]:
    """The measures before the change, without their lists."""
    return {
        "rack_safe_share": measures.rack_safe_share,
        **{
            name: {"min": counts.min, "max": counts.max, "spread": counts.spread}
            for name, counts in (("replicas", measures.replicas), ("leaders", measures.leaders))
        },
    }


def _execution(executions: Executions) -> dict[str, Json]:
    return {
        each.name: [execution_step_json(step) for step in getattr(executions, each.name)] for each in fields(executions)
    }


def execution_step_json(step: ExecutionStep) -> dict[str, Json]:
    """One step of an execution; batches are numbered from 1."""
    number = None if step.batch is None else step.batch + 1  # as its files are numbered
    return {"action": step.action.value, "batch": number, "brokers": list(step.brokers)}


def _of_cordons(problem: ReassignmentProblem, solution: ReassignmentSolution) -> Iterator[Caution]:
    """What cordons change in the execution of the plan."""
    executions, cordons = solution.executions, problem.batches.cordons
    is_cordoned = solution.reassigned.is_cordoned
    if executions is None or is_cordoned is None:
        return
    lifted = [step for step in executions.batches if step.action is Action.UNCORDON]
    if lifted:
        named = tuple(sorted({broker for step in lifted for broker in step.brokers}))
        detail = (
            f"brokers {', '.join(map(str, named[:NAMED_BROKERS]))} are cordoned and in lists that batches request, "
            f"which Kafka {LISTS_CHECKED_SINCE} and later reject; `execution` uncordons them for these batches alone"
        )
        yield Caution("cordons_lifted", detail, named)
    lost = np.append(is_cordoned, False)[solution.steps.before]
    lost &= not_among(solution.steps.before, solution.steps.after)
    n_adds = not_among(solution.steps.after, solution.steps.before).sum(axis=1)
    factors = [(lists != NO_REPLICA).sum(axis=1) for lists in (solution.steps.before, solution.steps.after)]
    at_once = int(np.count_nonzero(lost.any(axis=1) & (n_adds > np.maximum(factors[1] - factors[0], 0) + 1)))
    if at_once:
        detail = (
            f"{at_once} partitions exchange several replicas in one step, since the lists between would contain a "
            f"cordoned broker, which Kafka {LISTS_CHECKED_SINCE} and later reject"
        )
        yield Caution("replicas_leave_at_once", detail)
    needed = {broker for step in executions.rollback if step.action is Action.UNCORDON for broker in step.brokers}
    needed &= cordons.before  # the others were cordoned for the plan, and its inverse ends that
    if needed:
        detail = (
            f"the lists before the plan contain cordoned brokers, which Kafka {LISTS_CHECKED_SINCE} and later reject; "
            "`execution.rollback` uncordons them before the inverse of a batch"
        )
        yield Caution("rollback_lifts_cordons", detail, tuple(sorted(needed)))


def _of_tolerances(problem: ReassignmentProblem, after: Int32s) -> Iterator[Caution]:
    """Brokers farther from the mean than a tolerance allows, where no placement or none that was found is nearer."""
    if problem.objective is not None:  # its goals state what they reached
        return
    for objective, unit in ((problem.replicas, "replicas"), (problem.leaders, "leaders")):
        tolerance, loads = objective.balance.tolerance, objective.loads(after)[problem.movement.target]
        if not tolerance or not len(loads):
            continue
        mean = Fraction(int(loads.sum()), len(loads))
        smallest, largest = int(loads.min()), int(loads.max())
        if smallest < mean * (1 - tolerance) or largest > mean * (1 + tolerance):
            yield Caution(
                "tolerance_not_reached",
                f"{unit} by {objective.by}: {smallest} to {largest} a broker, where a tolerance of {float(tolerance)} "
                f"allows {ceil(mean * (1 - tolerance))} to {floor(mean * (1 + tolerance))}",
            )


def _cautions(problem: ReassignmentProblem, solution: ReassignmentSolution) -> list[Caution]:
    """What to know about the plan itself."""
    after, brokers = solution.leaders.after, problem.brokers
    cautions = [*_of_cordons(problem, solution), *_of_tolerances(problem, after), *of_measures(problem, after)]
    if excess := solution.placement.topic_excess:
        detail = (
            f"topics are outside their bands by {counted(excess, 'replica')}: eligible brokers or the band of "
            "the cluster prevent less"
        )
        cautions.append(Caution("tolerance_not_reached", detail))
    if groups := solution.rebalances.meanwhile:
        named = ", ".join(groups[:NAMED_GROUPS]) + (" …" if len(groups) > NAMED_GROUPS else "")
        detail = (
            f"while batches copy, partitions have the racks of both lists, so that {counted(len(groups), 'group')} may "
            f"rebalance then, too: {named}"
        )
        cautions.append(Caution("groups_may_rebalance", detail))
    if still := _not_repaired(problem, solution):
        detail = (
            f"{counted(sum(still.values()), 'partition')} of {counted(len(still), 'topic')} that the request does not "
            'name span fewer racks than they could, and stay so; "repair_racks": true repairs them'
        )
        cautions.append(Caution("racks_not_repaired", detail, topics=tuple(still)[:NAMED_TOPICS]))
    stays_offline = (after != NO_REPLICA) & np.append(brokers.is_offline & ~brokers.is_removed, False)[after]
    if stays_offline.any():
        ids = np.unique(brokers.ids[after[stays_offline]])
        detail = (
            f"{int(stays_offline.any(axis=1).sum())} partitions keep replicas on brokers that are fenced or down; "
            "fix_offline_replicas moves them"
        )
        cautions.append(Caution("offline_replicas_stay", detail, tuple(ids.tolist())))
    if not_preferred := _not_preferred(problem):
        detail = (
            f"{not_preferred} partitions are led by another broker than the first of their list; "
            "kafka-leader-election makes those of the preferred ones lead that are in sync"
        )
        cautions.append(Caution("not_preferred", detail))
    removed = brokers.ids[brokers.is_removed]
    in_use = [topic.name for topic in problem.scope.others if len(removed) and np.isin(topic.replicas, removed).any()]
    if in_use:
        detail = f"{len(in_use)} topics that nothing is to be moved of stay on removed brokers, which cannot go yet"
        cautions.append(Caution("removed_brokers_in_use", detail, topics=tuple(in_use[:20])))
    return cautions


def _not_repaired(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, int]:
    """By topic that the request does not name, its partitions that still span too few racks."""
    if problem.repaired is None:
        return {}
    return {
        violation.topic: violation.count
        for violation in violations(solution.tally)
        if violation.code == "too_few_racks" and violation.topic not in problem.repaired
    }


def movement_json(problem: ReassignmentProblem, after: Int32s, moves: Moves) -> list[Json]:
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
        "bytes_in": per_broker(copied, brokers, sizes),
        "bytes_out": per_broker(removed, brokers, sizes),
        "bytes_after": per_broker(after, brokers, sizes),
        "leaders_before": per_broker(problem.before[:, :1], brokers),
        "leaders_after": per_broker(after[:, :1], brokers),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {"broker": broker.id, "rack": broker.rack, **dict(zip(columns, row, strict=True))}
        for broker, row in zip(problem.brokers.known, rows, strict=True)
    ]


def steps_json(problem: ReassignmentProblem, steps: Batches) -> dict[str, Json]:
    """Every step of every batch as the answer stores it: int32 arrays, zlib, base64; exports.py reads them."""
    scope, ids = problem.scope, np.append(problem.brokers.ids, np.int32(NO_REPLICA))
    return {
        "topics": scope.topics,
        "width": int(steps.before.shape[1]),
        "moving": steps.moving,
        "offsets": steps.offsets.tolist(),
        "topic_of": _packed(scope.topic_of[steps.rows]),
        "partition_ids": _packed(scope.partition_ids[steps.rows]),
        "before": _packed(ids[steps.before]),
        "after": _packed(ids[steps.after]),
    }


def _packed_log_dirs(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """The log directories of all steps, if the request chooses them."""
    found = step_log_dirs(problem, solution)
    if not found:
        return {}
    log_dirs = {"paths": found["paths"], **{name: _packed(found[name]) for name in ("before", "after")}}
    return {"log_dirs": log_dirs}


def _packed(numbers: Int32s | Int64s) -> str:
    # The fastest level: even a million steps shrink to a few percent.
    return b64encode(compress(np.ascontiguousarray(numbers, "<i4").tobytes(), 1)).decode()
