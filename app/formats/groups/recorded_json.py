"""Recorded groups as the snapshot's canonical JSON writes them.

    {"assignor":"range","group_id":"billing","members":[{"assigned_partitions":{"orders":[0,1]},"client_id":"b-0",
    "generation_id":4,"member_id":"b-0-35ee","owned_partitions":{"orders":[0]},"rack_id":"use1-az1",
    "topics":["orders"],"user_data":"AAAABA=="}],"offsets":[{"current_offset":7,"lag":2,"log_end_offset":9,
    "member_id":"b-0-35ee","partition":0,"topic":"orders"}],"state":"Stable"}

Groups of the new protocols also have their `type` and epochs, and members of Streams groups `process_id`, `tasks` and
`target_tasks`. Missing data are left out. Members are in listed order, offsets by topic and partition. Keys are
sorted, but for the topics of a member's partitions: an assignor may truncate them.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import orjson

from app.core.recorded import RecordedGroup, RecordedMember, RecordedOffset, RecordedTasks, TopicPartitions

Record = TypeVar("Record", RecordedGroup, RecordedMember, RecordedOffset)


def group_members(group: RecordedGroup) -> dict[str, object]:
    """A group as an object to write; the writer sorts its keys."""
    return _members_of(group)


def group(members: Mapping[str, Any]) -> RecordedGroup:
    """The group that `group_members` wrote. The shape is trusted."""
    return _record(RecordedGroup, members)


def _members_of(record: Record) -> dict[str, object]:
    """The fields of a record that are known, as members of an object."""
    keys, values = _KEYS[type(record)], _VALUES[type(record)](record)
    known = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
    return known | {key: write(known[key]) for key, (write, _) in _CONVERTED.items() if key in known}


def _record(kind: type[Record], members: Mapping[str, Any]) -> Record:
    values = dict(members)
    for key, (_, read) in _CONVERTED.items():
        if values.get(key) is not None:
            values[key] = read(values[key])
    return kind(**{_FIELDS.get(key, key): value for key, value in values.items()})


def _by_topic(listed: Sequence[TopicPartitions]) -> orjson.Fragment:
    """An object whose keys stay in order, whatever is done to those around it."""
    return orjson.Fragment(orjson.dumps(dict(listed)))


def _listed(by_topic: Mapping[str, Sequence[int]]) -> tuple[TopicPartitions, ...]:
    return tuple([TopicPartitions(topic, tuple(partitions)) for topic, partitions in by_topic.items()])


def _offsets(offsets: Iterable[RecordedOffset]) -> list[dict[str, object]]:
    return [_members_of(offset) for offset in sorted(offsets, key=attrgetter("topic", "partition"))]


def _tasks(members: Mapping[str, Sequence[str]]) -> RecordedTasks:
    return RecordedTasks(**{kind: tuple(tasks) for kind, tasks in members.items()})


def _as_it_is(value: object) -> object:
    return value


_FIELDS = {"owned_partitions": "owned", "assigned_partitions": "assigned", "target_partitions": "target"}
"""The fields of a member whose keys have other names."""
_CONVERTED: Mapping[str, tuple[Callable[[Any], object], Callable[[Any], object]]] = {
    "members": (
        lambda members: [*map(_members_of, members)],
        lambda of: tuple([_record(RecordedMember, m) for m in of]),
    ),
    "offsets": (_offsets, lambda offsets: tuple([RecordedOffset(**offset) for offset in offsets])),
    "topics": (_as_it_is, tuple),
    **dict.fromkeys(_FIELDS, (_by_topic, _listed)),
    "user_data": (lambda content: b64encode(content).decode(), b64decode),
    **dict.fromkeys(("tasks", "target_tasks"), (_as_it_is, _tasks)),
}
"""By key: how a value is written, and read."""
_NAMES = {kind: kind.__match_args__ for kind in (RecordedGroup, RecordedMember, RecordedOffset)}
_VALUES = {kind: attrgetter(*names) for kind, names in _NAMES.items()}
_KEYS = {
    kind: [{name: key for key, name in _FIELDS.items()}.get(name, name) for name in names]
    for kind, names in _NAMES.items()
}
