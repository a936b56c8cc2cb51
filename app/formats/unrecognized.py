"""What texts that describe no cluster look like, and what to run or to call instead."""

import re

EXPECTED = (
    "what kafka-topics --describe, kafka-broker-api-versions, kafka-log-dirs --describe or "
    "kafka-consumer-groups --describe prints"
)
_LOOKS_LIKE = {
    "a tool that did not reach the cluster; check its --bootstrap-server": re.compile(
        r"Timed out waiting for a node|.*Connection to node .* could not be established|.*[Cc]onnection refused"
    ),
    "a command that was not found; run it from the folder of Kafka": re.compile(
        r".*(?:command not found|No such file or directory|is not recognized as)"
    ),
    "an error of kubectl or docker": re.compile(r"Error from server|error: |Error response from daemon"),
    "the help of a tool; run it with --describe": re.compile(
        r"Missing required (?:argument|option)|This tool |usage: |Exactly one of the following|Command must include"
    ),
    "a reassignment; POST /v1/checks compares it with a snapshot": re.compile(
        r"Current partition replica assignment|Proposed partition reassignment|Status of partition reassignment"
        r'|\s*\{\s*(?:"version"\s*:\s*1\s*,\s*)?"partitions"'
    ),
    "a web page": re.compile(r"\s*<(?:!DOCTYPE|html|\?xml)", re.IGNORECASE),
    "a properties file; run kafka-configs --describe": re.compile(r"[a-z][a-z.]{1,200}\s*="),
    "kafka-topics --list; run kafka-topics --describe": re.compile(r"[a-zA-Z0-9._-]{1,249}\s*$"),
}


def hint(content: str) -> str:
    """What a line looks like and what to do then, as the end of a sentence; empty if it is not known."""
    return next((f"; this looks like {words}" for words, mark in _LOOKS_LIKE.items() if mark.match(content)), "")
