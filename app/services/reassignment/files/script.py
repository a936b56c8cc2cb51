"""`run.sh`, which executes a plan with Kafka's own tools, and the texts that it reads beside the batches."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from app.core.model import UNKNOWN_SIZE, Cluster
from app.services.reassignment.files import readme
from app.services.reassignment.files.stored_steps import StoredSteps
from app.store.records import NewPlan, PlanHead

_SCRIPT = Path(__file__).with_name("run.sh")
COPIES = "copies.txt"
"""The bytes of each copied replica. Without the file the script shows no bytes."""
_Steps = list[dict[str, Any]]


def files(
    head: PlanHead | NewPlan, cluster: Cluster, steps: StoredSteps, created: Sequence[tuple[str, int, bytes]]
) -> Iterator[tuple[str, bytes]]:
    """The script, and its texts by name.

    Parameters
    ----------
    created : the topics that get partitions, how many each has then, and its argument of `--replica-assignment`.
    """
    yield "run.sh", _SCRIPT.read_bytes()
    yield "plan.txt", _plan(head)
    numbers = range(1, len(steps) + 1)
    execution: Any = head.answer.get("execution") or {}
    forth: _Steps = [{"action": "execute", "batch": number} for number in numbers]
    yield "execute-steps.txt", _lines(_steps(execution.get("batches", forth), cluster, steps, is_forth=True))
    yield "rollback-steps.txt", _lines(_steps(execution.get("rollback", forth[::-1]), cluster, steps))
    yield COPIES, _lines(_copies(cluster, steps))
    if created:
        lines = (f"{topic} {count} {assignment.decode().strip()}" for topic, count, assignment in created)
        yield "created-partitions.txt", _lines(lines)


def with_checksums(entries: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Files by name, and after them their checksums as `sha256sum --check` reads them."""
    sums = []
    for name, content in entries:
        sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}")
        yield name, content
    yield "SHA256SUMS", _lines(sums)


def _plan(head: PlanHead | NewPlan) -> bytes:
    """The values for the commands, one a line."""
    request: Any = head.request
    return _lines(
        (
            f"hash {head.hash}",
            f"throttle {request['batches']['throttle_bytes_per_s'] or 0}",
            f"log_dirs {'yes' if request.get('log_dirs') is not None else 'no'}",
            f"additional {'yes' if request.get('running_reassignment') == 'merge' else 'no'}",
        )
    )


def _steps(planned: _Steps, cluster: Cluster, steps: StoredSteps, *, is_forth: bool = False) -> Iterator[str]:
    """A line for each batch, for each that waits for brokers, and for each broker that is cordoned or uncordoned."""
    names = readme.names(steps)
    for step in planned:
        if step["action"] == "execute":
            if is_forth and step["batch"] > len(steps) - steps.waiting:
                yield f"await {names[step['batch'] - 1]}"
            yield f"execute {names[step['batch'] - 1]}"
        elif step["action"] == "cordon":
            yield from (f"cordon {broker} {readme.cordoned_log_dirs(cluster, broker)}" for broker in step["brokers"])
        else:
            yield from (f"uncordon {broker}" for broker in step["brokers"])


def _copies(cluster: Cluster, steps: StoredSteps) -> Iterator[str]:
    """A line for each replica that a batch copies: batch, partition, broker, bytes; 0 if these are unknown."""
    sizes = {
        (topic.name, partition): size
        for topic in cluster.topics
        for partition, size in zip(topic.partition_ids.tolist(), topic.copied_bytes.tolist(), strict=True)
        if size != UNKNOWN_SIZE
    }
    for number, name in enumerate(readme.names(steps)):
        before = steps.listed(number, is_inverse=True)
        for (topic, partition, replicas), (_, _, there) in zip(steps.listed(number), before, strict=True):
            size = sizes.get((topic, partition), 0)
            yield from (f"{name} {topic}-{partition} {broker} {size}" for broker in replicas if broker not in there)


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
