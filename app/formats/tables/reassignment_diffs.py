"""Changes of a reassignment, as text and as Markdown: a summary, replicas and loads of brokers, moves. Ours.

    orders-3  101,105,108 → 101,106,108  +106 −105  12.3 MiB  racks 3 → 3  leader 101

The bytes are those that Kafka copies for the partition: its size once for each replica that it gains.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from app.core.measures.transfers import NOWHERE, PartitionTransfer, Transfers
from app.core.model import Int64s
from app.errors.quotation import escaped
from app.formats.syntax.quantities import byte_size, counted, known_size
from app.formats.tables import load_tables
from app.formats.tables.load_tables import Loads
from app.formats.tables.topic_tables import markdown_cell

Moved: TypeAlias = Mapping[str, Any] | None
_ARROW, _NOTHING = " → ", "–"


@dataclass(frozen=True, slots=True)
class _Table:
    """One table.

    Parameters
    ----------
    numbers : the columns that are set flush right. rows : makes the first rows of `total`.
    labels : words before the cells of a text without head.
    """

    noun: str
    head: Sequence[str]
    numbers: frozenset[str]
    total: int
    rows: Callable[[int], Iterator[Sequence[str]]]
    labels: Sequence[str] = ()


def write_text(transfers: Transfers, loads: Loads, log_dirs: Moved, *, limit: int) -> str:
    """The difference as plain text.

    Parameters
    ----------
    loads : of the plan; empty if they are unknown.
    log_dirs : see `sentences`.
    limit : how many rows each table shows; a line beneath says how many it leaves out.
    """
    blocks = ["\n".join(sentences(transfers, log_dirs))]
    blocks += [
        "\n".join([*_aligned(table, list(table.rows(limit))), *_left_out(table, limit)])
        for table in _tables(transfers, loads)
    ]
    return "\n\n".join(blocks) + "\n"


def write_markdown(transfers: Transfers, loads: Loads, log_dirs: Moved, *, limit: int) -> str:
    blocks = [" ".join(sentences(transfers, log_dirs))]
    for table in _tables(transfers, loads):
        ruler = ["---:" if name in table.numbers else "---" for name in table.head]
        rows = [[markdown_cell(cell) for cell in row] for row in table.rows(limit)]
        blocks.append("\n".join(f"| {' | '.join(row)} |" for row in (table.head, ruler, *rows)))
        blocks += _left_out(table, limit)
    return "\n\n".join(blocks) + "\n"


def sentences(transfers: Transfers, log_dirs: Moved) -> list[str]:
    """Summary of a reassignment.

    Parameters
    ----------
    log_dirs : `moved_replicas` and `moved_bytes` between log directories of a broker; None if the plan chooses none.
    """
    movement = transfers.movement
    within = []
    if log_dirs is not None and log_dirs["moved_replicas"]:
        replicas, size = counted(log_dirs["moved_replicas"], "replica"), byte_size(log_dirs["moved_bytes"])
        within = [f"{replicas} moved between log directories, {size}."]
    if within and not movement.total:
        return [*within, f"No list changes: {counted(movement.partitions, 'partition')} stay on their brokers."]
    if not movement.total:
        return [f"Nothing changes: {counted(movement.partitions, 'partition')} stay as they are."]
    copied, dropped, unknown = (
        int(counts.sum())
        for counts in (transfers.arriving.replicas, transfers.leaving.replicas, transfers.arriving.unknown_size)
    )
    size = known_size(int(transfers.arriving.size_bytes.sum()), replicas=copied, unknown=unknown)
    led = movement.preferred_leaders_changed
    differ = f"{movement.total:,} of {counted(movement.partitions, 'partition')} {_verb(movement.total, 'differ')}"
    facts = [
        f"{counted(copied, 'replica')} ({size}) {_be(copied)} copied and {dropped:,} dropped.",
        f"{differ}; {counted(led, 'preferred leader')} {_verb(led, 'change')}.",
    ]
    if unknown:
        facts.append(f"The size of {counted(unknown, 'copied replica')} is unknown and not part of the bytes.")
    if new := movement.partitions_added:
        them = "it" if new == 1 else "them"
        facts += [
            f"{counted(new, 'partition')} {_be(new)} new: kafka-topics --alter creates {them} first.",
            f"No file for kafka-reassign-partitions names {them}.",
        ]
    return [*facts, *_racks(transfers), *within]


def _racks(transfers: Transfers) -> list[str]:
    changed = transfers.changed_rows()
    change = np.where(changed.is_new, 0, changed.racks_after - changed.racks_before)
    more, fewer = int(np.count_nonzero(change > 0)), int(np.count_nonzero(change < 0))
    return [
        f"{counted(partitions, 'partition')} {_verb(partitions, 'span')} {what} racks than before."
        for partitions, what in ((more, "more"), (fewer, "fewer"))
        if partitions
    ]


def _tables(transfers: Transfers, loads: Loads) -> Iterator[_Table]:
    numbers = ("broker", "replicas", "leaders", "bytes", "bytes in", "bytes out")
    yield _Table(
        "broker",
        ("broker", "rack", *numbers[1:]),
        frozenset(numbers),
        len(transfers.brokers),
        lambda shown: _broker_rows(transfers, shown),
    )
    if rows := load_tables.cells(loads):
        headings = ("broker", "resource", *load_tables.HEAD)
        flush = frozenset(headings) - {"resource"}
        yield _Table("load", headings, flush, len(rows), lambda shown: _load_rows(rows, shown))
    if flows := len(transfers.flows.senders):
        head = ("from", "to", "replicas", "bytes")
        yield _Table("flow", head, frozenset(head), flows, lambda shown: _flow_rows(transfers, shown))
    if transfers.movement.total:
        yield _Table(
            "partition",
            ("partition", "replicas", "change", "bytes", "racks", "leader"),
            frozenset({"bytes"}),
            transfers.movement.total,
            lambda shown: map(_partition_row, transfers.partitions(0, shown)),
            labels=("", "", "", "", "racks ", "leader "),
        )


def _broker_rows(transfers: Transfers, shown: int) -> Iterator[Sequence[str]]:
    before, after, arriving, leaving = transfers.before, transfers.after, transfers.arriving, transfers.leaving
    for i, broker in enumerate(transfers.brokers[:shown]):
        yield (
            str(broker.id),
            _NOTHING if broker.rack is None else escaped(broker.rack),
            _changed(f"{before.replicas[i]:,}", f"{after.replicas[i]:,}"),
            _changed(f"{before.leaders[i]:,}", f"{after.leaders[i]:,}"),
            _changed(*(_size(load.size_bytes, load.replicas, load.unknown_size, i) for load in (before, after))),
            *(_size(counts.size_bytes, counts.replicas, counts.unknown_size, i) for counts in (arriving, leaving)),
        )


def _load_rows(rows: Sequence[tuple[str, str, list[str]]], shown: int) -> Iterator[Sequence[str]]:
    return ((broker, resource, *cells) for broker, resource, cells in rows[:shown])


def _flow_rows(transfers: Transfers, shown: int) -> Iterator[Sequence[str]]:
    flows = transfers.flows
    for i in range(min(shown, len(flows.senders))):
        ends = (_NOTHING if end == NOWHERE else str(end) for end in (flows.senders[i], flows.receivers[i]))
        yield (*ends, f"{flows.replicas[i]:,}", _size(flows.size_bytes, flows.replicas, flows.unknown_size, i))


def _partition_row(partition: PartitionTransfer) -> Sequence[str]:
    before, after = partition.before, partition.after
    added = [f"+{broker}" for broker in partition.adding_replicas] if before else ["new"]
    removed = [f"−{broker}" for broker in partition.removing_replicas]
    copies = len(added) if before else 0
    size = "size unknown" if partition.size_bytes is None else byte_size(copies * partition.size_bytes)
    return (
        f"{partition.topic}-{partition.partition}",
        f"{_listed(before)}{_ARROW}{_listed(after)}",
        " ".join([*added, *removed]) or "reordered",
        size if copies else "",
        f"{partition.racks_before if before else _NOTHING}{_ARROW}{partition.racks_after}",
        _changed(str(before[0]) if before else str(after[0]), str(after[0])) if after else _NOTHING,
    )


def _listed(replicas: Sequence[int] | None) -> str:
    return ",".join(map(str, replicas)) if replicas else _NOTHING


def _changed(before: str, after: str) -> str:
    return after if before == after else f"{before}{_ARROW}{after}"


def _size(size_bytes: Int64s, replicas: Int64s, unknown: Int64s, index: int) -> str:
    return known_size(int(size_bytes[index]), replicas=int(replicas[index]), unknown=int(unknown[index]))


def _aligned(table: _Table, shown: Sequence[Sequence[str]]) -> Iterator[str]:
    rows = [table.head, *shown]
    if table.labels:
        rows = [[label + cell for label, cell in zip(table.labels, row, strict=True)] for row in shown]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        columns = zip(table.head, row, widths, strict=True)
        cells = [cell.rjust(width) if name in table.numbers else cell.ljust(width) for name, cell, width in columns]
        yield "  ".join(cells).rstrip()


def _left_out(table: _Table, limit: int) -> list[str]:
    hidden = table.total - limit
    return [f"… and {hidden:,} more {table.noun}{'' if hidden == 1 else 's'}."] if hidden > 0 else []


def _verb(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
