"""What the texts say of one group that contradicts something else that they say of it, in words.

A tool computes a lag of offsets and counts partitions; the coordinator makes an id of a member of its client's id, or
its instance's, and a random UUID, and a process of a Streams group has a UUID as its id.

Source: `ConsumerGroupState` and `GroupState` of Apache Kafka; `GroupMetadataManager`, `GroupMetadata.generateMemberId`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

from app.core.recorded import RecordedGroup, RecordedMember
from app.formats.groups.consumer_groups import GroupMember, PartitionOffsets
from app.formats.syntax.lines import shown
from app.formats.syntax.odd_names import resembling

_STATES = frozenset(
    {"stable", "empty", "dead", "unknown", "joining", "awaitingsync", "preparingrebalance", "completingrebalance"}
    | {"assigning", "reconciling", "notready"}
)
_ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "streams", "stream")
_NAME = re.compile(r"[\w.$-]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LIKE_A_UUID = re.compile(r"-[^-]{8}(?:-[^-]{4}){3}-[^-]{12}$")
_UUID_LENGTH = 36
_ENCODED_UUID = re.compile(r"[\w-]{22}", re.ASCII)
_HOST = re.compile(r"/?[\w.-]*(?:/[\w.:%-]+)?|/?[\da-fA-F:.]+(?:%\w+)?")
_NUMBERS, _ADDRESS = re.compile(r"[\d.]+", re.ASCII), re.compile(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)


def of_rows(offsets: Iterable[PartitionOffsets], members: Iterable[GroupMember]) -> Iterator[str]:
    """The first contradiction of each kind within a row of a table."""
    rows = list(offsets)
    for found in (_other_lags(rows), _half_members(rows), _other_counts(members)):
        yield from islice(found, 1)


def of_group(group: RecordedGroup) -> Iterator[str]:
    """What the parts of a group contradict, of its members the first one."""
    if group.state and group.state.replace("_", "").lower() not in _STATES:
        yield f"its state {shown(group.state)} is not one of Kafka's"
    if group.assignor and (not _NAME.fullmatch(group.assignor) or resembling(group.assignor, _ASSIGNORS)):
        yield f"its assignor {shown(group.assignor)} is nearly one of Kafka's, or no name"
    if group.group_id.endswith("|"):
        yield "its name is the end of what is before a line"
    epoch, of_target = group.group_epoch, group.assignment_epoch
    if epoch is not None and of_target is not None and of_target > epoch:
        yield f"the epoch {of_target} of its target assignment is after its own, {epoch}"
    has_uuids = group.type in ("share", "streams")
    yield from islice(chain.from_iterable(_of_member(member, has_uuids=has_uuids) for member in group.members), 1)


def _of_member(member: RecordedMember, *, has_uuids: bool) -> Iterator[str]:
    named = shown(member.member_id)
    if has_uuids and not (_ENCODED_UUID.fullmatch(member.member_id) or _UUID.fullmatch(member.member_id)):
        yield f"the id of member {named} is no UUID"
    if not has_uuids and not _is_generated(member):
        yield f"the id of member {named} is not of its client {shown(member.client_id or '')} and a UUID"
    if member.process_id is not None and not _UUID.fullmatch(member.process_id):
        yield f"the process {shown(member.process_id)} of member {named} is no UUID"
    if not _is_address(member.host or ""):
        yield f"the host {shown(member.host or '')} of member {named} is no address"


@lru_cache(maxsize=1024)
def _is_address(host: str) -> bool:
    address = host.rpartition("/")[2]
    is_broken = _NUMBERS.fullmatch(address) is not None and not _ADDRESS.fullmatch(address)
    return host != "/" and not is_broken and _HOST.fullmatch(host) is not None


def _is_generated(member: RecordedMember) -> bool:
    """Whether the id of a member is one that a coordinator or a client generates, as far as that is known."""
    one = member.member_id
    client = member.client_id or ""
    if client and one.startswith(client) and _UUID.fullmatch(one, len(client) + 1) and one[len(client)] == "-":
        return True  # as nearly all are
    names = [f"{name}-" for name in (member.group_instance_id, member.client_id) if name]
    rest = next((one.removeprefix(name) for name in names if one.startswith(name)), None)
    if rest is None:
        return not names or len(one) <= _UUID_LENGTH or _LIKE_A_UUID.search(one) is None
    return len(rest) != _UUID_LENGTH or _UUID.fullmatch(rest) is not None


def _other_lags(rows: Iterable[PartitionOffsets]) -> Iterator[str]:
    """Partitions whose lag is not the difference of their offsets, of which a tool computes it."""
    for row in rows:
        end, current, lag = row.log_end_offset, row.current_offset, row.lag
        if end is not None and current is not None and lag is not None and end - current != lag:
            yield f"the lag of {row.topic}-{row.partition} is {lag}, and its offsets are {current} and {end}"


def _half_members(rows: list[PartitionOffsets]) -> Iterator[str]:
    """Partitions with a member and no host of it, or the reverse: a tool that prints hosts prints both or neither. And
    such with something beside the `-` of no member.
    """
    has_hosts = any(row.host for row in rows)
    for row in rows:
        is_half = has_hosts and (row.consumer_id is None) != (row.host is None)
        if is_half or (row.consumer_id or "").startswith("- "):
            member, host = shown(row.consumer_id or "-"), shown(row.host or "-")
            yield f"{row.topic}-{row.partition} has the member {member} on {host}"


def _other_counts(rows: Iterable[GroupMember]) -> Iterator[str]:
    """Members that have another number of partitions than their rows count."""
    for row in rows:
        if row.assignment is not None and row.partitions is not None:
            assigned = sum(len(each.partitions) for each in row.assignment)
            if assigned != row.partitions:
                yield f"{assigned} partitions of member {shown(row.consumer_id)} where its row counts {row.partitions}"
