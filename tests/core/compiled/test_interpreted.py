"""Loops whose source is run for little work: its results equal the machine code's."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.compiled.interpreted import LARGEST, source_of
from app.core.jvm import JavaRandom
from app.core.measures import tally_kernel
from app.core.model import NO_REPLICA, Broker
from app.core.replicas import striped_kernel
from app.core.replicas.striped import Racks
from tests.core.test_striped import SEEDS, clusters

PLACES = """
import sys
from app.core.jvm import JavaRandom
from app.core.measures import tally
from app.core.model import Broker, NewTopic
from app.core.replicas import striped

brokers = [Broker(number, "abc"[number % 3]) for number in range(6)]
for _ in range(int(sys.argv[2])):
    placed = striped.place(brokers, NewTopic("t", int(sys.argv[1]), 3), random=JavaRandom(7))
    tally.tally({"t": placed.assignment}, brokers)
print("numba" in sys.modules)
"""


@given(clusters(), st.integers(0, 40), SEEDS, st.data())
def test_the_striped_placer(brokers: list[Broker], partitions: int, seed: int, data: st.DataObject) -> None:
    """Its rows and the state of the generator, whose arithmetic overflows 64 bits."""
    racks = Racks.of(brokers)
    random = JavaRandom(seed)
    offsets = racks.draw_offsets(random)
    factor = data.draw(st.integers(1, len(brokers)))
    answers = []
    for fill in (striped_kernel.fill, source_of(striped_kernel.fill)):
        rows = np.empty((partitions, factor), np.int32)
        state = fill(
            rows,
            racks.members.copy(),
            racks.bounds,
            racks.cursors(offsets.lists),
            np.arange(racks.count, dtype=np.int32),
            offsets.rack,
            racks.hash_order,
            racks.epoch_length(partitions),
            np.uint64(random.state),
        )
        answers.append((rows.tolist(), int(state)))
    assert answers[0] == answers[1]


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_the_tally(racks: int, brokers: int, data: st.DataObject) -> None:
    """With padding, unknown brokers, brokers twice in a row, and brokers without a rack."""
    ids = st.lists(st.integers(0, brokers), max_size=3)
    lists = data.draw(st.lists(ids, max_size=6))
    positions = np.array([row + [NO_REPLICA] * (3 - len(row)) for row in lists], np.int32).reshape(len(lists), 3)
    rack_of = np.array(data.draw(st.lists(st.integers(-1, racks - 1), min_size=brokers, max_size=brokers)), np.int32)
    fenced = np.array(data.draw(st.lists(st.booleans(), min_size=brokers, max_size=brokers)))
    answers = []
    for count in (tally_kernel.count, source_of(tally_kernel.count)):
        per_broker, per_rack = np.zeros((brokers, 3), np.int64), np.zeros((racks, 3), np.int64)
        spanned, faults = np.zeros(racks + 1, np.int64), np.zeros(len(lists), np.uint8)
        count(positions, rack_of, fenced, racks, per_broker, per_rack, spanned, faults)
        answers.append([array.tolist() for array in (per_broker, per_rack, spanned, faults)])
    assert answers[0] == answers[1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("partitions", "times", "imports_numba"), [(100, 1, "False"), (LARGEST, 1, "True"), (100, LARGEST // 300, "True")]
)
def test_numba_is_imported_for_more_than_little_work(partitions: int, times: int, imports_numba: str) -> None:
    """Many small placements are much work, too."""
    command = [sys.executable, "-c", PLACES, str(partitions), str(times)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == imports_numba
