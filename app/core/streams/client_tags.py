"""Client tags as numbers: which of a tag's values a client has."""

from collections.abc import Sequence

import numpy as np

from app.core.model import Int64s
from app.core.streams.model import StreamsClient

NO_TAG = -1
"""A client that has no such tag."""


def tag_vectors(clients: Sequence[StreamsClient], tags: Sequence[str]) -> Int64s:
    """(clients, tags) int64: which of a tag's values a client has, or `NO_TAG`; each tag counts its values from 0.

    A tag that is listed twice has one column.
    """
    keys = tuple(dict.fromkeys(tags))
    vectors = np.full((len(clients), len(keys)), NO_TAG, np.int64)
    for column, key in enumerate(keys):
        numbers: dict[str, int] = {}
        for place, client in enumerate(clients):
            if key in client.client_tags:
                vectors[place, column] = numbers.setdefault(client.client_tags[key], len(numbers))
    return vectors
