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

Command lines and prompts that were copied along (`$ bin/kafka-topics.sh --describe …`) are of no text. The name of an
upload (`brokers`, `topics` …) says what its first lines are only if they do not say it themselves.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.errors.texts import MalformedText
from app.formats.clusters import broker_lists, cluster_endpoints, stated_configs
from app.formats.groups import group_headers, group_tables
from app.formats.snapshots import unrecognized
from app.formats.sources.sources import SOURCES
from app.formats.syntax.byte_encodings import detect
from app.formats.syntax.lines import LOG_LINE, rejection, shown
from app.formats.syntax.split_text import Mark, Split, split, starts_document
from app.formats.syntax.wire_formats import ByteEncoding

PARTS = ("brokers", "topics", "log_dirs", "groups", "features")
"""What the texts describe, and the names of uploads that say so."""
_BROKERS, _TOPICS, _LOG_DIRS, _GROUPS, _FEATURES = PARTS
_MARKS = {
    _TOPICS: re.compile(r"\s*Topic:"),
    _BROKERS: re.compile(
        rf"\s*\S+ \(id: |{cluster_endpoints.HEADER.pattern}|{broker_lists.ZOOKEEPER_SHELL.pattern}"
        rf"|(?:.*\s)?{broker_lists.REGISTRATION_PATH.pattern}\s*$"
    ),
    _LOG_DIRS: re.compile(rf"Querying brokers for log dir|Received log directory|{stated_configs.HEADING.pattern}"),
    _FEATURES: re.compile(r"\s*Feature: "),
    **{name: source.line for name, source in SOURCES.items() if source.line is not None},
}
_ROWS_OF_TOPICS = re.compile(r"(?:\t?Topic: [^\n]*\n)+")
_COMMAND = re.compile(
    r"(?:.*[\s/\\$#>])?kafka-(?P<tool>topics|broker-api-versions|cluster|log-dirs|configs|features"
    r"|(?:consumer|share|streams)-groups)(?:\.sh|\.bat)?(?:\s|$)"
)
_TOOLS = {
    "topics": _TOPICS,
    "broker-api-versions": _BROKERS,
    "cluster": _BROKERS,
    "log-dirs": _LOG_DIRS,
    "configs": _LOG_DIRS,
    "features": _FEATURES,
    "consumer-groups": _GROUPS,
    "share-groups": _GROUPS,
    "streams-groups": _GROUPS,
}
_PROMPT = re.compile(
    r"\s*(?:\([\w.-]{1,60}\) ?)?"
    r"(?P<host>\[[^\]\s]{1,200}(?: [^\]\s]{1,200})?\]|[\w.-]{1,100}@[\w.-]{1,253}[: ]?[^\s$#%>]{0,1000}"
    r"|(?:ba|z)?sh-\d[\d.]{0,9}|(?:PS )?[A-Z]:\\[^>]{0,1000}|I have no name!@[^\s$#%>]{1,1000})?"
    r" ?(?P<sign>[$#%>])(?:\s|$)"
)
"""A shell's prompt. A bare `>` is none: it may be a quotation."""
_ANSI_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")
_BLANK_CHARACTERS = str.maketrans({"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u200b": "", "\ufeff": ""})
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
    """

    text: str
    name: str | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A line of an upload, from 1."""

    upload: Upload
    line: int


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
        Nothing in an upload is recognized (line 1), or a line is before everything that is (that line).
    """
    splits = [_split(upload) for upload in uploads]
    texts: dict[str, str] = {}
    blank = ["\n" * upload.text.count("\n") for upload in uploads]
    for part in (*PARTS, *SOURCES):
        if any(part in one.parts for one in splits):
            texts[part] = "\n".join([one.parts.get(part, empty) for one, empty in zip(splits, blank, strict=True)])
    skipped = [Place(upload, line) for upload, one in zip(uploads, splits, strict=True) for line in one.skipped]
    sources = {name: texts.pop(name) for name in SOURCES if name in texts}
    return Pasted(tuple(uploads), tuple(skipped), sources=sources, **texts)


def readings(uploads: Iterable[Upload]) -> Iterable[tuple[Upload, ...]]:
    """The uploads as they are, with plain blanks, and with lines joined that a terminal wrapped; each once.

    A reader takes the first that it can read. Escape sequences of terminals are never part of a text.
    """
    steps: tuple[Callable[[str], str], ...] = (
        lambda text: _ANSI_ESCAPE.sub("", text) if "\x1b" in text else text,
        lambda text: text.translate(_BLANK_CHARACTERS),
        _unwrapped,
    )
    current = tuple(uploads)
    for index, step in enumerate(steps):
        changed = tuple([replace(upload, text=step(upload.text)) for upload in current])
        if index == 0 or changed != current:
            yield changed
        current = changed


def _split(upload: Upload) -> Split:
    initial = next((name for name in (upload.part, upload.name) if name in PARTS), None)
    if _is_encoded(upload.text, is_named=initial == _BROKERS):
        return Split({_BROKERS: upload.text}, None)
    texts = split(upload.text, _mark, document=_part_of, initial=initial, long_run=(_TOPICS, _ROWS_OF_TOPICS))
    if initial is not None and not texts.parts:
        return replace(texts, parts={initial: upload.text})
    if texts.stray is not None or not texts.parts:
        first = (1, upload.text.lstrip()[:1000].split("\n")[0])
        line, content = texts.stray if texts.parts and texts.stray is not None else first
        hint = unrecognized.hint([content, *upload.text.split("\n", line + 3)[line : line + 3]])
        malformed = rejection(line, expected=unrecognized.EXPECTED, actual=shown(content) + hint)
        path = () if upload.part is None else (upload.part,)
        raise malformed.relocated(line=line, source=upload.name, path=path)
    return texts


def _is_encoded(text: str, *, is_named: bool) -> bool:
    """Whether the text is bytes of Kafka's protocol, in hexadecimal digits or base64."""
    # A text of lines is none; its length is not limited here.
    encoded = text.strip()
    if not is_named and len(encoded) < _LEAST_ENCODED_CHARACTERS:
        return False
    return ":" not in encoded[:1000] and detect(encoded.encode()) is not ByteEncoding.RAW


