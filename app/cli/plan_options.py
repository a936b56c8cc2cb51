"""How the options of `rackplan plan …` become fields of a request's body; the API's models check the values."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from app.cli.disk_options import capacities, directory_bytes, drained
from app.cli.output import listed, read_input
from app.cli.planning import read_json
from app.errors import Json
from app.errors.requests import ConflictingFields
from app.formats.kafka_files import reassignment
from app.formats.sources import broker_sets as sets_of_brokers
from app.formats.syntax.lines import decode
from app.services.amounts import MOST_PERCENT, number_of

Number = TypeVar("Number", int, float)
_NUMBER = re.compile(r"-?[0-9]{1,18}")
"""Text that is passed on as a number; the API's models check its range."""


def fields_of(options: Mapping[str, Any], fields: Mapping[str, tuple[str, Callable[[Any], Json]]]) -> dict[str, Json]:
    """The fields of a body that options state. Raises `ConflictingFields` if an option does not have its form."""
    body: dict[str, Any] = {}
    for name, (path, read) in fields.items():
        value = options[name]
        if value is None or value is False or value in ((), []):
            continue
        *outer, last = path.split(".")
        inner: Any = body
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = read(value)
    return body


def _as_typed(value: Json) -> Json:
    return value


def _plain(*names: str, within: str = "") -> "Fields":
    """Options that are fields of the body: the name and the value of the option are those of the field."""
    return {name: (within + name, _as_typed) for name in names}


def _names(texts: Sequence[str]) -> Json:
    """One name as a text, several as a list: problems are then those of the form that was meant."""
    names = list(dict.fromkeys(listed(texts)))
    return names[0] if len(names) == 1 else names


def _numbers(option: str) -> Callable[[Sequence[str]], Json]:
    def read(texts: Sequence[str]) -> Json:
        for text in (values := listed(texts)):
            if not _NUMBER.fullmatch(text):
                raise ConflictingFields(f"--{option} is {text}; it has to be a number", path=(option,))
        return list(map(int, values))

    return read


def _broker(text: str) -> dict[str, Json]:
    number, _, rack = text.partition(":")
    if not _NUMBER.fullmatch(number):
        raise ConflictingFields(f"--add-broker is {text}; it has to be id:rack, or an id", path=("add_brokers",))
    return {"id": int(number)} | ({"rack": rack} if ":" in text else {})


def _or_word(read: Callable[[str], Json]) -> Callable[[str], Json]:
    """What `read` makes of a text, or the text itself: the API rejects words that it does not have."""

    def read_or_word(text: str) -> Json:
        try:
            return read(text)
        except ValueError:
            return text

    return read_or_word


def _tolerances(text: str) -> Json:
    """A tolerance, or two, above the mean and below it: `0.07:0.33`."""
    above, is_given, below = text.partition(":")
    return {"tolerance": float(above)} | ({"below": float(below)} if is_given else {})


_written = _or_word(number_of)
_balance = _or_word(lambda text: {"tolerance": float(text)})


def _receivers(texts: list[str]) -> Any:
    """`added`, or the ids of brokers."""
    return "added" if texts == ["added"] else _numbers("receivers")(texts)


def _by_name(option: str, texts: Sequence[str], form: str, read: Callable[[str], Number]) -> dict[str, Number]:
    """By name the number of `name=number`. Raises `ConflictingFields` for another form, and a name that comes twice."""
    numbers: dict[str, Number] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            value = read(number)
        except ValueError:
            name = ""
        if not name:
            raise ConflictingFields(f"--{option} is {text}; it has to be {form}", path=(option,))
        if name in numbers:
            raise ConflictingFields(f"--{option} names {name} twice", path=(option,))
        numbers[name] = value
    return numbers


