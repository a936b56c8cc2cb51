"""The measured cases' inputs, each read for its algorithm: what the conformance run feeds to the core.

placement.py   admin_utils, rack_alternated, striped_placer
jvm.py         java_random, java_hash_order
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from app.services.vectors import jvm, placement

Answer = Callable[[Mapping[str, Any]], Any]

ANSWERS: Mapping[str, Answer] = MappingProxyType({**placement.ANSWERS, **jvm.ANSWERS})
"""Every implemented algorithm by the name of its vector file; given a case's input, what the core says to it."""
