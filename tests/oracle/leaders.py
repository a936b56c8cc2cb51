"""Laws of leaders: the narrowest band, the fewest changes, evacuated brokers and preferred racks."""

from collections import Counter
from math import ceil, floor
from typing import Any

from tests.oracle.bounds import is_decided
from tests.oracle.exact import Exact, NotSolved, Replicas
from tests.oracle.examined import Examined
from tests.oracle.instances import engine_of, restricts_receivers
from tests.oracle.model import Model, Partition

_REMOVALS = ("remove_brokers", "remove_racks", "replace_brokers", "fix_offline_replicas")


def fewest_changes(examined: Examined, model: Model, after: Replicas) -> None:
    """For the planned replicas: the narrowest band of leaders if they are balanced, then the fewest changes."""
    request, document = examined.instance.request, examined.answer.document
    stated = _balance(request)
    is_by_count = request.get("balance", {}).get("leaders_by", "count") == "count"
    is_in_sync = all(len(row.isr) == len(row.before) for row in model.partitions)
    is_balanced_alone = engine_of(examined.instance) in {"counts", "receivers", "loads"} and is_by_count
    engine = "receivers" if restricts_receivers(request) else None
    if stated in ("moved", "preferred") or not is_balanced_alone or not is_in_sync or request.get("broker_sets"):
        return
    if not is_decided(examined.instance, model):
        return
    exact = _leaders_alone(model, after, request)
    loads = _loads(exact, model, after)
    if stated != "keep":
        low, high = _narrowest(_leaders_alone(model, after, request), model, after)
        # What is reported is of brokers that may receive replicas; others are balanced as well.
        leads = Counter(replicas[0] for replicas in after.values())
        counts = [leads[broker] for broker in _balanced(model, after)]
        if isinstance(stated, dict):
            mean, below = len(model.partitions) / len(loads), stated.get("below")
            below = stated["tolerance"] if below is None else below
            low = min(low, ceil(mean * (1 - below) - 1e-9))
            high = max(high, floor(mean * (1 + stated["tolerance"]) + 1e-9))
            is_within = low <= min(counts) and max(counts) <= high
        else:
            is_within = (low, high) == (min(counts), max(counts))
        detail = f"{min(counts)} to {max(counts)}, exact {low} to {high}"
        examined.hold("leaders are within the narrowest band", is_within, detail, engine)
        for load in loads:
            exact.require(load >= low)
            exact.require(load <= high)
    fewest = exact.minimised(exact.leader_changes())
    if fewest is None:
        return
    detail = f"{document['leader_changes']} changes, bound {document['balance']['leaders']['bound']}, exact {fewest}"
    examined.hold("leader changes are the fewest", document["leader_changes"] == fewest, detail, engine)
    bound = document["balance"]["leaders"]["bound"]
    examined.hold("no bound of leader changes is above the optimum", bound <= fewest, detail, engine)


def roles(examined: Examined, model: Model, after: Replicas) -> None:
    """Evacuated brokers lead only if no other replica may; leaders are in the first preferred rack that has any."""
    request = examined.instance.request
    stated = request.get("evacuate_leaders", {})
    rack_of = model.brokers.rack_of
    evacuated = set(stated.get("brokers", ()))
    evacuated |= {broker for broker, rack in rack_of.items() if rack is not None and rack in stated.get("racks", ())}
    if request.get("balance", {}).get("leaders") == "preferred" or not model.is_certain:
        return
    for row in model.partitions:
        leader, *others = after[row.key]
        may_lead = [broker for broker in (leader, *others) if broker in row.isr or broker not in row.before]
        if row.fixed is not None and (row.is_pinned or not request.get("leaders_only")):
            continue
        rank = {broker: _rank(broker, row, request, rack_of, evacuated) for broker in may_lead}
        is_best = leader not in rank or rank[leader] == min(rank.values())
        detail = f"{row.key}: {after[row.key]}, ranks {rank}"
        examined.hold("leaders are where they are preferred", is_best, detail)


def _rank(
    broker: int, row: Partition, request: dict[str, Any], rack_of: dict[int, str | None], evacuated: set[int]
) -> tuple[bool, int]:
    preferred = request.get("preferred_racks", {})
    racks = preferred.get(row.key[0], preferred.get("*", []))
    rack = rack_of.get(broker)
    return broker in evacuated, racks.index(rack) if rack in racks else len(racks)


def _balance(request: dict[str, Any]) -> Any:
    balance = request.get("balance", {})
    default = "moved" if any(request.get(name) for name in _REMOVALS) else "keep"
    return balance.get("leaders", "tight" if request.get("leaders_only") else default)


def _leaders_alone(model: Model, after: Replicas, request: dict[str, Any]) -> Exact:
    """The planned replicas, of which partitions that may not change keep their leaders."""
    exact = Exact(model)
    exact.fix(after)
    for row in model.partitions:
        is_out = request.get("topics") is not None and row.key[0] not in request["topics"]
        if row.is_pinned or is_out:
            exact.require(exact.leads[row.key, after[row.key][0]] == 1)
    return exact


def _balanced(model: Model, after: Replicas) -> list[int]:
    """The brokers that balance leaders: one that may not receive and has nothing does not."""
    closed = model.brokers.staying - model.brokers.receiving
    return sorted(model.brokers.staying - closed.difference(*after.values()))


def _loads(exact: Exact, model: Model, after: Replicas) -> list[Any]:
    return [exact.load(broker, lambda _: 0, lambda _: 1) for broker in _balanced(model, after)]


def _narrowest(exact: Exact, model: Model, after: Replicas) -> tuple[int, int]:
    largest, smallest = exact.bounded(0, len(model.partitions)), exact.bounded(0, len(model.partitions))
    for load in _loads(exact, model, after):
        exact.require(load <= largest)
        exact.require(load >= smallest)
    high, low = exact.minimised(largest), exact.maximised(smallest)
    if high is None or low is None:
        raise NotSolved("the planned lists break the model, which is another law")
    return low, high
