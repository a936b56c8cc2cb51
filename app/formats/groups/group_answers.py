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
    {"id": "billing", "state": "STABLE", "coordinator": {"id": 1}, "members": [{"id": "m", "clientId": "c", "host":
     "/h", "assignments": [{"topic": "orders", "partition": 0}]}], "offsets": [{"topic": "orders", "partition": 0,
     "offset": 7, "lastOffset": 9, "offsetLag": 2}]}                 AKHQ; `groupId`, `partitions` of kafka-ui
    {"Group": {"Name": "billing"}, "Protocol": "range", "State": "Stable", "Topics": [{"Name": "orders", "Partitions":
     [{"Partition": 0, "newestOffset": 9, "consumerOffset": 7, "Lag": 2}]}], "Members": [{"clientHost": "/h",
     "clientId": "c", "assignedPartitions": [{"Name": "orders", "Partitions": [0]}]}]}       kafkactl

What Java's client printed has the keys of its fields (printed_records.py). Burrow and kafkactl know a member's client
and host, which stand for its id, as `OWNER` does in tables of Kafka 0.9.
Burrow's `status` lists the partitions that lag alone, and `lag` all of them.

Source: the sources of KafkaJS 2, rpk 25, Burrow 1, AKHQ 0.2x and kafkactl 5; the reference of Confluent's REST API v3.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.core.recorded import TopicPartitions
from app.formats.groups import described_groups
from app.formats.groups.consumer_groups import GroupMember, GroupState, PartitionOffsets
from app.formats.groups.described_groups import DescribedGroup
from app.formats.groups.group_cells import Record, Section
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import shown
from app.formats.syntax.loose_objects import LooseObject

_UNCOUNTED = -1


