"""Validation of a request by itself."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from app.core.replicas.options import RackMode
from app.errors import FieldPath
from app.errors.kafka import InvalidReplicationFactor, KafkaError
from app.errors.requests import ConflictingFields, DuplicateBroker, DuplicatePartition, DuplicateTopic
from app.services.limits import Limits
from app.services.reassignment.requests import parts
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.snapshots import first_repeated, require_distinct


def check(request: ReassignmentRequest, limits: Limits) -> None:
    """Validate a request by itself.

    Raises
    ------
    LimitExceeded, ConflictingFields
    DuplicateBroker, DuplicateTopic, DuplicatePartition : listed twice.
    InvalidReplicationFactor : a factor below 1.
    """
    limits.check_count("brokers", request.add_brokers, path=("add_brokers",))
    limits.check_count("topics", request.topics or (), path=("topics",))
    limits.check_count("partitions", request.pins, path=("pins",))
    _check_brokers(request)
    _check_partitions(request)
    parts.check_resources(request)
    parts.check_log_dirs(request.log_dirs)
    parts.check_broker_sets(request.broker_sets, request.topic_sets)
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)


def _conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Fields that do not go together."""
    if request.leaders_only:
        for name in _moving(request):
            yield (name,), True, f"leaders_only moves no replica, which {name} requires"
        if request.replicas_balance.tolerance is not None:
            detail = "leaders_only moves no replica, which balance.replicas requires"
            yield ("balance", "replicas"), True, detail
    yield from _receivers_conflicts(request)
    yield from _leader_conflicts(request)
    if request.limits.disk and (request.log_dirs is not None or request.limits.log_dirs is not None):
        detail = "limits.disk is of whole brokers, and log directories have limits of their own: limits.log_dirs"
        yield ("limits", "disk"), True, detail
    if request.balance.per_topic is not None:
        yield from _per_topic_conflicts(request, request.balance.per_topic)
    yield from _rack_conflicts(request)
    yield from _width_conflicts(request)
    yield from _movement_conflicts(request)


def _movement_conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Conflicts of `minimise`, budgets and batches."""
    if request.minimise == "leader_changes" and not request.balance.leaders_move_replicas:
        detail = "minimise leader_changes is of replicas that move for leaders: balance.leaders_move_replicas"
        yield ("minimise",), "leader_changes", detail
    if request.max_moved_bytes is not None and request.minimise not in ("bytes", None):
        what = request.minimise if isinstance(request.minimise, str) else "bytes_per_replica"
        detail = f"max_moved_bytes is a budget of bytes, and minimise is {what}"
        yield ("max_moved_bytes",), request.max_moved_bytes, detail
    if request.batches.hottest == "spread" and request.batches.max_disk_share is not None:
        detail = "what fits on disks depends on the order of the batches, which hottest spread changes"
        yield ("batches", "hottest"), "spread", detail
    if request.balance.replicas_by != "count":
        for name in ("max_moved_bytes", "trade_off"):
            if _is_given(request, name):
                by = request.balance.replicas_by
                detail = f"{name} trades movement for balanced counts, and replicas are balanced by {by}"
                yield (name,), by, detail


def _width_conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Conflicts with partitions that are balanced over the sets of a scatter width."""
    if not isinstance(request.copysets, parts.SetsOfWidth):
        return
    together = "a scatter width has equally many partitions on each set, by count"
    for name in ("max_moved_bytes", "trade_off", "leaders_only"):
        if _is_given(request, name):
            yield (name,), getattr(request, name), f"{together}, and {name} is given"
    balance, per_topic = request.balance, request.balance.per_topic
    for name, is_given in (
        ("replicas", balance.replicas not in (None, "keep")),
        ("replicas_by", balance.replicas_by != "count"),
        ("leaders_move_replicas", balance.leaders_move_replicas),
        ("weights", balance.weights is not None),
        ("per_topic", per_topic is not None and per_topic.replicas is not None),
    ):
        if is_given:
            yield ("balance", name), True, f"{together}, and balance.{name} is given"


def _rack_conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Constraints on racks that do not go together."""
    most = request.max_replicas_per_rack
    if request.rack_mode is RackMode.DISABLED:
        if most is not None:
            detail = "max_replicas_per_rack counts racks, and rack_mode disabled ignores them"
            yield ("max_replicas_per_rack",), most, detail
        if request.placement:
            yield ("placement",), "disabled", "placement is of racks, and rack_mode disabled ignores them"
    elif request.placement and most is not None:
        detail = "max_replicas_per_rack spreads replicas over racks, and placement has all of a partition in one"
        yield ("placement",), most, detail


def _leader_conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Constraints on leaders that a balance cannot have."""
    if request.balance.leaders_move_replicas:
        yield from _moves_conflicts(request)
    leaders, by = request.balance.leaders, request.balance.leaders_by
    if isinstance(leaders, parts.Tolerance) and leaders.below is not None and by != "count":
        yield ("balance", "leaders", "below"), by, f"below is of leaders by count, and balance.leaders_by is {by}"
    for name in ("preferred_racks", "min_leaders_per_broker", "spread_leaders"):
        if getattr(request, name) and request.balance.leaders == "preferred":
            detail = f"{name} chooses leaders, and with balance.leaders preferred the lists stay as they are"
            yield (name,), "preferred", detail
    for name in ("min_leaders_per_broker", "spread_leaders"):
        if getattr(request, name) and by != "count":
            yield (name,), by, f"{name} counts leaders, and they are balanced by {by}"
    yield from _of_spread_and_preferred(request)


