"""Every kind of sweep by its name in requests; the API, the workers and the results read this table."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from app.core.sweep_kinds import READERS
from app.services.sweeps.kind import SweepKind


def _kind(module: str) -> SweepKind:
    # A kind has the same name on every floor, so that the table in the core is the only one to extend.
    kind = import_module(f"app.services.sweeps.{module}").KIND
    if not isinstance(kind, SweepKind) or kind.module != module:
        raise TypeError(f"app.services.sweeps.{module}.KIND is the kind of another module: {kind!r}")
    return kind


KINDS: Mapping[str, SweepKind] = MappingProxyType({kind.name: kind for kind in map(_kind, READERS)})
