"""The producer's state when it places records without key: from the request, checked, with a seed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.core import ENGINE_VERSION
from app.core.kafka_versions import KafkaVersion, release_of
from app.core.keys.model import Keys
from app.core.keys.null_keys import DEFAULT_BATCH_BYTES, ProducerView
from app.core.model import INT32_MAX, Int32s
from app.errors.every import ConflictingFields, DuplicatePartition, QueueSizesOverflow, UnknownPartition
from app.services.amounts import InBytes
from app.services.bodies import ListOf, RequestRecord
from app.services.fields import OneOrEach, PartitionId, Rack, Seed
from app.services.plans.record import digest, seed_of
from app.services.snapshots import first_repeated

MOST_PARTITIONS = 1_000_000
NonNegative = Annotated[int, Field(ge=0, le=INT32_MAX)]
DEFAULT_RECORD_BYTES = 1_024
"""An assumption: with Kafka's own `batch.size` it puts 16 records into a batch."""


@dataclass(frozen=True)
class NullKeys(RequestRecord, schema="NullKeysRequest"):
    """The state of the producer when it places records without key."""

    seed: Seed | None = None
    """Replays java.util.Random; each partitioner starts from it anew. The default is derived from the records, the
    partitions and these fields, and is answered."""
    available_partitions: Annotated[ListOf[PartitionId], Field(max_length=MOST_PARTITIONS, fail_fast=True)] | None = (
        None
    )
    """The partitions with a leader, each once, in the order of the metadata; `[]` if none has one."""
    queue_sizes: OneOrEach[NonNegative] | None = None
    """Queued batches of each available partition, or one number for all; only the policy `adaptive` uses them."""
    batch_bytes: Annotated[int, InBytes(ge=1, le=INT32_MAX), Field(description="`batch.size`.")] = DEFAULT_BATCH_BYTES
    record_bytes: OneOrEach[Annotated[int, InBytes(le=INT32_MAX)]] = DEFAULT_RECORD_BYTES
    """The bytes of a record in its batch: one number, or one for each of `keys`. The policies `sticky_batch` and
    `adaptive` use it."""
    client_rack: Annotated[Rack, Field(min_length=1)] | None = None
    """`client.rack` of the producer."""
    rack_aware: bool = False
    """`partitioner.rack.aware` (KIP-1123, since Kafka 4.4): the policy `adaptive` prefers partitions whose leaders are
    in `client_rack`."""
    leader_racks: Annotated[ListOf[Rack | None], Field(max_length=MOST_PARTITIONS, fail_fast=True)] | None = None
    """The rack of the leader of each available partition; the answer then has `cross_rack`."""


@dataclass(frozen=True, slots=True, eq=False)
class Producer:
    """The same as the core knows it.

    Parameters
    ----------
    view : with the partitions of the producer's rack, if it is rack-aware.
    record_bytes : (records,) int32.
    leaders : (partitions,) int8, one of `UNKNOWN`, `CROSS_RACK` and `IN_RACK`; None if racks are not known.
    """

    view: ProducerView
    record_bytes: Int32s
    seed: int
    leaders: NDArray[np.int8] | None = None


UNKNOWN, CROSS_RACK, IN_RACK = 0, 1, 2
RACK_AWARE_SINCE = KafkaVersion(4, 4)


@dataclass(frozen=True, slots=True)
class CrossRackBytes:
    """Produced bytes by the rack of the leader that they are sent to."""

    in_rack: int
    """Bytes sent to leaders in the producer's rack."""
    cross_rack: int
    """Bytes sent to leaders in other racks."""
    unknown: int
    """Bytes sent to partitions without a leader, or whose leader has no rack."""
    cross_rack_otherwise: int
    """Bytes sent to other racks with `partitioner.rack.aware` the other way, from the same seed."""


def producer(options: NullKeys, keys: Keys, partitions: int, version: str | None = None) -> Producer:
    """The producer's state.

    Parameters
    ----------
    version : the client's release, if the request states it.

    Raises
    ------
    UnknownPartition, DuplicatePartition : the topic lacks an available partition, or it is listed twice.
    ConflictingFields : lists that belong together are of different length.
    QueueSizesOverflow : Kafka's table of the queue sizes would overflow.
    """
    available = _available(options.available_partitions, partitions)
    racks = _leader_racks(options, partitions if available is None else len(available), version)
    in_rack = None if racks is None else np.array([rack == options.client_rack for rack in racks], np.bool_)
    queue_sizes = _queue_sizes(options.queue_sizes, available, partitions)
    view = ProducerView(partitions, available, queue_sizes, options.batch_bytes)
    leaders = None
    if racks is not None and in_rack is not None:
        leaders = np.full(partitions, UNKNOWN, np.int8)
        has_rack = np.array([bool(rack) for rack in racks], np.bool_)
        if len(racks):  # else all partitions are candidates, and none has a leader
            leaders[view.candidates()] = np.where(in_rack, IN_RACK, np.where(has_rack, CROSS_RACK, UNKNOWN))
    return Producer(
        replace(view, in_rack=in_rack) if options.rack_aware else view,
        _record_bytes(options.record_bytes, len(keys)),
        _seed(options, keys, partitions) if options.seed is None else options.seed,
        leaders,
    )


