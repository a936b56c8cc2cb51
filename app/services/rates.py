"""Rates of partitions and prices of traffic, as requests state them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from app.core.model import Float64s
from app.errors import FieldPath
from app.errors.requests import ConflictingFields
from app.services.amounts import InBytes
from app.services.bodies import RequestRecord

Rate = Annotated[float, Field(allow_inf_nan=False), InBytes(le=1e15)]
Times = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


@dataclass(frozen=True)
class PricesRequest(RequestRecord, schema="PricesFields"):
    """Prices, in any currency."""

    cross_rack_per_gib: Times = 0.0
    """Price of a GiB from rack to rack; the answer then has the cost of a month."""


def partition_rates(name: str, stated: float | Sequence[float], partitions: int, *, path: FieldPath) -> Float64s:
    """(partitions,) float64 bytes/s: equal shares of the rate of a topic, or the stated rate of each partition.

    Raises
    ------
    ConflictingFields : the topic has another number of partitions than rates. `path` is the field of the rates.
    """
    if isinstance(stated, int | float):
        return np.full(partitions, stated / max(partitions, 1))
    if len(stated) != partitions:
        detail = f"topic {name} has {partitions} partitions, and the rates of {len(stated)} are given"
        raise ConflictingFields(detail, path=(*path, name), value=len(stated), limit=partitions)
    return np.array(stated, np.float64)
