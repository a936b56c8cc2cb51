"""Strimzi's `KafkaRebalance` as a request for a reassignment.

    apiVersion: kafka.strimzi.io/v1             mode: full (default), add-brokers or remove-brokers with `brokers`
    kind: KafkaRebalance                        goals: Cruise Control's, by class name with or without the package
    metadata: {name: drain}                     replicationThrottle: bytes/s
    spec:                                       status.optimizationResult: sums of what Cruise Control proposes
      mode: remove-brokers
      brokers: [3]

Goals become the fields of docs/coming-from-cruise-control.md, with Cruise Control's default thresholds; of several that
set the same field the first one counts, as Cruise Control's first goals have priority. What the resource states and a
request does not have is named. The status has no partitions, so that its sums can only be compared.

Source: `KafkaRebalanceSpec` of Strimzi 0.3x to 1.0; `AnalyzerConfig` of Cruise Control 2.5.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from app.errors import Json
from app.errors.requests import MalformedText
from app.formats.syntax import yaml_documents
from app.formats.syntax.lines import rejection, shown, whole_number
from app.formats.syntax.yaml_documents import Yaml, YamlDocument

KIND = "KafkaRebalance"
_BAND = {"tolerance": 0.1}
_GOALS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "RackAwareGoal": {},
        "RackAwareDistributionGoal": {},
        "ReplicaCapacityGoal": {"limits": {"replicas": {"absolute": 10000}}},
        "DiskCapacityGoal": {"limits": {"disk": 0.8}},
        "NetworkInboundCapacityGoal": {"limits": {"nic_in": 0.8}},
        "NetworkOutboundCapacityGoal": {"limits": {"nic_out": 0.8}},
        "PotentialNwOutGoal": {"limits": {"nic_out": 0.8}},
        "CpuCapacityGoal": {"limits": {"cpu": 0.7}},
        "ReplicaDistributionGoal": {"balance": {"replicas": _BAND}},
        "LeaderReplicaDistributionGoal": {"balance": {"leaders": _BAND, "leaders_move_replicas": True}},
        "DiskUsageDistributionGoal": {"balance": {"resources": ["disk"]}},
        "NetworkInboundUsageDistributionGoal": {"balance": {"resources": ["nic_in"]}},
        "NetworkOutboundUsageDistributionGoal": {"balance": {"resources": ["nic_out"]}},
        "CpuUsageDistributionGoal": {"balance": {"resources": ["cpu"]}},
        "PreferredLeaderElectionGoal": {"balance": {"leaders": "preferred"}},
    }
)
_READ = frozenset({"mode", "brokers", "goals", "replicationThrottle"})
_SUMS = {"numReplicaMovements": "replicas", "dataToMoveMB": "MB", "numLeaderMovements": "leader changes"}


@dataclass(frozen=True, slots=True)
class Rebalance:
    """The fields of a request, and what of the resource they do not have, in sentences."""

    fields: dict[str, Json]
    notes: tuple[str, ...]


def read(text: str) -> Rebalance | None:
    """The request of a text with one `KafkaRebalance`; None if the text is of something else.

    Raises
    ------
    MalformedText
        The text names the kind and is no YAML, has several such resources, or one whose mode or brokers are unknown.
    """
    if KIND not in text:
        return None
    found = [
        (document, document.root)
        for document in yaml_documents.read(text)
        if isinstance(document.root, dict) and document.root.get("kind") == KIND
    ]
    if not found:
        return None
    [(document, root), *others] = found
    if others:
        raise rejection(others[0][0].line, expected=f"one {KIND}", actual="another one")
    spec = _members(root.get("spec"))
    fields, notes = (
        _of_mode(document, spec),
        list(_sums(_members(_members(root.get("status")).get("optimizationResult")))),
    )
    for goal in _listed(spec.get("goals")):
        if (of_goal := _GOALS.get(goal.rpartition(".")[2])) is None:
            notes.append(
                f"the goal {shown(goal)} has no field, or one that needs more: docs/coming-from-cruise-control.md"
            )
        else:
            _merge(fields, of_goal)
    if isinstance(throttle := spec.get("replicationThrottle"), str) and whole_number(throttle):
        fields["batches"] = {"throttle_bytes_per_s": int(throttle)}
    if others_stated := sorted(spec.keys() - _READ):
        notes.append(f"not read of the {KIND}: {', '.join(map(shown, others_stated))}")
    return Rebalance(fields, tuple(notes))


def _of_mode(document: YamlDocument, spec: Mapping[str, Yaml]) -> dict[str, Any]:
    mode = spec.get("mode", "full")
    brokers = [whole_number(broker) for broker in _listed(spec.get("brokers"))]
    if mode == "full":
        return {}
    if mode not in ("add-brokers", "remove-brokers"):
        detail = f"{shown(str(mode))}; log_dirs.drain of a request empties disks"
        raise _rejected(document, expected="the mode full, add-brokers or remove-brokers", actual=detail)
    if not brokers or None in brokers:
        raise _rejected(
            document, expected=f"ids of brokers with the mode {mode}", actual=shown(str(spec.get("brokers")))
        )
    if mode == "remove-brokers":
        return {"remove_brokers": brokers}
    return {"add_brokers": [{"id": broker} for broker in brokers], "receivers": "added"}


def _merge(fields: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add fields; of a field that is there already, members and items."""
    for name, value in added.items():
        known = fields.get(name)
        if isinstance(value, dict) and name in ("limits", "balance"):
            _merge(fields.setdefault(name, {}), value)
        elif isinstance(known, list):
            fields[name] = [*known, *value]
        else:
            fields.setdefault(name, value)


def _sums(result: Mapping[str, Yaml]) -> Iterator[str]:
    sums = [f"{result[key]} {noun}" for key, noun in _SUMS.items() if isinstance(result.get(key), str)]
    if sums:
        yield f"Cruise Control proposes {', '.join(sums)}; compare the certificate of the plan"


def _members(value: object) -> dict[str, Yaml]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _rejected(document: YamlDocument, *, expected: str, actual: str) -> MalformedText:
    return rejection(document.line, expected=expected, actual=actual)
