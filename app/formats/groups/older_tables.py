"""Tables of groups as older releases of Kafka and rpk print them, as the newer ones do: with GROUP and the member.

    0.8.2            Group Topic Pid Offset logSize Lag Owner, of ConsumerOffsetChecker
    0.9              GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
    0.10.0, 0.10.1   GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER
    0.10.2 to 2.2    TOPIC PARTITION CURRENT-OFFSET … CONSUMER-ID HOST CLIENT-ID; likewise --members and --state
    rpk              GROUP, COORDINATOR, STATE, BALANCER and MEMBERS on lines of their own, MEMBER-ID

OWNER is the client's id and its host, `consumer-1_/10.0.0.1`, or `none`; it stands for the member's id as well, and so
does the thread of 0.8.2. Without
the column GROUP the group is that of the command line (`--group billing`), or of the sentence before the table
(`Consumer group 'billing' has no active members.`). Every line keeps its number.

Source: `ConsumerGroupCommand` of Apache Kafka 0.9 to 2.3; `group/describe.go` of rpk.
"""

import re

from app.formats.groups import group_tables
from app.formats.syntax.lines import says_something

_OLDER = re.compile(
    r"^[ \t]*(?:TOPIC\s+PARTITION\s|CONSUMER-ID\s+(?:GROUP-INSTANCE-ID\s+)?HOST\s|COORDINATOR \(ID\)\s|GROUP, TOPIC, "
    r"|Group\s+Topic\s+Pid\s|GROUP[ \t]+TOPIC[ \t]+PARTITION\s.{0,400}?\bOWNER\s*$)"
    r"|^[ \t]+GROUP\s.{0,400}?\b(?:LAG|HOST)\b",
    re.MULTILINE,
)
_OF_CHECKER = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER"
_OF_HEADERS = ("OFFSET", "logSize", "CLIENT-ID", "(ID)", "BALANCER")
_NAMED = re.compile(r".*--group[ =]['\"]?(?P<command>[^\s'\"]{1,255})|GROUP {2,}(?P<rpk>\S{1,255})\s*$")
_STATES = ("COORDINATOR", "STATE", "BALANCER", "MEMBERS")
_STATE = re.compile(rf"(?P<name>{'|'.join(_STATES)})(?: {{2,}}(?P<value>\S{{1,255}}))?\s*$")
_GROUP_AND_TOPIC = re.compile(r"\s*\S+\s+\S+\s")
_STATE_HEADER = "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS"


def with_groups(text: str) -> str:
    """The text with the tables of older releases as newer ones print them; a table of an unknown group is as it was."""
    # A search for the headers of lines takes a second for a million rows of topics.
    is_of_rpk = "\nBALANCER " in text
    if not any(name in text for name in _OF_HEADERS) or not (is_of_rpk or _OLDER.search(text)):
        return text
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    blank = [number % 2 for number, line in enumerate(lines) if not line.strip()]
    reader = _Reader(is_double_spaced=max(blank.count(0), blank.count(1)) >= len(lines) // 2)
    return "\n".join(map(reader.take, lines))


class _Reader:
    """Rewrites one line after the other; knows the group that was named last and the table that is open."""

    def __init__(self, *, is_double_spaced: bool) -> None:
        self._group, self._header, self._indent = "", "", ""
        self._is_double_spaced = is_double_spaced
        self._is_older = self._has_commas = self._has_owner = False
        self._state: dict[str, str] = {}
        self._is_empty = False

    def take(self, line: str) -> str:
        if (named := group_tables.prose(line) or _NAMED.match(line)) is not None:
            self._group, self._header = next(filter(None, named.groups())), ""
            return line
        if self._group and (stated := _STATE.match(line)) is not None:
            return self._take_state(stated["name"], stated["value"] or "")
        if not line.strip():
            self._header = self._header if self._indent or self._is_double_spaced else ""
            return self._of_state() if self._state else line
        if _OLDER.match(line) is not None:
            return self._take_header(line)
        if self._header and says_something(line):
            return self._row(line)
        return line

    def _take_state(self, name: str, value: str) -> str:
        self._state[name] = value
        self._is_empty = self._state.get("MEMBERS") == "0"
        if len(self._state) == 1:
            return _STATE_HEADER
        return "" if name != _STATES[-1] else self._of_state()

    def _of_state(self) -> str:
        """The row of a group's state, which is too short if one of its lines is missing."""
        state, self._state = self._state, {}
        if len(state) < len(_STATES):
            return " ".join([self._group, *state.values()])
        coordinator, state_name, balancer, members = map(state.get, _STATES)
        return f"{self._group} -:0 ({coordinator}) {balancer or '-'} {state_name} {members}"

    def _take_header(self, line: str) -> str:
        self._indent = line[: len(line) - len(line.lstrip())]
        header = _OF_CHECKER if "logSize" in line else line[len(self._indent) :]
        self._has_commas = header.startswith("GROUP, ")
        if self._has_commas:
            header = re.sub(r"\b \b", "-", header).replace(", ", " ")  # "LOG END OFFSET" is one name
        self._header = header.replace("MEMBER-ID", "CONSUMER-ID")
        self._is_older = not header.startswith("GROUP")
        self._has_owner = re.search(r"\bOWNER\s*$", header) is not None
        if self._has_owner:
            header = re.sub(r"OWNER\s*$", "CONSUMER-ID HOST CLIENT-ID", header)
        if self._is_older and not self._group:
            return line
        return self._with_group(header.replace("MEMBER-ID", "CONSUMER-ID"), "GROUP")

    def _row(self, line: str) -> str:
        row = line.removeprefix(self._indent)
        row = row.replace(", ", " ") if self._has_commas else row
        if self._has_owner and (names := _GROUP_AND_TOPIC.match(row)) is not None:
            row = names[0] + row[names.end() :].replace(" unknown", " -")
        if self._is_empty:  # rpk leaves the cells of members empty
            row += " -" * (len(self._header.split()) - len(row.split()))
        if not group_tables.may_be_row(row, self._header) or (self._is_older and not self._group):
            return line
        if self._has_owner:
            cells, _, owner = row.rstrip().rpartition(" ")
            client, _, host = owner.rpartition("_/")
            owner = "-" if owner == "none" else owner
            row = f"{cells} {f'{owner} /{host} {client}' if client else f'{owner} - -'}"
        return self._with_group(row, self._group)

    def _with_group(self, row: str, group: str) -> str:
        return f"{group.ljust(max(len(self._group), 5))} {row}" if self._is_older else row
