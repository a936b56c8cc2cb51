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
from importlib.resources import files
from typing import Any

import orjson

from app.errors import Json
from app.formats.syntax.lines import shown
from app.formats.syntax.loose_objects import LooseObject
from app.formats.syntax.yaml_documents import each_document

KIND = "KafkaRebalance"
_GOALS: Mapping[str, dict[str, Any]] = orjson.loads(files("app.formats.sources").joinpath("goals.json").read_bytes())
"""By Cruise Control's goal, the fields of a request."""
_READ = frozenset({"mode", "brokers", "goals", "replicationThrottle"})
_SUMS = {"numreplicamovements": "replicas", "datatomovemb": "MB", "numleadermovements": "leader changes"}


@dataclass(frozen=True, slots=True)
class Rebalance:
    """The fields of a request, and what of the resource they do not have, in sentences."""

    fields: dict[str, Json]
    notes: tuple[str, ...]


def read(text: str) -> Rebalance | None:
    """The request of a text with one `KafkaRebalance`, also in a list; None if the text is of something else.

    Raises
    ------
    MalformedText
        The text names the kind and is no YAML, has several such resources, or one whose mode or brokers are unknown.
    """
    documents = each_document(text, f"a {KIND}") if KIND in text else ()
    resources = [LooseObject.of(one, one.root, ()) for one in documents if isinstance(one.root, dict)]
    listed = [item for one in resources for item in (one.each("items") if one.has("items") else [one])]
    found = [one for one in listed if one.get("kind")[1] == KIND]
    if len(found) > 1:
        raise found[1].document.reject((*found[1].path, "kind"), expected=f"one {KIND}", actual="another one")
    return _of(found[0]) if found else None


def _of(resource: LooseObject) -> Rebalance:
    spec = resource.child("spec") if resource.has("spec") else resource
    fields, notes = _of_mode(spec), list(_sums(resource))
    goals = [*map(str, spec.document.array(spec.get("goals")[1] or [], (*spec.path, "goals")))]
    for goal in goals:
        _merge(fields, _GOALS.get(goal.rpartition(".")[2], {}))
    where = "docs/coming-from-cruise-control.md"
    unknown = [goal for goal in goals if goal.rpartition(".")[2] not in _GOALS]
    notes += [f"the goal {shown(goal)} has no field, or one that needs more: {where}" for goal in unknown]
    if spec.has("replicationthrottle"):
        fields["batches"] = {"throttle_bytes_per_s": spec.integer("replicationthrottle")}
    if others := sorted(name for name in spec.members if spec is not resource and name not in _READ):
        notes.append(f"not read of the {KIND}: {', '.join(map(shown, others))}")
    return Rebalance(fields, tuple(notes))


def _of_mode(spec: LooseObject) -> dict[str, Any]:
    mode, brokers = spec.text("mode") or "full", spec.numbers("brokers")
    if mode not in ("full", "add-brokers", "remove-brokers"):
        actual = f"{shown(mode)}; log_dirs.drain of a request empties disks"
        expected = "the mode full, add-brokers or remove-brokers"
        raise spec.document.reject((*spec.path, "mode"), expected=expected, actual=actual)
    if mode == "full":
        return {}
    if not brokers:
        raise spec.document.reject(spec.path, expected=f"ids of brokers with the mode {mode}", actual="none")
    if mode == "remove-brokers":
        return {"remove_brokers": list(brokers)}
    return {"add_brokers": [{"id": broker} for broker in brokers], "receivers": "added"}


def _merge(fields: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add fields; of a field that is there already, members and items."""
    for name, value in added.items():
        if name in ("limits", "balance"):
            _merge(fields.setdefault(name, {}), value)
        elif name == "resources":
            fields[name] = [*fields.get(name, ()), *value]
        else:
            fields.setdefault(name, value)


def _sums(resource: LooseObject) -> Iterator[str]:
    status = resource.child("status") if resource.has("status") else resource
    if status.has("optimizationresult"):
        result = status.child("optimizationresult")
        sums = [f"{result.get(key)[1]} {noun}" for key, noun in _SUMS.items() if result.has(key)]
        yield f"Cruise Control proposes {', '.join(sums)}; compare the certificate of the plan"
