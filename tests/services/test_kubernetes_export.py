"""A reassignment as a manifest of Kubernetes, whose script runs here with Kafka's tools played by a script."""

import io
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.core.model import NO_LEADER, NO_REPLICA, Cluster
from app.errors.requests import NotExportable
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import EXPORTS, PLANNER, BalanceRequest, BatchesRequest, ReassignmentRequest
from app.services.reassignment.files import kubernetes
from app.store.records import NewPlan
from tests.jbod import jbod
from tests.services.reassignments import captured

TOOL = """#!/bin/bash
# A batch is in progress for two looks after it was executed. FAILS names the file that cannot be executed, and SPOILS
# the one after which a partition is below its min ISR, others are under-replicated, and somebody else reassigns one.
echo "$(basename "$0") $*" >>"$STATE/log"
while [ $# -gt 0 ]; do
  case $1 in
    --reassignment-json-file) path=$2 file=${2##*/}; shift ;;
    --execute | --verify | --describe | --list) action=${1#--} ;;
    --unavailable-partitions | --under-min-isr-partitions) action=offline ;;
    --under-replicated-partitions) action=lacking ;;
  esac
  shift
done
spoiled= # by the name of the variable that says how
if [ -n "${SPOILS:-}" ] && [ -e "$STATE/${SPOILS#*:}" ]; then spoiled=${SPOILS%%:*}; fi
case $(basename "$0"):$action in
  kafka-broker-api-versions.sh:)
    printf 'h:9092 (id: %d rack: r1 isFenced: false) -> (\\n' {101..109} | grep -v "id: ${DOWN:-none}" ;;
  kafka-topics.sh:offline)
    if [ -n "${DOWN:-}" ] || [ "$spoiled" = min_isr ]; then
      printf '\\tTopic: orders\\tPartition: 0\\tLeader: none\\tIsr: \\n'
    fi ;;
  kafka-topics.sh:lacking)
    printf '\\tTopic: orders\\tPartition: %d\\tLeader: 1\\tIsr: 1\\n' 1 2 $([ "$spoiled" != lacking ] || echo 3 4) ;;
  kafka-topics.sh:describe) echo "Topic: orders PartitionCount: $(cat "$STATE/partitions" 2>/dev/null || echo 24)" ;;
  kafka-topics.sh:) echo 30 >"$STATE/partitions" ;;
  kafka-reassign-partitions.sh:list)
    if [ "$spoiled" != others ]; then echo "No partition reassignments found."; exit; fi
    echo "other-7: replicas: 1,2. adding: 2." ;;
  kafka-reassign-partitions.sh:execute)
    if [ "$file" = "${FAILS:-}" ]; then echo "Error: rejected" >&2; exit 1; fi
    echo 2 >"$STATE/$file" ;;
  kafka-reassign-partitions.sh:verify)
    # It asks the brokers of log directories, and fails without the answer of each.
    if [ -n "${UNREACHABLE:-}" ] && grep -q log_dirs "$path"; then exit 1; fi
    echo "Status of partition reassignment:"
    left=$(cat "$STATE/$file" 2>/dev/null || if [[ $file = *rollback* ]]; then echo 0; else echo none; fi)
    case $left in
      none) echo "There is no active reassignment of partition t-0, but replica set is 1 rather than 2." ;;
      0) echo "Reassignment of partition t-0 is completed." ;;
      *) echo $((left - 1)) >"$STATE/$file"; echo "Reassignment of partition t-0 is still in progress." ;;
    esac ;;
esac
"""
TOOLS = tuple(
    f"kafka-{name}.sh"
    for name in ("reassign-partitions", "topics", "configs", "leader-election", "broker-api-versions", "log-dirs")
)
_LOOKS = ("--verify", "--describe", "--list", "kafka-broker-api-versions.sh")


def plan(**changes: Any) -> NewPlan:
    """Broker 105 removed from the captured cluster, which takes several batches."""
    keep = BalanceRequest(leaders="keep")  # so that each batch copies
    request = ReassignmentRequest(remove_brokers=[105], balance=keep, **changes)
    return draft_plan(PLANNER, request, captured(), Limits())


def documents(written: bytes) -> list[dict[str, Any]]:
    """The documents of YAML, by a parser that reads megabytes in no time."""
    return list(yaml.load_all(written, Loader=yaml.CSafeLoader))


def manifest(**changes: Any) -> list[dict[str, Any]]:
    """The documents of the manifest."""
    return documents(EXPORTS["kubernetes"](plan(**changes), captured))


