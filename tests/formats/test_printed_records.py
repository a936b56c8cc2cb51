"""Records that Java's and Python's clients print."""

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker, Cluster
from app.core.recorded import TopicPartitions
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.printed_records import as_json
from tests.formats.strategies import rejected
from tests.formats.test_sources import codes, joined

NODES = {1: "k-1.x:9092 (id: 1 rack: a)", 2: "10.0.0.2:9092 (id: 2 rack: b)", 3: "k3:9092 (id: 3 rack: null)"}
RACKS = {1: "a", 2: "b", 3: None}
MEMBERS = (
    "(memberId=c-1-x, groupInstanceId=i-1, clientId=c-1, host=/10.0.0.1, assignment=(topicPartitions=a-b-0,a-b-1)),"
    "(memberId=c-2-x, groupInstanceId=null, clientId=c-2, host=/10.0.0.2, assignment=(topicPartitions=))"
)
GROUP = (
    f"(groupId=null, isSimpleConsumerGroup=false, members={MEMBERS}, partitionAssignor=range, state=Stable, "
    f"coordinator={NODES[1]}, authorizedOperations=[])"
)
NEWER = GROUP.replace("state=Stable", "type=Classic, groupState=Stable").replace(
    "topicPartitions=))",
    "topicPartitions=), targetAssignment=Optional[(topicPartitions=a-b-7)], memberEpoch=3, upgraded=true)",
)

rows = st.tuples(
    st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3, unique=True), st.integers(0, 3), st.booleans()
)
topics = st.dictionaries(
    st.from_regex(r"[a-z][a-z._-]{0,8}", fullmatch=True), st.lists(rows, min_size=1, max_size=3), min_size=1, max_size=3
)
Topics = dict[str, list[tuple[list[int], int, bool]]]


def row_of(ids: list[int], in_sync: int, leads: bool) -> tuple[int | None, list[int], list[int]]:
    isr = ids[:in_sync]
    return (isr[0] if isr and leads else None), ids, isr


def of_java(described: Topics) -> str:
    """A map of `TopicDescription`, as `System.out.println` prints it."""
    found = []
    for name, partitions in described.items():
        listed = []
        for i, (leader, ids, isr) in enumerate(row_of(*one) for one in partitions):
            first = "null" if leader is None else NODES[leader]
            nodes, in_sync = (", ".join(NODES[one] for one in some) for some in (ids, isr))
            listed.append(f"(partition={i}, leader={first}, replicas={nodes}, isr={in_sync}, elr=, lastKnownElr=N/A)")
        of_topic = f"partitions={','.join(listed)}, authorizedOperations=[READ, WRITE]"
        found.append(f"{name}=(name={name}, internal=false, {of_topic})")
    return f"{{{', '.join(found)}}}"


def of_consumer(described: Topics) -> str:
    """A list of `PartitionInfo`."""
    listed = [
        f"Partition(topic = {name}, partition = {i}, leader = {'none' if leader is None else leader}, "
        f"replicas = {ids}, isr = {isr}, offlineReplicas = [])".replace("1, 2", "1,2")
        for name, partitions in described.items()
        for i, (leader, ids, isr) in enumerate(row_of(*one) for one in partitions)
    ]
    return f"[{', '.join(listed)}]"


def of_python(described: Topics) -> str:
    """Sets of kafka-python's `PartitionMetadata`."""
    listed = [
        f"PartitionMetadata(topic={name!r}, partition={i}, leader={-1 if leader is None else leader}, replicas={ids}, "
        f"isr={isr}, error=NoError)"
        for name, partitions in described.items()
        for i, (leader, ids, isr) in enumerate(row_of(*one) for one in partitions)
    ]
    return f"{{{', '.join(listed)}}}"


def contents(cluster: Cluster) -> dict[str, list[tuple[int | None, list[int], list[int]]]]:
    """By topic, the leader, the replicas and the in-sync replicas of each partition."""
    found = {}
    for topic in cluster.topics:
        listed = zip(topic.leaders.tolist(), topic.replicas.tolist(), topic.isr.tolist(), strict=True)
        found[topic.name] = [
            (None if leader < 0 else leader, [one for one in ids if one >= 0], [one for one in isr if one >= 0])
            for leader, ids, isr in listed
        ]
    return found


