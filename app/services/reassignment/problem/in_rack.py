"""The rack of each partition whose replicas are in one rack."""

from collections.abc import Callable

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.replicas.rack_modes import RackMode
from app.errors.requests import ConflictingFields
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.request import ReassignmentRequest

NO_RACK = -1


def racks_of(
    request: ReassignmentRequest,
    brokers: BrokerTable,
    scope: PartitionScope,
    current: Int32s,
    eligible: Callable[[int], tuple[Bools, Bools]],
) -> Int64s:
    """(rows,) int64 rack of each partition of `placement`, `NO_RACK` of others.

    It is the rack in which the partition keeps the most replicas, of those with as many eligible brokers as it has
    replicas; of equal ones that of its first replica, then the one whose brokers have the fewest such partitions. So
    as few replicas as possible move, and new partitions take the racks in turns.

    Parameters
    ----------
    current : (rows, widest) int32 positions. eligible : by index of a topic the brokers that may keep replicas, and
        those that may receive them.

    Raises
    ------
    ConflictingFields : racks do not count, and are not to be ignored then.
    """
    racks = np.full(len(current), NO_RACK, np.int64)
    if not request.placement or (request.rack_mode is RackMode.SAFE and not brokers.racks):
        return racks
    if not brokers.racks:
        detail = "placement in_rack needs the racks of brokers, and racks do not count, since brokers have none"
        raise ConflictingFields(detail, path=("placement",))
    named = len(brokers.racks)
    led = np.zeros(named)
    for topic in np.flatnonzero([name in request.placement for name in scope.topics]).tolist():
        may_keep, may_receive = eligible(topic)
        for row in np.flatnonzero(scope.topic_of == topic).tolist():
            present = current[row][current[row] != NO_REPLICA]
            stays = np.zeros_like(may_keep)
            stays[present] = may_keep[present]
            kept, free = (
                np.bincount(brokers.rack_of[mask], minlength=named)[:named] for mask in (stays, stays | may_receive)
            )
            has_room = free >= scope.factors[row]
            is_first = np.arange(named) == (brokers.rack_of[present[0]] if len(present) else NO_RACK)
            # Without any rack that has room, the largest one says what is missing.
            order = (led / np.maximum(free, 1), ~is_first, -kept, -free * ~has_room.any(), ~has_room)
            racks[row] = np.lexsort(order)[0]
            led[racks[row]] += scope.factors[row]
    return racks