def _mark(content: str) -> Mark:
    part = _owner(content)
    if part is None:
        command = _COMMAND.match(content)
        if command is not None:
            return Mark(_TOOLS[command["tool"]], belongs=False)
        if (prompt := _PROMPT.match(content)) is not None and (prompt["host"] or prompt["sign"] in "$#"):
            return Mark(belongs=False)
    return Mark(part)


def _owner(content: str) -> str | None:
    # Most lines of a long text are those of topics, and the marks of groups cost most.
    owner = next((part for part, mark in _MARKS.items() if mark.match(content)), None)
    if owner is None and (group_headers.table_of(content) is not None or group_tables.is_prose(content)):
        return _GROUPS
    return owner


def _part_of(document: object) -> str | None:
    """What a JSON document describes."""
    source = next((name for name, source in SOURCES.items() if source.owns(document)), None)
    if source is not None:
        return source
    if isinstance(document, list):
        registrations = [one for one in document if isinstance(one, dict) and one.keys() & {"id", "endpoints", "host"}]
        return _BROKERS if registrations else None
    if not isinstance(document, dict):
        return None
    if "brokers" in document:
        return _LOG_DIRS
    if document.keys() & {"endpoints", "listener_security_protocol_map", "jmx_port"}:
        return _BROKERS
    return _GROUPS if isinstance(next(iter(document.values()), None), dict) else None


def _place(uploads: Sequence[Upload], line: int) -> Place:
    """The upload that has a line of all of them."""
    *others, last = uploads
    for upload in others:
        lines = upload.text.count("\n") + 1
        if line <= lines:
            return Place(upload, line)
        line -= lines
    return Place(last, line)


def _unwrapped(text: str) -> str:
    """The text with each line that is as long as the longest joined with the next one, whose line is then blank.

    A terminal wraps a line where it ends, and what is copied from it has a line break there. The next line is joined
    unless it is one that starts by itself.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    widths = [len(line.expandtabs()) for line in lines]
    width = max(widths)
    if width < _LEAST_WRAPPED_WIDTH:
        return text
    start = 0
    for number in range(1, len(lines)):
        line = lines[number]
        if line and widths[number - 1] == width and not _starts_by_itself(line, lines[start]):
            lines[start] += line
            lines[number] = ""
        else:
            start = number
    return "\n".join(lines)


def _starts_by_itself(line: str, before: str) -> bool:
    """Whether a line is one of its own: known, or with the same first word as the one before, as rows of a table."""
    if LOG_LINE.match(line) or _owner(line) is not None:
        return True
    if starts_document(line) and not starts_document(before):
        return True
    return line.split(maxsplit=1)[:1] == before.split(maxsplit=1)[:1]
