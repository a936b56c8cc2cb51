"""Conflicts in words: the failure of a request that is rejected, and the constraint that another one gives up."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.core.model import NO_LOG_DIR, Int64s
from app.core.reassignment import problem as core
from app.core.reassignment.model import NO_LIMIT
from app.core.reassignment.resource_problem import RESOURCES, LimitConflict, ResourcePlacement
from app.errors import FieldPath, Json
from app.errors.failure import Unprocessable
from app.errors.quotation import quoted
from app.errors.reassignments import BudgetBelowMinimum, LogDirsTooSmall, NoLogDirLeft, NotFeasible
from app.formats.syntax.quantities import byte_size, counted, first_of
from app.services.reassignment.problem.brokers import NAMED_BROKERS
from app.services.reassignment.problem.problem import MINIMUMS, ReassignmentProblem, Relaxation
from app.services.reassignment.problem.resources import in_unit
from app.services.reassignment.problem.scope import PartitionScope

NAMED_REPLICAS = 20
"""How many replicas of a conflict a problem names."""
_BUDGET = "max_moved_bytes"


def failure_of(problem: ReassignmentProblem, conflict: core.Infeasible) -> Unprocessable:
    """The failure of a request whose problem has this conflict."""
    match conflict:
        case core.BudgetConflict(least=least):
            detail, budget = _budget_words(problem, conflict), problem.max_moved_bytes
            return BudgetBelowMinimum(detail, path=(_BUDGET,), value=budget, minimum_bytes=least)
        case core.SetsConflict() | core.EvacuationConflict():
            return _partitions_failure(problem, conflict)
        case core.MinimumsConflict():
            return _minimums_failure(problem, conflict)
        case core.LimitsConflict():
            return _limits_failure(problem, conflict)
        case core.ClosedLogDirs():
            return _closed(problem, conflict)
        case core.FullLogDirs():
            return _too_small(problem, conflict)
    raise RuntimeError(f"{type(conflict).__name__} has no words")


def relaxations_of(problem: ReassignmentProblem, conflict: core.Infeasible) -> Iterator[Relaxation]:
    """The constraints that are given up if a conflict is relaxed."""
    match conflict:
        case core.BudgetConflict():
            yield Relaxation(_BUDGET, _budget_words(problem, conflict, is_relaxed=True))
        case core.SetsConflict(rows=rows):
            yield Relaxation("copysets", _opened(problem, rows))
        case core.EvacuationConflict(rows=rows):
            detail = f"{_without_leader(problem, rows)}; one of their replicas leads all the same"
            yield Relaxation("evacuate_leaders", detail)
        case core.MinimumsConflict():
            yield Relaxation(MINIMUMS, _minimums_words(problem, conflict))
        case core.LimitsConflict(placement=placement, columns=columns):
            for column in columns:
                yield Relaxation(f"limits.{RESOURCES[column]}", _exceeded(problem, placement, column))
        case core.FullLogDirs():
            yield Relaxation("log_dirs", _too_small(problem, conflict).detail)


def _budget_words(problem: ReassignmentProblem, conflict: core.BudgetConflict, *, is_relaxed: bool = False) -> str:
    budget, least, bound = problem.max_moved_bytes, conflict.least, conflict.lower_bound
    if problem.objective is None:
        if is_relaxed:
            return f"{least} bytes are moved at least, whatever the balance; {budget} were to be the most"
        return f"the change moves {least} bytes at least, whatever the balance; {budget} may be moved"
    if budget is not None and bound > budget:
        return f"the change and its limits move {bound} bytes at least; {budget} may be moved"
    return (
        f"no plan within the limits that moves {budget} bytes or fewer was found, which does not prove that none "
        f"exists: the least found moves {least} bytes, and none moves less than {bound}"
    )


def _partitions_failure(
    problem: ReassignmentProblem, conflict: core.SetsConflict | core.EvacuationConflict
) -> NotFeasible:
    rows = conflict.rows
    if isinstance(conflict, core.EvacuationConflict):
        words, path = _without_leader(problem, rows), "evacuate_leaders"
        lifts = ["fewer brokers or racks in evacuate_leaders", "a larger replication factor of these topics"]
    else:
        words, path = _opened(problem, rows), "copysets"
        wider = (
            "a wider balance.replicas, or `keep`" if problem.sets_of_width is None else "more brokers that may receive"
        )
        relaxed = '"on_conflict": "relax" for the plan that opens them'
        lifts = ["copysets null, which opens replica sets", wider, relaxed]
    return NotFeasible(words, path=(path,), lifted_by=lifts, count=len(rows))


def _opened(problem: ReassignmentProblem, rows: Int64s) -> str:
    if problem.sets_of_width is not None:
        return (
            f"{len(rows)} partitions cannot be distributed equally over the sets of the scatter width: brokers that "
            "may not receive, racks or replicas that must stay do not allow it"
        )
    named = ", ".join(problem.scope.name(row) for row in rows[:20].tolist())
    return (
        f"no plan on the replica sets of the cluster was found, which does not prove that none exists; without the "
        f"restriction {len(rows)} partitions are on others: {named}"
    )


def _without_leader(problem: ReassignmentProblem, rows: Int64s) -> str:
    named = ", ".join(problem.scope.name(row) for row in rows[:20].tolist())
    return f"{len(rows)} partitions have no replica on a broker that may lead: {named}"


def _minimums_words(problem: ReassignmentProblem, conflict: core.MinimumsConflict) -> str:
    words = []
    for topic in np.flatnonzero(conflict.short.any(axis=1)).tolist():
        name, least, partitions = _minimum(problem, topic)
        words.append(
            f"topic {name} has {partitions} partitions, of which each of {np.count_nonzero(conflict.brokers)} brokers "
            f"is to lead {least}; with these replicas, brokers {problem.brokers.named(conflict.short[topic] > 0)} "
            "would lead fewer"
        )
    return "; ".join(words[:20])


def _minimum(problem: ReassignmentProblem, topic: int) -> tuple[str, int, int]:
    """The name of a topic with a minimum, the minimum, and the number of its partitions."""
    minimums = problem.leaders.minimums
    if minimums is None:
        raise RuntimeError("no topic has a minimum")
    rows = np.flatnonzero(minimums.topic_of == topic)
    return problem.scope.topics[problem.topic_of[rows[0]]], int(minimums.least[topic]), len(rows)


def _minimums_failure(problem: ReassignmentProblem, conflict: core.MinimumsConflict) -> NotFeasible:
    topic = int(np.flatnonzero(conflict.short.any(axis=1))[0])
    name, least, _ = _minimum(problem, topic)
    return NotFeasible(
        _minimums_words(problem, conflict),
        path=(MINIMUMS, name),
        value=least,
        limit=int(least - conflict.short[topic].max()),
        lifted_by=[
            f"a smaller minimum of {name}",
            f"more partitions or a larger replication factor of {name}",
            f"replicas of {name} on these brokers, as by pins or a balance of replicas",
        ],
    )


def _limits_failure(problem: ReassignmentProblem, conflict: core.LimitsConflict) -> NotFeasible:
    excess = conflict.placement.excess
    if excess is not None and excess.conflicts:
        return _infeasible(problem, excess.conflicts)
    names = [RESOURCES[column] for column in conflict.columns]
    return NotFeasible(
        "no placement within the limits was found, which does not prove that none exists: "
        f"{_exceeded(problem, conflict.placement, conflict.columns[0])}",
        path=("limits", names[0]),
        lifted_by=[
            f"larger limits of {', '.join(names)}",
            "more brokers",
            '"on_conflict": "relax" for the least excess found',
        ],
    )


def _infeasible(problem: ReassignmentProblem, conflicts: Sequence[LimitConflict]) -> NotFeasible:
    """The failure of the first conflict, with the changes that lift all of them."""
    first = conflicts[0]
    return NotFeasible(
        _conflict_words(problem, first),
        path=("limits", first.resource.split("+")[0]),
        lifted_by=[words for conflict in conflicts for words in _lifted_by(problem, conflict)],
        required=first.required,
        available=first.available,
    )


def _conflict_words(problem: ReassignmentProblem, conflict: LimitConflict) -> str:
    column = RESOURCES.index(conflict.resource.split("+")[0])
    ids = problem.brokers.ids[list(conflict.brokers)].tolist()
    named = first_of(ids, NAMED_BROKERS)
    if not conflict.is_of_sums:
        first, *others = conflict.resource.split("+")
        held = f"if those of {_listed(others)} hold, " if others else ""
        return (
            f"no placement is within the limits of {_listed([first, *others])} on brokers {named}: {held}the load of "
            f"{first} above its limits is at least {in_unit(conflict.required - conflict.available, column)}"
        )
    return (
        f"every placement puts at least {in_unit(conflict.required, column)} of {conflict.resource} on brokers "
        f"{named}, and their limits allow {in_unit(conflict.available, column)}"
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _lifted_by(problem: ReassignmentProblem, conflict: LimitConflict) -> list[str]:
    """The remedies of a conflict: further brokers of the usual limit, or a larger limit."""
    first, *others = conflict.resource.split("+")
    column = RESOURCES.index(first)
    limits = problem.limits.upper[list(conflict.brokers), column]
    usual = int(np.median(limits)) if len(limits) else 0
    missing = conflict.required - conflict.available
    if not conflict.is_of_sums:
        larger = f"limits of {first} that are larger by at least {in_unit(missing, column)} in all"
        return [larger, f"more brokers with limits of {_listed(sorted([first, *others], key=RESOURCES.index))}"]
    words = []
    if usual > 0:
        count = -(-missing // usual)
        profile = f"a limit of {in_unit(usual, column)} of {conflict.resource}"
        words.append(f"{count} more broker{'s' if count > 1 else ''}{_rack_words(problem, conflict)} with {profile}")
    words.append(f"limits of {conflict.resource} that are larger by {in_unit(missing, column)} in all")
    return words


def _rack_words(problem: ReassignmentProblem, conflict: LimitConflict) -> str:
    """The rack in which further brokers help, if the conflict is of some brokers of one rack."""
    brokers, of_conflict = problem.brokers, list(conflict.brokers)
    racks = np.unique(brokers.rack_of[of_conflict]).tolist()
    if len(racks) != 1 or len(brokers.racks) < 2 or racks[0] >= len(brokers.racks):
        return ""
    return f" in the rack {brokers.racks[racks[0]]}"


def _exceeded(problem: ReassignmentProblem, placement: ResourcePlacement, column: int) -> str:
    """The broker that is farthest above its limit of a resource, in words."""
    above = np.zeros_like(placement.loads[:, column]) if placement.excess is None else placement.excess.above[:, column]
    worst = int(above.argmax())
    load, limit = int(placement.loads[worst, column]), int(problem.limits.upper[worst, column])
    return (
        f"broker {problem.brokers.ids[worst]} has {in_unit(load, column)} of {RESOURCES[column]}, and its limit is "
        f"{in_unit(limit, column)}; {int(np.count_nonzero(above))} brokers are above theirs"
    )


def _closed(problem: ReassignmentProblem, conflict: core.ClosedLogDirs) -> NoLogDirLeft:
    name, (_, paths) = int(problem.brokers.ids[conflict.broker]), _log_dirs(problem, conflict.broker)
    detail = (
        f"{counted(conflict.arriving, 'replica')} arrive at broker {name}, and none of its {len(paths)} log "
        "directories may receive: they are drained, cordoned or offline"
    )
    return NoLogDirLeft(detail, path=("log_dirs",), value=paths, broker=name, limit=0)


def _log_dirs(problem: ReassignmentProblem, broker: int) -> tuple[FieldPath, list[str]]:
    """The field that states log directories, and a broker's paths by position."""
    if problem.log_dirs is None:
        raise RuntimeError("log directories are not chosen")
    return problem.log_dirs.path, [each.path for each in problem.log_dirs.directories[broker]]


