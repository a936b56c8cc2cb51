"""The changes of a reassignment that concern one broker, rack or topic, as the address of a page selects them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.measures.transfers import ChangedRows, PartitionTransfer, Transfers
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
    changed = transfers.changed_rows()
    choices = _choices(transfers.brokers, changed)
    if kind not in _KINDS or name not in dict(choices)[kind]:
        kind = name = ""
    if kind == "topic":
        changed = changed.only(changed.topic_of == changed.topics.index(name))
    elif kind:
        changed = changed.only(_concerns(changed, _brokers(transfers.brokers, kind, name)))
    first = [row for part in changed.only(slice(most)).by_topic() for row in part.records()]
    return Selection(kind, name, first, len(changed), choices)


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


def _concerns(changed: ChangedRows, ids: Int32s) -> NDArray[np.bool_]:
    """(rows,) bool: whether one of the brokers gains or loses a replica, or leads before or after but not both."""
    was, now = (np.isin(side, ids) for side in (changed.before, changed.after))
    return np.asarray((was.sum(axis=1) != now.sum(axis=1)) | (was[:, 0] != now[:, 0]), np.bool_)
