"""A reassignment as files: they read back as the plan, and each batch's inverse undoes it."""

import csv
import hashlib
import io
import shlex
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pytest

from app.core.model import NO_REPLICA, Broker, Cluster, Cordon, Placement, padded
from app.errors import Json
from app.errors.requests import NotExportable
from app.formats.kafka_files import reassignment
from app.services.reassignment import EXPORTS, StoredSteps, one_batch
from app.store.records import NewPlan
from tests.formats.readers import leader_election, replica_assignment
from tests.services.reassignments import BATCHES, CLUSTER, PLACEMENTS, captured, kafkas_own, plan

Lists = Mapping[tuple[str, int], tuple[int, ...]]
README = """\
Reassignment of the cluster prod-eu
Plan 5eed

3 replicas (≥ 13.0 MiB) are copied and 3 dropped.
5 of 5 partitions differ; 3 preferred leaders change.
The size of 1 copied replica is unknown and not part of the bytes.
1 partition is new: kafka-topics --alter creates it first.
No file for kafka-reassign-partitions names it.

run.sh executes the batches with Kafka's tools, stops at the first failure, and goes on where it stopped:
  KAFKA_BOOTSTRAP=localhost:9092 bash run.sh
With --dry-run it prints what it would do; with --rollback it goes back. Its first lines list its settings.
To do by hand what it does:

Run these steps in order; complete each one before the next.

Create the new partitions:
  kafka-topics.sh --bootstrap-server localhost:9092 --alter --topic orders \\
    --partitions 3 \\
    --replica-assignment "$(cat new-partitions/orders.txt)"

Run the batches:
  01-execute.json  2 replicas, ≥ 12.0 MiB, 1 s at the throttle
  02-execute.json  1 replica, 1.0 MiB
  03-execute.json  1 partition reordered, nothing copied

each with these two commands; repeat the second one until all is complete:
  kafka-reassign-partitions.sh --bootstrap-server localhost:9092 --reassignment-json-file 01-execute.json --execute \
--throttle 50000000
  kafka-reassign-partitions.sh --bootstrap-server localhost:9092 --reassignment-json-file 01-execute.json --verify
The throttle is 47.7 MiB/s; --verify takes it away when the batch is complete.
No replication factor changes. If --execute has the option --disallow-replication-factor-change, Kafka 4.1
and later rejects a batch that would change one (KIP-860).

Let the preferred leaders lead, once all batches are complete:
  kafka-leader-election.sh --bootstrap-server localhost:9092 --election-type preferred --path-to-json-file \
leader-election.json

To go back, execute and verify the rollback file of each batch that was begun, the last one first, or
rollback.json for all of them at once:
  kafka-reassign-partitions.sh --bootstrap-server localhost:9092 --reassignment-json-file rollback.json --execute \
--additional --throttle 50000000
  kafka-reassign-partitions.sh --bootstrap-server localhost:9092 --reassignment-json-file rollback.json --verify
If a batch still runs, cancel it first: with its own file, and --cancel in place of --execute. Kafka never
completes a list that is to lose a replica which is still being added. --cancel alone is not enough: it restores
which brokers have replicas, but not their order, and with it not the preferred leaders. Where these change back,
they need an election again.
Partitions that were created stay: Kafka removes none.
"""


def written(name: str, of: NewPlan | None = None, cluster: Cluster = CLUSTER) -> bytes:
    return EXPORTS[name](plan() if of is None else of, lambda: cluster)


def lists(document: bytes) -> Lists:
    return {(p.topic, p.partition): p.replicas for p in reassignment.read(document.decode()).partitions}


def archive(of: NewPlan | None = None, cluster: Cluster = CLUSTER) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(written("batches", of, cluster))) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def lists_of(cluster: Cluster) -> dict[tuple[str, int], tuple[int, ...]]:
    return {
        (topic.name, partition): tuple(ids)
        for topic in cluster.topics
        for partition, ids in zip(topic.partition_ids.tolist(), topic.replicas.tolist(), strict=True)
    }


