"""Cases built from scratch: other subscriptions, sizes, owners, racks and configurations than the stored ones have.

What a builder draws is what Kafka may be given, however odd: partitions that do not exist or have two owners, topics
without partitions, names of one hash code, brokers that are all fenced.
"""

import base64
import random
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Case = dict[str, Any]
Builder = Callable[[Case, random.Random], Case]
SIZES = (0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 23, 25, 40)
"""Partitions of topics: among them those with which hash tables grow, and one more."""


def _names(count: int, chance: random.Random) -> list[str]:
    """Distinct names: numbered, random, of few hash codes, or of several bytes a letter."""
    make: Callable[[int], str] = chance.choice([
        lambda number: f"consumer-{number}",
        lambda _: str(uuid.UUID(int=chance.getrandbits(128))),
        lambda _: "".join(chance.choices(("Aa", "BB"), k=4)),
        lambda _: "".join(chance.choices("aZ0.-_é日😀", k=chance.randrange(1, 9))),
        lambda _: f"{chance.choice('xyz')}{chance.randrange(60)}",
    ])  # fmt: skip
    drawn = [make(number) for number in range(count)]
    return [name if drawn.index(name) == place else f"{name}#{place}" for place, name in enumerate(drawn)]


def _topic_id(chance: random.Random) -> str:
    return base64.urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("=")


