"""The answer of a reassignment: certificate, balance, movement by broker, batches, loads and warnings."""

from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.violations import violations
from app.core.model import Int32s
from app.core.reassignment.plan import Moves
from app.errors import Json
from app.services.defaults import min_isr_of
from app.services.plans import STEPS, as_json
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.reports.balance import balance_json, trade_off_point
from app.services.reassignment.reports.batches import batch_json, execution_json, packed_log_dirs, steps_json
from app.services.reassignment.reports.certificates import (
    certificate_json,
    leader_changes,
    movement_json,
    not_preferred,
)
from app.services.reassignment.reports.loads import cross_rack_json, load_report
from app.services.reassignment.reports.log_dirs import log_dirs_json
from app.services.reassignment.reports.plan_cautions import cautions_of
from app.services.reassignment.reports.resources import excess_json
from app.services.reassignment.reports.times import batch_times
from app.services.reassignment.solve import ReassignmentSolution


def answer(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """All fields of a plan besides its replica lists."""
    after, steps = solution.leaders.after, solution.steps
    moves = Moves.of(problem, after)
    min_isr = min_isr_of(problem.scope.described)
    times = batch_times(problem, steps)
    return {
        # Nothing is random: the assignment is there to be handed to Kafka.
        "prediction": "pinned",
        "seed": None,
        "certificate": certificate_json(problem, solution, moves) | {"seconds": round(solution.seconds, 3)},
        "leader_changes": leader_changes(problem, solution),
        "not_preferred": not_preferred(problem),
        "balance": balance_json(problem, solution, moves),
        "batches": [batch_json(problem, steps, number) | times.of_batch(number) for number in range(len(steps))],
        "recommended_throttle_bytes_per_s": times.recommended,
        "fewest_batches": steps.lower_bound,
        "execution": None if solution.executions is None else execution_json(solution.executions),
        "rebalancing_groups": solution.rebalances.as_json(),
        "kafka_generate": solution.generated.as_json(),
        "movement": movement_json(problem, after, moves),
        **_loads(problem, after),
        "excess": _excess(problem, solution),
        **log_dirs_json(problem, solution),
        "trade_off": None
        if solution.trade_off is None
        else [trade_off_point(problem, placements) for placements in solution.trade_off],
        "relaxed": as_json(solution.relaxed),
        "measures": as_json(measure(solution.tally, min_isr)),
        "measures_before": _small(measure(solution.tally_before, min_isr)),
        "violations": as_json(violations(solution.tally, problem.in_rack)),
        "warnings": [
            caution.as_json() for caution in (*problem.cautions, *cautions_of(problem, solution), *times.cautions())
        ],
        STEPS: steps_json(problem, steps) | packed_log_dirs(problem, solution),
    }


def _loads(problem: ReassignmentProblem, after: Int32s) -> dict[str, Json]:
    loaded = problem.brokers, problem.resources, problem.limits
    report = load_report(*loaded, before=problem.before, after=after, reads=problem.reads)
    return {"loads": report.as_json(), "cross_rack": cross_rack_json(report, problem.prices)}


def _excess(problem: ReassignmentProblem, solution: ReassignmentSolution) -> Json:
    return None if solution.resources is None else excess_json(problem, solution.resources.placement)


def _small(measures: PlacementMeasures) -> dict[str, Json]:
    """The measures before the change, without their lists by broker."""
    return {
        "losses": as_json(measures.losses),
        "copysets": as_json(measures.copysets),
        "rack_safe_share": measures.rack_safe_share,
        **{
            name: {"min": counts.min, "max": counts.max, "spread": counts.spread}
            for name, counts in (("replicas", measures.replicas), ("leaders", measures.leaders))
        },
    }
