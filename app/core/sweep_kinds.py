"""The kinds of sweeps: the name that a kind has on every floor, and how executors read its definition.

The name is that of `app/api/sweeps/<name>.py`, `app/services/sweeps/<name>.py` and of the kernel; its scenarios are in
`app/core/<room>/sweep.py`. To add a kind, see docs/extending.md.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from app.core.capacity import sweep as capacity
from app.core.groups import sweep as groups
from app.core.reassignment import sweep as reassignment
from app.core.replicas import sweep as draws
from app.core.sweeps.scoring import SweepScenarios

ReadSweep: TypeAlias = Callable[[Mapping[str, Any]], SweepScenarios]
"""Reads a resolved definition, as stored with the sweep."""

READERS: Mapping[str, ReadSweep | None] = MappingProxyType(
    {
        "capacity": capacity.read_sweep,
        "draws": draws.read_sweep,
        "groups": groups.read_sweep,
        "keys": None,
        "reassignment": reassignment.read_sweep,
    }
)
"""By name, in the order of the documentation. None if one pass over a dataset yields the rows of all scenarios."""