def _listed(partitions: Sequence[tuple[str, int]]) -> list[list[Any]]:
    """Partitions as the vectors have them: by topic, numbers ascending."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for topic, number in partitions:
        numbers[topic].append(number)
    return [[topic, sorted(each)] for topic, each in numbers.items()]


def _owned(sizes: Mapping[str, int], members: Sequence[str], chance: random.Random) -> dict[str, list[list[Any]]]:
    """What each member owns: each partition has one owner, or members own any, also such that do not exist."""
    beyond = chance.choice([0, 0, 0, 1, 3])
    every = [(topic, number) for topic, size in sizes.items() for number in range(size + beyond)]
    if chance.random() < 0.7:
        chance.shuffle(every)
        owners: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for partition in every[: int(len(every) * chance.choice([0, 0.3, 0.7, 1, 1]))]:
            owners[chance.choice(members)].append(partition)
        return {member: _listed(owners[member]) for member in members}
    return {member: _listed(chance.sample(every, chance.randrange(min(len(every), 9) + 1))) for member in members}


def _subscriptions(topics: Sequence[str], members: Sequence[str], chance: random.Random) -> dict[str, list[str]]:
    """The same topics for all members in any order, or some for each."""
    is_homogeneous = chance.random() < 0.5
    return {
        member: chance.sample(topics, len(topics) if is_homogeneous else chance.randrange(1, len(topics) + 1))
        for member in members
    }


def coordinator_group(stored: Case, chance: random.Random) -> Case:
    """A group for an assignor of the coordinator."""
    topics = [_topic_id(chance) for _ in range(chance.choice([1, 1, 2, 3, 4, 6, 9, 14]))]
    sizes = {topic: chance.choice(SIZES) for topic in topics}
    members = _names(chance.choice([1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 16, 17, 24, 33]), chance)
    owned, subscribed = _owned(sizes, members, chance), _subscriptions(topics, members, chance)
    return {
        **{name: stored[name] for name in ("assignor", "kafka_version") if name in stored},
        "topics": [{"id": topic, "n_partitions": size} for topic, size in sizes.items()],
        "members": [
            {
                "id": member,
                "topics": subscribed[member],
                "instance_id": f"i-{member}" if chance.random() < 0.2 else None,
                "rack_id": chance.choice([None, "r1", "r2"]),
                "owned": owned[member],
            }
            for member in members
        ],
    }


def client_group(stored: Case, chance: random.Random) -> Case:
    """A group for an assignor of clients; sticky ones read what members own."""
    racks: list[str | None] = chance.choice(
        [[None], ["a"], ["a", "b", "c"], ["a", "b", None], ["r1", "r2", "r3", "r4"]]
    )
    brokers = range(chance.choice([1, 2, 3, 4, 6, 9]))
    topics = _names(chance.choice([1, 1, 2, 3, 4, 6, 8]), chance)
    sizes = {topic: chance.choice([size for size in SIZES if size]) for topic in topics}
    if chance.random() < 0.5:
        sizes = dict.fromkeys(topics, sizes[topics[0]])
    members = _names(chance.choice([1, 2, 3, 4, 5, 6, 8, 9, 12, 17]), chance)
    owned, subscribed = _owned(sizes, members, chance), _subscriptions(topics, members, chance)
    generations: list[int | None] = chance.choice([[5], [5, 5, 5, 4, None, -1]])
    rows = []
    for member in members:
        row: Case = {
            "id": member,
            "topics": subscribed[member] + ["no-such"] * (chance.random() < 0.05),
            "rack_id": chance.choice([*racks, "zz"]),
            "group_instance_id": f"{chance.choice('ab')}{member}" if chance.random() < 0.25 else None,
            "generation_id": None,
        }
        if "sticky" in stored["assignor"]:
            row |= {"generation_id": chance.choice(generations), "owned": owned[member]}
        rows.append(row)
    factor = chance.randrange(1, min(len(brokers), 4) + 1)
    return {
        "assignor": stored["assignor"],
        "brokers": [{"id": broker, "rack": chance.choice(racks)} for broker in brokers],
        "topics": [
            {"name": topic, "replicas": [chance.sample(brokers, factor) for _ in range(size)]}
            for topic, size in sizes.items()
        ],
        "members": rows,
    }


def streams_group(stored: Case, chance: random.Random) -> Case:
    """A group for the streams assignor of the coordinator: processes of several members, any current tasks."""
    names = [str(number) for number in range(chance.choice([1, 1, 2, 3, 4, 6, 11]))]
    sizes = {name: chance.choice([1, 2, 3, 4, 6, 8, 13]) for name in names}
    tasks = [(name, number) for name, size in sizes.items() for number in range(size)]
    members = _names(chance.choice([1, 2, 3, 4, 5, 7, 9, 12, 17]), chance)
    processes = _names(chance.choice([1, 2, 3, 4, len(members)]), chance)
    roles: dict[str, dict[str, list[tuple[str, int]]]] = {member: {"active": [], "standby": []} for member in members}
    for task in chance.sample(tasks, int(len(tasks) * chance.choice([0, 0.5, 1]))):
        owner, *others = chance.sample(members, min(len(members), chance.randrange(1, 4)))
        roles[owner]["active"].append(task)
        for other in others:
            roles[other]["standby"].append(task)
    rows = []
    for member in members:
        row: Case = {"id": member, "process_id": chance.choice(processes)}
        row |= {role: _listed(held) for role, held in roles[member].items() if held}
        if chance.random() < 0.4:
            offsets: dict[str, list[list[int]]] = defaultdict(list)
            for name, number in chance.sample(tasks, chance.randrange(min(len(tasks), 8) + 1)):
                offsets[name].append([number, chance.choice([0, 1, 5, 100, 10**6])])
            row["task_offsets"] = [[name, reported] for name, reported in offsets.items()]
        rows.append(row)
    return {
        **{name: stored[name] for name in ("assignor", "kafka_version") if name in stored},
        "subtopologies": [
            {"id": name, "n_partitions": size, "stateful": chance.random() < 0.6} for name, size in sizes.items()
        ],
        "members": rows,
        "configs": chance.choice([{}, {"num.standby.replicas": str(chance.randrange(4))}]),
    }


def streams_clients(stored: Case, chance: random.Random) -> Case:
    """The tasks of a stored case, with clients of any tasks, lags, tags and capacities."""
    tasks, stateful = stored["tasks"], stored["stateful_tasks"]
    tags = chance.choice([{}, {"zone": "ab"}, {"zone": "abc", "cluster": "kl"}])
    racks = [each["rack"] for each in stored["clients"]]
    clients = []
    for number in range(chance.choice([1, 2, 3, 4, 5, 7, 10])):
        client = stored["clients"][number % len(stored["clients"])] | {
            "process_id": str(uuid.UUID(int=chance.getrandbits(128) if chance.random() < 0.6 else number + 1)),
            "capacity": chance.choice([1, 1, 2, 3, 4, 8]),
            "tags": {name: chance.choice(values) for name, values in tags.items()},
            "rack": chance.choice(racks),
            "prev_active": chance.sample(tasks, chance.randrange(min(len(tasks), 6) + 1)),
            "lags": {task: chance.choice([-2, -3, 0, 5, 9_999, 10_001, 200_000]) for task in stateful},
        }
        held = chance.sample(tasks, chance.randrange(min(len(tasks), 6) + 1))
        client["prev_standby"] = [task for task in held if task not in client["prev_active"]]
        clients.append(client)
    if "assigned_active" in stored["clients"][0]:
        for client in clients:
            client |= {"assigned_active": [], "assigned_standby": []}
        for task in tasks:
            owner, *others = chance.sample(clients, min(len(clients), 2))
            owner["assigned_active"].append(task)
            if task in stateful and others and chance.random() < 0.5:
                others[0]["assigned_standby"].append(task)
    configs = stored["configs"] | {
        "num_standby_replicas": chance.choice([0, 1, 1, 2, 3]),
        "max_warmup_replicas": chance.choice([1, 2, 5]),
        "acceptable_recovery_lag": chance.choice([0, 10_000, 2**63 - 1]),
        "rack_aware_assignment_tags": chance.sample(sorted(tags), chance.randrange(len(tags) + 1)),
    }
    return stored | {"clients": clients, "configs": configs}


def placements(stored: Case, chance: random.Random) -> Case:
    """Brokers for the placer of KRaft, of which any may be fenced."""
    racks: list[str | None] = chance.choice(
        [[None], ["a", "b", "c"], ["Aa", "BB", "AaAa", "BBBB"], ["a", None], [*"abcdefghi"]]
    )
    brokers = chance.sample(range(40), chance.choice([1, 2, 3, 4, 5, 7, 9, 12, 20]))
    fenced = chance.choice([0, 0, 0.2, 0.5, 1])
    return {
        **{name: stored[name] for name in ("kafka_version",) if name in stored},
        "brokers": [
            {"id": broker, "rack": chance.choice(racks), "fenced": chance.random() < fenced} for broker in brokers
        ],
        "random_seed": chance.randrange(-(2**63), 2**63),
        "placements": [
            {
                "start_partition": 0,
                "num_partitions": chance.choice([1, 2, 3, 5, 8, 13, 40]),
                "replication_factor": chance.choice([1, 2, 3, 3, 4, len(brokers), len(brokers) + 1]),
            }
            for _ in range(chance.choice([1, 1, 2, 4]))
        ],
    }


def generated(stored: Case, chance: random.Random) -> Case:
    """Topics for `kafka-reassign-partitions --generate`; some have partitions of several replication factors."""
    racks: list[str | None] = chance.choice([[None], ["a", "b", "c"], ["x", None], ["z1", "z2"]])
    brokers = chance.sample(range(50), chance.choice([1, 2, 3, 4, 6, 9, 15]))
    topics = []
    for name in (f"t{chance.getrandbits(30)}" for _ in range(chance.choice([1, 1, 2, 3, 5, 12, 13, 20, 25]))):
        factors = [chance.randrange(1, min(len(brokers), 4) + 1)] if chance.random() < 0.8 else [1, len(brokers)]
        size = chance.choice([1, 1, 2, 3, 6, 12, 20])
        topics.append({"name": name, "replicas": [chance.sample(brokers, chance.choice(factors)) for _ in range(size)]})
    return {
        "kafka_version": stored["kafka_version"],
        "brokers": [{"id": broker, "rack": chance.choice(racks)} for broker in brokers],
        "broker_list": chance.sample(brokers, chance.randrange(1, len(brokers) + 1)),
        "rack_aware": chance.random() < 0.5,
        "topics": topics,
        "random_seed": chance.randrange(2**48),
    }


def replicas(stored: Case, chance: random.Random) -> Case:
    """Brokers for AdminUtils; a start index that is fixed, random, or near the largest number."""
    racks: list[str | None] = chance.choice(
        [[None], ["a", "b", "c"], ["Aa", "BB", "AaAa", "BBBB"], ["a", None], [*"abcdefghi"]]
    )
    brokers = chance.sample(range(40), chance.choice([1, 2, 3, 4, 5, 7, 9, 12, 20]))
    return {
        **{name: stored[name] for name in ("kafka_version",) if name in stored},
        "brokers": [{"id": broker, "rack": chance.choice(racks)} for broker in brokers],
        "n_partitions": chance.choice([0, 1, 2, 3, 7, 20, 50]),
        "replication_factor": chance.choice([0, 1, 2, 3, 3, 4, len(brokers), len(brokers) + 1]),
        "fixed_start_index": chance.choice([-1, 0, 1, 7, 40_323, 2**31 - 1 - chance.randrange(6)]),
        "start_partition_id": chance.choice([-1, 0, 1, 13]),
        "random_seed": chance.randrange(-(2**63), 2**63),
    }


def alternated(_stored: Case, chance: random.Random) -> Case:
    """Brokers of a few racks, whose names come in the order of a hash map."""
    racks = _names(chance.randrange(1, 14), chance)
    brokers = chance.sample(range(60), chance.randrange(1, 30))
    return {"brokers": [{"id": broker, "rack": chance.choice(racks)} for broker in brokers]}


def records(stored: Case, chance: random.Random) -> Case:
    """Records without a key for partitions of which some have no leader, with queues of some length or without."""
    racks: list[str | None] = chance.choice([[None], ["a", "b"], ["a", "b", "c", None]])
    brokers = chance.sample(range(40), chance.randrange(1, 9))
    leaders = [chance.choice([*brokers, None]) for _ in range(chance.choice([1, 2, 3, 5, 9, 17]))]
    case = {
        "kafka_version": stored["kafka_version"],
        "brokers": [{"id": broker, "rack": chance.choice(racks)} for broker in brokers],
        "leaders": leaders,
        "rack_aware": chance.random() < 0.6,
        "client_rack": chance.choice(["", "a", "elsewhere"]),
        "randoms": [*range(12), *(chance.randrange(2**31) for _ in range(12)), 2**31 - 1],
    }
    led = [number for number, leader in enumerate(leaders) if leader is not None]
    if chance.random() < 0.6 and led:
        count = chance.randrange(1, len(led) + 1)
        padding = [0] * (len(leaders) - count)
        case |= {
            "queue_sizes": [chance.choice([0, 0, 2, 5, 16]) for _ in range(count)] + padding,
            "partition_ids": chance.sample(led, count) + padding,
            "length": count,
        }
    return case


BUILDERS: Mapping[str, Builder] = {
    "admin_utils": replicas,
    "rack_alternated": alternated,
    "builtin_partitioner": records,
    **dict.fromkeys(("server_range", "server_uniform", "server_simple"), coordinator_group),
    **{f"consumer_{name}": client_group for name in ("range", "roundrobin", "sticky", "cooperative_sticky")},
    "streams_group_sticky": streams_group,
    "streams_client": streams_clients,
    "striped_placer": placements,
    "generate": generated,
}
"""By kind; those of other kinds are variants of stored cases alone."""
