"""The instances of KafkaBench: each is generated from its kind, its seed and its parameters.

An instance is a JSON document. `rules` is what a solution is judged by; `snapshot` and `request` describe the same
problem as Rackplan's API takes it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rackplan.bench.draws import Draws

Document = dict[str, Any]
Parameters = Mapping[str, int]

_MIB = 1 << 20
_RETENTION_S = 86_400


def generate(kind: str, seed: int, parameters: Parameters) -> Document:
    """The instance without its name. Raises `KeyError` for an unknown kind."""
    return KINDS[kind](Draws(seed), parameters)


def _decommission(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    start = draws.below(len(brokers))
    removed = [1 + (start + number) % len(brokers) for number in range(parameters["removed"])]
    left = [broker["id"] for broker in brokers if broker["id"] not in removed]
    bands = [_even("replicas", topics, left)] if parameters.get("tight") else []
    request = {"remove_brokers": removed, "balance": {"replicas": "tight" if bands else "keep"}}
    return _reassignment(brokers, topics, request, receivers=left, bands=bands)


def _add(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    added = _brokers(len(brokers) + 1, parameters["added"], parameters["racks"])
    receivers = [broker["id"] for broker in [*brokers, *added]]
    request = {"add_brokers": added, "balance": {"replicas": "tight"}}
    bands = [_even("replicas", topics, receivers)]
    return _reassignment(brokers, topics, request, receivers=receivers, bands=bands, added=added)


def _racks(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    for partition in _partitions(topics):
        if draws.below(12) == 0:
            replicas = partition["replicas"]
            beside = [each["id"] for each in brokers if (each["id"] - replicas[0]) % parameters["racks"] == 0]
            others = [broker for broker in beside if broker not in replicas]
            replicas[1 + draws.below(len(replicas) - 1)] = others[draws.below(len(others))]
    everywhere = [broker["id"] for broker in brokers]
    request = {"balance": {"replicas": "tight"}}
    return _reassignment(brokers, topics, request, receivers=everywhere, bands=[_even("replicas", topics, everywhere)])


def _bytes(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    everywhere, percent = [broker["id"] for broker in brokers], parameters["tolerance_percent"]
    total = sum(_load("disk", partition) for partition in _partitions(topics))
    low = -(-total * (100 - percent) // (100 * len(brokers)))
    band = {"load": "disk", "low": low, "high": total * (100 + percent) // (100 * len(brokers))}
    request = {"balance": {"replicas": {"tolerance": percent / 100}, "replicas_by": "bytes"}}
    return _reassignment(brokers, topics, request, receivers=everywhere, bands=[band])


def _per_topic(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    everywhere = [broker["id"] for broker in brokers]
    bands = [_even("replicas", topics, everywhere)]
    bands += [_even("replicas", [topic], everywhere) | {"topic": topic["name"]} for topic in topics]
    request = {"balance": {"replicas": "tight", "per_topic": {"replicas": "tight"}}}
    return _reassignment(brokers, topics, request, receivers=everywhere, bands=bands)


def _resources(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    everywhere = [broker["id"] for broker in brokers]
    bands = []
    for load in ("disk", "nic_in", "nic_out", "replicas", "leaders"):
        total = sum(_load(load, partition) for partition in _partitions(topics))
        high = -(-total * (100 + parameters["slack_percent"]) // (100 * len(brokers)))
        bands.append({"load": load, "low": 0, "high": high})
    request = {"objective": "relieve", "limits": {band["load"]: {"absolute": band["high"]} for band in bands}}
    return _reassignment(brokers, topics, request, receivers=everywhere, bands=bands)


def _leaders(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    everywhere = [broker["id"] for broker in brokers]
    request = {"leaders_only": True, "balance": {"leaders": "tight"}}
    instance = _reassignment(brokers, topics, request, receivers=[], bands=[_even("leaders", topics, everywhere)])
    instance["rules"]["objectives"] = ["leader_changes"]
    return instance


def _jbod(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    paths = [f"/data/d{number}" for number in range(1, parameters["log_dirs"] + 1)]
    used = {broker["id"]: 0 for broker in brokers}
    for partition in _partitions(topics):
        partition["log_dirs"] = [paths[draws.below(len(paths))] for _ in partition["replicas"]]
        for broker in partition["replicas"]:
            used[broker] += partition["size_bytes"]
    drained = {broker["id"]: [paths[0]] for broker in brokers if draws.below(parameters["drained_one_in"]) == 0}
    high = {}
    for broker in brokers:
        left = len(paths) - len(drained.get(broker["id"], ()))
        unit = -(-used[broker["id"]] * (100 + parameters["slack_percent"]) // (800 * left))
        high[str(broker["id"])] = 8 * unit
        broker["log_dirs"] = [{"path": path, "total_bytes": 10 * unit} for path in paths]
    drain = {str(broker): emptied for broker, emptied in drained.items()}
    request = {"limits": {"log_dirs": 0.8}, "log_dirs": {"drain": drain}}
    instance = _reassignment(brokers, topics, request, receivers=[], bands=[])
    instance["rules"] |= {
        "objectives": ["moved_log_dir_bytes"],
        "log_dirs": {"paths": paths, "high": high, "drain": drain},
    }
    return instance


def _groups(draws: Draws, parameters: Parameters) -> Document:
    brokers, topics = _cluster(draws, parameters)
    count, joined = parameters["members"], parameters["joined"]
    members: list[Document] = [
        {"member_id": f"m-{number:03d}", "rack_id": brokers[draws.below(parameters["racks"])]["rack"]}
        for number in range(count)
    ]
    owned: list[Document] = [{} for _ in members]
    for topic in topics:
        for partition in topic["partitions"]:
            owner = owned[draws.below(count - joined)]
            owner.setdefault(topic["name"], []).append(partition["partition"])
    for member, partitions in zip(members, owned, strict=True):
        member |= {"topics": [topic["name"] for topic in topics], "owned_partitions": partitions, "generation_id": 1}
    racks = {broker["id"]: broker["rack"] for broker in brokers}
    rules = {
        "form": "group",
        "objectives": ["cross_rack_partitions", "moved_partitions"],
        "partitions": {
            topic["name"]: [sorted({racks[broker] for broker in each["replicas"]}) for each in topic["partitions"]]
            for topic in topics
        },
        "members": {
            member["member_id"]: {"rack": member["rack_id"], "owned": member["owned_partitions"]} for member in members
        },
    }
    return {"rules": rules, "snapshot": _snapshot(brokers, topics), "request": {"members": members}}


def _streams(draws: Draws, parameters: Parameters) -> Document:
    zones, count, standbys = parameters["zones"], parameters["clients"], parameters["standbys"]
    names = [f"client-{number:03d}" for number in range(count)]
    tasks = [f"0_{number}" for number in range(parameters["tasks"])]
    zone = {name: f"z{number % zones}" for number, name in enumerate(names)}
    active = {name: tasks[place::count] for place, name in enumerate(draws.order(names))}
    before: dict[str, list[str]] = {name: [] for name in names}
    for name, held in active.items():
        for task in held:
            others = [other for other in names if zone[other] != zone[name]]
            for other in draws.order(others)[: 1 + draws.below(standbys)]:
                before[other].append(task)
    clients = [
        {
            "process_id": name,
            "capacity": 1,
            "client_tags": {"zone": zone[name]},
            "previous_active": active[name],
            "previous_standby": sorted(before[name]),
            # No standby has caught up, so that Kafka leaves active tasks where they are.
            "lags": dict.fromkeys(sorted(before[name]), 100_000),
        }
        for name in names
    ]
    rules = {
        "form": "streams",
        "objectives": ["imbalance", "restored_copies"],
        "tasks": tasks,
        "standbys": standbys,
        "clients": {
            name: {"zone": zone[name], "active": active[name], "standby": sorted(before[name])} for name in names
        },
    }
    request = {
        "tasks": tasks,
        "stateful_tasks": tasks,
        "clients": clients,
        "num_standby_replicas": standbys,
        "rack_aware_assignment_tags": ["zone"],
    }
    return {"rules": rules, "request": request}


def _consumers(draws: Draws, parameters: Parameters) -> Document:
    intervals = parameters["intervals"]
    rates = []
    for _ in range(parameters["partitions"]):
        base, peak = draws.heavy(64_000) // 2, draws.below(intervals)
        distances = [min((peak - place) % intervals, (place - peak) % intervals) for place in range(intervals)]
        rates.append([base * (16 + draws.below(4) - 16 * far // intervals) // 8 for far in distances])
    capacity = max(max(series) for series in rates) * parameters["capacity_percent"] // 100
    rules = {
        "form": "consumers",
        "objectives": ["consumer_intervals", "moved_bytes_per_s"],
        "capacity_bytes_per_s": capacity,
        "intervals": intervals,
        "bytes_per_s": {"events": rates},
    }
    return {"rules": rules}


KINDS: Mapping[str, Callable[[Draws, Parameters], Document]] = {
    "decommission": _decommission,
    "add": _add,
    "racks": _racks,
    "bytes": _bytes,
    "jbod": _jbod,
    "per_topic": _per_topic,
    "resources": _resources,
    "leaders": _leaders,
    "groups": _groups,
    "streams": _streams,
    "consumers": _consumers,
}


def _cluster(draws: Draws, parameters: Parameters) -> tuple[list[Document], list[Document]]:
    """Brokers that take turns in racks, and topics of unequal sizes whose replicas are on random brokers.

    With `late`, that percentage of the brokers has no partition of the first two thirds of the topics. With `skew`,
    brokers with a lower id have more replicas.
    """
    count, racks, factor = parameters["brokers"], parameters["racks"], parameters["factor"]
    weights = [draws.heavy(1) for _ in range(parameters["topics"])]
    spare, total = parameters["partitions"] - len(weights), sum(weights)
    sizes = [1 + spare * weight // total for weight in weights]
    sizes[0] += parameters["partitions"] - sum(sizes)
    early = count - count * parameters.get("late", 0) // 100
    topics = []
    for number, size in enumerate(sizes):
        mean, age = draws.heavy(64 * _MIB), 1 + draws.below(7)
        pool = early if 3 * number < 2 * len(sizes) else count
        partitions = []
        for partition in range(size):
            chosen = draws.order(range(racks))[:factor]
            replicas = [1 + rack + racks * _place(draws, pool, rack, parameters) for rack in chosen]
            size_bytes = mean * (64 + draws.below(128)) // 128
            rate = size_bytes * (64 + draws.below(128)) // (128 * age * _RETENTION_S) + 1
            partitions.append(
                {
                    "partition": partition,
                    "replicas": replicas,
                    "size_bytes": size_bytes,
                    "ingress_bytes_per_s": rate,
                }
            )
        topics.append({"name": f"t{number:03d}", "partitions": partitions})
    return _brokers(1, count, racks), topics


def _place(draws: Draws, pool: int, rack: int, parameters: Parameters) -> int:
    brokers = (pool - rack + parameters["racks"] - 1) // parameters["racks"]
    place = draws.below(brokers)
    return min(place, draws.below(brokers)) if parameters.get("skew") else place


def _brokers(first: int, count: int, racks: int) -> list[Document]:
    return [{"id": broker, "rack": f"r{(broker - 1) % racks}"} for broker in range(first, first + count)]


def _partitions(topics: Sequence[Document]) -> list[Document]:
    return [partition for topic in topics for partition in topic["partitions"]]


def _load(load: str, partition: Document) -> int:
    """The load of a partition on all its brokers together."""
    factor, rate = len(partition["replicas"]), partition["ingress_bytes_per_s"]
    loads = {
        "disk": factor * partition["size_bytes"],
        "nic_in": factor * rate,
        "nic_out": factor * rate,
        "replicas": factor,
    }
    return int(loads.get(load, 1))


def _even(load: str, topics: Sequence[Document], brokers: Sequence[int]) -> Document:
    """The band of a load whose brokers differ by 1 at most."""
    total = sum(_load(load, partition) for partition in _partitions(topics))
    return {"load": load, "low": total // len(brokers), "high": -(-total // len(brokers))}


def _snapshot(brokers: Sequence[Document], topics: Sequence[Document]) -> Document:
    return {"cluster": "kafkabench", "brokers": list(brokers), "topics": list(topics)}


def _reassignment(
    brokers: Sequence[Document],
    topics: Sequence[Document],
    request: Document,
    *,
    receivers: Sequence[int],
    bands: Sequence[Document],
    added: Sequence[Document] = (),
) -> Document:
    """An instance whose solution is a reassignment. Without receivers each partition keeps its set of brokers."""
    rules = {
        "form": "reassignment",
        "objectives": ["moved_bytes"],
        "receivers": list(receivers),
        "racks": {str(broker["id"]): broker["rack"] for broker in [*brokers, *added]},
        "bands": list(bands),
    }
    request = {"minimise": "bytes", "consumers": {"*": 1}, **request}
    return {"rules": rules, "snapshot": _snapshot(brokers, topics), "request": request}
