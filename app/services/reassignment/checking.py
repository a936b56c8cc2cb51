"""What is wrong with a request by itself, before anything is looked up."""

from collections.abc import Iterator

from app.core.replicas.rack_modes import RackMode
from app.errors import ConflictingFields, FieldPath, RatesMissing
from app.services.limits import Limits
from app.services.reassignment import brokers, scope
from app.services.reassignment.requests import ReassignmentRequest


def check(request: ReassignmentRequest, limits: Limits) -> None:
    """Raise what is wrong with a request by itself.

    Raises
    ------
    LimitExceeded, ConflictingFields, RatesMissing
    DuplicateBroker, DuplicateTopic, DuplicatePartition : what is listed twice.
    InvalidReplicationFactor : a factor below 1.
    """
    limits.check_count("brokers", request.add_brokers, path=("add_brokers",))
    limits.check_count("topics", request.topics or (), path=("topics",))
    limits.check_count("partitions", request.pins, path=("pins",))
    brokers.check_named(request)
    scope.check_named(request)
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)
    _require_rates(request)


def _conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Fields that do not go together."""
    if request.leaders_only:
        for name in _moving(request):
            yield (name,), True, f"leaders_only moves no replica, and {name} asks for that"
        if request.replicas_balance.tolerance is not None:
            detail = "leaders_only moves no replica, and balance.replicas asks for that"
            yield ("balance", "replicas"), True, detail
    if request.max_replicas_per_rack is not None and request.rack_mode is RackMode.DISABLED:
        detail = "max_replicas_per_rack counts racks, and rack_mode disabled minds none"
        yield ("max_replicas_per_rack",), request.max_replicas_per_rack, detail
    if request.max_moved_bytes is not None and request.minimise == "replicas":
        detail = "max_moved_bytes is a budget of bytes, and minimise asks for few replicas"
        yield ("max_moved_bytes",), request.max_moved_bytes, detail
    if request.balance.replicas_by != "count":
        for name in ("max_moved_bytes", "trade_off"):
            if getattr(request, name):
                by = request.balance.replicas_by
                detail = f"{name} trades movement for even counts, and replicas are to be even by {by}"
                yield (name,), by, detail


def _moving(request: ReassignmentRequest) -> Iterator[str]:
    """The fields of a request that ask for replicas to move."""
    names = (
        "add_brokers",
        "remove_brokers",
        "replace_brokers",
        "replication_factor",
        "partitions",
        "fix_offline_replicas",
        "max_replicas_per_rack",
        "isolate",
        "pins",
        "max_moved_bytes",
        "trade_off",
    )
    return (name for name in names if getattr(request, name))


def _require_rates(request: ReassignmentRequest) -> None:
    """Raise `RatesMissing` where something is to be even by what flows and nothing is told of that."""
    if request.ingress_bytes_per_s is not None:
        return
    for name, value in (("replicas_by", "throughput"), ("leaders_by", "ingress")):
        if getattr(request.balance, name) == value:
            detail = f"balance.{name} is {value}, and there is no ingress_bytes_per_s to say what flows"
            raise RatesMissing(detail, path=("balance", name), value=value)
