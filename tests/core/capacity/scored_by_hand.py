"""The capacity model once more: slow, obvious, one partition, one replica and one failure set at a time.

It takes only the placement from the code under test, and reads the scenario's JSON itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import ceil, inf, log
from typing import Any

RESOURCES = ("disk", "disk_bytes_per_s", "nic_in", "nic_out", "vcpu", "partitions")
CAPACITIES = ("disk_bytes", "disk_bytes_per_s", "nic_in_bytes_per_s", "nic_out_bytes_per_s", "vcpu", "max_partitions")
COPIES = {"nic_in": 1, "nic_out": 1, "disk_bytes_per_s": 2, "vcpu": 2}


@dataclass(frozen=True)
class Partition:
    """One partition and its traffic."""

    replicas: list[int]
    min_insync: int
    mean: float
    peak: float
    groups: float
    lagging: float
    growing: float
    local: float
    segment: float
    most: float
    remote: float

    def bytes_on_disk(self, factor: float) -> float:
        """Of one replica, where traffic is multiplied by `factor`."""
        retained = inf if self.growing == inf else self.growing * factor
        return min(retained, inf if self.local == inf else self.local * factor + self.segment, self.most)


class ByHand:
    """A scenario's figures. `replicas` are the rows of broker ids of each topic."""

    def __init__(self, scenario: Mapping[str, Any], replicas: list[list[list[int]]]) -> None:
        self.json = scenario
        topology = scenario["topology"]
        counts = topology["brokers_per_rack"]
        if isinstance(counts, int):
            counts = dict.fromkeys(topology["racks"], counts)
        racks = [rack for rack in topology["racks"] for _ in range(counts[rack])]
        self.rack_of = dict(enumerate(racks, start=1))
        self.racks = topology["racks"]
        clients = scenario.get("clients", {})
        even = {rack: 1 / len(self.racks) for rack in self.racks}
        self.consumers = clients.get("consumer_share_per_rack", even)
        self.producers = clients.get("producer_share_per_rack", even)
        self.fetching = clients.get("follower_fetching", False)
        self.partitions = list(
            chain.from_iterable(
                _partitions(topic, rows, scenario.get("partitions_multiplier", 1))
                for topic, rows in zip(scenario["topics"], replicas, strict=True)
            )
        )

    def failure_sets(self) -> Iterator[tuple[str, str, set[int]]]:
        """Class, name and brokers lost, in the documented order."""
        classes = self.json["failures"]
        yield "none", "none", set()
        if "broker" in classes:
            for broker in self.rack_of:
                yield "broker", f"broker:{broker}", {broker}
        for rack in self.racks:
            gone = {broker for broker in self.rack_of if self.rack_of[broker] == rack}
            if "rack" in classes:
                yield "rack", f"rack:{rack}", gone
            if "rack_and_broker" in classes:
                for broker in set(self.rack_of) - gone:
                    yield "rack_and_broker", f"rack:{rack}+broker:{broker}", gone | {broker}

    def server(self, rack: str, live: list[int]) -> int:
        """Who serves the consumers of a rack."""
        near = [broker for broker in live if self.rack_of[broker] == rack]
        return near[0] if self.fetching and near else live[0]

    def loads(self, failure: str, lost: set[int], factor: float = 1.0) -> dict[str, dict[int, float]]:
        """Every survivor's load of every resource, in the resource's own unit."""
        load = {resource: dict.fromkeys(set(self.rack_of) - lost, 0.0) for resource in RESOURCES}
        writes, sent, read = (dict.fromkeys(self.rack_of, 0.0) for _ in range(3))
        for partition in self.partitions:
            live = [broker for broker in partition.replicas if broker not in lost]
            peak = partition.peak * factor
            for broker in live:
                load["partitions"][broker] += 1
                load["disk"][broker] += partition.bytes_on_disk(factor)
                load["nic_in"][broker] += peak
                load["disk_bytes_per_s"][broker] += peak
                writes[broker] += peak
            if not live:
                continue
            load["nic_out"][live[0]] += peak * (len(live) - 1)
            sent[live[0]] += peak * (len(live) - 1)
            for rack, share in self.consumers.items():
                reads = share * partition.groups * peak
                at = self.server(rack, live)
                load["nic_out"][at] += reads
                load["disk_bytes_per_s"][at] += reads * partition.lagging
                read[at] += reads
        per_vcpu = self.json["broker_profile"]["bytes_per_s_per_vcpu"]
        copied = 0 if failure == "none" else self.json.get("rereplication", {}).get("throttle_bytes_per_s", 0)
        for broker in load["vcpu"]:
            load["vcpu"][broker] = (writes[broker] + sent[broker] + read[broker] / 4) / per_vcpu
            for resource, times in COPIES.items():
                load[resource][broker] += times * copied / (per_vcpu if resource == "vcpu" else 1)
        return load

    def limits(self) -> dict[str, float]:
        """A broker's limit of each resource."""
        profile, targets = self.json["broker_profile"], self.json.get("targets", {})
        return {
            resource: profile[field] * targets.get(resource, 1)
            for resource, field in zip(RESOURCES, CAPACITIES, strict=True)
            if profile.get(field) is not None
        }

    def holds(self, factor: float) -> bool:
        """Whether every limit holds everywhere where traffic is multiplied by `factor`; up to rounding."""
        for _, name, lost in self.failure_sets():
            load = self.loads(name, lost, factor)
            for resource, limit in self.limits().items():
                if any(value > limit * (1 + 1e-9) for value in load[resource].values()):
                    return False
        return True

    def headroom(self) -> float:
        """By bisection between feasible and infeasible, to a part in 10⁹."""
        if not self.holds(0):
            return 0.0
        high = 1.0
        while self.holds(high):
            high *= 2
            if high > 1e12:
                return inf
        low = high / 2 if high > 1 else 0.0
        for _ in range(32):
            middle = (low + high) / 2
            low, high = (middle, high) if self.holds(middle) else (low, middle)
        return low

    def first_breaking_month(self, headroom: float) -> int | None:
        """By the formula."""
        growth, horizon = self.json["traffic"]["growth_per_month"], self.json["traffic"]["horizon_months"]
        if not self.holds(1):
            return 0
        if growth <= 0 or headroom == inf:
            return None
        month = ceil(log(headroom) / log(1 + growth))
        return month if month <= horizon else None

    def counts(self) -> dict[str, tuple[int, int, int, int]]:
        """For each class: sets, and the most partitions offline, under min in-sync, not rack-safe."""
        actual: dict[str, tuple[int, int, int, int]] = {}
        for kind, _, lost in self.failure_sets():
            live_racks = {self.rack_of[broker] for broker in set(self.rack_of) - lost}
            offline = under = unsafe = 0
            for partition in self.partitions:
                live = [broker for broker in partition.replicas if broker not in lost]
                offline += not live
                under += len(live) < partition.min_insync
                unsafe += len({self.rack_of[broker] for broker in live}) < min(len(live), len(live_racks))
            sets, *most = actual.get(kind, (0, 0, 0, 0))
            actual[kind] = (sets + 1, max(most[0], offline), max(most[1], under), max(most[2], unsafe))
        return actual

    def cross_rack(self) -> tuple[float, float, float]:
        """Average bytes/s of producers, followers and consumers from rack to rack."""
        producers = followers = consumers = 0.0
        for partition in self.partitions:
            leader_rack = self.rack_of[partition.replicas[0]]
            producers += sum(share for rack, share in self.producers.items() if rack != leader_rack) * partition.mean
            followers += sum(self.rack_of[broker] != leader_rack for broker in partition.replicas) * partition.mean
            for rack, share in self.consumers.items():
                if self.rack_of[self.server(rack, partition.replicas)] != rack:
                    consumers += share * partition.groups * partition.mean
        return producers, followers, consumers

    def monthly_cost(self) -> tuple[float, float, float, float]:
        """Brokers, storage, cross-rack, remote storage."""
        profile, prices = self.json["broker_profile"], self.json["prices"]
        producers, followers, consumers = self.cross_rack()
        billed = producers + consumers + (followers if prices["replication_billed"] else 0)
        brokers = len(self.rack_of)
        return (
            brokers * profile["price_per_month"],
            brokers * profile["disk_bytes"] / 2**30 * prices["storage_per_gib_month"],
            billed * 730 * 3600 / 2**30 * prices["cross_rack_per_gib"],
            self.remote_bytes() / 2**30 * prices["remote_storage_per_gib_month"],
        )

    def remote_bytes(self) -> float:
        """One copy of each partition of tiered topics."""
        return sum(partition.remote for partition in self.partitions)


