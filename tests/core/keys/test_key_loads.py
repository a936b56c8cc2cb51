"""Records and bytes per partition, added up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.keys.loads import empty_loads
from app.core.keys.model import keys_of
from app.core.keys.skew import skew

PLACED = st.lists(st.tuples(st.one_of(st.none(), st.binary(max_size=9)), st.integers(-3, 4)), max_size=40)


@given(batches=st.lists(PLACED, max_size=4))
def test_sums_are_those_of_all_batches_together(batches: list[list[tuple[bytes | None, int]]]) -> None:
    """Addition does not mind where one batch ends; `skew` says the same of all at once."""
    loads = empty_loads(5)
    for batch in batches:
        loads.add(keys_of([key for key, _ in batch]), np.array([at for _, at in batch], np.int32))
    everything = [pair for batch in batches for pair in batch]
    placed = np.array([at for _, at in everything], np.int32)
    lengths = np.array([len(key or b"") for key, _ in everything], np.int64)
    assert loads.records[1:].tolist() == skew(placed, 5).per_partition.tolist()
    assert loads.key_bytes[1:].tolist() == np.bincount(placed[placed >= 0], lengths[placed >= 0], 5).tolist()
    assert (loads.records[0], loads.key_bytes[0]) == ((placed < 0).sum(), lengths[placed < 0].sum())


@pytest.mark.parametrize("placed", [[5], [-1, 0], []])
def test_places_that_are_none_are_rejected(placed: list[int]) -> None:
    with pytest.raises(ValueError, match="1 keys are placed on 5 partitions"):
        empty_loads(5).add(keys_of([b"a"]), np.array(placed, np.int32))
