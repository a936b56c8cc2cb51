"""What texts that describe no cluster look like, and what to run or to call instead."""

import re
from collections.abc import Sequence

from app.formats.syntax.lines import says_something, shown

EXPECTED = (
    "what kafka-topics --describe, kafka-broker-api-versions, kafka-log-dirs --describe or "
    "kafka-consumer-groups --describe prints"
)
_FIRST_LINES = 4
_LOOKS_LIKE = {
    "a tool that did not reach the cluster; check its --bootstrap-server": re.compile(
        r"Timed out waiting for a node|.*Connection to node .* could not be established|.*[Cc]onnection refused"
    ),
    "a command that was not found; run it from the folder of Kafka": re.compile(
        r".*(?:command not found|No such file or directory|is not recognized as)"
    ),
    "an error of kubectl or docker": re.compile(r"Error from server|error: |Error response from daemon"),
    "a list of kubectl; run kubectl get pods,nodes -o yaml, or kafka-topics --describe within a pod": re.compile(
        r"(?:NAMESPACE\s+)?NAME\s+(?:READY|STATUS|DESIRED|CLUSTER|TYPE|DATA|AGE|ROLES)\b"
    ),
    "a list of docker; run kafka-topics --describe within a container": re.compile(r"CONTAINER ID\s+IMAGE\s"),
    "kafka-consumer-groups --list; run it with --describe --all-groups": re.compile(
        r"GROUP\s+(?:TYPE|PROTOCOL)\b|(?:console-consumer|connect|perf-consumer)-[\w.-]{1,200}\s*$"
    ),
    "kafka-configs of ZooKeeper; run it with --bootstrap-server": re.compile(r"(?:Quota c|C)onfigs for "),
    "broker ids that zookeeper-shell lists; run get /brokers/ids/<id> for each": re.compile(r"\[\d[\d, ]*\]\s*$"),
    "a command that printed nothing, as there is no such partition; run kafka-topics --describe alone": re.compile(
        r".*kafka-topics.*--(?:under-replicated|unavailable|(?:under|at)-min-isr)-partitions"
    ),
    "kafka-replica-status of Confluent; run kafka-topics --describe, which has the replicas in their order": re.compile(
        r"(?:Cluster\s+)?Topic\s+Partition\s+Replica\s"
    ),
    "kafka-acls; run kafka-topics --describe": re.compile(r"Current ACLs for resource "),
    "kafka-storage info, which is of one disk; run kafka-log-dirs --describe": re.compile(
        r"Found (?:log|metadata log) director|Formatting "
    ),
    "metrics of an exporter; paste the answer of Prometheus' /api/v1/query": re.compile(r"# (?:HELP|TYPE) \w"),
    "an answer of aws kafka; run aws kafka list-nodes": re.compile(
        r'\s*+\{?\s*+"?(?:ClusterInfo|ClusterInfoList|BootstrapBrokerString\w*)"?:'
    ),
    "a progress report of Cruise Control; call it again when the task is done": re.compile(
        r'\s*+\{?\s*+"(?:progress|operationProgress)"'
    ),
    "an answer of Burrow, which has lags and no members' assignments; run kafka-consumer-groups --describe --members "
    "--verbose": re.compile(r'\s*+\{?\s*+"error"\s*:\s*false\b'),
    "a failure of an API": re.compile(
        r'\s*+\{?\s*+"(?:error|errorMessage|message|stackTrace|status"\s*:\s*"error|code)"'
    ),
    "a table of topicctl; run kafka-topics --describe, kafka-broker-api-versions": re.compile(
        r"\s*-{2,}\+-+|\s*ID\s+\|\s*[A-Z]"
    ),
    "a topic of topicctl; rackplan diff --desired compares it with a cluster": re.compile(r"meta:\s*$"),
    "a group that does not exist; kafka-consumer-groups --list names those that do": re.compile(
        r"Error: (?:Consumer|Share|Streams) group '"
    ),
    "the message of an HTTP server; check the address": re.compile(r"HTTP/\d|(?:401|403|404|50\d) [A-Za-z]"),
    "the help of a tool; run it with --describe": re.compile(
        r"Missing required (?:argument|option)|This tool |usage: |Exactly one of the following|Command must include"
    ),
    "the JSON of a snapshot; POST /v1/snapshots takes it with Content-Type: application/json, and rackplan snapshots "
    "create": re.compile(r'\s*+\{(?=.{0,200}"brokers").{0,200}"cluster"\s*:'),
    "a reassignment; POST /v1/checks compares it with a snapshot": re.compile(
        r"Current partition replica assignment|Proposed partition reassignment|Status of partition reassignment"
        r'|\s*\{\s*(?:"version"\s*:\s*1\s*,\s*)?"partitions"'
    ),
    "an object that console.log shortens; print JSON.stringify(value)": re.compile(r'.*"\[(?:Object|Array)\]"'),
    "a web page": re.compile(r"\s*<(?:!DOCTYPE|html|\?xml)", re.IGNORECASE),
    "a properties file; run kafka-configs --describe": re.compile(r"[a-z][a-z.]{1,200}\s*="),
    "kafka-topics --list; run kafka-topics --describe": re.compile(r"[a-zA-Z0-9._-]{1,249}\s*$"),
    "JSON of an unknown tool; docs/formats.md lists those that are read": re.compile(r"\s*(?:\{|\[[\s\d{\]])"),
}


def first_hint(text: str) -> tuple[int, str]:
    """The line of a text, from 1, that says what it looks like, and the line with that; else its first line."""
    lines = text.strip().split("\n", 50)
    hints = [_hint(lines[at:]) for at in range(len(lines))]
    at = next((at for at, hint in enumerate(hints) if hint), 0)
    return text[: len(text) - len(text.lstrip())].count("\n") + at + 1, shown(lines[at].rstrip()) + hints[at]


def _hint(lines: Sequence[str]) -> str:
    """What a text looks like by its first lines, and what to do then, as the end of a sentence; empty if unknown.

    JSON may have its first key on a line of its own. Lines of a log say nothing.
    """
    if not says_something(lines[0]):
        return ""
    first = " ".join([line.strip() for line in lines[:_FIRST_LINES]]) if lines[0].startswith("{") else lines[0]
    return next((f"; this looks like {words}" for words, mark in _LOOKS_LIKE.items() if mark.match(first[:1000])), "")
