"""`rebalancing_groups` of a reassignment: which groups rebalance, and in which batch (KIP-1101)."""

from typing import Any

import httpx
import pytest

from tests.api.test_reassignment import change, codes, topic

BROKERS = [{"id": broker, "rack": rack} for broker, rack in enumerate("aabbcc", 1)]


def group(name: str, *topics: str, protocol: str | None = "consumer", **member: Any) -> dict[str, Any]:
    """A group with one member."""
    return {"group_id": name, "type": protocol, "members": [{"member_id": "m", "topics": list(topics), **member}]}


def snapshot_of(client: httpx.Client, *groups: dict[str, Any]) -> str:
    """t is on 1 and 3, in the racks a and b; u on 1 and 2 in a and on 3 in b."""
    body = {
        "cluster": "c",
        "brokers": BROKERS,
        "topics": [topic("t", [1, 3]), topic("u", [1, 2, 3]), topic("v", [1, 3])],
        "groups": list(groups),
    }
    response = client.post("/v1/snapshots", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def pinned(**replicas: list[int]) -> dict[str, Any]:
    """Exactly these lists."""
    return {
        "pins": [{"topic": name, "partition": 0, "replicas": row} for name, row in replicas.items()],
        "repair_racks": False,
    }


@pytest.mark.parametrize("protocol", ["consumer", "streams"])
def test_a_partition_in_other_racks_makes_its_groups_rebalance(client: httpx.Client, protocol: str) -> None:
    at = snapshot_of(
        client, group("b", "t", protocol=protocol), group("a", "u", "t", protocol=protocol), group("c", "v")
    )
    plan = change(client, at, kafka_version="4.1", **pinned(t=[1, 5]))
    assert plan["rebalancing_groups"] == [{"group_id": "a", "batch": 1}, {"group_id": "b", "batch": 1}]
    assert "groups_may_rebalance" not in codes(plan)


def test_within_its_rack_it_may_while_data_moves(client: httpx.Client) -> None:
    """4 is in rack b as 3 is. While it copies, the partition has two replicas in b."""
    plan = change(client, snapshot_of(client, group("a", "t")), kafka_version="4.4", **pinned(t=[1, 4]))
    assert plan["rebalancing_groups"] == []
    assert "groups_may_rebalance" in codes(plan)


def test_another_order_is_the_same_racks(client: httpx.Client) -> None:
    plan = change(client, snapshot_of(client, group("a", "t")), kafka_version="4.4", **pinned(t=[3, 1]))
    assert plan["batches"]
    assert plan["rebalancing_groups"] == []
    assert "groups_may_rebalance" not in codes(plan)


def test_repeats_of_a_rack_count(client: httpx.Client) -> None:
    """u has two replicas in a and one in b, and then one and two: the same racks, and another hash."""
    plan = change(client, snapshot_of(client, group("a", "u")), kafka_version="4.4", **pinned(u=[1, 3, 4]))
    assert plan["rebalancing_groups"] == [{"group_id": "a", "batch": 1}]


@pytest.mark.parametrize(
    ("version", "protocol"), [("4.0", "consumer"), ("3.9", "consumer"), ("4.4", None), ("4.4", "share")]
)
def test_before_4_1_and_in_other_protocols_racks_do_not_count(
    client: httpx.Client, version: str, protocol: str | None
) -> None:
    plan = change(
        client, snapshot_of(client, group("a", "t", protocol=protocol)), kafka_version=version, **pinned(t=[1, 5])
    )
    assert plan["rebalancing_groups"] == []


def test_each_batch_that_changes_racks_is_named(client: httpx.Client) -> None:
    plan = change(
        client,
        snapshot_of(client, group("a", "t", "v"), group("b", "v")),
        kafka_version="4.4",
        batches={"max_partitions": 1},
        **pinned(t=[1, 5], v=[1, 6]),
    )
    of_v = next(at for at, batch in enumerate(plan["batches"], 1) if batch["partitions"][0]["topic"] == "v")
    assert plan["rebalancing_groups"] == sorted(
        [{"group_id": "a", "batch": 1}, {"group_id": "a", "batch": 2}, {"group_id": "b", "batch": of_v}],
        key=lambda each: (each["batch"], each["group_id"]),
    )


def test_of_members_without_a_subscription_what_they_read_counts(client: httpx.Client) -> None:
    recorded = group("a", assigned_partitions={"t": [0]})
    recorded["members"][0]["topics"] = None
    plan = change(client, snapshot_of(client, recorded), kafka_version="4.4", **pinned(t=[1, 5]))
    assert plan["rebalancing_groups"] == [{"group_id": "a", "batch": 1}]
