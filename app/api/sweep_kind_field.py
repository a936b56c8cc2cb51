"""The field that says of which kind a sweep is."""

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from app.services.sweep_kinds import KINDS

DEFAULT = "capacity"
"""The kind of a sweep that does not say."""


def kind_of(body: object) -> str:
    """Which kind's model reads a body. Of a kind that does not exist the default's does, and says so."""
    kind = body.get("kind", DEFAULT) if isinstance(body, dict) else getattr(body, "kind", DEFAULT)
    return kind if isinstance(kind, str) and kind in KINDS else DEFAULT


def _known(kind: object) -> object:
    if not isinstance(kind, str) or kind not in KINDS:
        raise PydanticCustomError("kind", "The kinds of sweeps are {kinds}", {"kinds": ", ".join(KINDS)})
    return kind


KnownKind = BeforeValidator(_known)
"""Names every kind where a body names none of them; a model's own literal would name its own alone."""
