"""Place keys on partitions as each client does.

placing.py     a request to an answer: serialised keys, partitions, skew, resizes, disagreements
null_keys.py   the producer's state when it places records without key
"""

from app.services.keys.null_keys import NullKeys
from app.services.keys.placing import (
    Count,
    Encoding,
    KeysAnswer,
    KeysRequest,
    PartitionerName,
    Written,
    place_keys,
    to_json,
)
