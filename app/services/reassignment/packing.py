"""Every step of every batch, packed as the answer keeps it; kept.py reads it again."""

from base64 import b64encode
from zlib import compress

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment import Batches
from app.errors import Json
from app.services.reassignment.sources import Source


def packed(source: Source, found: Batches) -> dict[str, Json]:
    """The steps as an answer keeps them: int32 arrays, zlib, base64."""
    scope, ids = source.scope, np.append(source.brokers.ids, np.int32(NO_REPLICA))
    return {
        "topics": scope.topics,
        "width": int(found.before.shape[1]),
        "moving": found.moving,
        "offsets": found.offsets.tolist(),
        "topic_of": _written(scope.topic_of[found.rows]),
        "partition_ids": _written(scope.partition_ids[found.rows]),
        "before": _written(ids[found.before]),
        "after": _written(ids[found.after]),
    }


def _written(numbers: Int32s | Int64s) -> str:
    # The fastest level: it leaves a small part of a million steps already.
    return b64encode(compress(np.ascontiguousarray(numbers, "<i4").tobytes(), 1)).decode()
