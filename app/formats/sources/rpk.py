"""What `rpk cluster info` (`metadata`, `status`) and `rpk topic describe` of Redpanda print.

    CLUSTER                                   SUMMARY
    =======                                   =======
    redpanda.4f2c                             NAME        orders
                                              PARTITIONS  2
    BROKERS                                   REPLICAS    3
    =======
    ID    HOST   PORT  RACK                   PARTITIONS
    0*    rp-0   9092  a                      ==========
    1     rp-1   9092  b                      PARTITION  LEADER  EPOCH  REPLICAS  LOG-START-OFFSET  HIGH-WATERMARK
                                              0          1       4      [0 1 2]   0                 17
    TOPICS
    ======
    orders, 2 partitions, 3 replicas          with -d; otherwise a table `NAME  PARTITIONS  REPLICAS`
          PARTITION  LEADER  EPOCH  REPLICAS
          0          1       4      [0 1 2]

    CLUSTER HEALTH OVERVIEW                   rpk cluster health
    =======================                   NAMESPACE  TOPIC   PARTITION  LEADER-ID  REPLICA-CORE   DISABLED
    All nodes:   [0 1 2]                      kafka      orders  0          1          [0-1 1-0 2-3]  false
    Nodes down:  [2]                                                     rpk cluster partitions list
    ID  HOST  PORT  RACK  CORES  MEMBERSHIP  IS-ALIVE  VERSION               rpk redpanda admin brokers list; before:
    0   rp-0  33145 a     4      active      true      25.2.1                NODE-ID  NUM-CORES  MEMBERSHIP-STATUS …

The column RACK is there if a broker has a rack. `EPOCH`, `OFFLINE-REPLICAS` and `LOAD-ERROR` may be missing. Replicas
are printed in ascending order and in-sync replicas not at all: the leader is taken for the preferred one, and every
replica that is not offline for in sync. With `-p` alone a description has no name; it is that of the command before it.

Source: `cluster/metadata.go` and `topic/describe.go` of rpk.
"""

import re
from dataclasses import dataclass, field, replace
from functools import partial

from app.core.model import Broker
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import Contents, Note, Source, noted, other_namespace, topic_of
from app.formats.syntax.lines import is_topic_name, last_line, numbered, rejection, shown, whole_number, whole_numbers

_BROKERS = re.compile(r"ID\s+HOST\s+PORT(?P<rack>\s+RACK)?\s*")
_TABLE = re.compile(r"\s*PARTITION\s+LEADER(?:\s+EPOCH)?\s+REPLICAS(?:\s+[A-Z-]+){0,9}\s*")
_TOPICS = re.compile(r"NAME\s+PARTITIONS\s+REPLICAS\s*")
_CONFIGS = re.compile(r"KEY\s+VALUE\s+SOURCE\s*")
_RACK = re.compile(r"""[^\s"'\[\](){},;]+""")
_NAME = re.compile(r"NAME\s+(?P<name>[A-Za-z0-9._-]{1,249})\s*")
_TITLE = re.compile(r"(?:CLUSTER|BROKERS|TOPICS|SUMMARY|CONFIGS|PARTITIONS)\s*|={6,}\s*")
_TOPIC = re.compile(
    r"(?P<name>[A-Za-z0-9._-]{1,249})(?: \(internal\))?, (?P<count>\d{1,10}) partitions(?:, \d{1,10} replicas)?\s*"
)
_COMMAND = re.compile(r"(?:.*[\s/$#>])?rpk\s+topic\s+(?:describe|info)\s+(?P<rest>.*)")
_COUNTED = re.compile(r"PARTITIONS\s+(?P<count>\d{1,10})\s*")
_CELLS = re.compile(r"\[[\d -]*\]|\S+")
_PLACED = re.compile(r"NAMESPACE\s+TOPIC\s+PARTITION\s+LEADER-ID\s+REPLICA-CORE(?:\s+[A-Z-]+){0,9}\s*")
_HEALTH = re.compile(r"(?P<of>All nodes|Nodes down):\s+(?P<ids>\[[\d ]*\])\s*")
_ALIVE = re.compile(r"(?:NODE-)?ID\s+(?:[A-Z-]+\s+){1,9}IS-ALIVE(?:\s+[A-Z-]+){0,9}\s*")
_HEADERS = (_BROKERS, _ALIVE, _TABLE, _PLACED, _TOPICS, _CONFIGS)
_JOINED = tuple(re.compile(rf"(?>{one.pattern})\S") for one in (_BROKERS, _ALIVE, _TABLE, _CONFIGS, _TOPIC))
"""Headers with more behind them, as of a line that was joined with the next one."""
_CONFIG = re.compile(r"[a-z][\w.-]*\s+(?:\S+\s+)?[A-Z_]+_CONFIG\s*")
_NOTE = noted("rpk")
_WITHOUT_PARTITIONS = "topics are listed without their partitions; run rpk cluster info -d"


