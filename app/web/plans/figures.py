"""The figures by which plans are compared, in words."""

from collections.abc import Mapping
from typing import Any

from app.services import consumers, groups, reassignment, restarts, streams
from app.store.records import PlanHead
from app.web.plans.reassignment import bound_words
from app.web.words import byte_size, known_size, number, share


def figures(head: PlanHead) -> dict[str, str]:
    """Names and values of a plan's figures, the most important first."""
    answer: Any = head.answer
    match head.kind:
        case reassignment.KIND:
            found = _moved(answer["certificate"]) | _within(answer) | _executed(answer) | _balanced(answer)
        case groups.KIND:
            found = _read(answer)
        case streams.KIND:
            found = _assigned(answer)
        case restarts.KIND:
            found = _restarted(answer)
        case consumers.KIND:
            found = _scaled(answer)
        case _:
            found = {}
    measures = answer.get("measures") or {}
    if (safe := measures.get("rack_safe_share")) is not None:
        found["Rack-safe partitions"] = share(safe)
    for name in ("replicas", "leaders"):
        if name in measures:
            found[f"{name.capitalize()} of a broker"] = _range(measures[name])
    if racks := (measures.get("losses") or {}).get("racks"):
        unwritable = [loss["unwritable"] for loss in racks.values()]
        found["Not writable without a rack"] = "unknown" if None in unwritable else number(max(unwritable))
    if sets := measures.get("copysets"):
        found["Replica sets"] = number(sets["sets"])
        if (odds := sets["loss_probability"]["3"]) is not None:
            found["Three lost brokers lose data"] = share(odds)
    found["Violations"] = number(len(answer.get("violations") or ()))
    return {"Result": head.summary, **found}


def _moved(certificate: Mapping[str, Any]) -> dict[str, str]:
    replicas, unknown = certificate["moved_replicas"], certificate["unknown_size_replicas"]
    return {
        "Replicas moved": number(replicas),
        "Bytes moved": known_size(certificate["moved_bytes"], replicas=replicas, unknown=unknown),
        "Lower bound": bound_words(certificate),
        "Optimality gap": "none, proven" if certificate["optimal"] else _share(certificate["gap"]),
        "Solver": f"{certificate['solver']}, {certificate['seconds']:.3g} s",
    }


def _within(answer: Mapping[str, Any]) -> dict[str, str]:
    """The moves between log directories, if the plan chooses them."""
    moved = answer.get("log_dirs")
    if moved is None:
        return {}
    return {
        "Replicas moved between log directories": number(moved["moved_replicas"]),
        "Bytes moved between log directories": byte_size(moved["moved_bytes"]),
    }


def _executed(answer: Mapping[str, Any]) -> dict[str, str]:
    seconds = [batch["seconds"] for batch in answer["batches"]]
    return {
        "Preferred leaders changed": number(answer["leader_changes"]),
        "Batches": number(len(seconds)),
        "Seconds of all batches": number(sum(seconds)) if seconds and None not in seconds else "unknown",
    }


def _balanced(answer: Mapping[str, Any]) -> dict[str, str]:
    """The largest load of any broker by resource, as a share of its capacity, and after the worst loss."""
    largest: dict[str, list[float]] = {}
    for loads in (answer.get("loads") or {}).values():
        for resource, load in loads.items():
            if not load["capacity"]:
                continue
            worst = [
                load["after"],
                *(after for after in (load["after_worst_loss"][of] for of in ("broker", "rack")) if after),
            ]
            shares = largest.setdefault(resource, [0.0, 0.0])
            shares[0] = max(shares[0], load["after"] / load["capacity"])
            shares[1] = max(shares[1], max(worst) / load["capacity"])
    found = {
        f"Largest load, {resource.replace('_', ' ')}": f"{_share(after)}, {_share(lost)} after the worst loss"
        for resource, (after, lost) in largest.items()
    }
    if excess := answer.get("excess"):
        found["Loads above their limit"] = number(len(excess["brokers"]))
    return found


def _read(answer: Mapping[str, Any]) -> dict[str, str]:
    where = answer["locality"]
    return {
        "Assignor": str(answer["assignor"]),
        "Read in rack": f"{number(where['in_rack'])} ({_share(where['in_rack_share'])})",
        "Across racks": number(where["cross_rack"]),
        "Partitions moved": "unknown" if answer["moved"] is None else number(answer["moved"]),
        "Partitions of a member": _range(answer["loads"]["partitions"]),
    }


def _assigned(answer: Mapping[str, Any]) -> dict[str, str]:
    moved = answer["movement"]
    return {
        "Assignor": str(answer["assignor"]),
        "Active tasks moved": number(moved["active_moved"]),
        "Ideal tasks": number(sum(task["ideal"] is True for task in answer["tasks"])),
        "Tasks of a client": _range(answer["loads"]["active"]),
    }


def _restarted(answer: Mapping[str, Any]) -> dict[str, str]:
    return {
        "Waves": number(answer["certificate"]["waves"]),
        "Lower bound": number(answer["certificate"]["lower_bound_waves"]),
        "Seconds of all waves": number(answer["seconds"]),
        "Blocked partitions": number(answer["blocked_partitions"]),
    }


def _scaled(answer: Mapping[str, Any]) -> dict[str, str]:
    return {
        "Consumer hours": number(answer["consumer_hours"]),
        "Most consumers": number(max(each["consumers"] for each in answer["intervals"])),
        "Moved, mean": f"{byte_size(answer['moved_bytes_per_s'])}/s",
    }


def _range(spread: Mapping[str, Any]) -> str:
    return f"{number(spread['min'])} to {number(spread['max'])}"


def _share(value: float | None) -> str:
    return "unknown" if value is None else share(value)
