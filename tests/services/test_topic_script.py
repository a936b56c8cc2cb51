"""The script of a plan of new topics, run by bash, with Kafka's tools played by a script that records its arguments."""

import json
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.model import Broker, Cluster, NewTopic
from app.core.replicas.options import RackMode
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.topic_script import LONGEST_ARGUMENT
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.replicas import EXPORTS, PLANNER, ReplicasRequest
from app.store.records import NewPlan
from tests.formats.readers.replica_assignment import read as read_assignment
from tests.services.reassignments import topic

BROKERS = tuple(Broker(1000 + number, "abc"[number % 3]) for number in range(6))
CLUSTER = Cluster("prod $(touch owned)\n", BROKERS, (topic("or.ders", [[1000, 1001], [1001, 1002]], [1, 1]),))
_TOOL = """#!/bin/sh
# One line of JSON a call; of a reassignment the file, which does not outlive the script. DESCRIBED is what is there,
# of the calls with DESCRIBES.
case "$* " in *--describe*) case "$* " in *"${{DESCRIBES:-}}"*) ;; *) exit 1 ;; esac
  printf '%s' "$DESCRIBED"; [ -n "$DESCRIBED" ]; exit ;; esac
exec {python} - "$0" "$@" <<'END'
import json, sys
arguments = sys.argv[1:]
at = arguments.index("--reassignment-json-file") + 1 if "--reassignment-json-file" in arguments else None
content = None if at is None else json.load(open(arguments[at]))
with open("{log}", "a") as log:
    log.write(json.dumps([arguments, content]) + "\\n")
END
"""


@dataclass(frozen=True)
class Ran:
    """Calls of a script: the tool and arguments of each call, and the JSON that a reassignment was given."""

    calls: Sequence[tuple[list[str], dict[str, list[dict[str, object]]]]]
    status: int
    said: str


def planned(*topics: NewTopic, cluster: Cluster = CLUSTER) -> NewPlan:
    request = ReplicasRequest(topics=topics, algorithm="striped", seed=3)
    return draft_plan(PLANNER, request, cluster, Limits())


def run(plan: NewPlan, tmp_path: Path, cluster: Cluster | None = CLUSTER, **environment: str) -> Ran:
    """Run the script in an empty folder, with recording tools in the path."""
    tools, log, here = tmp_path / "bin", tmp_path / "log", tmp_path / "here"
    tools.mkdir()
    here.mkdir()
    for name in ("kafka-topics.sh", "kafka-reassign-partitions.sh"):
        tool = tools / name
        tool.write_text(_TOOL.format(python=os.path.realpath("/proc/self/exe"), log=log))
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    script = tmp_path / "plan.sh"
    script.write_bytes(EXPORTS["script"](plan, lambda: cluster))
    path = {"PATH": f"{tools}:{os.environ['PATH']}", "DESCRIBED": "", **environment}
    done = subprocess.run(["bash", str(script)], cwd=here, env=path, capture_output=True, text=True, check=False)
    assert list(here.iterdir()) == [], "nothing is left where the script ran"
    calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return Ran([([Path(words[0]).name, *words[1:]], content) for words, content in calls], done.returncode, done.stderr)


def options(words: Sequence[str]) -> Mapping[str, str]:
    """The options of a call that have values, by name."""
    return {word: words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("--")}


def test_every_topic_is_created_as_planned(tmp_path: Path) -> None:
    plan = planned(NewTopic("a", 3, 2), NewTopic("b.c", 12, 3))
    ran = run(plan, tmp_path, BOOTSTRAP_SERVER="kafka-1:9092", COMMAND_CONFIG="my client.properties")
    assert (ran.status, ran.said) == (0, "")
    for (words, _), placement in zip(ran.calls, plan.placements, strict=True):
        assert words[:4] == ["kafka-topics.sh", "--bootstrap-server", "kafka-1:9092", "--command-config"]
        given = options(words)
        assert given["--command-config"] == "my client.properties"
        assert "--create" in words
        assert given["--topic"] == placement.topic
        assert read_assignment(given["--replica-assignment"]).tolist() == placement.replicas.tolist()