def _too_small(of: ReassignmentProblem, full: core.FullLogDirs) -> LogDirsTooSmall:
    """The failure with the smallest conflict."""
    rows, problem, conflict, scope = full.rows, full.problem, full.packing, of.scope
    name, (field, paths) = int(of.brokers.ids[full.broker]), _log_dirs(of, full.broker)
    free, largest = int(conflict.free_bytes.sum()), int(conflict.free_bytes.max(initial=0))
    placed = [place for place in conflict.replicas.tolist() if problem.has_to_move[place]]
    needed = int(problem.size_bytes[placed or conflict.replicas].sum())
    named = [scope.name(int(rows[place])) for place in (placed or conflict.replicas.tolist())]
    what = (
        f"{named[0]} of {byte_size(needed)}"
        if len(named) == 1
        else f"{len(named)} replicas of {byte_size(needed)}, {named[0]} first"
    )
    detail = (
        f"the log directories of broker {name} have {byte_size(free)} free in all, {byte_size(largest)} at most in "
        f"one, and no place for {what}"
        + (", however the other replicas are packed" if conflict.is_proven else "; no packing was found in time")
    )
    lifts = [f"{byte_size(max(needed - largest, 1))} more in one log directory of broker {name}"]
    lifts += [f"no drain of {quoted(paths[index])}" for index in conflict.drains]
    drained = [path for index, path in enumerate(paths) if index in conflict.drains]
    return LogDirsTooSmall(
        detail,
        path=("log_dirs", "drain", str(name)) if drained else field,
        value=needed,
        limit=free,
        broker=name,
        conflict=_documents(scope, full, paths),
        replicas=len(conflict.replicas),
        lifted_by=[
            *lifts,
            "larger limits of log directories, or a larger max_disk_share",
            "a plan that moves replicas to other brokers, as the objective relieve with limits.log_dirs",
        ],
    )


def _documents(scope: PartitionScope, full: core.FullLogDirs, paths: list[str]) -> list[Json]:
    """The limits, the drains and the replicas of a conflict, the largest replica first."""
    rows, problem, conflict = full.rows, full.problem, full.packing
    limits: list[Json] = [
        {
            "constraint": "limit",
            "log_dir": path,
            "limit_bytes": int(problem.limit[index]) if problem.limit[index] < NO_LIMIT else None,
            "free_bytes": int(conflict.free_bytes[index]),
        }
        for index, path in enumerate(paths)
        if problem.may_receive[index]
    ]
    drains: list[Json] = [{"constraint": "drain", "log_dir": paths[index]} for index in conflict.drains]
    replicas: list[Json] = [
        {
            "constraint": "replica",
            "partition": scope.name(int(rows[place])),
            "size_bytes": int(problem.size_bytes[place]),
            "log_dir": None if problem.current[place] == NO_LOG_DIR else paths[problem.current[place]],
        }
        for place in conflict.replicas[:NAMED_REPLICAS].tolist()
    ]
    return [*limits, *drains, *replicas]
