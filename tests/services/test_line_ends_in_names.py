"""A name never ends a line of an export: hostile names are rejected, and stored ones change no line of any format.

Callers choose names: of a cluster, a rack, a log directory, an attribute, a label, a group, a member, a client.
"""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow.ipc
import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from app.api.checks.requests import ReassignedPartition
from app.api.models.clusters import SnapshotRequest
from app.core.model import Cluster, Cordon, control_in
from app.core.recorded import RecordedGroup, RecordedMember
from app.errors.requests import MalformedText, NotExportable
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.services.fields import Attributes, GroupString, Labels, LogDirPath, Name, Rack
from app.services.limits import Limits
from app.services.plans import BATCH, FORMATS, FilePart, draft_plan
from app.services.plans.kinds import KINDS
from app.services.reassignment import EXPORTS
from app.services.reassignment.files import kubernetes
from app.store.records import NewPlan
from tests import strict_yaml
from tests.jbod import jbod
from tests.services.test_kubernetes_export import batches_of, pod

LINE_ENDS = ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
SEPARATORS = [end for end in LINE_ENDS if end >= "\x80"]
"""Those that stored snapshots may have: JSON requests never took C0."""
NINE = jbod()


def hostile(end: str) -> str:
    """A name that would be two lines."""
    return f"a{end}uncordon 101{end}execute 01-execute.json"


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("field", [Name, Rack, LogDirPath, GroupString, Labels, Attributes])
def test_every_field_of_a_name_rejects_it(field: Any, end: str) -> None:
    adapter = TypeAdapter(field)
    values = [hostile(end)] if field not in (Labels, Attributes) else [{"a": hostile(end)}, {f"a{end}b": "a"}]
    for value in values:
        with pytest.raises(ValidationError):
            adapter.validate_json(json.dumps(value))


@pytest.mark.parametrize("end", LINE_ENDS)
def test_the_log_directories_of_a_check_reject_it(end: str) -> None:
    with pytest.raises(ValidationError):
        ReassignedPartition(topic="t", partition=0, replicas=[1], log_dirs=[hostile(end)])


def by_place(name: str) -> dict[str, dict[str, Any]]:
    """A snapshot as JSON with the name in each place that is a name."""

    def of(broker: Mapping[str, Any], **top: Any) -> dict[str, Any]:
        return {"cluster": "c", "brokers": [{"id": 1, **broker}], **top}

    return {
        "/cluster": of({}, cluster=name),
        "/brokers/0/rack": of({"rack": name}),
        "/brokers/0/attributes": of({"attributes": {"zone": name}}),
        "/brokers/0/log_dirs/0/path": of({"log_dirs": [{"path": name}]}),
        "/brokers/0/cordoned_log_dirs/0": of({"cordoned_log_dirs": [name]}),
        "/topics/0/name": of({}, topics=[{"name": name, "partitions": []}]),
        "/groups/0/group_id": of({}, groups=[{"group_id": name}]),
    }


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("place", by_place(""))
def test_a_snapshot_as_json_names_the_field(place: str, end: str) -> None:
    with pytest.raises(ValidationError) as invalid:
        SnapshotRequest.model_validate_json(json.dumps(by_place(hostile(end))[place]))
    assert f"/{'/'.join(map(str, invalid.value.errors()[0]['loc']))}".startswith(place)


TOPIC = (
    "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
)
LOG_DIRS = (
    '{{"version":1,"brokers":[{{"broker":1,"logDirs":[{{"logDir":{path},"error":null,"partitions":[{{"partition":"t-0",'
    '"size":1,"offsetLag":0,"isFuture":false}}]}},'
    '{{"logDir":"/e","error":null,"partitions":[]}}]}}]}}'
)
TEXTS = {
    "rack of kafka-broker-api-versions": "kafka-1:9092 (id: 1 rack: {name} isFenced: false) -> (\n)\n",
    "rack of kafka-cluster": "ID HOST PORT RACK STATE ENDPOINT_TYPE\n1 kafka-1 9092 {name} unfenced broker\n",
    "host": "{name}:9092 (id: 1 rack: a isFenced: false) -> (\n)\n",
    "topic": "Topic: {name}\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: {name}\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n",
    "log directory as it is": TOPIC + LOG_DIRS.format(path='"/{name}"'),
    "log directory as an escape": TOPIC + LOG_DIRS.format(path="{escape}"),
    "cordoned log directory": "Dynamic configs for broker 1 are:\n  cordoned.log.dirs=[/{name}] sensitive=false\n",
    "registration": 'get /brokers/ids/1\n{{"endpoints":["PLAINTEXT://k:9092"],"rack":{escape},"jmx_port":-1,"host":"k",'
    '"timestamp":"1","port":9092,"version":5}}\n',
    "group": "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\n{name} m /1 c 0 -\n",
    "strimzi": "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nmetadata: {{name: {escape}}}\n"
    "spec: {{roles: [broker], replicas: 1}}\nstatus: {{nodeIds: [1], roles: [broker]}}\n",
}


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("what", TEXTS)
def test_no_text_makes_a_cluster_with_it(what: str, end: str) -> None:
    """A text is rejected, or the character ends a line or a column for its reader, and no name has it."""
    name = hostile(end)
    text = TEXTS[what].replace("{{", "{").replace("}}", "}")
    text = text.replace("{name}", name).replace("{escape}", json.dumps(f"/{name}"))
    try:
        cluster = assemble("c", [Upload(text, "a.txt", "files")]).cluster
    except MalformedText:
        return
    names = [broker.rack for broker in cluster.brokers] + [topic.name for topic in cluster.topics]
    names += [directory.path for directories in cluster.log_dirs.values() for directory in directories]
    names += [path for cordon in cluster.cordons.values() for path in cordon.log_dirs]
    names += [name for group in cluster.groups for name in (group.group_id, *(m.member_id for m in group.members))]
    assert [one for one in names if one is not None and control_in(one) is not None] == []


