"""Laws of the planned lists: constraints of each partition, live replicas, reported movement."""

from collections import Counter

from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.examined import Examined
from tests.oracle.instances import Instance, engine_of, has_band
from tests.oracle.loads import fits
from tests.oracle.model import Model, Partition, faults, named_topics, repairs_racks


def lists_after(instance: Instance, document: Document) -> Replicas:
    """The list of every partition after the plan."""
    after: Replicas = {
        (topic["name"], row["partition"]): tuple(row["replicas"])
        for topic in instance.snapshot["topics"]
        for row in topic["partitions"]
    }
    for topic in document["topics"]:
        for offset, row in enumerate(topic["replicas"]):
            after[topic["name"], topic["first_partition_id"] + offset] = tuple(row)
    return after


def legality(examined: Examined, model: Model, after: Replicas) -> None:
    """Every list keeps the constraints of its partition."""
    instance = examined.instance
    repairs = repairs_racks(instance.request) and model.is_certain
    examined.hold("every partition is planned", after.keys() == {row.key for row in model.partitions}, "")
    for partition in model.partitions:
        if instance.request.get("on_conflict") == "relax" and examined.answer.document["relaxed"]:
            continue
        found = faults(partition, after[partition.key], model.brokers, repairs=repairs)
        is_repaired = repairs_racks(instance.request)
        law, engine = ("lists are legal", None) if is_repaired else ("racks are never worse", "unrepaired racks")
        examined.hold(law, not found, f"{partition.key}: {partition.before} → {after[partition.key]}: {found}", engine)
        _survival(examined, model, partition, after)
        _stays(examined, partition, after[partition.key])


def _stays(examined: Examined, partition: Partition, replicas: tuple[int, ...]) -> None:
    """If racks are not repaired and nothing is balanced, a partition that no constraint moves stays."""
    request = examined.instance.request
    is_kept = engine_of(examined.instance) == "counts" and not has_band(request) and not repairs_racks(request)
    is_named = partition.key[0] in named_topics(request) and request.get("repair_racks") is None
    may_stay = (
        set(partition.before) <= partition.eligible
        and not partition.is_in_rack
        and partition.factor == len(partition.before)
    )
    is_in_set = request.get("topic_sets") == "topic_name_hash"  # whose brokers the answer states
    if is_kept and may_stay and not is_named and not is_in_set and partition.fixed is None:
        detail = f"{partition.key}: {partition.before} → {replicas}"
        examined.hold("racks are not repaired", set(replicas) == set(partition.before), detail, "unrepaired racks")


def _survival(examined: Examined, model: Model, partition: Partition, after: Replicas) -> None:
    """In-sync live replicas outlive others, and lead."""
    replicas, down = after[partition.key], model.brokers.down
    live = partition.isr - down
    new = set(replicas) - set(partition.before)
    good = [broker for broker in replicas if broker in live or (broker in new and broker not in down)]
    if partition.fixed is not None and partition.is_pinned:
        return
    leaders = examined.instance.request.get("balance", {}).get("leaders")
    if good and partition.before and leaders != "preferred":
        is_unchanged = replicas[0] == partition.before[0]
        examined.hold(
            "a preferred leader is live and in sync",
            replicas[0] in good or is_unchanged,
            f"{partition.key}: {partition.before} → {replicas}, in sync {sorted(partition.isr)}, down {sorted(down)}",
            "dead brokers",
        )
    # Limits, soft ones too, come before replicas in sync.
    lost = [
        broker
        for broker in live - set(replicas)
        if broker in partition.eligible and fits(examined.instance.request, model, partition, broker, after)
    ]
    spared = [broker for broker in replicas if broker in set(partition.before) - live]
    if (
        partition.fixed is None
        and len(replicas) < len(partition.before)
        and not new
        and not partition.ceilings
        and not partition.is_in_rack
    ):
        examined.hold(
            "in-sync replicas are kept before others",
            not (lost and spared),
            f"{partition.key}: {partition.before} → {replicas}, in sync {sorted(partition.isr)}, down {sorted(down)}",
            "dead brokers",
        )
    examined.hold(
        "the last in-sync replica is not removed",
        not live or not live & partition.eligible or bool(live & set(replicas)) or bool(new),
        f"{partition.key}: {partition.before} → {replicas}, in sync {sorted(partition.isr)}, down {sorted(down)}",
        "dead brokers",
    )


def values(examined: Examined, model: Model, after: Replicas) -> None:
    """Reports equal the lists."""
    document = examined.answer.document
    certificate, existing = document["certificate"], [row for row in model.partitions if row.before]
    added = {row.key: set(after[row.key]) - set(row.before) for row in existing}
    moved = sum(map(len, added.values()))
    examined.hold("moved_replicas is right", certificate["moved_replicas"] == moved, f"{certificate} {moved}")
    if not examined.instance.request.get("unknown_sizes"):
        copied = sum((row.size or 0) * len(added[row.key]) for row in existing)
        examined.hold("moved_bytes is right", certificate["moved_bytes"] == copied, f"{certificate} {copied}")
    # With `preferred`, changes are counted after the election, from the replicas that lead now.
    if examined.instance.request.get("balance", {}).get("leaders") != "preferred":
        changes = sum(after[row.key][0] != row.before[0] for row in existing)
        examined.hold("leader_changes is right", document["leader_changes"] == changes, f"{changes}")
    budget = examined.instance.request.get("max_moved_bytes")
    is_relaxed = any(each["constraint"] == "max_moved_bytes" for each in document["relaxed"])
    if budget is not None and model.has_known_sizes and not is_relaxed:
        examined.hold("the budget holds", certificate["moved_bytes"] <= budget, f"{certificate}")
    counted = Counter(broker for replicas in after.values() for broker in replicas)
    listed = {row["broker"]: row["replicas_after"] for row in document["movement"]}
    examined.hold(
        "counts of brokers are right", all(counted[broker] == count for broker, count in listed.items()), str(listed)
    )
    if examined.instance.request.get("leaders_only"):
        examined.hold("leaders_only moves nothing", moved == 0, "")