class TestExecuteAndRollback:
    def test_only_partitions_that_differ_and_are_there_are_named(self) -> None:
        assert lists(written("reassignment")) == {
            ("clicks", 0): (106, 101),
            ("clicks", 1): (106, 101),
            ("orders", 0): (101, 106),
            ("orders", 1): (107, 101),
        }

    def test_a_rollback_has_every_list_as_it_was_in_its_order(self) -> None:
        rollback = lists(written("rollback"))
        assert rollback == {its: lists_of(CLUSTER)[its] for its in lists(written("reassignment"))}

    def test_of_one_topic(self) -> None:
        one = replace(plan(), placements=PLACEMENTS[1:])
        assert {topic for topic, _ in lists(written("reassignment", one))} == {"orders"}
        assert {topic for topic, _ in lists(written("rollback", one))} == {"orders"}

    def test_where_nothing_moves_nothing_is_named(self) -> None:
        stays = plan([Placement("orders", 0, CLUSTER.topics[1].replicas)], [])
        assert lists(written("reassignment", stays)) == lists(written("rollback", stays)) == {}
        assert written("text", stays).startswith(b"Nothing changes: 4 partitions stay as they are.")

    def test_kafkas_own_proposal_and_its_way_back(self) -> None:
        cluster, own = captured(), kafkas_own()
        execute, rollback = lists(written("reassignment", own, cluster)), lists(written("rollback", own, cluster))
        assert sum(len(set(ids) - set(rollback[its])) for its, ids in execute.items()) == 195
        assert rollback == {its: ids for its, ids in lists_of(cluster).items() if its in execute}
        assert len(execute) == 116


class TestBatches:
    def test_an_archive(self) -> None:
        found = archive()
        assert list(found) == [
            "README.txt",
            *(f"0{number}-{what}.json" for number in (1, 2, 3) for what in ("execute", "rollback")),
            "rollback.json",
            "leader-election.json",
            "new-partitions/orders.txt",
            *("run.sh", "plan.txt", "execute-steps.txt", "rollback-steps.txt", "copies.txt", "created-partitions.txt"),
            "SHA256SUMS",
        ]
        assert found["README.txt"].decode() == README
        assert found["plan.txt"].decode() == "hash 5eed\nthrottle 50000000\nlog_dirs no\nadditional no\n"
        assert found["rollback-steps.txt"].decode() == "execute 03\nexecute 02\nexecute 01\n"
        assert found["created-partitions.txt"] == b"orders 3 " + found["new-partitions/orders.txt"]
        sums = (line.split("  ") for line in found["SHA256SUMS"].decode().splitlines())
        assert {name: digest for digest, name in sums} == {
            name: hashlib.sha256(content).hexdigest() for name, content in found.items() if name != "SHA256SUMS"
        }
        assert found["rollback.json"] == written("rollback")
        assert leader_election.read(found["leader-election.json"].decode()) == (
            ("clicks", 0),
            ("clicks", 1),
            ("orders", 1),
        )
        assert found["new-partitions/orders.txt"] == written("replica_assignment")

    def test_batches_one_after_another_make_the_plan_and_their_inverses_bring_back_what_was(self) -> None:
        found = archive()
        executed = dict(lists_of(CLUSTER))
        for number in (1, 2, 3):
            executed |= lists(found[f"0{number}-execute.json"])
        assert executed == {**lists_of(CLUSTER), **lists(written("reassignment"))}
        for number in (3, 2, 1):
            executed |= lists(found[f"0{number}-rollback.json"])
        assert executed == lists_of(CLUSTER)

    def test_the_same_plan_has_the_same_bytes(self) -> None:
        assert written("batches") == written("batches")

    def test_without_new_partitions_throttle_and_leaders_nothing_is_said_of_them(self) -> None:
        moved = plan([Placement("orders", 0, padded([[101, 106], [105, 101]]))], [BATCHES[0][1:], []], throttle=None)
        readme = archive(moved)["README.txt"].decode()
        for word in ("throttle", "kafka-topics", "kafka-leader-election", "new"):
            assert word not in readme

    def test_a_plan_that_merges_a_running_reassignment_adds_to_it(self) -> None:
        """Every --execute has --additional then; otherwise only a rollback's, which may meet a running batch."""
        merged = {"code": "merged_with_running_reassignment", "detail": "2 partitions"}
        of = plan()
        for answer, expected in ((of.answer, {"rollback.json"}), ({**of.answer, "warnings": [merged]}, None)):
            readme = archive(replace(of, answer=answer))["README.txt"].decode()
            executes = {
                words[words.index("--reassignment-json-file") + 1]: words
                for words in (shlex.split(line) for line in readme.splitlines() if "--execute " in line + " ")
                if words[0] == "kafka-reassign-partitions.sh"
            }
            assert list(executes) == ["01-execute.json", "rollback.json"]
            additional = {file for file, words in executes.items() if "--additional" in words}
            assert additional == (expected or set(executes))
            assert ("Do not --cancel the" in readme) == (expected is None)

    def test_partitions_alone_have_no_rollback(self) -> None:
        """Kafka rejects a file without partitions, so none is written and no command names one."""
        rows = [*CLUSTER.topics[1].replicas.tolist(), [106, 101]]
        found = archive(plan([Placement("orders", 0, padded(rows))], []))
        assert list(found)[:3] == ["README.txt", "new-partitions/orders.txt", "run.sh"]
        assert not any(name.endswith(".json") for name in found)
        readme = found["README.txt"].decode()
        assert "kafka-reassign-partitions.sh" not in readme
        assert "no rollback to execute" in readme

    def test_a_batch_by_its_number(self) -> None:
        found = archive()
        for number in (1, 2, 3):
            assert one_batch(plan(), number, False) == found[f"0{number}-execute.json"]
            assert one_batch(plan(), number, True) == found[f"0{number}-rollback.json"]
        with pytest.raises(NotExportable, match="batches 1 to 3; there is no batch 4"):
            one_batch(plan(), 4, False)
        with pytest.raises(NotExportable, match="moves nothing; there is no batch 1"):
            one_batch(plan(batches=[]), 1, False)


