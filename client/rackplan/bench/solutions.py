"""Solutions as files have them: Kafka's reassignment JSON, or assignments as Rackplan's API answers them."""

import json
from collections.abc import Mapping
from typing import Any

Row = tuple[tuple[str, int], list[int], list[str] | None]


class MalformedSolution(ValueError):
    """A file is not a solution, or it is one of another instance."""


def parse(text: str | bytes) -> dict[str, Any]:
    """The document of a file. Raises `MalformedSolution`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise MalformedSolution(f"the solution is not JSON: {wrong}") from None
    if not isinstance(document, dict):
        raise MalformedSolution("the solution is not a JSON object")
    return document


def lists_of(solution: Mapping[str, Any]) -> list[Row]:
    """The partitions of a reassignment: each one's key, replicas and log directories. Raises `MalformedSolution`."""
    partitions = solution.get("partitions")
    if not isinstance(partitions, list):
        raise MalformedSolution("`partitions` has to be a list, as in the JSON of kafka-reassign-partitions")
    return [_row(partition, f"partitions[{place}]") for place, partition in enumerate(partitions)]


def assignment_of(solution: object) -> dict[str, dict[str, list[Any]]]:
    """The lists of each member, client or consumer by topic, or by `active` and `standby`.

    Raises `MalformedSolution`.
    """
    assignment = solution.get("assignment") if isinstance(solution, Mapping) else None
    if not isinstance(assignment, dict):
        raise MalformedSolution("`assignment` has to be an object of members, each an object of lists")
    for holder, lists in assignment.items():
        if not isinstance(lists, dict) or not all(
            isinstance(each, list) and all(type(item) in (int, str) for item in each) for each in lists.values()
        ):
            raise MalformedSolution(f"`assignment` of {holder} has to be an object of lists")
    return assignment


def _row(partition: object, where: str) -> Row:
    if not isinstance(partition, Mapping):
        raise MalformedSolution(f"{where} is not an object")
    row: dict[str, Any] = {name: partition.get(name) for name in ("topic", "partition", "replicas", "log_dirs")}
    topic, number, replicas, log_dirs = row.values()
    if not isinstance(topic, str) or type(number) is not int or not _is_list_of(int, replicas):
        raise MalformedSolution(f"{where} has to have a topic, the number of a partition, and replicas as broker ids")
    if log_dirs is not None and not (_is_list_of(str, log_dirs) and len(log_dirs) == len(replicas)):
        raise MalformedSolution(f"{where} has to have a log directory for each replica, or no log_dirs")
    return (topic, number), replicas, log_dirs


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)
