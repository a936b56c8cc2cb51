"""Every kind of option of `POST /v1/plans/reassignment`, with random values that fit a cluster."""

from collections import Counter
from collections.abc import Callable
from random import Random

from tests.oracle.clusters import Document

Option = Callable[[Random, Document], Document]


def random_request(random: Random, snapshot: Document, kinds: list[str]) -> Document:
    """A request with options of these kinds; of fields that two of them state, the first one's value holds."""
    request: Document = {}
    for kind in kinds:
        _merge(request, OPTIONS[kind](random, snapshot))
    return request


def _merge(request: Document, other: Document) -> None:
    for name, value in other.items():
        if {"absolute", "share"} <= {name, *request}:
            continue  # a limit is one or the other
        if isinstance(value, dict) and isinstance(request.get(name), dict):
            _merge(request[name], value)
        else:
            request.setdefault(name, value)


def _brokers(random: Random, snapshot: Document, most: int = 1) -> list[int]:
    ids = [broker["id"] for broker in snapshot["brokers"]]
    return random.sample(ids, random.randint(1, min(most, len(ids))))


def _topic(random: Random, snapshot: Document) -> Document:
    chosen: Document = random.choice(snapshot["topics"])
    return chosen


def _racks(snapshot: Document) -> list[str]:
    return sorted({broker["rack"] for broker in snapshot["brokers"] if broker["rack"] is not None})


def _rack(random: Random, snapshot: Document) -> str:
    return random.choice(_racks(snapshot) or ["r0"])


def _factor(random: Random, snapshot: Document, change: int) -> Document:
    topic = _topic(random, snapshot)
    present = len(topic["partitions"][0]["replicas"])
    return {"replication_factor": {topic["name"]: max(1, present + change)}}


def _added(random: Random, snapshot: Document) -> Document:
    racks = _racks(snapshot)
    return {
        "add_brokers": [
            {"id": 70 + n, "rack": random.choice(racks) if racks else None} for n in range(random.randint(1, 2))
        ]
    }


def _weights_by_load(random: Random, snapshot: Document) -> Document:
    """Unequal brokers that share bytes or ingress in proportion to their weights."""
    return {
        "balance": _weights(random, snapshot)["balance"]
        | {
            "replicas": random.choice(["tight", "tight", {"tolerance": 0.2}]),
            "replicas_by": random.choice(["bytes", "bytes", "throughput"]),
        }
    }


def _drain(random: Random, snapshot: Document) -> Document:
    broker = random.choice(snapshot["brokers"])
    return {"log_dirs": {"drain": {str(broker["id"]): [random.choice(broker["log_dirs"])["path"]]}}}


