"""Reassignments that choose log directories: files, rollbacks, limits at every step, and conflicts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np
import orjson
import pytest
from hypothesis import given

from app.core.kafka_versions import NEWEST
from app.core.model import NO_REPLICA, Broker, BrokerCapacity, Cluster, LogDirectory, padded
from app.errors import Failure
from app.errors.reassignments import (
    CapacityMissing,
    LogDirsMissing,
    LogDirsTooSmall,
    NoLogDirLeft,
    OfflineLogDir,
    UnknownBroker,
    UnknownLogDir,
)
from app.errors.requests import ConflictingFields, DuplicateLogDir, IllegalReassignment
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.syntax.quantities import byte_size, counted
from app.services.checks import HealthRequest, check_reassignment
from app.services.checks.health import LogDirOverLimit, health_of
from app.services.limits import Limits
from app.services.plans import Allowance, draft_plan
from app.services.reassignment import EXPORTS, PLANNER, one_batch
from app.services.reassignment.requests.parts import LimitsRequest
from app.store.records import NewPlan
from tests import draws as st
from tests.jbod import DISK_BYTES, jbod
from tests.profiles import costly
from tests.services.reassignments import MIB, topic
from tests.web.browser import words_of

Where = dict[tuple[str, int, int], str]
"""By topic, partition and broker, the path of a directory."""
CLUSTER = jbod()
PATHS = ["/data/d1", "/data/d2", "/data/d3"]


def plan(cluster: Cluster = CLUSTER, **request: Any) -> NewPlan:
    return draft_plan(PLANNER, PLANNER.restored(request), cluster, Limits())


def where(cluster: Cluster) -> Where:
    found = {}
    for one in cluster.topics:
        assert one.log_dirs is not None
        for partition, brokers, indices in zip(
            one.partition_ids.tolist(), one.replicas.tolist(), one.log_dirs.tolist(), strict=True
        ):
            for broker, index in zip(brokers, indices, strict=True):
                if broker != NO_REPLICA and index >= 0:
                    found[one.name, partition, broker] = cluster.log_dirs[broker][index].path
    return found


def sizes(cluster: Cluster) -> dict[tuple[str, int], int]:
    return {
        (one.name, partition): size
        for one in cluster.topics
        for partition, size in zip(one.partition_ids.tolist(), one.size_bytes.tolist(), strict=True)
    }


def executed(before: Where, document: bytes) -> tuple[Where, Where]:
    """Where replicas are while Kafka executes a file (both copies), and after it; `any` keeps the directory."""
    after = dict(before)
    during = dict(before)
    for partition in orjson.loads(document)["partitions"]:
        of_it = {
            broker
            for topic, number, broker in before
            if (topic, number) == (partition["topic"], partition["partition"])
        }
        listed = dict(zip(partition["replicas"], partition["log_dirs"], strict=True))
        for broker in of_it - listed.keys():
            del after[partition["topic"], partition["partition"], broker]
        for broker, log_dir in listed.items():
            key = partition["topic"], partition["partition"], broker
            if log_dir != "any":
                after[key] = log_dir
                during[*key[:2], -broker if key in before else broker] = log_dir
            else:
                assert key in before
    return during, after


def used(found: Where, of: Mapping[tuple[str, int], int]) -> dict[tuple[int, str], int]:
    totals: dict[tuple[int, str], int] = {}
    for (name, partition, broker), path in found.items():
        totals[abs(broker), path] = totals.get((abs(broker), path), 0) + of[name, partition]
    return totals


def batch_files(of: NewPlan, *, is_inverse: bool = False) -> list[bytes]:
    numbers = range(1, len(of.answer["batches"]) + 1)  # type: ignore[arg-type] # a list in JSON
    return [one_batch(of, number, is_inverse) for number in (reversed(numbers) if is_inverse else numbers)]


@pytest.mark.long
@pytest.mark.parametrize(
    "request_",
    [
        {"log_dirs": {"drain": {"101": ["/data/d1"]}}, "batches": {"max_disk_share": 0.7}},
        {"log_dirs": {"drain": {"101": ["/data/d1"], "104": ["/data/d2", "/data/d3"]}}, "remove_brokers": [105]},
        {"log_dirs": {"balance": "tight"}, "batches": {"max_disk_share": 0.8}, "remove_brokers": [105]},
        {"log_dirs": {"balance": {"tolerance": 0.2}, "drain": {"108": ["/data/d2"]}}, "leaders_only": True},
    ],
)
def test_files_lead_to_the_directories_within_limits_and_back(request_: dict[str, Any]) -> None:
    """Batch by batch no directory is above its share, drained ones end empty, and rollbacks restore everything."""
    made = plan(**request_)
    start = now = where(CLUSTER)
    before = used(start, sizes(CLUSTER))
    share = request_.get("batches", {}).get("max_disk_share", 1)
    for document in batch_files(made):
        during, now = executed(now, document)
        for directory, size in used(during, sizes(CLUSTER)).items():
            # One that is above its share already receives nothing.
            assert size <= max(DISK_BYTES * share, before.get(directory, 0))
        before = used(now, sizes(CLUSTER))
    for broker, paths in request_["log_dirs"].get("drain", {}).items():
        assert not {path for (_, _, holder), path in now.items() if holder == broker} & set(paths)
    assert executed(start, EXPORTS["reassignment"](made, lambda: CLUSTER))[1] == now
    reported: Any = made.answer["log_dirs"]
    ends = used(now, sizes(CLUSTER))
    for broker in reported["brokers"]:
        for one in broker["log_dirs"]:
            assert one["bytes_after"] == ends.get((broker["broker"], one["path"]), 0)
    back = now
    for document in batch_files(made, is_inverse=True):
        back = executed(back, document)[1]
    assert back == start
    assert executed(now, EXPORTS["rollback"](made, lambda: CLUSTER))[1] == start


def test_a_drain_moves_what_is_there_and_nothing_else() -> None:
    made = plan(log_dirs={"drain": {"101": ["/data/d1"]}})
    log_dirs: Any = made.answer["log_dirs"]
    assert (log_dirs["moved_replicas"], log_dirs["optimal"]) == (22, True)
    assert (
        log_dirs["moved_bytes"]
        == log_dirs["lower_bound_bytes"]
        == log_dirs["brokers"][0]["log_dirs"][0]["bytes_before"]
    )
    assert "between log directories" in made.summary


@pytest.mark.long
@pytest.mark.parametrize(
    "log_dirs", [{"balance": "tight"}, {"drain": {"101": ["/data/d1"]}}, {"balance": {"tolerance": 0.05}}]
)
def test_every_text_of_a_plan_of_directories_states_the_moves(log_dirs: Mapping[str, Any]) -> None:
    """None of them says that nothing moves or changes, as its lists do not."""
    made = plan(log_dirs=log_dirs)
    moved: Any = made.answer["log_dirs"]
    words = f"{moved['moved_replicas']} replicas moved between log directories, {byte_size(moved['moved_bytes'])}."
    with ZipFile(BytesIO(EXPORTS["batches"](made, lambda: CLUSTER))) as archive:
        readme = archive.read("README.txt").decode()
    texts = [readme, *(EXPORTS[name](made, lambda: CLUSTER).decode() for name in ("text", "markdown"))]
    for text in texts:
        assert words in text
        assert not re.search("(?i)nothing (?:moves|changes|copied)|no replica moves|0 replicas, 0 B", text)
    batches: Any = made.answer["batches"]
    for number, batch in enumerate(batches, start=1):
        within = f"{counted(batch['log_dir_moves'], 'replica')} between log directories"
        assert f"{number:02d}-execute.json  {within}, {byte_size(batch['log_dir_moved_bytes'])}" in readme
    assert made.title == "Move replicas between log directories of nine"
    assert made.summary.startswith(f"moves {moved['moved_replicas']} replicas between log directories, ")
    proof = words_of("movement", made.answer["certificate"], moved)
    assert f"{moved['moved_replicas']} replicas, {byte_size(moved['moved_bytes'])}, between log directories" in proof


@pytest.mark.parametrize(
    ("replicas", "request_", "title"),
    [
        ([101, 102], {}, "Move replicas between log directories and repair the racks of nine"),
        ([101, 104], {"replicas": "tight"}, "Move replicas between log directories and rebalance nine"),
    ],
)
def test_a_title_says_what_is_changed_beside_directories(
    replicas: list[int], request_: Mapping[str, Any], title: str
) -> None:
    """A disk is drained, and a partition whose replicas are in one rack is repaired as well."""
    name = next(one.name for one in CLUSTER.topics if one.replicas.shape[1] == 2)
    lists = {one.name: one.replicas.copy() for one in CLUSTER.topics}
    lists[name][0, :2] = replicas
    topics = tuple(replace(one, replicas=lists[one.name], isr=lists[one.name]) for one in CLUSTER.topics)
    balance = {"balance": request_} if request_ else {}
    made = plan(replace(CLUSTER, topics=topics), log_dirs={"drain": {"109": ["/data/d1"]}}, **balance)
    assert made.title == title


def test_without_log_dirs_files_and_answers_have_none() -> None:
    made = plan(remove_brokers=[105])
    assert "log_dirs" not in made.answer
    assert "log_dirs" not in made.request
    assert b"log_dirs" not in EXPORTS["reassignment"](made, lambda: CLUSTER)


def placed_elsewhere(now: Where, document: bytes) -> bytes:
    """A file without directories as Kafka executes it: a new replica is in a directory that no plan has chosen."""
    listed = orjson.loads(document)
    for one in listed["partitions"]:
        there = [(one["topic"], one["partition"], broker) in now for broker in one["replicas"]]
        one["log_dirs"] = ["any" if is_there else "/elsewhere" for is_there in there]
    return orjson.dumps(listed)


def test_a_rollback_without_log_dirs_names_the_directories_that_replicas_left() -> None:
    """Else Kafka creates them in the directory with the fewest partitions."""
    made = plan(remove_brokers=[105, 108])
    start = now = where(CLUSTER)
    for document in batch_files(made):
        assert b"log_dirs" not in document
        now = executed(now, placed_elsewhere(now, document))[1]
    assert "/elsewhere" in now.values()
    back = now
    for document in batch_files(made, is_inverse=True):
        back = executed(back, document)[1]
    assert back == start
    assert executed(now, EXPORTS["rollback"](made, lambda: CLUSTER))[1] == start


def test_a_rollback_names_no_directory_where_there_is_no_choice() -> None:
    """Brokers have one, or the one that a replica left is offline."""
    one = jbod(1)
    assert b"log_dirs" not in EXPORTS["rollback"](plan(one, remove_brokers=[105]), lambda: one)
    disks = {broker: (replace(its[0], is_offline=True), *its[1:]) for broker, its in CLUSTER.log_dirs.items()}
    broken = replace(CLUSTER, log_dirs=disks)
    rollback = orjson.loads(EXPORTS["rollback"](plan(broken, remove_brokers=[105]), lambda: broken))
    named = {path for partition in rollback["partitions"] for path in partition["log_dirs"]}
    assert named == {"any", "/data/d2", "/data/d3"}


def two_disks() -> Cluster:
    """Broker 1 has two disks of 10 GiB with 9 GiB each; broker 2 has a partition of 1.5 GiB."""
    gib = 1024 * MIB
    log_dirs = {broker: tuple([LogDirectory(path, 10 * gib) for path in ("/d1", "/d2")]) for broker in (1, 2)}
    full = replace(topic("full", [[1], [1]], [9 * gib, 9 * gib]), log_dirs=padded([[0], [1]]))
    small = replace(topic("small", [[2]], [3 * gib // 2]), log_dirs=padded([[0]]))
    return Cluster("c", (Broker(1, "a"), Broker(2, "a")), (full, small), log_dirs=log_dirs)


def test_two_gib_free_in_all_and_no_place_for_one_and_a_half() -> None:
    with pytest.raises(LogDirsTooSmall) as caught:
        plan(two_disks(), log_dirs={}, pins=[{"topic": "small", "partition": 0, "replicas": [1]}])
    detail = caught.value.detail
    assert "broker 1 have 2.0 GiB free in all, 1.0 GiB at most in one, and no place for small-0 of 1.5 GiB" in detail
    conflict: Any = caught.value.context["conflict"]
    assert [one["partition"] for one in conflict if one["constraint"] == "replica"] == ["full-0", "full-1", "small-0"]
    relaxed = plan(
        two_disks(), log_dirs={}, pins=[{"topic": "small", "partition": 0, "replicas": [1]}], on_conflict="relax"
    )
    given_up: Any = relaxed.answer["relaxed"]
    assert [one["constraint"] for one in given_up] == ["log_dirs"]


@costly(40)
@given(st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=3), min_size=1, max_size=4), st.integers(1, 6))
def test_a_replica_is_placed_where_a_directory_has_place_for_it(free: list[list[int]], size: int) -> None:
    """Of a removed broker: on any broker with a directory of its size, if there is one; otherwise the set is named."""
    log_dirs = {
        broker: tuple([LogDirectory(f"/d{n}", each) for n, each in enumerate(of)]) for broker, of in enumerate(free)
    }
    last = len(free)
    log_dirs[last] = (LogDirectory("/d0", 10),)
    one = replace(topic("t", [[last]], [size]), log_dirs=padded([[0]]))
    cluster = Cluster("c", tuple([Broker(broker, "a") for broker in range(last + 1)]), (one,), log_dirs=log_dirs)
    if size > max(map(max, free)):
        with pytest.raises(LogDirsTooSmall, match="t-0 of"):
            plan(cluster, log_dirs={}, remove_brokers=[last])
        return
    made = plan(cluster, log_dirs={}, remove_brokers=[last])
    [placed] = made.placements
    certificate: Any = made.answer["certificate"]
    assert max(free[placed.replicas[0, 0]]) >= size
    assert certificate["lower_bound_bytes"] == certificate["moved_bytes"] == size


def test_brokers_without_place_are_avoided_and_named() -> None:
    """The added broker takes the two replicas that its two directories have place for, of the three of its share."""
    gib, balance = 1024 * MIB, {"replicas": "tight"}
    log_dirs: dict[int, tuple[LogDirectory, ...]] = {broker: (LogDirectory("/d1", 100 * gib),) for broker in (1, 2)}
    log_dirs[3] = tuple([LogDirectory(path, 5 * gib) for path in ("/d1", "/d2")])
    current, sizes = [[1]] * 4 + [[2]] * 5, [3 * gib] * 9
    t = replace(topic("t", current, sizes), log_dirs=padded([[0]] * 9))
    cluster = Cluster("c", tuple([Broker(broker, "a") for broker in (1, 2, 3)]), (t,), log_dirs=log_dirs)
    made = plan(cluster, log_dirs={}, balance=balance)
    warnings: Any = made.answer["warnings"]
    certificate: Any = made.answer["certificate"]
    [placed] = made.placements
    assert np.bincount(placed.replicas[:, 0]).tolist() == [0, 4, 3, 2]
    assert certificate["lower_bound_bytes"] <= certificate["moved_bytes"] == 2 * 3 * gib
    assert [list(one["brokers"]) for one in warnings if one["code"] == "log_dirs_avoided"] == [[3]]
    ample = plan(replace(cluster, log_dirs={**log_dirs, 3: log_dirs[1]}), log_dirs={}, balance=balance)
    assert np.bincount(ample.placements[0].replicas[:, 0]).tolist() == [0, 3, 3, 3]


@pytest.mark.parametrize(
    ("log_dirs", "failure", "path", "words"),
    [
        ({"drain": {"101": ["/data/d9"]}}, UnknownLogDir, ("log_dirs", "drain", "101", 0), "it has /data/d1, /data/d2"),
        ({"drain": {"101": PATHS}}, NoLogDirLeft, ("log_dirs", "drain", "101"), "none is left"),
        ({"drain": {"101": ["/data/d1"] * 2}}, DuplicateLogDir, ("log_dirs", "drain", "101", 1), "listed twice"),
        ({"drain": {"102": ["/data/d2"]}}, OfflineLogDir, ("log_dirs", "drain", "102", 0), "is offline"),
        ({"drain": {"102": ["/data/d1", "/data/d3"]}}, NoLogDirLeft, ("log_dirs", "drain", "102"), "1 offline"),
        (
            {"total_bytes": {"101": {"/x": 5}}},
            UnknownLogDir,
            ("log_dirs", "total_bytes", "101", "/x"),
            "no log directory",
        ),
    ],
)
def test_what_cannot_be(log_dirs: dict[str, Any], failure: type[Failure], path: tuple[Any, ...], words: str) -> None:
    """Of broker 102 the second directory is offline."""
    listed = CLUSTER.log_dirs[102]
    offline = (listed[0], replace(listed[1], is_offline=True), listed[2])
    with pytest.raises(failure) as caught:
        plan(replace(CLUSTER, log_dirs={**CLUSTER.log_dirs, 102: offline}), log_dirs=log_dirs)
    assert caught.value.path == path
    assert words in caught.value.detail


def test_a_snapshot_without_directories() -> None:
    with pytest.raises(LogDirsMissing):
        plan(replace(CLUSTER, log_dirs={}), log_dirs={"balance": "tight"})


def test_sizes_of_directories_are_stated_or_parts_of_the_capacity() -> None:
    """The request overrides the snapshot; unknown sizes are equal parts of the rest of the broker's capacity."""
    unsized = jbod(total_bytes=None)
    brokers = tuple([replace(one, capacity=BrokerCapacity(disk_bytes=90_000_000)) for one in unsized.brokers])
    made = plan(replace(unsized, brokers=brokers), log_dirs={"total_bytes": {"*": {"/data/d1": 50_000_000}}})
    log_dirs: Any = made.answer["log_dirs"]
    assert [one["total_bytes"] for one in log_dirs["brokers"][0]["log_dirs"]] == [50_000_000, 20_000_000, 20_000_000]


