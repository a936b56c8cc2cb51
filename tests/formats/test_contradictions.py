"""Parts of texts that contradict each other are rejected with their line, or named by a warning."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.models.clusters import SnapshotRequest
from app.errors.requests import DuplicatePartition, MalformedText
from app.formats.snapshots.assembly import Assembled, assemble
from app.formats.snapshots.pasted import Upload
from app.services.snapshots import cautions
from tests.formats.strategies import sample

TOPICS = (
    "Topic: t\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: \n"
    "\tTopic: t\tPartition: 0\tLeader: {leader}\tReplicas: {replicas}\tIsr: {isr}\n"
    "\tTopic: t\tPartition: 1\tLeader: 102\tReplicas: 102,103,101\tIsr: 102,103\n"
)
KCAT = (
    "Metadata for all topics (from broker 1: k:9092/1):\n 3 brokers:\n  broker 101 at k:1\n  broker 102 at k:1\n"
    '  broker 103 at k:1\n 1 topics:\n  topic "t" with 2 partitions:\n'
    "    partition 0, leader {leader}, replicas: {replicas}, isrs: {isr}\n"
    "    partition 1, leader 102, replicas: 102,103,101, isrs: 102,103\n"
)
ZOOKEEPER = (
    'get /brokers/topics/t\n{{"version":2,"partitions":{{"0":[{replicas}],"1":[102,103,101]}}}}\n'
    'get /brokers/topics/t/partitions/0/state\n{{"controller_epoch":1,"leader":{leader},"isr":[{isr}]}}\n'
    'get /brokers/topics/t/partitions/1/state\n{{"controller_epoch":1,"leader":102,"isr":[102,103]}}\n'
)
CLIENT = (
    '{{"topics": [{{"name": "t", "partitions": [\n'
    '{{"partitionId": 0, "leader": {leader}, "replicas": [{replicas}], "isr": [{isr}]}},\n'
    '{{"partitionId": 1, "leader": 102, "replicas": [102, 103, 101], "isr": [102, 103]}}]}}]}}\n'
)
READERS = pytest.mark.parametrize("form", [TOPICS, KCAT, ZOOKEEPER, CLIENT])


def read(*texts: str) -> Assembled:
    return assemble("c", [Upload(text) for text in texts])


def warnings(found: Assembled) -> dict[str, str]:
    cluster = cautions.of_cluster(found.cluster)
    return {caution.code: caution.detail for caution in (*cautions.of_assembly(found), *cluster)}


@READERS
@given(leader=st.integers(0, 2**31 - 1), other=st.integers(0, 2**31 - 1))
def test_an_id_that_is_no_replica_is_kept_with_a_warning_or_rejected(form: str, leader: int, other: int) -> None:
    """Every reader alike: it is rejected if a cut would leave it of a replica's id."""
    replicas, stated = {101, 102, 103}, {leader, other}
    text = form.format(leader=leader, replicas="101,102,103", isr=f"101,{other}" if other != 101 else "101")
    is_cut = any(str(one).startswith(str(odd)) for odd in stated - replicas for one in replicas)
    if is_cut:
        with pytest.raises(MalformedText) as caught:
            read(text)
        assert caught.value.line is not None
        assert "not a replica" in caught.value.detail
        return
    found = read(text)
    topic = found.cluster.topics[0]
    assert topic.leaders.tolist() == [leader, 102]
    assert ("not_a_replica" in warnings(found)) == (not stated <= replicas)
    if stated - replicas:
        assert "t-0" in warnings(found)["not_a_replica"]
        assert "t-1" not in warnings(found)["not_a_replica"]


@READERS
@pytest.mark.parametrize(("replicas", "isr"), [("101,102,101", "101"), ("101,102,103", "101,101")])
def test_a_replica_twice_is_rejected_with_its_line(form: str, replicas: str, isr: str) -> None:
    with pytest.raises(MalformedText) as caught:
        read(form.format(leader=101, replicas=replicas, isr=isr))
    assert caught.value.line is not None


def body(**partition: object) -> SnapshotRequest:
    partitions = [{"partition": 0, "replicas": [1, 2], **partition}]
    brokers = [{"id": 1}, {"id": 2}]
    return SnapshotRequest.model_validate(
        {"cluster": "c", "brokers": brokers, "topics": [{"name": "t", "partitions": partitions}]}
    )


