"""Any number of texts in any order, each with what one or several Kafka tools printed, sorted by tool.

A line that only one tool prints identifies the tool of the lines that follow:

    Topic: …                                              kafka-topics --describe
    host:9092 (id: 101 rack: use1-az1) -> (               kafka-broker-api-versions, kafka-cluster api-versions
    ID         HOST      PORT       RACK       …          kafka-cluster list-endpoints
    get /brokers/ids/101                                  zookeeper-shell; likewise registrations as a JSON array
    Querying brokers for log directories information      kafka-log-dirs --describe; likewise its JSON alone
    Dynamic configs for topic orders are:                 kafka-configs --describe
    Feature: metadata.version  SupportedMinVersion: …     kafka-features describe, for the release of Kafka
    GROUP           TOPIC           PARTITION  …          kafka-consumer-groups --describe, in each of its forms;
                                                          kafka-share-groups and kafka-streams-groups likewise
    {"billing": {…                                        an admin client's description of groups

The tools of others have a part each (sources.py).

A line that may be one of the tool before it, even a broken one, is left to the reader of that tool. Every other line is
of no text: command lines and prompts that were copied along (`$ bin/kafka-topics.sh --describe …`), logs, sentences.
The name of an upload (`brokers`, `topics` …) says what its first lines are only if they do not say it themselves.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from typing import Self

from app.errors.requests import MalformedText
from app.formats.clusters import broker_api_versions, broker_lists, stated_configs
from app.formats.clusters.partition_tables import HEADING, as_rows, is_heading
from app.formats.groups import group_answers, group_tables, group_texts, older_tables
from app.formats.snapshots import unrecognized
from app.formats.sources.client_answers import with_topics
from app.formats.sources.contents import Note
from app.formats.sources.sources import SOURCES
from app.formats.syntax import characters, printed_objects, printed_records
from app.formats.syntax.lines import (
    LOG_LINE,
    MAX_DECOMPRESSED_BYTES,
    alternatives,
    decode,
    rejection,
    says_something,
    shown,
)
from app.formats.syntax.prefixes import without_prefixes
from app.formats.syntax.split_text import UNKNOWN, Mark, Split, split, starts_document
from app.formats.syntax.wire import detect
from app.formats.syntax.wire_formats import ByteEncoding

PARTS = ("brokers", "topics", "log_dirs", "groups", "features")
"""What the texts describe, and the names of uploads that say so."""
_BROKERS, _TOPICS, _LOG_DIRS, _GROUPS, _FEATURES = PARTS
_MARKS = {
    _TOPICS: re.compile(rf"\s*Topic:.*\sPartition(?:Count)?:|{HEADING.pattern}"),
    _BROKERS: re.compile(
        rf"{broker_api_versions.LINE.pattern}|{broker_api_versions.ENDPOINTS.pattern}"
        rf"|(?:.*\s)?{broker_lists.REGISTRATION_PATH.pattern}\s*$"
    ),
    _LOG_DIRS: re.compile(rf"Querying brokers for log dir|Received log directory|{stated_configs.HEADING.pattern}"),
    _FEATURES: re.compile(r"\s*Feature: "),
    **{name: source.line for name, source in SOURCES.items() if source.line is not None},
}
_CONTINUED = {
    _TOPICS: re.compile(r".*\b(?:PartitionCount|ReplicationFactor|Partition|Replicas|Isr|Elr): ?"),
    _BROKERS: re.compile(r"\s*[A-Za-z]+\(\d+\): |\s*\)\s*$|.*\(id\b|.*\brack: |.* -> (?:\(|ERROR)|-?\d+\s+\S+\s+\d+\s"),
    _LOG_DIRS: stated_configs.ENTRY,
    **{name: source.row for name, source in SOURCES.items() if source.row is not None},
}
"""By part, a line that may be a further one of it, even if it is broken. Rows of groups depend on their header."""
_ROWS = {
    _TOPICS: re.compile(r"(?:\t?Topic: (?=[^\t\n]+\t)[^\n]*\n)+"),
    **{name: source.rows for name, source in SOURCES.items()},
}
"""By part, a pattern of any number of its usual lines."""
_COMMAND = re.compile(
    r"(?:.*[\s/\\$#>])?kafka-(?:consumer-|share-|streams-)?(?P<tool>topics|broker-api-versions|cluster|log-dirs|configs"
    r"|features|groups)(?:\.sh|\.bat)?(?:\s|$)"
)
_TOOLS = {"topics": _TOPICS, "log-dirs": _LOG_DIRS, "configs": _LOG_DIRS, "features": _FEATURES, "groups": _GROUPS}
"""By the last words of a command; the others are of brokers."""
_OF_SHELL = re.compile("|".join(alternatives(files(__package__) / "shell_lines.txt")))
_BROKEN_ROW = re.compile(
    r"^[ \t]*Topic:[^\n]*(?:\n[ \t]*(?:TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader"
    r"|(?:Adding |Removing )?Replicas|Isr|Elr|LastKnownElr|Offline|Observers):[^\n]*)+",
    re.MULTILINE,
)
_NEXT_ROW = re.compile(r"(?<=\S)[ \t]+(?=Topic: ?\S{1,249}\s+(?:TopicId|PartitionCount|Partition): ?\S)")
_SENTENCE = re.compile(r"[A-Z]?[a-z']+[,:]?(?: [A-Za-z'-]+,?){2}")
_BRACE = re.compile(r"\s*[\])}],?\s*")
_LEAST_WRAPPED_WIDTH = 40
# Of a base64 text without a name, so that a word is not taken for one.
_LEAST_ENCODED_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Upload:
    """A text as it was given.

    Parameters
    ----------
    name : what a rejection calls it: the name of the file or of the form's part; None for a body.
    part : the form's part in which it was, the path of a rejection.
    prefix : an example of what was removed from before its lines.
    """

    text: str
    name: str | None = None
    part: str | None = None
    prefix: str = ""

    @classmethod
    def of(cls, content: bytes, name: str, part: str | None = None, *, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Self:
        """The upload of some bytes, see `decode`; lines that no tool printed may be in another encoding."""
        return cls(decode(content, name, max_bytes=max_bytes, errors="surrogateescape"), name, part)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of an upload, from 1.

    Parameters
    ----------
    unknown : its content, if it is neither of a log nor of a shell.
    """

    upload: Upload
    line: int
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Pasted:
    """The texts by what they describe, or None, and the lines that are of none.

    All uploads count as one text, one after another: in each part the lines of the others are blank.

    Parameters
    ----------
    skipped : the lines that were ignored: log lines, commands, what a shell printed.
    sources : the texts of other tools, by their names in sources.py.
    """

    uploads: tuple[Upload, ...]
    skipped: tuple[Place, ...] = ()
    brokers: str | None = None
    topics: str | None = None
    log_dirs: str | None = None
    groups: str | None = None
    features: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def located(self, malformed: MalformedText, part: str) -> MalformedText:
        """The rejection of a part's reader, with the upload and the line of it; its path is the form's part."""
        if malformed.line is None:
            named = next((upload for upload in self.uploads if upload.part == part), None)
            return malformed.relocated(line=None, source=None if named is None else named.name, path=(part,))
        place = _place(self.uploads, malformed.line)
        return malformed.relocated(line=place.line, source=place.upload.name, path=(place.upload.part or part,))


