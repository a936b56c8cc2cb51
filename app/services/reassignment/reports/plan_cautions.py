"""What to know about a reassignment before it is executed: cordons, tolerances, racks, and replicas that stay."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

import numpy as np

from app.core import model
from app.core.measures.losses import lowered_factors
from app.core.reassignment.batches.execution import Action
from app.core.reassignment.completion import keeps_only_behind
from app.core.reassignment.model import Balance
from app.core.replica_lists import factors_of, not_among, per_broker
from app.formats.syntax.quantities import share
from app.services.cautions import Caution, caution
from app.services.reassignment.problem.brokers import NAMED_BROKERS, Bools
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.solve import ReassignmentSolution


def not_preferred(problem: ReassignmentProblem) -> int:
    """Partitions whose actual leader is not the first broker of their list."""
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != model.NO_LEADER) & (leaders != problem.scope.before[:, 0])))


_LITTLE, _MUCH = 0.5, 2.0
"""Shares of the mean from which an added broker has little, or much, of an unbalanced quantity."""


def of_measures(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    """Added brokers that get their share of replicas and few bytes, or their share of bytes and many replicas."""
    by, is_joint = problem.replicas.by, problem.objective is not None
    if problem.replicas.balance.tolerance is None or is_joint or problem.sizes.unknown:
        return
    added = problem.brokers.mask([broker.id for broker in problem.brokers.added]) & problem.movement.target
    stored, counts = _bytes(problem, after), problem.movement.base + per_broker(after, len(added))
    if by == "count":
        mean = _mean(stored, problem.movement.target)
        few = added & (stored < _LITTLE * mean)
        if few.any():
            named, least = problem.brokers.named(few), share(stored[few].min() / mean)
            ids = tuple(problem.brokers.ids[few].tolist())
            yield caution("bytes_not_balanced", named=named, least=least, brokers=ids)
    elif by == "bytes":
        mean = _mean(counts, problem.movement.target)
        many = added & (counts > _MUCH * mean)
        if many.any():
            named, most = problem.brokers.named(many), f"{counts[many].max() / mean:.1f}"
            ids = tuple(problem.brokers.ids[many].tolist())
            yield caution("counts_not_balanced", named=named, most=most, brokers=ids)


def _bytes(problem: ReassignmentProblem, after: model.Int32s) -> model.Int64s:
    resources, brokers = problem.resources, len(problem.brokers.ids)
    elsewhere = per_broker(resources.other_replicas, brokers, resources.others.size_bytes)
    return elsewhere + per_broker(after, brokers, problem.sizes.size_bytes)


def _mean(loads: model.Int64s, target: Bools) -> float:
    """The mean of target brokers; 1 if there is nothing, of which no broker has little."""
    return float(np.mean(loads[target])) if loads[target].any() else 1.0


NAMED_PARTITIONS = 20
"""How many partitions a warning names; it counts them all."""
NAMED_TOPICS = 20
"""How many topics a warning names."""


def _of_cordons(problem: ReassignmentProblem, solution: ReassignmentSolution) -> Iterator[Caution]:
    """Effects of cordons on the execution of the plan."""
    executions, cordons = solution.executions, problem.batches.cordons
    is_barred = problem.batches.is_barred
    if executions is None or is_barred is None or not cordons.rejects_lists:
        return
    lifted = [step for step in executions.batches if step.action is Action.UNCORDON]
    if lifted:
        named = tuple(sorted({broker for step in lifted for broker in step.brokers}))
        first = ", ".join(map(str, named[:NAMED_BROKERS]))
        yield caution("cordons_lifted", first=first, since=model.LISTS_CHECKED_SINCE, brokers=named)
    lost = np.append(is_barred, False)[solution.steps.before]
    lost &= not_among(solution.steps.before, solution.steps.after)
    n_adds = not_among(solution.steps.after, solution.steps.before).sum(axis=1)
    factors = [(lists != model.NO_REPLICA).sum(axis=1) for lists in (solution.steps.before, solution.steps.after)]
    at_once = int(np.count_nonzero(lost.any(axis=1) & (n_adds > np.maximum(factors[1] - factors[0], 0) + 1)))
    if at_once:
        yield caution("replicas_leave_at_once", partitions=at_once, since=model.LISTS_CHECKED_SINCE)
    needed = {broker for step in executions.rollback if step.action is Action.UNCORDON for broker in step.brokers}
    needed &= cordons.before  # the others were cordoned for the plan, and its inverse ends that
    if needed:
        yield caution("rollback_lifts_cordons", since=model.LISTS_CHECKED_SINCE, brokers=tuple(sorted(needed)))


def _of_tolerances(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    """Brokers farther from the mean than a tolerance allows, where no placement or none that was found is nearer."""
    if problem.objective is not None:  # its goals state their results
        return
    for part in problem.parts:
        of_set = "" if part.share.name is None else f" of broker set {part.share.name}"
        for objective, unit in ((problem.replicas, "replicas"), (problem.leaders, "leaders")):
            balance, loads = objective.balance, objective.loads(after)[part.movement.target]
            tolerance, below = balance.tolerance, balance.tolerance_below
            if not tolerance or not len(loads):
                continue
            weights = part.movement.share if objective is problem.replicas else problem.weights_of_leaders
            if weights is not None:
                yield from _of_weights(weights[part.movement.target], balance, loads, of_set, unit)
                continue
            mean = Fraction(int(loads.sum()), len(loads))
            smallest, largest = int(loads.min()), int(loads.max())
            if smallest < mean * (1 - below) or largest > mean * (1 + tolerance):
                low, high = ceil(mean * (1 - below)), floor(mean * (1 + tolerance))
                loads_of = f"{unit} by {objective.by}: {smallest} to {largest} a broker{of_set}"
                allowed = f"{float(tolerance)} allows {low} to {high}"
                yield caution("tolerance_not_reached", loads=loads_of, allowed=allowed)


def _of_weights(
    weights: model.Int64s, balance: Balance, loads: model.Int64s, of_set: str, counted_as: str
) -> Iterator[Caution]:
    """Brokers farther from their share by weight than a tolerance allows; (targets,) int64 weights and loads."""
    unit = Fraction(int(loads.sum()), int(weights.sum()))
    pairs = zip(loads.tolist(), weights.tolist(), strict=True)
    tolerance, below = balance.tolerance or Fraction(0), balance.tolerance_below
    farther = sum(
        not -below * unit * weight <= load - unit * weight <= tolerance * unit * weight for load, weight in pairs
    )
    if farther:
        name, allowed = "tolerance_not_reached.weights", float(tolerance)
        yield caution(name, farther=farther, of_set=of_set, counted_as=counted_as, tolerance=allowed)


def cautions_of(problem: ReassignmentProblem, solution: ReassignmentSolution) -> list[Caution]:
    """What to know about the plan itself."""
    after = solution.leaders.after
    return [
        *_of_cordons(problem, solution),
        *_of_tolerances(problem, after),
        *of_measures(problem, after),
        *_of_balance(problem, solution),
        *_of_groups_and_racks(problem, solution),
        *_of_offline_replicas(problem, after),
        *_of_replicas_behind(problem, after),
        *_of_lowered_factors(problem, after),
        *_of_tiered_topics(problem, after),
        *_of_what_stays(problem, after),
    ]


def _of_balance(problem: ReassignmentProblem, solution: ReassignmentSolution) -> Iterator[Caution]:
    """Loads not balanced as requested, and log directories that have no place."""
    leaders = problem.leaders
    if problem.weights is not None and leaders.by == "ingress" and leaders.balance.tolerance is not None:
        yield caution("weights_without_ingress")
    if excess := solution.placement.topic_excess:
        yield caution("tolerance_not_reached.topics", excess=excess)
    if excess := solution.leaders.topic_excess:
        yield caution("tolerance_not_reached.leaders", excess=excess)
    if solution.log_dirs is not None and (avoided := solution.log_dirs.avoided):
        passed = tuple(problem.brokers.ids[list(avoided)].tolist())
        yield caution("log_dirs_avoided", named=", ".join(map(str, passed[:NAMED_BROKERS])), brokers=passed)


def _of_groups_and_racks(problem: ReassignmentProblem, solution: ReassignmentSolution) -> Iterator[Caution]:
    """Groups that rebalance while batches copy, and partitions whose racks are not repaired."""
    if groups := solution.rebalances.meanwhile:
        yield caution("groups_may_rebalance", groups=groups)
    if still := _not_repaired(problem, solution):
        partitions, topics = sum(still.values()), tuple(still)[:NAMED_TOPICS]
        yield caution("racks_not_repaired", partitions=partitions, of=still, topics=topics)


def _of_what_stays(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    """Leaders and replicas that stay where the request does not want them."""
    if stays := _not_evacuated(problem, after):
        named = ", ".join(problem.scope.name(row) for row in stays[:NAMED_PARTITIONS])
        yield caution("leaders_not_evacuated", stays=stays, named=named)
    if led_otherwise := not_preferred(problem):
        yield caution("not_preferred", partitions=led_otherwise)
    removed = problem.brokers.ids[problem.brokers.is_removed]
    in_use = [topic.name for topic in problem.scope.others if len(removed) and np.isin(topic.replicas, removed).any()]
    if in_use:
        yield caution("removed_brokers_in_use", in_use=in_use, topics=tuple(in_use[:20]))


def _of_offline_replicas(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    """Replicas that stay on brokers which are fenced or down."""
    brokers = problem.brokers
    stays_offline = (after != model.NO_REPLICA) & np.append(brokers.is_offline & ~brokers.is_removed, False)[after]
    if stays_offline.any():
        ids = tuple(np.unique(brokers.ids[after[stays_offline]]).tolist())
        yield caution("offline_replicas_stay", partitions=int(stays_offline.any(axis=1).sum()), brokers=ids)


def _of_replicas_behind(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    """Partitions that keep replicas that are out of sync alone, and copy none."""
    before, in_sync = problem.before, np.where(problem.scope.in_sync, problem.before, np.int32(model.NO_REPLICA))
    behind = np.flatnonzero(keeps_only_behind(before, after, in_sync, ~problem.brokers.is_offline)).tolist()
    if behind:
        named = ", ".join(map(problem.scope.name, behind[:NAMED_PARTITIONS]))
        yield caution("last_in_sync_replica_removed", behind=behind, named=named)


def _of_lowered_factors(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    scope = problem.scope
    for topic, start in zip(scope.described, scope.starts.tolist(), strict=False):
        rows = slice(start, start + len(topic.partition_ids))
        largest = int(factors_of(after[rows]).max(initial=0))
        lowered = lowered_factors(problem.before[rows], after[rows], largest_of_topic=largest)
        if len(lowered.rows):
            yield Caution("factor_lowered", lowered.detail(topic.name), topics=(topic.name,))
        least = topic.min_insync_replicas or 0
        if below := int(np.count_nonzero(factors_of(after[rows]) < least)):
            yield caution("below_min_isr", partitions=below, topic=topic.name, least=least, topics=(topic.name,))


def _of_tiered_topics(problem: ReassignmentProblem, after: model.Int32s) -> Iterator[Caution]:
    """The rules for the bytes of replicas that move, if a part of their topic is in remote storage."""
    named: dict[bool, list[str]] = {False: [], True: []}
    not_uploaded, sizes = {False: 0, True: 0}, problem.batches.size_bytes
    for topic, start in zip(problem.scope.described, problem.scope.starts.tolist(), strict=False):
        rows = slice(start, start + len(topic.partition_ids))
        copies = not_among(after[rows], problem.before[rows]).sum(axis=1)
        if topic.has_remote_storage and copies.any():
            segment, skips = topic.segment_bytes, topic.most_copied_bytes < model.INT64_MAX
            named[skips].append(topic.name)
            bound = np.where(sizes[rows] == model.UNKNOWN_SIZE, segment, np.minimum(sizes[rows], segment))
            not_uploaded[skips] += int((copies * bound).sum())
    for skips, name in ((True, "local_bytes_not_copied"), (False, "local_bytes_copied")):
        if tiered := named[skips]:
            size, topics = not_uploaded[skips], tuple(tiered[:NAMED_TOPICS])
            yield caution(name, tiered=tiered, setting=model.FETCHES_NOT_UPLOADED, bytes=size, topics=topics)


def _not_evacuated(problem: ReassignmentProblem, after: model.Int32s) -> list[int]:
    """The rows that are led by a broker of `evacuate_leaders`, since no other replica is in sync."""
    if not problem.leaders.evacuates or not after.shape[1]:
        return []
    evacuated = np.append(~problem.leaders.may_lead & ~problem.brokers.is_offline, False)
    may_lead = np.append(problem.leaders.may_lead | problem.brokers.is_offline, False)[after].any(axis=1)
    return np.flatnonzero(evacuated[after[:, 0]] & may_lead).tolist()


def _not_repaired(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, int]:
    """The number of partitions that still span too few racks, by topic whose racks are not repaired."""
    if problem.repaired is None:
        return {}
    return {
        violation.topic: violation.count
        for violation in solution.violations
        if violation.code == "too_few_racks" and violation.topic not in problem.repaired
    }
