"""The plan in steps that Kafka executes one batch after another."""

from typing import cast

import numpy as np

from app.core.model import UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.cutting import cut
from app.core.reassignment.batches.model import Batches, BatchLimits, Hottest, Reassigned
from app.core.reassignment.batches.violations import batch_violations
from app.errors import MoveExceedsBatchLimit
from app.services.reassignment.requests import ReassignmentRequest
from app.services.reassignment.sizes import told_rates
from app.services.reassignment.soundness import require_sound
from app.services.reassignment.sources import Source


def batches_of(request: ReassignmentRequest, source: Source, after: Int32s) -> Batches:
    """Cut the way from where replicas are to (rows, widest) int32 positions `after` into batches.

    Raises `MoveExceedsBatchLimit`, which names the partition.
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
    reassigned = Reassigned(
        before=source.before,
        after=after,
        size_bytes=np.where(sizes.is_known, sizes.size_bytes, UNKNOWN_SIZE),
        heat=_heat(request, source),
        broker_ids=source.brokers.ids,
        rack_of=source.brokers.rack_of if source.brokers.racks else None,
    )
    try:
        batches = cut(reassigned, limits)
    except MoveExceedsBatchLimit as failure:
        # The core knows rows; whoever asked knows partitions.
        named = {name: told for name, told in failure.context.items() if name != "row"}
        partition = source.scope.name(cast("int", failure.context["row"]))
        detail = f"{partition}: {failure.detail}"
        raise MoveExceedsBatchLimit(detail, path=failure.path, partition=partition, **named) from None
    require_sound([violation.detail for violation in batch_violations(reassigned, batches, limits)])
    return batches


def _heat(request: ReassignmentRequest, source: Source) -> Int64s:
    """What makes a partition hot: what flows into it, where that is told, and its bytes elsewhere."""
    rates = told_rates(request, source.scope)
    return source.sizes.size_bytes if rates is None else rates
