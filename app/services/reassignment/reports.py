"""What a reassignment's answer says: the certificate, the balance, what moves, and what is left to know."""

from dataclasses import dataclass, replace

import numpy as np

from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.tally import Tally, tally
from app.core.measures.violations import violations
from app.core.model import NO_REPLICA, Assignment, Int32s, Int64s
from app.core.reassignment import Band, Batches, ReplicaPlacement
from app.errors import Json
from app.services.cautions import Caution
from app.services.plans import as_json
from app.services.reassignment.brokers import Bools
from app.services.reassignment.kept import STEPS
from app.services.reassignment.leading import Leading
from app.services.reassignment.movement import Moves, movement_json
from app.services.reassignment.packing import packed
from app.services.reassignment.placing import Placing
from app.services.reassignment.requests import ReassignmentRequest
from app.services.reassignment.sources import Source

NAMED_PARTITIONS = 100
"""How many partitions of a batch are named; it counts them all, and its file has them all."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Everything that was found for a request."""

    source: Source
    placing: Placing
    leading: Leading
    steps: Batches
    seconds: float


def answer(request: ReassignmentRequest, found: Found, after: Int32s) -> dict[str, Json]:
    """Everything that a plan says beside its placements, which are (rows, widest) int32 broker ids `after`.

    Raises RuntimeError where the verifier finds the plan illegal: nobody is to get such a plan.
    """
    source = found.source
    counts, counts_before = _tally(source, after), _tally(source, source.scope.before, is_before=True)
    broken = violations(counts)
    if illegal := [one.detail for one in broken if one.severity == "illegal"]:
        raise RuntimeError("; ".join(illegal[:5]))
    moves = Moves.of(source, found.leading.after)
    cautions = (*source.brokers.cautions, *source.scope.cautions, *source.sizes.cautions, *_cautions(request, found))
    return {
        # Nobody draws anything: the assignment is there to be handed to Kafka.
        "prediction": "pinned",
        "seed": None,
        "certificate": _certificate(request, found, moves),
        "leader_changes": _leader_changes(request, found),
        "not_preferred": found.leading.not_preferred,
        "balance": _balance(request, found),
        "batches": [_batch(source, found.steps, number) for number in range(len(found.steps))],
        "fewest_batches": found.steps.lower_bound,
        "movement": movement_json(source, found.leading.after, moves),
        "trade_off": None
        if found.placing.trade_off is None
        else [_point(source, each) for each in found.placing.trade_off],
        "relaxed": source.relaxed.as_json(),
        "measures": as_json(measure(counts)),
        "measures_before": _small(measure(counts_before)),
        "violations": as_json(broken),
        "warnings": [caution.as_json() for caution in cautions],
        STEPS: packed(source, found.steps),
    }


def _tally(source: Source, rows: Int32s, *, is_before: bool = False) -> Tally:
    """The scope's partitions counted over the brokers that are there afterwards, or before."""
    brokers = source.brokers
    down = set(brokers.ids[brokers.is_offline].tolist())
    added = {broker.id for broker in brokers.added}
    listed = [broker for broker in brokers.known if broker.id not in added] if is_before else brokers.stay
    scope = source.scope
    assignments = {
        name: Assignment(scope.partition_ids[start:stop], rows[start:stop])
        for name, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True)
        if start < stop
    }
    # A broker that is down serves nobody, as a fenced one does.
    return tally(assignments, [replace(broker, fenced=broker.id in down) for broker in listed])


def _certificate(request: ReassignmentRequest, found: Found, moves: Moves) -> dict[str, Json]:
    source, placed, chosen = found.source, found.placing.placed, found.leading.chosen
    per_row = moves.comes.sum(axis=1)
    moved_bytes = int((per_row * source.sizes.size_bytes).sum())
    unknown = int(per_row[~source.sizes.is_known].sum())
    bound = placed.certificate.lower_bound if source.counts_bytes else min(_unavoidable_bytes(source), moved_bytes)
    told: dict[str, Json] = {
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": moved_bytes,
        "lower_bound_bytes": min(bound, moved_bytes),
        "lower_bound_replicas": None if source.counts_bytes else placed.certificate.lower_bound,
        "unknown_size_replicas": unknown,
        "minimised": "bytes" if source.counts_bytes else "replicas",
        "optimal": placed.certificate.optimal,
        "gap": placed.certificate.gap,
        "constraints": [*_constraints(request, source), *placed.certificate.constraints],
        "solver": placed.certificate.solver,
        "seconds": round(found.seconds, 3),
    }
    if request.leaders_only:
        leaders: dict[str, Json] = {
            "optimal": chosen.certificate.optimal,
            "gap": chosen.certificate.gap,
            "solver": chosen.certificate.solver,
        }
        return told | leaders | {"constraints": [*placed.certificate.constraints, *chosen.certificate.constraints]}
    return told


def _unavoidable_bytes(source: Source) -> int:
    """Bytes that whoever minds other things than bytes has to move, too: of replicas that cannot stay."""
    problem = source.problem
    may_keep = np.array([[*domain.may_keep, False] for domain in problem.domains], np.bool_)
    if not len(may_keep):
        return 0
    stays = may_keep[problem.domain_of[:, None], problem.current] & (problem.current != NO_REPLICA) & ~problem.is_copied
    lacking = np.maximum(problem.factors - stays.sum(axis=1), 0)
    lacking[source.scope.is_new] = 0
    return int((lacking * source.sizes.size_bytes).sum())


