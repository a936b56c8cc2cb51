"""Sizes and rates in the future: what the growth of a request makes of those of today."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.model import Int64s
from app.services.reassignment.requests.resources import ResourceFields, topic_factors


def grown_rows(request: ResourceFields, topics: Sequence[str], topic_of: Int64s, amounts: Int64s) -> Int64s:
    """(rows,) int64 amounts, each multiplied by the growth of its topic.

    Parameters
    ----------
    topic_of : (rows,) int64 indices into `topics`.
    """
    if not request.growth:
        return amounts
    factors = np.array(topic_factors(request.growth, topics, 1.0), np.float64)
    return np.rint(amounts * factors[topic_of]).astype(np.int64)


def grown_topics(request: ResourceFields, amounts: Mapping[str, Int64s] | None) -> Mapping[str, Int64s] | None:
    """By topic the (partitions,) int64 amounts, multiplied by its growth; None if there are none."""
    if amounts is None or not request.growth:
        return amounts
    factors = topic_factors(request.growth, list(amounts), 1.0)
    return {
        name: np.rint(each * factor).astype(np.int64)
        for (name, each), factor in zip(amounts.items(), factors, strict=True)
    }
