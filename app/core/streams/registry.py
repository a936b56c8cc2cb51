"""Every assignor and every standby policy by name: the source of the API's enum, the docs and comparisons."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

from app.core.kafka_versions import KafkaVersion, Replayed
from app.core.streams.assignors import high_availability, sticky
from app.core.streams.coordinator import processes, sticky_by_load, sticky_by_pairs
from app.core.streams.coordinator.model import AssignGroupTasks
from app.core.streams.model import AssignTasks
from app.errors import FieldPath
from app.errors.requests import AssignorUnavailable, ConflictingFields


@dataclass(frozen=True, slots=True)
class StreamsAssignor:
    """One assignor of tasks.

    Parameters
    ----------
    replays : Kafka's class and the releases that assign so.
    warms_up : whether it uses lags, and lets state catch up before a task moves (KIP-441).
    uses_tags : whether client tags decide the placement of standbys (KIP-708).
    uses_racks : whether KIP-925 can be on.
    reads_offsets : whether the offsets that members of a streams group report have influence.
    """

    name: str
    summary: str
    assign: AssignTasks
    replays: Replayed
    warms_up: bool = False
    uses_tags: bool = False
    uses_racks: bool = False
    reads_offsets: bool = False


_ROWS: Mapping[str, Mapping[str, Any]] = json.loads(files("app.core.streams").joinpath("assignors.json").read_bytes())
_BY_LOAD = [
    *(("sticky by load", rules) for rules in sticky_by_load.BEFORE_4_4),
    ("sticky since 4.4", sticky_by_load.SINCE_4_4),
]
_OF_GROUPS: Sequence[tuple[str, AssignGroupTasks, Replayed]] = [
    ("sticky by pairs", sticky_by_pairs.assign, sticky_by_pairs.REPLAYS),
    *((row, partial(sticky_by_load.assign, rules=rules), rules.replays) for row, rules in _BY_LOAD),
]
GROUP_TASK_ASSIGNORS: Sequence[StreamsAssignor] = [
    StreamsAssignor(**_ROWS[row], assign=partial(processes.assign, assign_tasks=assign_tasks), replays=replays)
    for row, assign_tasks, replays in _OF_GROUPS
]
"""The coordinator's assignor of streams groups (KIP-1071), of each release that decides otherwise."""


def group_task_assignor_for(version: KafkaVersion, *, path: FieldPath = ("protocol",)) -> StreamsAssignor:
    """The coordinator's assignor as a release has it.

    Raises
    ------
    AssignorUnavailable : if the release has no streams groups; `path` is the field that requests one.
    """
    for assignor in GROUP_TASK_ASSIGNORS:
        if version in assignor.replays.holds:
            return assignor
    since = GROUP_TASK_ASSIGNORS[0].replays.holds.from_
    raise AssignorUnavailable(
        f"streams groups exist since Kafka {since}; kafka_version {version} given",
        path=path,
        value="streams",
        kafka_version=str(version),
        minimum=since,
    )


def later_versions(assignor: StreamsAssignor, version: KafkaVersion) -> list[KafkaVersion]:
    """The releases after `version` from which on the coordinator's assignor is another than this one, ascending."""
    if assignor not in GROUP_TASK_ASSIGNORS:
        return []
    first = [KafkaVersion.of(entry.replays.holds.from_) for entry in GROUP_TASK_ASSIGNORS if entry is not assignor]
    return sorted(release for release in first if release > version)


_CLASSIC: Mapping[str, tuple[AssignTasks, Replayed]] = {
    "high_availability": (high_availability.assign, high_availability.REPLAYS),
    "sticky": (sticky.assign, sticky.REPLAYS),
    "fallback_prior": (sticky.assign_prior, sticky.PRIOR_REPLAYS),
}
STREAMS_ASSIGNORS: Mapping[str, StreamsAssignor] = {
    name: StreamsAssignor(**_ROWS[name], assign=assign, replays=replays) for name, (assign, replays) in _CLASSIC.items()
}
"""Every assignor of the classic protocol. To add one: a file with an `assign`, an entry here and in assignors.json,
tests and vectors."""


def streams_assignor_for(protocol: str, name: str | None, version: KafkaVersion) -> StreamsAssignor:
    """The assignor of a protocol, `classic` or `streams`, as a release has it. name : None for the protocol's default.

    Raises
    ------
    AssignorUnavailable : if the release has no streams groups.
    ConflictingFields : if the protocol does not have the assignor.
    """
    if protocol == "classic":
        return STREAMS_ASSIGNORS[name or DEFAULT_CLASSIC]
    assignor = group_task_assignor_for(version)
    if name not in (None, assignor.name):
        detail = (
            f"the coordinator of a streams group has the assignor {assignor.name}; {name} is the classic protocol's"
        )
        raise ConflictingFields(detail, path=("assignor",), value=name)
    return assignor


DEFAULT_CLASSIC = "high_availability"
"""The assignor of the classic protocol if a request names none."""