def _whole(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError
    return int(text)


def _pairs(option: str, form: str = "topic=number") -> Callable[[Sequence[str]], Json]:
    return lambda texts: _by_name(option, listed(texts), form, _whole)


def _bytes(option: str) -> Callable[[str], Json]:
    return lambda text: _by_name(option, [f"{option}={text}"], "bytes, such as 3.4TB", number_of)[option]


def _series(file: Path) -> Json:
    """The series of a file; an answer of Prometheus has `data`."""
    document = read_json(file, "series")
    return {"prometheus": document} if isinstance(document, Mapping) and "data" in document else document


def limits(texts: Sequence[str]) -> dict[str, Json]:
    """By resource a share, `0.8` or `80%`, or an amount (above 1, or of a count). Raises `ConflictingFields`."""
    form = "resource=share or resource=amount, such as disk=0.8"
    stated = _by_name("limit", listed(texts), form, number_of)
    for name, amount in stated.items():
        if name in ("disk", "nic_in", "nic_out") and 1 < amount <= MOST_PERCENT:
            detail = f"--limit {name}={amount:g} is {amount:g} bytes; a share is {amount / 100:g} or {amount:g}%"
            raise ConflictingFields(detail, path=("limit",), value=amount)
    return {
        name: {"absolute": amount} if amount > 1 or name in ("replicas", "leaders") else amount
        for name, amount in stated.items()
    }


def _new_topic(text: str) -> dict[str, Json]:
    name, *numbers = text.split(":")
    if not name or len(numbers) not in (2, 3) or not all(_NUMBER.fullmatch(number) for number in numbers):
        raise ConflictingFields(f"--topic is {text}; it has to be name:partitions:replication_factor", path=("topic",))
    return {
        "name": name,
        **dict(zip(("partitions", "replication_factor", "start_partition_id"), map(int, numbers), strict=False)),
    }


def _group_event(text: str) -> dict[str, Json]:
    name, _, value = text.partition("=")
    if name == "rolling_restart" and not value:
        return {name: True}
    if name in ("leave", "lose_rack") and value:
        return {name: value}
    detail = f"--event is {text}; it has to be leave=MEMBER, lose_rack=RACK or rolling_restart"
    raise ConflictingFields(detail, path=("event",))


def _weights(texts: Sequence[str]) -> Json:
    """`capacity`, or by broker its weight, `101=2`, `*=1`."""
    stated = listed(texts)
    if stated == ["capacity"]:
        return "capacity"
    return _by_name("weight", stated, "broker=number, such as 101=2, or capacity", float)


def broker_sets(file: Path) -> dict[str, Json]:
    """The broker sets of a file. Raises `MalformedText`."""
    return {name: list(ids) for name, ids in sets_of_brokers.read(decode(read_input(file), "broker_sets")).items()}


def _topic_sets(texts: Sequence[str]) -> Json:
    """By topic its set, `orders=blue`; or the name of a policy alone, which the API checks."""
    stated = listed(texts)
    if len(stated) == 1 and "=" not in stated[0]:
        return stated[0]
    sets: dict[str, Json] = {}
    for text in stated:
        topic, _, name = text.partition("=")
        if not topic or not name:
            detail = f"--topic-set is {text}; it has to be topic=set, or topic_name_hash alone"
            raise ConflictingFields(detail, path=("topic_sets",))
        if topic in sets:
            detail = f"--topic-set binds topic {topic} twice, to broker sets {sets[topic]} and {name}"
            raise ConflictingFields(detail, path=("topic_sets", topic), value=name)
        sets[topic] = name
    return sets


def named_topics(topics: Iterable[str] | None, file: Path | None) -> list[str]:
    """Topics by their options, and those of a file for Kafka's `--topics-to-move-json-file`. Raises `MalformedText`."""
    of_file = () if file is None else reassignment.read_topics_to_move(decode(read_input(file), "topics_to_move"))
    return [*listed(topics), *of_file]


Fields = Mapping[str, tuple[str, Callable[[Any], Json]]]
"""By option: the field of the body, and how the option is read."""

REPLICAS: Fields = MappingProxyType(
    {
        "topic": ("topics", lambda texts: [_new_topic(text) for text in listed(texts)]),
        "forced": ("forced", lambda texts: {"rack": listed(texts)}),
        **_plain("algorithm", "rack_mode", "fixed_start_index", "seed", "kafka_version"),
        **_plain("policy", "load", "scatter_width", "front"),
    }
)
REASSIGNMENT: Fields = MappingProxyType(
    {
        "add_broker": ("add_brokers", lambda texts: [_broker(text) for text in listed(texts)]),
        "remove_broker": ("remove_brokers", _numbers("remove-broker")),
        "remove_rack": ("remove_racks", listed),
        "replace_broker": ("replace_brokers", _pairs("replace-broker", "old=new, two ids")),
        "forbid_broker": ("forbid_brokers", _numbers("forbid-broker")),
        "receivers": ("receivers", _receivers),
        "replication_factor": ("replication_factor", _pairs("replication-factor")),
        "partitions": ("partitions", _pairs("partitions")),
        "topic": ("topics", _as_typed),
        "in_rack": ("placement", lambda texts: dict.fromkeys(listed(texts), "in_rack")),
        "broker_sets": ("broker_sets", broker_sets),
        "topic_set": ("topic_sets", _topic_sets),
        "balance": ("balance.replicas", _balance),
        "balance_by": ("balance.replicas_by", _as_typed),
        "weight": ("balance.weights", _weights),
        "leaders": ("balance.leaders", _or_word(_tolerances)),
        "topic_replicas": ("balance.per_topic.replicas", _balance),
        "spread_leaders": ("spread_leaders", listed),
        "topic_leaders": ("balance.per_topic.leaders", _balance),
        "merge_running": ("running_reassignment", lambda _: "merge"),
        "limit": ("limits", limits),
        "resources": ("balance.resources", listed),
        "capacity": ("capacity", capacities),
        "drain_log_dir": ("log_dirs.drain", drained),
        "balance_log_dirs": ("log_dirs.balance", _balance),
        "log_dir_bytes": ("log_dirs.total_bytes", directory_bytes),
        "relax": ("on_conflict", lambda _: "relax"),
        "throttle": ("batches.throttle_bytes_per_s", _bytes("throttle")),
        "minimise": ("minimise", _or_word(lambda text: {"bytes_per_replica": number_of(text)})),
        "copysets": ("copysets", lambda text: {"scatter_width": int(text)} if _NUMBER.fullmatch(text) else text),
        "max_moved_bytes": ("max_moved_bytes", _bytes("max-moved-bytes")),
        **_plain(
            "leaders_only",
            "fix_offline_replicas",
            "rack_mode",
            "trade_off",
            "objective",
            "kafka_version",
        ),
        **_plain("leaders_move_replicas", within="balance."),
        "max_disk_share": ("batches.max_disk_share", _written),
        **_plain("max_moves_in_per_broker", within="batches."),
    }
)
GROUP: Fields = MappingProxyType(
    {
        "assignor": ("assignor", _names),
        "event": ("events", lambda texts: [_group_event(text) for text in texts]),
        "ingress_bytes_per_s": (
            "ingress_bytes_per_s",
            lambda texts: _by_name("ingress-bytes-per-s", listed(texts), "topic=bytes, such as orders=4MB", number_of),
        ),
        **_plain("group", "follower_fetching", "rebalance_seconds", "kafka_version"),
        **_plain("cross_rack_per_gib", within="prices."),
    }
)
STREAMS: Fields = MappingProxyType(
    {
        "topology": ("topology", lambda file: decode(read_input(file), "topology")),
        "standbys": ("num_standby_replicas", _as_typed),
        "tag": ("rack_aware_assignment_tags", listed),
        **_plain("group", "application_id", "protocol", "assignor", "kafka_version"),
    }
)
RESTART: Fields = MappingProxyType(
    {
        "controllers": ("controllers", _numbers("controllers")),
        "limit": ("limits", limits),
        "capacity": ("capacity", capacities),
        "controllers_last": ("order", lambda _: "controllers_last"),
        "min_insync_replicas": ("defaults.min_insync_replicas", _as_typed),
        "catch_up_bytes_per_s": ("catch_up_bytes_per_s", _written),
        **_plain("per", "max_brokers_per_wave", "restart_seconds", "pod_name", "kafka_version"),
    }
)
CONSUMERS: Fields = MappingProxyType(
    {
        "series": ("series", _series),
        "capacity": ("capacity_bytes_per_s", _bytes("capacity")),
        "price": ("price_per_consumer_hour", _as_typed),
        "least": ("min", _as_typed),
        "most": ("max", _as_typed),
        **_plain("delay_s", "start_s", "hold_s", "spare", "assignor", "workload", "kafka_version"),
    }
)
KEYS: Fields = MappingProxyType(
    {
        "partitioner": ("partitioner", _names),
        "compare_partitions": ("compare_partitions", _numbers("compare-partitions")),
        "available_partition": ("null_keys.available_partitions", _numbers("available-partition")),
        "queue_size": ("null_keys.queue_sizes", _numbers("queue-size")),
        **_plain("partitions", "encoding", "kafka_version"),
        **_plain("seed", "batch_bytes", "record_bytes", within="null_keys."),
    }
)
OF_KIND: Mapping[str, Fields] = MappingProxyType(
    {
        "replicas": REPLICAS,
        "reassignment": REASSIGNMENT,
        "group": GROUP,
        "streams": STREAMS,
        "restart": RESTART,
        "consumers": CONSUMERS,
    }
)
"""The options of each kind of plan."""
