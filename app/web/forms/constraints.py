"""Fields of the form of a change that state limits, goals, sets of brokers and log directories."""

from collections.abc import Mapping
from typing import Any

from app.web.forms.fields import lines, number, pairs, whole, words

FIELDS = (
    "per_topic",
    "resources",
    "goals",
    "nic_in",
    "nic_out",
    "cpu",
    "replica_limit",
    "leader_limit",
    "broker_sets",
    "topic_sets",
    "log_dirs",
    "drain",
)
SHARES = ("disk", "nic_in", "nic_out", "cpu")
COUNTS = {"replica_limit": "replicas", "leader_limit": "leaders"}
LIMITS = {**{name: name for name in SHARES}, **{name: field for field, name in COUNTS.items()}}
"""The field of each limit of a request."""
_BY_NAME = "topic_name_hash"


def constraints(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """The part of a request that these fields make; what cannot be read is added to `problems`."""
    body: dict[str, Any] = {}
    balance: dict[str, Any] = {}
    if per_topic := _band(typed.get("per_topic", "")):
        balance["per_topic"] = {"replicas": per_topic}
    if resources := words(typed, "resources"):
        balance["resources"] = resources
    if balance:
        body["balance"] = balance
    if goals := [_goal(line, problems) for line in lines(typed, "goals")]:
        body["objective"] = {"goals": goals}
    if stated := limits(typed, problems):
        body["limits"] = stated
    return body | _sets(typed, problems) | _log_dirs(typed, problems)


def limits(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """The limits of brokers: shares of their capacities, of which the fields have percentages, and counts."""
    shares = {name: typed.get(name, "").rstrip("% ") for name in SHARES}
    found: dict[str, Any] = {
        name: share / 100 for name in SHARES if (share := number(shares, name, problems)) is not None
    }
    for field, name in COUNTS.items():
        if text := typed.get(field, "").strip():
            found[name] = {"absolute": whole(text, field, problems)}
    return found


def _band(value: str) -> object:
    if value == "tight":
        return value
    return {"tolerance": int(value.rstrip("% ")) / 100} if value in ("10%", "20%") else None


def _goal(line: str, problems: dict[str, str]) -> dict[str, Any]:
    """`disk 10`: a goal, and its tolerance in percent if there is one."""
    name, _, percent = line.partition(" ")
    goal: dict[str, Any] = {"goal": name}
    if percent.strip():
        share = number({"goals": percent.rstrip("% ")}, "goals", problems)
        goal["tolerance"] = 0.0 if share is None else share / 100
    return goal


def _sets(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    sets = {
        name: [whole(each, "broker_sets", problems) for each in ids.replace(",", " ").split()]
        for name, ids in pairs(typed, "broker_sets", problems, write="a set and its brokers as blue=101 102").items()
    }
    topics: object = _BY_NAME
    if lines(typed, "topic_sets") != [_BY_NAME]:
        topics = pairs(typed, "topic_sets", problems, write="a topic and its set as orders=blue")
    return ({"broker_sets": sets} if sets else {}) | ({"topic_sets": topics} if topics else {})


def _log_dirs(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """`101 /data/d1`: a broker and a directory that is to be empty."""
    drain: dict[str, list[str]] = {}
    for line in lines(typed, "drain"):
        broker, _, path = line.partition(" ")
        if not path.strip():
            problems["drain"] = f"Write a broker and a directory as 101 /data/d1; {line[:100]!r} has no directory."
        drain.setdefault(str(whole(broker, "drain", problems)), []).append(path.strip())
    stated: dict[str, Any] = {"drain": drain} if drain else {}
    if typed.get("log_dirs") in ("tight", "keep"):
        stated["balance"] = typed["log_dirs"]
    return {"log_dirs": stated} if stated else {}
