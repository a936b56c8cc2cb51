"""Cases of Kafka Streams' task assignors, their rules for standbys and their racks."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.core.jvm.hashes import TaskId, task_id
from app.core.streams.model import (
    Application,
    PartialAssignment,
    RackAwareStrategy,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
    name_of,
)
from app.core.streams.rack_aware.optimum import RackAware, rack_aware
from app.core.streams.registry import STREAMS_ASSIGNORS
from app.core.streams.standbys import BY_LOAD, BY_TAGS
from tests.conformance.jvm import java_uuid

POLICIES = {"default_standby": BY_LOAD, "client_tag_standby": BY_TAGS}


def _tasks_of(names: list[str]) -> tuple[TaskId, ...]:
    return tuple(map(task_id, names))


def _clients(given: Mapping[str, Any]) -> list[StreamsClient]:
    return [
        StreamsClient(
            java_uuid(client["process_id"]),
            client["capacity"],
            client["tags"],
            client["rack"],
            _tasks_of(client["prev_active"]),
            _tasks_of(client["prev_standby"]),
            {task_id(task): lag for task, lag in client["lags"].items()},
            client["default_lag"],
        )
        for client in given["clients"]
    ]


def _options(given: Mapping[str, Any]) -> StreamsOptions:
    configs = dict(given["configs"])
    configs["rack_aware_assignment_tags"] = tuple(configs["rack_aware_assignment_tags"])
    configs["rack_aware_assignment_strategy"] = RackAwareStrategy(configs["rack_aware_assignment_strategy"])
    return StreamsOptions(**configs)


def _partitions(given: Mapping[str, Any]) -> TaskPartitions | None:
    if "task_partitions" not in given:
        return None
    sources, changelogs = (
        {task_id(task): [(topic, partition) for topic, partition in partitions] for task, partitions in part.items()}
        for part in (given["task_partitions"], given["changelog_partitions"])
    )
    replicas = {topic["name"]: topic["replicas"] for topic in given["topics"]}
    return TaskPartitions(sources, changelogs, replicas, {broker["id"]: broker["rack"] for broker in given["brokers"]})


def _application(given: Mapping[str, Any]) -> Application:
    """With whatever else clients start with, which counts as their load."""
    names = [*given["tasks"]]
    for client in given["clients"]:
        names += client["assigned_active"] + client["assigned_standby"]
    return Application(_clients(given), StreamsTasks(_tasks_of(names), _tasks_of(given["stateful_tasks"])))


def _partial(given: Mapping[str, Any], application: Application) -> PartialAssignment:
    """The clients' initial state."""
    partial = PartialAssignment.empty(application)
    for at, place in enumerate(application.place_of.tolist()):
        client = given["clients"][place]
        for matrix, names in (
            (partial.active, client["assigned_active"]),
            (partial.standby, client["assigned_standby"]),
        ):
            matrix[at, [application.row_of[task] for task in _tasks_of(names)]] = True
    return partial


def _by_client(assignment: StreamsAssignment) -> dict[str, Any]:
    def names(tasks: Any) -> list[str]:
        return [name_of(assignment.task_ids[row]) for row in np.flatnonzero(tasks).tolist()]

    return {
        str(process_id): {"active": names(assignment.active[at]), "standby": names(assignment.standby[at])}
        for at, process_id in enumerate(assignment.process_ids)
    }


def _assigned(given: Mapping[str, Any]) -> Any:
    assign = STREAMS_ASSIGNORS[given["assignor"]].assign
    tasks = StreamsTasks(_tasks_of(given["tasks"]), _tasks_of(given["stateful_tasks"]))
    assignment = assign(_clients(given), tasks, _options(given), _partitions(given))
    return {"assignment": _by_client(assignment), "probing_rebalance_needed": assignment.probing_rebalance}


def _with_standbys(given: Mapping[str, Any]) -> Any:
    application = _application(given)
    partial = _partial(given, application)
    POLICIES[given["assignor"]].place(application, partial, _options(given))
    return {"assignment": _by_client(application.answer(partial, probing_rebalance=False))}


def _by_racks(given: Mapping[str, Any]) -> Any:
    application = _application(given)
    partial, options = _partial(given, application), _options(given)
    racks = rack_aware(application, options, _partitions(given))
    answer: dict[str, Any] = {"can_enable": racks is not None}
    if racks is not None:
        if given["assignor"] == "rack_aware_active":
            rows, costs = application.rows(_tasks_of(given["tasks"])), _costs(options)
            answer["cost_before"] = racks.active_cost(partial, rows, costs[0])
            answer["cost"] = racks.optimise_active(partial, rows, costs)
        else:
            answer["cost_before"], answer["cost"] = _optimise_standbys(racks, partial, options)
    return {"assignment": _by_client(application.answer(partial, probing_rebalance=False)), **answer}


def _costs(options: StreamsOptions) -> tuple[int, int]:
    return (
        1 if options.traffic_cost is None else options.traffic_cost,
        0 if options.non_overlap_cost is None else options.non_overlap_cost,
    )


def _optimise_standbys(racks: RackAware, partial: PartialAssignment, options: StreamsOptions) -> tuple[int, int]:
    costs = _costs(options)
    tag_values_of = BY_TAGS.client_tag_values if options.rack_aware_assignment_tags else None
    tags = None if tag_values_of is None else tag_values_of(racks.application)
    return racks.standby_cost(partial, costs[0]), racks.optimise_standbys(partial, costs, tags)


ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "streams_high_availability": _assigned,
    "streams_sticky": _assigned,
    "streams_standby": _with_standbys,
    "streams_rack_aware": _by_racks,
}