def _constraints(request: ReassignmentRequest, source: Source) -> list[str]:
    """What of the request the bound was measured against, in words."""
    brokers, told = source.brokers, []
    if brokers.is_removed.any():
        told.append(f"nothing stays on brokers {brokers.named(brokers.is_removed)}")
    if brokers.racks and not request.leaders_only:
        told.append(f"racks are {request.rack_mode.value}: {', '.join(brokers.racks[:20])}")
    if request.max_replicas_per_rack is not None:
        told.append(f"{request.max_replicas_per_rack} replicas of a partition a rack at most")
    if source.pins:
        told.append(f"{len(source.pins)} partitions are pinned")
    return told


def _leader_changes(request: ReassignmentRequest, found: Found) -> int:
    """Preferred leaders that change; where those that are preferred are to lead, leaders that do."""
    if request.balance.leaders != "preferred":
        return found.leading.changes
    leaders = found.source.scope.leaders
    now = np.append(found.source.brokers.ids, np.int32(NO_REPLICA))[found.leading.after[:, 0]]
    return int(np.count_nonzero((leaders != NO_REPLICA) & (leaders != now)))


def _balance(request: ReassignmentRequest, found: Found) -> dict[str, Json]:
    problem, placing, leading, chosen = found.source.problem, found.placing, found.leading, found.leading.chosen
    loads, loads_before = placing.loads(leading.after), placing.loads(found.source.before)
    led, led_before = leading.loads(leading.after), leading.loads(found.source.before)
    target = problem.target
    replicas: dict[str, Json] = {
        "by": placing.by,
        **_band(placing.placed.band, loads, target),
        "before": _ends(loads_before, target),
        "largest_bound": placing.largest_bound,
    }
    leaders: dict[str, Json] = {
        "by": request.balance.leaders_by,
        **_band(chosen.band, led, target),
        "before": _ends(led_before, target),
        "largest_bound": chosen.largest.lower_bound,
        "changes": chosen.certificate.value,
        "bound": chosen.certificate.lower_bound,
        "optimal": chosen.certificate.optimal,
        "gap": chosen.certificate.gap,
        "solver": chosen.certificate.solver,
    }
    return {"replicas": replicas, "leaders": leaders}


def _band(band: Band | None, loads: Int64s, target: Bools) -> dict[str, Json]:
    """The band that was to be kept, None where none was, and the ends that the target brokers have."""
    return {
        "low": None if band is None else band.low,
        "high": None if band is None else band.high,
        **_ends(loads, target),
    }


def _ends(loads: Int64s, target: Bools) -> dict[str, Json]:
    found = loads[target]
    return {"smallest": int(found.min()) if len(found) else 0, "largest": int(found.max()) if len(found) else 0}


def _batch(source: Source, steps: Batches, number: int) -> dict[str, Json]:
    where = steps.steps(number)
    scope, rows = source.scope, steps.rows[where]
    named = rows[:NAMED_PARTITIONS]
    partitions: list[Json] = [
        {"topic": scope.topics[topic], "partition": partition}
        for topic, partition in zip(
            (np.searchsorted(scope.starts, named, side="right") - 1).tolist(),
            scope.partition_ids[named].tolist(),
            strict=True,
        )
    ]
    return {
        "partitions": partitions,
        "count": len(rows),
        "moves_data": number < steps.moving,
        "moved_replicas": int(steps.moved_replicas[number]),
        "moved_bytes": int(steps.moved_bytes[number]),
        "unknown_size_replicas": int(steps.unknown_sizes[number]),
        "max_bytes_in": int(steps.max_bytes_in[number]),
        "seconds": None if steps.seconds is None else float(steps.seconds[number]),
    }


def _point(source: Source, placed: ReplicaPlacement) -> dict[str, Json]:
    """One point of movement against balance."""
    per_row = Moves.of(source, placed.replicas).comes.sum(axis=1)
    return {
        "low": None if placed.band is None else placed.band.low,
        "high": None if placed.band is None else placed.band.high,
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": int((per_row * source.sizes.size_bytes).sum()),
        "optimal": placed.certificate.optimal,
    }


def _small(found: PlacementMeasures) -> dict[str, Json]:
    """The measures of before in so many numbers."""
    return {
        "rack_safe_share": found.rack_safe_share,
        **{
            name: {"min": each.min, "max": each.max, "spread": each.spread}
            for name, each in (("replicas", found.replicas), ("leaders", found.leaders))
        },
    }


def _cautions(request: ReassignmentRequest, found: Found) -> list[Caution]:
    """What the caller should know of the plan itself."""
    source, said = found.source, []
    offline = source.brokers.is_offline & ~source.brokers.is_removed
    after = found.leading.after
    on_them = (after != NO_REPLICA) & np.append(offline, False)[after]
    if on_them.any():
        ids = np.unique(source.brokers.ids[after[on_them]])
        detail = (
            f"{int(on_them.any(axis=1).sum())} partitions keep replicas on brokers that are fenced or down; "
            "fix_offline_replicas moves them"
        )
        said.append(Caution("offline_replicas_stay", detail, tuple(ids.tolist())))
    if found.leading.not_preferred:
        detail = (
            f"{found.leading.not_preferred} partitions are led by another broker than the first of their list; "
            "kafka-leader-election makes those of the preferred ones lead that are in sync"
        )
        said.append(Caution("not_preferred", detail))
    crowded = [topic.name for topic in source.scope.others if _is_on(topic.replicas, request)]
    if crowded:
        detail = f"{len(crowded)} topics that nothing is to be moved of stay on removed brokers, which cannot go yet"
        said.append(Caution("removed_brokers_in_use", detail, topics=tuple(crowded[:20])))
    return said


def _is_on(replicas: Int32s, request: ReassignmentRequest) -> bool:
    leaving = [*request.remove_brokers, *request.replace_brokers]
    return bool(leaving) and bool(np.isin(replicas, np.array(leaving, np.int64)).any())