def read(uploads: Sequence[Upload]) -> Pasted:
    """Hand each line to the tool that printed it; the tools' readers then say what is wrong within a text.

    Raises
    ------
    MalformedText
        Nothing in an upload is recognized; names the line that a hint is about, else the first.
    """
    splits = [_split(upload) for upload in uploads]
    texts: dict[str, str] = {}
    blank = ["\n" * upload.text.count("\n") for upload in uploads]
    for part in (*PARTS, *SOURCES):
        if any(part in one.parts for one in splits):
            texts[part] = "\n".join([one.parts.get(part, empty) for one, empty in zip(splits, blank, strict=True)])
    skipped = [place for upload, one in zip(uploads, splits, strict=True) for place in _skipped(upload, one)]
    for part, text in texts.items():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            byte = ord(text[error.start]) - 0xDC00
            malformed = rejection(line, expected="text in UTF-8", actual=f"byte 0x{byte:02x}")
            raise Pasted(tuple(uploads)).located(malformed, part) from None
    sources = {name: texts.pop(name) for name in SOURCES if name in texts}
    return Pasted(tuple(uploads), tuple(skipped), sources=sources, **texts)


def _skipped(upload: Upload, texts: Split) -> Iterator[Place]:
    lines = upload.text.split("\n") if texts.unknown else ()
    for line in texts.skipped:
        yield Place(upload, line, lines[line - 1].strip() if line in texts.unknown else "")


