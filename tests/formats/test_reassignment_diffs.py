"""Changes of a reassignment, in words and tables that the eye can check."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.transfers import transfers
from app.core.model import Assignment, Broker
from app.formats.tables.reassignment_diffs import write_markdown, write_text
from tests.formats.changes import kafkas_own, nothing, worked

SENTENCES = [
    "3 replicas (≥ 12.3 MiB) are copied and 2 dropped.",
    "4 of 5 partitions differ; 1 preferred leader changes.",
    "The size of 2 copied replicas is unknown and not part of the bytes.",
    "1 partition is new: kafka-topics --alter creates it first.",
    "No file for kafka-reassign-partitions names it.",
    "1 partition spans fewer racks than before.",
]
BOTH = pytest.mark.parametrize("write", [write_text, write_markdown])


def test_a_text() -> None:
    assert write_text(worked(), {}, None, limit=10).splitlines() == [
        *SENTENCES,
        "",
        "broker  rack  replicas  leaders                   bytes      bytes in     bytes out",
        "   101  az-a         3    2 → 1   ≥ 12.3 MiB → 12.3 MiB           0 B  size unknown",
        "   105  az-b         2        1        12.3 MiB → ≥ 7 B  size unknown      12.3 MiB",
        "   106  az-b     2 → 3    1 → 2  ≥ 2.0 KiB → ≥ 12.3 MiB      12.3 MiB           0 B",
        "   108  –        1 → 3    0 → 1   12.3 MiB → ≥ 12.3 MiB  size unknown           0 B",
        "",
        "from   to  replicas         bytes",
        "   –  105         1  size unknown",
        " 101  108         1  size unknown",
        " 105  106         1      12.3 MiB",
        "",
        "clicks-0  106,101 → 106,108,105      +108 +105 −101  size unknown  racks 2 → 1  leader 106",
        "orders-3  101,105,108 → 101,106,108  +106 −105           12.3 MiB  racks 2 → 2  leader 101",
        "orders-4  101,106 → 106,101          reordered                     racks 2 → 2  leader 101 → 106",
        "orders-5  – → 108,101                new                           racks – → 1  leader 108",
    ]


def test_markdown() -> None:
    assert write_markdown(worked(), {}, None, limit=2).splitlines() == [
        " ".join(SENTENCES),
        "",
        "| broker | rack | replicas | leaders | bytes | bytes in | bytes out |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
        "| 101 | az-a | 3 | 2 → 1 | ≥ 12.3 MiB → 12.3 MiB | 0 B | size unknown |",
        "| 105 | az-b | 2 | 1 | 12.3 MiB → ≥ 7 B | size unknown | 12.3 MiB |",
        "",
        "… and 2 more brokers.",
        "",
        "| from | to | replicas | bytes |",
        "| ---: | ---: | ---: | ---: |",
        "| – | 105 | 1 | size unknown |",
        "| 101 | 108 | 1 | size unknown |",
        "",
        "… and 1 more flow.",
        "",
        "| partition | replicas | change | bytes | racks | leader |",
        "| --- | --- | --- | ---: | --- | --- |",
        "| clicks-0 | 106,101 → 106,108,105 | +108 +105 −101 | size unknown | 2 → 1 | 106 |",
        "| orders-3 | 101,105,108 → 101,106,108 | +106 −105 | 12.3 MiB | 2 → 2 | 101 |",
        "",
        "… and 2 more partitions.",
    ]


@BOTH
def test_where_nothing_changes_the_brokers_alone_are_listed(write: Callable[..., str]) -> None:
    written = write(nothing(), {}, None, limit=10)
    assert written.startswith("Nothing changes: 2 partitions stay as they are.\n\n")
    assert "from" not in written
    assert "leader " not in written


@BOTH
def test_kafkas_own_proposal_moves_195_replicas_although_nothing_had_changed(write: Callable[..., str]) -> None:
    """195 of 285 replicas; one of the captured topic's partitions is not in its document, and stays."""
    written = write(kafkas_own(), {}, None, limit=1000)
    assert written.startswith("195 replicas (97.5 MiB) are copied and 195 dropped.")
    assert "116 of 117 partitions differ; 107 preferred leaders change." in written
    assert "more" not in written


@given(st.integers(0, 5))
def test_what_is_shown_and_what_is_left_out_is_all_there_is(limit: int) -> None:
    written = write_text(worked(), {}, None, limit=limit)
    shown = [line for line in written.splitlines() if line.startswith(("clicks-", "orders-"))]
    left = 4 - len(shown)
    assert len(shown) == min(limit, 4)
    assert (f"… and {left} more partition" in written) is (left > 0)


def test_a_rack_of_any_name_stays_in_its_cell() -> None:
    stays = {"t": Assignment(np.array([0], np.int32), np.array([[1]], np.int32))}
    found = transfers(stays, stays, sizes={}, brokers=[Broker(1, "a|b")])
    assert "| 1 | a\\|b | 1 |" in write_markdown(found, {}, None, limit=1)