def _broker_sets(random: Random, snapshot: Document) -> Document:
    ids = [broker["id"] for broker in snapshot["brokers"]]
    half = random.sample(ids, max(1, len(ids) // 2))
    return {"broker_sets": {"blue": half}, "topic_sets": {_topic(random, snapshot)["name"]: "blue"}}


def _hashed_sets(random: Random, snapshot: Document) -> Document:
    ids = [broker["id"] for broker in snapshot["brokers"]]
    random.shuffle(ids)
    return {"broker_sets": {"blue": ids[::2], "green": ids[1::2]}, "topic_sets": "topic_name_hash"}


def _pin(random: Random, snapshot: Document) -> Document:
    topic = _topic(random, snapshot)
    row = random.choice(topic["partitions"])
    ids = [broker["id"] for broker in snapshot["brokers"] if not broker.get("fenced")]
    replicas = random.sample(ids, min(len(row["replicas"]), len(ids)))
    return {"pins": [{"topic": topic["name"], "partition": row["partition"], "replicas": replicas}]}


def _limit_of_one_path(random: Random, snapshot: Document) -> Document:
    """A limit of one directory, and another of all others; sometimes one of all others of its broker."""
    broker = random.choice(snapshot["brokers"])
    paths = {random.choice(broker["log_dirs"])["path"]: random.choice([0.01, 0.1, 0.3])}
    others = {"*": random.choice([0.5, 0.7])} if random.random() < 0.5 else {}
    return {"limits": {"log_dirs": {str(broker["id"]): paths | others, "*": {"*": random.choice([0.6, 0.9, 1])}}}}


def _balanced_topic(random: Random, snapshot: Document) -> Document:
    """One topic in a band of its own, without racks: the bands of the other topics are free."""
    evenness = random.choice(["tight", "tight", {"tolerance": random.choice([0, 0.2, 0.5])}])
    per_topic = {"replicas": evenness, "topics": [_topic(random, snapshot)["name"]]}
    return {"rack_mode": "disabled", "balance": {"per_topic": per_topic}}


def _batch_disk(random: Random, snapshot: Document) -> Document:
    """Disks of equal size, near the largest that a broker has, and a share of them that batches leave unused."""
    used: Counter[int] = Counter()
    for row in (row for topic in snapshot["topics"] for row in topic["partitions"]):
        used.update(dict.fromkeys(row["replicas"], row["size_bytes"] or 0))
    most = max(1, *used.values())
    return {
        "remove_brokers": _brokers(random, snapshot),
        "capacity": {"*": {"disk_bytes": int(most * random.choice([1.2, 1.5, 2, 4]))}},
        "batches": {"max_disk_share": random.choice([0.8, 0.9, 1])},
    }


def _weights(random: Random, snapshot: Document) -> Document:
    weights = {str(broker): random.choice([1, 2, 3]) for broker in _brokers(random, snapshot, 3)}
    return {"balance": {"replicas": "tight", "weights": weights}}


def replicas_of(snapshot: Document) -> int:
    """The number of replicas of a cluster."""
    return sum(len(row["replicas"]) for topic in snapshot["topics"] for row in topic["partitions"])


def _limit(random: Random, snapshot: Document) -> Document:
    """A limit near the mean of the brokers' loads: often tight, sometimes infeasible."""
    rows = [row for topic in snapshot["topics"] for row in topic["partitions"]]
    total = {
        "disk": sum((row["size_bytes"] or 0) * len(row["replicas"]) for row in rows),
        "nic_in": sum(row.get("ingress_bytes_per_s", 0) * len(row["replicas"]) for row in rows),
        "nic_out": sum(row.get("ingress_bytes_per_s", 0) * (len(row["replicas"]) - 1) for row in rows),
        "replicas": replicas_of(snapshot),
        "leaders": len(rows),
    }
    resource = random.choice(list(total))
    share = total[resource] / len(snapshot["brokers"])
    return {
        resource: {"absolute": max(1, int(share * random.choice([1.0, 1.1, 1.3, 1.6, 2.0])) + random.randint(0, 1))}
    }


def _share_limit(random: Random, snapshot: Document) -> Document:
    """A limit of a share of equal capacities, near the mean of the brokers' loads."""
    rows = [row for topic in snapshot["topics"] for row in topic["partitions"]]
    total = sum((row["size_bytes"] or 0) * len(row["replicas"]) for row in rows)
    capacity = max(1, int(total / len(snapshot["brokers"]) * random.choice([1.3, 1.6, 2.0])))
    return {"capacity": {"*": {"disk_bytes": capacity}}, "limits": {"disk": {"share": random.choice([0.75, 0.9, 1])}}}


def _capacities(random: Random, snapshot: Document) -> Document:
    larger = {str(broker): {"disk_bytes": random.choice([2000, 3000])} for broker in _brokers(random, snapshot, 3)}
    resources = random.sample(["disk", "nic_in"], random.randint(1, 2))
    return {"capacity": {"*": {"disk_bytes": 1000}} | larger, "balance": {"resources": resources}}


def _rates(random: Random, snapshot: Document) -> Document:
    """Rates of all topics, or of one beside those that the snapshot has."""
    topics = random.choice([snapshot["topics"], [_topic(random, snapshot)]])
    return {"ingress_bytes_per_s": {of["name"]: [random.randint(0, 100) for _ in of["partitions"]] for of in topics}}


def _hard_and_soft(random: Random, snapshot: Document) -> Document:
    hard, soft = _limit(random, snapshot), _limit(random, snapshot)
    return {"limits": {name: limit | {"soft": True} for name, limit in soft.items()} | hard}


def _goals(random: Random, _: Document) -> Document:
    names = random.sample(["disk", "nic_in", "replicas", "leaders"], random.randint(1, 2))
    return {"objective": {"goals": [{"goal": name, "tolerance": random.choice([0, 0, 0.2])} for name in names]}}


def _cpu_limit(random: Random, snapshot: Document) -> Document:
    """A limit of vCPU near the mean of the brokers' loads, as an amount or as a share of equal capacities."""
    rows = [row for topic in snapshot["topics"] for row in topic["partitions"]]
    total = sum(sum(cpu_units(row.get("ingress_bytes_per_s", 0), len(row["replicas"]))) for row in rows)
    units = max(1, int(total / len(snapshot["brokers"]) * random.choice([1.0, 1.1, 1.3, 1.6])))
    if random.random() < 0.5:
        return {"cpu_model": CPU_MODEL, "limits": {"cpu": {"absolute": units / CPU_UNITS}}}
    capacity = {"*": {"vcpu": units / CPU_UNITS * 2}}
    return {"cpu_model": CPU_MODEL, "capacity": capacity, "limits": {"cpu": {"share": 0.5}}}


def cpu_units(rate: float, factor: int) -> tuple[int, int]:
    """The load of all replicas of a partition, and the further load of its leader; `CPU_UNITS` are a vCPU."""
    return factor * (32 + int(rate)), 2 * int(rate) * (factor - 1)


CPU_UNITS = 1000
CPU_MODEL = {"per_byte_in": 0.001, "per_byte_out": 0.002, "per_partition": 0.032}
"""The processor of every request that states one: a replica needs 32 units, a byte in 1 and a byte out 2.

A unit is a whole number of millionths of a vCPU, to which the service rounds the load of a replica.
"""


OPTIONS: dict[str, Option] = {
    "none": lambda _, __: {},
    "remove_broker": lambda r, s: {"remove_brokers": _brokers(r, s)},
    "remove_brokers": lambda r, s: {"remove_brokers": _brokers(r, s, 2)},
    "remove_racks": lambda r, s: {"remove_racks": [_rack(r, s)]},
    "add_brokers": _added,
    "add_brokers_keep": lambda r, s: _added(r, s) | {"balance": {"replicas": "keep"}},
    "replace_brokers": lambda r, s: {"replace_brokers": {str(_brokers(r, s)[0]): 80}},
    "raise_factor": lambda r, s: _factor(r, s, 1),
    "lower_factor": lambda r, s: _factor(r, s, -1),
    "partitions": lambda r, s: {"partitions": {(t := _topic(r, s))["name"]: len(t["partitions"]) + r.randint(1, 3)}},
    "repair_racks": lambda _, __: {"repair_racks": True},
    "no_repair_racks": lambda _, __: {"repair_racks": False},
    "rack_mode_safe": lambda _, __: {"rack_mode": "safe"},
    "rack_mode_disabled": lambda _, __: {"rack_mode": "disabled"},
    "max_replicas_per_rack": lambda r, _: {"max_replicas_per_rack": r.randint(1, 2)},
    "fix_offline_replicas": lambda _, __: {"fix_offline_replicas": True},
    "forbid_brokers": lambda r, s: {"forbid_brokers": _brokers(r, s)},
    "forbid_and_tight": lambda r, s: {"forbid_brokers": _brokers(r, s, 2), "balance": {"replicas": "tight"}},
    "forbid_and_remove": lambda r, s: {"forbid_brokers": _brokers(r, s), "remove_brokers": _brokers(r, s)},
    "cordoned_brokers": lambda r, s: {"cordoned_brokers": _brokers(r, s)},
    "receivers": lambda r, s: {"receivers": _brokers(r, s, 3)},
    "receivers_keep": lambda r, s: {"receivers": _brokers(r, s, 3), "balance": {"replicas": "keep"}},
    "receivers_added": lambda r, s: _added(r, s) | {"receivers": "added"},
    "isolate": lambda r, s: {"isolate": [{"topics": [_topic(r, s)["name"]], "brokers": _brokers(r, s, 4)}]},
    "isolate_exclusive": lambda r, s: {
        "isolate": [{"topics": [_topic(r, s)["name"]], "brokers": _brokers(r, s, 3), "exclusive": True}]
    },
    "pins": _pin,
    "topics": lambda r, s: {"topics": [_topic(r, s)["name"]]},
    "broker_sets": _broker_sets,
    "topic_name_hash": _hashed_sets,
    "tight": lambda _, __: {"balance": {"replicas": "tight"}},
    "tolerance": lambda r, _: {"balance": {"replicas": {"tolerance": r.choice([0, 0.1, 0.25, 0.5])}}},
    "tight_by_bytes": lambda _, __: {"balance": {"replicas": "tight", "replicas_by": "bytes"}},
    "tolerance_by_bytes": lambda r, _: {
        "balance": {"replicas": {"tolerance": r.choice([0, 0.05, 0.2, 0.4])}, "replicas_by": "bytes"}
    },
    "tight_by_throughput": lambda _, __: {"balance": {"replicas": "tight", "replicas_by": "throughput"}},
    "weights": _weights,
    "weights_by_load": _weights_by_load,
    "leaders_tight": lambda _, __: {"balance": {"leaders": "tight"}},
    "leaders_tolerance": lambda r, _: {"balance": {"leaders": {"tolerance": r.choice([0, 0.2, 0.5])}}},
    "leaders_below": lambda r, _: {"balance": {"leaders": {"tolerance": 0.1, "below": r.choice([0.3, 0.6])}}},
    "leaders_keep": lambda _, __: {"balance": {"leaders": "keep"}},
    "leaders_preferred": lambda _, __: {"balance": {"leaders": "preferred"}},
    "leaders_only": lambda _, __: {"leaders_only": True},
    "leaders_by_ingress": lambda _, __: {"balance": {"leaders": "tight", "leaders_by": "ingress"}},
    "leaders_move_replicas": lambda _, __: {"balance": {"leaders_move_replicas": True}},
    "fewest_leader_changes": lambda _, __: {"balance": {"leaders_move_replicas": True}, "minimise": "leader_changes"},
    "topic_replicas": lambda _, __: {"balance": {"per_topic": {"replicas": "tight"}}},
    "topic_leaders": lambda _, __: {"leaders_only": True, "balance": {"per_topic": {"leaders": "tight"}}},
    "resources": lambda r, _: {"balance": {"resources": r.sample(["disk", "nic_in", "nic_out"], r.randint(1, 2))}},
    "limits": lambda r, s: {"limits": _limit(r, s)},
    "soft_limits": lambda r, s: {"limits": {name: of | {"soft": True} for name, of in _limit(r, s).items()}},
    "share_limits": _share_limit,
    "capacities": _capacities,
    "hard_and_soft": _hard_and_soft,
    "rates_and_limits": lambda r, s: _rates(r, s) | {"limits": _limit(r, s)},
    "rates_by_throughput": lambda r, s: _rates(r, s) | {"balance": {"replicas": "tight", "replicas_by": "throughput"}},
    "in_rack": lambda r, s: {"placement": {_topic(r, s)["name"]: "in_rack"}},
    "in_rack_and_remove": lambda r, s: OPTIONS["in_rack"](r, s) | {"remove_brokers": _brokers(r, s)},
    "lower_factor_limits": lambda r, s: {"limits": _limit(r, s)} | _factor(r, s, -1),
    "lower_factor_soft": lambda r, s: OPTIONS["soft_limits"](r, s) | _factor(r, s, -1),
    "relieve": lambda r, s: {"objective": "relieve", "limits": _limit(r, s)},
    "relieve_two": lambda r, s: {"objective": "relieve", "limits": _limit(r, s) | _limit(r, s)},
    "relieve_soft": lambda r, s: {
        "objective": "relieve",
        "limits": {name: of | {"soft": True} for name, of in _limit(r, s).items()},
    },
    "relieve_relax": lambda r, s: {"objective": "relieve", "limits": _limit(r, s), "on_conflict": "relax"},
    "goals": _goals,
    "goals_forbid": lambda r, s: _goals(r, s) | {"forbid_brokers": _brokers(r, s, 2)},
    "goals_remove": lambda r, s: _goals(r, s) | {"remove_brokers": _brokers(r, s)},
    "resources_receivers": lambda r, s: {
        "receivers": _brokers(r, s, 3),
        "balance": {"resources": r.sample(["disk", "nic_in"], r.randint(1, 2))},
    },
    "cpu_goal": lambda _, __: {"cpu_model": CPU_MODEL, "objective": {"goals": [{"goal": "cpu"}]}},
    "cpu_limit": _cpu_limit,
    "cpu_relieve": lambda r, s: {"objective": "relieve"} | _cpu_limit(r, s),
    "raise_factor_tight": lambda r, s: _factor(r, s, 1) | {"balance": {"replicas": "tight"}},
    "raise_factor_limits": lambda r, s: _factor(r, s, 1) | {"limits": _limit(r, s)},
    "raise_and_lower": lambda r, s: {
        "replication_factor": {
            topic["name"]: max(1, len(topic["partitions"][0]["replicas"]) + r.choice([-1, 1])) for topic in s["topics"]
        }
    },
    "budget_and_soft": lambda r, s: {
        "max_moved_bytes": r.choice([0, 100, 500, 1000]),
        "limits": {name: of | {"soft": True} for name, of in _limit(r, s).items()},
    },
    "budget_and_relax": lambda r, s: {
        "max_moved_bytes": r.choice([0, 100, 500]),
        "on_conflict": "relax",
        "remove_brokers": _brokers(r, s),
    },
    "log_dirs_tight": lambda _, __: {"log_dirs": {"balance": "tight"}},
    "log_dirs_tolerance": lambda r, _: {"log_dirs": {"balance": {"tolerance": r.choice([0, 0.1, 0.3])}}},
    "log_dirs_drain": _drain,
    "log_dirs_drain_tight": lambda r, s: {"log_dirs": _drain(r, s)["log_dirs"] | {"balance": "tight"}},
    "log_dirs_remove": lambda r, s: {
        "log_dirs": {"balance": r.choice(["keep", "tight"])},
        "remove_brokers": _brokers(r, s),
    },
    "log_dirs_limit": lambda r, _: {"limits": {"log_dirs": r.choice([0.2, 0.3, 0.5, 0.7])}},
    "log_dirs_limit_remove": lambda r, s: {
        "limits": {"log_dirs": r.choice([0.3, 0.5, 0.7])},
        "remove_brokers": _brokers(r, s),
    },
    "evacuate_leaders": lambda r, s: {"evacuate_leaders": {"brokers": _brokers(r, s)}},
    "evacuate_rack": lambda r, s: {"evacuate_leaders": {"racks": [_rack(r, s)]}},
    "preferred_racks": lambda r, s: {"preferred_racks": {"*": [_rack(r, s)]}},
    "min_leaders_per_broker": lambda r, s: {"min_leaders_per_broker": {_topic(r, s)["name"]: 1}},
    "max_moved_bytes": lambda r, _: {"balance": {"replicas": "tight"}, "max_moved_bytes": r.choice([0, 100, 1000])},
    "trade_off": lambda _, __: {"balance": {"replicas": "tight"}, "trade_off": True},
    "growth": lambda r, s: {"growth": {_topic(r, s)["name"]: 2.0}, "consumers": {"*": r.randint(0, 2)}},
    "bytes_per_replica": lambda r, s: {
        "minimise": {"bytes_per_replica": r.choice([0, 1, 300])},
        "balance": {"replicas": "tight"},
        "remove_brokers": _brokers(r, s),
    },
    "follower_fetching": lambda r, s: {"follower_fetching": True, "consumers": {"*": 1}, "limits": _limit(r, s)},
    "spread_leaders": lambda r, s: {"spread_leaders": [_topic(r, s)["name"]], "remove_brokers": _brokers(r, s)},
    "no_new_copysets": lambda r, s: {"copysets": "no_new", "remove_brokers": _brokers(r, s)},
    "kafka_version": lambda r, _: {
        "kafka_version": r.choice(["2.8", "3.9", "4.2"]),
        "fix_offline_replicas": True,
        "running_reassignment": "merge",
    },
    "min_insync_replicas": lambda r, s: {
        "defaults": {"min_insync_replicas": r.randint(1, 3)},
        "prices": {"cross_rack_per_gib": 0.01},
        **_factor(r, s, -1),
    },
    "minimise_replicas": lambda r, s: {"minimise": "replicas", "remove_brokers": _brokers(r, s)},
    "unknown_sizes": lambda r, s: {"unknown_sizes": "estimate", "remove_brokers": _brokers(r, s)},
    "relax": lambda r, s: {"on_conflict": "relax", "remove_brokers": _brokers(r, s, 2)},
    "batches": lambda r, s: {
        "remove_brokers": _brokers(r, s),
        "batches": {
            "max_moves_in_per_broker": r.randint(1, 2),
            "max_moves_out_per_broker": r.choice([None, 1, 2]),
            "max_partitions": r.choice([None, 2, 5]),
            "hottest": r.choice(["first", "last"]),
        },
    },
    "batch_bytes": lambda r, s: {"remove_brokers": _brokers(r, s), "batches": {"max_bytes_in_per_broker": 2000}},
    "reads": lambda r, s: {
        "follower_fetching": r.random() < 0.7,
        "consumers": {"*": r.choice([0, 1, 2.5])} | {_topic(r, s)["name"]: r.randint(0, 3)},
        "growth": {r.choice(["*", _topic(r, s)["name"]]): r.choice([1, 2, 3])},
        "balance": {"replicas": r.choice(["keep", "tight"]), "leaders": r.choice(["keep", "tight"])},
    },
    "batch_disk": _batch_disk,
    "topic_replicas_of_one": _balanced_topic,
    "log_dirs_limit_of_one_path": _limit_of_one_path,
    "deadline": lambda r, s: {"deadline_s": 30, "remove_brokers": _brokers(r, s)},
}
"""By its name, the kind's random request."""
