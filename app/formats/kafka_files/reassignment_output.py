"""Output of `kafka-reassign-partitions` with `--generate`, `--execute` or `--verify`, or its file; by the contents.

Proposals of other planners are read as a file. Prompts, command lines, logs and fences are skipped.

    --generate   Current partition replica assignment … Proposed partition reassignment configuration …
    --execute    Current partition replica assignment … Save this to use as the --reassignment-json-file option …
    --verify     Status of partition reassignment:
                 Reassignment of partition orders-0 is completed.

Every release since 0.8 is read. Of a partition `--verify` prints

    0.8.0      Partition [orders,0] reassignment completed successfully | failed | in progress
    0.8.1      Reassignment of partition [orders,0] completed successfully | failed | is still in progress
    1.0        Reassignment of partition orders-0 completed successfully | failed | is still in progress
    2.6        Reassignment of partition orders-0 is complete. | is still in progress.
    3.3        Reassignment of partition orders-0 is completed. | is still in progress.

Of a failed one most releases before 2.6 print both lists in a line of their own, which begins `ERROR: Assigned
replicas (1,2) don't match`; later ones print only `There is no active reassignment of partition orders-0, but replica
set is 1,2 rather than 3,4.` Since 1.0 a replica that is to move to another log directory has lines, too:

    Reassignment of replica orders-0-101 completed successfully | failed | is still in progress
    Partition orders-0 on broker 101 is being moved to log dir /d2 instead of /d1
    Partition orders-0 on broker 101 is not being moved from log dir /d0 to /d1
    Partition orders-0 is not found in any live log dir on broker 101. There is likely offline log directory …

Source: `ReassignPartitionsCommand` of Apache Kafka, `partitionReassignmentStatesToString`, `replicaMoveStatesToString`;
`CheckReassignmentStatus` of 0.8.0.

Reassignments as other planners propose them, read as if they were Kafka's file.

    {"proposals": [{"topicPartition": {"topic": "orders", "partition": 0}, "oldLeader": 101, "oldReplicas": [101, 105],
     "newReplicas": [104, 105]}], "summary": {…}, …}        Cruise Control with json=true&verbose=true
    [{orders-0, oldLeader: 101, [101, 105] -> [104, 105]}]  Cruise Control with verbose=true; a replica may also be
                                                            {Broker: 104, Logdir: /d2}
      orders p0: [101 105] -> [104 105] replaced broker     topicmappr, whose map as JSON is Kafka's file

Source: `ExecutionProposal` of Cruise Control 2.x; `printMapChanges` of topicmappr 4.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from itertools import accumulate
from json import JSONDecoder
from typing import Literal, TypeAlias

from app.errors.requests import MalformedText
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import CURRENT, PROPOSED, SAVE, PartitionReassignment, Reassignment
from app.formats.snapshots import pasted, unrecognized
from app.formats.snapshots.pasted import Place, Upload
from app.formats.sources.contents import Note, Reject
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import (
    alternatives,
    first_repeated,
    is_topic_name,
    rejection,
    required_number,
    shown,
    whole_number,
    whole_numbers,
)
from app.formats.syntax.loose_objects import LooseObject

_TOPIC = r"(?P<topic>[a-zA-Z0-9._-]{1,249})"
_PLACED = re.compile(r"(\d+)(?:, Logdir: ([^{}\n]+))?")
_LIST = r"(?:[\d, ]|\{Broker: \d{1,10}(?:, Logdir: [^{}\n]{1,1000})?\})+"
_CRUISE_CONTROL = re.compile(
    rf"\{{{_TOPIC}-(?P<partition>\d{{1,10}}), oldLeader: -?\d{{1,10}}, "
    rf"\[(?P<old>{_LIST})?\] -> \[(?P<replicas>{_LIST})\]\}}"
)
_TOPICMAPPR = re.compile(
    rf"\s*{_TOPIC} p(?P<partition>\d{{1,10}}): \[[\d ]*\] -> \[(?P<replicas>[\d ]+)\](?: [a-zA-Z ,-]{{0,80}})?$"
)


def is_proposal(content: str) -> bool:
    return _TOPICMAPPR.match(content) is not None or _CRUISE_CONTROL.search(content) is not None


class Proposals:
    """The proposals of lines or of a document, each partition once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], PartitionReassignment] = {}
        self._equal = ""

    def reassignment(self) -> Reassignment:
        """The proposals as a reassignment, in their order."""
        return Reassignment(tuple(self._found.values()))

    def notes(self) -> tuple[Note, ...]:
        """Says that a list does not change, as of moves between log directories, of which 2.x prints no more."""
        detail = f"the replicas of {self._equal} do not change: Cruise Control does not print log directories"
        return (Note("log_dirs_not_in_source", detail),) if self._equal else ()

    def read(self, content: str, line: int) -> bool:
        """Read a line. Returns False if it has none. Raises `MalformedText` for a bad id, or a partition again."""
        before = len(self._found)
        if len(_CRUISE_CONTROL.findall(content)) != content.count(", oldLeader: "):
            raise rejection(
                line, expected="`{orders-0, oldLeader: 101, [101] -> [104]}`", actual=shown(content.strip())
            )
        for found in (_TOPICMAPPR if _TOPICMAPPR.match(content) else _CRUISE_CONTROL).finditer(content):
            partition = whole_number(found["partition"])
            placed = _PLACED.findall(found["replicas"])
            replicas = whole_numbers(",".join([broker for broker, _ in placed]))
            if partition is None or not replicas or first_repeated(replicas) is not None:
                raise rejection(line, expected="a partition with distinct brokers", actual=shown(found[0]))
            log_dirs = (
                tuple([log_dir or reassignment.ANY_LOG_DIR for _, log_dir in placed]) if "Logdir" in found[0] else None
            )
            one = PartitionReassignment(found["topic"], partition, replicas, log_dirs)
            self._add(one, partial(rejection, line), is_equal=found.groupdict().get("old") == found["replicas"])
        return len(self._found) > before

    def read_document(self, text: str) -> None:
        """Read the JSON of Cruise Control. Raises `MalformedText` if it has no proposals or a wrong value."""
        document = Document.parse(text, "proposals of Cruise Control")
        root = LooseObject.of(document, document.root, ())
        if not root.has("proposals"):
            raise document.reject((), expected="proposals, which verbose=true adds", actual="the summary alone")
        for item in root.each("proposals"):
            of = item.child("topicpartition")
            path, replicas = item.get("newreplicas")
            found = PartitionReassignment(
                of.required_topic("topic"), of.integer("partition"), document.replicas(replicas, path)
            )
            self._add(found, partial(document.reject, item.path), is_equal=item.get("oldreplicas")[1] == replicas)

    def _add(self, found: PartitionReassignment, reject: Reject, *, is_equal: bool) -> None:
        if (key := (found.topic, found.partition)) in self._found:
            raise reject(expected="each partition once", actual=f"{found.topic}-{found.partition} again")
        self._found[key] = found
        if is_equal:
            self._equal = self._equal or f"{found.topic}-{found.partition}"


