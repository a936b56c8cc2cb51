"""Random variants of the stored vectors: other names, orders, members, offsets and seeds; and cases from scratch.

Names decide in Kafka, by the order of Java's hash maps, so that a renamed member is another case.
"""

import base64
import copy
import random
import uuid
from collections.abc import Sequence
from typing import Any

from tests.kafka.built_cases import BUILDERS, Case

BUILT_ONLY = {"admin_utils", "rack_alternated", "builtin_partitioner"}
"""Kinds without variants."""


def fresh(cases: Sequence[Case], kind: str, *, count: int, seed: int) -> list[Case]:
    """As many cases, each from one case of a kind, or built anew; `expected` is for Kafka to answer."""
    chance = random.Random(f"{kind} {seed}")
    found = []
    for number in range(count):
        case = copy.deepcopy(chance.choice(cases))
        given = case["input"]
        if kind in BUILDERS and (number % 2 or kind in BUILT_ONLY):
            found.append({"name": f"built {number}", "input": BUILDERS[kind](given, chance)})
            continue
        if kind == "murmur2":
            keys = (chance.randbytes(chance.randrange(40)) for _ in range(chance.randrange(1, 20)))
            given["keys_base64"] = [base64.b64encode(key).decode() for key in keys]
        elif kind in {"striped_placer", "generate"}:
            given["random_seed"] = chance.randrange(-(2**63), 2**63)
            chance.shuffle(given["brokers"])
            chance.shuffle(given.get("topics", []))
        elif kind == "topic_hash":
            _change_racks(given, chance)
        elif kind == "streams_client":
            _change_clients(given, chance)
        elif kind == "consumer_protocol":
            _change_bytes(given, chance)
        else:
            _change_members(given["members"], chance)
        if kind == "streams_group_sticky":
            _change_processes(given, chance)
        found.append({"name": f"{case['name']}, fresh {number}", "input": given})
    return found


def _text(chance: random.Random) -> str:
    """Letters of one, two and three bytes of UTF-8, and of two units of UTF-16."""
    return "".join(chance.choices("aZ0.-_é日😀", k=chance.randrange(1, 12)))


def _change_racks(given: Case, chance: random.Random) -> None:
    chance.shuffle(given["brokers"])
    for broker in given["brokers"]:
        broker["rack"] = _text(chance) if chance.random() < 0.8 else None
    for topic in given["topics"]:
        topic["id"] = base64.urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("=")


def _change_clients(given: Case, chance: random.Random) -> None:
    """Other process ids, orders and lags, and sometimes a client less."""
    clients = given["clients"]
    chance.shuffle(clients)
    if len(clients) > 1 and chance.random() < 0.3:
        clients.pop()
    for client in clients:
        client["process_id"] = str(uuid.UUID(int=chance.getrandbits(128)))
        client["lags"] = {task: chance.choice([-2, -3, 0, 5, 10_001, lag]) for task, lag in client["lags"].items()}


def _change_bytes(given: Case, chance: random.Random) -> None:
    """Other names, generations and racks to write; to read, bytes of which one may differ."""
    for name in {"generation_id", "rack_id"} & given.keys():
        fresh_value = chance.randrange(2**31) if name == "generation_id" else _text(chance)
        given[name] = fresh_value if chance.random() < 0.8 else given[name]
    if given["op"].startswith("deserialize"):
        data = bytearray(base64.b64decode(given["bytes_base64"]))
        if data and chance.random() < 0.7:
            data[chance.randrange(len(data))] = chance.randrange(256)
        given["bytes_base64"] = base64.b64encode(data).decode()
    elif "topics" in given:
        given["topics"] = [_text(chance) for _ in given["topics"]]


def _change_members(members: list[Any], chance: random.Random) -> None:
    chance.shuffle(members)
    if len(members) > 1 and chance.random() < 0.5:
        members.pop()
    for member in members:
        member["id"] = f"{member['id']}-{chance.getrandbits(32):08x}"


def _change_processes(given: Case, chance: random.Random) -> None:
    """Other names of processes, and members that report offsets of any task."""
    names = {name: f"{name}{chance.getrandbits(24):x}" for name in {each["process_id"] for each in given["members"]}}
    tasks = [(each["id"], number) for each in given["subtopologies"] for number in range(each["n_partitions"])]
    for member in given["members"]:
        member["process_id"] = names[member["process_id"]]
        reported: dict[str, list[list[int]]] = {}
        for subtopology, number in chance.sample(tasks, chance.randrange(min(len(tasks), 8) + 1)):
            reported.setdefault(subtopology, []).append([number, chance.choice([0, 1, 5, 100, 10**6])])
        member["task_offsets"] = [[subtopology, rows] for subtopology, rows in reported.items()]
    if chance.random() < 0.7:
        given["configs"] = {"num.standby.replicas": str(chance.randrange(4))}