@dataclass(slots=True)
class GroupAnswers:
    """What the documents say: rows as those of the tables, and descriptions."""

    described: list[DescribedGroup] = field(default_factory=list)
    odd_name: str | None = None
    _line: int = 1
    _groups: dict[str, Mapping[str, object]] = field(default_factory=dict)
    _offsets: list[tuple[int, PartitionOffsets]] = field(default_factory=list)
    _states: list[tuple[int, GroupState]] = field(default_factory=list)
    _members: dict[tuple[str, str], tuple[int, GroupMember]] = field(default_factory=dict)
    _assigned: dict[tuple[str, str], list[TopicPartitions]] = field(default_factory=dict)

    def take(self, document: Document) -> None:
        """Take a document that `owns` recognizes. Raises `MalformedText` if a value is not what it has to be."""
        self._line = document.lines_before + 1
        if isinstance(document.root, list):
            for i, value in enumerate(document.root):
                self._take_group(LooseObject.of(document, value, (i,)))
            return
        item = LooseObject.of(document, document.root, ())
        if item.has("groups"):
            for each in item.each("groups"):
                self.described.append(described_groups.group_of(each, described_groups.name_of(each, "groupid")))
        elif item.has("error"):
            self._take_burrow(item.child("status"))
        elif item.has("results"):
            for each in item.each("results"):
                self._take_group(each)
        elif item.has("partitions", "offsets", "group"):
            self._take_group(item)
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
            (line, state if state.members != _UNCOUNTED else state._replace(members=counts[state.group]))
            for line, state in self._states
        )

    def members(self) -> Section[GroupMember]:
        """The members with their partitions; those of which only partitions are listed have no client."""
        named = [(line, member) for key, (line, member) in self._members.items() if key not in self._assigned]
        for (group, member), partitions in self._assigned.items():
            line, listed = self._members.get((group, member), (self._line, GroupMember(member, "", "", group=group)))
            count = sum(len(one.partitions) for one in partitions)
            named.append((line, listed._replace(partitions=count, assignment=tuple(partitions))))
        return _section(named)

    def _take_group(self, group: LooseObject) -> None:
        """Take a group with its members and offsets; the number of members may stand for them."""
        of = group.child("group") if group.has("group") else group
        name = described_groups.name_of(of, "groupname", "groupid", "name", "id")
        if (known := self._groups.setdefault(name, group.members)) is not group.members:
            if known != group.members:
                actual = f"{shown(name)} again"
                raise group.document.reject(group.path, expected="each group once, or alike", actual=actual)
            return
        path, coordinator = group.get("coordinatornode", "coordinator")
        if isinstance(coordinator, dict):
            coordinator = coordinator.get("id")
        broker = 0 if coordinator is None else group.document.integer(coordinator, path)
        path, listed = group.get("members")
        assignor = group.text("balancer", "partitionassignor", "protocol")
        is_counted = listed is not None and not isinstance(listed, list)
        counted = group.document.integer(listed, path) if is_counted else _UNCOUNTED
        self._states.append((self._line, GroupState(f"-:0 ({broker})", _state(group), counted, assignor, name)))
        for row in group.each("partitions", "offsets"):
            self._offsets.append((self._line, _row(row, name, row.text("memberid", "consumerid"))))
        for topic in group.each("topics") if of is not group else ():
            for row in topic.each("partitions"):
                self._offsets.append((self._line, _row(row, name, None, topic=topic.required_topic("name"))))
        for member in group.each("membersdetails" if is_counted else "members"):
            self._take_member(name, member)

    def _take_member(self, group: str, member: LooseObject) -> None:
        member_id = member.text("memberid", "id") or _client_and_host(member.text("clientid"), _host(member)) or ""
        self._add(group, member_id, member)
        of = member.child("assignment") if member.get("assignment")[1] is not None else member
        if of.has("topicpartitions", "assignments", "assignedpartitions"):
            self._assigned.setdefault((group, member_id), [])
        for assigned in of.each("topicpartitions", "assignments"):
            self._assign(group, member_id, assigned)
        for assigned in of.each("assignedpartitions"):
            partitions = TopicPartitions(assigned.required_topic("name"), assigned.numbers("partitions"))
            self._assigned[group, member_id].append(partitions)

    def _take_rest(self, item: LooseObject) -> None:
        group, member = described_groups.name_of(item, "consumergroupid"), item.text("consumerid")
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
        group = described_groups.name_of(status, "group")
        rows = list(status.each("partitions"))
        for row in rows:
            member = _client_and_host(row.text("clientid"), row.text("owner"))
            self._offsets.append((self._line, _row(row, group, member)))
        if status.has("partitioncount") and (count := status.integer("partitioncount")) > len(rows):
            error = f"{len(rows)} of its {count} partitions are listed; …/consumer/{group}/lag of Burrow lists all"
            self.described.append(DescribedGroup(group, "", "", (), error))

    def _add(self, group: str, member_id: str, item: LooseObject) -> None:
        client, instance = item.text("clientid") or "", item.text("instanceid", "groupinstanceid")
        member = GroupMember(member_id, _host(item) or "", client, None, group, instance)
        self._members[group, member_id] = self._line, member

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
    listed, status = document.get("groups", document.get("results")), document.get("status")
    if isinstance(listed, list):
        first = next(iter(listed), None)
        return isinstance(first, dict) and ("groupId" in first or owns(first))
    is_of_burrow = document.get("error") is False and isinstance(status, dict) and "group" in status
    if isinstance(document.get("groupId"), str):
        return "isSimpleConsumerGroup" in document or isinstance(document.get("partitions"), list)
    is_of_kafkactl = isinstance(document.get("Group"), dict) and "State" in document
    is_of_akhq = {"id", "state", "members", "offsets"} <= document.keys()
    return is_of_burrow or is_of_kafkactl or is_of_akhq or str(document.get("kind")).startswith("KafkaConsumer")


def _state(group: LooseObject) -> str:
    """The state as Kafka's tools print it."""
    state = group.text("groupstate", "state") or ""
    return state.replace("_", " ").title().replace(" ", "") if state.isupper() else state


def _section(rows: Iterable[tuple[int, Record]]) -> Section[Record]:
    listed = list(rows)
    return Section(tuple([row for _, row in listed]), lines=tuple([line for line, _ in listed]))


def _row(item: LooseObject, group: str, member: str | None, *, topic: str | None = None) -> PartitionOffsets:
    """The offsets of a partition; of Burrow the last ones that it has seen."""
    seen = item.child("end") if item.get("end")[1] is not None else item
    return PartitionOffsets(
        topic or item.required_topic("topicname", "topic"),
        item.integer("partitionid", "partition"),
        seen.amount("currentoffset", "consumeroffset", "offset"),
        item.amount("logendoffset", "endoffset", "newestoffset", "lastoffset"),
        item.amount("lag", "currentlag", "consumerlag", "offsetlag"),
        member,
        _host(item),
        item.text("clientid"),
        group,
    )


def _host(item: LooseObject) -> str | None:
    return item.text("host", "clienthost", "owner")


def _client_and_host(client: str | None, host: str | None) -> str | None:
    """What stands for the id of a member whose client and host are known."""
    return f"{client or ''}_{host or ''}" if host or client else None