@dataclass(frozen=True)
class Pod:
    """The mounted files and the state of the played cluster."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """The container's command, run to its end."""
        environment = {**os.environ, **self.environment, **settings}
        command = ["bash", str(self.folder / "batches" / "run.sh"), *options]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    @property
    def executed(self) -> list[str]:
        """Changes, in order: batches executed, cordons, partitions, the election."""
        lines = (self.folder / "state" / "log").read_text().splitlines()
        return [line for line in lines if not any(look in line for look in _LOOKS)]


def pod(tmp_path: Path, documents: list[dict[str, Any]]) -> Pod:
    """The pod of the manifest's Job on this machine."""
    *maps, job = documents
    folders = {name: tmp_path / name for name in ("batches", "tools", "state")}
    for folder in folders.values():
        folder.mkdir()
    for one in maps:
        for name, content in one["data"].items():
            (folders["batches"] / name).write_text(content)
    for name in TOOLS:
        (folders["tools"] / name).write_text(TOOL)
        (folders["tools"] / name).chmod(0o755)
    [container] = job["spec"]["template"]["spec"]["containers"]
    stated = {one["name"]: one["value"] for one in container["env"]}
    where = {"BATCHES": str(folders["batches"]), "KAFKA_BIN": str(folders["tools"]), "STATE": str(folders["state"])}
    return Pod(tmp_path, {**stated, **where, "POLL_SECONDS": "0.01"})


def batches_of(one: Pod) -> list[str]:
    """The batches that were executed, in order."""
    return [line.split("--reassignment-json-file ")[1].split()[0] for line in one.executed if "--execute" in line]


@pytest.mark.long
def test_every_batch_is_executed_once_and_in_order(tmp_path: Path) -> None:
    documents = manifest(partitions={"orders": 30}, batches=BatchesRequest(throttle_bytes_per_s=1000))
    one = pod(tmp_path, documents)
    done = one.run()
    assert done.returncode == 0, done.stderr
    count = len([name for name in documents[0]["data"] if name.endswith("-execute.json")])
    assert count > 1
    assert batches_of(one) == [f"{number:02d}-execute.json" for number in range(1, count + 1)]
    changed = one.executed
    assert "--partitions 30 --replica-assignment" in changed[0]
    assert changed[1].endswith("--entity-name 105 --add-config cordoned.log.dirs=*")
    assert changed[2].endswith("01-execute.json --execute --throttle 1000")
    assert changed[-1].startswith("kafka-leader-election.sh")
    looks = [line for line in done.stdout.splitlines() if "in progress" in line]
    assert len(looks) == 2 * count
    assert all(re.fullmatch(r"batch \d\d: in progress, \d+ of \d+ partitions.*", look) for look in looks)
    assert one.run().returncode == 0
    assert len(batches_of(one)) == count, "what is complete is not executed again"


@pytest.mark.long
def test_a_failure_stops_it_and_another_run_goes_on(tmp_path: Path) -> None:
    one = pod(tmp_path, manifest())
    failed = one.run(FAILS="02-execute.json")
    assert failed.returncode != 0
    assert "Error: rejected" in failed.stderr
    assert batches_of(one) == ["01-execute.json", "02-execute.json"]
    again = one.run()
    assert again.returncode == 0, again.stderr
    assert batches_of(one) == ["01-execute.json", "02-execute.json", "02-execute.json", "03-execute.json"]


@pytest.mark.long
def test_a_batch_in_progress_is_waited_for(tmp_path: Path) -> None:
    one = pod(tmp_path, manifest())
    (tmp_path / "state" / "01-execute.json").write_text("5")
    assert one.run().returncode == 0
    assert batches_of(one) == ["02-execute.json", "03-execute.json"]


@pytest.mark.parametrize(
    ("spoiled", "settings", "reason"),
    [
        ("min_isr", {}, "1 partitions are below their min.insync.replicas; the plan moves "),
        ("lacking", {"MOST_UNDER_REPLICATED": "2"}, "4 partitions are under-replicated; the limit is 2"),
        ("others", {}, "another reassignment is running: other-7"),
        ("", {"ALARM": 'test ! -e "$STATE/01-execute.json"'}, "the alarm command failed: test ! -e "),
    ],
)
def test_it_stops_before_the_next_batch(tmp_path: Path, spoiled: str, settings: Mapping[str, str], reason: str) -> None:
    """The first batch is executed, since all was well before it; once it is again, the others are."""
    one = pod(tmp_path, manifest())
    stopped = one.run(SPOILS=f"{spoiled}:01-execute.json", **settings)
    assert (stopped.returncode, batches_of(one)) == (1, ["01-execute.json"]), stopped.stderr
    assert f"stopped: {reason}" in stopped.stderr
    assert "01-execute.json: complete" in stopped.stdout
    done = one.run(**{name: value for name, value in settings.items() if name != "ALARM"})
    assert done.returncode == 0, done.stderr
    assert batches_of(one) == ["01-execute.json", "02-execute.json", "03-execute.json"]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    """Not even the log, and it prints each step."""
    one = pod(tmp_path, manifest(partitions={"orders": 30}))
    tried = one.run("--dry-run")
    assert tried.returncode == 0, tried.stderr
    assert one.executed == []
    assert not (tmp_path / "batches" / "run.log").exists()
    steps = [
        "would create partitions of orders, 30 in all",
        "would change broker 105: --add-config cordoned.log.dirs=*",
    ]
    steps += [f"would execute {number:02d}-execute.json" for number in (1, 2, 3)]
    printed = [next((line for line in tried.stdout.splitlines() if line.startswith(step)), None) for step in steps]
    assert None not in printed, tried.stdout
    assert tried.stdout.endswith("nothing was changed\n")


