"""JSON of other tools that describes groups, as the rows of Kafka's own tables and descriptions.

    {"groups": [{"groupId": "billing", "state": "Stable", "protocol": "RoundRobinAssigner", "members": [{"memberId":
     "m", "clientId": "c", "clientHost": "/h", "memberMetadata": …, "memberAssignment": …}]}]}
                                             KafkaJS; bytes in base64, or as {"type": "Buffer", "data": [0, 3, …]}
    [{"group_name": "billing", "state": "Stable", "balancer": "range", "members": 1, "partitions": [{"topic": "orders",
     "partition": 0, "current_offset": 7, "log_end_offset": 9, "lag": 2, "member_id": "m", "client_id": "c",
     "host": "h"}], "members_details": [{"member_id": "m", "topic_partitions": [{"topic": "orders", "partition": 0}]}]}]
                                                                     rpk group describe --format json
    {"kind": "KafkaConsumerGroup", "consumer_group_id": "billing", "state": "STABLE", "partition_assignor": "range"}
    {"kind": "KafkaConsumerList", "data": [{"consumer_group_id": "billing", "consumer_id": "m", "client_id": "c"}]}
    {"kind": "KafkaConsumerAssignmentList", "data": [{…, "consumer_id": "m", "topic_name": "orders", …}]}
    {"kind": "KafkaConsumerLagList", "data": [{…, "partition_id": 0, "current_offset": 7, "log_end_offset": 9, …}]}
                                                                     Confluent's REST API v3
    {"error": false, "status": {"group": "billing", "partition_count": 1, "partitions": [{"topic": "orders",
     "partition": 0, "owner": "/h", "client_id": "c", "end": {"offset": 7}, "current_lag": 2}]}}
                                                                     Burrow, …/consumer/billing/lag

Burrow knows a member's client and host, which stand for its id, as `OWNER` does in tables of Kafka 0.9. Its `status`
lists the partitions that lag alone, and `lag` all of them.

Source: the sources of KafkaJS 2, of rpk 25 and of Burrow 1; the reference of Confluent's REST API v3.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from app.core.recorded import TopicPartitions
from app.formats.groups import described_groups
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.described_groups import DescribedGroup
from app.formats.groups.group_cells import Record, Section
from app.formats.syntax.documents import Document
from app.formats.syntax.loose_objects import LooseObject

_INT64_MAX = 2**63 - 1
_UNCOUNTED = -1
_STATES = ("", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
"""By the number that librdkafka's clients state."""
_MEMBER = ("member_id", "client_id", "client_host", "group_instance_id", "member_metadata", "member_assignment")


@dataclass(slots=True)
class GroupAnswers:
    """What the documents say: rows as those of the tables, and descriptions."""

    described: list[DescribedGroup] = field(default_factory=list)
    _line: int = 1
    _offsets: list[tuple[int, PartitionOffsets]] = field(default_factory=list)
    _states: list[tuple[int, GroupState]] = field(default_factory=list)
    _members: dict[tuple[str, str], tuple[int, GroupMember]] = field(default_factory=dict)
    _assigned: dict[tuple[str, str], list[TopicPartitions]] = field(default_factory=dict)

    def take(self, document: Document) -> None:
        """Take a document that `owns` recognizes. Raises `MalformedText` if a value is not what it has to be."""
        self._line = document.lines_before + 1
        if isinstance(document.root, list):
            for i, value in enumerate(document.root):
                self._take_rpk(LooseObject.of(document, value, (i,)))
            return
        item = LooseObject.of(document, document.root, ())
        if item.has("groups"):
            self.described += [_of_kafkajs(group) for group in item.each("groups")]
        elif item.has("error"):
            self._take_burrow(item.child("status"))
        elif item.has("partitions"):
            self._take_rpk(item)
        else:
            for one in item.each("data") if item.has("data") else [item]:
                self._take_rest(one)

    def offsets(self) -> Section[PartitionOffsets]:
        """The offsets of groups, with the members that read the partitions if they are stated."""
        return _section(self._offsets)

    def states(self) -> Section[GroupState]:
        """The states of groups; members that a state does not count are those that are listed."""
        listed = dict.fromkeys((row.group, row.consumer_id) for _, row in self._offsets if row.consumer_id)
        listed |= dict.fromkeys((row.group, row.consumer_id) for row in self.members().rows)
        counts = Counter(group for group, _ in listed)
        return _section(
            (line, state if state.members != _UNCOUNTED else replace(state, members=counts[state.group]))
            for line, state in self._states
        )

    def members(self) -> Section[GroupMember]:
        """The members with their partitions; those of which only partitions are listed have no client."""
        named = [(line, member) for key, (line, member) in self._members.items() if key not in self._assigned]
        for (group, member), partitions in self._assigned.items():
            line, listed = self._members.get((group, member), (self._line, GroupMember(member, "", "", group=group)))
            named.append((line, replace(listed, partitions=len(partitions), assignment=tuple(partitions))))
        return _section(named)

    def _take_rpk(self, group: LooseObject) -> None:
        name = _name(group, "groupname", "groupid")
        coordinator = group.integer("coordinatornode") if group.has("coordinatornode") else 0
        members = group.integer("members") if group.has("members") else 0
        assignor = group.text("balancer", "partitionassignor")
        self._states.append((self._line, GroupState(f"-:0 ({coordinator})", _state(group), members, assignor, name)))
        rows = group.each("partitions")
        self._offsets += [(self._line, _row(row, name, row.text("memberid", "consumerid"))) for row in rows]
        for member in group.each("membersdetails"):
            member_id = _name(member, "memberid")
            self._add(name, member_id, member)
            for assigned in member.each("topicpartitions"):
                self._assign(name, member_id, assigned)

    def _take_rest(self, item: LooseObject) -> None:
        group, member = _name(item, "consumergroupid"), item.text("consumerid")
        if item.has("currentoffset"):
            self._offsets.append((self._line, _row(item, group, member)))
        elif member is None:
            assignor = item.text("partitionassignor")
            self._states.append((self._line, GroupState("-:0 (0)", _state(item), _UNCOUNTED, assignor, group)))
        elif item.has("partitionid"):
            self._assign(group, member, item)
        else:
            self._add(group, member, item)

    def _take_burrow(self, status: LooseObject) -> None:
        group = _name(status, "group")
        rows = list(status.each("partitions"))
        for row in rows:
            host, client = row.text("owner"), row.text("clientid")
            member = f"{client or ''}_{host or ''}" if host or client else None
            self._offsets.append((self._line, _row(row, group, member, host)))
        if status.has("partitioncount") and (count := status.integer("partitioncount")) > len(rows):
            error = f"{len(rows)} of its {count} partitions are listed; …/consumer/{group}/lag of Burrow lists all"
            self.described.append(DescribedGroup(group, "", "", (), error))

    def _add(self, group: str, member_id: str, item: LooseObject) -> None:
        host, client, instance = item.text("host") or "", item.text("clientid") or "", item.text("instanceid")
        self._members[group, member_id] = self._line, GroupMember(member_id, host, client, None, group, instance)

    def _assign(self, group: str, member_id: str, item: LooseObject) -> None:
        partitions = self._assigned.setdefault((group, member_id), [])
        topic = item.required_topic("topicname", "topic")
        partitions.append(TopicPartitions(topic, (item.integer("partitionid", "partition"),)))


