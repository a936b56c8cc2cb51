"""Groups as JSON of KafkaJS, rpk, Confluent's REST API and Burrow: read like Kafka's own tools'."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from app.core.recorded import RecordedGroup, TopicPartitions
from app.formats.snapshots.assembly import Assembled
from tests.formats.strategies import rejected
from tests.formats.test_sources import codes, joined

SUBSCRIPTION = bytes.fromhex("0000 00000001 0006 6f7264657273 ffffffff".replace(" ", ""))
ASSIGNMENT = bytes.fromhex("0000 00000001 0006 6f7264657273 00000002 00000000 00000002 ffffffff".replace(" ", ""))
ROWS = [
    {
        "topic": "orders",
        "partition": partition,
        "current_offset": 7,
        "log_start_offset": 0,
        "log_end_offset": 9,
        "lag": 2,
    }
    | {"member_id": f"m-{partition % 2}", "client_id": f"c-{partition % 2}", "host": "10.0.0.1"}
    for partition in range(3)
]
ASSIGNED = {"m-0": (TopicPartitions("orders", (0, 2)),), "m-1": (TopicPartitions("orders", (1,)),)}


def kafkajs(encode: Any) -> dict[str, object]:
    member = {"memberId": "m-0", "clientId": "c-0", "clientHost": "/10.0.0.1"}
    metadata = {"memberMetadata": encode(SUBSCRIPTION), "memberAssignment": encode(ASSIGNMENT)}
    group = {"errorCode": 0, "groupId": "billing", "protocol": "RoundRobinAssigner", "protocolType": "consumer"}
    return {"groups": [{**group, "state": "Stable", "members": [member | metadata]}]}


def rest(kind: str, rows: Sequence[Mapping[str, object]]) -> str:
    common = {"kind": kind, "cluster_id": "q1Sh", "consumer_group_id": "billing"}
    return json.dumps({"kind": f"{kind}List", "metadata": {"next": None}, "data": [{**common, **row} for row in rows]})


def burrow(count: int = 3) -> dict[str, Any]:
    end = {"offset": 7, "timestamp": 1, "observedAt": 1, "lag": 2}
    rows = [
        {"topic": row["topic"], "partition": row["partition"], "owner": "/10.0.0.1", "client_id": row["client_id"]}
        | {"status": "OK", "start": {**end, "offset": 1}, "end": end, "current_lag": 2, "complete": 1}
        for row in ROWS
    ]
    status = {"cluster": "c", "group": "billing", "status": "OK", "complete": 1, "partitions": rows, "totallag": 6}
    return {"error": False, "message": "consumer status returned", "status": {**status, "partition_count": count}}


def billing(assembled: Assembled) -> RecordedGroup:
    (group,) = assembled.cluster.groups
    assert group.group_id == "billing"
    return group


def assigned(group: RecordedGroup) -> dict[str, tuple[TopicPartitions, ...] | None]:
    return {member.member_id: member.assigned for member in group.members}


@pytest.mark.parametrize(
    "encode",
    [
        lambda content: b64encode(content).decode(),
        lambda content: {"type": "Buffer", "data": list(content)},
    ],
)
def test_groups_of_kafkajs_have_the_bytes_of_members(encode: Any) -> None:
    group = billing(joined(json.dumps(kafkajs(encode), indent=1)))
    assert (group.state, group.assignor) == ("Stable", "RoundRobinAssigner")
    assert assigned(group) == {"m-0": (TopicPartitions("orders", (0, 2)),)}
    assert group.members[0].topics == ("orders",)


@pytest.mark.parametrize("data", [[0, 3], [0, "a"], [300], [-1]])
def test_bytes_that_cannot_be_read_leave_the_group_out(data: list[object]) -> None:
    document = kafkajs(lambda _content: {"type": "Buffer", "data": data})
    if all(isinstance(one, int) and 0 <= one < 256 for one in data):
        text = json.dumps(document) + "\n" + rest("KafkaConsumerGroup", [{"state": "EMPTY"}]).replace("billing", "b")
        assert "groups_not_described" in codes(joined(text))
    else:
        assert "memberMetadata" in rejected(joined, json.dumps(document)).detail.replace(
            "member_metadata", "memberMetadata"
        )


def test_states_of_librdkafka_are_numbers() -> None:
    document = kafkajs(lambda content: {"type": "Buffer", "data": list(content)})
    text = json.dumps(document).replace('"Stable"', "3").replace('"protocol":', '"partitionAssignor":')
    assert (billing(joined(text)).state, billing(joined(text)).assignor) == ("Stable", "RoundRobinAssigner")


def test_groups_of_rpk() -> None:
    details = [
        {"member_id": f"m-{i}", "client_id": f"c-{i}", "host": "10.0.0.1"}
        | {"topic_partitions": [{"topic": "orders", "partition": p} for p in range(3) if p % 2 == i]}
        for i in range(2)
    ]
    group = {"group_name": "billing", "coordinator_partition": "x/3", "state": "Stable", "balancer": "range"}
    document = [{**group, "members": 2, "coordinator_node": 1, "total_lag": 6, "partitions": ROWS}]
    for members in ({"members_details": details}, {}):
        assembled = joined(json.dumps([document[0] | members]))
        assert (billing(assembled).state, billing(assembled).assignor) == ("Stable", "range")
        assert assigned(billing(assembled)) == ASSIGNED
        assert [(o.partition, o.current_offset, o.lag) for o in billing(assembled).offsets] == [
            (0, 7, 2),
            (1, 7, 2),
            (2, 7, 2),
        ]
        assert "group_texts_disagree" not in codes(assembled)


def test_groups_of_the_rest_api() -> None:
    members = [{"consumer_id": f"m-{i}", "client_id": f"c-{i}", "instance_id": None} for i in range(2)]
    owned = [{"consumer_id": f"m-{p % 2}", "topic_name": "orders", "partition_id": p} for p in range(3)]
    lags = [{**one, "current_offset": 7, "log_end_offset": 9, "lag": 2, "client_id": "c"} for one in owned]
    state = {"is_simple": False, "partition_assignor": "range", "state": "PREPARING_REBALANCE"}
    texts = [
        json.dumps({"kind": "KafkaConsumerGroup", "consumer_group_id": "billing", **state}),
        rest("KafkaConsumer", members),
        rest("KafkaConsumerAssignment", owned),
        rest("KafkaConsumerLag", lags),
    ]
    whole = joined(*texts)
    assert (billing(whole).state, billing(whole).assignor) == ("PreparingRebalance", "range")
    assert assigned(billing(whole)) == ASSIGNED
    assert {member.client_id for member in billing(whole).members} == {"c-0", "c-1"}
    assert [offset.lag for offset in billing(whole).offsets] == [2, 2, 2]
    assert not {"group_texts_disagree", "groups_not_described"} & {*codes(whole)}
    assert assigned(billing(joined(texts[1]))) == {"m-0": None, "m-1": None}
    assert assigned(billing(joined(texts[2]))) == ASSIGNED
    assert assigned(billing(joined(texts[3]))) == ASSIGNED


OF_KAFKA_UI = [
    {"topic": "orders", "partition": p, "consumerId": f"m-{p % 2}"}
    | {"currentOffset": 7, "endOffset": 9, "consumerLag": 2}
    for p in range(3)
]
"""The partitions of the group as kafka-ui lists them."""


def test_a_group_of_kafka_ui() -> None:
    group = {"groupId": "billing", "members": 2, "topics": 1, "partitionAssignor": "range", "state": "STABLE"}
    assembled = joined(json.dumps(group | {"coordinator": {"id": 1, "host": "k"}, "partitions": OF_KAFKA_UI}))
    assert (billing(assembled).state, billing(assembled).assignor) == ("Stable", "range")
    assert assigned(billing(assembled)) == ASSIGNED
    assert [(offset.log_end_offset, offset.lag) for offset in billing(assembled).offsets] == [(9, 2)] * 3


def test_groups_of_burrow() -> None:
    assembled = joined(json.dumps(burrow(), indent=2))
    assert assigned(billing(assembled)) == {
        "c-0_/10.0.0.1": (TopicPartitions("orders", (0, 2)),),
        "c-1_/10.0.0.1": (TopicPartitions("orders", (1,)),),
    }
    assert [(offset.current_offset, offset.lag) for offset in billing(assembled).offsets] == [(7, 2)] * 3
    assert "groups_not_described" not in codes(assembled)
    assert "groups_not_described" in codes(joined(json.dumps(burrow(4))))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"partition": -1}, "status/partitions/0/partition"),
        ({"topic": "a b"}, "status/partitions/0/topic"),
        ({"current_lag": "much"}, "status/partitions/0/current_lag"),
        ({"end": 7}, "status/partitions/0/end"),
    ],
)
def test_a_wrong_value_is_rejected_with_its_place(change: dict[str, object], place: str) -> None:
    document = burrow()
    document["status"]["partitions"][0] |= change
    assert place in rejected(joined, json.dumps(document, indent=2)).detail


def test_groups_of_web_interfaces_and_kafkactl() -> None:
    """AKHQ and kafka-ui name members; kafkactl knows clients and hosts, which stand for ids."""
    offsets = {"newestOffset": 9, "oldestOffset": 0, "consumerOffset": 7, "Lead": 7, "Lag": 2}
    members = [
        {"id": f"m-{i}", "clientId": f"c-{i}", "host": "/h"}
        | {"assignments": [{"topic": "orders", "partition": p} for p in range(3) if p % 2 == i]}
        for i in range(2)
    ]
    common = {"partitionAssignor": "range", "state": "STABLE", "coordinator": {"id": 1}}
    rows = [{"topic": "orders", "partition": p, "offset": 7, "lastOffset": 9, "offsetLag": 2} for p in range(3)]
    akhq = {"id": "billing", **common, "members": members, "offsets": rows}
    of_ui = {"groupId": "billing", **common, "members": 2, "topics": 1, "partitions": OF_KAFKA_UI}
    of_kafkactl = {
        "Group": {"Name": "billing", "ProtocolType": "consumer", "Topics": None},
        "Protocol": "range",
        "State": "Stable",
        "Topics": [{"Name": "orders", "Partitions": [{"Partition": p, **offsets} for p in range(3)], "totalLag": 6}],
        "Members": [
            {"clientHost": "/h", "clientId": f"c-{i}", "assignedPartitions": [{"Name": "orders", "Partitions": owned}]}
            for i, owned in ((0, [0, 2]), (1, [1]))
        ],
    }
    for document in (akhq, {"results": [akhq], "page": 1}, of_ui, of_kafkactl):
        assembled = joined(json.dumps(document, indent=1))
        group = billing(assembled)
        assert (group.state, group.assignor) == ("Stable", "range")
        names = {"m-0": "c-0_/h", "m-1": "c-1_/h"} if document is of_kafkactl else {"m-0": "m-0", "m-1": "m-1"}
        assert assigned(group) == {names[member]: owned for member, owned in ASSIGNED.items()}
        assert [(one.partition, one.current_offset, one.log_end_offset, one.lag) for one in group.offsets] == [
            (p, 7, 9, 2) for p in range(3)
        ]
        assert "group_texts_disagree" not in codes(assembled)