def test_the_commands_throttle_moves_between_directories() -> None:
    made = plan(log_dirs={"drain": {"101": ["/data/d1"]}}, batches={"throttle_bytes_per_s": 1_000_000})
    with ZipFile(BytesIO(EXPORTS["batches"](made, lambda: CLUSTER))) as archive:
        readme = archive.read("README.txt").decode()
        rollback = orjson.loads(archive.read("rollback.json"))
    assert "22 replicas moved between log directories, 11.0 MiB." in readme
    assert "01-execute.json --execute --throttle 1000000 --replica-alter-log-dirs-throttle 1000000" in readme
    assert "Nothing" not in readme
    assert {path for one in rollback["partitions"] for path in one["log_dirs"]} == {"any", "/data/d1"}
    manifest = EXPORTS["kubernetes"](made, lambda: CLUSTER).decode()
    assert "throttle 1000000\n    log_dirs yes\n" in manifest
    batches: Any = made.answer["batches"]
    assert sum(batch["log_dir_moves"] for batch in batches) == 22
    assert all(batch["seconds"] > 0 for batch in batches)


def test_a_check_finds_directories_that_a_file_cannot_name() -> None:
    """Of another broker, or offline; `any` and directories of brokers that are unknown are accepted."""
    listed = {1: (LogDirectory("/d1"), LogDirectory("/d2", is_offline=True)), 2: (LogDirectory("/e"),)}
    cluster = replace(two_disks(), log_dirs=listed)
    given = [
        PartitionReassignment("full", 0, (1,), ("/e",)),
        PartitionReassignment("full", 1, (1,), ("/d2",)),
        PartitionReassignment("small", 0, (2,), ("any",)),
    ]
    with pytest.raises(IllegalReassignment) as caught:
        check_reassignment(cluster, Reassignment(tuple(given)))
    faults: Any = caught.value.context["errors"]
    assert [(fault["code"], fault["pointer"], fault["value"]) for fault in faults] == [
        ("unknown_log_dir", "/reassignment/partitions/0/log_dirs/0", "/e"),
        ("offline_log_dir", "/reassignment/partitions/1/log_dirs/0", "/d2"),
    ]
    assert "broker 1 has no log directory /e: it has /d1, /d2" in faults[0]["detail"]
    assert check_reassignment(replace(cluster, log_dirs={}), Reassignment(tuple(given))).violations is not None