class TestNewPartitions:
    def test_the_argument_has_all_partitions_of_the_topic(self) -> None:
        found = replica_assignment.read(written("replica_assignment").decode().strip())
        assert found.tolist() == PLACEMENTS[1].replicas.tolist()

    def test_a_topic_that_cannot_be_exported_is_rejected(self) -> None:
        for placements, reason in (
            (PLACEMENTS[:1], "no topic of the plan gets new partitions"),
            ([Placement(t, 0, padded([[101]] * 3)) for t in ("clicks", "orders")], "name one of: clicks, orders"),
            ([Placement("orders", 0, padded([[101], [105, 101], [106]]))], "have several"),
            ([Placement("orders", 5, padded([[101, 105]]))], "lacks some"),
        ):
            with pytest.raises(NotExportable, match=reason):
                written("replica_assignment", plan(placements))


def test_tables_have_a_row_a_changed_partition() -> None:
    rows = list(csv.DictReader(io.StringIO(written("csv").decode(), newline="")))
    assert [(row["topic"], row["partition"], row["after"]) for row in rows] == [
        (placement.topic, str(partition), ";".join(map(str, ids)))
        for placement in PLACEMENTS
        for partition, ids in enumerate(placement.replicas.tolist())
    ]
    with pa.ipc.open_stream(written("arrow")) as stream:
        assert stream.read_all().num_rows == len(rows)
    assert written("markdown").decode().count("\n| orders-") == 3


def test_a_plan_of_no_snapshot_says_so() -> None:
    for name in EXPORTS.keys() - {"loads"}:  # which the answer has
        with pytest.raises(NotExportable, match="from no snapshot"):
            EXPORTS[name](plan(), lambda: None)


def test_a_topic_whose_ids_have_gaps_is_one_topic() -> None:
    gaps = replace(CLUSTER.topics[1], partition_ids=np.array([0, 4], np.int32))
    split = [Placement("orders", 0, padded([[106]])), Placement("orders", 4, padded([[105, 106]]))]
    cluster = replace(CLUSTER, topics=(gaps,))
    assert lists(written("reassignment", plan(split), cluster)) == {("orders", 0): (106,), ("orders", 4): (105, 106)}


def test_replicas_in_progress_roll_back_to_their_targets() -> None:
    """Kafka lists the target replicas first, then those being removed."""
    moving = replace(
        CLUSTER.topics[1],
        replicas=padded([[106, 101, 105], [105, 101]]),
        removing=padded([[105], []]),
    )
    cluster = replace(CLUSTER, topics=(moving,))
    moved = plan([Placement("orders", 0, padded([[107, 101], [105, 101]]))])
    assert lists(written("rollback", moved, cluster)) == {("orders", 0): (106, 101)}


@pytest.mark.parametrize(("after", "keeps"), [([2, 3, -1], True), ([2, 3, 1], False), ([2, -1, -1], False)])
def test_steps_that_change_a_replication_factor(after: list[int], keeps: bool) -> None:
    """KIP-860's option would make Kafka reject them, so that the archive does not name it."""
    one = np.zeros(1, np.int32)
    before = np.array([[1, 2, NO_REPLICA]], np.int32)
    steps = StoredSteps(("t",), one, one, before, np.array([after], np.int32), np.array([0, 1]), 0)
    assert steps.keeps_factors is keeps


def stated(made: NewPlan, version: str) -> NewPlan:
    """The plan of a request that states its release."""
    return replace(made, request={**made.request, "kafka_version": version})


