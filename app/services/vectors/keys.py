"""Cases of the keys' hash and partition."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from app.core.keys.hashes import murmur2
from app.core.keys.model import keys_of
from app.core.keys.partitioners import PARTITIONERS, partition


def _murmur2(given: Mapping[str, Any]) -> Any:
    keys = keys_of([b64decode(key) for key in given["keys_base64"]])
    # The measured run asks no partition of a topic that has none.
    has_partitions = given["num_partitions"] != 0
    partitions = (
        partition(PARTITIONERS["murmur2_adaptive"], keys, given["num_partitions"]).tolist() if has_partitions else []
    )
    return {"murmur2": murmur2(keys).tolist(), "partitions": partitions}


ANSWERS = {"murmur2": _murmur2}
