"""Groups that are balanced by lag, beside the exact smallest largest lag of a member."""

import json
from functools import cache
from random import Random

import pytest
from ortools.sat.python import cp_model
from pydantic import TypeAdapter

from app.api.groups import PlanGroupRequest
from app.services.groups import PLAN_KIND
from app.services.plans import draft_plan, plan_json
from app.settings import Settings
from tests.oracle.clusters import Document
from tests.profiles import seeds

GROUPS = 40


def random_group(seed: int) -> Document:
    """Two to eight members that subscribe to one or both of two topics, with lags of many sizes."""
    random = Random(f"group {seed}")
    topics = {name: random.randint(1, 8) for name in ("t0", "t1")}
    members = [
        {"member_id": f"m{number}", "topics": sorted(random.sample(list(topics), random.randint(1, 2)))}
        for number in range(random.randint(2, 8))
    ]
    return {
        "brokers": [{"id": 0}],
        "topics": [
            {"name": name, "partitions": [{"partition": number, "replicas": [0]} for number in range(count)]}
            for name, count in topics.items()
        ],
        "assignor": "optimal",
        "balance": "lag",
        "members": members,
        "lag": {
            name: [random.choice([0, random.randint(1, 100)]) for _ in range(count)] for name, count in topics.items()
        },
    }


@cache
def planned(seed: int) -> Document:
    """The service's plan of a random group."""
    return plan_of(random_group(seed))


def plan_of(group: Document) -> Document:
    """The service's plan of a group, in this process."""
    request = TypeAdapter(PlanGroupRequest).validate_python(group).service()
    document: Document = json.loads(plan_json(draft_plan(PLAN_KIND.planner, request, None, Settings().limits)))
    return document


def exact_largest(group: Document) -> int:
    """The smallest largest lag of a member, if each partition that has a subscriber is read by one of them."""
    model = cp_model.CpModel()
    largest = model.new_int_var(0, 10_000, "")
    of_member: dict[str, list[tuple[int, cp_model.IntVar]]] = {member["member_id"]: [] for member in group["members"]}
    for topic, lags in group["lag"].items():
        subscribers = [member["member_id"] for member in group["members"] if topic in member["topics"]]
        for lag in lags if subscribers else ():
            reads = {member: model.new_bool_var("") for member in subscribers}
            model.add(sum(reads.values()) == 1)
            for member, is_read in reads.items():
                of_member[member].append((lag, is_read))
    for terms in of_member.values():
        model.add(sum(lag * is_read for lag, is_read in terms) <= largest)
    model.minimize(largest)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return int(solver.value(largest))


@pytest.mark.parametrize("seed", seeds(GROUPS))
def test_every_partition_is_read_by_a_subscriber_and_bounds_hold(seed: int) -> None:
    group, plan = random_group(seed), planned(seed)
    subscribed = {member["member_id"]: member["topics"] for member in group["members"]}
    read = [
        (topic, partition)
        for member, topics in plan["assignment"].items()
        for topic, partitions in topics.items()
        for partition in partitions
        if topic in subscribed[member]
    ]
    topics = {topic for topics in subscribed.values() for topic in topics}
    assert sorted(read) == [(topic, number) for topic in sorted(topics) for number in range(len(group["lag"][topic]))]
    lags = [
        sum(group["lag"][topic][partition] for topic, partitions in topics.items() for partition in partitions)
        for topics in plan["assignment"].values()
    ]
    assert plan["optimum"]["largest_load"] == max(lags)
    assert plan["optimum"]["certificate"]["largest_load_bound"] <= exact_largest(group) <= max(lags)


@pytest.mark.long
def test_the_largest_lag_of_small_groups_is_the_exact_least() -> None:
    right = {seed: exact_largest(random_group(seed)) for seed in range(GROUPS)}
    assert {seed: planned(seed)["optimum"]["largest_load"] for seed in range(GROUPS)} == right


def test_racks_and_owners_do_not_unbalance_a_group() -> None:
    """Lags of 19, 16, 10, 10, 4 and 0: 20 is the bound and feasible."""
    replicas = {"t0": [[0, 1], [1, 0], [1], [0, 1]], "t1": [[0], [1]]}
    owned: list[tuple[str, Document]] = [("a", {"t1": [0]}), ("a", {"t1": [1]}), ("b", {"t0": [1, 2]})]
    group = {
        "brokers": [{"id": 0, "rack": "b"}, {"id": 1, "rack": "c"}],
        "topics": [
            {"name": name, "partitions": [{"partition": id_, "replicas": row} for id_, row in enumerate(rows)]}
            for name, rows in replicas.items()
        ],
        "assignor": "optimal",
        "balance": "lag",
        "lag": {"t0": [16, 4, 10, 19], "t1": [10, 0]},
        "members": [
            {
                "member_id": f"m{number}",
                "topics": ["t0", "t1"],
                "rack_id": rack,
                "owned_partitions": partitions,
                "generation_id": 3,
            }
            for number, (rack, partitions) in enumerate(owned)
        ],
    }
    assert exact_largest(group) == 20
    assert plan_of(group)["optimum"]["largest_load"] == 20