@dataclass(slots=True)
class _Section:
    """A topic, with the line that names it; the number of its partitions is None if nothing says it.

    `has_rows`: they follow its name, so that none are a part that was lost.
    """

    line: int
    name: str
    count: int | None = None
    has_rows: bool = False
    rows: list[PartitionDescription] = field(default_factory=list)
    configs: list[str] = field(default_factory=list)


def read(text: str) -> Contents:
    """The brokers and the topics of one or several answers.

    Raises
    ------
    MalformedText
        rpk prints no such line, a table has no topic, a topic has another number of partitions than it says.
    """
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self.brokers: dict[int, Broker] = {}
        self.topics: dict[str, _Section] = {}
        self.current: _Section | None = None
        self.columns: list[str] = []
        self.table: re.Pattern[str] | None = None
        self.notes: list[Note] = []

    def read(self, text: str) -> Contents:
        for line, content in numbered(text):
            self._take(line, content)
        topics = tuple(
            [self._finished(topic, last_line(text)) for topic in self.topics.values() if topic.rows or topic.has_rows]
        )
        notes = [*self.notes, *([_NOTE] if topics else [])]
        return Contents(tuple(self.brokers.values()), topics=topics, notes=tuple(notes))

    def _take(self, line: int, content: str) -> None:
        if header := next((one for one in _HEADERS if one.fullmatch(content)), None):
            self.table, self.columns = header, content.split()
        elif any(joined.match(content) for joined in _JOINED):
            raise rejection(line, expected="a header on a line of its own", actual=shown(content))
        elif _TITLE.fullmatch(content):
            self.table = None
        elif (named := _COMMAND.match(content)) or ((named := _NAME.fullmatch(content)) and self.table is not _TOPICS):
            name = named["name"] if "name" in named.re.groupindex else _name_in(named["rest"])
            self.table, self.current = None, None if name is None else self._section(line, name)
        elif topic := _TOPIC.fullmatch(content):
            self.table, self.current = None, self._section(line, topic["name"], int(topic["count"]))
        elif self.table is None and (count := _COUNTED.fullmatch(content)) and self.current is not None:
            self.current.count = int(count["count"])
        else:
            self._take_row(line, content)

    def _take_row(self, line: int, content: str) -> None:
        if health := _HEALTH.fullmatch(content):
            is_down = health["of"] == "Nodes down"
            self.brokers |= {one: Broker(one, fenced=is_down) for one in _listed(health["ids"]) or ()}
        elif self.table in (_BROKERS, _ALIVE):
            self._broker(line, content)
        elif self.table in (_TABLE, _PLACED):
            self._row(line, content)
        elif self.table is _CONFIGS or _CONFIG.fullmatch(content):
            self._config(line, content)
        elif self.table is _TOPICS and not self.notes:
            self.notes.append(Note("topics_without_partitions", _WITHOUT_PARTITIONS))

    def _broker(self, line: int, content: str) -> None:
        cells = dict(zip(self.columns, content.split(None, len(self.columns) - 1), strict=False))
        broker = whole_number(cells.get(self.columns[0], "").removesuffix("*"))
        is_cut = len(cells) + (self.columns[-1] == "RACK") < len(self.columns)  # a broker may have none
        is_alive, rack = cells.get("IS-ALIVE", "true"), cells.get("RACK", "-").strip()
        if (
            broker is None
            or is_cut
            or not cells.get("PORT", "0").strip().isdigit()
            or is_alive not in ("true", "false")
            or not _RACK.fullmatch(rack)
        ):
            raise rejection(line, expected=f"a broker's row of {' '.join(self.columns)}", actual=shown(content))
        self.brokers[broker] = Broker(broker, None if rack == "-" else rack, fenced=is_alive == "false")

    def _config(self, line: int, content: str) -> None:
        if self.table is not _CONFIGS or _CONFIG.fullmatch(content) is None:
            expected = "configurations of a topic, `cleanup.policy  delete  DEFAULT_CONFIG`, below KEY  VALUE  SOURCE"
            raise rejection(line, expected=expected, actual=shown(content))
        name, *value, _ = content.split()
        if self.current is None:
            self.notes.append(
                Note("rows_may_be_missing", "rpk's table KEY, VALUE, SOURCE is of a topic without a name")
            )
        else:
            self.current.configs.append(f"{name}={''.join(value)}")

    def _section(self, line: int, name: str, count: int | None = None) -> _Section:
        known = self.topics.get(name)
        if known is None or known.rows:
            self.topics[name] = known = _Section(line, name, count, count is not None)
        return known

    def _row(self, line: int, content: str) -> None:
        cells = self._cells(content)
        if (namespace := cells.get("NAMESPACE", "kafka")) != "kafka":
            self.notes += other_namespace(namespace)
            return
        if "TOPIC" in cells:
            self.current = self.topics.setdefault(cells["TOPIC"], _Section(line, cells["TOPIC"]))
        if self.current is None:
            expected = "the topic's name before its partitions: the command line, or the section SUMMARY (-a)"
            raise rejection(line, expected=expected, actual=shown(content))
        replicas = _listed(cells.get("REPLICAS", ""))
        offline = _listed(cells.get("OFFLINE-REPLICAS", "[]"))
        partition, leader = whole_number(cells.get("PARTITION", "")), cells.get("LEADER", "")
        leading = None if leader == "-1" else whole_number(leader)
        if partition is None or replicas is None or offline is None or (leading is None and leader != "-1"):
            expected = f"a row of the columns {' '.join(self.columns)}"
            raise rejection(line, expected=expected, actual=shown(content.strip()))
        ordered = tuple(sorted(replicas, key=lambda broker: broker != leading))
        isr = tuple([broker for broker in ordered if broker not in offline])
        self.current.rows.append(PartitionDescription(partition, leading, ordered, isr))

    def _cells(self, content: str) -> dict[str, str]:
        """The cells of a row of partitions by column; none if the row or a name in the header is broken.

        An error is of any number of words, and the columns behind it are not read.
        """
        listed = _CELLS.findall(content)
        is_whole = len(listed) == len(self.columns) or "LOAD-ERROR" in self.columns
        cells = dict(zip(self.columns, listed, strict=False)) if is_whole else {}
        lists = {name for name in cells if cells[name].startswith("[")}
        if self.table is _PLACED and lists == {"REPLICA-CORE"} and is_topic_name(cells["TOPIC"]):
            on_cores = re.sub(r"-\d+", "", cells["REPLICA-CORE"])
            return cells | {"REPLICAS": on_cores, "LEADER": cells["LEADER-ID"]}
        return cells if lists <= {"REPLICAS", "OFFLINE-REPLICAS"} else {}

    def _finished(self, topic: _Section, end: int) -> TopicDescription:
        if topic.count is not None and topic.count != len(topic.rows):
            actual = f"{len(topic.rows)}: the text is cut off"
            raise rejection(end, expected=f"{topic.count} partitions of topic {topic.name!r}", actual=actual)
        described = topic_of(topic.name, topic.rows, partial(rejection, topic.line))
        return replace(described, configs=",".join(topic.configs))


def _name_in(arguments: str) -> str | None:
    """The topic of a command line, if it is one."""
    names = [name for name in arguments.split() if not name.startswith("-") and is_topic_name(name)]
    return names[0] if len(names) == 1 else None


def _listed(cell: str) -> tuple[int, ...] | None:
    ids = cell[1:-1].split()
    return whole_numbers(",".join(ids)) if cell == f"[{' '.join(ids)}]" else None


SOURCE = Source(
    "rpk",
    read,
    re.compile(
        rf"(?:CLUSTER|SUMMARY|BROKERS|TOPICS|CLUSTER HEALTH OVERVIEW)\s*$|{_BROKERS.pattern}$|{_ALIVE.pattern}$"
        rf"|{_PLACED.pattern}$|\s*PARTITION\s+LEADER\s(?!\s*FOLLOWERS)|{_TOPIC.pattern}$|{_COMMAND.pattern}|(?:.*[\s/$#>])?rpk\s+cluster\s"
    ),
    re.compile(r"\s*\S+(?: {2,}|\t)\S|={6,}\s*$|redpanda\.\S+\s*$|(?:CONFIGS|PARTITIONS)\s*$|.*\[[\d -]*\]"),
)
