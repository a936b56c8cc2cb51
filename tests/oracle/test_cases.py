"""Small inputs whose right answer was found by the exact model, or by hand."""

import json
import random
from pathlib import Path

import pytest

from tests.oracle import bounds
from tests.oracle.clusters import Document
from tests.oracle.instances import Instance
from tests.oracle.model import read
from tests.oracle.service import plan

CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).with_name("cases").glob("*.json")
}


def one_replica_each(loads: list[list[int]], weights: list[int]) -> tuple[Document, Document]:
    """Brokers 1, 2, … with partitions of one replica and these sizes, and a request of balance by weights."""
    sizes = [(broker, size) for broker, of_broker in enumerate(loads, 1) for size in of_broker]
    snapshot = {
        "cluster": "oracle",
        "brokers": [{"id": broker} for broker in range(1, len(loads) + 1)],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {"partition": number, "replicas": [broker], "leader": broker, "size_bytes": size}
                    for number, (broker, size) in enumerate(sizes)
                ],
            }
        ],
    }
    by_id = {str(broker): weight for broker, weight in enumerate(weights, 1)}
    return snapshot, {"balance": {"replicas": "tight", "weights": by_id}}


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in sorted(CASES.items())])
def test_the_answer_is_the_right_one(case: Document) -> None:
    answer = plan(case["snapshot"], case["request"])
    assert answer.status == 200, answer.document["detail"]
    right = case["right"]
    assert answer.document["certificate"]["moved_bytes"] <= right.get("moved_bytes", float("inf"))
    assert len(answer.document["relaxed"]) <= right.get("relaxed", float("inf"))


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in sorted(CASES.items())])
def test_the_right_answer_is_that_of_the_small_model(case: Document) -> None:
    """Within hard limits; the current placement has the least excess of the soft limit and moves nothing."""
    request = {name: value for name, value in case["request"].items() if name != "on_conflict"}
    model = read(case["snapshot"], request)
    exact = bounds.with_limits(Instance(0, (), case["snapshot"], request), model)
    least = exact.minimised(exact.moved(bounds.cost_of("bytes")))
    assert least is not None
    assert least == case["right"].get("moved_bytes", least)


def test_a_wider_tolerance_costs_no_more() -> None:
    """0.02, 0.2 and 0.4 of the mean of four brokers; the widest one allows the others' plans."""
    sizes = (818, 80, 617, 458, 975, 229)
    lists = ([8, 21], [39, 21], [21, 7, 8], [8, 7, 21], [8, 39, 21], [21, 39, 8])
    snapshot = {
        "cluster": "oracle",
        "brokers": [{"id": 21, "rack": "a"}, *({"id": broker, "rack": "b"} for broker in (7, 39, 8))],
        "topics": [
            {
                "name": f"t{number}",
                "partitions": [{"partition": 0, "replicas": replicas, "leader": replicas[0], "size_bytes": size}],
            }
            for number, (replicas, size) in enumerate(zip(lists, sizes, strict=True))
        ],
    }
    moved = [
        plan(snapshot, {"balance": {"replicas": {"tolerance": tolerance}, "replicas_by": "bytes"}}).document[
            "certificate"
        ]["moved_bytes"]
        for tolerance in (0.02, 0.2, 0.4)
    ]
    assert moved == sorted(moved, reverse=True)


@pytest.mark.parametrize("is_soft", [False, True])
def test_a_lowered_factor_keeps_preferred_leaders_only_within_limits(is_soft: bool) -> None:
    """Broker 1 leads both partitions; within 1 leader a broker, one of them is left to another replica."""
    partitions = [
        {"partition": number, "replicas": [1, other], "leader": 1, "size_bytes": 7}
        for number, other in ((0, 2), (1, 3))
    ]
    brokers = [{"id": broker} for broker in (1, 2, 3)]
    snapshot = {"cluster": "oracle", "brokers": brokers, "topics": [{"name": "t", "partitions": partitions}]}
    lowered = {"replication_factor": {"t": 1}}
    assert plan(snapshot, lowered).document["leader_changes"] == 0
    limited = plan(snapshot, lowered | {"limits": {"leaders": {"absolute": 1, "soft": is_soft}}}).document
    assert (limited["certificate"]["moved_replicas"], limited["leader_changes"], limited["excess"]) == (0, 1, None)


@pytest.mark.long
def test_balance_by_bytes_ends_by_itself_with_its_gap() -> None:
    """60 brokers with 500 partitions took half a minute; a budget ends it, the same way each time."""
    draw = random.Random(500)
    racks = [range(rack, 60, 3) for rack in range(3)]
    lists = [[draw.choice(rack) for rack in draw.sample(racks, 3)] for _ in range(500)]
    partitions = [
        {"partition": n, "replicas": each, "leader": each[0], "size_bytes": int(draw.paretovariate(1.1) * 1e8)}
        for n, each in enumerate(lists)
    ]
    brokers = [{"id": broker, "rack": "abc"[broker % 3]} for broker in range(60)]
    snapshot = {"cluster": "oracle", "brokers": brokers, "topics": [{"name": "t", "partitions": partitions}]}
    answers = [plan(snapshot, {"balance": {"replicas": "tight", "replicas_by": "bytes"}}).document for _ in range(2)]
    certificate = answers[0]["certificate"]
    assert answers[0]["request"]["deadline_s"] is None
    assert 0 <= certificate["gap"] <= 0.02
    assert answers[0]["topics"] == answers[1]["topics"]


@pytest.mark.parametrize(
    ("counts", "weights", "bands"),
    [
        ((5, 2), [3, 2], [(4, 4), (3, 3)]),
        ((10, 8, 4), [2, 2, 1], [(9, 9), (9, 9), (4, 5)]),
    ],
)
def test_bands_of_weights_are_at_feasible_levels(
    counts: tuple[int, ...], weights: list[int], bands: list[tuple[int, int]]
) -> None:
    """7 replicas by 3 : 2 are at the levels 4/3 above and 3/2 below; 22 by 2 : 2 : 1 are at 9/2 above and below."""
    answer = plan(*one_replica_each([[100] * count for count in counts], weights))
    rows = answer.document["balance"]["replicas"]["weights"]
    assert [(row["low"], row["high"]) for row in rows] == bands


def test_a_planned_cluster_with_a_broker_that_may_not_receive_moves_nothing() -> None:
    """It gives 29 and is below the mean then, but within the tolerance: still one of those that are balanced."""
    loads = [[90_500], [105_000, 5_000], [80_000], [29_000, 31_000, 60_000]]
    request = {"forbid_brokers": [4], "balance": {"replicas_by": "bytes", "replicas": {"tolerance": 0.1}}}
    snapshot, _ = one_replica_each(loads, [1] * 4)
    planned = plan(snapshot, request).document
    assert planned["certificate"]["moved_bytes"] == 29_000
    [topic] = planned["topics"]
    for partition, replicas in zip(snapshot["topics"][0]["partitions"], topic["replicas"], strict=True):
        partition |= {"replicas": replicas, "leader": replicas[0]}
    assert plan(snapshot, request).document["certificate"]["moved_bytes"] == 0
