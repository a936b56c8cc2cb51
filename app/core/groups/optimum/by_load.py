"""Balance of a group by load (lag, bytes/s, records/s) instead of the number of partitions, with a lower bound.

Minimising the largest load over indivisible partitions is NP-hard: two members and a list of loads are the partition
problem. Small groups are solved exactly (`exact_loads`): then the smallest load is as large as possible, and as many
partitions as possible are read in rack and stay with their owners. For others the answer is an approximation, with a
lower bound on the largest load of any assignment:

- the largest load if partitions could be divided, rounded up (`fair_shares` by load);
- the heaviest partition; and the sum of the two lightest of the n + 1 heaviest partitions, since one of n members reads
  two of these.

Partitions are assigned heaviest first. Each goes to a subscriber whose load exceeds the smallest by no more than the
partition's own: its owner in a rack of its replicas, else another subscriber in such a rack, else its owner, else any.
The lighter the partitions become, the closer the loads must be. Loads count first, numbers of partitions second, so
that partitions without load are balanced as well.

Complexity: O(partitions · subscribers · replication factor), and the maximum flows of `fair_shares`.

Source: the longest-processing-time rule is Graham's (1969); the relaxation is this project's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.core.certificate import Certificate
from app.core.groups.arrays.owned import owning_members
from app.core.groups.arrays.partition_table import Weights, assignment_of, partition_table, weights_of_rows
from app.core.groups.arrays.racks import rack_table
from app.core.groups.arrays.subscriptions import NO_CLASS, SubscriptionClasses, subscription_classes
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.by_load_kernel import assign_heaviest_first
from app.core.groups.optimum.fair_shares import fair_shares
from app.core.integer import integer_solver
from app.core.model import NO_MEMBER, Bools, Int32s, Int64s
from app.core.replica_lists import sums_by
from app.errors.requests import LimitExceeded

MAX_CELLS = 160
"""The most pairs of a partition and a subscriber."""
SOLVER_TIME = 1.0
"""Deterministic time of one solve, about seconds; the same group always gets the same answer."""


def exact_readers(load: Int64s, may_read: Bools, is_in_rack: Bools, owners: Int32s) -> Int32s | None:
    """The assignment with the smallest largest load, then the largest smallest load, the most partitions read in rack
    and the fewest moves.

    Parameters
    ----------
    load : (rows,) int64 > 0, whose sum is below 2^62. may_read, is_in_rack : (rows, members) bool; each row has a
        subscriber. owners : (rows,) int32, or `NO_MEMBER`.

    Returns
    -------
    (rows,) int32 member that reads each row; None if the group is too large, or if an optimum is not proven in time.
    """
    if not 0 < np.count_nonzero(may_read) <= MAX_CELLS:
        return None
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model, solver = cp_model.CpModel(), integer_solver(SOLVER_TIME)
    reads = {(int(row), int(member)): model.new_bool_var("") for row, member in np.argwhere(may_read)}
    for row, of_row in enumerate(may_read):
        model.add_exactly_one(reads[row, member] for member in np.flatnonzero(of_row).tolist())
    largest, smallest = _loads(model, reads, load, may_read)
    out_of_rack = sum(read for cell, read in reads.items() if not is_in_rack[cell])
    moved = sum(read for (row, member), read in reads.items() if owners[row] not in {NO_MEMBER, member})
    goals: tuple[Any, ...] = (largest, -smallest, out_of_rack, moved)
    for goal in (each for each in goals if not isinstance(each, int)):
        model.minimize(goal)
        if solver.status_name(solver.solve(model)) != "OPTIMAL":
            return None
        model.add(goal <= solver.value(goal))
    readers = np.full(len(load), NO_MEMBER, np.int32)
    for (row, member), read in reads.items():
        if solver.boolean_value(read):
            readers[row] = member
    return readers


def _loads(model: Any, reads: Mapping[tuple[int, int], Any], load: Int64s, may_read: Bools) -> tuple[Any, Any]:
    """Variables of the largest and the smallest load of the members that may read something."""
    total = int(load.sum())
    largest, smallest = model.new_int_var(0, total, ""), model.new_int_var(0, total, "")
    for member in np.flatnonzero(may_read.any(axis=0)).tolist():
        of_member = sum(reads[row, member] * int(load[row]) for row in np.flatnonzero(may_read[:, member]).tolist())
        model.add_linear_constraint(largest - of_member, 0, total)
        model.add_linear_constraint(of_member - smallest, 0, total)
    return largest, smallest


SOLVER = "longest processing time first"
EXACT_SOLVER = "integer models, one for each aim in order (CP-SAT)"
LARGEST_SUM = 1 << 61
"""Limit of load · partitions: sums are int64, and half of the range is reserved for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadBalance:
    """An assignment balanced by load.

    Parameters
    ----------
    certificate : of the largest load of a member.
    in_rack, moved : partitions, as in `optimal.Optimum`; without a certificate.
    """

    assignment: GroupAssignment
    certificate: Certificate[int]
    in_rack: int
    moved: int