def _partitions(topic: Mapping[str, Any], rows: list[list[int]], multiplier: int) -> Iterator[Partition]:
    weights = topic.get("partition_weights", "uniform")
    if weights == "uniform":
        weights = [1.0] * len(rows)
    elif isinstance(weights, Mapping):
        weights = [1 / (number + 1) ** weights["zipf"] for number in range(len(rows))]
    else:
        weights = list(weights) * multiplier
    on_disk = 1 + topic.get("disk_headroom", 0)
    mean = topic["ingress_bytes_per_s"]
    measured = [own / multiplier for own in topic.get("retained_bytes_per_partition", ())] * multiplier
    for number, (row, weight) in enumerate(zip(rows, weights, strict=True)):
        share = weight / sum(weights)
        if measured:
            growing = measured[number] * on_disk
        elif "retained_bytes" in topic:
            growing = topic["retained_bytes"] * share * on_disk
        else:
            growing = mean * share * topic["retention_s"] * on_disk if "retention_s" in topic else inf
        most = topic["retention_bytes"] * on_disk if "retention_bytes" in topic else inf
        segment = topic.get("segment_bytes", 2**30)
        local_s, local_bytes = topic.get("local_retention_s"), topic.get("local_retention_bytes")
        yield Partition(
            replicas=row,
            min_insync=topic.get("min_insync_replicas", 1),
            mean=mean * share,
            peak=topic.get("peak_ingress_bytes_per_s", mean) * share,
            groups=topic.get("consumer_groups", 0),
            lagging=topic.get("lagging_share", 0),
            growing=growing,
            local=inf if local_s is None else mean * share * local_s * on_disk,
            segment=segment,
            most=most if local_bytes is None else min(most, local_bytes * on_disk + segment),
            remote=min(growing, most) / on_disk if topic.get("remote_storage") else 0,
        )
