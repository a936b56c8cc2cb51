"""Whom to believe of several claimants, one claim after another; and who and what is in which rack."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def settle(
    partitions: Int64s, members: Int64s, generations: Int64s, numbers: int
) -> tuple[Int64s, NDArray[np.bool_], Int64s]:
    """Go through claims in order: the newest generation is believed; two of one generation lose it both.

    A member whose claims come with a generation below -1 is compared as -1 when another claims the same after it:
    Kafka reads the one from the user data, the other from the subscription, which knows no generation below.

    Returns
    -------
    `believed`, `disputed` and `previous` of `Claims`, each (numbers,).
    """
    believed = np.full(numbers, -1, np.int64)
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
            before = previous[partition]
            if before < 0 or generation > generations[before]:
                previous[partition] = member
        other = claimant[partition]
        if other >= 0 and generation < max(generations[other], -1):
            continue
        if other >= 0 and generation == max(generations[other], -1):
            disputed[partition] = True
            believed[partition] = -1
        else:
            believed[partition] = claim
        claimant[partition] = member
    return believed, disputed, previous


@njit(cache=True, nogil=True)
def racks_by_partition(replicas: Int32s, rack_of: Int32s, racks: Int32s, filled: int) -> None:
    """Write the distinct racks of each row of `replicas` to `racks`, from row `filled` on; it is padded with -1.

    Parameters
    ----------
    replicas, rack_of : brokers and their racks as `RackIndex` numbers them.
    """
    for row in range(len(replicas)):
        found = 0
        for broker in replicas[row]:
            if broker < 0 or broker >= len(rack_of) or rack_of[broker] < 0:
                continue
            known = False
            for other in range(found):
                known = known or racks[filled + row, other] == rack_of[broker]
            if not known:
                racks[filled + row, found] = rack_of[broker]
                found += 1


@njit(cache=True, nogil=True)
def is_near(rack: int, racks: Int32s) -> bool:
    """Whether a rack is among those of a partition."""
    for other in racks:
        if other < 0:
            return False
        if other == rack:
            return True
    return False


@njit(cache=True, nogil=True)
def count_near(racks: Int32s, members_in: Int64s) -> tuple[Int64s, Int64s, NDArray[np.bool_]]:
    """How many members are in one of each partition's racks, how many racks it has, and which racks hold anything."""
    near = np.zeros(len(racks), np.int64)
    width = np.zeros(len(racks), np.int64)
    here = np.zeros(len(members_in), np.bool_)
    for row in range(len(racks)):
        for rack in racks[row]:
            if rack >= 0:
                near[row] += members_in[rack]
                width[row] += 1
                here[rack] = True
    return near, width, here


@njit(cache=True, nogil=True)
def away(members: Int64s, partitions: Int64s, rack_of: Int64s, racks: Int32s) -> NDArray[np.bool_]:
    """Whether a member has a rack that its partition is not in; one beyond those that exist is in none."""
    result = np.zeros(len(members), np.bool_)
    for place in range(len(members)):
        rack = rack_of[members[place]]
        number = partitions[place]
        result[place] = rack >= 0 and (number >= len(racks) or not is_near(rack, racks[number]))
    return result