def _of_spread_and_preferred(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Topics whose leaders are spread and constrained otherwise, and preferred racks that are listed twice."""
    for place, topic in enumerate(request.spread_leaders):
        if request.topic_leaders_tolerance is not None or topic in request.min_leaders_per_broker:
            other = "min_leaders_per_broker" if topic in request.min_leaders_per_broker else "balance.per_topic.leaders"
            yield ("spread_leaders", place), topic, f"the leaders of topic {topic} are spread, and {other} is given"
    for topic, racks in request.preferred_racks.items():
        where = f" in preferred_racks of {topic}"
        require_distinct("rack", racks, ConflictingFields, "preferred_racks", topic, where=where)


def _moves_conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Conflicts with replicas that move for the balance of leaders."""
    path = ("balance", "leaders_move_replicas")
    if request.leaders_only:
        yield path, True, "leaders_only moves no replica, which balance.leaders_move_replicas allows"
    if isinstance(leaders := request.balance.leaders, str) and leaders != "tight":
        detail = f"replicas move to reach a band of leaders, and balance.leaders {leaders} has none"
        yield ("balance", "leaders"), leaders, detail
    if request.balance.leaders_by != "count":
        by = request.balance.leaders_by
        yield path, by, f"replicas move for leaders by count, and balance.leaders_by is {by}"
    for name in (*_moving(request), "preferred_racks", "min_leaders_per_broker", "spread_leaders"):
        if name != "max_moved_bytes" and getattr(request, name):
            yield path, name, f"replicas move for the balance of leaders alone, and {name} is given"
    for name in ("replicas", "per_topic"):
        if getattr(request.balance, name) not in (None, "keep"):
            yield path, name, f"replicas move for the balance of leaders alone, and balance.{name} is given"
    for name, value in _without_topics(request):
        yield path, value, f"replicas move for the balance of leaders alone, and {name} is given"


def _per_topic_conflicts(
    request: ReassignmentRequest, per_topic: parts.PerTopicRequest
) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Conflicts with a balance per topic, and its missing fields."""
    path, leaders = ("balance", "per_topic"), request.balance.leaders
    if per_topic.replicas is None and per_topic.leaders is None:
        yield path, "null", "balance.per_topic states replicas, leaders or both, and neither is given"
    for name, value in _without_topics(request):
        yield path, value, f"balance.per_topic balances counts alone, and {name} is given"
    if per_topic.replicas is not None:
        if request.balance.replicas_by != "count":
            detail = "balance.per_topic balances counts alone, and balance.replicas_by is given"
            yield path, request.balance.replicas_by, detail
        for name in ("leaders_only", "max_moved_bytes", "trade_off"):
            if _is_given(request, name):
                detail = f"balance.per_topic balances counts alone, and {name} is given"
                yield path, str(getattr(request, name)), detail
    if per_topic.leaders is not None:
        if request.balance.leaders_by != "count":
            by = request.balance.leaders_by
            yield (*path, "leaders"), by, f"balance.per_topic.leaders counts leaders, and they are balanced by {by}"
        if isinstance(leaders, str) and leaders != "tight":
            detail = f"balance.per_topic.leaders balances all leaders as well, and balance.leaders is {leaders}"
            yield (*path, "leaders"), leaders, detail


def _without_topics(request: ReassignmentRequest) -> Iterator[tuple[str, str]]:
    """Fields that do not go together with any balance per topic."""
    if request.balance.resources:
        yield "balance.resources", ", ".join(request.balance.resources)
    if request.objective != "balance":
        yield "objective", "relieve" if request.objective == "relieve" else "goals"
    if request.limits.stated():
        yield "limits", ", ".join(request.limits.stated())


def _receivers_conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, bool | int | str, str]]:
    """Receivers that cannot receive."""
    if request.receivers is None:
        return
    if request.receivers == "added":
        if not request.add_brokers:
            yield ("receivers",), "added", "receivers are the added brokers, and add_brokers lists none"
        return
    without = {"remove_brokers": request.remove_brokers, "forbid_brokers": request.forbid_brokers}
    for place, broker in enumerate(request.receivers):
        for name, brokers in without.items():
            if broker in brokers:
                yield ("receivers", place), broker, f"broker {broker} is to receive replicas, and is in {name}"


def _moving(request: ReassignmentRequest) -> Iterator[str]:
    """The fields of a request that ask for replicas to move."""
    names = (
        "add_brokers",
        "remove_brokers",
        "remove_racks",
        "receivers",
        "replace_brokers",
        "replication_factor",
        "partitions",
        "fix_offline_replicas",
        "max_replicas_per_rack",
        "placement",
        "broker_sets",
        "isolate",
        "pins",
        "max_moved_bytes",
        "trade_off",
    )
    return (name for name in names if _is_given(request, name))


def _is_given(request: ReassignmentRequest, name: str) -> bool:
    """Whether a field is neither null, false nor empty; a budget of 0 is given."""
    value = getattr(request, name)
    return bool(value) or type(value) is int


def _check_brokers(request: ReassignmentRequest) -> None:
    """Validate the brokers that a request names, before a cluster is looked at."""
    lists: Mapping[str, Sequence[int]] = {
        "add_brokers": [broker.id for broker in request.add_brokers],
        "remove_brokers": request.remove_brokers,
        "forbid_brokers": request.forbid_brokers,
        "receivers": () if request.receivers is None or request.receivers == "added" else request.receivers,
        "cordoned_brokers": request.cordoned_brokers or (),
    }
    for name, ids in lists.items():
        member = "id" if name == "add_brokers" else ""
        require_distinct("broker", ids, DuplicateBroker, name, member=member, where=f" in {name}")
    added = set(lists["add_brokers"])
    for place, broker in enumerate(request.remove_brokers):
        if broker in added:
            raise _conflict(("remove_brokers", place), broker, "is removed and added")
        if broker in request.replace_brokers:
            raise _conflict(("remove_brokers", place), broker, "is removed, and replaced, which removes it as well")
    _check_successors(request, added)


def _check_successors(request: ReassignmentRequest, added: Collection[int]) -> None:
    """Validate brokers that are replaced, and their successors."""
    for old, new in request.replace_brokers.items():
        path: FieldPath = ("replace_brokers", str(old))
        if new in request.replace_brokers:
            what = "itself" if new == old else f"{request.replace_brokers[new]}"
            raise _conflict(path, new, f"is to replace {old}, and is replaced by {what}")
        if new in request.remove_brokers:
            raise _conflict(path, new, f"is to replace {old}, and is removed")
        if new in request.forbid_brokers:
            raise _conflict(path, new, f"is to replace {old}, and is forbidden to receive anything")
        if old in added:
            raise _conflict(path, old, "is replaced and added")
    successors = list(request.replace_brokers.values())
    if (twice := first_repeated(successors)) is not None:
        old = list(request.replace_brokers)[twice]
        raise _conflict(("replace_brokers", str(old)), successors[twice], "is to replace two brokers")


def _check_partitions(request: ReassignmentRequest) -> None:
    """Validate the topics and partitions that a request names, before a cluster is looked at."""
    listed: Mapping[FieldPath, Sequence[str]] = {
        ("topics",): request.topics or (),
        ("balance", "per_topic", "topics"): request.balanced_topics,
        ("spread_leaders",): request.spread_leaders,
    }
    for path, names in listed.items():
        require_distinct("topic", names, DuplicateTopic, *path)
    isolated: dict[str, int] = {}
    for at, isolated_topics in enumerate(request.isolate):
        for place, name in enumerate(isolated_topics.topics):
            if name in isolated:
                detail = f"topic {name} is isolated twice, by /isolate/{isolated[name]} and by /isolate/{at}"
                raise DuplicateTopic(detail, path=("isolate", at, "topics", place), value=name)
            isolated[name] = at
    _check_pins(request)
    for name, factor in request.replication_factor.items():
        if factor < 1:
            raise InvalidReplicationFactor(
                f"topic {name}: a replication factor is 1 or more; {factor} given",
                kafka=KafkaError("InvalidReplicationFactorException"),
                path=("replication_factor", name),
                value=factor,
                minimum=1,
            )


def _check_pins(request: ReassignmentRequest) -> None:
    """Validate pins: no partition or broker is named twice, and the replication factor is as requested."""
    pinned = [(pin.topic, pin.partition) for pin in request.pins]
    if (twice := first_repeated(pinned)) is not None:
        name = "{}-{}".format(*pinned[twice])
        raise DuplicatePartition(f"partition {name} is pinned twice", path=("pins", twice, "partition"), value=name)
    for at, pin in enumerate(request.pins):
        if (twice := first_repeated(pin.replicas)) is not None:
            broker = pin.replicas[twice]
            detail = f"the pin of {pin.topic}-{pin.partition} names broker {broker} twice"
            raise DuplicatePartition(detail, path=("pins", at, "replicas", twice), value=broker)
        factor = request.replication_factor.get(pin.topic)
        if factor is not None and factor != len(pin.replicas):
            detail = (
                f"{pin.topic}-{pin.partition} is pinned to {len(pin.replicas)} brokers, and the replication factor of "
                f"its topic is to be {factor}"
            )
            raise ConflictingFields(detail, path=("pins", at, "replicas"), value=len(pin.replicas), limit=factor)


def _conflict(path: FieldPath, broker: int, what: str) -> ConflictingFields:
    return ConflictingFields(f"broker {broker} {what}", path=path, value=broker)
