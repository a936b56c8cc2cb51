"""The unit of sizes decides nothing: a cluster whose partitions are all larger by a factor has the same plan."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.clusters import Document
from tests.oracle.instances import Instance
from tests.oracle.service import Answer, plan

BY_COUNT = (
    *("remove_broker", "remove_racks", "add_brokers", "raise_factor"),
    *("tight", "tolerance", "weights", "topic_replicas", "leaders_only", "leaders_move_replicas"),
)
"""Kinds whose movement is a minimum-cost flow, with all ties decided by its costs."""


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(BY_COUNT), factor=st.sampled_from([2, 3, 1000, 1024]))
@settings(max_examples=30)
def test_sizes_in_another_unit(seed: int, kind: str, factor: int) -> None:
    """Flows of the same cost are many, and their solver finds one by the digits of the costs."""
    instance = Instance.of(seed, kind)
    answer = plan(instance.snapshot, instance.request)
    larger = plan(_larger(instance.snapshot, factor), instance.request)
    assert larger.status == answer.status
    if answer.status == 200:
        assert _lists(larger) == _lists(answer)
        assert _bytes(larger) == [factor * each for each in _bytes(answer)]


def _larger(snapshot: Document, factor: int) -> Document:
    topics = [
        topic | {"partitions": [row | {"size_bytes": factor * row["size_bytes"]} for row in topic["partitions"]]}
        for topic in snapshot["topics"]
    ]
    return snapshot | {"topics": topics}


def _lists(answer: Answer) -> list[list[list[int]]]:
    return [topic["replicas"] for topic in answer.document["topics"]]


def _bytes(answer: Answer) -> list[int]:
    certificate = answer.document["certificate"]
    return [certificate["moved_bytes"], certificate["lower_bound_bytes"]]
