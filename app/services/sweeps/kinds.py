"""Every kind of sweep by its name in requests; the API, the workers and the results read this table.

A worker that has just started imports none of them: they bring every planner, half of all that it would import.
"""

from typing import TYPE_CHECKING

from app.deferred import Registry

if TYPE_CHECKING:
    from app.services.sweeps.kind import SweepKind

# In the order of the documentation. The name of a module is the name of its kind on every floor, but these.
_MODULES = {"placement_draws": "draws", "consumer_groups": "groups", "key_skew": "keys"}
_NAMES = ("capacity", *_MODULES, "reassignment", "consumers")
KINDS: "Registry[SweepKind]" = Registry({name: f"{__package__}.{_MODULES.get(name, name)}:KIND" for name in _NAMES})
