"""KafkaBench: Rackplan's solutions of the instances, and those of Kafka's own code, judged by `rackplan.bench`.

Kafka's own code is its placer for a reassignment (`kafka-reassign-partitions --generate`), the cooperative sticky
assignor for a group, and the default assignor for Streams.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from app.api.models.clusters import SnapshotRequest
from app.core.jvm import JavaRandom
from app.core.model import Broker
from app.core.replicas import striped
from app.core.replicas.generate_movement import placing_order
from app.errors import Json
from app.services import groups, reassignment, streams
from app.services.limits import Limits
from app.services.plans import Kind, draft_plan, plan_json
from benchmarks.measure import Result, interleaved
from rackplan import bench

Document = Mapping[str, Any]
SEED = 1
"""Of Kafka's own placer, which the tool draws at random."""


def run() -> Iterator[Result]:
    """Solve every instance that Rackplan plans: a line with its values beside the best known and the bound."""
    for entry in bench.entries().values():
        instance, found = bench.instance(entry.name), list[Document]()
        if instance["rules"]["form"] in RACKPLAN:
            times = interleaved({"plan": partial(_solve, instance, found)}, runs=1, warm_ups=0)
            theirs = kafka(instance)
            facts: dict[str, Json] = {
                "rackplan": result(instance, found[-1]),
                "kafka": None if theirs is None else result(instance, theirs),
                "best": list(entry.best),
                "bound": list(entry.bound),
            }
            yield Result("kafkabench", {"instance": entry.name}, times["plan"], facts=facts)


def result(instance: Document, solution: Document) -> Json:
    """The values of a solution, and the number of its violations."""
    score = bench.evaluate(instance, solution)
    return {"values": list(score.values), "violations": len(score.violations)}


def _solve(instance: Document, found: list[Document]) -> None:
    found.append(RACKPLAN[instance["rules"]["form"]](instance))


def planned(kind: Kind, instance: Document, **changed: Any) -> tuple[Any, Any]:
    """Our plan of an instance, and the cluster that it is made on."""
    cluster = SnapshotRequest.model_validate(instance["snapshot"]).core() if "snapshot" in instance else None
    on = {} if cluster is None else {"snapshot_id": "00000000-0000-0000-0000-000000000000"}
    request = kind.planner.reader.validate_python({**on, **instance["request"], **changed})
    return draft_plan(kind.planner, request, cluster, Limits()), cluster


def reassigned(instance: Document) -> Document:
    """Our reassignment, in Kafka's format."""
    plan, cluster = planned(reassignment.PLAN_KIND, instance)
    document: Document = json.loads(reassignment.PLAN_KIND.write(plan, "reassignment", lambda: cluster))
    return document


def _assigned(instance: Document, assignor: str = "optimal") -> Document:
    """The assignment of an assignor once the group has settled."""
    plan, _ = planned(groups.PLAN_KIND, instance, assignor=assignor)
    return {"assignment": json.loads(plan_json(plan))["assignment"]}


def _tasks(instance: Document, *, is_best: bool = True) -> Document:
    """The default assignor's active tasks, with its standbys or the best ones."""
    answer = json.loads(plan_json(planned(streams.PLAN_KIND, instance)[0]))
    best = answer["best_standbys"]["standby"] if is_best else {}
    return {
        "assignment": {
            client: {"active": each["active"], "standby": best.get(client, []) if is_best else _standbys(each)}
            for client, each in answer["assignment"].items()
        }
    }


def _standbys(tasks: Document) -> list[str]:
    """The standbys of a client that are not warm-ups, which are there for a while only."""
    return [task for task in tasks["standby"] if task not in tasks["warmup"]]


def _generated(instance: Document) -> Document:
    """The proposal of Kafka's own tool on the brokers that may receive replicas."""
    racks, receivers = instance["rules"]["racks"], instance["rules"]["receivers"]
    brokers = striped.Racks.of([Broker(broker, racks[str(broker)]) for broker in sorted(receivers)])
    topics = {
        topic["name"]: [len(each["replicas"]) for each in topic["partitions"]]
        for topic in instance["snapshot"]["topics"]
    }
    random = JavaRandom(SEED)
    return {
        "partitions": [
            {"topic": topic.name, "partition": number, "replicas": replicas}
            for topic in placing_order(topics)
            for number, replicas in enumerate(striped.place_on(brokers, topic, random=random).replicas.tolist())
        ]
    }


RACKPLAN: Mapping[str, Callable[[Document], Document]] = {
    "reassignment": reassigned,
    "group": _assigned,
    "streams": _tasks,
}
"""Our planner by the form of solutions."""


def kafka(instance: Document) -> Document | None:
    """The solution of Kafka's own code; None if it solves no problem of this kind."""
    rules = instance["rules"]
    if rules["form"] == "reassignment":
        return _generated(instance) if rules["receivers"] else None
    own = {"group": partial(_assigned, assignor="cooperative-sticky"), "streams": partial(_tasks, is_best=False)}
    return own[rules["form"]](instance) if rules["form"] in own else None
