"""The changes of a reassignment that concern one broker, rack or topic, as the address of a page selects them."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np

from app.core.measures.transfers import ChangedRows, PartitionTransfer, Transfers
from app.core.model import Bools, Broker, Int32s
from app.errors.quotation import quoted
from app.errors.requests import InvalidField
from app.store.database import UnitOfWork
from app.store.records import ListedPlan
from app.store.sweeps import Sweep
from app.web.pictures.svg import escaped

MOST_ROWS = 100
_KINDS = ("broker", "rack", "topic")


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection, and the first partitions that change because of it.

    Parameters
    ----------
    kind, name : a broker by its id, a rack or a topic by its name; empty if nothing is selected.
    total : the number of partitions. choices : by kind, the names in any change.
    """

    kind: str
    name: str
    partitions: Sequence[PartitionTransfer] = field(repr=False)
    total: int
    choices: Sequence[tuple[str, Sequence[str]]] = field(repr=False)

    @property
    def value(self) -> str:
        """As addresses have it: `broker:105`."""
        return f"{self.kind}:{self.name}" if self.kind else ""

    def marked(self, picture: str) -> str:
        """The picture with the columns and rows of the selection marked."""
        names = {"broker": ["item"], "rack": ["item", "rack"]}.get(self.kind, [])
        for name in names:
            attribute = f'data-{name}="{escaped(self.name)}"'
            picture = picture.replace(attribute, f'{attribute} data-chosen=""')
        return picture


def select(transfers: Transfers, text: str, *, most: int = MOST_ROWS) -> Selection:
    """The changes that an address selects; all of them if it selects nothing that there is."""
    kind, _, name = text.partition(":")
    changed = transfers.changed_rows()
    choices = _choices(transfers.brokers, changed)
    if kind not in _KINDS or name not in dict(choices)[kind]:
        kind = name = ""
    if kind == "topic":
        changed = changed.only(changed.topic_of == changed.topics.index(name))
    elif kind:
        changed = changed.only(_concerns(changed, _brokers(transfers.brokers, kind, name)))
    return Selection(kind, name, changed.only(slice(most)).records(), len(changed), choices)


def _choices(brokers: Sequence[Broker], changed: ChangedRows) -> list[tuple[str, Sequence[str]]]:
    ids = set(np.unique(changed.before).tolist()) | set(np.unique(changed.after).tolist())
    named = [broker for broker in brokers if broker.id in ids]
    racks = sorted({broker.rack for broker in named if broker.rack is not None})
    return [
        ("broker", [str(broker.id) for broker in named]),
        ("rack", racks),
        ("topic", changed.named()),
    ]


def _brokers(brokers: Sequence[Broker], kind: str, name: str) -> Int32s:
    chosen = [broker.id for broker in brokers if name == (str(broker.id) if kind == "broker" else broker.rack)]
    return np.array(chosen, np.int32)


def _concerns(changed: ChangedRows, ids: Int32s) -> Bools:
    """(rows,) bool: whether one of the brokers gains or loses a replica, or leads before or after but not both."""
    was, now = (np.isin(side, ids) for side in (changed.before, changed.after))
    return np.asarray((was.sum(axis=1) != now.sum(axis=1)) | (was[:, 0] != now[:, 0]), np.bool_)


_LONGEST = 100
_SNAPSHOT = "of the snapshot"
"""In place of the whole hash of its content, and after the options."""

_DISTINCTIONS: dict[tuple[UUID, ...], Sequence[str]] = {}
"""Differences between plans or studies: requests never change, and reading them was a quarter of the time of a page."""
_MOST_DISTINCTIONS = 256
_VALUES = {"tight": "balanced", "keep": "kept", "moved": "kept but of moved replicas"}
"""Values of a balance in words."""


def twins(uow: UnitOfWork, listed: Sequence[ListedPlan]) -> Mapping[UUID, str]:
    """Of each plan whose title another plan of the list has, the fields of its request that differ, in words."""
    by_default = {plan.id: {"seed": f"{plan.seed} by default"} for plan in listed if plan.prediction == "envelope"}

    def fields(ids: tuple[UUID, ...]) -> list[Mapping[str, str]]:
        requests = uow.plans.column("request", ids)
        return [dict(fields_of("", requests.get(plan_id))) | by_default.get(plan_id, {}) for plan_id in ids]

    return _told_apart([((plan.title, plan.cluster), plan.id) for plan in listed], fields)


