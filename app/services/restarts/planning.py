"""Plan a restart: the order of brokers in the fewest waves that keep the cluster available."""

from collections.abc import Sequence
from typing import Any

from app.core.model import NO_REPLICA, Placement, padded
from app.core.restarts import RestartWaves, restart_waves, wave_violations
from app.formats.syntax.quantities import counted
from app.services.bodies import AnswerRecord
from app.services.limits import Limits
from app.services.plans import Allowance, PlannedPartition, Planner, Site
from app.services.restarts import reports
from app.services.restarts.problem import Restart, problem_of
from app.services.restarts.requests import READER, RestartRequest, check_restart
from app.store.records import NewPlan, PlanHead

KIND = "restart"
_WAVES = "waves"
"""The plan's only placement, whose rows are the waves."""


class _RestartPlanner(Planner[RestartRequest, Restart, RestartWaves]):
    kind, reader = KIND, READER

    def check(self, request: RestartRequest, _limits: Limits) -> None:
        check_restart(request)

    def resolve(self, request: RestartRequest, site: Site, allowance: Allowance) -> Restart:
        return problem_of(request, site, allowance)

    def listed_row(self, _head: PlanHead | NewPlan, row: PlannedPartition) -> AnswerRecord:
        return reports.PlannedWaveDocument(row.partition, [broker for broker in row.row if broker != NO_REPLICA])

    def solve(self, problem: Restart) -> RestartWaves:
        return restart_waves(problem.core)

    def violations(self, problem: Restart, solution: RestartWaves) -> Sequence[str]:
        return [*wave_violations(problem.core, solution.waves)]

    def title(self, plan: NewPlan) -> str:
        waves: Any = plan.answer["waves"]
        brokers = counted(sum(len(wave["brokers"]) for wave in waves), "broker")
        return f"Restart {brokers}{f' of {plan.cluster}' if plan.cluster else ''} in {counted(len(waves), 'wave')}"

    def summary(self, plan: NewPlan) -> str:
        answer: Any = plan.answer
        certificate = answer["certificate"]
        proof = "proven fewest" if certificate["optimal"] else f"at least {certificate['lower_bound_waves']}"
        minutes = counted(round(answer["seconds"] / 60), "minute")
        return f"{proof}; {minutes}; {counted(answer['blocked_partitions'], 'blocked partition')}"

    def answer(self, problem: Restart, solution: RestartWaves) -> reports.RestartAnswer:
        blocked, partitions = reports.blocked_by(problem, solution)
        return reports.RestartAnswer(
            prediction="pinned",
            seed=None,
            waves=reports.waves_of(problem, reports.ordered(problem, solution)),
            seconds=round(sum(reports.seconds_of(problem, wave) for wave in solution.waves), 1),
            certificate=reports.certificate_of(problem, solution),
            blocked=blocked,
            blocked_partitions=partitions,
            warnings=problem.cautions,
        )

    def placements(self, problem: Restart, solution: RestartWaves) -> Sequence[Placement]:
        ids = problem.table.brokers.ids
        return [Placement(_WAVES, 1, padded([ids[list(wave)].tolist() for wave in reports.ordered(problem, solution)]))]


PLANNER = _RestartPlanner()