def balance_by_load(members: Sequence[Member], metadata: GroupMetadata, load: Weights) -> LoadBalance:
    """Balance a group by load.

    Raises
    ------
    LimitExceeded : if the exact sum of the loads exceeds 64 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, TopicMetadata
    >>> t = TopicMetadata("t", np.zeros((4, 1), np.int32))
    >>> lag = {"t": np.array([7, 5, 4, 4])}
    >>> answer = balance_by_load([Member("A", ("t",)), Member("B", ("t",))], GroupMetadata({}, {"t": t}), lag)
    >>> answer.certificate.value, answer.certificate.lower_bound, answer.certificate.gap
    (11, 11, 0.0)
    """
    table = partition_table(metadata)
    classes = subscription_classes(members, table)
    racks, owners = rack_table(members, metadata, table), owning_members(table, members)
    topic_class = classes.topic_class[table.topic_of_rows()]
    rows = np.flatnonzero(topic_class != NO_CLASS)
    loads, unit = _in_units(weights_of_rows(table, load), rows)
    # Load first and number of partitions second, as one integer.
    combined = loads * (len(rows) + 1) + 1
    class_of_arc, member_class = np.nonzero(classes.subscribes)
    starts, members_of_classes = _subscribers_by_topic_class(classes, class_of_arc, member_class)
    exact = None
    if 0 < len(rows) * len(members) <= MAX_CELLS:
        may_read = classes.subscribes[topic_class[rows]][:, classes.member_class] & (classes.member_class != NO_CLASS)
        in_rack = np.stack([racks.is_in_rack(rows, np.full(len(rows), rack)) for rack in racks.of_member], axis=1)
        exact = exact_readers(combined[rows], may_read, in_rack, owners[rows])
    if exact is None:
        order = rows[np.argsort(-combined[rows], kind="stable")]
        reader_of_row = assign_heaviest_first(
            order, combined, topic_class, starts, members_of_classes, owners, racks.of_replicas, racks.of_member
        )
    else:
        reader_of_row = np.full(len(loads), NO_MEMBER, np.int32)
        reader_of_row[rows] = exact
    per_member = sums_by(reader_of_row[rows], loads[rows], len(members))
    largest = int(per_member.max(initial=0))
    lower_bound = largest if exact is not None else _lower_bound(classes, topic_class[rows], loads[rows])
    return LoadBalance(
        assignment=assignment_of(table, reader_of_row, [member.id for member in members]),
        certificate=Certificate(
            "largest load", largest * unit, lower_bound * unit, SOLVER if exact is None else EXACT_SOLVER
        ),
        in_rack=int(np.count_nonzero(racks.is_in_rack(rows, racks.of_member[reader_of_row[rows]]))),
        moved=int(np.count_nonzero((owners[rows] != NO_MEMBER) & (owners[rows] != reader_of_row[rows]))),
    )


def _in_units(loads: Int64s, rows: Int64s) -> tuple[Int64s, int]:
    """Loads as multiples of the greatest common divisor of those of `rows`, and this unit: in other units the same
    loads are then assigned alike. Raises `LimitExceeded` if they cannot be added exactly.
    """
    total, limit = float(loads[rows].sum(dtype=np.float64)), LARGEST_SUM // (len(rows) + 1)
    if total > limit:
        raise LimitExceeded(
            f"the loads come to {total:.3g}; in a group of this size up to {limit} can be added exactly",
            load=total,
            limit=limit,
        )
    unit = max(1, int(np.gcd.reduce(loads[rows])))
    return loads // unit, unit


def _subscribers_by_topic_class(
    classes: SubscriptionClasses, topic_class: Int64s, member_class: Int64s
) -> tuple[Int64s, Int64s]:
    """The subscribers of each topic class, one list after another, and the bounds of each list."""
    by_class = np.argsort(classes.member_class, kind="stable")[np.count_nonzero(classes.member_class == NO_CLASS) :]
    ends = np.cumsum(classes.members)
    sizes = classes.members[member_class]
    places = np.arange(int(sizes.sum())) + np.repeat(
        (ends - classes.members)[member_class] - np.cumsum(sizes) + sizes, sizes
    )
    per_topic = sums_by(topic_class, sizes, len(classes.partitions))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(per_topic)]), by_class[places]


def _lower_bound(
    classes: SubscriptionClasses, topic_class: np.ndarray[tuple[int], np.dtype[np.int32]], loads: Int64s
) -> int:
    by_class = sums_by(topic_class, loads, len(classes.partitions))
    members = int(classes.members.sum())
    heaviest = -np.sort(-loads)
    two_together = int(heaviest[members - 1] + heaviest[members]) if 0 < members < len(heaviest) else 0
    fractional = max((share.high for share in fair_shares(replace(classes, partitions=by_class))), default=0)
    return max(fractional, two_together, int(heaviest.max(initial=0)))
