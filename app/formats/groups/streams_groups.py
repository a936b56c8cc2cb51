"""What `kafka-streams-groups --describe` prints, in its three forms: offsets, members with their tasks, state.

    --describe                          GROUP TOPIC PARTITION OFFSET-LAG
    --describe --verbose                GROUP TOPIC PARTITION CURRENT-OFFSET LEADER-EPOCH LOG-END-OFFSET OFFSET-LAG
    --describe --members                GROUP MEMBER PROCESS CLIENT-ID ASSIGNMENTS
    --describe --members --verbose      GROUP TARGET-ASSIGNMENT-EPOCH TOPOLOGY-EPOCH MEMBER …
    --describe --state [--verbose]      GROUP COORDINATOR (ID) STATE [GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH] #MEMBERS

ASSIGNMENTS has the tasks of a member: `ACTIVE: 0:[0,1]; 1:[0]; STANDBY: 1:[1]; WARMUP: 0:[2]; ` and, with `--verbose`,
those of the target assignment under TARGET-ACTIVE, TARGET-STANDBY and TARGET-WARMUP. A kind without tasks is left out.

Source: `StreamsGroupCommand` of Apache Kafka 4.1 to 4.4 (KIP-1071).
"""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.core.recorded import RecordedTasks
from app.formats.groups import consumer_groups
from app.formats.groups import group_cells as cell
from app.formats.groups.group_cells import Cell, TableForm
from app.formats.groups.group_tables import MAY_BE_EMPTY
from app.formats.syntax.lines import rejection, shown, whole_numbers

_KINDS = ("ACTIVE", "STANDBY", "WARMUP")
_TARGET = "TARGET-"
_NO_TASKS = RecordedTasks()
_TASKS = re.compile(
    r"(?:(?P<kind>(?:TARGET-)?(?:ACTIVE|STANDBY|WARMUP)): )?"
    r"(?P<subtopology>[A-Za-z0-9._-]{1,249}):\[(?P<partitions>[0-9,]*)\]"
)


@dataclass(frozen=True, slots=True)
class MemberTasks:
    """The tasks under ASSIGNMENTS: the current ones, and those of the target assignment."""

    current: RecordedTasks = _NO_TASKS
    target: RecordedTasks = _NO_TASKS


class StreamsMember(NamedTuple):
    """A member of a Streams group: a stream thread of a process.

    Parameters
    ----------
    protocol : `streams`, or `classic` during a migration; None without `--verbose`, as are the epochs.
    target_assignment_epoch, topology_epoch : of the group; printed with each member.
    """

    member_id: str
    process_id: str
    client_id: str
    tasks: MemberTasks
    group: str
    target_assignment_epoch: int | None = None
    topology_epoch: int | None = None
    protocol: str | None = None
    member_epoch: int | None = None

    @property
    def is_verbose(self) -> bool:
        """Whether the row has the target assignment."""
        return self.target_assignment_epoch is not None


def _read_tasks(content: str, line: int, column: str) -> MemberTasks:
    tasks: dict[str, list[str]] = {}
    kind: str | None = None
    if content.strip() and not content.rstrip().endswith(";"):
        raise rejection(line, expected=f"tasks that end with `;` under {column}", actual=shown(content))
    for part in content.rstrip("; ").split("; ") if content.strip() else ():
        match = _TASKS.fullmatch(part)
        partitions = whole_numbers(match["partitions"]) if match else None
        kind = (match["kind"] if match else None) or kind
        if match is None or partitions is None or kind is None:
            raise rejection(line, expected=f"`ACTIVE: 0:[0,1]; STANDBY: 1:[0]; ` under {column}", actual=shown(part))
        tasks.setdefault(kind, []).extend([f"{match['subtopology']}_{partition}" for partition in partitions])
    current, target = (
        RecordedTasks(*[tuple(tasks.get(prefix + kind, ())) for kind in _KINDS]) for prefix in ("", _TARGET)
    )
    return MemberTasks(current, target)


OFFSETS = replace(consumer_groups.OFFSETS, required=("GROUP", "TOPIC", "PARTITION", "OFFSET-LAG"))
MEMBERS = TableForm(
    record=StreamsMember,
    cells={
        "GROUP": Cell("group", cell.text),
        "TARGET-ASSIGNMENT-EPOCH": Cell("target_assignment_epoch", cell.count),
        "TOPOLOGY-EPOCH": Cell("topology_epoch", cell.count),
        "MEMBER": Cell("member_id", cell.text),
        "MEMBER-PROTOCOL": Cell("protocol", cell.text),
        "MEMBER-EPOCH": Cell("member_epoch", cell.count),
        "PROCESS": Cell("process_id", cell.text),
        "CLIENT-ID": Cell("client_id", cell.text),
        "ASSIGNMENTS": Cell("tasks", _read_tasks),
    },
    required=("GROUP", "MEMBER", "CLIENT-ID", "ASSIGNMENTS", "PROCESS"),
    may_be_empty=MAY_BE_EMPTY | {"ASSIGNMENTS"},
)
STATES = replace(consumer_groups.STATES, required=("GROUP", "COORDINATOR (ID)", "STATE", "#MEMBERS"))
