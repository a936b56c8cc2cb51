"""Findings of fuzzing stay read or rejected, and so does a stated number of other inputs, the same ones each time.

`make fuzz` goes on for hours, by coverage (docs/operations.md).
"""

from random import Random

import pytest

from tests.fuzz import mutations
from tests.fuzz.findings import tried
from tests.fuzz.targets import CORPUS, Target, readers, targets

TARGETS = targets()
INPUTS = 150
"""Of each reader and model; a tenth of it for each kind of plan, which are solved."""


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.glob("*/")))
def test_what_was_found(name: str) -> None:
    target = TARGETS[name]
    for content in target.corpus():
        found = tried(target, content)
        assert found is None, found


def test_every_reader_is_a_target() -> None:
    """Also those that take more than a text, which need an entry in `_ARGUMENTS`."""
    names = {name for name, _, _ in readers()}
    assert len(names) > 35
    assert names <= TARGETS.keys()
    assert {"body.create_snapshot", "body.plan_group", "body.create_webhook", "draft.streams"} <= TARGETS.keys()


def test_a_fault_is_found() -> None:
    def fails(content: bytes) -> None:
        content.decode()

    target = Target("t", fails, list)
    found = tried(target, b"\xff")
    assert tried(target, b"a") is None
    assert found is not None
    assert found.key.startswith("UnicodeDecodeError")
    assert (slow := tried(Target("t", lambda _: None, list, slow_s=-1.0), b"")) is not None
    assert slow.key == "slow"


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs(name: str) -> None:
    target = TARGETS[name]
    seeds = target.seeds()
    draw = Random(f"{name} 1")
    changed = mutations.of_json if target.is_json else mutations.of_bytes
    for _ in range(INPUTS // 10 if name.startswith("draft.") else INPUTS):
        content = changed(draw.choice(seeds), seeds, draw)
        found = tried(target, content)
        assert found is None, (found, content)
