"""Other instances that follow from one: the planned cluster, other names and order, fewer constraints."""

from random import Random
from typing import Any

from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.service import Answer

CONSTRAINTS = [
    "remove_brokers",
    "remove_racks",
    "forbid_brokers",
    "cordoned_brokers",
    "receivers",
    "max_replicas_per_rack",
    "fix_offline_replicas",
    "isolate",
    "replace_brokers",
    "pins",
]
"""Fields without which more placements are allowed."""


def planned_cluster(snapshot: Document, request: Document, after: Replicas, answer: Answer) -> Document:
    """The cluster as it is when the plan is executed, and added brokers are up."""
    brokers = [*snapshot["brokers"], *request.get("add_brokers", ())]
    rack_of = {broker["id"]: broker["rack"] for broker in brokers}
    for removed, successor in request.get("replace_brokers", {}).items():
        if successor not in rack_of:
            brokers.append({"id": successor, "rack": rack_of.get(int(removed))})
    topics = [
        {
            "name": topic["name"],
            "partitions": [
                row
                | {"replicas": list(lists), "isr": list(lists), "leader": lists[0]}
                | _log_dirs(topic, row, lists, answer)
                for row in topic["partitions"]
                for lists in (after[topic["name"], row["partition"]],)
            ],
        }
        for topic in snapshot["topics"]
    ]
    return {"cluster": snapshot["cluster"], "brokers": brokers, "topics": topics}


def _log_dirs(topic: Document, row: Document, lists: tuple[int, ...], answer: Answer) -> Document:
    """The directories of a planned list, if the cluster has any: those that the plan names, or the current ones."""
    if "log_dirs" not in row:
        return {}
    before = dict(zip(row["replicas"], row["log_dirs"], strict=True))
    key = topic["name"], row["partition"]
    return {"log_dirs": [answer.log_dirs.get((key, broker), before.get(broker)) for broker in lists]}


def without(request: Document, *, keep: set[str]) -> Document:
    """The request with these constraints alone; racks are ignored unless `rack_mode` is one of them."""
    kept = {
        name: value
        for name, value in request.items()
        if name in keep or name == "add_brokers" or (name == "rack_mode" and "rack_mode" in keep)
    }
    return kept | ({} if keep & {"rack_mode", "max_replicas_per_rack"} else {"rack_mode": "disabled"})


def renamed(snapshot: Document, request: Document, random: Random) -> tuple[Document, Document]:
    """The same instance with other broker ids, racks and topics, in another order."""
    ids = [broker["id"] for broker in snapshot["brokers"]] + list(range(60, 90))
    others = dict(zip(ids, random.sample(range(100, 100 + 3 * len(ids)), len(ids)), strict=True))
    names = {
        topic["name"]: f"u{n}" for n, topic in enumerate(random.sample(snapshot["topics"], len(snapshot["topics"])))
    }
    racks = {f"r{n}": name for n, name in enumerate(random.sample(["x", "y", "z", "w"], 4))}
    snapshot, request = _renamed([snapshot, request], others, {**names, **racks})
    random.shuffle(snapshot["brokers"])
    random.shuffle(snapshot["topics"])
    return snapshot, request


_IDS = frozenset(
    [
        "replicas",
        "isr",
        "leader",
        "id",
        "brokers",
        "remove_brokers",
        "forbid_brokers",
        "cordoned_brokers",
        "receivers",
        "blue",
        "green",
    ]
)
"""Fields whose numbers are ids of brokers."""
_BY_ID = frozenset({"replace_brokers", "weights", "capacity", "drain", "log_dirs"})
"""Fields whose names are ids of brokers, if they are numbers."""


def _renamed(value: Any, ids: dict[int, int], names: dict[str, str], field: str = "") -> Any:
    if isinstance(value, dict):
        by_id = field in _BY_ID
        return {
            str(ids[int(name)]) if by_id and name.isdigit() else names.get(name, name): ids[each]
            if field == "replace_brokers"
            else _renamed(each, ids, names, name)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_renamed(each, ids, names, field) for each in value]
    if isinstance(value, str):
        return names.get(value, value)
    is_id = field in _IDS and isinstance(value, int) and not isinstance(value, bool)
    return ids.get(value, value) if is_id else value
