"""Every kind of sweep by its name in requests; the API, the workers and the results read this table."""

from collections.abc import Mapping

from app.services.sweeps import capacity, consumers, draws, groups, keys, reassignment
from app.services.sweeps.kind import SweepKind

KINDS: Mapping[str, SweepKind] = {
    kind.name: kind for kind in (capacity.KIND, draws.KIND, groups.KIND, keys.KIND, reassignment.KIND, consumers.KIND)
}
"""In the order of the documentation. The name of a module is the name of its kind on every floor."""