def owns(document: object) -> bool:
    """Whether a JSON document is one of these."""
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict) and "group_name" in document[0]
    if not isinstance(document, dict):
        return False
    groups, status = document.get("groups"), document.get("status")
    if isinstance(groups, list):
        return bool(groups) and isinstance(groups[0], dict) and "groupId" in groups[0]
    is_of_burrow = document.get("error") is False and isinstance(status, dict) and "group" in status
    if isinstance(document.get("groupId"), str):
        return isinstance(document.get("partitions"), list)
    return is_of_burrow or str(document.get("kind")).startswith("KafkaConsumer")


def _state(group: LooseObject) -> str:
    """The state as Kafka's tools print it."""
    state = group.text("state") or ""
    return state.replace("_", " ").title().replace(" ", "") if state.isupper() else state


def _section(rows: Iterable[tuple[int, Record]]) -> Section[Record]:
    listed = list(rows)
    return Section(tuple([row for _, row in listed]), lines=tuple([line for line, _ in listed]))


def _row(item: LooseObject, group: str, member: str | None, host: str | None = None) -> PartitionOffsets:
    """The offsets of a partition; of Burrow the last ones that it has seen."""
    seen = item.child("end") if item.get("end")[1] is not None else item
    return PartitionOffsets(
        item.required_topic("topicname", "topic"),
        item.integer("partitionid", "partition"),
        _amount(seen, "currentoffset", "offset"),
        _amount(item, "logendoffset", "endoffset"),
        _amount(item, "lag", "currentlag", "consumerlag"),
        member,
        host or item.text("host"),
        item.text("clientid"),
        group,
    )


def _amount(item: LooseObject, *names: str) -> int | None:
    """A number of 64 bits; None if it is missing, or −1, which stands for none."""
    path, value = item.get(*names)
    amount = -1 if value is None else item.document.integer(value, path, least=-1, most=_INT64_MAX)
    return amount if amount >= 0 else None


def _name(item: LooseObject, *names: str) -> str:
    """A text that has to be there."""
    path, value = item.get(*names)
    return described_groups.text_of(item.document, value, path)


def _of_kafkajs(group: LooseObject) -> DescribedGroup:
    state = group.get("state")[1]
    if type(state) is int and state < len(_STATES):
        state = _STATES[state]
    code = group.get("errorcode")[1]
    members = [
        {key: _bytes_as_text(member.get(key.replace("_", ""))[1]) for key in _MEMBER}
        for member in group.each("members")
    ]
    value = {
        "group_state": state,
        "protocol_data": group.text("protocol", "partitionassignor") or "",
        "members": members,
        "error": f"error code {code}" if code else None,
    }
    return described_groups.group_of(group.document, _name(group, "groupid"), value, group.path)


def _bytes_as_text(value: object) -> object:
    """Bytes of a Buffer of Node.js in base64; another value as it is."""
    if isinstance(value, dict) and value.get("type") == "Buffer" and isinstance(value.get("data"), list):
        try:
            return b64encode(bytes(value["data"])).decode()
        except (TypeError, ValueError):
            return value
    return value