@pytest.mark.parametrize("end", LINE_ENDS)
def test_a_rejected_text_names_the_path_and_its_line(end: str) -> None:
    text = TOPIC + LOG_DIRS.format(path=json.dumps(f"/d{end}x"))
    with pytest.raises(MalformedText, match=r"U\+") as malformed:
        assemble("c", [Upload(text, "a.txt", "files")])
    assert "a log directory of broker 1 without control characters" in malformed.value.detail
    if end in SEPARATORS:
        with pytest.raises(MalformedText) as malformed:
            assemble("c", [Upload(text.encode().decode("unicode_escape"), "a.txt", "files")])
        assert malformed.value.detail.startswith("line 3 of a.txt: ")


def test_the_name_of_a_cluster_beside_texts() -> None:
    with pytest.raises(MalformedText, match="a name of the cluster"):
        assemble("a\x85b", [Upload("kafka-1:9092 (id: 1 rack: a isFenced: false) -> (\n)\n")])


def stored(name: str, path: str) -> Cluster:
    """The nine brokers with the name wherever a snapshot has one: of the cluster, racks, attributes, a group, …"""
    brokers = tuple(replace(broker, rack=f"{broker.rack} {name}", attributes={"zone": name}) for broker in NINE.brokers)
    directories = {
        number: tuple(replace(one, path=path) if one.path == "/data/d2" else one for one in listed)
        for number, listed in NINE.log_dirs.items()
    }
    members = tuple(
        RecordedMember(f"{number} {name}", name, name, f"{number} {name}", f"rack {name}", ("orders",), ())
        for number in range(3)
    )
    groups = (RecordedGroup(name, "Stable", "range", members),)
    return replace(NINE, name=name, brokers=brokers, log_dirs=directories, groups=groups)


def request_of(kind: str, name: str) -> dict[str, Any]:
    """A stored request with the name wherever one is stored, whose plan has every export format of its kind."""
    topics = [{"name": "new", "partitions": 5, "replication_factor": 3}]
    subtopologies = [{"id": 0, "source_topics": ["orders"]}]
    runners = [{"rack_id": f"rack {name}", "process_id": f"{number} {name}"} for number in range(3)]
    removal = {"remove_brokers": [105], "log_dirs": {"balance": "tight"}, "kafka_version": "4.4"}
    orders = next(len(topic.partition_ids) for topic in NINE.topics if topic.name == "orders")
    series = {"start": "2026-11-27T06:00:00Z", "step_s": 60, "bytes_per_s": {"orders": [[5] * orders]}}
    by_kind: dict[str, dict[str, Any]] = {
        "replicas": {"topics": topics},
        "reassignment": {**removal, "partitions": {"orders": 26}},
        "group": {"assignors": ["range"], "group": name},
        "streams": {"clients": runners, "subtopologies": subtopologies, "num_standby_replicas": 1},
        "restart": {},
        "consumers": {"series": series, "capacity_bytes_per_s": 10},
    }
    return {**by_kind[kind], "labels": {name: name}}


def plan_of(cluster: Cluster, kind: str = "reassignment", name: str = "a", **request: Any) -> NewPlan:
    """The plan of a stored request."""
    planner = KINDS[kind].planner
    return draft_plan(planner, planner.restored({**request_of(kind, name), **request}), cluster, Limits())


@cache
def planned(kind: str, name: str, path: str) -> tuple[Cluster, NewPlan]:
    """The stored cluster, and its plan."""
    cluster = stored(name, path)
    return cluster, plan_of(cluster, kind, name)


def exported(kind: str, export: str, name: str, path: str) -> bytes:
    """The plan in a format; of single batches the first one."""
    cluster, plan = planned(kind, name, path)
    return KINDS[kind].write(plan, export, lambda: cluster, FilePart(1 if export == BATCH else None))


def shape(document: Any) -> Any:
    """The collections of a document, and the number of lines of each text: only LF ends one in JSON and YAML."""
    if isinstance(document, dict | list):
        return [shape(item) for item in (document.values() if isinstance(document, dict) else document)]
    return document.count("\n") if isinstance(document, str) else 0