Source: TypeAlias = Literal["file", "generate", "execute", "verify"]
State: TypeAlias = Literal["complete", "in_progress", "failed"]
_EXPECTED = "the output of kafka-reassign-partitions --generate, --execute or --verify, or its JSON file"
_FORMS = tuple(
    map(re.compile, alternatives(files(__package__) / "verify_lines.txt", partition=r"(?P<partition>\S{1,260})"))
)
_STATES: Mapping[str | None, State] = {
    **dict.fromkeys(("is complete", "is completed", "completed successfully"), "complete"),
    **dict.fromkeys(("is still in progress", "in progress"), "in_progress"),
}
"""By the words of a line; any other line is about a failure."""
_PROSE = re.compile("|".join(alternatives(files(__package__) / "prose_lines.txt")))
_DOCUMENT_START = re.compile(r'\{\s*(?:["}]|$)')
_scan = JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True, slots=True)
class VerifiedReplica:
    """The state of a replica that is to move to another log directory of its broker.

    Parameters
    ----------
    planned : the directory, if the line has it: of a move that failed.
    """

    broker: int
    state: State
    planned: str | None = None


@dataclass(frozen=True, slots=True)
class VerifiedPartition:
    """The state of a partition as `--verify` reports it.

    Parameters
    ----------
    state : of its list of replicas; moves between log directories are in `log_dirs`.
    planned : the list that it was to have, if a line has it: of one whose reassignment failed.
    """

    topic: str
    partition: int
    state: State
    planned: tuple[int, ...] | None = None
    log_dirs: tuple[VerifiedReplica, ...] = ()

    @property
    def overall(self) -> State:
        """The state of the list and the moves together: failed if any is, else in progress if any is."""
        states = {self.state, *(move.state for move in self.log_dirs)}
        return next((state for state in ("failed", "in_progress") if state in states), "complete")


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Output of the tool.

    Parameters
    ----------
    reassignment : the file; of `--generate` the proposed lists, of `--execute` the previous ones, which a rollback
        restores; None of `--verify`, which prints no document.
    verified : of `--verify`, in the order of the lines.
    skipped : the lines that the tool did not print.
    notes : removed prefixes of the lines.
    """

    source: Source
    reassignment: Reassignment | None = field(repr=False)
    verified: tuple[VerifiedPartition, ...] = field(default=(), repr=False)
    skipped: tuple[Place, ...] = ()
    notes: tuple[Note, ...] = ()


def read(text: str) -> ToolOutput:
    """Read an output, also with the blanks, wraps and escape sequences of a terminal.

    Raises
    ------
    MalformedText
        Nothing in it is recognized, or a recognized part is malformed.
    """
    first: MalformedText | None = None
    for uploads in pasted.readings([Upload(text)], _is_known):
        try:
            output, *others = map(_read, uploads)
            if any(replace(one, skipped=()) != replace(output, skipped=()) for one in others):
                raise rejection(1, expected="the output of one host", actual="those of several, which differ")
            return replace(output, skipped=tuple([place for one in (output, *others) for place in one.skipped]))
        except MalformedText as malformed:
            first = first or malformed
    assert first is not None  # noqa: S101 — there is one reading at least
    raise first


def _is_known(line: str) -> bool:
    content = line.strip()
    forms = (*_FORMS, _PROSE, _DOCUMENT_START)
    is_known = content in (CURRENT, PROPOSED, SAVE) or any(form.match(content) for form in forms)
    return is_known or is_proposal(content)


def _read(upload: Upload) -> ToolOutput:
    lines = [line.rstrip() for line in upload.text.split("\n")]
    whole, starts = "\n".join(lines), [0, *accumulate(len(line) + 1 for line in lines)]
    kept, statuses, skipped = [""] * len(lines), _Statuses(), list[Place]()
    until, headings, proposed = 0, set(), Proposals()
    for at, line in enumerate(lines):
        if at < until or not line.strip():
            continue
        content = line.strip()
        if _DOCUMENT_START.match(content):
            until, rest = _document_end(whole, lines, at, starts[at])
            kept[at:until] = lines[at:until]
            kept[until - 1] = kept[until - 1].removesuffix(rest)
        elif content in (CURRENT, PROPOSED, SAVE):
            headings.add(content)
            kept[at] = content
        elif not (statuses.read(content, at + 1) or proposed.read(content, at + 1) or _PROSE.match(content)):
            skipped.append(Place(upload, at + 1, "" if pasted.is_noise(line) else content))
    document, verified = "\n".join(kept), statuses.verified()
    output = (
        ToolOutput("verify", None, verified) if verified else _of_document(document, headings, proposed, upload.text)
    )
    return replace(output, skipped=tuple(skipped), notes=(*pasted.notes_of_prefixes([upload]), *proposed.notes()))


def _of_document(document: str, headings: Collection[str], proposed: Proposals, text: str) -> ToolOutput:
    """The reassignment of a document, or of several under headings, or of proposing lines."""
    if PROPOSED in headings:
        reassignment.read_between(document, after=CURRENT, until=PROPOSED)
        return ToolOutput("generate", reassignment.read_between(document, after=PROPOSED, until=None))
    if CURRENT in headings:
        return ToolOutput("execute", reassignment.read_between(document, after=CURRENT, until=SAVE))
    if '"newReplicas"' in document or '"goalSummary"' in document:
        proposed.read_document(document)
    found = proposed.reassignment()
    if not found.partitions and '"partitions"' not in document:
        raise _unrecognized(text)
    return ToolOutput("file", found if found.partitions else reassignment.read(document))


def _unrecognized(text: str) -> MalformedText:
    """The rejection of a text without a reassignment, with its probable kind."""
    line, actual = unrecognized.first_hint(text)
    lines = text.split("\n")
    at, tool = next(((at, tool) for at, one in enumerate(lines, 1) if (tool := pasted.owner(one)) is not None), (0, ""))
    if "KafkaRebalance" in text:
        actual += "; its status has sums alone: rackplan plan reassignment --request reads it"
    elif at:
        line, actual = at, f"{shown(lines[at - 1].strip())}; this is of {tool}, which POST /v1/snapshots reads"
    return rejection(line, expected=_EXPECTED, actual=actual)


def _document_end(text: str, lines: list[str], start: int, offset: int) -> tuple[int, str]:
    """The index after the last line of the JSON document that begins on this one, and the text after it on that line.

    A broken document ends before the next line that the tool prints.
    """
    try:
        _, end = _scan(text, offset + len(lines[start]) - len(lines[start].lstrip()))
    except (ValueError, RecursionError):
        following = range(start + 1, len(lines))
        return next((at for at in following if _is_known(lines[at]) and lines[at].strip()[0] != "{"), len(lines)), ""
    line_end = text.find("\n", end)
    return start + text.count("\n", offset, end) + 1, text[end : line_end if line_end >= 0 else None]


class _Statuses:
    """States in the lines of `--verify`; of several lines about the same partition or replica the last decides."""

    def __init__(self) -> None:
        self._partitions: dict[tuple[str, int], VerifiedPartition] = {}
        self._replicas: dict[tuple[str, int], dict[int, VerifiedReplica]] = {}

    def read(self, content: str, line: int) -> bool:
        """Read a line. Returns False if `--verify` prints no such line. Raises `MalformedText` for a bad partition."""
        status = next((match for form in _FORMS if (match := form.match(content)) is not None), None)
        if status is None:
            return False
        found = status.groupdict()
        name, broker = found["partition"], found.get("broker")
        if found.get("what") == "replica":
            name, _, broker = name.rpartition("-")
        state: State = _STATES.get(found.get("how"), "failed")
        key = _partition(name, line)
        if broker is None:
            self._partition(key, state, found.get("planned"))
        else:
            self._replica(key, required_number(line, broker, "the id of a broker"), state, found.get("log_dir"))
        return True

    def verified(self) -> tuple[VerifiedPartition, ...]:
        """The partitions in the order of their lines, each with its moves between log directories by broker id."""
        return tuple(
            replace(partition, log_dirs=tuple(move for _, move in sorted(self._replicas.get(key, {}).items())))
            for key, partition in self._partitions.items()
        )

    def _partition(self, key: tuple[str, int], state: State, planned: str | None) -> None:
        before = self._partitions.get(key)
        lists = whole_numbers(planned or "") or (None if before is None else before.planned)
        self._partitions[key] = VerifiedPartition(*key, state, lists)

    def _replica(self, key: tuple[str, int], broker: int, state: State, log_dir: str | None) -> None:
        # A partition without a line of its own has only moves between log directories.
        self._partitions.setdefault(key, VerifiedPartition(*key, "complete"))
        moves = self._replicas.setdefault(key, {})
        before = moves.get(broker)
        moves[broker] = VerifiedReplica(broker, state, log_dir or (None if before is None else before.planned))


def _partition(name: str, line: int) -> tuple[str, int]:
    """The topic and the id of `orders-0`, or of `[orders,0]` as releases before 1.0 print it."""
    topic, _, number = name[1:-1].rpartition(",") if name.startswith("[") else name.rpartition("-")
    partition = whole_number(number)
    if not is_topic_name(topic) or partition is None:
        raise rejection(line, expected="a partition, topic-0", actual=shown(name))
    return topic, partition
