"""What `kafka-reassign-partitions` prints: of `--generate`, `--execute` or `--verify`, or its file; by the contents.

Prompts, command lines, logs and fences around it are skipped.

    --generate   Current partition replica assignment … Proposed partition reassignment configuration …
    --execute    Current partition replica assignment … Save this to use as the --reassignment-json-file option …
    --verify     Status of partition reassignment:
                 Reassignment of partition orders-0 is completed.
                 Reassignment of partition orders-1 is still in progress.
                 There is no active reassignment of partition orders-2, but replica set is 1,2 rather than 3,4.

Up to 2.5 a reassignment `completed successfully` or `failed`.

Source: `ReassignPartitionsCommand` of Apache Kafka, `partitionReassignmentStatesToString`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import JSONDecoder
from types import MappingProxyType
from typing import Literal, TypeAlias

from app.errors.texts import MalformedText
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import CURRENT, PROPOSED, SAVE, Reassignment
from app.formats.snapshots import pasted
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.lines import is_topic_name, rejection, shown, whole_number, whole_numbers

Source: TypeAlias = Literal["file", "generate", "execute", "verify"]
State: TypeAlias = Literal["complete", "in_progress", "failed"]
_EXPECTED = "the output of kafka-reassign-partitions --generate, --execute or --verify, or its JSON file"
_STATUS = re.compile(
    r"Reassignment of partition (?P<partition>\S{1,260}) "
    r"(?P<how>is completed|completed successfully|is still in progress|failed)\.?$"
    r"|There is no active reassignment of partition (?P<other>\S{1,260}), "
    r"but replica set is (?P<replicas>[\d,]*) rather than (?P<planned>[\d,]+)\.?$"
)
_STATES: Mapping[str | None, State] = MappingProxyType(
    {
        "is completed": "complete",
        "completed successfully": "complete",
        "is still in progress": "in_progress",
        "failed": "failed",
        None: "failed",
    }
)
_PROSE = re.compile(
    r"Status of partition reassignment:|Clearing (?:broker|topic)-level throttles on |Warning: You must run --verify"
    r"|The (?:inter-broker|replica-alter-dir) throttle limit was set to |Successfully started partition reassignment"
)
_scan = JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True, slots=True)
class VerifiedPartition:
    """The state of a partition as `--verify` reports it.

    Parameters
    ----------
    planned : the list that it was to have, if the line has it: of one whose reassignment ended otherwise.
    """

    topic: str
    partition: int
    state: State
    planned: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What the tool printed.

    Parameters
    ----------
    reassignment : the file; of `--generate` the proposed lists, of `--execute` the previous ones, which a rollback
        restores; None of `--verify`, which prints no document.
    verified : of `--verify`, in the order of the lines.
    skipped : the numbers of the lines that the tool did not print.
    """

    source: Source
    reassignment: Reassignment | None = field(repr=False)
    verified: tuple[VerifiedPartition, ...] = field(default=(), repr=False)
    skipped: tuple[int, ...] = ()


def read(text: str) -> ToolOutput:
    """Read an output, also with the blanks, wraps and escape sequences of a terminal.

    Raises
    ------
    MalformedText
        Nothing in it is recognized, or what is recognized is not as the tool prints it.
    """
    first: MalformedText | None = None
    for (upload,) in pasted.readings([Upload(text)]):
        try:
            return _read(upload.text)
        except MalformedText as malformed:
            first = first or malformed
    assert first is not None  # noqa: S101 — there is one reading at least
    raise first


def _read(text: str) -> ToolOutput:
    lines = [line.rstrip() for line in text.split("\n")]
    kept, verified, skipped = [""] * len(lines), [], []
    until = 0
    headings = set()
    for at, line in enumerate(lines):
        if at < until or not line.strip():
            continue
        content = line.strip()
        if content.startswith("{"):
            until = _document_end(lines, at)
            kept[at:until] = lines[at:until]
        elif content in (CURRENT, PROPOSED, SAVE):
            headings.add(content)
            kept[at] = content
        elif (status := _STATUS.match(content)) is not None:
            verified.append(_verified(status, at + 1))
        elif not _PROSE.match(content):
            skipped.append(at + 1)
    document = "\n".join(kept)
    if verified:
        return ToolOutput("verify", None, tuple(verified), tuple(skipped))
    if PROPOSED in headings:
        return ToolOutput("generate", reassignment.read_generated(document).proposed, skipped=tuple(skipped))
    if CURRENT in headings:
        return ToolOutput("execute", reassignment.read_executed(document), skipped=tuple(skipped))
    if not until:
        content = next((line for line in lines if line.strip()), "")
        raise rejection(1, expected=_EXPECTED, actual=shown(content))
    return ToolOutput("file", reassignment.read(document), skipped=tuple(skipped))


def _document_end(lines: list[str], start: int) -> int:
    """The index after the last line of the JSON document that begins here; a broken one is its first line."""
    rest = "\n".join(lines[start:])
    try:
        _, end = _scan(rest, len(rest) - len(rest.lstrip()))
    except (ValueError, RecursionError):
        return start + 1
    return start + rest.count("\n", 0, end) + 1


def _verified(status: re.Match[str], line: int) -> VerifiedPartition:
    name = status["partition"] or status["other"]
    topic, _, number = name.rpartition("-")
    partition = whole_number(number)
    if not is_topic_name(topic) or partition is None:
        raise rejection(line, expected="a partition, topic-0", actual=shown(name))
    planned = None if status["planned"] is None else whole_numbers(status["planned"])
    return VerifiedPartition(topic, partition, _STATES[status["how"]], planned)
