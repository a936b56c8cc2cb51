"""No plan goes out that its own verifiers fault."""

from collections.abc import Sequence

SHOWN = 5


def require_sound(faults: Sequence[str]) -> None:
    """Raise where a verifier found something: that is a fault of Rackplan's, and nobody gets such a plan."""
    if faults:
        raise RuntimeError("; ".join(faults[:SHOWN]))
