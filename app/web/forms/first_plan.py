"""The form that makes a plan: its fields, their errors, and the request that they make."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.core.model import Cluster, NewTopic
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.errors import Failure
from app.errors.kafka import BrokersWithoutRack
from app.errors.requests import DuplicateTopic
from app.errors.texts import MalformedText
from app.formats.snapshots import assembly
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.lines import is_topic_name, whole_number
from app.services import replicas, snapshots
from app.services.limits import Limits
from app.services.plans import Plan, make_plan
from app.services.replicas import ReplicasRequest
from app.store.database import UnitOfWork

_FORM: Mapping[str, tuple[str, str]] = {
    "cluster": ("Name of the cluster", ""),
    "brokers_text": ("Brokers and racks", ""),
    "topics_text": ("Topics", ""),
    "log_dirs_text": ("Log directories", ""),
    "topic": ("Topic", ""),
    "partitions": ("Partitions", "12"),
    "replication_factor": ("Replication factor", "3"),
    "algorithm": ("Algorithm", ""),
    "rack_mode": ("Racks", ""),
    "seed": ("Seed", ""),
}
"""The label and the initial value of each field, in the order of the form."""
LABELS = {name: label for name, (label, _) in _FORM.items()}
EMPTY = {name: initial for name, (_, initial) in _FORM.items()}

_BROKERS = "".join(
    f"kafka-{broker}.example:9092 (id: {broker} rack: {rack} isFenced: false) -> (\n"
    for broker, rack in ((101, "az-a"), (102, "az-a"), (103, "az-b"), (104, "az-b"), (105, "az-c"), (106, "az-c"))
)
_REPLICAS = ("101,103,105", "103,105,102", "105,102,104", "102,104,106", "104,106,101", "106,101,103")
_TOPICS = (
    "Topic: payments\tTopicId: 5m9Zq0sYQ1yX0mVb3oVnJw\tPartitionCount: 6\tReplicationFactor: 3\tConfigs: \n"
) + "".join(
    f"\tTopic: payments\tPartition: {partition}\tLeader: {replicas[:3]}\tReplicas: {replicas}\tIsr: {replicas}"
    "\tElr: \tLastKnownElr: \n"
    for partition, replicas in enumerate(_REPLICAS)
)

EXAMPLE: Mapping[str, str] = {
    **EMPTY,
    "cluster": "example",
    "brokers_text": _BROKERS,
    "topics_text": _TOPICS,
    "topic": "orders",
}
"""The fields of the form with a small cluster, as the Kafka tools print it."""

FORM = ""
"""The field of a problem that is of no single field."""

_LONGEST_NAME = 249
CLUSTER_NAMES = f"A cluster's name has 1 to {_LONGEST_NAME} printable characters."
_TEXTS = {"brokers": "brokers_text", "topics": "topics_text", "log_dirs": "log_dirs_text"}
_FIELDS = {
    "brokers": "brokers_text",
    "name": "topic",
    "partitions": "partitions",
    "start_partition_id": "partitions",
    "replication_factor": "replication_factor",
    "rack_mode": "rack_mode",
    "seed": "seed",
    "attributes": "brokers_text",
    # Of the limits it is the number of partitions that a person can lower.
    "topics": "partitions",
}


class Unusable(Exception):
    """The input cannot be planned; has the reasons, field by field in the order of the form."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(problems)
        self.problems = {field: problems[field] for field in (FORM, *LABELS) if field in problems}


def is_cluster_name(name: str) -> bool:
    """Whether a text may be the name of a cluster."""
    return 0 < len(name) <= _LONGEST_NAME and name.isprintable()


@dataclass(frozen=True, slots=True)
class FirstPlan:
    """A cluster, and a topic to place on it."""

    cluster: Cluster
    request: ReplicasRequest


def read(typed: Mapping[str, str]) -> FirstPlan:
    """Parse the input, or raise `Unusable` with all its errors."""
    problems: dict[str, str] = {}
    partitions = _count(typed, "partitions", problems)
    replication_factor = _count(typed, "replication_factor", problems)
    seed = _seed(typed["seed"].strip(), problems)
    topic, name = typed["topic"].strip(), typed["cluster"].strip()
    if not is_topic_name(topic):
        problems["topic"] = "A topic's name has 1 to 249 letters, digits, dots, underscores and hyphens."
    if not is_cluster_name(name):
        problems["cluster"] = CLUSTER_NAMES
    if typed["algorithm"] not in ("", *PLACEMENTS):
        problems["algorithm"] = f"The algorithms are {', '.join(PLACEMENTS)}."
    if typed["rack_mode"] not in ("", *RackMode):
        problems["rack_mode"] = f"The modes are {', '.join(RackMode)}."
    cluster = _cluster(name, typed, problems)
    if problems:
        raise Unusable(problems)
    request = ReplicasRequest(
        topics=[NewTopic(topic, partitions, replication_factor)],
        algorithm=typed["algorithm"] or None,
        rack_mode=RackMode(typed["rack_mode"]) if typed["rack_mode"] else None,
        seed=seed,
    )
    return FirstPlan(cluster, request)


def carry_out(uow: UnitOfWork, wanted: FirstPlan, limits: Limits) -> Plan:
    """Store the cluster as a snapshot and place the topic on it, or raise `Unusable`."""
    try:
        snapshot = snapshots.store(uow, wanted.cluster, limits)
        return make_plan(uow, replicas.PLANNER, replace(wanted.request, snapshot_id=snapshot.id), limits)
    except Failure as failure:
        raise Unusable({_field(failure): _sentence(failure.detail)}) from failure


def _cluster(name: str, typed: Mapping[str, str], problems: dict[str, str]) -> Cluster:
    uploads = [Upload(typed[field], part, part) for part, field in _TEXTS.items() if typed[field].strip()]
    if not typed["brokers_text"].strip():
        problems["brokers_text"] = (
            "Paste the output of kafka-broker-api-versions, which lists the brokers with their racks."
        )
        return Cluster(name, ())
    try:
        return assembly.assemble(name, uploads).cluster
    except MalformedText as refused:
        problems[_field(refused)] = _sentence(refused.detail)
        return Cluster(name, ())


def _count(typed: Mapping[str, str], field: str, problems: dict[str, str]) -> int:
    number = whole_number(typed[field].strip())
    if number is None:
        problems[field] = "Enter a whole number from 1 to 2147483647."
    return number or 0


def _seed(text: str, problems: dict[str, str]) -> int | None:
    if not text:
        return None
    digits = text.removeprefix("-")
    seed = int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 19 else None
    if seed is None or not -(2**63) <= seed < 2**63:
        problems["seed"] = "Enter a whole number of 64 bits, or leave it empty."
    return seed


def _field(failure: Failure) -> str:
    if isinstance(failure, MalformedText):
        return _TEXTS.get(str(failure.path[0]), FORM) if failure.path else FORM
    if isinstance(failure, BrokersWithoutRack):
        return "rack_mode"  # the text is what it is; the mode is what can be chosen
    if isinstance(failure, DuplicateTopic):
        return "topics_text"
    named = [part for part in failure.path if isinstance(part, str)]
    return next((_FIELDS[part] for part in reversed(named) if part in _FIELDS), FORM)


def _sentence(detail: str) -> str:
    return detail[:1].upper() + detail[1:] + ("" if detail.endswith(".") else ".")