COMMANDS = (
    *("awk", "basename", "bash", "cat", "cut", "date", "dirname", "grep", "head", "mktemp", "paste", "rm", "sed"),
    *("sha256sum", "sleep", "sort", "tr", "wc"),
)
"""Of POSIX and GNU, in any image that has Kafka's tools."""


@pytest.mark.long
def test_it_needs_no_other_tools_than_kafkas(tmp_path: Path) -> None:
    """Neither jq nor Python: each step is taken, and undone, with these commands alone."""
    one = pod(tmp_path, manifest(partitions={"orders": 30}, batches=BatchesRequest(throttle_bytes_per_s=1000)))
    (tmp_path / "commands").mkdir()
    for name in COMMANDS:
        (tmp_path / "commands" / name).symlink_to(Path(shutil.which(name) or name).resolve())
    for options in (["--dry-run"], [], ["--rollback"]):
        done = one.run(*options, PATH=str(tmp_path / "commands"), MOST_UNDER_REPLICATED="9", ALARM="true")
        assert (done.returncode, done.stderr) == (0, ""), options
    assert len(batches_of(one)) > 1


def test_the_job_runs_the_files_of_the_archive() -> None:
    """The same script, and the same texts for it; a pod has no use for the README."""
    made = plan()
    maps = documents(EXPORTS["kubernetes"](made, captured))[:-1]
    mounted = {name: content for one in maps for name, content in one["data"].items()}
    with zipfile.ZipFile(io.BytesIO(EXPORTS["batches"](made, captured))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert mounted["run.sh"] == files["run.sh"]
    shared = mounted.keys() & files.keys()
    assert {name for name in files if re.match(r"\d+-|.*\.txt$", name)} - {"README.txt"} <= shared
    assert all(mounted[name] == files[name] for name in shared - {"SHA256SUMS"})


def without_105() -> Cluster:
    """The captured cluster while broker 105 is down, which has the only replica of orders-0."""
    cluster = captured()
    orders = cluster.topic("orders")
    assert orders is not None
    lists = {name: getattr(orders, name).copy() for name in ("replicas", "isr", "leaders")}
    lists["replicas"][0], lists["isr"][0], lists["leaders"][0] = NO_REPLICA, NO_REPLICA, NO_LEADER
    lists["replicas"][0, 0] = 105
    return replace(
        cluster,
        brokers=tuple(replace(broker, fenced=broker.id == 105) for broker in cluster.brokers),
        topics=tuple(replace(orders, **lists) if topic is orders else topic for topic in cluster.topics),
    )


@pytest.mark.long
def test_a_batch_without_a_replica_to_copy_waits_for_the_broker(tmp_path: Path) -> None:
    """It is the last one; all others are executed, and the preferred leaders lead, whatever is below its min ISR."""
    made = draft_plan(PLANNER, ReassignmentRequest(remove_brokers=[105]), without_105(), Limits())
    one = pod(tmp_path, documents(EXPORTS["kubernetes"](made, without_105)))
    count = len(list((tmp_path / "batches").glob("*-execute.json")))
    tried = one.run("--dry-run", DOWN="105")
    assert (tried.returncode, f"{count:02d}-execute.json waits for brokers" in tried.stdout) == (0, True), tried.stderr
    stopped = one.run(DOWN="105")
    assert stopped.returncode == 1
    assert f"{count:02d}-execute.json waits for brokers that are down; without a leader: orders-0" in stopped.stderr
    assert batches_of(one) == [f"{number:02d}-execute.json" for number in range(1, count)]
    assert one.executed[-1].startswith("kafka-leader-election.sh")
    done = one.run()
    assert done.returncode == 0, done.stderr
    assert batches_of(one)[count - 1 :] == [f"{count:02d}-execute.json"]


@pytest.mark.long
def test_directories_of_rollbacks_are_asked_of_no_broker(tmp_path: Path) -> None:
    """The broker that is removed may die on the way."""
    made = draft_plan(PLANNER, ReassignmentRequest(remove_brokers=[105]), jbod(), Limits())
    one = pod(tmp_path, documents(EXPORTS["kubernetes"](made, jbod)))
    rollbacks = sorted((tmp_path / "batches").glob("*-rollback.json"))
    assert any("log_dirs" in rollback.read_text() for rollback in rollbacks)
    there = one.run(UNREACHABLE="yes", TMPDIR=str(tmp_path / "state"))
    assert there.returncode == 0, there.stderr
    assert len(batches_of(one)) == len(rollbacks)
    assert not [path for path in (tmp_path / "state").iterdir() if path.is_dir()]


def test_a_tool_that_fails_stops_it(tmp_path: Path) -> None:
    one = pod(tmp_path, manifest())
    for tool in ("kafka-configs.sh", "kafka-reassign-partitions.sh"):
        (tmp_path / "tools" / tool).write_text("#!/bin/bash\necho no connection >&2\nexit 1\n")
        done = one.run()
        assert (done.returncode != 0, "no connection" in done.stderr) == (True, True)


@pytest.mark.parametrize(
    ("failing", "printed", "needs"),
    [
        (
            "verify",
            "Error: o.a.k.TopicAuthorizationException: Topic authorization failed.",
            "DESCRIBE on the cluster and",
        ),
        (
            "under-min-isr-partitions",
            "Error : Topic authorization failed.",
            "DESCRIBE and DESCRIBE_CONFIGS on the topics",
        ),
        (
            "execute",
            "t-0: Request Request(processor=0) needs ALTER permission.",
            "ALTER on the cluster; for the throttle",
        ),
        ("execute", "t-0: Request Request(processor=0) is not authorized.", "ALTER on the cluster; for the throttle"),
        ("execute", "t-0: The partition assignment is not valid.", None),
    ],
)
def test_the_rights_of_a_step_are_named_if_kafka_denies_one(
    tmp_path: Path, failing: str, printed: str, needs: str | None
) -> None:
    """Kafka names the kind of resource, and not always the operation."""
    one = pod(tmp_path, manifest(batches=BatchesRequest(throttle_bytes_per_s=1000)))
    for name in ("kafka-topics.sh", "kafka-reassign-partitions.sh"):
        tool = tmp_path / "tools" / name
        denies = f'case " $* " in *" --{failing} "*) echo "{printed}"; exit 1 ;; esac\n'
        tool.write_text(TOOL.replace("while [ $# -gt 0 ]", f"{denies}while [ $# -gt 0 ]", 1))
    stopped = one.run()
    assert stopped.returncode == 1
    denied = [line for line in stopped.stderr.splitlines() if line.startswith("Kafka denied this; it needs ")]
    assert len(denied) == (needs is not None)
    assert all(needs in line for line in denied if needs)
    assert printed in stopped.stdout + stopped.stderr


def test_the_manifest_is_of_kubernetes() -> None:
    *maps, job = manifest()
    assert {one["kind"] for one in maps} == {"ConfigMap"}
    assert (job["kind"], job["spec"]["backoffLimit"]) == ("Job", 0)
    pod_spec = job["spec"]["template"]["spec"]
    mounted = [source["configMap"]["name"] for source in pod_spec["volumes"][0]["projected"]["sources"]]
    assert mounted == [one["metadata"]["name"] for one in maps]
    assert pod_spec["restartPolicy"] == "Never"


@pytest.mark.long
@pytest.mark.slow
def test_large_plans_take_several_config_maps() -> None:
    files = {"plan.txt": b"", **{f"{number:02d}-execute.json": b"x" * 400_000 for number in range(1, 6)}}
    *maps, _ = documents(kubernetes.write(plan(), files))
    assert len(maps) == 3
    assert [name for one in maps for name in one["data"]] == list(files)
    assert all(sum(map(len, one["data"].values())) <= kubernetes.MOST_BYTES for one in maps)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"01-execute.json": b"x" * 1_000_001}, "01-execute.json is 1000001 bytes"),
        ({f"{number}.json": b"x" * 900_000 for number in range(60)}, "at most 50 are written"),
    ],
)
def test_what_does_not_fit_is_a_problem(files: Mapping[str, bytes], reason: str) -> None:
    with pytest.raises(NotExportable, match=reason):
        kubernetes.write(plan(), files)


def test_merged_reassignments_need_an_option() -> None:
    request = dict(plan().request) | {"running_reassignment": "merge"}
    first, *_ = documents(EXPORTS["kubernetes"](replace(plan(), request=request), captured))
    assert "additional yes" in first["data"]["plan.txt"].splitlines()
