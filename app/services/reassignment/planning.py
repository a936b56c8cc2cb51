"""Plan a reassignment: replica lists with the least movement, their leaders, and the batches to reach them."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.model import Cluster, Placement
from app.core.reassignment.plan import verify
from app.errors.every import ConflictingFields
from app.services.fields import with_defaults
from app.services.limits import Limits
from app.services.plans import Allowance, Planner, Site
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.problem.resolve import resolve
from app.services.reassignment.reports import report
from app.services.reassignment.reports.report import ReassignmentAnswer, answer
from app.services.reassignment.requests.request import KIND, READER, ReassignmentRequest
from app.services.reassignment.requests.validation import check
from app.services.reassignment.solve import ReassignmentSolution, solve
from app.store.records import NewPlan


class _ReassignmentPlanner(Planner[ReassignmentRequest, ReassignmentProblem, ReassignmentSolution]):
    kind, reader = KIND, READER
    # Leaders by count, and each topic's replicas and leaders, are balanced by the weights of brokers.
    # Balance by one load has one engine, with weights and without.
    # Brokers that are down leave in one step where Kafka completes no list with them; `completes` is by its rule, and
    # reassignments that never complete are in batches of their own at the end.
    # Searches over resources with a constant cost of each move; models of small problems without a limit in seconds.
    # Models of small problems with large sums are not presolved. Models of regions have whole partitions.
    # Brokers of small problems have configurations; limits go before the leaders that a lowered factor keeps.
    # Brokers that may not receive are balanced from the lower end of the tolerance.
    # They share loads of leaders that they reach with the replicas they have.
    # Sets of a scatter width repeat fewer pairs of brokers.
    # Small brokers move the fewest bytes between log directories to the byte.
    # Sizes in another unit are the same problem. Placements within limits of small problems are found by the model.
    # One load is a goal for one resource; the search makes many changes at once. Leaders by ingress have dual prices.
    # Replicas are copied from the leader, preferred or not.
    engine_version = 33

    def check_site(self, request: ReassignmentRequest) -> None:
        if request.snapshot_id is None:
            raise ConflictingFields("a reassignment starts from a snapshot, and names none", path=("snapshot_id",))

    def check(self, request: ReassignmentRequest, limits: Limits) -> None:
        check(request, limits)

    def resolve(self, request: ReassignmentRequest, site: Site, allowance: Allowance) -> ReassignmentProblem:
        cluster, assumed = with_defaults(site.cluster or Cluster("", ()), request.defaults, request.topics)
        problem = resolve(request, cluster, allowance, site.version)
        if not assumed:
            return problem
        return replace(problem, scope=replace(problem.scope, cautions=(*problem.scope.cautions, *assumed)))

    def solve(self, problem: ReassignmentProblem) -> ReassignmentSolution:
        """Place replicas, choose leaders, cut batches.

        Raises
        ------
        BudgetBelowMinimum, NotFeasible : unless conflicts are relaxed.
        MoveExceedsBatchLimit, BatchesOutOfDisk : with the partition that cannot move.
        """
        return solve(problem)

    def violations(self, problem: ReassignmentProblem, solution: ReassignmentSolution) -> Sequence[str]:
        illegal = (each.detail for each in solution.violations if each.severity == "illegal")
        return [*verify(problem, solution), *illegal]

    def title(self, plan: NewPlan) -> str:
        return report.title(plan)

    def summary(self, plan: NewPlan) -> str:
        return report.summary(plan)

    def answer(self, problem: ReassignmentProblem, solution: ReassignmentSolution) -> ReassignmentAnswer:
        return answer(problem, solution)

    def placements(self, problem: ReassignmentProblem, solution: ReassignmentSolution) -> Sequence[Placement]:
        return problem.scope.placements(problem.as_ids(solution.leaders.after))


PLANNER = _ReassignmentPlanner()