def test_the_largest_numbers_of_a_request() -> None:
    """Sizes of directories up to the largest of 64 bits, and replicas whose sum is beyond a model's limit."""
    most = 2**63 - 1
    cluster = two_disks()
    huge = replace(topic("huge", [[2], [2], [2]], [2**59 + 1, 2**59, 2**58]), log_dirs=padded([[0], [0], [0]]))
    made = plan(
        replace(cluster, topics=(*cluster.topics[:1], huge)),
        log_dirs={"balance": "tight", "total_bytes": {"*": {"/d1": most, "/d2": most}, "2": {"/d1": most}}},
        on_conflict="relax",
    )
    log_dirs: Any = made.answer["log_dirs"]
    assert [one["total_bytes"] for one in log_dirs["brokers"][1]["log_dirs"]] == [2**52, 2**52]


def ends_of(made: NewPlan) -> dict[tuple[int, str], tuple[int, int]]:
    """By broker and path the bytes afterwards and the limit of each directory."""
    reported: Any = made.answer["log_dirs"]
    return {
        (broker["broker"], one["path"]): (one["bytes_after"], one["limit_bytes"])
        for broker in reported["brokers"]
        for one in broker["log_dirs"]
    }


@pytest.mark.parametrize(
    "request_",
    [
        {"limits": {"log_dirs": 0.5}},
        pytest.param({"limits": {"log_dirs": 0.4}, "objective": "relieve"}, marks=pytest.mark.long),
        {"limits": {"log_dirs": {"109": {"/data/d1": 0.2, "*": 0.9}, "*": {"/data/d2": 0.7}}}, "remove_brokers": [105]},
    ],
)
def test_limits_of_directories_hold_in_the_end_and_in_every_batch(request_: dict[str, Any]) -> None:
    """Replicas leave directories above their limits; of those that are above, none gets more on the way."""
    made = plan(**request_)
    limits = {directory: limit for directory, (_, limit) in ends_of(made).items()}
    now = where(CLUSTER)
    before = used(now, sizes(CLUSTER))
    assert any(size > limits[directory] for directory, size in before.items())
    for document in batch_files(made):
        during, now = executed(now, document)
        for directory, size in used(during, sizes(CLUSTER)).items():
            assert size <= max(limits.get(directory, size), before.get(directory, 0))
        before = used(now, sizes(CLUSTER))
    assert all(end <= limit for end, limit in ends_of(made).values())
    assert all(size <= limits[directory] for directory, size in before.items() if directory in limits)


