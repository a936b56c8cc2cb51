"""The plan in steps that Kafka executes one batch after another."""

from typing import cast

import numpy as np

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment import (
    Batches,
    BatchLimits,
    BrokerDisks,
    Hottest,
    ReassignedPartitions,
    batch_violations,
    cut_batches,
)
from app.errors import BatchesOutOfDisk, ConflictingFields, MoveExceedsBatchLimit
from app.services.reassignment.requests import ReassignmentRequest
from app.services.reassignment.sizes import held_by_others, require_sizes, told_rates
from app.services.reassignment.soundness import require_sound
from app.services.reassignment.sources import Source

DISK_SHARE = ("batches", "max_disk_share")
NO_LIMIT = 2**63 - 1


def batches_of(request: ReassignmentRequest, source: Source, after: Int32s) -> Batches:
    """Cut the way from where replicas are to (rows, widest) int32 positions `after` into batches.

    Raises
    ------
    MoveExceedsBatchLimit, BatchesOutOfDisk : with the partition that cannot move.
    ConflictingFields, SizesMissing : disks are to be minded, and nothing is known of them or of what is on them.
    """
    told, sizes = request.batches, source.sizes
    limits = BatchLimits(
        max_moves_in_per_broker=told.max_moves_in_per_broker,
        max_moves_out_per_broker=told.max_moves_out_per_broker,
        max_bytes_in_per_broker=told.max_bytes_in_per_broker,
        max_partitions=told.max_partitions,
        throttle_bytes_per_s=told.throttle_bytes_per_s,
        hottest=Hottest(told.hottest),
    )
    reassigned = ReassignedPartitions(
        before=source.before,
        after=after,
        size_bytes=np.where(sizes.is_known, sizes.size_bytes, UNKNOWN_SIZE),
        heat=_heat(request, source),
        broker_ids=source.brokers.ids,
        rack_of=source.brokers.rack_of if source.brokers.racks else None,
    )
    disks = _disks(request, source)
    try:
        batches = cut_batches(reassigned, limits, disks)
    except (MoveExceedsBatchLimit, BatchesOutOfDisk) as failure:
        # The core knows rows; whoever asked knows partitions.
        named = {name: told for name, told in failure.context.items() if name != "row"}
        partition = source.scope.name(cast("int", failure.context["row"]))
        detail = f"{partition}: {failure.detail}"
        path = failure.path if isinstance(failure, MoveExceedsBatchLimit) else DISK_SHARE
        raise type(failure)(detail, path=path, partition=partition, **named) from None
    require_sound([violation.detail for violation in batch_violations(reassigned, batches, limits, disks)])
    return batches


def _disks(request: ReassignmentRequest, source: Source) -> BrokerDisks | None:
    """What is on every disk and how much may be; a broker whose disk nobody told the size of has room for all."""
    share, brokers, sizes = request.batches.max_disk_share, source.brokers, source.sizes
    if share is None:
        return None
    told = [None if broker.capacity is None else broker.capacity.disk_bytes for broker in brokers.known]
    if not any(told):
        detail = "max_disk_share minds disks, and no broker has a capacity.disk_bytes"
        raise ConflictingFields(detail, path=DISK_SHARE, value=share)
    require_sizes(sizes, "max_disk_share", DISK_SHARE)
    rows, columns = np.nonzero(source.before != NO_REPLICA)
    used = held_by_others(brokers, source.scope.others, sizes.of_others)
    np.add.at(used, source.before[rows, columns], sizes.size_bytes[rows])
    limits = [NO_LIMIT if size is None else int(size * share) for size in told]
    return BrokerDisks(used, np.array(limits, np.int64))


def _heat(request: ReassignmentRequest, source: Source) -> Int64s:
    """What makes a partition hot: what flows into it, where that is told, and its bytes elsewhere."""
    rates = told_rates(request, source.scope)
    return source.sizes.size_bytes if rates is None else rates
