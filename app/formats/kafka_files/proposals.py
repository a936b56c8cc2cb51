"""Reassignments as other planners propose them, read as if they were Kafka's file.

    {"proposals": [{"topicPartition": {"topic": "orders", "partition": 0}, "oldLeader": 101, "oldReplicas": [101, 105],
     "newReplicas": [104, 105]}], "summary": {…}, …}        Cruise Control with json=true&verbose=true
    [{orders-0, oldLeader: 101, [101, 105] -> [104, 105]}]  Cruise Control with verbose=true
      orders p0: [101 105] -> [104 105] replaced broker     topicmappr, whose map as JSON is Kafka's file

Source: `ExecutionProposal` of Cruise Control 2.x; `printMapChanges` of topicmappr 4.
"""

import re
from functools import partial

from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.sources.contents import Reject
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import first_repeated, rejection, shown, whole_number, whole_numbers
from app.formats.syntax.loose_objects import LooseObject

_TOPIC = r"(?P<topic>[a-zA-Z0-9._-]{1,249})"
_CRUISE_CONTROL = re.compile(
    rf"\{{{_TOPIC}-(?P<partition>\d{{1,10}}), oldLeader: -?\d{{1,10}}, \[[\d, ]*\] -> \[(?P<replicas>[\d, ]+)\]\}}"
)
_TOPICMAPPR = re.compile(
    rf"\s*{_TOPIC} p(?P<partition>\d{{1,10}}): \[[\d ]*\] -> \[(?P<replicas>[\d ]+)\](?: [a-zA-Z ,-]{{0,80}})?$"
)


def is_proposal(content: str) -> bool:
    """Whether a line has proposals."""
    return _TOPICMAPPR.match(content) is not None or _CRUISE_CONTROL.search(content) is not None


class Proposals:
    """The proposals of lines or of a document, each partition once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], PartitionReassignment] = {}

    def reassignment(self) -> Reassignment:
        """The proposals as a reassignment, in their order."""
        return Reassignment(tuple(self._found.values()))

    def read(self, content: str, line: int) -> bool:
        """Read a line. Returns False if it has none. Raises `MalformedText` for a bad id, or a partition again."""
        before = len(self._found)
        if len(_CRUISE_CONTROL.findall(content)) != content.count(", oldLeader: "):
            raise rejection(
                line, expected="`{orders-0, oldLeader: 101, [101] -> [104]}`", actual=shown(content.strip())
            )
        for found in (_TOPICMAPPR if _TOPICMAPPR.match(content) else _CRUISE_CONTROL).finditer(content):
            partition = whole_number(found["partition"])
            replicas = whole_numbers(",".join(found["replicas"].replace(",", " ").split()))
            if partition is None or not replicas or first_repeated(replicas) is not None:
                raise rejection(line, expected="a partition with distinct brokers", actual=shown(found[0]))
            self._add(PartitionReassignment(found["topic"], partition, replicas), partial(rejection, line))
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
            self._add(found, partial(document.reject, item.path))

    def _add(self, found: PartitionReassignment, reject: Reject) -> None:
        if (key := (found.topic, found.partition)) in self._found:
            raise reject(expected="each partition once", actual=f"{found.topic}-{found.partition} again")
        self._found[key] = found