class TestReadme:
    """The numbered steps of a plan that removes brokers, or whose lists have cordoned ones."""

    CORDONED = replace(CLUSTER, cordons={105: Cordon(is_whole=True, log_dirs=("/d1", "/d2")), 106: Cordon(True)})
    EXECUTION: Mapping[str, Json] = MappingProxyType(
        {
            "batches": [
                {"action": "cordon", "batch": None, "brokers": [105]},
                {"action": "execute", "batch": 1, "brokers": []},
                {"action": "uncordon", "batch": None, "brokers": [106]},
                {"action": "execute", "batch": 2, "brokers": []},
                {"action": "execute", "batch": 3, "brokers": []},
                {"action": "cordon", "batch": None, "brokers": [106]},
            ],
            "rollback": [
                {"action": "uncordon", "batch": None, "brokers": [105, 106]},
                *({"action": "execute", "batch": batch, "brokers": []} for batch in (3, 2, 1)),
                {"action": "cordon", "batch": None, "brokers": [106]},
            ],
            "at_once": [],
            "rollback_at_once": [
                {"action": "uncordon", "batch": None, "brokers": [105, 106]},
                {"action": "execute", "batch": 1, "brokers": []},
                {"action": "cordon", "batch": None, "brokers": [106]},
            ],
        }
    )

    def test_cordons_and_the_removal_are_numbered_steps(self) -> None:
        made = plan(throttle=None, removed=[105], execution=self.EXECUTION)
        text = archive(stated(made, "4.4.0"), self.CORDONED)["README.txt"].decode()
        begin = text.index("  1. Cordon broker 105")
        assert text[begin : text.index("Execute and verify a file")] == (
            """\
  1. Cordon broker 105: Kafka places nothing new there.
       kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type brokers --entity-name 105 \
--add-config 'cordoned.log.dirs=[/d1,/d2]'
     Check: kafka-configs.sh --bootstrap-server localhost:9092 --describe --entity-type brokers --entity-name 105
       prints cordoned.log.dirs
  2. Execute and verify 01-execute.json: 2 replicas, ≥ 12.0 MiB.
  3. Uncordon broker 106: Kafka 4.3.2 and later reject lists with a cordoned broker.
       kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type brokers --entity-name 106 \
--delete-config cordoned.log.dirs
     Check: kafka-configs.sh --bootstrap-server localhost:9092 --describe --entity-type brokers --entity-name 106
       prints no cordoned.log.dirs
     If the broker's own properties file has cordoned.log.dirs, --add-config cordoned.log.dirs= lifts it instead.
  4. Execute and verify 02-execute.json: 1 replica, 1.0 MiB.
  5. Execute and verify 03-execute.json: 1 partition reordered, nothing copied.
  6. Cordon broker 106: Kafka places nothing new there.
       kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type brokers --entity-name 106 \
--add-config 'cordoned.log.dirs=*'
     Check: kafka-configs.sh --bootstrap-server localhost:9092 --describe --entity-type brokers --entity-name 106
       prints cordoned.log.dirs

  7. Let the preferred leaders lead.
       kafka-leader-election.sh --bootstrap-server localhost:9092 --election-type preferred --path-to-json-file \
leader-election.json

  8. Verify that nothing is left on broker 105.
       kafka-log-dirs.sh --bootstrap-server localhost:9092 --describe --broker-list 105
     Check: every "partitions" is []
  9. Shut down broker 105, on its own machine.
       kafka-server-stop.sh
     Check: kafka-cluster.sh list-endpoints --bootstrap-server localhost:9092
       no longer lists 105
 10. Unregister broker 105.
       kafka-cluster.sh unregister --bootstrap-server localhost:9092 --id 105
     Check: kafka-cluster.sh list-endpoints --bootstrap-server localhost:9092 --include-fenced-brokers
       no longer lists 105

"""
        )
        assert text.endswith("""\
The rollback files have lists with cordoned brokers. To go back from the end, batch by batch:
 11. Uncordon brokers 105, 106: Kafka 4.3.2 and later reject lists with a cordoned broker.
       kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type brokers --entity-name 105 \
--delete-config cordoned.log.dirs
       kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type brokers --entity-name 106 \
--delete-config cordoned.log.dirs
     Check: kafka-configs.sh --bootstrap-server localhost:9092 --describe --entity-type brokers --entity-name 105
       prints no cordoned.log.dirs, and so for the others
     If the broker's own properties file has cordoned.log.dirs, --add-config cordoned.log.dirs= lifts it instead.
 12. Execute and verify 03-rollback.json.
 13. Execute and verify 02-rollback.json.
 14. Execute and verify 01-rollback.json.
 15. Cordon broker 106: Kafka places nothing new there.
       kafka-configs.sh --bootstrap-server localhost:9092 --alter --entity-type brokers --entity-name 106 \
--add-config 'cordoned.log.dirs=*'
     Check: kafka-configs.sh --bootstrap-server localhost:9092 --describe --entity-type brokers --entity-name 106
       prints cordoned.log.dirs
Before rollback.json, uncordon 105, 106 in the same way, and cordon 106 after it.

Partitions that were created stay: Kafka removes none.
""")

    @pytest.mark.parametrize(
        ("version", "names"),
        [
            ("2.7", ["kafka-broker-api-versions.sh"]),
            ("3.9", ["kafka-broker-api-versions.sh", "kafka-cluster.sh unregister", "in a cluster of KRaft"]),
            ("4.2", ["kafka-cluster.sh list-endpoints", "kafka-cluster.sh unregister"]),
        ],
    )
    def test_a_removal_has_the_tools_of_the_release(self, version: str, names: list[str]) -> None:
        text = archive(stated(plan(removed=[105, 106]), version))["README.txt"].decode()
        tools = ["kafka-broker-api-versions.sh", "kafka-cluster.sh list-endpoints", "kafka-cluster.sh unregister"]
        assert [name for name in [*tools, "in a cluster of KRaft"] if name in text] == [*names]
        assert "cordon" not in text

    @pytest.mark.parametrize(
        ("version", "in_command", "named"), [(None, False, True), ("4.0", False, False), ("4.1", True, True)]
    )
    def test_the_option_that_keeps_factors_is_that_of_the_release(
        self, version: str | None, in_command: bool, named: bool
    ) -> None:
        """KIP-860. A tool that does not have it rejects the command, so that for an unknown release it is a remark."""
        moved = plan([Placement("orders", 0, padded([[101, 106], [105, 101]]))], [BATCHES[0][1:], []])
        for made in (moved, replace(moved, request={**moved.request, "remove_brokers": [105]})):
            text = archive(made if version is None else stated(made, version))["README.txt"].decode()
            assert ("--execute --throttle 50000000 --disallow-replication-factor-change" in text) == in_command
            assert ("KIP-860" in text) == named

    @pytest.mark.parametrize("is_fenced", [True, False])
    @pytest.mark.parametrize("removed", [[], [105]])
    def test_a_throttle_beside_a_broker_that_is_down_is_set_for_the_others(
        self, removed: list[int], is_fenced: bool
    ) -> None:
        """Kafka's tool would wait for that broker; a broker that the plan adds is up."""
        others = tuple(broker for broker in CLUSTER.brokers if broker.id != 105)
        cluster = replace(CLUSTER, brokers=(*others, Broker(105, "az-b", fenced=True)) if is_fenced else others)
        made = stated(plan(removed=removed), "4.4.0")
        text = archive(made, cluster)["README.txt"].decode().replace("\\\n", "")
        assert "--throttle 5" not in text
        assert text.count("Broker 105 of the lists is down") == 1
        commands = [line.strip() for line in text.splitlines() if line.strip().startswith(("for ", "kafka-reassign"))]
        to_set, to_remove = ([line for line in commands if f"--{what}-config" in line] for what in ("add", "delete"))
        for lines in (to_set, to_remove):
            (brokers, topics) = lines
            assert brokers.startswith("for broker in 101 106 107; do ")
            assert "$(grep " in topics
        rates = "leader.replication.throttled.rate=50000000,follower.replication.throttled.rate=50000000"
        assert rates in to_set[0]
        assert text.index(to_set[1]) < text.index("01-execute.json  2" if not removed else "verify 01-execute.json")
        assert text.index(to_remove[0]) > text.index("03-execute.json")
        waits = [line for line in commands if "--verify" in line]
        assert all(line.endswith("--verify --preserve-throttles") for line in waits)
        assert len(waits) == 2
        for whole in (
            archive(made)["README.txt"].decode(),
            archive(plan(throttle=None), cluster)["README.txt"].decode(),
        ):
            assert "for broker in" not in whole

    def test_an_assumed_release_is_said(self) -> None:
        assumed = "Neither the request nor the snapshot states a release"
        assert assumed in archive(plan(removed=[105]))["README.txt"].decode()
        assert assumed not in archive(stated(plan(removed=[105]), "4.4"))["README.txt"].decode()
        assert assumed not in archive()["README.txt"].decode()

    def test_brokers_that_other_topics_use_are_not_shut_down_yet(self) -> None:
        made = plan(removed=[105])
        in_use: Json = [{"code": "removed_brokers_in_use"}]
        text = archive(replace(made, answer={**made.answer, "warnings": in_use}))["README.txt"].decode()
        assert "topics that the plan does not move still have replicas there" in text
