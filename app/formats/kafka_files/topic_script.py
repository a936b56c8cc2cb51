"""A bash script that creates topics and partitions exactly as planned, with Kafka's own tools.

    BOOTSTRAP_SERVER=kafka-1:9092 bash plan.sh

    cat > "$folder/1.txt" <<'END'
    101:105:108,104:109:102
    END
    is_there orders "$folder/1.txt" 0 || topics --create --topic orders --replica-assignment …

A topic that is there as planned is passed over, so that the script can be run again; one that is there otherwise stops
it.

The list of a topic is one argument of `kafka-topics`, and Linux runs no command with an argument of more than 128 KiB
(`E2BIG`). A longer list cannot be split: `--create` takes all partitions, and `--alter` a list from partition 0 on. So
Kafka places such a topic first, and `kafka-reassign-partitions`, which reads a file, gives it the planned replicas
while it is empty.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from app.core.model import Int32s, Placement
from app.errors.quotation import escaped
from app.formats.kafka_files import reassignment
from app.formats.syntax.quantities import counted

LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes of an argument that Linux passes to a command: `MAX_ARG_STRLEN` without the final zero."""
_HEAD = files("app.formats.kafka_files").joinpath("topic_script.sh").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, eq=False)
class ScriptedTopic:
    """A topic of the script.

    Parameters
    ----------
    replicas : (partitions, replication factor) int32 broker ids of all its partitions, from 0 on.
    existing : the partitions that it has already, the first ones; 0 of a new topic.
    rejection : why Kafka would reject it, so that no command is written for it; None if it would not.
    remarks : fragile traits of it. configs : of a new topic.
    """

    name: str
    replicas: Int32s = field(repr=False)
    existing: int = 0
    rejection: str | None = None
    remarks: tuple[str, ...] = ()
    configs: Mapping[str, str] = field(default_factory=dict)


def altered_topic(topic: str) -> str:
    """The argument of `kafka-topics --alter --topic` that is this topic alone, quoted for a shell."""
    # Unlike of --create, it is a regular expression, and a dot in it is any character.
    return shlex.quote(topic.replace(".", r"\."))


def config_options(configs: Mapping[str, str]) -> str:
    """The options of `kafka-topics --create` that state configurations, quoted for a shell."""
    return "".join(f" --config {shlex.quote(f'{name}={value}')}" for name, value in sorted(configs.items()))


def write(title: str, topics: Iterable[ScriptedTopic]) -> str:
    """The script. `title` is its first comment."""
    lines = ["#!/usr/bin/env bash", _comment(title), _HEAD.rstrip()]
    for number, topic in enumerate(topics, start=1):
        lines += ["", *_steps(topic, f'"$folder/{number}')]
    return "\n".join(lines) + "\n"


def _steps(topic: ScriptedTopic, file: str) -> Iterator[str]:
    rows, factor = topic.replicas.shape
    new = counted(rows - topic.existing, "new partition") if topic.existing else counted(rows, "partition")
    yield _comment(f"{topic.name}: {new} of {counted(factor, 'replica')}")
    yield from (_comment(f"FRAGILE: {remark}") for remark in topic.remarks)
    if topic.rejection is not None:
        yield _comment(f"REJECTED, not created: {topic.rejection}")
        yield f"echo {shlex.quote(f'not created: {escaped(topic.rejection)}')} >&2"
        return
    name = shlex.quote(topic.name)
    alter = f"--alter --topic {altered_topic(topic.name)} --partitions {rows}"
    options = alter if topic.existing else f"--create --topic {name}{config_options(topic.configs)}"
    is_there = f'is_there {altered_topic(topic.name)} {file}.txt" {topic.existing} ||'
    listed = reassignment.write_replica_assignment(topic.replicas)
    yield from _file(f'{file}.txt"', listed)
    if len(listed) <= LONGEST_ARGUMENT:
        yield f'{is_there} topics {options} --replica-assignment "$(cat {file}.txt")"'
        return
    placement = Placement(topic.name, topic.existing, topic.replicas[topic.existing :])
    yield _comment(
        f"Its list is longer than an argument may be ({LONGEST_ARGUMENT:,} bytes): Kafka places the partitions,"
    )
    yield _comment("and while they are empty the reassignment gives them the planned replicas.")
    yield from _file(f'{file}.json"', reassignment.write_placements([placement]).decode())
    wait = f'while is_moving {file}.json"; do sleep 1; done'
    counts = "" if topic.existing else f" --partitions {rows} --replication-factor {factor}"
    execute = f'reassign {file}.json" --execute --additional > /dev/null'
    yield from (wait, f"{is_there} {{", f"  topics {options}{counts}", f"  {execute}", f"  {wait}", "}")


def _file(path: str, content: str) -> Iterator[str]:
    yield f"cat > {path} <<'END'"
    yield content.rstrip("\n")
    yield "END"


def _comment(text: str) -> str:
    return f"# {escaped(text)}"
