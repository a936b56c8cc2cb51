"""Clusters that move to the replica sets of a scatter width, beside the exact least movement."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from ortools.sat.python import cp_model

from tests.oracle.clusters import Document, random_cluster
from tests.oracle.service import new_topic, plan
from tests.profiles import seeds

CLUSTERS = 60
REJECTED = {"copysets_impossible", "infeasible_reassignment"}
"""Racks of unequal size, and fewer brokers than replicas."""


def random_change(seed: int) -> tuple[Document, Document]:
    """A busy cluster, mostly of equal racks, and a request for a scatter width, often without one of its brokers."""
    random = Random(f"scatter width {seed}")
    snapshot = random_cluster(random, is_busy=True)
    if random.random() < 0.7:
        for place, broker in enumerate(snapshot["brokers"]):
            broker["rack"] = "abc"[place % 3]
    snapshot["topics"] = snapshot["topics"][: random.randint(1, 3)]
    request: Document = {"copysets": {"scatter_width": random.randint(1, 4)}}
    if random.random() < 0.3:
        request["remove_brokers"] = [random.choice(snapshot["brokers"])["id"]]
    if random.random() < 0.4:
        request["rack_mode"] = "disabled"
    return snapshot, request


def sets_of(snapshot: Document, request: Document, factor: int) -> set[frozenset[int]]:
    """The sets of a large new topic on the brokers that stay."""
    brokers = [each for each in snapshot["brokers"] if each["id"] not in request.get("remove_brokers", ())]
    place = {"algorithm": "copysets", "scatter_width": request["copysets"]["scatter_width"]}
    topics = [{"name": "new", "partitions": 240, "replication_factor": factor}]
    rack_mode = {name: value for name, value in request.items() if name == "rack_mode"}
    return set(map(frozenset, new_topic({"brokers": brokers, "topics": topics} | place | rack_mode)))


def sets_after(snapshot: Document, document: Document) -> dict[int, list[tuple[Document, frozenset[int]]]]:
    """By replication factor, each partition and its set in a plan."""
    planned = {
        (topic["name"], topic["first_partition_id"] + place): row
        for topic in document["topics"]
        for place, row in enumerate(topic["replicas"])
    }
    found: dict[int, list[tuple[Document, frozenset[int]]]] = {}
    for topic in snapshot["topics"]:
        for row in topic["partitions"]:
            after = planned.get((topic["name"], row["partition"]), row["replicas"])
            found.setdefault(len(after), []).append((row, frozenset(after)))
    return found


def with_lists_passed_on(snapshot: Document) -> Document:
    """The cluster in which each partition of a topic has the replicas of the next one."""
    topics = []
    for topic in snapshot["topics"]:
        rows = topic["partitions"]
        passed = zip(rows, [*rows[1:], rows[0]], strict=True)
        names = ("replicas", "isr", "leader")
        topics.append(topic | {"partitions": [row | {name: other[name] for name in names} for row, other in passed]})
    return snapshot | {"topics": topics}


def least(rows: list[Document], counts: Counter[frozenset[int]]) -> int:
    """The fewest bytes that are copied if each set has its number of partitions."""
    model = cp_model.CpModel()
    chosen: list[dict[frozenset[int], Any]] = [{each: model.new_bool_var("") for each in counts} for _ in rows]
    for of_row in chosen:
        model.add_exactly_one(of_row.values())
    for each, count in counts.items():
        model.add(sum(of_row[each] for of_row in chosen) == count)
    model.minimize(
        sum(
            is_on * row["size_bytes"] * len(each.difference(row["replicas"]))
            for row, of_row in zip(rows, chosen, strict=True)
            for each, is_on in of_row.items()
        )
    )
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


@pytest.mark.parametrize("seed", seeds(CLUSTERS))
def test_partitions_are_on_the_sets_of_new_topics_at_the_least_movement(seed: int) -> None:
    """How many are on each set depends on their number alone, so that topics that are placed later continue with it."""
    snapshot, request = random_change(seed)
    answer = plan(snapshot, request)
    if answer.status != 200:
        assert answer.document["code"] in REJECTED
        return
    total = 0
    other = with_lists_passed_on(snapshot)
    others = sets_after(other, plan(other, request).document)
    for factor, rows in sets_after(snapshot, answer.document).items():
        counts = Counter(after for _, after in rows)
        assert set(counts) <= sets_of(snapshot, request, factor)
        assert counts == Counter(after for _, after in others[factor])
        total += least([row for row, _ in rows], counts)
    certificate = answer.document["certificate"]
    assert (certificate["moved_bytes"], certificate["lower_bound_bytes"], certificate["optimal"]) == (
        total,
        total,
        True,
    )


def test_a_certificate_names_the_sets_that_have_one_more() -> None:
    """The one partition is on the set of broker 2 and moves, since the first set is that of broker 1."""
    row = {"partition": 0, "replicas": [2], "isr": [2], "leader": 2, "size_bytes": 984}
    brokers = [{"id": broker, "rack": None} for broker in (1, 2, 3)]
    snapshot = {"cluster": "oracle", "brokers": brokers, "topics": [{"name": "t", "partitions": [row]}]}
    certificate = plan(snapshot, {"copysets": {"scatter_width": 2}}).document["certificate"]
    assert certificate["moved_bytes"] == 984
    words = "0 partitions on each of 3 replica sets of 1 brokers, and one more on the first 1 in the order of rounds"
    assert certificate["constraints"][-1] == words


def test_bytes_whose_sums_are_not_exact_are_named() -> None:
    rows = [
        {"partition": at, "replicas": [at % 3 + 1, (at + 1) % 3 + 1], "isr": [1, 2, 3], "leader": at % 3 + 1}
        | {"size_bytes": 2**62}
        for at in range(6)
    ]
    brokers = [{"id": id_} for id_ in (1, 2, 3)]
    snapshot = {"cluster": "large", "brokers": brokers, "topics": [{"name": "a", "partitions": rows}]}
    answer = plan(snapshot, {"copysets": {"scatter_width": 2}})
    assert (answer.status, answer.document["code"]) == (422, "limit_exceeded")
    assert answer.document["total"] == 2 * 2**62