def lines_of(suffix: str, written: bytes) -> Any:
    """The lines of a file, by the widest notion of a line end: records, rows and collections of formats with some."""
    match suffix:
        case "csv":
            return [len(record) for record in csv.reader(io.StringIO(written.decode(), newline=""))]
        case "zip":
            with ZipFile(io.BytesIO(written)) as archive:
                return {entry: lines_of(entry.rpartition(".")[2], archive.read(entry)) for entry in archive.namelist()}
        case "arrow":
            with pyarrow.ipc.open_stream(written) as stream:
                return [batch.num_rows for batch in stream]
        case "json":
            return written.count(b"\n"), shape(json.loads(written))
        case "yaml":
            return shape(list(yaml.safe_load_all(written)))
        case _:
            return len(written.decode().splitlines())


@pytest.mark.long
@pytest.mark.parametrize("end", SEPARATORS)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in KINDS[kind].formats])
def test_a_stored_name_adds_no_line_to_any_format(kind: str, name: str, end: str) -> None:
    """Requests and snapshots took these characters once; names that have them are still stored."""
    suffix = FORMATS[name].suffix
    expected = lines_of(suffix, exported(kind, name, "a", "/data/d2"))
    assert lines_of(suffix, exported(kind, name, hostile(end), f"/data/d2{end}uncordon 101")) == expected


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"consumers"}))
def test_a_format_of_each_kind_has_the_name(kind: str) -> None:
    """Otherwise the law above would hold whatever is written. Files of consumers have no names but the workload's."""
    files = [exported(kind, name, hostile("\x85"), "/data/d2\x85uncordon 101") for name in KINDS[kind].formats]
    assert any(b"uncordon 101" in file for file in files)


@pytest.mark.long
@pytest.mark.parametrize("end", SEPARATORS)
@pytest.mark.parametrize("name", ["reassignment", "rollback"])
def test_files_of_kafka_have_the_name_as_it_is(name: str, end: str) -> None:
    path = f"/data/d2{end}uncordon 101"
    broken, plan = planned("reassignment", hostile(end), path)
    document = json.loads(EXPORTS[name](plan, lambda: broken))
    assert path in {one for partition in document["partitions"] for one in partition["log_dirs"]}


def as_texts(value: Any) -> Any:
    """A value of YAML with its scalars as texts."""
    if isinstance(value, dict):
        return {key: as_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_texts(item) for item in value]
    return str(value).lower() if isinstance(value, bool | int) else value


@pytest.mark.long
@pytest.mark.parametrize("end", SEPARATORS)
def test_two_readers_of_yaml_read_the_same_manifest(end: str, tmp_path: Path) -> None:
    """And bash runs the steps of the plan, and no other."""
    broken, plan = planned("reassignment", hostile(end), f"/data/d2{end}uncordon 101")
    written = EXPORTS["kubernetes"](plan, lambda: broken)
    documents = list(yaml.safe_load_all(written))
    strict = strict_yaml.load_all(written.decode())
    assert [one["data"] for one in documents[:-1]] == [one["data"] for one in strict[:-1] if isinstance(one, dict)]
    assert as_texts(documents[-1]) == strict[-1]
    one = pod(tmp_path, documents)
    done = one.run()
    assert done.returncode == 0, done.stderr
    assert not [line for line in one.executed if "--delete-config" in line]
    batches = sorted(name for name in documents[0]["data"] if name.endswith("-execute.json"))
    assert batches_of(one) == batches
    executed = [json.loads((tmp_path / "batches" / batch).read_bytes()) for batch in batches]
    assert any(f"/data/d2{end}uncordon 101" in p["log_dirs"] for file in executed for p in file["partitions"])


@pytest.mark.parametrize("end", LINE_ENDS)
def test_a_script_does_not_cordon_a_directory_with_it(end: str) -> None:
    """`steps` is read line by line: such a directory is rejected, however it was stored."""
    cordons = {105: Cordon(False, (f"/data/d2{end}uncordon 101",))}
    broken = replace(NINE, cordons=cordons)
    plan = plan_of(broken, log_dirs=None)
    with pytest.raises(NotExportable, match=r"directory of broker 105 has U\+"):
        EXPORTS["kubernetes"](plan, lambda: broken)


@pytest.mark.parametrize("end", LINE_ENDS)
def test_any_text_of_a_manifest_is_read_back(end: str) -> None:
    _, plan = planned("reassignment", "a", "/data/d2")
    files = {"steps": f"a{end}b\n".encode(), "01-execute.json": f'{{"a":"{end}"}}\n'.encode()}
    written = kubernetes.write(replace(plan, cluster=hostile(end)), files)
    data = next(iter(yaml.safe_load_all(written)))["data"]
    assert {name: data[name].encode() for name in files} == files
    assert written.decode().splitlines()[0].startswith("# Executes plan ")
