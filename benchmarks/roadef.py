"""Machine reassignment of the ROADEF/EURO challenge 2012, as far as it is a reassignment of replicas.

`python -m benchmarks roadef model_a1_1.txt assignment_a1_1.txt …`, in pairs. A process is a partition of one replica,
a machine a broker, a location a rack, a safety capacity a soft limit; the cost of moving a process takes the place of
bytes. Of the resources the four of the largest weights count, since brokers have four. The planner minimises what is
above the limits, then the movement. Transient resources are disks: the moves are cut into batches that never exceed the
capacity of the first one. Conflicts within services, their spread and dependencies, balance costs and the move costs of
machines and services have no counterpart; facts count what the answer violates.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.model import BatchLimits, BrokerDisks, ReassignedPartitions
from app.core.reassignment.goals.budget import relieve
from app.core.reassignment.model import Domain, MovementProblem
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    Limits,
    ResourceLoads,
    ResourcePlacement,
    ResourceProblem,
)
from app.core.reassignment.verifier import resource_violations
from app.errors import Json
from app.errors.requests import BatchesOutOfDisk
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.roadef_instances import Instance, read_instance

COLUMNS = 4
"""Resources of a broker that are limited: disk, NIC in, NIC out, CPU."""
TARGET_MS = 300_000
"""The challenge gives a program five minutes."""
UNLIMITED = BatchLimits(max_moves_in_per_broker=None)


def run(files: Sequence[Path]) -> Iterator[Result]:
    """Relieve the machines of each instance. Raises `MalformedInstance`; `ValueError` for a file without its pair."""
    if not files or len(files) % 2:
        raise ValueError(f"name pairs of files, model_*.txt and assignment_*.txt; {len(files)} given")
    for model, assignment in zip(files[::2], files[1::2], strict=True):
        yield _measured(read_instance(model, assignment))


def problem_of(instance: Instance) -> ResourceProblem:
    """The instance over brokers; soft limits are the safety capacities."""
    machines, processes = len(instance.capacity), len(instance.assigned)
    chosen = np.argsort(-instance.load_weight, kind="stable")[:COLUMNS]
    used = np.zeros((processes, len(RESOURCES)), np.int64)
    used[:, : len(chosen)] = instance.requirement[:, chosen]
    used[:, RESOURCES.index("replicas")] = 1
    leading = used.copy()
    leading[:, RESOURCES.index("leaders")] = 1
    capacity = np.zeros((machines, len(RESOURCES)), np.int64)
    capacity[:, : len(chosen)] = instance.capacity[:, chosen]
    upper = np.full(capacity.shape, NO_LIMIT, np.int64)
    upper[:, : len(chosen)] = instance.safety[:, chosen]
    _, rack_of = np.unique(instance.location, return_inverse=True)
    racks, everywhere = int(rack_of.max()) + 1, np.ones(machines, np.bool_)
    current = instance.assigned.astype(np.int32)[:, None]
    movement = MovementProblem(
        broker_ids=np.arange(machines, dtype=np.int32),
        rack_of=rack_of.astype(np.int32),
        target=everywhere,
        base=np.zeros(machines, np.int64),
        domains=(Domain(1, everywhere, everywhere, np.zeros(racks, np.int64), np.ones(racks, np.int64)),),
        domain_of=np.zeros(processes, np.int32),
        current=current,
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(processes, -1, np.int32),
        weight=instance.move_cost,
    )
    nothing = np.zeros(capacity.shape, np.int64)
    limits = Limits(upper, np.ones(len(RESOURCES), np.bool_))
    return ResourceProblem(
        movement, ResourceLoads(leading, used, nothing, capacity), limits, current[:, 0].copy(), everywhere, None
    )


def facts_of(instance: Instance, answer: ResourcePlacement) -> dict[str, Json]:
    """The costs before and after beside lower bounds, and what the answer violates."""
    assigned = answer.replicas[:, 0].astype(np.int64)
    return {
        "load_cost_before": instance.load_cost(instance.assigned),
        "load_cost": instance.load_cost(assigned),
        "load_cost_bound": instance.load_cost_bound(),
        "move_cost": instance.process_move_cost(assigned),
        "move_cost_bound": instance.move_weight * int(answer.movement.lower_bound),
        "moved_processes": int(np.count_nonzero(assigned != instance.assigned)),
        "above_capacity": instance.capacity_violations(assigned),
        "conflicts": instance.conflicts(assigned),
        "batches": _batches(instance, assigned),
    }


def _batches(instance: Instance, assigned: Int64s) -> int | None:
    """The number of batches within the capacity of the first transient resource; None if there is no such order."""
    transient = np.flatnonzero(instance.is_transient)
    machines = len(instance.capacity)
    disks = None
    sizes = np.zeros(len(assigned), np.int64)
    if len(transient):
        sizes = instance.requirement[:, transient[0]]
        disks = BrokerDisks(instance.usage(instance.assigned)[:, transient[0]], instance.capacity[:, transient[0]])
    reassigned = ReassignedPartitions(
        before=instance.assigned.astype(np.int32)[:, None],
        after=assigned.astype(np.int32)[:, None],
        size_bytes=sizes,
        heat=sizes,
        broker_ids=np.arange(machines, dtype=np.int32),
    )
    try:
        return len(cut_batches(reassigned, UNLIMITED, disks))
    except BatchesOutOfDisk:
        return None


def _measured(instance: Instance) -> Result:
    problem, answers = problem_of(instance), list[ResourcePlacement]()

    def answer() -> None:
        deadline = time.monotonic() + TARGET_MS / 1_000
        answers.append(relieve(problem, lambda: time.monotonic() >= deadline))

    times = interleaved({"relieve": answer, "usage": lambda: instance.usage(instance.assigned)}, runs=1, warm_ups=0)
    assert resource_violations(problem, answers[-1]) == []
    machines, resources = instance.capacity.shape
    return Result(
        "roadef",
        {"instance": instance.name, "machines": machines, "resources": resources, "processes": len(instance.assigned)},
        times["relieve"],
        Floor("adding up the usage", times["usage"]),
        target_ms=TARGET_MS,
        facts=facts_of(instance, answers[-1]),
    )