@given(topics, st.sampled_from([of_java, of_consumer, of_python]), st.sampled_from(["", "07:00:00 INFO x - found "]))
def test_topics_are_read_whoever_prints_them(described: Topics, printed: Callable[[Topics], str], before: str) -> None:
    cluster = joined(before + printed(described)).cluster
    assert contents(cluster) == {name: [row_of(*one) for one in rows] for name, rows in described.items()}
    if printed is of_java:
        assert all(broker.rack == RACKS[broker.id] for broker in cluster.brokers)


@pytest.mark.parametrize("text", [GROUP, NEWER, f"{{null={NEWER}}}", f"INFO found [{GROUP}]"])
def test_a_group_has_its_members(text: str) -> None:
    (group,) = joined(text).cluster.groups
    first, second = group.members
    assert (group.group_id, group.state, group.assignor) == ("null", "Stable", "range")
    assert (first.member_id, first.client_id) == ("c-1-x", "c-1")
    assert (first.group_instance_id, second.group_instance_id) == ("i-1", None)
    assert first.assigned == (TopicPartitions("a-b", (0, 1)),)
    assert second.assigned == ()


def test_brokers_of_python_have_racks() -> None:
    first = "BrokerMetadata(nodeId=1, host='k', port=9092, rack='a')"
    assert joined(f"{{{first}, BrokerMetadata(nodeId=2, host='k', port=1, rack=None)}}").cluster.brokers == (
        Broker(1, "a"),
        Broker(2),
    )


def test_partitions_without_a_topic_are_rejected_with_what_is_missing() -> None:
    rows = [f"(partition={i}, leader={NODES[1]}, replicas={NODES[1]}, isr={NODES[1]})" for i in range(2)]
    assert "expected the topic of the partitions" in rejected(joined, "\n".join(rows)).detail


def test_topics_and_groups_on_one_line_are_rejected() -> None:
    topics = of_java({"orders": [([1, 2], 2, True)]})
    assert "topics and groups on one line" in rejected(joined, f"{topics} {GROUP}").detail
    cluster = joined(topics, GROUP).cluster
    assert (len(cluster.topics), len(cluster.groups)) == (1, 1)


def test_another_state_in_a_later_record_has_a_warning() -> None:
    texts = [of_java({"orders": [([1, 2], in_sync, True)]}) for in_sync in (2, 1)]
    assert "texts_disagree" in codes(joined("\n".join(texts)))
    assert "texts_disagree" not in codes(joined(texts[0] + "\n" + texts[0]))


@given(st.data())
def test_a_record_that_is_cut_off_is_no_smaller_one(data: st.DataObject) -> None:
    described = {"orders": [([1, 2], 2, True)], "payments": [([2], 1, True), ([1], 0, True)]}
    text = data.draw(st.sampled_from([of_java(described), of_consumer(described), of_python(described), GROUP, NEWER]))
    rejected(lambda one: assemble("c", [Upload(one)]), text[: data.draw(st.integers(1, len(text) - 1))])


@given(st.text("(){}[]=, '-:ab1\n", max_size=60))
def test_no_text_gains_or_loses_a_line(text: str) -> None:
    for one in (text, f"(name={text}, internal=", f"(groupId=a, members={text})"):
        assert as_json(one).count("\n") == one.count("\n")


@given(described=topics, width=st.integers(80, 160), at_blanks=st.booleans())
def test_a_wrapped_map_is_that_of_one_line(described: Topics, width: int, *, at_blanks: bool) -> None:
    """A terminal wraps at its width; a mail at blanks, of which it drops one."""
    text = of_java(described)
    wrapped = [text[at : at + width] for at in range(0, len(text), width)]
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) if at_blanks else wrapped
    lengths = {len(line) for line in lines[:-1]}
    if len(lines) > 1 and (len(lengths) > 1) == at_blanks:
        rejoined = as_json("\n".join([*lines, "further text"]))
        assert rejoined == as_json(text) + "\n" * len(lines) + "further text"
