"""Laws of certificates: values, bounds, gaps, and the movement beside the exact least one."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import ceil, floor

from tests.oracle import loads, weights
from tests.oracle.clusters import Document
from tests.oracle.exact import Exact, Replicas
from tests.oracle.examined import Examined
from tests.oracle.instances import Instance, engine_of, has_band, resource_limits, restricts_receivers
from tests.oracle.model import Model, Partition, breaks_racks, read, repairs_racks

_UNDECIDED = [
    "min_leaders_per_broker",
    "deadline_s",
    "trade_off",
    "growth",
    "consumers",
    "partitions",
    "max_moved_bytes",
    "preferred_racks",
    "evacuate_leaders",
    "spread_leaders",
    "copysets",
]
"""Options of which the small model has not every constraint."""
_OF_LEADERS = ("balance", "pins", "topics", "leaders_only", "broker_sets")
"""Options that restrict leaders, beside limits."""


def certificate(examined: Examined) -> None:
    """The bound is at most the value, `optimal` says that they are equal, and the gap follows."""
    written = examined.answer.document["certificate"]
    name = written["minimised"]
    value, bound = written[f"moved_{name}"], written[f"lower_bound_{name}"]
    if bound is not None:
        examined.hold("the bound is at most the value", bound <= value, str(written))
        # The certificate of leaders_only is the leaders'.
        if not examined.instance.request.get("leaders_only"):
            examined.hold("optimal is a bound that is reached", written["optimal"] == (bound == value), str(written))
            gap = 0 if value == 0 else (value - bound) / value
            examined.hold("the gap is right", abs(written["gap"] - gap) < 1e-4, str(written))
    leaders = examined.answer.document["balance"]["leaders"]
    if leaders["bound"] is not None:
        examined.hold("leader changes reach their bound", leaders["bound"] <= leaders["changes"], str(leaders))


def is_decided(instance: Instance, model: Model) -> bool:
    """Whether the small model has every constraint of the request."""
    request = instance.request
    if any(request.get(name) is not None for name in _UNDECIDED) or request.get("balance", {}).get("per_topic"):
        return False
    is_in_sync = all(len(row.isr) == len(row.before) for row in model.partitions)
    has_goals = isinstance(request.get("objective"), dict)
    if (engine_of(instance) == "limits" and has_goals) or (engine_of(instance) == "leaders" and not is_in_sync):
        return False
    if engine_of(instance) in {"limits", "soft limits"}:
        alone = {"objective", "limits", "on_conflict", "rack_mode"}
        is_alone = request.keys() <= alone or not (
            "on_conflict" in request or has_band(request) or any(request.get(name) for name in _OF_LEADERS)
        )
        stated = {name: value for name, value in request.items() if name != "on_conflict"}
        return is_in_sync and is_alone and read(instance.snapshot, stated).is_certain
    # Brokers that are down have loads, and no share of them.
    has_shares = engine_of(instance) != "counts" or has_band(request)
    if (model.brokers.down and has_shares) or (engine_of(instance) == "loads" and restricts_receivers(request)):
        return False
    lowers = any(row.fixed is None and len(row.before) > row.factor for row in model.partitions)
    if lowers and has_shares and not repairs_racks(request):
        return False
    repairs = any(breaks_racks(row, model.brokers) for row in model.partitions)
    return model.is_certain and not (engine_of(instance) == "leaders" and repairs)


def with_limits(instance: Instance, model: Model) -> Exact:
    """The exact model within the hard limits of the request; without the leaders that lowered factors keep if no
    placement with them is within the limits, or if they exceed soft ones.
    """
    free = model.without_kept_leaders
    if model == free or _least_excess(instance, model) == _least_excess(instance, free):
        return _with_hard_limits(instance, model)
    return _with_hard_limits(instance, free)


def _least_excess(instance: Instance, model: Model) -> int | None:
    exact = _with_hard_limits(instance, model)
    return exact.minimised(loads.sum_above(exact, model, instance.request))


def _with_hard_limits(instance: Instance, model: Model) -> Exact:
    exact = Exact(model)
    for resource, limit in resource_limits(instance.request).items():
        if not limit.get("soft") and instance.request.get("on_conflict") != "relax":
            for load in loads.of_brokers(exact, model, resource).values():
                exact.require(load <= loads.limit_of(instance.request, resource))
    return exact


def cost_of(minimised: str, per_replica: int = 0) -> Callable[[Partition], int]:
    """The cost of a copied replica."""
    return (lambda _: 1) if minimised == "replicas" else (lambda row: (row.size or 0) + per_replica)


def movement(examined: Examined, model: Model, after: Replicas) -> None:
    """The movement is the exact least one within the band that was reached, and no bound is above it."""
    instance = examined.instance
    engine = engine_of(instance)
    is_other = instance.request.get("leaders_only") or instance.request.get("minimise") == "leader_changes"
    if not is_decided(instance, model) or engine == "topics" or is_other:
        return
    if engine in {"goals", "weighted goals"}:
        loads.goals(examined, model, after)
        return
    exact = with_limits(instance, model)
    if engine == "soft limits":
        rows = examined.answer.document["balance"]["resources"] or []
        if not (
            loads.excess(examined, model, exact, after)
            and loads.require_goals(exact, model, instance.request, rows, after)
        ):
            return
    if engine == "loads" and not loads.band(examined, model, exact, after):
        return
    if engine == "leaders" and not _require_leader_band(exact, model, after, instance.request.get("topics")):
        return
    if engine == "weights" and not weights.bands(examined, model, exact):
        return
    if engine in {"counts", "receivers"}:
        _require_band(examined, model, exact, after)
    _least(examined, model, exact, engine)


def _least(examined: Examined, model: Model, exact: Exact, engine: str) -> None:
    written = examined.answer.document["certificate"]
    name = written["minimised"]
    value, bound = written[f"moved_{name}"], written[f"lower_bound_{name}"]
    least = exact.minimised(exact.moved(cost_of(name, written.get("bytes_per_replica", 0))))
    detail = f"moved {value}, bound {bound}, exact {least}"
    examined.hold("the model has the placement", least is not None and least <= value, detail, engine)
    if least is None:
        return
    if bound is not None:
        examined.hold("no bound is above the optimum", bound <= least, detail, engine)
    examined.hold("moved is the exact least", value <= least, detail, engine)
    # The small model may drop the last replica in sync, if sizes are 0.
    is_in_sync = all(set(row.isr) == set(row.before) for row in model.partitions)
    if name == "bytes" and value == least and engine == "counts" and is_in_sync:
        fewest = exact.minimised(exact.moved(cost_of("replicas")))
        detail = f"{written['moved_replicas']} replicas, exact {fewest}"
        examined.hold("replicas are the fewest at equal bytes", written["moved_replicas"] == fewest, detail)


def _require_band(examined: Examined, model: Model, exact: Exact, after: Replicas) -> None:
    """Hold counts within the reported bands; brokers that receive nothing may stay as they are."""
    balance = examined.answer.document["balance"]
    sets: Mapping[str | None, Document] = {each["set"]: each["replicas"] for each in balance.get("sets") or ()}
    before = Counter(broker for row in model.partitions for broker in row.before if broker in row.eligible)
    planned = Counter(broker for replicas in after.values() for broker in replicas)
    for name, band in (sets or {None: balance["replicas"]}).items():
        brokers = model.brokers.staying & model.groups[name] if sets else model.brokers.staying
        if band["low"] is None:
            continue
        for broker in sorted(brokers):
            load = exact.load(broker, lambda _: 1, lambda _: 0)
            least = band["low"] if broker in model.brokers.receiving else min(band["low"], before[broker])
            exact.require(load <= band["high"])
            exact.require(load >= least)
            detail = f"broker {broker} {before[broker]} → {planned[broker]} in {band['low']} to {band['high']}"
            examined.hold("counts are within the band", least <= planned[broker] <= band["high"], detail)
        if not sets and engine_of(examined.instance) == "counts":
            _narrowest(examined, model, band)


def _narrowest(examined: Examined, model: Model, band: Document) -> None:
    """`tight` is the narrowest band: first the smallest largest count, then the largest smallest count."""
    request = examined.instance.request
    stated = request.get("balance", {}).get("replicas")
    total = sum(row.factor for row in model.partitions)
    exact = Exact(model)
    largest = exact.bounded(0, total)
    smallest = exact.bounded(0, total)
    counts = [exact.load(broker, lambda _: 1, lambda _: 0) for broker in sorted(model.brokers.staying)]
    for count in counts:
        exact.require(count <= largest)
        exact.require(count >= smallest)
    high, low = exact.minimised(largest), exact.maximised(smallest)
    if high is None or low is None:
        return
    if isinstance(stated, dict):
        mean = total / len(counts)
        low = min(low, ceil(mean * (1 - stated["tolerance"]) - 1e-9))
        high = max(high, floor(mean * (1 + stated["tolerance"]) + 1e-9))
    detail = f"reported {band['low']} to {band['high']}, exact {low} to {high}"
    examined.hold("the band is the narrowest", (band["low"], band["high"]) == (low, high), detail)


def _require_leader_band(exact: Exact, model: Model, after: Replicas, topics: list[str] | None) -> bool:
    """The narrowest band of leaders, if replicas may move for it; other topics keep theirs."""
    exact.keep_leaders(after, topics)
    largest, smallest = exact.bounded(0, len(model.partitions)), exact.bounded(0, len(model.partitions))
    for broker in sorted(model.brokers.staying):
        load = exact.load(broker, lambda _: 0, lambda _: 1)
        exact.require(load <= largest)
        exact.require(load >= smallest)
    return exact.minimised(largest) is not None and exact.maximised(smallest) is not None
