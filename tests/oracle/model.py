"""A small model of a reassignment, from its documentation alone: which replica lists a request allows.

Hard constraints of a partition: distinct brokers, as many as its factor; eligible brokers; racks. `exact.py` optimises
over them, `laws.py` compares the service's answers with both.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tests.oracle.clusters import Document

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Brokers:
    """The brokers of a request.

    Parameters
    ----------
    rack_of : by id, of the snapshot's brokers and of those that are added.
    down : fenced, or in replica lists alone.
    removed : by the request. receiving : may get replicas that they do not have.
    """

    rack_of: dict[int, str | None]
    down: frozenset[int]
    removed: frozenset[int]
    receiving: frozenset[int]

    @property
    def staying(self) -> frozenset[int]:
        """Brokers that are up and stay: the brokers that are balanced."""
        return frozenset(self.rack_of) - self.down - self.removed


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition and its constraints.

    Parameters
    ----------
    before : the current list; empty if the plan creates the partition.
    eligible : brokers that may be on its list. fixed : the list, if it is given; a pin has an order.
    floors, ceilings : by rack, bounds on its replicas there; empty if racks do not count.
    least_racks : racks that it spans at least, of all its brokers. is_in_rack : whether it is in one rack instead.
    keeps_leader : whether its factor is lowered, so that the preferred leader stays on the list if limits can hold.
    """

    key: Key
    before: tuple[int, ...]
    isr: frozenset[int]
    size: int | None
    rate: float
    factor: int
    eligible: frozenset[int]
    fixed: tuple[int, ...] | None
    floors: dict[str, int]
    ceilings: dict[str, int]
    least_racks: int
    is_in_rack: bool = False
    is_pinned: bool = False
    keeps_leader: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """Limits of a request.

    Parameters
    ----------
    groups : brokers that are balanced among themselves, by the name of their broker set; None for all others.
    is_certain : whether the documentation decides the eligible brokers and racks of every partition.
    """

    brokers: Brokers
    partitions: tuple[Partition, ...]
    groups: dict[str | None, frozenset[int]]
    is_certain: bool

    @property
    def without_kept_leaders(self) -> "Model":
        """The model in which preferred leaders may leave the lists of partitions whose factor is lowered."""
        return replace(self, partitions=tuple(replace(row, keeps_leader=False) for row in self.partitions))

    @property
    def has_known_sizes(self) -> bool:
        """Whether every size is known, so that bytes are minimised."""
        return all(partition.size is not None for partition in self.partitions if partition.before)


def read(snapshot: Document, request: Document) -> Model:
    """The model of a request that the service does not reject for its form."""
    brokers = _brokers(snapshot, request)
    groups = _groups(brokers, request)
    partitions = tuple(
        _partition(request, brokers, groups, topic["name"], row)
        for topic in snapshot["topics"]
        for row in [*topic["partitions"], *_created(topic, request)]
    )
    return Model(brokers, partitions, groups, _is_certain(request, brokers, partitions))


def _brokers(snapshot: Document, request: Document) -> Brokers:
    rack_of = {broker["id"]: broker["rack"] for broker in snapshot["brokers"]}
    listed = {id_ for topic in snapshot["topics"] for row in topic["partitions"] for id_ in row["replicas"]}
    down = {broker["id"] for broker in snapshot["brokers"] if broker.get("fenced")} | (listed - rack_of.keys())
    removed = set(request.get("remove_brokers", ()))
    removed |= {id_ for id_, rack in rack_of.items() if rack is not None and rack in request.get("remove_racks", ())}
    replaced = {int(id_): successor for id_, successor in request.get("replace_brokers", {}).items()}
    removed |= replaced.keys()
    rack_of |= {broker["id"]: broker["rack"] for broker in request.get("add_brokers", ())}
    added = {broker["id"] for broker in request.get("add_brokers", ())}
    for id_, successor in replaced.items():
        rack_of.setdefault(successor, rack_of.get(id_))
    receiving = set(rack_of) - down - removed
    receiving -= {*request.get("forbid_brokers", ()), *(request.get("cordoned_brokers") or ())}
    receivers = request.get("receivers")
    if receivers is not None:
        receiving &= {*(added if receivers == "added" else receivers), *replaced.values()}
    return Brokers(rack_of, frozenset(down), frozenset(removed), frozenset(receiving))