def notes_of_prefixes(uploads: Iterable[Upload]) -> tuple[Note, ...]:
    """What was removed from before the lines of the uploads."""
    prefixes = dict.fromkeys(upload.prefix for upload in uploads if upload.prefix)
    detail = "lines were read without what is around them, such as"
    return tuple([Note("prefix_removed", f"{detail} {shown(prefix)}") for prefix in prefixes])


def is_noise(content: str) -> bool:
    """Whether a line is of a log, a command or a shell."""
    return not says_something(content) or _COMMAND.match(content) is not None or _OF_SHELL.match(content) is not None


def readings(uploads: Iterable[Upload], is_known: Callable[[str], bool] | None = None) -> Iterable[tuple[Upload, ...]]:
    """The uploads without what is around their lines; also with lines joined that a terminal or a mail wrapped, or with
    rows apart that a shell joined (`echo $rows`).

    A reader takes the first that it can read with the least unknown text.

    Parameters
    ----------
    is_known : whether a line is of one of the texts; by default those of this file.
    """
    plain = tuple([part for upload in uploads for part in _plain(upload, is_known or _is_known)])
    yield plain
    for joined in (_unwrapped, partial(_BROKEN_ROW.sub, _whole), partial(_NEXT_ROW.sub, "\n")):
        reading = tuple([replace(upload, text=joined(upload.text)) for upload in plain])
        if reading != plain:
            yield reading


def _split(upload: Upload) -> Split:
    initial = next((name for name in (upload.part, upload.name) if name in PARTS), None)
    if _is_encoded(upload.text, is_named=initial == _BROKERS):
        return Split({_BROKERS: upload.text})
    marker = _Marker()
    texts = split(upload.text, marker.mark, document=_part_of, initial=initial)
    if texts.parts:
        return texts
    if initial is not None:
        return Split({initial: upload.text})
    line, actual = unrecognized.first_hint(upload.text)
    malformed = rejection(line, expected=unrecognized.EXPECTED, actual=actual)
    raise malformed.relocated(line=line, source=upload.name, path=() if upload.part is None else (upload.part,))


def _is_encoded(text: str, *, is_named: bool) -> bool:
    """Whether the text is bytes of Kafka's protocol, in hexadecimal digits or base64."""
    # A text of lines is not encoded; its length is not limited here.
    encoded = text.strip()
    has_words = re.search(r"[G-Zg-z]\S* +\S", encoded[:1000]) is not None
    if not is_named and (len(encoded) < _LEAST_ENCODED_CHARACTERS or has_words or _is_list(encoded)):
        return False
    return ":" not in encoded[:1000] and detect(encoded.encode(errors="replace")) is not ByteEncoding.RAW


def _is_list(text: str) -> bool:
    """Whether a text is of lines of any lengths, as a list of names is; those of base64 are of one, but the last."""
    *lengths, last = map(len, text[:10_000].splitlines())
    return bool(lengths) and (last > max(lengths) or len(set(lengths)) > 1)


class _Marker:
    """Says what each line of a text marks, one after the other."""

    def __init__(self) -> None:
        self._header = ""

    def mark(self, content: str, current: str | None) -> Mark:
        """What a line marks, after lines of the part `current`."""
        part = owner(content)
        if part is not None:
            if part == _GROUPS and not group_tables.prose(content):
                self._header = content
            return Mark(part, rows=group_tables.usual_rows(content) if part == _GROUPS else _ROWS.get(part))
        if (command := _COMMAND.match(content)) is not None:
            return Mark(_TOOLS.get(command["tool"], _BROKERS), belongs=False)
        if _OF_SHELL.match(content):
            return Mark(belongs=False)
        if current == _GROUPS:
            return Mark() if group_tables.may_be_row(content, self._header) else UNKNOWN
        row = _CONTINUED.get(current or "")
        return UNKNOWN if row is None or row.match(content) is None else Mark()