@pytest.mark.parametrize("end", ["", "/"])
def test_the_tools_are_those_of_a_folder(tmp_path: Path, end: str) -> None:
    """`KAFKA_BIN` is a folder, as for the script of a Kubernetes Job; a slash at its end changes nothing."""
    plan = planned(NewTopic("a", 3, 2))
    ran = run(plan, tmp_path, PATH=os.environ["PATH"], KAFKA_BIN=f"{tmp_path / 'bin'}{end}")
    assert (ran.status, ran.said, len(ran.calls)) == (0, "", 1)


def test_more_partitions_of_a_topic(tmp_path: Path) -> None:
    """The list begins at partition 0, and the topic of --alter is a regular expression."""
    plan = planned(NewTopic("or.ders", 3, 2, start_partition_id=2))
    ((words, _),) = run(plan, tmp_path).calls
    given = options(words)
    assert "--alter" in words
    assert (given["--topic"], given["--partitions"]) == (r"or\.ders", "5")
    rows = read_assignment(given["--replica-assignment"]).tolist()
    assert rows == [[1000, 1001], [1001, 1002], *plan.placements[0].replicas.tolist()]


def described(name: str, rows: Sequence[Sequence[int]], *, moves: str = "") -> str:
    """The output of `kafka-topics --describe`; the later partitions first."""
    lines = [f"Topic: {name}\tTopicId: x\tPartitionCount: {len(rows)}\tReplicationFactor: 2\tConfigs: "]
    for partition, row in reversed(list(enumerate(rows))):
        listed = ",".join(map(str, row))
        lines.append(f"\tTopic: {name}\tPartition: {partition}\tLeader: 1\tReplicas: {listed}\tIsr: 1{moves}")
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("moves", ["", "\tAdding Replicas: 7\tRemoving Replicas: 8\tElr: \tLastKnownElr: "])
@pytest.mark.parametrize("start", [0, 2])
def test_a_topic_that_is_there_as_planned_is_passed_over(tmp_path: Path, start: int, moves: str) -> None:
    """The script was stopped half-way, and runs again."""
    plan = planned(NewTopic("or.ders" if start else "new", 12, 2, start_partition_id=start))
    rows = [[7, 8]] * start + plan.placements[0].replicas.tolist()
    ran = run(plan, tmp_path, DESCRIBED=described("or.ders", rows, moves=moves))
    assert (ran.status, ran.calls, ran.said) == (0, [], "")


def test_topics_after_one_that_is_there_are_created(tmp_path: Path) -> None:
    """A run before was stopped between two topics; the tool describes the topic that it is asked for."""
    plan = planned(NewTopic("a", 3, 2), NewTopic("b", 4, 2), NewTopic("c", 2, 2))
    there = described("a", plan.placements[0].replicas.tolist())
    ran = run(plan, tmp_path, DESCRIBED=there, DESCRIBES=" --topic a ")
    assert (ran.status, ran.said) == (0, "")
    assert [(options(words)["--topic"], "--create" in words) for words, _ in ran.calls] == [("b", True), ("c", True)]


@pytest.mark.parametrize("start", [0, 2])
def test_a_topic_that_is_there_otherwise_stops_it(tmp_path: Path, start: int) -> None:
    plan = planned(NewTopic("or.ders" if start else "new", 3, 2, start_partition_id=start), NewTopic("z", 1, 1))
    first, *rest = plan.placements[0].replicas.tolist()
    rows = [[7, 8]] * start + [first[::-1], *rest]
    ran = run(plan, tmp_path, DESCRIBED=described("or.ders", rows))
    assert (ran.status, ran.calls) == (1, [])
    assert f"stopped: {plan.placements[0].topic} has other replicas than planned" in ran.said
    there, wanted = (":".join(map(str, row)) for row in (first[::-1], first))
    assert ran.said.splitlines()[1:] == [f"  partition {start}: {there}, planned {wanted}"]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 2])
