"""Loads in the units of documents."""

from app.core.reassignment.resources import RESOURCES
from app.core.reassignment.resources.model import MILLION
from app.errors import Json

_CPU = RESOURCES.index("cpu")


def in_unit(amount: int | None, column: int) -> Json:
    """A load as documents have it: vCPU with three decimals, and integers of everything else."""
    if amount is None or column != _CPU:
        return amount
    return round(amount / MILLION, 3)
