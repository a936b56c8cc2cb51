"""Laws of the batches of a plan and of their rollbacks."""

from collections import Counter

from tests.oracle.exact import Replicas
from tests.oracle.examined import Examined
from tests.oracle.model import Model, Partition


def batches(examined: Examined, model: Model, after: Replicas) -> None:
    """Each list is legal, no batch passes its limits, the last lists are the plan's, and rollbacks restore."""
    document = examined.answer.document
    stated = examined.instance.request.get("batches", {})
    most_in = stated.get("max_moves_in_per_broker", 4)
    rows = {row.key: row for row in model.partitions}
    now = {row.key: row.before for row in model.partitions if row.before}
    faults_found: list[str] = []
    disks = _disks(examined)
    for number, (lists, rollback) in enumerate(zip(examined.answer.batches, examined.answer.rollbacks, strict=True)):
        copied: dict[str, Counter[int]] = {"in": Counter(), "out": Counter(), "bytes": Counter()}
        written = document["batches"][number]
        used: Counter[int] = Counter()
        for key, current in now.items():
            used.update(dict.fromkeys(current, rows[key].size or 0))
        for key, replicas in lists.items():
            before, row = now[key], rows[key]
            if rollback.get(key) != list(before):
                faults_found.append(f"rollback {number} of {key} is {rollback.get(key)}, not {before}")
            faults_found += _list_faults(row, tuple(replicas), before, after[key], model)
            for broker in set(replicas) - set(before):
                copied["in"][broker] += 1
                copied["out"][before[0]] += 1
                copied["bytes"][broker] += row.size or 0
            now[key] = tuple(replicas)
        limits = {
            "in": most_in,
            "out": stated.get("max_moves_out_per_broker"),
            "bytes": stated.get("max_bytes_in_per_broker"),
        }
        faults_found += [
            f"batch {number}: {copied[name]} {name}, limit {most}"
            for name, most in limits.items()
            if most is not None and max(copied[name].values(), default=0) > most
        ]
        faults_found += [
            f"batch {number}: broker {broker} has {used[broker] + arriving} bytes of {disks[broker]}"
            for broker, arriving in copied["bytes"].items()
            if arriving and broker in disks and used[broker] + arriving > disks[broker]
        ]
        most_partitions = stated.get("max_partitions")
        if most_partitions is not None and len(lists) > most_partitions:
            faults_found.append(f"batch {number} has {len(lists)} partitions")
        moved = (copied["in"].total(), copied["bytes"].total())
        is_known = not examined.instance.request.get("unknown_sizes")
        if is_known and moved != (written["moved_replicas"], written["moved_bytes"]):
            faults_found.append(f"batch {number} moves {moved}, reported {written}")
    faults_found += [f"{key} ends as {now[key]}, not {after[key]}" for key in now if now[key] != after[key]]
    examined.hold("batches are legal and end as planned", not faults_found, "; ".join(faults_found[:3]))


def _disks(examined: Examined) -> dict[int, float]:
    """The bytes that a broker may have while it receives replicas, by `max_disk_share`; empty without it."""
    request = examined.instance.request
    share = request.get("batches", {}).get("max_disk_share")
    if share is None or request.get("unknown_sizes"):
        return {}
    capacity = request["capacity"]
    brokers = examined.answer.document["measures"]["replicas"]["per_broker"]
    stated = {int(id_): (capacity["*"] | capacity.get(id_, {})).get("disk_bytes") for id_ in brokers}
    return {broker: share * disk for broker, disk in stated.items() if disk is not None}


def _list_faults(
    row: Partition, replicas: tuple[int, ...], before: tuple[int, ...], end: tuple[int, ...], model: Model
) -> list[str]:
    found = []
    if len(set(replicas)) < len(replicas) or not replicas:
        found.append(f"{row.key}: {replicas}")
    if not min(len(row.before), len(end)) <= len(replicas) <= max(len(row.before), len(end)):
        found.append(f"{row.key} has {len(replicas)} replicas between {row.before} and {end}")
    if replicas[0] != before[0] and replicas != end:
        found.append(f"{row.key}: the leader changes before the last step, {before} → {replicas} → {end}")
    racks = [len({model.brokers.rack_of.get(broker) for broker in each}) for each in (row.before, end, replicas)]
    if row.ceilings and racks[2] < min(racks[:2]):
        found.append(f"{row.key} spans {racks[2]} racks between {row.before} and {end}")
    return found
