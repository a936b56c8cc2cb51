"""Random instances: a cluster and a request, by a seed."""

from dataclasses import dataclass
from random import Random

from tests.oracle.clusters import Document, random_cluster, with_log_dirs
from tests.oracle.options import OPTIONS, random_request


@dataclass(frozen=True, slots=True)
class Instance:
    """A random cluster and request; the seed is all that is needed to have it again."""

    seed: int
    kinds: tuple[str, ...]
    snapshot: Document
    request: Document

    @classmethod
    def of(cls, seed: int, kind: str | None = None) -> "Instance":
        """The instance of a seed: each kind of option in turn, half with further ones; or `kind` on a busy cluster."""
        random = Random(f"oracle {seed} {kind or ''}")
        names = list(OPTIONS)
        kinds = [names[seed % len(names)] if kind is None else kind]
        if kind is None and random.random() < 0.5:
            kinds += random.choices(names, k=random.choice([1, 1, 2]))
        snapshot = random_cluster(random, is_busy=kind is not None)
        if any("log_dirs" in name for name in kinds):
            snapshot = with_log_dirs(random, snapshot)
        request = random_request(random, snapshot, kinds)
        racks = [broker["rack"] for broker in snapshot["brokers"]]
        if None in racks and any(racks) and random.random() < 0.9:
            request.setdefault("rack_mode", "safe")
        return cls(seed, tuple(kinds), snapshot, request)


def engine_of(instance: Instance) -> str:
    """The part of the documentation that a request is about."""
    request = instance.request
    balance, limits = request.get("balance", {}), resource_limits(request)
    is_soft = any(limit.get("soft") for limit in limits.values()) or request.get("on_conflict") == "relax"
    engines = {
        "soft limits": bool(limits) and is_soft,
        "limits": bool(limits),
        "goals": bool(balance.get("resources")) or isinstance(request.get("objective"), dict),
        "weighted goals": balance.get("replicas_by", "count") != "count" and "weights" in balance,
        "loads": balance.get("replicas_by", "count") != "count",
        "weights": "weights" in balance,
        "topics": "per_topic" in balance,
        "leaders": "leaders_move_replicas" in balance,
        "receivers": restricts_receivers(request) and has_band(request),
        "counts": True,
    }
    return next(engine for engine, is_meant in engines.items() if is_meant)


def resource_limits(request: Document) -> Document:
    """The limits of brokers' loads, without those of log directories."""
    return {name: limit for name, limit in request.get("limits", {}).items() if name != "log_dirs"}


def has_band(request: Document) -> bool:
    """Whether counts of replicas are balanced."""
    stated = request.get("balance", {}).get("replicas")
    balances = any(request.get(name) is not None for name in ("add_brokers", "receivers", "max_moved_bytes"))
    return stated != "keep" and (stated is not None or balances)


def restricts_receivers(request: Document) -> bool:
    """Whether brokers that stay receive nothing."""
    return any(request.get(name) for name in ("receivers", "forbid_brokers", "cordoned_brokers"))
