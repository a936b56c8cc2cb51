"""What `kafka-metadata-quorum describe --status` and `--replication` print: controllers, and brokers as observers.

    ClusterId:              q1Sh-9_ISia_zwGINzRvyQ
    LeaderId:               3001
    …
    CurrentVoters:          [{"id": 3001, "directoryId": null, "endpoints": ["CONTROLLER://controller-1:9093"]}]
    CurrentObservers:       [101,102]

    NodeId  DirectoryId  LogEndOffset  Lag  LastFetchTimestamp  LastCaughtUpTimestamp  Status
    101     …            66            0    1727139256030       1727139256030          Observer

Up to 3.8 voters and observers are numbers, and there is no `DirectoryId`. The tool exists under KRaft only. Observers
are brokers; the output does not say which voters are brokers as well.

Source: `MetadataQuorumCommand` of Apache Kafka 3.3 to 4.x.
"""

import re

from app.formats.sources.contents import Contents, Source, noted
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import numbered, rejection, required_number, shown

_FIELD = re.compile(
    r"\s*(?P<name>ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs|CurrentVoters"
    r"|CurrentObservers):\s(?P<value>.*)"
)
_HEADER = re.compile(r"\s*NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s+Lag\s.{0,200}")
_MOMENT = r"-?\d{1,19}(?: ms ago)?"
_ROW = re.compile(
    rf"\s*(?P<id>\d{{1,10}})\s+(?:\S{{22}}\s+)?\d+\s+-?\d+\s+{_MOMENT}\s+{_MOMENT}\s+(?P<status>Leader|Follower|Observer)\s*"
)
_EXPECTED = "a line of `kafka-metadata-quorum describe` (`CurrentObservers: [101,102]`, or a row of a node)"
_NOTE = noted("metadata quorum")


def read(text: str) -> Contents:
    """The observers as brokers, if no other source lists brokers, and that the controller is KRaft's.

    Raises
    ------
    MalformedText
        The tool prints no such line, or an id is not valid.
    """
    observers: dict[int, None] = {}
    for line, content in numbered(text):
        if row := _ROW.fullmatch(content):
            listed = [required_number(line, row["id"])] if row["status"] == "Observer" else []
        elif field := _FIELD.fullmatch(content):
            listed = _ids(line, field["value"].strip()) if field["name"] == "CurrentObservers" else []
        elif _HEADER.fullmatch(content):
            listed = []
        else:
            raise rejection(line, expected=_EXPECTED, actual=shown(content))
        observers |= dict.fromkeys(listed)
    return Contents(observers=tuple(observers), controller="kraft", notes=(_NOTE,))


def _ids(line: int, value: str) -> list[int]:
    """The ids of a list, in objects since Kafka 3.9."""
    document = Document.parse(value, "a list of observers", lines_before=line - 1)
    nodes = enumerate(document.array(document.root, ()))
    return [document.integer(node.get("id") if isinstance(node, dict) else node, (place,)) for place, node in nodes]


SOURCE = Source(
    "kafka-metadata-quorum",
    read,
    re.compile(rf"\s*(?:ClusterId|CurrentVoters|CurrentObservers):\s|{_HEADER.pattern}"),
    re.compile(rf"{_FIELD.pattern}|\s*\d+\s.*(?:Leader|Follower|Observer)\s*$|.*\d\s+\d+\s+\d"),
)
