"""Random variants of the stored vectors: other names, orders, members, offsets and seeds.

Names decide in Kafka, by the order of Java's hash maps, so that a renamed member is another case.
"""

import base64
import copy
import random
from collections.abc import Sequence
from typing import Any

Case = dict[str, Any]


def fresh(cases: Sequence[Case], kind: str, *, count: int, seed: int) -> list[Case]:
    """As many cases, each from one of those of a kind; `expected` is for Kafka to answer."""
    chance = random.Random(f"{kind} {seed}")
    found = []
    for number in range(count):
        case = copy.deepcopy(chance.choice(cases))
        given = case["input"]
        if kind == "murmur2":
            keys = (chance.randbytes(chance.randrange(40)) for _ in range(chance.randrange(1, 20)))
            given["keys_base64"] = [base64.b64encode(key).decode() for key in keys]
        elif kind == "striped_placer":
            given["random_seed"] = chance.randrange(-(2**63), 2**63)
            chance.shuffle(given["brokers"])
        else:
            _change_members(given["members"], chance)
        if kind == "streams_group_sticky":
            _change_processes(given, chance)
        found.append({"name": f"{case['name']}, fresh {number}", "input": given})
    return found


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
