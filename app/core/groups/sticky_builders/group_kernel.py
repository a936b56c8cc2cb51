"""Compiled loops of both sticky builders: the claims that Kafka accepts, and racks of partitions."""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import NO_RACK, Int64s


@compiled
def settle(
    partitions: Int64Vector, members: Int64Vector, generations: Int64Vector, numbers: int
) -> tuple[Int64s, NDArray[np.bool_], Int64s]:
    """Accept the claim of the newest generation; of two in one generation, neither.

    A member whose claims have a generation below -1 is compared as -1 with a later claimant: Kafka reads the one from
    the user data, the other from the subscription, where a generation is never below -1.

    Parameters
    ----------
    partitions, members : (claims,) int64, in the order in which Kafka reads them.
    generations : (members,) int64.
    numbers : number of partitions, claimed ones that do not exist included.

    Returns
    -------
    `accepted`, `disputed` and `previous` of `Claims`, each (numbers,).
    """
    accepted = np.full(numbers, -1, np.int64)
    disputed = np.zeros(numbers, np.bool_)
    claimant = np.full(numbers, -1, np.int64)
    previous = np.full(numbers, -1, np.int64)
    newest = -1
    for generation in generations:
        newest = max(newest, generation)
    for claim in range(len(partitions)):
        partition = partitions[claim]
        member = members[claim]
        generation = generations[member]
        if generation < newest:
            older = previous[partition]
            if older < 0 or generation > generations[older]:
                previous[partition] = member
        rival = claimant[partition]
        if rival >= 0 and generation < max(generations[rival], -1):
            continue
        if rival >= 0 and generation == max(generations[rival], -1):
            disputed[partition] = True
            accepted[partition] = -1
        else:
            accepted[partition] = claim
        claimant[partition] = member
    return accepted, disputed, previous


@subroutine
def is_near(rack: int, racks: Int32Vector) -> bool:
    """Whether a member's rack has a replica of the partition; False for `NO_RACK`."""
    near = False
    for replica_rack in racks:
        near |= replica_rack == rack
    return near and rack != NO_RACK


@compiled
def count_near(racks: Int32Matrix, members_in: Int64Vector) -> tuple[Int64s, Int64s, NDArray[np.bool_]]:
    """Members in one of each partition's racks, racks of each partition, and racks with a replica.

    Parameters
    ----------
    racks : (partitions, widest) int32 rack of each replica, or `NO_RACK`.
    members_in : (racks,) int64 number of members.

    Returns
    -------
    (partitions,) int64, (partitions,) int64 and (racks,) bool.
    """
    near = np.zeros(len(racks), np.int64)
    width = np.zeros(len(racks), np.int64)
    has_replica = np.zeros(len(members_in), np.bool_)
    for row in range(len(racks)):
        for replica in range(racks.shape[1]):
            rack = racks[row, replica]
            is_new = rack != NO_RACK
            for earlier in range(replica):
                is_new = is_new and racks[row, earlier] != rack
            if is_new:
                near[row] += members_in[rack]
                width[row] += 1
                has_replica[rack] = True
    return near, width, has_replica


@compiled
def are_away(
    members: Int64Vector, partitions: Int64Vector, rack_of: Int32Vector, racks: Int32Matrix
) -> NDArray[np.bool_]:
    """Whether each member has a rack without a replica of its partition; a partition that does not exist has none."""
    result = np.zeros(len(members), np.bool_)
    for place in range(len(members)):
        rack = rack_of[members[place]]
        number = partitions[place]
        result[place] = rack != NO_RACK and (number >= len(racks) or not is_near(rack, racks[number]))
    return result