def test_shares_of_a_directory_then_of_its_broker_then_of_its_path_are_its_limit() -> None:
    shares = {"109": {"/data/d1": 0.5, "*": 0.9}, "*": {"/data/d1": 0.8, "*": 1.0}}
    ends = ends_of(plan(limits={"log_dirs": shares}))
    limits = {place: limit / DISK_BYTES for place, (_, limit) in ends.items() if place[0] in (108, 109)}
    # Free space beside other files limits as well: 10 MB more than there is.
    assert limits[109, "/data/d1"] == 0.5
    assert limits[109, "/data/d2"] <= 0.9
    assert limits[108, "/data/d1"] == 0.8


@pytest.mark.long
def test_relieving_moves_to_other_brokers_what_the_directories_of_one_cannot_have() -> None:
    """With 40 % of three disks of 20 MB, 24 MB, brokers 108 and 109 have too much; no other change is made."""
    with pytest.raises(LogDirsTooSmall) as short:
        plan(limits={"log_dirs": 0.4})
    assert short.value.path == ("limits", "log_dirs")
    made: Any = plan(limits={"log_dirs": 0.4}, objective="relieve").answer
    assert made["certificate"]["minimised"] == "cost"
    assert made["certificate"]["lower_bound_cost"] > 0
    senders = {row["broker"] for row in made["movement"] if row["replicas_out"]}
    assert senders <= {108, 109}


