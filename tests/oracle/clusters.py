"""Random small clusters, as the JSON of a snapshot: at most 8 brokers and 12 partitions."""

from collections import Counter
from random import Random
from typing import Any

Document = dict[str, Any]

HUGE_BYTES = 1 << 45
MOST_BROKERS = 8
MOST_PARTITIONS = 12


def random_cluster(random: Random, *, is_busy: bool = False) -> Document:
    """A cluster with at most one fault: a broker that is down, partial ISRs, unknown sizes, missing racks.

    A busy one has no fault, at least 6 partitions with rates, and 6 brokers at most: its loads are hard to balance.
    """
    ids = random.sample(range(1, 60), random.randint(3, 6) if is_busy else random.randint(2, MOST_BROKERS))
    racks = [f"r{n}" for n in range(random.choice([0, 1, 2, 2, 3, 3, 3, 4]))]
    brokers: list[Document] = []
    for place, broker in enumerate(ids):
        rack = None if not racks else racks[place] if place < len(racks) else random.choice(racks)
        brokers.append({"id": broker, "rack": rack})
    fault = random.choice(["none", "none", "none", "fenced", "unlisted", "isr", "sizes", "rack", "placement"])
    fault = "none" if is_busy else fault
    if fault == "fenced" and len(ids) > 2:
        random.choice(brokers)["fenced"] = True
    if fault == "rack" and racks:
        random.choice(brokers)["rack"] = None
    listed = [*ids, 60] if fault == "unlisted" else ids
    rack_of = {broker["id"]: broker["rack"] for broker in brokers}
    is_spread = fault != "placement" and (is_busy or random.random() < 0.8)
    topics: list[Document] = []
    size_of = _sizes(random)
    with_rates = is_busy or random.random() < 0.7
    left = random.randint(6 if is_busy else 1, MOST_PARTITIONS)
    while left > 0:
        count = random.randint(1, min(6, left))
        left -= count
        factor = random.choice([1, 2, 2, 2, 3, 3, 4])
        weights = [random.choice([1, 1, 1, 4]) for _ in listed]
        partitions = []
        for partition in range(count):
            replicas = _replicas(random, listed, weights, rack_of, min(factor, len(ids)), is_spread=is_spread)
            partitions.append(_partition(random, partition, replicas, fault, size_of(), rack_of, brokers))
            if with_rates:
                partitions[-1]["ingress_bytes_per_s"] = random.randint(0, 100)
        topics.append({"name": f"t{len(topics)}", "partitions": partitions})
    return {"cluster": "oracle", "brokers": brokers, "topics": topics}


def with_log_dirs(random: Random, snapshot: Document) -> Document:
    """The cluster with 1 to 3 directories a broker, of equal or different size, and each replica in one of them."""
    rows = [row for topic in snapshot["topics"] for row in topic["partitions"]]
    used: Counter[int] = Counter()
    for row in rows:
        used.update(dict.fromkeys(row["replicas"], row["size_bytes"] or 0))
    total = max(2, sum(used.values()))
    paths_of = {broker["id"]: [f"/d{n}" for n in range(random.choice([1, 2, 2, 3]))] for broker in snapshot["brokers"]}
    brokers = []
    for broker in snapshot["brokers"]:
        sizes = random.choice([[total], [total, total // 2]])
        paths = paths_of[broker["id"]]
        directories = [{"path": path, "total_bytes": random.choice(sizes)} for path in paths]
        brokers.append(broker | {"log_dirs": directories})
    for row in rows:
        row["log_dirs"] = [random.choice(paths_of.get(broker, [None])) for broker in row["replicas"]]
    return snapshot | {"brokers": brokers}


def _sizes(random: Random) -> Any:
    """A source of sizes: equal, small with zeros, spread, one of them huge, or all zero."""
    kind = random.choice(["equal", "small", "spread", "spread", "huge", "zero"])
    if kind == "equal":
        return lambda: 100
    if kind == "small":
        return lambda: random.choice([0, 0, random.randint(1, 50)])
    if kind == "huge":
        return lambda: random.choice([1, HUGE_BYTES, HUGE_BYTES + random.randint(0, 1000)])
    if kind == "zero":
        return lambda: 0
    return lambda: random.randint(1, 1000)


def _replicas(
    random: Random,
    listed: list[int],
    weights: list[int],
    rack_of: dict[int, str | None],
    factor: int,
    *,
    is_spread: bool,
) -> list[int]:
    """Replicas on brokers that are chosen by weight, in as few partitions of a rack as possible if they are spread."""
    chosen: list[int] = []
    while len(chosen) < factor:
        left = [broker for broker in listed if broker not in chosen]
        if is_spread:
            used = [sum(rack_of.get(other) == rack_of.get(broker) for other in chosen) for broker in left]
            left = [broker for broker, count in zip(left, used, strict=True) if count == min(used)]
        chosen += random.choices(left, [weights[listed.index(broker)] for broker in left])
    return chosen


def _partition(
    random: Random,
    partition: int,
    replicas: list[int],
    fault: str,
    size: int,
    rack_of: dict[int, str | None],
    brokers: list[Document],
) -> Document:
    down = {broker["id"] for broker in brokers if broker.get("fenced")} | (set(replicas) - rack_of.keys())
    isr = [broker for broker in replicas if broker not in down]
    if fault == "isr" and len(isr) > 1 and random.random() < 0.5:
        isr.remove(random.choice(isr))
    written = {
        "partition": partition,
        "replicas": replicas,
        "isr": isr,
        "leader": isr[0] if isr else None,
        "size_bytes": size,
    }
    if fault == "sizes" and random.random() < 0.5:
        written["size_bytes"] = None
    return written