def _groups(brokers: Brokers, request: Document) -> dict[str | None, frozenset[int]]:
    replaced = {int(id_): successor for id_, successor in request.get("replace_brokers", {}).items()}
    groups: dict[str | None, frozenset[int]] = {}
    for name, ids in request.get("broker_sets", {}).items():
        groups[name] = frozenset(ids) | {successor for id_, successor in replaced.items() if id_ in ids}
    outside = frozenset(brokers.rack_of).union(brokers.down).difference(*groups.values())
    return groups | {None: outside}


def _created(topic: Document, request: Document) -> list[Document]:
    total = request.get("partitions", {}).get(topic["name"], 0)
    first = topic["partitions"][0]
    return [
        {"partition": id_, "replicas": [], "isr": [], "size_bytes": 0, "factor": len(first["replicas"])}
        for id_ in range(len(topic["partitions"]), total)
    ]


def _partition(
    request: Document,
    brokers: Brokers,
    groups: dict[str | None, frozenset[int]],
    topic: str,
    row: Document,
) -> Partition:
    before = tuple(row["replicas"])
    factor = request.get("replication_factor", {}).get(topic, row.get("factor", len(before)))
    key = (topic, row["partition"])
    pin = next((pin for pin in request.get("pins", ()) if (pin["topic"], pin["partition"]) == key), None)
    fixed = None if pin is None else tuple(pin["replicas"])
    named = request.get("topics")
    if fixed is None and (request.get("leaders_only") or (named is not None and topic not in named)):
        fixed = before
    allowed = brokers.receiving | frozenset(before)
    allowed -= brokers.removed
    if request.get("fix_offline_replicas"):
        allowed -= brokers.down
    for isolation in request.get("isolate", ()):
        if topic in isolation["topics"]:
            allowed &= frozenset(isolation["brokers"])
        elif isolation.get("exclusive"):
            allowed -= frozenset(isolation["brokers"])
    bound = request.get("topic_sets", {})
    if request.get("broker_sets") and isinstance(bound, dict):
        allowed &= groups[bound.get(topic)]
    partition = Partition(
        key,
        before,
        frozenset(row["isr"]),
        row["size_bytes"],
        _rate(request, topic, row),
        factor if fixed is None else len(fixed),
        frozenset(allowed),
        fixed,
        {},
        {},
        0,
        is_pinned=pin is not None,
        keeps_leader=fixed is None and factor < len(before) and before[0] in allowed & set(row["isr"]) - brokers.down,
    )
    return partition if fixed is not None else _with_racks(partition, request, brokers)


def _rate(request: Document, topic: str, row: Document) -> float:
    """The ingress rate that the request states for a partition, else that of the snapshot."""
    stated = request.get("ingress_bytes_per_s", {}).get(topic)
    # A list without the new partitions is a conflict of the request, but the service may name another one first.
    rate: float = (
        row.get("ingress_bytes_per_s", 0) if stated is None else dict(enumerate(stated)).get(row["partition"], 0)
    )
    return rate


def _with_racks(partition: Partition, request: Document, brokers: Brokers) -> Partition:
    """Add the rack rules: min(factor, racks), as evenly as brokers allow, or `max_replicas_per_rack` in one at most."""
    mode = request.get("rack_mode", "enforced")
    have_racks = mode != "safe" or None not in brokers.rack_of.values()
    if partition.key[0] in request.get("placement", {}) and have_racks:
        kept = Counter(brokers.rack_of[id_] for id_ in {*partition.before} & partition.eligible & {*brokers.rack_of})
        fullest = [rack for rack, count in kept.items() if count == max(kept.values())]
        inside = {id_ for id_ in partition.eligible if [brokers.rack_of.get(id_)] == fullest}
        has_room = len(inside) >= partition.factor
        return replace(partition, eligible=frozenset(inside) if has_room else partition.eligible, is_in_rack=True)
    if mode == "disabled" or not brokers.rack_of or None in brokers.rack_of.values():
        return partition
    # The racks before brokers are removed, or those that are left for the partition.
    counted = brokers.rack_of if mode == "enforced" else partition.eligible & brokers.rack_of.keys()
    racks = sorted({rack for id_ in counted if (rack := brokers.rack_of[id_]) is not None})
    spanned = min(partition.factor, len(racks))
    most: int | None = request.get("max_replicas_per_rack")
    if most is not None:
        return replace(partition, ceilings=dict.fromkeys(racks, most), least_racks=spanned)
    sizes = Counter(brokers.rack_of.get(id_) for id_ in partition.eligible)
    level = 0
    while sum(min(level + 1, sizes[rack]) for rack in racks) <= partition.factor and level < partition.factor:
        level += 1
    floors = {rack: min(level, sizes[rack]) for rack in racks}
    ceilings = {rack: min(level + 1, sizes[rack]) for rack in racks}
    return replace(partition, floors=floors, ceilings=ceilings, least_racks=spanned)


