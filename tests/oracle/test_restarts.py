"""Restarts beside a model of their documentation: the fewest waves of all schedules, and every figure of an answer."""

import json
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from random import Random

import pytest

from tests.oracle.clusters import Document, random_cluster
from tests.oracle.service import restart
from tests.profiles import seeds

RESTARTS = 200
DOWN_S = 120
"""Seconds for which a broker is down by default."""


def random_restart(seed: int) -> tuple[Document, Document]:
    """A cluster with any leaders and minimum in-sync replicas, and a request with limits near its loads."""
    random = Random(f"restart {seed}")
    snapshot = random_cluster(random, is_busy=random.random() < 0.3)
    ids = [broker["id"] for broker in snapshot["brokers"]]
    rows = [row for topic in snapshot["topics"] for row in topic["partitions"]]
    for topic in snapshot["topics"]:
        if random.random() < 0.6:
            topic["configs"] = {"min.insync.replicas": str(random.randint(1, 3))}
    for row in rows:
        if row["isr"] and random.random() < 0.3:
            row["leader"] = random.choice(row["isr"])
    limits: Document = {"leaders": {"absolute": len(rows) // len(ids) + random.randint(1, 3)}}
    if all("ingress_bytes_per_s" in row for row in rows):
        sent = sum(row["ingress_bytes_per_s"] * (len(row["replicas"]) - 1) for row in rows)
        limits["nic_out"] = {"absolute": max(1, int(sent / len(ids) * random.choice([1, 1.5, 2])))}
    fields: Document = {
        "max_brokers_per_wave": random.randint(1, 4),
        "controllers": random.sample(ids, random.randint(1, min(5, len(ids)))),
        "order": "controllers_last",
        "defaults": {"min_insync_replicas": random.randint(1, 3)},
        "catch_up_bytes_per_s": 2_000,
        "limits": {name: limit for name, limit in limits.items() if random.random() < 0.6},
    }
    if all(broker["rack"] for broker in snapshot["brokers"]):
        fields["per"] = "rack"
    return snapshot, {name: value for name, value in fields.items() if random.random() < 0.5}


class Model:
    """What a restart may do, partition by partition.

    Attributes
    ----------
    up : brokers that are restarted, ascending. partitions : with `isr`, the in-sync replicas on these in list order,
    and `least`, how many have to be in sync.
    """

    def __init__(self, snapshot: Document, request: Document) -> None:
        self.request, self.limits = request, request.get("limits", {})
        self.rack_of = {broker["id"]: broker["rack"] for broker in snapshot["brokers"]}
        down = {broker["id"] for broker in snapshot["brokers"] if broker.get("fenced")}
        self.up = sorted(self.rack_of.keys() - down)
        default = request.get("defaults", {}).get("min_insync_replicas", 1)
        self.partitions = [
            row
            | {
                "topic": topic["name"],
                "least": int(topic.get("configs", {}).get("min.insync.replicas", default)),
                "isr": [broker for broker in row["replicas"] if broker in row["isr"] and broker in self.up],
                "load": {"leaders": 1, "nic_out": row.get("ingress_bytes_per_s", 0) * (len(row["replicas"]) - 1)},
            }
            for topic in snapshot["topics"]
            for row in topic["partitions"]
        ]
        voters = request.get("controllers", [])
        self.spare_voters = (len(voters) - 1) // 2 - len(down.intersection(voters))
        self.has_rates = all("ingress_bytes_per_s" in row for row in self.partitions)

    def leaders(self, down: Iterable[int]) -> dict[int, Counter[str]]:
        """The load that each broker has from leading while others are down."""
        loads: dict[int, Counter[str]] = {broker: Counter() for broker in self.rack_of}
        for row in self.partitions:
            left = [broker for broker in row["isr"] if broker not in down]
            leader = row["leader"] if row["leader"] not in down else next(iter(left), row["leader"])
            if leader in loads:
                loads[leader].update(row["load"])
        return loads

    def is_within_limits(self, down: Iterable[int]) -> bool:
        """Whether no broker that gets leaders is above a limit."""
        before, after = self.leaders(()), self.leaders(down)
        return not any(
            after[broker][name] > max(limit["absolute"], before[broker][name])
            for name, limit in self.limits.items()
            for broker in self.rack_of
        )

    def is_allowed(self, wave: tuple[int, ...]) -> bool:
        """Whether a wave may be: one broker always, several if they block no partition more than each alone does."""
        voters = sum(broker in self.request.get("controllers", ()) for broker in wave)
        if len(wave) > self.request.get("max_brokers_per_wave", len(wave)) or voters > max(1, self.spare_voters):
            return False
        if self.request.get("per") == "rack" and len({self.rack_of[broker] for broker in wave}) > 1:
            return False
        for row in self.partitions:
            left = [broker for broker in row["isr"] if broker not in wave]
            if len(row["isr"]) - len(left) > 1 and len(left) < max(1, row["least"]):
                return False
        parts = (part for size in range(1, len(wave) + 1) for part in combinations(wave, size))
        return len(wave) == 1 or all(self.is_within_limits(part) for part in parts)

    def fewest(self, brokers: list[int]) -> int:
        """The fewest waves of these brokers, of all schedules."""
        waves = [
            {*wave}
            for size in range(1, len(brokers) + 1)
            for wave in combinations(brokers, size)
            if self.is_allowed(wave)
        ]
        done = {frozenset[int]()}
        count = 0
        while frozenset(brokers) not in done:
            done = {
                each.union(wave)
                for each in done
                for first in [next(broker for broker in brokers if broker not in each)]
                for wave in waves
                if first in wave and not each & wave
            }
            count += 1
        return count

    def reason(self, row: Document) -> str | None:
        """Why a partition is not writable during the restart of any of its brokers; None if it is."""
        in_sync, factor, least = len(row["isr"]), len(row["replicas"]), row["least"]
        reasons = {
            "no_in_sync_replica": in_sync == 0,
            "min_isr_above_factor": least > factor,
            "below_min_isr": in_sync < least,
            "single_replica": factor == 1,
            "factor_equals_min_isr": factor == least,
            "at_min_isr": in_sync == least,
        }
        return next((name for name, holds in reasons.items() if holds), None)


def examine_wave(model: Model, wave: Document) -> None:
    """Every figure of a wave."""
    down, rows = wave["brokers"], model.partitions
    stops = [row for row in rows if len(row["isr"]) >= max(1, row["least"])]
    left = {(row["topic"], row["partition"]): len(set(row["isr"]).difference(down)) for row in rows}
    unwritable = [row for row in stops if left[row["topic"], row["partition"]] < max(1, row["least"])]
    assert wave["unwritable"] == len(unwritable)
    moved = [row for row in rows if row["leader"] in down and left[row["topic"], row["partition"]]]
    assert wave["leaders_moved"] == len(moved)
    received = {
        broker: sum(row.get("ingress_bytes_per_s", 0) for row in rows if broker in row["replicas"]) for broker in down
    }
    rate = model.request.get("catch_up_bytes_per_s") if model.has_rates else None
    catch_up = 0 if rate is None else max(DOWN_S * each / (rate - each) for each in received.values())
    assert wave["seconds"] == pytest.approx(DOWN_S + catch_up, abs=0.051)
    loads = model.leaders(down)
    remaining = [broker for broker in model.up if broker not in down]
    known = {"leaders", "nic_out"} if model.has_rates else {"leaders"}
    assert set(wave["largest_load"]) == (known if remaining else set())
    for name, largest in wave["largest_load"].items():
        assert largest["limit"] == model.limits.get(name, {}).get("absolute")
        assert largest["value"] == loads[largest["broker"]][name] == max(loads[broker][name] for broker in remaining)


@pytest.mark.parametrize("seed", seeds(RESTARTS))
def test_waves_are_the_fewest_and_every_figure_is_right(seed: int) -> None:
    snapshot, request = random_restart(seed)
    document, model = restart(snapshot, request), Model(snapshot, request)
    waves = [wave["brokers"] for wave in document["waves"]]
    assert sorted(broker for wave in waves for broker in wave) == model.up
    assert all(model.is_allowed(tuple(wave)) for wave in waves)
    certificate = document["certificate"]
    assert len(waves) == certificate["waves"] == certificate["lower_bound_waves"] == model.fewest(model.up)
    assert sum(each["waves"] for each in certificate["conflict"]) == len(waves)
    assert all(model.fewest(each["brokers"]) >= each["waves"] for each in certificate["conflict"])
    has_voter = [not set(wave).isdisjoint(request.get("controllers", ())) for wave in waves]
    assert "order" not in request or has_voter == sorted(has_voter)
    for wave in document["waves"]:
        examine_wave(model, wave)
    blocked = {(each["topic"], each["partition"], each["broker"], each["reason"]) for each in document["blocked"]}
    partitions = {(row["topic"], row["partition"], None, model.reason(row)) for row in model.partitions}
    alone = {(None, None, broker, "above_limit") for broker in model.up if not model.is_within_limits((broker,))}
    at_risk = {(None, None, None, "quorum")} if "controllers" in request and model.spare_voters < 1 else set()
    assert blocked == {each for each in partitions if each[3]} | alone | at_risk


@pytest.mark.parametrize("seed", seeds(40))
def test_the_order_of_a_snapshot_decides_nothing(seed: int) -> None:
    snapshot, request = random_restart(seed)
    random, other = Random(seed), json.loads(json.dumps(snapshot))
    for rows in (other["brokers"], other["topics"], *(topic["partitions"] for topic in other["topics"])):
        random.shuffle(rows)
    one, two = restart(snapshot, request), restart(other, request)
    for name in ("waves", "certificate", "blocked", "seconds", "warnings"):
        assert one[name] == two[name]
