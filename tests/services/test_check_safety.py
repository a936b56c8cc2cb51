"""Reassignments that Kafka accepts and that are not safe: each is a violation with its remedy."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from app.api.models.clusters import SnapshotRequest
from app.core.measures.violations import Violation
from app.core.model import Cluster, unpadded
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.services import checks
from app.services.checks import Check, HealthRequest
from app.services.fields import Defaults
from app.services.limits import Limits
from app.services.plans import Allowance
from app.services.reassignment.requests.parts import CapacityRequest, LimitsRequest
from tests.core.reassignment.test_completion import never_completes
from tests.formats.strategies import assembled, sample

DESCRIBED = (
    "Topic: t\tTopicId: 2axB58VyTMemnegrC2eNlQ\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: {configs}\n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
    "\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3,1\n"
)
STRICT, ALLOWED = HealthRequest(), HealthRequest(allow_lower_factor=True)


def cluster(
    partitions: Sequence[Mapping[str, Any]], *, fenced: Sequence[int] = (), listed: Sequence[int] = range(5)
) -> Cluster:
    """Brokers in three racks, and a topic `t`."""
    brokers = [
        {"id": broker, "rack": "abc"[broker % 3]} | ({"fenced": True} if broker in fenced else {}) for broker in listed
    ]
    topic = {"name": "t", "partitions": [{"partition": at} | dict(each) for at, each in enumerate(partitions)]}
    body = {"cluster": "c", "controller": "kraft", "brokers": brokers, "topics": [topic]}
    return SnapshotRequest.model_validate(body).core()


def checked(of: Cluster, *lists: Sequence[int], release: str = "4.1", request: HealthRequest = STRICT) -> Check:
    """A check of new lists of the first partitions."""
    parts = tuple(PartitionReassignment("t", partition, tuple(list_)) for partition, list_ in enumerate(lists))
    return checks.check_reassignment(of, Reassignment(parts), "merge", release, request)


def codes(check: Check) -> list[str]:
    """Of its violations, without those about racks and fenced leaders."""
    return [one.code for one in check.violations if one.code not in ("too_few_racks", "fenced_leader")]


class TestCompletion:
    """Lists that Kafka never completes."""

    @pytest.mark.parametrize(("release", "waits"), [("3.9", True), ("4.1", True), ("4.2", True), ("4.3", False)])
    def test_a_dead_replica_that_stays(self, release: str, waits: bool) -> None:
        """Before KAFKA-19975 every replica of the list has to be in the ISR."""
        for listed, fenced in ((range(5), (2,)), ((0, 1, 3, 4), ())):
            of = cluster([{"replicas": [0, 1, 2], "leader": 0, "isr": [0, 1]}], fenced=fenced, listed=listed)
            found = checked(of, [0, 1, 2, 3], release=release)
            assert codes(found) == (["waits_for_offline_replica"] if waits else [])
            for violation in found.violations:
                if violation.code == "waits_for_offline_replica":
                    assert violation.severity == "illegal"
                    assert "brokers 2," in violation.detail
                    assert "fix_offline_replicas" in violation.detail
            assert codes(checked(of, [0, 1, 3], release=release)) == []
            assert codes(checked(of, [1, 0, 2], release=release)) == []  # another order takes effect at once

    def test_no_in_sync_replica_is_live(self) -> None:
        of = cluster([{"replicas": [2, 1], "isr": [2]}], fenced=[2])
        for release in ("3.5", "4.1", "4.4"):
            assert codes(checked(of, [2, 1, 3], release=release)) == ["no_in_sync_replica"]

    def test_the_last_in_sync_replica_leaves(self) -> None:
        """The lists keep replicas that are out of sync alone; one that adds a replica copies it first."""
        of = cluster([{"replicas": [0, 1, 2], "leader": 0, "isr": [0]}])
        assert codes(checked(of, [1, 2])) == ["last_in_sync_replica_removed"]
        assert codes(checked(of, [0, 2])) == []
        assert codes(checked(of, [1, 3])) == []
        of = cluster([{"replicas": [0, 1, 2], "leader": 0, "isr": [0]}], fenced=[1])
        assert codes(checked(of, [1, 2])) == ["waits_for_offline_replica", "last_in_sync_replica_removed"]

    @pytest.mark.long
    @pytest.mark.parametrize("release", ["2.8", "3.6", "4.2", "4.4"])
    def test_violations_are_exactly_those_of_the_rule(self, release: str) -> None:
        """Random lists; partitions that are being reassigned have the replicas of both lists until it ends."""
        random = Random(release)
        for _ in range(40):
            down = set(random.sample(range(7), 2))
            partitions: list[dict[str, Any]] = []
            lists = []
            for _ in range(5):
                replicas = random.sample(range(7), random.randint(2, 4))
                isr = random.sample(replicas, random.randint(1, len(replicas)))
                removing = replicas[-1:] if random.random() < 0.3 else []
                leader = next((broker for broker in isr if broker not in down), None)
                partitions.append({"replicas": replicas, "isr": isr, "leader": leader, "removing_replicas": removing})
                lists.append(random.sample(range(7), random.randint(1, 4)))
            # A broker without a replica that is not listed is unknown.
            held = {broker for each in partitions for broker in each["replicas"]}
            fenced = [broker for broker in down if broker not in held or random.random() < 0.5]
            listed = [broker for broker in range(7) if broker not in down or broker in fenced]
            of = cluster(partitions, fenced=fenced, listed=listed)
            found = checked(of, *lists, release=release, request=ALLOWED).violations
            never = {"waits_for_offline_replica", "no_in_sync_replica"}
            named = {partition for one in found if one.code in never for partition in one.partitions}
            live = set(range(7)) - down
            numbers = release.split(".")
            assert named == {
                at
                for at, (each, target) in enumerate(zip(partitions, lists, strict=True))
                if never_completes(".".join([*numbers, "0"]), "kraft", (each["replicas"], target), each["isr"], live)
            }


class TestFactors:
    """A lower factor is a violation unless it is allowed by name."""

    def of_text(self, configs: str) -> Cluster:
        return assembled("c", topics=DESCRIBED.format(configs=configs)).cluster

    def test_from_three_to_one_with_two_required(self) -> None:
        """As pasted: `violations 0, passes, exit 0` before. An unwritable partition is not allowed by name."""
        found = checked(self.of_text("min.insync.replicas=2"), [1], [2])
        (violation,) = lowered(found)
        assert (violation.severity, violation.count, violation.partitions) == ("fragile", 2, (0, 1))
        assert '"allow_lower_factor": true' in violation.detail
        allowed = checked(self.of_text("min.insync.replicas=2"), [1], [2], request=ALLOWED)
        assert lowered(allowed) == []
        assert "factor_lowered" in {caution.code for caution in allowed.cautions}
        for check in (found, allowed):
            (below,) = below_min_isr(check)
            assert (below.severity, below.count, below.partitions) == ("illegal", 2, (0, 1))
            assert "have fewer replicas, down to 1, than min.insync.replicas=2" in below.detail

    @pytest.mark.parametrize(
        ("configs", "lists", "bounds", "below"),
        [
            ("", ([1], [2]), ("below 2",), 0),
            ("", ([1, 2], [2, 3]), (), 0),
            ("min.insync.replicas=3", ([1, 2], [2, 3]), (), 2),
            ("", ([1, 2],), ("3 replicas of other partitions",), 0),
            ("", ([1, 2], [2, 3, 1]), ("3 replicas of other partitions",), 0),
            ("min.insync.replicas=4", ([3, 1, 2], [1, 2, 3]), (), 2),
        ],
    )
    def test_each_bound(self, configs: str, lists: Sequence[Sequence[int]], bounds: Sequence[str], below: int) -> None:
        """A factor that is not lowered is judged by `min.insync.replicas` alone."""
        check = checked(self.of_text(configs), *lists)
        found = lowered(check)
        assert len(found) == min(len(bounds), 1)
        assert all(bound in violation.detail for violation in found for bound in bounds)
        assert sum(violation.count for violation in below_min_isr(check)) == below

    def test_a_cluster_as_it_is_may_have_more_required_than_there_are(self) -> None:
        found = checks.check_cluster(self.of_text("min.insync.replicas=4"), None, STRICT, Allowance(Limits()))
        assert [violation.code for violation in found.violations] == ["below_min_isr"]

    def test_the_default_of_the_request_counts_if_the_snapshot_has_none(self) -> None:
        request = HealthRequest(defaults=Defaults(3))
        found = checked(self.of_text(""), [1, 2], [2, 3], request=request)
        assert "min.insync.replicas=3" in below_min_isr(found)[0].detail
        assert [caution.code for caution in found.cautions] == ["min_isr_assumed"]
        assert found.measures.losses is not None
        assert found.measures.losses.min_isr_unknown == 0
        known = checked(self.of_text("min.insync.replicas=2"), [1, 2], [2, 3], request=request)
        assert (known.violations, known.cautions) == ([], [])


def below_min_isr(check: Check) -> list[Violation]:
    """Its violations about `min.insync.replicas`."""
    return [violation for violation in check.violations if violation.code == "below_min_isr"]


class TestDisks:
    """Limits and capacities of a request hold after the reassignment, and while both lists have replicas."""

    def check(self, *lists: Sequence[int], **fields: Any) -> Check:
        replicas = ([1, 2], [1, 2], [3, 4])
        partitions = [{"replicas": each, "isr": each, "leader": each[0], "size_bytes": 100} for each in replicas]
        of = cluster(partitions, listed=(1, 2, 3, 4))
        return checked(of, *lists, request=HealthRequest(**fields))

    @pytest.mark.parametrize(
        ("lists", "room", "words"),
        [
            (([1, 3], [1, 2]), 200, None),
            (([1, 3], [1, 3]), 200, "3 (300 bytes afterwards, 200 allowed)"),
            (([1, 3], [1, 2], [2, 4]), 150, "3 (200 bytes during the move, 150 allowed)"),
        ],
    )
    def test_disks(self, lists: Sequence[Sequence[int]], room: int, words: str | None) -> None:
        """Broker 3 has 100 bytes. In the last case it gives them and gets as many."""
        capacity = {"3": CapacityRequest(disk_bytes=room), "*": CapacityRequest(disk_bytes=10_000)}
        found = self.check(*lists, capacity=capacity)
        of_disks = [violation for violation in found.violations if violation.code == "disk_over_limit"]
        assert len(of_disks) == (words is not None)
        assert all(words in violation.detail for violation in of_disks if words)
        assert found.health is not None
        loads: Any = found.health.as_json()["loads"]
        assert loads["3"]["disk"]["before"] == 100

    def test_a_limit_is_below_the_capacity(self) -> None:
        limits = LimitsRequest(disk=0.5)
        found = self.check([1, 3], capacity={"*": CapacityRequest(disk_bytes=390)}, limits=limits)
        (violation,) = found.violations
        assert (violation.code, violation.partitions) == ("disk_over_limit", (0,))
        assert found.health is not None
        assert [one.broker for one in found.health.over_limit] == [1, 3]

    def test_without_resources_nothing_is_said_of_loads(self) -> None:
        assert self.check([1, 3]).health is None


def lowered(check: Check) -> list[Violation]:
    """Its violations about factors."""
    return [violation for violation in check.violations if violation.code == "factor_lowered"]


class TestDown:
    """A broker with replicas that is not listed is down: nothing about it is illegal."""

    TEXTS = ("kafka-broker-api-versions-two-brokers-down.txt", "kafka-topics-describe-two-brokers-down.txt")

    def test_two_brokers_down(self) -> None:
        brokers, topics = map(sample, self.TEXTS)
        of = assembled("c", brokers=brokers, topics=topics).cluster
        lists = [
            PartitionReassignment(topic.name, partition, tuple(replicas))
            for topic in of.topics
            for partition, replicas in zip(topic.partition_ids.tolist(), unpadded(topic.replicas), strict=True)
        ]
        found = checks.check_reassignment(of, Reassignment(tuple(lists)))
        assert {violation.code for violation in found.violations} <= {"fenced_leader", "too_few_racks"}
        assert {violation.severity for violation in found.violations} <= {"fragile"}
