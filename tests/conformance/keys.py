"""Cases of the keys' hash and partition."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.core.keys.hashes import murmur2
from app.core.keys.model import keys_of
from app.core.keys.null_keys import AdaptiveChoice, ProducerView
from app.core.keys.partitioners import PARTITIONERS, partition
from app.core.model import Int32s


def _murmur2(given: Mapping[str, Any]) -> Any:
    keys = keys_of([b64decode(key) for key in given["keys_base64"]])
    # The measured run has no partitions of a topic without any.
    has_partitions = given["num_partitions"] != 0
    partitions = (
        partition(PARTITIONERS["murmur2_adaptive"], keys, given["num_partitions"]).tolist() if has_partitions else []
    )
    return {"murmur2": murmur2(keys).tolist(), "partitions": partitions}


def _builtin_partitioner(given: Mapping[str, Any]) -> Any:
    rack_of = {broker["id"]: broker["rack"] for broker in given["brokers"]}
    leaders = given["leaders"]
    ids, sizes = _load_statistics(given) or ([p for p, leader in enumerate(leaders) if leader is not None], None)
    in_rack = [rack_of.get(leaders[partition]) == given["client_rack"] for partition in ids]
    view = ProducerView(
        len(leaders),
        np.array(ids, np.int32),
        sizes,
        in_rack=np.array(in_rack, np.bool_) if given["rack_aware"] else None,
    )
    choice = AdaptiveChoice.of(view)
    return {"partitions": [choice.partition(number) for number in given["randoms"]]}


def _load_statistics(given: Mapping[str, Any]) -> tuple[list[int], Int32s] | None:
    """Partitions and their queue sizes; None if the producer drops the statistics."""
    sizes, length = given.get("queue_sizes"), given.get("length", 0)
    if sizes is None or length < 1 or len(sizes) < 2 or (length == len(sizes) and len(set(sizes)) == 1):
        return None
    return given["partition_ids"][:length], np.array(sizes[:length], np.int32)


ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "murmur2": _murmur2,
    "builtin_partitioner_4_4": _builtin_partitioner,
}