def test_a_list_that_no_argument_can_have(tmp_path: Path, start: int) -> None:
    """Kafka places the partitions, and the planned replicas follow by a file, for these partitions alone."""
    name = "or.ders" if start else "large"
    plan = planned(NewTopic(name, 15_000, 2, start_partition_id=start))
    assert len(reassignment.write_replica_assignment(plan.placements[0].replicas)) > LONGEST_ARGUMENT
    ran = run(plan, tmp_path)
    assert ran.status == 0, ran.said
    (waits, _), (create, _), (execute, content), (verify, _) = ran.calls
    given = options(create)
    assert "--replica-assignment" not in given
    assert given["--partitions"] == str(15_000 + start)
    assert given.get("--replication-factor") == (None if start else "2")
    assert {"--execute", "--additional"} <= set(execute)
    assert {"--verify"} <= {*waits} & {*verify}
    listed = [(p["topic"], p["partition"], p["replicas"]) for p in content["partitions"]]
    assert listed == [(name, start + at, row) for at, row in enumerate(plan.placements[0].replicas.tolist())]


def test_the_longest_argument_runs(tmp_path: Path) -> None:
    """A list of just under 128 KiB is still passed as one argument: the limit is this system's."""
    partitions = (LONGEST_ARGUMENT + 1) // len("1000:1001,")
    plan = planned(NewTopic("longest", partitions, 2))
    ran = run(plan, tmp_path)
    assert ran.status == 0, ran.said
    ((words, _),) = ran.calls
    assert len(options(words)["--replica-assignment"]) > LONGEST_ARGUMENT - len("1000:1001,")


def test_what_kafka_would_reject_is_marked_and_not_run(tmp_path: Path) -> None:
    plan = planned(NewTopic("or.ders", 3, 2), NewTopic("new", 3, 2), NewTopic("unknown", 2, 2, start_partition_id=4))
    ran = run(plan, tmp_path)
    assert [options(words)["--topic"] for words, _ in ran.calls] == ["new"]
    assert "not created: topic or.ders exists with 2 partitions" in ran.said
    assert "not created: --replica-assignment starts at partition 0" in ran.said
    text = EXPORTS["script"](plan, lambda: CLUSTER).decode()
    assert text.count("# REJECTED") == 2


def test_what_is_fragile_is_marked() -> None:
    cluster = Cluster("c", (Broker(1, "a"), Broker(2, "a"), Broker(3, "b")))
    request = ReplicasRequest([NewTopic("t", 1, 2)], fixed_start_index=0, rack_mode=RackMode.DISABLED)
    text = EXPORTS["script"](draft_plan(PLANNER, request, cluster, Limits()), lambda: cluster).decode()
    assert "# FRAGILE: 1 of 1 partitions of t span fewer racks" in text
    assert "topics --create --topic t " in text


def test_names_of_strangers_are_text(tmp_path: Path) -> None:
    """The name of a cluster may be anything; in the script it is a comment of one line."""
    ran = run(planned(NewTopic("t", 1, 1)), tmp_path)
    assert ran.status == 0
    assert len(ran.calls) == 1


def test_the_command_that_creates_a_topic_states_its_configurations(tmp_path: Path) -> None:
    configs = {"t": {"retention.ms": "1000", "cleanup.policy": "compact,delete"}}
    request = ReplicasRequest(topics=[NewTopic("t", 3, 2)], algorithm="striped", seed=3, configs=configs)
    plan = draft_plan(PLANNER, request, CLUSTER, Limits())
    assert plan.request["configs"] == configs
    ran = run(plan, tmp_path)
    [(arguments, _)] = [call for call in ran.calls if "--create" in call[0]]
    stated = [arguments[at + 1] for at, argument in enumerate(arguments) if argument == "--config"]
    assert stated == ["cleanup.policy=compact,delete", "retention.ms=1000"]


def test_a_request_without_configurations_has_the_canonical_fields_that_it_had() -> None:
    assert "configs" not in planned(NewTopic("t", 3, 2)).request
