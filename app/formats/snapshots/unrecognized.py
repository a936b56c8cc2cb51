"""What texts that describe no cluster look like, and what to run or to call instead."""

import re
from collections.abc import Sequence

from app.formats.syntax.lines import says_something, shown

EXPECTED = (
    "what kafka-topics --describe, kafka-broker-api-versions, kafka-log-dirs --describe or "
    "kafka-consumer-groups --describe prints"
)
_FIRST_LINES = 4
_KINDS = r"""
a tool that did not reach the cluster; check its --bootstrap-server <-
    .*(?:Timed out waiting for a node|[Cc]onnection refused|NoBrokersAvailable|Failed to acquire metadata)
    .*Connection to node .* could not be established
a tool that the cluster does not let in; check its --command-config <-
    .*(?:[Aa]uthentication failed|[Aa]uthorization failed|Not authorized to|java\.lang\.OutOfMemoryError)
a command that was not found; run it from the folder of Kafka <-
    .*(?:command not found|No such file or directory|is not recognized as)
a tool without --zookeeper, since Kafka 3.0; run it with --bootstrap-server <- .*zookeeper is not a recognized option
a topic that does not exist; kafka-topics --list names those that do <- Error while executing topic command : Topic\s
a document or an image; paste its text <- %PDF-|PK\x03\x04|\x89PNG|\{\\rtf
a failure of the AWS CLI; check its region and its credentials <- \s*An error occurred \(|Unable to locate credentials
kafka-get-offsets or kafka-dump-log; run kafka-topics --describe <- [\w.-]{1,249}:\d{1,10}:\d{0,19}\s*$|Dumping /
an error of kubectl or docker <- Error from server|error: |Error response from daemon
a list of kubectl; run kubectl get pods,nodes -o yaml, or kafka-topics --describe within a pod <-
    (?:NAMESPACE\s+)?NAME\s+(?:READY|STATUS|DESIRED|CLUSTER|TYPE|DATA|AGE|ROLES)\b
a list of docker; run kafka-topics --describe within a container <- (?:CONTAINER ID|NAME)\s+IMAGE\s
kafka-consumer-groups --list; run it with --describe --all-groups <-
    GROUP\s+(?:TYPE|PROTOCOL|STATE)\b|(?:console-consumer|connect|perf-consumer)-[\w.-]{1,200}\s*$
kafka-consumer-groups --reset-offsets; run it with --describe <- GROUP\s+TOPIC\s+PARTITION\s+NEW-OFFSET
ConsumerOffsetChecker of Kafka 0.8; run kafka-consumer-groups --describe <- Group\s+Topic\s+Pid\s
kafka-list-topic of Kafka 0.8.0, or capitals; names differ by case: paste what kafka-topics --describe prints <-
    \s*(?:topic|TOPIC): ?\S
a table of kafkactl; run kafka-topics --describe, kafka-broker-api-versions <-
    PARTITION\s+OLDEST_OFFSET|CONFIG\s+VALUE\s*$|ID\s+ADDRESS\s*$
an object of Java; run kafka-topics --describe <- .{0,300}\(name=[^,]{1,249}, internal=
an answer of Aiven, which has no replicas; run kafka-topics --describe <-
    TOPIC_NAME\s+PARTITIONS|\s*\{\s*"topics?":\s*[\[{].{0,200}"cleanup_policy"
partition_load of Cruise Control; call it with json=true <- \s*PARTITION\s+LEADER\s+FOLLOWERS
the state or the tasks of Cruise Control; call kafka_cluster_state or load with json=true <-
    \s*(?:\{\s*")?(?:Monitor|Executor|Analyzer|AnomalyDetector)State"?:|\s*USER TASK ID|\s*\{\s*"userTasks"
a table of the confluent command; run kafka-topics --describe <- \s*(?:Current|Cluster|Topic(?: Name)?|Name)\s+\|
kafka-configs of ZooKeeper; run it with --bootstrap-server <- (?:Quota c|C)onfigs for\s
broker ids that zookeeper-shell lists; run get /brokers/ids/<id> for each <- \[\d[\d, ]*\]\s*$
names that zookeeper-shell lists; run get /brokers/topics/<topic> for each <-
    \[[a-zA-Z_][\w.-]{0,248}(?:, [\w.-]{1,249}){0,99}\]\s*$
a command that printed nothing, as there is no such partition; run kafka-topics --describe alone <-
    .*kafka-topics.*--(?:under-replicated|unavailable|(?:under|at)-min-isr)-partitions
kafka-replica-status of Confluent; run kafka-topics --describe, which has the replicas in their order <-
    (?:Cluster\s+)?Topic\s+Partition\s+Replica\s
kafka-acls; run kafka-topics --describe <- Current ACLs for resource\s
kafka-storage info, of one disk; run kafka-log-dirs --describe <- Found (?:log|metadata log) director|Formatting\s
metrics of an exporter; paste the answer of Prometheus' /api/v1/query <- # (?:HELP|TYPE) \w
an answer of aws kafka; run aws kafka list-nodes <-
    \s*+\{?\s*+"?(?:ClusterInfo|ClusterInfoList|BootstrapBrokerString\w*)"?:
a progress report of Cruise Control; call it again when the task is done <- \s*+\{?\s*+"(?:progress|operationProgress)"
an answer of Burrow without members; run kafka-consumer-groups --describe --members --verbose <-
    \s*+\{?\s*+"error"\s*:\s*false\b
a failure of an API <-
    \s*+\{?\s*+"(?:error(?:_code|Message)?|message|stackTrace|status"\s*:\s*"error|code)"
    \s*\{.{0,200}"status"\s*:\s*[45]\d\d\b
a table of topicctl; run kafka-topics --describe, kafka-broker-api-versions <- \s*-{2,}\+-+|\s*ID\s+\|\s*[A-Z]
topics as they are to be; rackplan diff --desired compares them with a cluster <-
    meta:\s*$|context:\s|settings:|(?:kafka_)?topics?:\s*$|resource\s+"\w{0,60}topic|\{\s*"format_version"
a group that does not exist; kafka-consumer-groups --list names those that do <- Error: [A-Z][a-z]{4,7} group '
the message of an HTTP server; check the address <- HTTP/\d|(?:401|403|404|50\d) [A-Za-z]
the help of a tool; run it with --describe <-
    Missing required (?:argument|option)|This tool |usage: |Exactly one of the following|Command must include
the JSON of a snapshot; POST /v1/snapshots takes it as application/json, and so does rackplan snapshots create <-
    \s*+\{(?=.{0,200}"brokers").{0,200}"cluster"\s*:
a reassignment; POST /v1/checks compares it with a snapshot <-
    Current partition replica assignment|Proposed partition reassignment|Status of partition reassignment
    \s*\{\s*(?:"version"\s*:\s*1\s*,\s*)?"partitions"
a topology of Kafka Streams; POST /v1/plans/streams takes it <- Topologies:|\s*Sub-topolog
an object that console.log shortens; print JSON.stringify(value) <- .*"\[(?:Object|Array)\]"
a web page <- (?i:\s*<(?:!DOCTYPE|html|\?xml))
a properties file; run kafka-configs --describe <- [a-z][a-z.]{1,200}\s*=
kafka-topics --list; run kafka-topics --describe <- [a-zA-Z0-9._-]{1,249}\s*$
JSON of an unknown tool; docs/formats.md lists those that are read <- \s*(?:\{|\[[\s\d{\]])
"""
"""What a text looks like and what to do then, `<-`, the patterns of its line. The first two may be in a log."""
_ENTRIES = [entry.split(" <-", 1) for entry in re.split(r"\n(?! )", _KINDS.strip())]
_LOOKS_LIKE = {
    words: re.compile("|".join(map(str.strip, patterns.strip().split("\n")))) for words, patterns in _ENTRIES
}
_FAILED = dict(list(_LOOKS_LIKE.items())[:2])


def first_hint(text: str) -> tuple[int, str]:
    """The line of a text, from 1, that says what it looks like, and the line with that; else its first line."""
    lines = text.strip().split("\n", 50)
    hints = [_hint(lines[at:]) for at in range(len(lines))]
    order = sorted(range(len(lines)), key=lambda at: not says_something(lines[at]))
    at = next((at for at in order if hints[at]), 0)
    return text[: len(text) - len(text.lstrip())].count("\n") + at + 1, shown(lines[at].rstrip()) + hints[at]


def _hint(lines: Sequence[str]) -> str:
    """What a text looks like by its first lines, and what to do then, as the end of a sentence; empty if unknown.

    JSON may have its first key on a line of its own.
    """
    marks = _LOOKS_LIKE if says_something(lines[0]) else _FAILED
    first = " ".join([line.strip() for line in lines[:_FIRST_LINES]]) if lines[0].startswith("{") else lines[0]
    return next((f"; this looks like {words}" for words, mark in marks.items() if mark.match(first[:1000])), "")