def _leader_racks(options: NullKeys, available: int, version: str | None) -> Sequence[str | None] | None:
    """The racks of the available partitions' leaders; None if racks have no part in the request."""
    if options.rack_aware and version is not None and release_of(version, None) < RACK_AWARE_SINCE:
        detail = f"partitioner.rack.aware exists since Kafka {RACK_AWARE_SINCE}; kafka_version {version} given"
        raise ConflictingFields(detail, path=("null_keys", "rack_aware"), minimum=str(RACK_AWARE_SINCE))
    if options.client_rack is None and options.leader_racks is None and not options.rack_aware:
        return None
    for name in ("client_rack", "leader_racks"):
        if getattr(options, name) is None:
            detail = "the racks of produced bytes need client_rack and leader_racks"
            raise ConflictingFields(detail, path=("null_keys", name))
    racks = options.leader_racks or ()
    if len(racks) != available:
        detail = f"each available partition has a leader: {available} racks are needed; {len(racks)} given"
        raise ConflictingFields(detail, path=("null_keys", "leader_racks"), value=len(racks), limit=available)
    return racks


def _available(listed: Sequence[int] | None, partitions: int) -> Int32s | None:
    if listed is None:
        return None
    for index, partition in enumerate(listed):
        if not 0 <= partition < partitions:
            raise UnknownPartition(
                f"partition {partition} cannot be available; the topic has 0 to {partitions - 1}",
                path=("null_keys", "available_partitions", index),
                value=partition,
                maximum=partitions - 1,
            )
    if (twice := first_repeated(listed)) is not None:
        raise DuplicatePartition(
            f"partition {listed[twice]} is available twice",
            path=("null_keys", "available_partitions", twice),
            value=listed[twice],
        )
    return np.array(listed, np.int32)


def _queue_sizes(given: int | Sequence[int] | None, available: Int32s | None, partitions: int) -> Int32s | None:
    if given is None:
        return None
    expected = partitions if available is None else len(available)
    listed = [given] * expected if isinstance(given, int) else given
    if len(listed) != expected or not expected:
        detail = f"each available partition has a queue: {expected} sizes are needed; {len(listed)} given"
        if not expected:
            detail = f"no partition is available, so none has a queue; {len(listed)} queue sizes given"
        raise ConflictingFields(detail, path=("null_keys", "queue_sizes"), value=len(listed), limit=expected)
    largest = max(listed)
    if (total := len(listed) * (largest + 1) - sum(listed)) > INT32_MAX:
        raise QueueSizesOverflow(
            f"the sum of (longest queue + 1 − each queue) is {total}; Kafka's table ends at {INT32_MAX}",
            path=("null_keys", "queue_sizes"),
            value=total,
            limit=INT32_MAX,
        )
    return np.array(listed, np.int32)


def _record_bytes(given: int | Sequence[int], records: int) -> Int32s:
    if isinstance(given, int):
        return np.full(records, given, np.int32)
    if len(given) != records:
        raise ConflictingFields(
            f"record_bytes is one number or one for each of {records} keys; {len(given)} given",
            path=("null_keys", "record_bytes"),
            value=len(given),
            limit=records,
        )
    return np.array(given, np.int32)


def _seed(options: NullKeys, keys: Keys, partitions: int) -> int:
    """Derived from the records, the partitions and the producer's state, not from the partitioners."""
    records = sha256(keys.data.tobytes())
    records.update(keys.offsets.tobytes())
    records.update(b"" if keys.is_null is None else keys.is_null.tobytes())
    return seed_of(
        digest(
            {
                "kind": "keys",
                "engine_version": ENGINE_VERSION,
                "records": records.hexdigest(),
                "partitions": partitions,
                "available_partitions": options.available_partitions,
                "queue_sizes": options.queue_sizes,
                "batch_bytes": options.batch_bytes,
                "record_bytes": options.record_bytes,
                **({"client_rack": options.client_rack} if options.client_rack is not None else {}),
            }
        )
    )