def test_json_has_the_same_warning() -> None:
    assert [one.code for one in cautions.of_cluster(body(leader=9).core())].count("not_a_replica") == 1
    assert [one.code for one in cautions.of_cluster(body(isr=[2, 9]).core())].count("not_a_replica") == 1
    assert "not_a_replica" not in [one.code for one in cautions.of_cluster(body(leader=2, isr=[2]).core())]
    with pytest.raises(DuplicatePartition, match="names a replica twice"):
        body(isr=[2, 2]).core()


def test_a_header_with_another_replication_factor_is_named() -> None:
    text = TOPICS.format(leader=101, replicas="101,102,103", isr="101")
    assert "texts_disagree" not in warnings(read(text))
    assert (
        "topic t is 2" in warnings(read(text.replace("ReplicationFactor: 3", "ReplicationFactor: 2")))["texts_disagree"]
    )
    moving = text.replace("Isr: 101\n", "Isr: 101\tAdding Replicas: 103\tRemoving Replicas: \n")
    assert "texts_disagree" not in warnings(read(moving.replace("ReplicationFactor: 3", "ReplicationFactor: 2")))


@pytest.mark.parametrize("other", [KCAT, ZOOKEEPER, CLIENT])
def test_texts_that_differ_in_a_partition_name_it(other: str) -> None:
    """Kafka's own text counts in any order; the order of replicas, which some tools lose, is no difference."""
    own = TOPICS.format(leader=101, replicas="101,102,103", isr="101")
    for replicas, differs in (("103,102,101", False), ("101,102,104", True)):
        text = other.format(leader=101, replicas=replicas, isr="101")
        for texts in ((own, text), (text, own)):
            found = read(*texts)
            assert found.cluster.topics[0].replicas.tolist()[0] == [101, 102, 103]
            assert ("t-0 has other replicas" in warnings(found).get("texts_disagree", "")) == differs


def test_answers_that_differ_name_the_partition() -> None:
    first, second = (CLIENT.format(leader=101, replicas=f"101,102,{last}", isr="101") for last in (103, 104))
    found = read(first + second)
    assert found.cluster.topics[0].replicas.tolist()[0] == [101, 102, 103]
    assert "t-0 has other replicas" in warnings(found)["texts_disagree"]
    assert "texts_disagree" not in warnings(read(first + first))


def test_racks_that_differ_are_named_unless_they_are_assumed() -> None:
    own = sample("kafka-broker-api-versions.txt")
    assert "texts_disagree" not in warnings(read(own, sample("msk-list-nodes.json")))
    other = "ID         HOST    PORT       RACK       STATE      ENDPOINT_TYPE\n101 k 9092 elsewhere unfenced broker\n"
    load = json.loads(sample("cruise-control-load.json"))
    load["brokers"][0]["Rack"] = "elsewhere"
    found = read(own, json.dumps(load))
    assert "broker 101 is in rack use1-az1 and in elsewhere" in warnings(found)["texts_disagree"]
    with pytest.raises(MalformedText):
        read(own + other)


def test_a_host_with_other_capacities_than_its_brokers_is_named() -> None:
    load = json.loads(sample("cruise-control-load.json"))
    assert "texts_disagree" not in warnings(read(json.dumps(load)))
    load["brokers"][0]["DiskCapacityMB"] = 1.0
    assert "of host kafka-101.internal" in warnings(read(json.dumps(load)))["texts_disagree"]


def test_the_state_of_a_broker_does_not_lose_its_rack() -> None:
    nodes = sample("akhq-nodes.json")
    ids = [broker.id for broker in read(nodes).cluster.brokers]
    down = ids[-1]
    found = read(nodes + json.dumps({"is_healthy": False, "all_nodes": ids, "nodes_down": [down]}) + "\n").cluster
    assert [broker.rack for broker in found.brokers] == [broker.rack for broker in read(nodes).cluster.brokers]
    assert [broker.id for broker in found.brokers if broker.fenced] == [down]


