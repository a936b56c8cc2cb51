"""What is asked of a placement: the request as the service knows it, what is wrong with it, what it is known by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.core import ENGINE_VERSION
from app.core.model import INT32_MAX, Broker, NewTopic
from app.core.replicas.awareness.rules import Policy, Rules
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.errors import ConflictingFields, DuplicateTopic, InvalidPartitions, Json, KafkaError
from app.services.limits import Limits
from app.services.plans import as_json
from app.services.snapshots import check_brokers, first_repeated

KIND = "replicas"


@dataclass(frozen=True, slots=True)
class ReplicasRequest:
    """Topics to place, on the brokers of a snapshot or on the given ones.

    `rack_mode` None means what Kafka does: AdminUtils enforces racks, KRaft's placer takes brokers without one as a
    rack of their own.

    `policy`, `attributes` and `forced` are for awareness alone, which spreads over racks where they are left out.
    """

    topics: Sequence[NewTopic]
    snapshot_id: UUID | None = None
    brokers: Sequence[Broker] | None = None
    algorithm: str = "admin_utils"
    rack_mode: RackMode | None = None
    fixed_start_index: int | None = None
    seed: int | None = None
    policy: Policy | None = None
    attributes: Sequence[str] | None = None
    forced: Mapping[str, Sequence[str]] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def rules(self) -> Rules | None:
        """What awareness is to follow; None for algorithms that follow nobody's rules."""
        if PLACEMENTS[self.algorithm].following is None:
            return None
        told = Rules()
        return Rules(
            policy=told.policy if self.policy is None else self.policy,
            attributes=told.attributes if self.attributes is None else tuple(self.attributes),
            forced={name: tuple(values) for name, values in (self.forced or {}).items()},
        )


def stored(request: ReplicasRequest) -> Mapping[str, Json]:
    """A request as a job keeps it; `restored` reads it again."""
    plain: dict[str, Json] = as_json(request)
    return plain


def restored(kept: Mapping[str, Any]) -> ReplicasRequest:
    """The request that `stored` kept."""
    brokers, snapshot_id, mode = kept["brokers"], kept["snapshot_id"], kept["rack_mode"]
    return ReplicasRequest(
        **{
            **kept,
            "topics": [NewTopic(**topic) for topic in kept["topics"]],
            "brokers": None if brokers is None else [Broker(**broker) for broker in brokers],
            "snapshot_id": None if snapshot_id is None else UUID(snapshot_id),
            "rack_mode": None if mode is None else RackMode(mode),
            "policy": None if kept.get("policy") is None else Policy(kept["policy"]),
        }
    )


def check(request: ReplicasRequest, limits: Limits, *, is_job: bool) -> None:
    """Raise what is wrong with a request before anything is looked up: conflicts, duplicates, limits."""
    if (request.snapshot_id is None) == (request.brokers is None):
        raise ConflictingFields("a request names either a snapshot_id or brokers", path=("snapshot_id",))
    _check_rules(request)
    check_brokers(request.brokers or (), limits)
    limits.check_count("topics", request.topics, path=("topics",))
    names = [topic.name for topic in request.topics]
    if (twice := first_repeated(names)) is not None:
        raise DuplicateTopic(
            f"topic {names[twice]} is listed twice", path=("topics", twice, "name"), value=names[twice]
        )
    partitions = sum(max(topic.partitions, 0) for topic in request.topics)
    replicas = sum(max(topic.partitions, 0) * max(topic.replication_factor, 0) for topic in request.topics)
    limits.check_number("partitions", partitions, path=("topics",))
    limits.check_number("replicas", replicas, path=("topics",))
    if not is_job:
        remedy = "; send the same request with the header `Prefer: respond-async` and it becomes a job"
        limits.check_number("sync_partitions", partitions, path=("topics",), remedy=remedy)
    for index, topic in enumerate(request.topics):
        last = max(topic.start_partition_id, 0) + topic.partitions - 1
        if topic.partitions > 0 and last > INT32_MAX:
            raise InvalidPartitions(
                f"the last partition id would be {last}; Kafka's partition ids end at {INT32_MAX}",
                kafka=KafkaError("InvalidPartitionsException"),
                path=("topics", index, "start_partition_id"),
                value=topic.start_partition_id,
                maximum=INT32_MAX - topic.partitions + 1,
            )


def _check_rules(request: ReplicasRequest) -> None:
    """Raise what is wrong with the rules that are to be followed, or that there are some where none are."""
    rules = request.rules
    if rules is None:
        given = {"policy": request.policy, "attributes": request.attributes, "forced": request.forced}
        for name, value in given.items():
            if value is not None:
                detail = f"{name} goes with the algorithm awareness; {request.algorithm} is asked for"
                raise ConflictingFields(detail, path=(name,), algorithm=request.algorithm)
        return
    rules.check()
    if request.rack_mode is not None:
        raise ConflictingFields(
            "to awareness a rack is an attribute among others; it knows no rack mode",
            path=("rack_mode",),
            value=request.rack_mode.value,
        )


def canonical(
    request: ReplicasRequest, listed: Sequence[Broker], *, cluster: str | None, content_hash: str | None
) -> dict[str, Json]:
    """The request with nothing left to guess: what the hash is of, and what is kept.

    Parameters
    ----------
    listed : the brokers that it names, or those of the snapshot whose hash is `content_hash`.
    """
    algorithm = PLACEMENTS[request.algorithm]
    mode = request.rack_mode or algorithm.rack_mode
    told: dict[str, Json] = {
        "kind": KIND,
        "engine_version": ENGINE_VERSION,
        "cluster": cluster,
        "snapshot_content_hash": content_hash,
        # A snapshot's brokers follow from its hash; others are named in the caller's order, which may count.
        "brokers": None if content_hash else [_broker_json(broker) for broker in listed],
        "algorithm": request.algorithm,
        "rack_mode": None if mode is None else mode.value,
        "fixed_start_index": request.fixed_start_index,
        "seed": request.seed,
        "topics": [as_json(topic) for topic in request.topics],
        "labels": dict(sorted(request.labels.items())),
    }
    return told if request.rules is None else told | _rules_json(request.rules)


def _rules_json(rules: Rules) -> dict[str, Json]:
    forced: dict[str, Json] = {name: rules.forced[name] for name in rules.attributes if name in rules.forced}
    return {"policy": rules.policy.value, "attributes": rules.attributes, "forced": forced}


def _broker_json(broker: Broker) -> dict[str, Json]:
    """A broker as a request names it; attributes and a weight only where it has some, so that other hashes stay."""
    told: dict[str, Json] = as_json(broker)
    if not broker.attributes:
        del told["attributes"]
    if broker.weight == 1:
        del told["weight"]
    return told