def test_health_names_the_directories_above_their_limits() -> None:
    request = HealthRequest(limits=LimitsRequest(log_dirs=0.5))
    health = health_of(CLUSTER, request, Allowance(Limits(), is_job=True), NEWEST)
    totals = used(where(CLUSTER), sizes(CLUSTER))
    half = DISK_BYTES // 2
    assert health.log_dirs_over_limit == [
        LogDirOverLimit(broker, path, size, half) for (broker, path), size in sorted(totals.items()) if size > half
    ]
    assert health.log_dirs_over_limit
    assert health_of(CLUSTER, HealthRequest(), Allowance(Limits(), is_job=True), NEWEST).log_dirs_over_limit is None


@pytest.mark.parametrize(
    ("log_dirs", "failure", "path"),
    [
        ({"109": {"/data/d9": 0.2}}, UnknownLogDir, ("109", "/data/d9")),
        ({"*": {"/data/d9": 0.2}}, UnknownLogDir, ("*", "/data/d9")),
        ({"999": {"/data/d1": 0.2}}, UnknownBroker, ("999",)),
    ],
)
def test_limits_of_directories_that_do_not_exist_are_named(
    log_dirs: Any, failure: type[Failure], path: tuple[str, ...]
) -> None:
    with pytest.raises(failure) as failed:
        plan(limits={"log_dirs": log_dirs})
    assert failed.value.path == ("limits", "log_dirs", *path)


def test_limits_of_directories_need_directories_and_their_sizes() -> None:
    without = replace(CLUSTER, log_dirs={}, topics=tuple(replace(one, log_dirs=None) for one in CLUSTER.topics))
    with pytest.raises(LogDirsMissing) as missing:
        plan(without, limits={"log_dirs": 0.5})
    assert missing.value.path == ("limits", "log_dirs")
    with pytest.raises(CapacityMissing) as unknown:
        plan(jbod(total_bytes=None), limits={"log_dirs": 0.5})
    assert unknown.value.path == ("limits", "log_dirs")
    stated = {"*": dict.fromkeys(PATHS, DISK_BYTES)}
    assert ends_of(plan(jbod(total_bytes=None), limits={"log_dirs": 0.5}, log_dirs={"total_bytes": stated}))
    with pytest.raises(ConflictingFields):
        plan(limits={"log_dirs": 0.5, "disk": 0.5})
