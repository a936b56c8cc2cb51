"""Clusters that have to have the same plan: tiered topics by their local bytes, topics with observers that stay."""

from collections.abc import Sequence

import pytest

from tests.oracle.clusters import Document
from tests.oracle.instances import Instance
from tests.oracle.service import Answer, plan
from tests.profiles import seeds

COUNT = 60
KINDS = (
    *("remove_broker", "add_brokers", "tight", "max_moved_bytes", "batch_bytes", "raise_factor", "topic_replicas"),
    *("tight_by_bytes", "limits", "log_dirs_tight", "log_dirs_limit", "lower_factor", "leaders_tight"),
)
"""Kinds of which most requests are accepted: of counts, bytes, limits, log directories and batches."""
PLANNED = ("topics", "certificate", "batches", "leader_changes", "loads", "balance")


def agree(one: Answer, other: Answer) -> None:
    """The same plan, or the same problem."""
    assert one.status == other.status
    for name in PLANNED if one.status == 200 else ("code", "detail"):
        assert one.document.get(name) == other.document.get(name), name


def with_rows(snapshot: Document, topic: Document, **fields: Sequence[object]) -> Document:
    """The cluster with other fields of the partitions of a topic: a value for each."""
    rows = [
        row | {name: values[place] for name, values in fields.items()} for place, row in enumerate(topic["partitions"])
    ]
    topics = [each | {"partitions": rows} if each["name"] == topic["name"] else each for each in snapshot["topics"]]
    return snapshot | {"topics": topics}


@pytest.mark.parametrize("seed", seeds(COUNT))
def test_a_tiered_topic_is_as_large_as_its_local_bytes(seed: int) -> None:
    """What is in remote storage is not copied, and is on no disk."""
    instance = Instance.of(seed, KINDS[seed % len(KINDS)])
    tiered = instance.snapshot
    for number, topic in enumerate(instance.snapshot["topics"]):
        local = [row["size_bytes"] for row in topic["partitions"]]
        tiered = with_rows(tiered, topic, local_bytes=local, size_bytes=[size + 1_000 * (number + 1) for size in local])
    tiered["topics"] = [topic | {"configs": {"remote.storage.enable": "true"}} for topic in tiered["topics"]]
    agree(plan(tiered, instance.request), plan(instance.snapshot, instance.request))


@pytest.mark.parametrize("seed", seeds(COUNT))
def test_a_topic_with_observers_stays_as_if_it_were_not_listed(seed: int) -> None:
    instance = Instance.of(seed, KINDS[seed % len(KINDS)])
    topic, *others = instance.snapshot["topics"]
    named = instance.request.get("replication_factor", {})
    if not others or topic["name"] in named or len(topic["partitions"][0]["replicas"]) < 2:
        return
    last = [[row["replicas"][-1]] for row in topic["partitions"]]
    isr = [row["replicas"][:-1] for row in topic["partitions"]]
    alone = with_rows(instance.snapshot, topic, isr=isr)
    answer = plan(with_rows(alone, topic, isr=isr, observers=last), instance.request)
    hosts = {broker for row in topic["partitions"] for broker in row["replicas"]}
    if hosts.intersection(instance.request.get("remove_brokers", ())):
        assert answer.document["code"] == "observers_not_kept"
    else:
        agree(answer, plan(alone, instance.request | {"topics": [each["name"] for each in others]}))


@pytest.mark.parametrize(
    "balance",
    [
        {"resources": ["disk", "nic_in"]},
        {"per_topic": {"replicas": "tight"}},
        {"per_topic": {"leaders": "tight"}},
    ],
)
def test_a_cluster_without_brokers_moves_nothing(balance: Document) -> None:
    capacity = {"*": {"disk_bytes": 1, "nic_in_bytes_per_s": 1}}
    answer = plan({"cluster": "empty", "brokers": [], "topics": []}, {"balance": balance, "capacity": capacity})
    assert answer.document["certificate"]["moved_replicas"] == 0
