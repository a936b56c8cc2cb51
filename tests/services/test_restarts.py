"""Plans of restarts: the meaning of request and snapshot, blocked brokers, and the script with Kafka's tools played."""

import csv
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from app.core.model import Broker, BrokerCapacity, Cluster, Topic, padded
from app.errors import Failure
from app.errors.reassignments import CapacityMissing, RatesMissing, UnknownBroker
from app.errors.requests import ConflictingFields
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.restarts import PLAN_KIND, PLANNER, READER
from app.store.records import NewPlan
from tests.services.reassignments import topic as in_sync_topic

MIB = 1 << 20


def topic(
    name: str,
    replicas: Sequence[Sequence[int]],
    *,
    isr: Sequence[Sequence[int]] | None = None,
    min_isr: int | None = 2,
    ingress: float | None = None,
) -> Topic:
    """A topic that its first replicas lead."""
    made = in_sync_topic(name, replicas, [MIB] * len(replicas))
    return replace(
        made,
        isr=made.isr if isr is None else padded(isr),
        configs={} if min_isr is None else {"min.insync.replicas": str(min_isr)},
        ingress_bytes_per_s=None if ingress is None else np.full(len(replicas), ingress),
    )


def cluster(*topics: Topic, brokers: int = 6, **changed: Any) -> Cluster:
    """Brokers 101 and on, two of them in each of the racks a, b, c."""
    listed = tuple(Broker(101 + place, "abc"[place % 6 // 2]) for place in range(brokers))
    return replace(Cluster("prod-eu", listed, topics), **changed)


def spread(**fields: Any) -> Topic:
    """Every list of one broker from each rack."""
    return topic("orders", [[a, b, c] for a in (101, 102) for b in (103, 104) for c in (105, 106)], **fields)


def planned(of: Cluster, **fields: Any) -> NewPlan:
    return draft_plan(PLANNER, READER.validate_python(fields), of, Limits())


def answer(of: Cluster, **fields: Any) -> Any:
    return planned(of, **fields).answer


def codes(document: Any) -> list[str]:
    return [warning["code"] for warning in document["warnings"]]


def waves(document: Any) -> list[list[int]]:
    return [wave["brokers"] for wave in document["waves"]]


def blocked(document: Any) -> list[tuple[Any, ...]]:
    return [
        (each["topic"], each["partition"], each["reason"])
        if each["broker"] is None
        else (each["broker"], each["reason"])
        for each in document["blocked"]
    ]


class TestWaves:
    def test_racks_are_restarted_one_after_another_if_their_brokers_share_no_partition(self) -> None:
        document = answer(cluster(spread()))
        assert waves(document) == [[101, 102], [103, 104], [105, 106]]
        assert document["certificate"] == {
            "waves": 3,
            "lower_bound_waves": 3,
            "optimal": True,
            "gap": 0.0,
            "conflict": [{"reason": "pairs", "waves": 3, "brokers": [101, 103, 105], "topic": None, "partition": None}],
        }
        assert [(wave["unwritable"], wave["leaders_moved"]) for wave in document["waves"]] == [(0, 8), (0, 0), (0, 0)]
        assert document["blocked"] == []

    def test_waves_have_at_most_the_stated_number_of_brokers(self) -> None:
        document = answer(cluster(spread()), max_brokers_per_wave=1)
        assert [len(wave) for wave in waves(document)] == [1] * 6
        assert {bound["reason"] for bound in document["certificate"]["conflict"]} == {"size"}

    def test_racks_are_not_mixed_if_waves_are_per_rack(self) -> None:
        assert waves(answer(cluster(), per="rack")) == [[101, 102], [103, 104], [105, 106]]
        assert waves(answer(cluster())) == [[101, 102, 103, 104, 105, 106]]

    def test_controllers_keep_their_quorum_and_come_last_on_request(self) -> None:
        document = answer(cluster(spread()), controllers=[101, 103, 102], order="controllers_last")
        assert waves(document) == [[105, 106], [101], [102], [103, 104]]
        assert waves(answer(cluster(spread()), controllers=[101, 103, 102]))[0] == [101]

    def test_the_hash_depends_on_the_request_alone_and_plans_are_equal(self) -> None:
        one, other = planned(cluster(spread())), planned(cluster(spread()))
        assert (one.hash, one.answer) == (other.hash, other.answer)
        assert planned(cluster(spread()), per="rack").hash != one.hash
        assert (one.title, one.summary) == (
            "Restart 6 brokers of prod-eu in 3 waves",
            "proven fewest; 6 minutes; 0 blocked partitions",
        )


class TestBlocked:
    def test_partitions_that_no_schedule_keeps_writable_are_named_with_the_reason(self) -> None:
        of = cluster(
            topic("below", [[101, 103, 105]], isr=[[101]]),
            topic("exact", [[101, 103]]),
            topic("lagging", [[101, 103, 105]], isr=[[101, 103]]),
            topic("lost", [[101, 103, 105]], isr=[[]]),
            topic("single", [[102]], min_isr=1),
            topic("strict", [[101, 103]], min_isr=3),
        )
        document = answer(of)
        assert blocked(document) == [
            ("below", 0, "below_min_isr"),
            ("exact", 0, "factor_equals_min_isr"),
            ("lagging", 0, "at_min_isr"),
            ("lost", 0, "no_in_sync_replica"),
            ("single", 0, "single_replica"),
            ("strict", 0, "min_isr_above_factor"),
        ]
        assert document["blocked_partitions"] == 6
        # Their brokers are restarted one by one all the same, so that each keeps a leader where it can.
        assert not any({101, 103} <= set(wave) for wave in waves(document))
        assert sum(wave["unwritable"] for wave in document["waves"]) == 5  # exact and lagging twice, single once

    def test_brokers_that_are_down_are_in_no_wave_and_not_in_sync(self) -> None:
        down = Broker(106, "c", fenced=True)
        document = answer(replace(cluster(spread()), brokers=(*cluster().brokers[:4], down)))
        assert sorted(broker for wave in waves(document) for broker in wave) == [101, 102, 103, 104]
        assert document["blocked_partitions"] == 8
        assert {reason for *_, reason in blocked(document)} == {"at_min_isr"}
        assert "brokers_not_restarted" in codes(document)

    def test_a_quorum_without_slack_is_blocked(self) -> None:
        document = answer(cluster(), controllers=[101, 102])
        assert blocked(document) == [(None, None, "quorum")]
        assert not any({101, 102} <= set(wave) for wave in waves(document))

    def test_a_broker_above_a_limit_by_itself_is_restarted_alone(self) -> None:
        of = cluster(topic("orders", [[101, 103], [101, 103], [104, 105]], min_isr=1))
        document = answer(of, limits={"leaders": {"absolute": 1}})
        assert (101, "above_limit") in blocked(document)
        assert [101] in waves(document)
        [wave] = [wave for wave in document["waves"] if wave["brokers"] == [101]]
        assert wave["largest_load"] == {"leaders": {"broker": 103, "value": 2, "limit": 1}}


class TestUnknown:
    def test_min_isr_is_that_of_the_request_or_1(self) -> None:
        of = cluster(spread(min_isr=None))
        assert len(waves(answer(of, defaults={"min_insync_replicas": 2}))) == 3
        document = answer(of)
        assert "min_isr_assumed" in codes(document)
        assert len(waves(document)) == 2  # two of three may be down
        assert document["certificate"]["optimal"]

    def test_all_replicas_count_as_in_sync_if_the_snapshot_has_none(self) -> None:
        document = answer(cluster(spread(isr=[[]] * 8)))
        assert "isr_unknown" in codes(document)
        assert len(waves(document)) == 3

    def test_durations_leave_out_what_is_unknown(self) -> None:
        document = answer(cluster(spread()), restart_seconds=60)
        assert [wave["seconds"] for wave in document["waves"]] == [60, 60, 60]
        assert "catch_up_unknown" in codes(document)
        assert "unknown_rates" in codes(answer(cluster(spread()), catch_up_bytes_per_s=1))

    def test_topics_without_rates_are_named(self) -> None:
        of = cluster(topic("clicks", [[101, 103, 105]]), spread(ingress=1))
        [warning] = [
            each for each in answer(of, catch_up_bytes_per_s=99)["warnings"] if each["code"] == "unknown_rates"
        ]
        assert warning["topics"] == ["clicks"]


class TestDurations:
    def test_a_broker_fetches_what_was_written_while_it_was_down(self) -> None:
        """Four replicas with 25 bytes/s each: 60 s × 100 bytes/s, and 200 bytes/s are left to catch up with."""
        document = answer(cluster(spread(ingress=25)), restart_seconds=60, catch_up_bytes_per_s=300)
        assert [wave["seconds"] for wave in document["waves"]] == [90, 90, 90]
        assert document["seconds"] == 270

    def test_a_broker_that_never_catches_up_is_named_with_both_rates(self) -> None:
        with pytest.raises(ConflictingFields, match=r"broker 101 .* 100 bytes/s, and .* is 100") as failure:
            answer(cluster(spread(ingress=25)), catch_up_bytes_per_s=100)
        assert failure.value.path == ("catch_up_bytes_per_s",)


class TestLimits:
    def test_leaders_of_a_wave_stay_below_the_limit_of_the_others(self) -> None:
        of = cluster(topic("orders", [[101, 103], [102, 103], [104, 105]], min_isr=1))
        assert len(waves(answer(of))) == 2
        limited = answer(of, limits={"leaders": {"absolute": 1}})
        assert not any({101, 102} <= set(wave) for wave in waves(limited))
        assert all(wave["largest_load"]["leaders"]["value"] <= 1 for wave in limited["waves"])

    def test_the_order_of_topics_does_not_count(self) -> None:
        topics = [topic("b", [[101, 103]], ingress=900), topic("a", [[102, 103], [104, 103]], ingress=1)]
        request: dict[str, Any] = {"capacity": {"*": {"nic_out_bytes_per_s": 1000}}, "limits": {"nic_out": 0.9}}
        assert answer(cluster(*topics), **request)["waves"] == answer(cluster(*topics[::-1]), **request)["waves"]

    def test_sent_bytes_follow_the_leaders(self) -> None:
        of = cluster(topic("orders", [[101, 103], [102, 103]], min_isr=1, ingress=100))
        capacity = {"*": {"nic_out_bytes_per_s": 400}}
        free = answer(of, capacity=capacity, limits={"nic_out": 1.0})
        tight = answer(of, capacity=capacity, limits={"nic_out": 0.25})
        assert (len(waves(free)), len(waves(tight))) == (2, 3)
        assert max(wave["largest_load"]["nic_out"]["value"] for wave in tight["waves"]) == 100


@pytest.mark.parametrize(
    ("fields", "failure", "path"),
    [
        ({"controllers": [7]}, UnknownBroker, ("controllers", 0)),
        ({"controllers": [101, 101]}, ConflictingFields, ("controllers", 1)),
        ({"limits": {"leaders": 0.5}}, ConflictingFields, ("limits", "leaders")),
        ({"limits": {"leaders": {"absolute": 5, "soft": True}}}, ConflictingFields, ("limits", "leaders")),
        ({"limits": {"nic_out": {"absolute": 5}}}, RatesMissing, ("limits", "nic_out")),
        ({"limits": {"nic_out": 0.5}, "ingress_bytes_per_s": {"orders": 1}}, CapacityMissing, ("limits", "nic_out")),
    ],
)
def test_what_is_wrong_with_a_request_is_said_with_its_place(
    fields: Mapping[str, Any], failure: type[Failure], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(failure) as raised:
        answer(cluster(spread()), **fields)
    assert raised.value.path == path


def test_a_broker_that_is_down_needs_no_capacity() -> None:
    up = tuple(replace(each, capacity=BrokerCapacity(nic_out_bytes_per_s=1000)) for each in cluster().brokers[:5])
    of = replace(cluster(spread(ingress=1)), brokers=(*up, Broker(106, "c", fenced=True)))
    assert len(waves(answer(of, limits={"nic_out": 0.5}))) == 3


def test_a_cluster_without_brokers_cannot_be_restarted() -> None:
    with pytest.raises(ConflictingFields, match="no broker of the snapshot is up"):
        answer(Cluster("empty", ()))


def test_waves_per_rack_need_racks() -> None:
    with pytest.raises(ConflictingFields, match="1 brokers have no rack, 107 first"):
        answer(replace(cluster(), brokers=(*cluster().brokers, Broker(107))), per="rack")


TOOL = """#!/bin/bash
# The cluster lacks a replica for two looks after a restart, and LACKING names a partition that always lacks one.
echo "$(basename "$0") $*" >>"$STATE/log"
left=$(cat "$STATE/left" 2>/dev/null || echo 0)
case "$(basename "$0") $*" in
  kafka-leader-election.sh*) [ -z "${ELECTION_FAILS:-}" ] ;;
  kafka-broker-api-versions.sh*) printf 'h:9092 (id: %d rack: r1 isFenced: false) -> (\\n' {101..106} ;;
  *--under-replicated-partitions*)
    if [ -n "${LACKING:-}" ]; then printf '\\tTopic: %s\\tPartition: 0\\tLeader: 1\\n' "$LACKING"; fi
    if [ "$left" -gt 0 ]; then
      echo $((left - 1)) >"$STATE/left"
      printf '\\tTopic: orders\\tPartition: 3\\tLeader: 101\\tReplicas: 101,103,105\\tIsr: 101\\n'
    fi ;;
esac
"""
RESTART = 'echo "restart $BROKER $POD" >>"$STATE/log"; echo 2 >"$STATE/left"'


class TestFiles:
    def run(
        self, folder: Path, *arguments: str, waves_per: str = "rack", **settings: str
    ) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        """The script with Kafka's tools played; and the restarts and elections, in order."""
        plan = planned(cluster(spread()), per=waves_per)
        (folder / "restart.sh").write_bytes(PLAN_KIND.write(plan, "script", lambda: None))
        for name in ("topics", "broker-api-versions", "leader-election"):
            tool = folder / f"kafka-{name}.sh"
            tool.write_text(TOOL)
            tool.chmod(0o755)
        played = {"STATE": str(folder), "KAFKA_BIN": str(folder), "POLL_SECONDS": "0.01"}
        environment = {**os.environ, **played, **settings}
        command = ["bash", str(folder / "restart.sh"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        log = (folder / "log").read_text().splitlines() if (folder / "log").exists() else []
        return done, [line for line in log if line.startswith(("restart", "kafka-leader"))]

    def test_the_script_restarts_wave_by_wave_and_gives_leaders_back(self, tmp_path: Path) -> None:
        done, log = self.run(tmp_path, RESTART)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            "wave 1 of 3: restarting 101 102",
            "wave 2 of 3: restarting 103 104",
            "wave 3 of 3: restarting 105 106",
            "all waves are complete",
        ]
        arguments = "--bootstrap-server localhost:9092 --election-type preferred --all-topic-partitions"
        of_waves = [log[start : start + 3] for start in (0, 3, 6)]
        assert [sorted(of_wave[:2]) for of_wave in of_waves] == [
            [f"restart {broker} kafka-{broker}" for broker in brokers]
            for brokers in ((101, 102), (103, 104), (105, 106))
        ]
        assert [of_wave[2] for of_wave in of_waves] == [f"kafka-leader-election.sh {arguments}"] * 3

    def test_the_script_goes_on_from_a_wave(self, tmp_path: Path) -> None:
        done, log = self.run(tmp_path, RESTART, "3", KAFKA_COMMAND_CONFIG="client.properties")
        assert done.returncode == 0, done.stderr
        assert sorted(log[:2]) == ["restart 105 kafka-105", "restart 106 kafka-106"]
        assert "--admin.config client.properties" in log[2]

    def test_the_script_stops_where_a_restart_fails(self, tmp_path: Path) -> None:
        done, log = self.run(tmp_path, 'test "$BROKER" != 104 || exit 1; ' + RESTART)
        assert done.returncode == 1
        assert "the command failed for a broker of 103 104" in done.stderr
        assert not any("105" in line for line in log)

    def test_the_script_begins_with_a_cluster_that_lacks_nothing(self, tmp_path: Path) -> None:
        done, log = self.run(tmp_path, RESTART, LACKING="old")
        assert (done.returncode, log) == (1, [])
        assert "1 partitions lack replicas before the first wave" in done.stderr
        done, _ = self.run(tmp_path, RESTART, LACKING="old", ALLOW_LACKING="yes")
        assert done.returncode == 0, done.stderr

    @pytest.mark.long
    def test_the_script_stops_if_leaders_are_not_given_back(self, tmp_path: Path) -> None:
        done, log = self.run(tmp_path, RESTART, ELECTION_FAILS="yes")
        assert (done.returncode, len(log)) == (1, 3)
        assert "preferred leaders could not be elected after wave 1" in done.stderr
        done, _ = self.run(tmp_path, RESTART, ELECTION_FAILS="yes", ALLOW_LACKING="yes")
        assert done.returncode == 0, done.stderr

    def test_the_script_gives_up_waiting(self, tmp_path: Path) -> None:
        done, _ = self.run(tmp_path, 'echo 1000000 >"$STATE/left"', MOST_WAIT_SECONDS="1")
        assert done.returncode == 1
        assert "partitions still lack replicas" in done.stderr

    def test_the_config_map_has_the_script_and_pods_by_name(self) -> None:
        plan = planned(cluster(spread()), pod_name="my-cluster-kafka-{broker}")
        document = yaml.safe_load(PLAN_KIND.write(plan, "kubernetes", lambda: None))
        assert document["kind"] == "ConfigMap"
        assert document["data"]["waves.txt"].splitlines()[1] == "my-cluster-kafka-103 my-cluster-kafka-104"
        assert document["data"]["restart.sh"].encode() == PLAN_KIND.write(plan, "script", lambda: None)

    def test_the_table_has_a_line_for_each_broker(self) -> None:
        written = PLAN_KIND.write(planned(cluster(spread())), "csv", cluster).decode()
        rows = list(csv.DictReader(written.splitlines()))
        assert rows[2] == {"wave": "2", "broker": "103", "rack": "b", "pod": "kafka-103", "seconds": "120.0"}
        assert len(rows) == 6