def twin_studies(listed: Sequence[Sweep]) -> Mapping[UUID, str]:
    """Of each study whose name another one of the list has, of its kind and cluster, the fields that differ."""
    definitions = {sweep.id: {**sweep.definition, "resolved": None} for sweep in listed}

    def fields(ids: tuple[UUID, ...]) -> list[Mapping[str, str]]:
        return [dict(fields_of("", definitions[sweep_id])) for sweep_id in ids]

    names = [(sweep.kind, sweep.labels.get("study"), sweep.labels.get("cluster")) for sweep in listed]
    return _told_apart([(name, sweep.id) for name, sweep in zip(names, listed, strict=True)], fields)


def _told_apart(
    named: Iterable[tuple[Hashable, UUID]], fields: Callable[[tuple[UUID, ...]], Sequence[Mapping[str, str]]]
) -> Mapping[UUID, str]:
    """The words for all that share their name with another one; `fields` are those of their requests."""
    alike: dict[Hashable, list[UUID]] = defaultdict(list)
    for name, each in named:
        alike[name].append(each)
    told_apart: dict[UUID, str] = {}
    for ids in (tuple(ids) for ids in alike.values() if len(ids) > 1):
        words = _DISTINCTIONS.get(ids)
        if words is None:
            words = distinctions(fields(ids))
            if len(_DISTINCTIONS) >= _MOST_DISTINCTIONS:
                _DISTINCTIONS.clear()
            _DISTINCTIONS[ids] = words
        told_apart |= zip(ids, words, strict=True)
    return told_apart


def distinctions(requests: Sequence[Mapping[str, str]]) -> list[str]:
    """For each request, as fields with their values, those that not all requests have alike."""
    paths = sorted(dict.fromkeys(path for fields in requests for path in fields), key=_SNAPSHOT.__eq__)
    differing = [path for path in paths if len({fields.get(path) for fields in requests}) > 1]
    texts = [", ".join(f"{_name(path)} {fields[path]}" for path in differing if path in fields) for fields in requests]
    return [f"{text[:_LONGEST]}{'…' * (len(text) > _LONGEST)}" or "without further options" for text in texts]


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The first fields of two requests that differ, by path with dots, with the value of each; empty if it has none."""
    one, other = (dict(fields_of("", each)) for each in (first, second))
    values = ((path, one.get(path, ""), other.get(path, "")) for path in dict.fromkeys([*one, *other]))
    return list(islice(((path, a[:_LONGEST], b[:_LONGEST]) for path, a, b in values if a != b), MOST_ROWS))


def fields_of(path: str, value: object) -> Iterator[tuple[str, str]]:
    """The fields of a stored request with their values, by path with dots; of a snapshot the start of its hash."""
    if isinstance(value, list) and isinstance(next(iter(value), None), Mapping):
        value = dict(enumerate(value))
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name == "snapshot_content_hash":
                yield _SNAPSHOT, str(each)[:8]
            elif name != "snapshot_id":
                yield from fields_of(f"{path}.{name}" if path else str(name), each)
    elif path.endswith("_bytes_per_s") and isinstance(value, int | float):
        yield path, f"{value / 1e6:g} MB/s"
    elif value not in (None, []):
        yield path, ", ".join(map(_word, value)) if isinstance(value, list) else _word(value)


def _name(path: str) -> str:
    """The end of the path of a field, without the unit that its value has."""
    return path.rpartition(".")[2].removesuffix("_bytes_per_s").replace("_", " ")


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else _VALUES.get(str(value), str(value))


LONGEST_NAME, LONGEST_VALUE = 63, 255


def read(text: str) -> dict[str, str]:
    """The labels of a text.

    Raises `InvalidField` if a line has no `=`, or a name or value is too long or not printable.
    """
    labels: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, is_given, value = map(str.strip, line.partition("="))
        is_short = 0 < len(name) <= LONGEST_NAME and len(value) <= LONGEST_VALUE
        if not (is_given and is_short and line.isprintable()):
            sizes = f"a name of 1 to {LONGEST_NAME} and a value of up to {LONGEST_VALUE} printable characters"
            raise InvalidField(f"write a label as team=payments, {sizes}, unlike {quoted(line)}", path=("labels",))
        labels[name] = value
    return labels


def write(labels: Mapping[str, str]) -> str:
    """The text of some labels."""
    return "\n".join(f"{name}={value}" for name, value in labels.items())
