"""Batches of plans that Kafka never completes: `completes` is false for these, by the rule of the release."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import orjson
import pytest

from app.api.models.clusters import SnapshotRequest
from app.core.kafka_versions import Controller, release_of
from app.core.model import Cluster, unpadded
from app.formats.snapshots import snapshot_json
from app.services.limits import Limits
from app.services.plans import Allowance, as_json
from app.services.reassignment import READER
from app.services.reassignment.problem.resolve import resolve
from app.services.reassignment.reports.report import answer
from app.services.reassignment.solve import solve
from tests.core.reassignment.test_completion import never_completes

KINDS: Mapping[str, Mapping[str, Any]] = {
    "higher factor": {"replication_factor": {"a": 4}},
    "lower factor": {"replication_factor": {"a": 2, "b": 2}},
    "factor 1": {"replication_factor": {"b": 1}},
    "removed broker": {"remove_brokers": [1]},
    "offline replicas moved": {"fix_offline_replicas": True},
    "balance": {"balance": {"replicas": "tight"}},
    "one move a broker and batch": {"remove_brokers": [0], "batches": {"max_moves_in_per_broker": 1}},
    "added brokers": {"add_brokers": [{"id": 90, "rack": "r0"}], "batches": {"max_partitions": 2}},
}
THROTTLED = {"batches": {"throttle_bytes_per_s": 1000}}
FENCED = SnapshotRequest.model_validate(
    {
        "cluster": "c",
        "controller": "kraft",
        "brokers": [{"id": id_, "rack": "abcab"[id_]} | ({"fenced": True} if id_ == 2 else {}) for id_ in range(5)],
        "topics": [
            {
                "name": "t",
                "partitions": [{"partition": 0, "replicas": [0, 1, 2], "leader": 0, "isr": [0, 1], "size_bytes": 10}],
            }
        ],
    }
).core()
RELEASES = (*(pytest.param(release, marks=pytest.mark.long) for release in ("3.0", "3.7")), "4.1", "4.4")


def random_cluster(random: Random, *, is_kraft: bool) -> Cluster:
    """Seven brokers of which two are down: one fenced, one not listed; their replicas are in no ISR but the last."""
    down = set(random.sample(range(7), 2))
    fenced = random.choice(sorted(down))
    brokers = [
        {"id": broker, "rack": f"r{broker % 3}"} | ({"fenced": True} if broker == fenced else {})
        for broker in range(7)
        if broker == fenced or broker not in down
    ]

    def partition(number: int) -> dict[str, Any]:
        replicas = random.sample(range(7), 3)
        live = [broker for broker in replicas if broker not in down]
        isr = random.sample(live, random.randint(1, len(live))) if live else replicas[:1]
        return {"partition": number, "replicas": replicas, "isr": isr} | ({"leader": isr[0]} if live else {})

    topics = [{"name": name, "partitions": [partition(number) for number in range(6)]} for name in ("a", "b")]
    kind = {"controller": "kraft"} if is_kraft else {}
    return SnapshotRequest.model_validate({"cluster": "c", "brokers": brokers, "topics": topics} | kind).core()


def planned(cluster: Cluster, body: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[Sequence[Any]]]:
    """The answer, and of each batch its steps: the partition, and its replicas before and after."""
    request = READER.validate_python({"cluster": "c", "on_conflict": "relax", **body})
    problem = resolve(request, cluster, Allowance(Limits(), is_job=True), release_of(request.kafka_version, None))
    solution = solve(problem)
    steps = solution.steps
    before, after = (unpadded(problem.as_ids(lists)) for lists in (steps.before, steps.after))
    names = [problem.scope.name(row) for row in steps.rows.tolist()]
    every = list(zip(names, before, after, strict=True))
    batches = [every[start:stop] for start, stop in pairwise(steps.offsets.tolist())]
    return as_json(answer(problem, solution)), batches


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
def test_completes_is_false_exactly_where_the_rule_says_so(kind: str, release: str) -> None:
    """Of every batch, of clusters with a fenced broker and one that is not listed."""
    random = Random(f"{kind} {release}")
    seen = set()
    for _ in range(6):
        is_kraft = random.random() < 0.5
        cluster = random_cluster(random, is_kraft=is_kraft)
        document, batches = planned(
            cluster, {"batches": {"max_partitions": 1}, **KINDS[kind], "kafka_version": release}
        )
        live = {broker.id for broker in cluster.brokers if not broker.fenced} | {90}
        in_sync = {
            f"{topic.name}-{partition}": isr
            for topic in cluster.topics
            for partition, isr in zip(topic.partition_ids.tolist(), unpadded(topic.isr), strict=True)
        }
        full = str(release_of(release, None))
        controller: Controller | None = "kraft" if is_kraft else None
        for batch, steps in zip(document["batches"], batches, strict=True):
            never = any(
                never_completes(full, controller, (before, after), in_sync[name], live) for name, before, after in steps
            )
            assert (batch["completes"] is False) == never
            assert not never or batch["seconds"] is None
            seen.add(never)
        codes = {warning["code"] for warning in document["warnings"]}
        has_warning = bool(codes & {"waits_for_offline_replica", "no_in_sync_replica"})
        assert has_warning == any(batch["completes"] is False for batch in document["batches"])
    assert False in seen


@pytest.mark.parametrize(("release", "completes"), [("3.9", False), ("4.2", False), ("4.3", True), (None, True)])
def test_a_dead_replica_that_stays(release: str | None, completes: bool) -> None:
    """Replica 2 of [0, 1, 2] is fenced, and a fourth one is added: reported for Kafka 4.1 (KAFKA-19975)."""
    document, _ = planned(FENCED, {"replication_factor": {"t": 4}, "kafka_version": release} | THROTTLED)
    assert [batch["completes"] for batch in document["batches"]] == [completes]
    details = [w["detail"] for w in document["warnings"] if w["code"] == "waits_for_offline_replica"]
    assert bool(details) != completes
    assert all("fix_offline_replicas" in detail and "brokers 2," in detail for detail in details)
    fixed, _ = planned(
        FENCED, {"replication_factor": {"t": 4}, "fix_offline_replicas": True, "kafka_version": release} | THROTTLED
    )
    assert {batch["completes"] for batch in fixed["batches"]} == {True}


def test_no_live_replica_is_in_sync() -> None:
    """Kafka adds replicas for ever: there is no leader to copy them from."""
    members = orjson.loads(snapshot_json.write(FENCED))
    members["topics"][0]["partitions"][0] = {"partition": 0, "replicas": [2, 1], "isr": [2], "size_bytes": 10}
    document, _ = planned(snapshot_json.read(orjson.dumps(members)), {"replication_factor": {"t": 3}} | THROTTLED)
    copying = [batch for batch in document["batches"] if batch["moves_data"]]  # the list is reordered afterwards
    assert [(batch["completes"], batch["seconds"]) for batch in copying] == [(False, None)]
    (warning,) = [warning for warning in document["warnings"] if warning["code"] == "no_in_sync_replica"]
    assert "t-0" in warning["detail"]


def test_a_lower_factor_is_a_warning_of_a_plan_that_asks_for_it() -> None:
    """And a warning names `min.insync.replicas`, below which writes with acks=all are rejected."""
    members = orjson.loads(snapshot_json.write(FENCED))
    members["topics"][0]["configs"] = {"min.insync.replicas": "2"}
    cluster = snapshot_json.read(orjson.dumps(members))
    for factor, codes in ((1, {"factor_lowered", "below_min_isr"}), (2, set())):
        document, _ = planned(cluster, {"replication_factor": {"t": factor}})
        found = {warning["code"]: warning["detail"] for warning in document["warnings"]}
        assert found.keys() & {"factor_lowered", "below_min_isr"} == codes
        assert not codes or "fewer replicas than min.insync.replicas=2" in found["below_min_isr"]


@pytest.mark.parametrize(("brokers", "after"), [(3, [3]), (2, [2])])
def test_the_last_replica_in_sync_is_copied_before_it_goes(brokers: int, after: list[int]) -> None:
    """Also where the lower factor is that of a replica out of sync; if no broker may receive it, a warning says so."""
    partition = {"partition": 0, "replicas": [1, 2], "leader": 1, "isr": [1], "size_bytes": 10}
    cluster = SnapshotRequest.model_validate(
        {
            "cluster": "c",
            "brokers": [{"id": broker} for broker in range(1, brokers + 1)],
            "topics": [{"name": "t", "partitions": [partition]}],
        }
    ).core()
    document, batches = planned(cluster, {"replication_factor": {"t": 1}, "remove_brokers": [1]})
    assert [list_ for steps in batches for _, _, list_ in steps][-1] == after
    codes = {warning["code"] for warning in document["warnings"]}
    assert ("last_in_sync_replica_removed" in codes) == (after == [2])


@pytest.mark.parametrize("release", ["3.9", "4.1"])
def test_brokers_that_are_down_leave_in_one_step(release: str) -> None:
    """Kafka before 4.3 completes no list that still has one of them: fix_offline_replicas has no such list between."""
    for seed in range(20):
        cluster = random_cluster(Random(seed), is_kraft=True)
        document, batches = planned(cluster, {"fix_offline_replicas": True, "kafka_version": release})
        assert batches
        assert not any(batch["completes"] is False for batch in document["batches"])


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
def test_lists_that_never_complete_are_in_batches_of_their_own_at_the_end(kind: str, release: str) -> None:
    """So that all others are executed: Kafka rejects the next file while one is never complete."""
    random = Random(f"{kind} {release} at the end")
    for _ in range(6):
        cluster = random_cluster(random, is_kraft=True)
        body = {"batches": {"max_partitions": random.choice([1, 3, None])}, **KINDS[kind], "kafka_version": release}
        document, batches = planned(cluster, body)
        completes = [batch["completes"] is not False for batch in document["batches"]]
        never = {name for batch, is_complete in zip(batches, completes, strict=True) if not is_complete
                 for name, *_ in batch}  # fmt: skip
        first = completes.index(False) if never else len(batches)
        waiting = {name for batch in batches[first:] for name, *_ in batch}
        assert waiting == never
        assert all(name not in never for batch in batches[:first] for name, *_ in batch)