@given(st.sets(st.integers(101, 103)), st.integers(101, 103))
def test_a_leader_that_is_not_in_sync_is_named(in_sync: set[int], leader: int) -> None:
    """As of a row whose end was cut off: the leader of a partition is always in sync."""
    isr = ",".join(map(str, sorted(in_sync)))
    found = warnings(read(TOPICS.format(leader=leader, replicas="101,102,103", isr=isr)))
    detail = f"leader {leader} of t-0 is not among its in-sync replicas"
    assert (found.get("texts_disagree") == detail) is (leader not in in_sync)


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(-(10**12), 10**12))
def test_a_lag_that_is_not_the_difference_of_its_offsets_is_named(current: int, end: int, lag: int) -> None:
    header = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    for stated in (lag, end - current):
        found = warnings(read(f"{header}\nbilling t 0 {current} {end} {stated} c-1 /10.0.0.1 c\n"))
        detail = f"group 'billing': the lag of t-0 is {stated}, and its offsets are {current} and {end}"
        assert (detail in found.get("group_texts_disagree", "")) is (stated != end - current)


@given(st.sets(st.integers(0, 99), min_size=1, max_size=5), st.integers(1, 6))
def test_a_member_with_another_number_of_partitions_is_named(partitions: set[int], counted: int) -> None:
    listed = ",".join(map(str, sorted(partitions)))
    header = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT"
    found = warnings(read(f"{header}\nbilling c-1 /10.0.0.1 c {counted} t({listed})\n"))
    detail = f"group 'billing': {len(partitions)} partitions of member 'c-1' where its row counts {counted}"
    assert (detail in found.get("group_texts_disagree", "")) is (len(partitions) != counted)


@pytest.mark.parametrize(
    ("group", "member", "named"),
    [("billing", "-   ", ""), ("billing", "- \\ ", "the member '- "), ("INFO8|", "-   ", "the end of what is before")],
)
def test_what_is_left_of_a_frame_or_beside_an_empty_cell_is_named(group: str, member: str, named: str) -> None:
    header = "GROUP   TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    row = f"{group:8}t     0         7              9              2   {member}        -    -"
    found = warnings(read(f"{header}\n{row}\n"))
    assert ("group_texts_disagree" in found) is bool(named)
    assert named in found.get("group_texts_disagree", "")


@pytest.mark.parametrize("host", ["/10.0.0.1", "/", "/10.0.0"])
def test_a_host_that_is_cut_off_is_named(host: str) -> None:
    row = f"billing t 0 7 9 2 c-1_{host}"
    found = warnings(read(f"GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER\n{row}\n"))
    is_named = "no address" in found.get("group_texts_disagree", "")
    assert is_named is (host != "/10.0.0.1")


@pytest.mark.parametrize("fence", ["```", "{code}", "[/quote]"])
def test_a_fence_after_a_line_is_removed_unless_the_line_has_quotation_marks(fence: str) -> None:
    """Of lines between quotation marks, two that were joined end in what looks like a fence."""
    text = sample("kafka-consumer-groups-state.txt").strip()
    assert [group.state for group in read(text + fence).cluster.groups] == ["Stable", "Stable"]
    quoted = "\n".join(f"`{line}`" for line in text.split("\n"))
    with pytest.raises(MalformedText, match="#MEMBERS"):
        read(quoted + "``")


def test_a_header_that_is_joined_with_its_first_row_is_rejected() -> None:
    """Otherwise the row would be names of columns, and its group would be missing."""
    header, row, *rest = sample("kafka-consumer-groups-state.txt").strip().split("\n")
    with pytest.raises(MalformedText, match="a header on a line of its own") as caught:
        read("\n".join([f"{header} {row}", *rest]))
    assert caught.value.line == 1


def test_topics_with_and_without_eligible_replicas_are_read_and_named() -> None:
    """Tools of two releases print them in turns; within a topic, a row without the columns of others is cut off."""
    topic = "Topic: {0}\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: \n{1}{1}"
    row = "\tTopic: {0}\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1"
    newer, older = f"{row}\tElr: \tLastKnownElr: \n", f"{row}\n"
    texts = [topic.format("new", newer.format("new")), topic.format("old", older.format("old"))]
    texts = [text.replace("Partition: 0", "Partition: 1", 1) for text in texts]
    for order in (texts, texts[::-1]):
        found = read("".join(order))
        assert [one.elr is None for one in found.cluster.topics] == [True, True]
        assert "rows of topic old have no Elr" in warnings(found)["texts_disagree"]
    mixed = topic.replace("{1}{1}", "{1}{2}").format("new", newer.format("new"), older.format("new"))
    with pytest.raises(MalformedText, match="cut off") as caught:
        read(mixed.replace("Partition: 0", "Partition: 1", 1))
    assert caught.value.line == 3
