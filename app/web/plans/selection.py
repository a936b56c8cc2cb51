"""The changes of a reassignment that concern one broker, rack or topic, as the address of a page selects them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.measures.transfers import ChangedPartitions, PartitionTransfer, Transfers
from app.core.model import Broker, Int32s
from app.web.pictures.svg import escaped

MOST_ROWS = 100
_KINDS = ("broker", "rack", "topic")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected, and the first partitions that change because of it.

    Parameters
    ----------
    kind, name : a broker by its id, a rack or a topic by its name; empty if nothing is selected.
    total : the number of partitions. choices : by kind, what can be selected: whatever a change names.
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
        """The picture with the columns and rows of what is selected marked."""
        names = {"broker": ["item"], "rack": ["item", "rack"]}.get(self.kind, [])
        for name in names:
            attribute = f'data-{name}="{escaped(self.name)}"'
            picture = picture.replace(attribute, f'{attribute} data-chosen=""')
        return picture


def select(transfers: Transfers, text: str, *, most: int = MOST_ROWS) -> Selection:
    """The changes that an address selects; all of them if it selects nothing that there is."""
    kind, _, name = text.partition(":")
    changed = list(transfers.changed())
    choices = _choices(transfers.brokers, changed)
    if kind not in _KINDS or name not in dict(choices)[kind]:
        kind = name = ""
    ids = _brokers(transfers.brokers, kind, name)
    if kind == "topic":
        parts = [part for part in changed if part.topic == name]
    else:
        parts = [part.only(_concerns(part, ids)) for part in changed] if kind else changed
    return Selection(kind, name, _first(parts, most), sum(len(part.partition_ids) for part in parts), choices)


def _choices(brokers: Sequence[Broker], changed: Sequence[ChangedPartitions]) -> list[tuple[str, Sequence[str]]]:
    lists = [np.unique(side) for part in changed for side in (part.before, part.after)]
    ids = set(np.unique(np.concatenate(lists)).tolist()) if lists else set()
    named = [broker for broker in brokers if broker.id in ids]
    racks = sorted({broker.rack for broker in named if broker.rack is not None})
    return [
        ("broker", [str(broker.id) for broker in named]),
        ("rack", racks),
        ("topic", [part.topic for part in changed]),
    ]


def _brokers(brokers: Sequence[Broker], kind: str, name: str) -> Int32s:
    chosen = [broker.id for broker in brokers if name == (str(broker.id) if kind == "broker" else broker.rack)]
    return np.array(chosen, np.int32)


def _concerns(part: ChangedPartitions, ids: Int32s) -> NDArray[np.bool_]:
    """(rows,) bool: whether one of the brokers gains or loses a replica, or leads before or after but not both."""
    was, now = (np.isin(side, ids) for side in (part.before, part.after))
    return np.asarray((was.sum(axis=1) != now.sum(axis=1)) | (was[:, 0] != now[:, 0]), np.bool_)


def _first(parts: Sequence[ChangedPartitions], most: int) -> list[PartitionTransfer]:
    found: list[PartitionTransfer] = []
    for part in parts:
        rows = np.arange(len(part.partition_ids)) < most - len(found)
        found += part.only(rows).records()
        if len(found) >= most:
            break
    return found
