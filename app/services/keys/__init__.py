"""Place keys on partitions as each client does.

placing.py     a request to an answer: partitions, skew, resizes, disagreements
encodings.py   keys as a request writes them to the bytes that are hashed
null_keys.py   the producer's state when it places records without key
"""

from app.services.keys.encodings import Encoding, Written, read_keys
from app.services.keys.null_keys import DEFAULT_RECORD_BYTES, NullKeys
from app.services.keys.placing import HEAVIEST, KeysAnswer, KeysRequest, PlacedKeys, place_keys, to_json, warm_up