def owner(content: str) -> str | None:
    """The part of a snapshot, or the other tool, whose lines start with this one; None if it starts none."""
    # Most lines of a long text are those of topics, and the marks of groups cost most.
    part = next((part for part, mark in _MARKS.items() if mark.match(content)), None)
    if part is None and (group_texts.table_of(content) is not None or group_tables.prose(content)):
        return _GROUPS
    return part


def _part_of(document: object) -> str | None:
    """What a JSON document describes."""
    known = next((part for part, owns in _OWNERS.items() if owns(document)), None)
    if known is not None or not isinstance(document, dict):
        return known
    if "brokers" in document:
        return None if "cluster" in document else _LOG_DIRS
    if _has_a_key(document, "endpoints", "listener_security_protocol_map", "jmx_port"):
        return _BROKERS
    first = next(iter(document.values()), None)  # empty of a document that is cut off
    return _GROUPS if first == {} or _has_a_key(first, "group_state", "members", "error") else None


def _has_a_key(value: object, *keys: str) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(keys)


def _lists_brokers(document: object) -> bool:
    return isinstance(document, list) and any(_has_a_key(one, "id", "endpoints", "host") for one in document)


_OWNERS = {name: one.owns for name, one in SOURCES.items()} | {_GROUPS: group_answers.owns, _BROKERS: _lists_brokers}
"""By part, whether a JSON document is of it; the first counts."""


def _place(uploads: Sequence[Upload], line: int) -> Place:
    """The upload that has a line of all of them."""
    *others, last = uploads
    for upload in others:
        lines = upload.text.count("\n") + 1
        if line <= lines:
            return Place(upload, line)
        line -= lines
    return Place(last, line)


def _plain(upload: Upload, is_known: Callable[[str], bool]) -> list[Upload]:
    """The upload, or its part of each host, with plain characters and without prefixes of lines."""
    # Of a line with records nothing else is read, whatever is before them.
    texts, prefix = without_prefixes(printed_records.as_json(characters.plain(upload.text)), is_known)
    for rewrite in (older_tables.with_groups, as_rows, with_topics, printed_objects.as_json):
        texts = list(map(rewrite, texts))
    return [replace(upload, text=one, prefix=prefix) for one in texts]


def _is_known(line: str) -> bool:
    """Whether a line is known as it is, with nothing before it."""
    if starts_document(line) or is_heading(line):  # a document may be one line of many megabytes
        return True
    part = owner(line)
    if part == _GROUPS:
        return line.startswith(("GROUP", "TOPIC", "CONSUMER-ID", "COORDINATOR")) or group_tables.prose(line) is not None
    return part is not None


def _unwrapped(text: str) -> str:
    """The text with each line that is as long as the longest joined with the next one, whose line is then blank.

    A terminal wraps a line where it ends, and what is copied from it has a line break there. The next line is joined
    unless it is one that starts by itself. If that is so after most of the longest lines, none was wrapped.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    widths = [len(line.expandtabs()) for line in lines]
    width = max(widths)
    if width < _LEAST_WRAPPED_WIDTH:
        return text
    start = joined = 0
    for number in range(1, len(lines)):
        line = lines[number]
        if line and widths[number - 1] == width and not _starts_by_itself(line, lines[start]):
            lines[start] += line
            lines[number] = ""
            joined += 1
        else:
            start = number
    return text if 2 * joined < widths.count(width) else "\n".join(lines)


def _whole(broken: re.Match[str]) -> str:
    """A row of a topic that has line breaks before its columns, joined."""
    first, *others = broken[0].split("\n")
    return "\t".join([first.rstrip(), *filter(None, map(str.strip, others))]) + "\n" * len(others)


def _starts_by_itself(line: str, before: str) -> bool:
    """Whether a line is one of its own: known, a sentence, or with the first word of the one before, as rows have."""
    if LOG_LINE.match(line) or _SENTENCE.match(line) or (_BRACE.fullmatch(line) and not starts_document(before)):
        return True
    if not starts_document(before) if starts_document(line) else _is_known(line):
        return True
    if before.endswith("}") and not line.startswith((",", "]", "}")):
        return True
    return line.split(maxsplit=1)[:1] == before.split(maxsplit=1)[:1]