def repairs_racks(request: Document) -> bool:
    """Whether partitions of all topics are repaired that span too few racks."""
    stated: bool | None = request.get("repair_racks")
    if stated is not None:
        return stated
    if request.get("remove_racks") or request.get("max_replicas_per_rack") or request.get("topics") is not None:
        return True
    return not named_topics(request)


def named_topics(request: Document) -> set[str]:
    """The topics that a request is about, whose racks are repaired."""
    pinned = {pin["topic"] for pin in request.get("pins", ())}
    isolated = {topic for isolation in request.get("isolate", ()) for topic in isolation["topics"]}
    fields = ("replication_factor", "partitions", "spread_leaders")
    return {topic for field in fields for topic in request.get(field, ())} | pinned | isolated


def _is_certain(request: Document, brokers: Brokers, partitions: tuple[Partition, ...]) -> bool:
    """No broker is down, no partition is left unrepaired, and racks are counted alike by every reading."""
    if brokers.down - brokers.rack_of.keys() or request.get("topic_sets") == "topic_name_hash":
        return False
    if request.get("on_conflict") == "relax" or request.get("unknown_sizes"):
        return False
    # Which rack a partition is brought to is certain if it keeps the most replicas in one that has enough brokers.
    if any(len({brokers.rack_of.get(id_) for id_ in row.eligible}) > 1 for row in partitions if row.is_in_rack):
        return False
    if not repairs_racks(request) and any(breaks_racks(partition, brokers) for partition in partitions):
        return False
    counted = {brokers.rack_of[id_] for id_ in brokers.staying}
    return counted == set(brokers.rack_of.values()) or request.get("rack_mode") in {"safe", "disabled"}


def breaks_racks(partition: Partition, brokers: Brokers) -> bool:
    """Whether the current list breaks the rack rules of its partition."""
    if not partition.ceilings or not partition.before:
        return False
    counts = Counter(brokers.rack_of.get(id_) for id_ in partition.before)
    return any(counts[rack] > most for rack, most in partition.ceilings.items()) or any(
        counts[rack] < least for rack, least in partition.floors.items()
    )


def faults(partition: Partition, replicas: tuple[int, ...], brokers: Brokers, *, repairs: bool) -> list[str]:
    """Every way in which a list breaks the constraints of its partition; if not `repairs`, no fewer racks is enough."""
    found = []
    if len(set(replicas)) < len(replicas):
        found.append(f"a broker is listed twice: {replicas}")
    if len(replicas) != partition.factor:
        found.append(f"{len(replicas)} replicas, not {partition.factor}")
    if partition.fixed is not None:
        if set(replicas) != set(partition.fixed) or (partition.is_pinned and replicas != partition.fixed):
            found.append(f"{replicas} is not {partition.fixed}")
        return found
    if not set(replicas) <= partition.eligible:
        found.append(f"brokers {set(replicas) - partition.eligible} are not eligible")
    if not set(partition.before) <= brokers.rack_of.keys():
        # The rack of a broker that is down and not registered is unknown.
        return found
    counts: Counter[Any] = Counter(brokers.rack_of.get(id_) for id_ in replicas)
    if partition.is_in_rack and len(counts) > 1:
        found.append(f"{len(counts)} racks in place of one")
    least = partition.least_racks
    if repairs:
        bounds = [(rack, partition.floors.get(rack, 0), most) for rack, most in partition.ceilings.items()]
        found += [f"{counts[rack]} replicas in {rack}" for rack, low, high in bounds if not low <= counts[rack] <= high]
    else:
        least = min(len({brokers.rack_of.get(id_) for id_ in partition.before}), least)
    return [*found, *([f"{len(counts)} racks of {least}"] if len(counts) < least else [])]
