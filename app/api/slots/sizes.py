"""How large a request is, before it is parsed: what is expected of its time in a slot."""

import re

from app.services.plans.kinds import KINDS
from app.slots.expectation import Work

PLAN_PATHS = frozenset(f"/v1/plans/{kind}" for kind in KINDS)
_PARTITIONS = re.compile(rb'"partitions"\s{0,8}:\s{0,8}(\d{1,9})')
_SEARCHED_BYTES = 64 * 1024
"""Beginning of a body that is searched for numbers of partitions: takes less than a millisecond."""
_BYTES_OF_A_PARTITION = 32
_MOST = 2**22
_LEAST_S, _PER_S = 0.02, 1_000_000
"""Seconds that the smallest request takes in a slot, and partitions a second beyond that."""


def work_of(method: str, path: str, body: bytes) -> Work:
    """The class of a request: what it plans, if anything, and the power of 4 of its partitions or bytes."""
    stated = sum(map(int, _PARTITIONS.findall(body, 0, _SEARCHED_BYTES)))
    size = min(stated + len(body) // _BYTES_OF_A_PARTITION, _MOST)
    return Work(path if path in PLAN_PATHS else method, size.bit_length() // 2, _LEAST_S + size / _PER_S)
