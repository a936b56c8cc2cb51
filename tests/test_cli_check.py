"""`rackplan check` and `rackplan diff`: the gate of a pipeline, as its exit codes and files say."""

import json
import string
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.requests import ConflictingFields, MalformedText
from app.formats.snapshots import snapshot_json
from app.formats.sources import desired_topics
from app.formats.sources.desired_topics import Strategy
from app.formats.syntax import yaml_documents
from app.services import checks
from app.services.checks import MEASURES
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, READER
from tests.conftest import ROOT, SAMPLES
from tests.documents import Document, replay
from tests.services.reassignments import captured
from tests.test_cli import within_this_process

TEXTS = (str(SAMPLES / "kafka-topics-describe.txt"), str(SAMPLES / "kafka-broker-api-versions.txt"))
DESIRED = SAMPLES / "desired"
DOC = Document(ROOT / "docs" / "automation.md")


def lists(*partitions: tuple[str, int, list[int]]) -> str:
    """A file for Kafka with these partitions."""
    rows = [{"topic": topic, "partition": number, "replicas": row} for topic, number, row in partitions]
    return json.dumps({"version": 1, "partitions": rows})


class TestGate:
    """Conditions decide the exit code; tables, JSON and JUnit say the same."""

    def test_no_condition_holds(self) -> None:
        done = within_this_process("check", *TEXTS)
        assert (done.returncode, done.stderr) == (0, "")
        assert "violations" in done.stdout

    def test_a_condition_holds(self, tmp_path: Path) -> None:
        files = ("--junit", str(tmp_path / "j.xml"), "--output", str(tmp_path / "c.json"))
        done = within_this_process("check", *TEXTS, "--fail-on", "violations,skew>0.1", "--json", *files)
        assert done.returncode == 3
        document = json.loads(done.stdout)
        assert document == json.loads((tmp_path / "c.json").read_text())
        assert document["passed"] is False
        assert [one["passed"] for one in document["conditions"]] == [True, False]
        assert document["measures"]["partitions"] == 117
        suite = ET.fromstring((tmp_path / "j.xml").read_text())  # noqa: S314 — our own
        assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
        assert [case.get("name") for case in suite] == ["violations", "skew>0.1"]
        assert [len(case) for case in suite] == [0, 1]

    def test_limits_of_brokers(self) -> None:
        done = within_this_process("check", *TEXTS, "--limit", "replicas=40", "--fail-on", "over_limit", "--json")
        assert done.returncode == 3
        document = json.loads(done.stdout)
        assert [(one["broker"], one["value"]) for one in document["over_limit"]] == [(108, 48), (109, 47)]
        assert document["least_repair"]["moved_replicas"] >= 15

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--limit", "disk"), "such as disk=0.8"),
            (("--limit", "disk=0.8,disk=0.7"), "names disk twice"),
            (("--limit", "dsik=0.8"), "dsik"),
            (("--limit", "disk=0.8"), "bytes of every partition"),
            (("--reassignment", str(SAMPLES / "reassignment-current.json"), "--losses", "x.csv"), "resources"),
            (("--fail-on", "over_limit", "--reassignment", str(SAMPLES / "reassignment-current.json")), "over_limit"),
        ],
    )
    def test_limits_that_cannot_be(self, options: tuple[str, ...], words: str) -> None:
        done = within_this_process("check", *TEXTS, *options)
        assert done.returncode not in (0, 3)
        assert words in " ".join(done.stderr.split())

    def test_violations_are_named_in_every_form(self, tmp_path: Path) -> None:
        crowded = {"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [101, 104, 107]}]}
        racks = {broker.id: broker.rack for broker in captured().brokers}
        same = [broker for broker, rack in racks.items() if rack == racks[101]][:3]
        crowded["partitions"][0]["replicas"] = same  # type: ignore[index] # the one partition
        (tmp_path / "r.json").write_text(json.dumps(crowded))
        junit = tmp_path / "j.xml"
        done = within_this_process("check", *TEXTS, "--reassignment", str(tmp_path / "r.json"), "--junit", str(junit))
        assert done.returncode == 3
        assert "too_few_racks" in done.stdout
        assert "span fewer racks than they could" in junit.read_text()

    def test_sarif_has_a_result_for_each_violation_and_condition_that_fails(self, tmp_path: Path) -> None:
        """The fields are those that SARIF 2.1.0 requires of a log, a run, a tool, a result and a location."""
        file, sarif = tmp_path / "r.json", tmp_path / "s.json"
        racks = {broker.id: broker.rack for broker in captured().brokers}
        same = [broker for broker, rack in racks.items() if rack == racks[101]][:3]
        file.write_text(lists(("orders", 0, same)))
        done = within_this_process("check", *TEXTS, "--reassignment", str(file), "--sarif", str(sarif))
        assert done.returncode == 3
        document = json.loads(sarif.read_text())
        assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
        [run] = document["runs"]
        assert run["tool"]["driver"]["name"] == "rackplan"
        results = {each["ruleId"]: each for each in run["results"]}
        assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(results)
        assert results["too_few_racks"]["level"] == "warning"
        assert results["violations"]["level"] == "error"
        assert "span fewer racks" in results["too_few_racks"]["message"]["text"]
        [location] = results["too_few_racks"]["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == str(file)
        assert location["logicalLocations"] == [{"name": "orders", "kind": "topic"}]

    def test_sarif_points_at_the_line_of_a_topic(self) -> None:
        done = within_this_process("check", *TEXTS, "--desired", str(DESIRED / "strimzi.yaml"), "--sarif", "-")
        [run] = json.loads(done.stdout)["runs"]
        differences = [each for each in run["results"] if each["ruleId"] == "difference"]
        lines = [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in differences]
        assert len(lines) > 1
        assert lines == sorted(lines)
        text = (DESIRED / "strimzi.yaml").read_text().splitlines()
        assert all(text[line - 1].strip() for line in lines)

    def test_all_errors_of_all_files_name_their_file(self, tmp_path: Path) -> None:
        one, other, broken = (tmp_path / name for name in ("one.json", "other.json", "broken.json"))
        one.write_text(lists(("orders", 0, [101, 999]), ("nope", 7, [101])))
        other.write_text(lists(("orders", 0, [101, 104])))
        broken.write_text('{"version": 1')
        options = ("check", *TEXTS, "--reassignment", str(one), "--reassignment", str(other))
        done = within_this_process(*options)
        assert done.returncode == 2
        listed = [line.strip() for line in done.stderr.splitlines()[1:]]
        assert listed == [
            f"{one}: partition orders-0: there is no broker 999",
            f"{one}: there is no partition nope-7 in the snapshot",
            f"{other}: partition orders-0 is reassigned twice",
        ]
        (tmp_path / "topic.yaml").write_text("kind: KafkaTopic\nmetadata: {name: a}\nspec: {partitions: x}\n")
        done = within_this_process(*options, "--reassignment", str(broken), "--desired", str(tmp_path))
        assert done.returncode == 2
        assert str(broken) in done.stderr
        assert str(tmp_path / "topic.yaml") in done.stderr

    def test_files_of_reassignments_are_checked_together(self, tmp_path: Path) -> None:
        files = [tmp_path / "one.json", tmp_path / "other.json"]
        for number, file in enumerate(files):
            file.write_text(lists(("orders", number, [101, 104, 107])))
        done = within_this_process(
            "check", *TEXTS, "--reassignment", str(files[0]), "--reassignment", str(files[1]), "--json"
        )
        movement = json.loads(done.stdout)["movement"]
        alone = [
            json.loads(within_this_process("check", *TEXTS, "--reassignment", str(file), "--json").stdout)["movement"]
            for file in files
        ]
        assert movement["replicas_added"] == sum(each["replicas_added"] for each in alone)

    def test_a_limit_that_is_stated_is_a_condition(self) -> None:
        done = within_this_process("check", *TEXTS, "--limit", "replicas=40")
        assert done.returncode == 3
        assert "over_limit" in done.stdout
        assert within_this_process("check", *TEXTS, "--limit", "replicas=4000").returncode == 0

    @pytest.mark.long
    def test_capacity_is_an_option(self) -> None:
        sizes = str(SAMPLES / "kafka-log-dirs-describe.txt")
        options = ("check", *TEXTS, sizes, "--limit", "disk=0.8", "--capacity")
        assert within_this_process(*options, "disk=1TB").returncode == 0
        assert within_this_process(*options, "disk=20MB").returncode == 3

    def test_a_lower_factor_fails_the_gate(self, tmp_path: Path) -> None:
        """From 3 to 1 with min.insync.replicas=2, unless it is allowed by name; the reason is in every form."""
        header = "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
        topics, file, junit = (tmp_path / name for name in ("topics.txt", "r.json", "j.xml"))
        topics.write_text(header + "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n")
        file.write_text(json.dumps({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}))
        options = ("check", str(topics), "--reassignment", str(file))
        done = within_this_process(*options, "--junit", str(junit))
        assert done.returncode == 3
        assert "factor_lowered" in done.stdout
        assert "min.insync.replicas=2" in junit.read_text()
        never = within_this_process(*options, "--allow-lower-factor")
        assert (never.returncode, "below_min_isr" in never.stdout) == (3, True)
        topics.write_text(topics.read_text().replace("min.insync.replicas=2", "min.insync.replicas=1"))
        allowed = within_this_process(*options, "--allow-lower-factor")
        assert allowed.returncode == 0, allowed.stderr
        assert "warning: factor_lowered" in allowed.stdout
        alone = within_this_process("check", str(topics), "--allow-lower-factor")
        assert (alone.returncode, "about a reassignment" in alone.stderr) == (2, True)

    def test_a_loss_that_makes_partitions_unwritable_fails_the_gate(self, tmp_path: Path) -> None:
        """Of a cluster whose factor is min.insync.replicas; one whose factor is above it passes."""
        topics = tmp_path / "topics.txt"
        for least, code in ((3, 3), (2, 0)):
            header = f"Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas={least}\n"
            topics.write_text(header + "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n")
            done = within_this_process("check", str(topics), "--json")
            assert done.returncode == code
            document = json.loads(done.stdout)
            conditions = {one["condition"]: one["value"] for one in document["conditions"]}
            assert conditions["unwritable_after_broker_loss"] == (1 if code else 0)
            assert document["undecided"] == []

    @pytest.mark.parametrize(("racks", "code"), [("aab", 0), ("abc", 0), ("aabc", 3)])
    def test_the_loss_of_one_of_three_racks_fails_the_gate(self, tmp_path: Path, racks: str, code: int) -> None:
        """Two of three replicas are in one rack; with two racks that cannot be otherwise."""
        topics, brokers = tmp_path / "topics.txt", tmp_path / "brokers.txt"
        header = "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
        topics.write_text(header + "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n")
        rows = (f"h:9092 (id: {id_} rack: {rack} isFenced: false) -> (\n" for id_, rack in enumerate(racks, 1))
        brokers.write_text("".join(rows))
        document = json.loads(within_this_process("check", str(topics), str(brokers), "--json").stdout)
        conditions = {one["condition"]: one["value"] for one in document["conditions"]}
        assert conditions.get("unwritable_after_rack_loss") == {"aab": None, "abc": 0, "aabc": 1}[racks]
        assert document["passed"] == (code == 0)

    def test_what_cannot_be_decided_is_said(self) -> None:
        done = within_this_process("check", *TEXTS)
        assert "not decided: unwritable_after_broker_loss" in done.stdout
        assert json.loads(within_this_process("check", *TEXTS, "--json").stdout)["undecided"]

    def test_a_reassignment_after_which_a_loss_costs_more_fails_the_gate(self, tmp_path: Path) -> None:
        """Two replicas in one rack of three: its loss leaves one, and two have to be in sync."""
        topics, file, brokers = (tmp_path / name for name in ("topics.txt", "r.json", "brokers.txt"))
        header = "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
        topics.write_text(header + "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n")
        brokers.write_text(
            "".join(
                f"10.0.0.{id_}:9092 (id: {id_} rack: {rack} isFenced: false) -> (\n)\n"
                for id_, rack in zip(range(1, 6), "abcab", strict=True)
            )
        )
        for replicas, code in (([1, 2, 5], 3), ([4, 2, 3], 0)):
            file.write_text(lists(("t", 0, replicas)))
            done = within_this_process("check", str(topics), str(brokers), "--reassignment", str(file), "--json")
            assert done.returncode == code, done.stderr
            worse = next(one for one in json.loads(done.stdout)["conditions"] if one["condition"] == "worse_after_loss")
            assert worse["value"] == (1 if code else 0)

    def test_a_plan_is_checked_as_it_is_written(self, tmp_path: Path) -> None:
        plan = tmp_path / "plan.json"
        assert (
            within_this_process(
                "plan", "reassignment", *TEXTS, "--remove-broker", "105", "--output", str(plan)
            ).returncode
            == 0
        )
        done = within_this_process("check", *TEXTS, "--reassignment", str(plan), "--fail-on", "moved_replicas>23")
        assert done.returncode == 0, done.stdout
        done = within_this_process("check", *TEXTS, "--reassignment", str(plan), "--fail-on", "moved_replicas>=23")
        assert done.returncode == 3

    @pytest.mark.parametrize(
        ("condition", "reason"),
        [
            ("violatons", "did you mean 'violations'?"),
            ("limits", "there is no measure limits"),
            ("skew>0.1>2", "is no condition"),
            ("__import__('os')", "is no condition"),
            ("skew>1.2.3", "1.2.3 is no number"),
            ("moved_replicas", "this check has no moved_replicas"),
            ("differences", "this check has no differences"),
        ],
    )
    def test_another_condition_is_a_wrong_input(self, condition: str, reason: str) -> None:
        done = within_this_process("check", *TEXTS, "--fail-on", condition)
        assert (done.returncode, done.stdout) == (2, "")
        assert reason in done.stderr

    @given(st.sampled_from(sorted(MEASURES)), st.sampled_from([">", ">=", "<", "<="]), st.floats(0, 1e6))
    def test_a_condition_compares_its_measure(self, name: str, sign: str, number: float) -> None:
        written = f"{number:.3f}"
        [condition] = checks.conditions([f" {name} {sign}{written}"])
        assert (condition.name, condition.sign, condition.number) == (name, sign, float(written))

    @given(st.text(string.printable, max_size=30))
    def test_any_text_is_a_condition_or_a_problem(self, text: str) -> None:
        try:
            [condition] = checks.conditions([text])
        except ConflictingFields:
            return
        assert condition.name in MEASURES

    def test_the_snapshot_of_the_command_is_an_input(self, tmp_path: Path) -> None:
        file = tmp_path / "snapshot.json"
        file.write_bytes(snapshot_json.write(captured()))
        for how in (("--snapshot", str(file)), (str(file),)):
            done = within_this_process("check", *how, "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["cluster"] == captured().name
        plan = within_this_process("plan", "reassignment", str(file), "--remove-broker", "105", "--json")
        assert json.loads(plan.stdout)["certificate"]["moved_replicas"] == 23
        twice = within_this_process("check", str(file), str(file))
        assert (twice.returncode, "are both snapshots" in twice.stderr) == (2, True)
        both = within_this_process("check", str(file), TEXTS[0])
        assert (both.returncode, "only groups can be added" in both.stderr) == (2, True)


class TestDesired:
    """Topics of YAML files beside the cluster, and the least movement to them."""

    def test_the_request_removes_the_differences(self) -> None:
        cluster = captured()
        desired = desired_topics.read((DESIRED / "strimzi.yaml").read_text())
        differences = checks.compare(cluster, desired)
        assert [(one.topic, one.field, one.is_planned) for one in differences.differences] == [
            ("orders", "partitions", True),
            ("clicks", "replication_factor", True),
            ("payments", "partitions", False),
        ]
        assert differences.request is not None
        request = READER.validate_python(differences.request)
        plan = draft_plan(PLANNER, request, cluster, Limits())
        rows = {placement.topic: placement.replicas for placement in plan.placements}
        assert (len(rows["orders"]), rows["clicks"].shape[1]) == (30, 3)

    @pytest.mark.parametrize(
        ("strategy", "more", "found"),
        [
            ("any", "", []),
            ("cross-rack", "", []),
            ("in-rack", "", [(True, 6)]),
            ("static", f"    staticAssignments: {[[101, 104, 108]] * 6}\n", [(True, 6)]),
            ("static-in-rack", "    staticRackAssignments: [a, a, a, a, a, a]\n", [(False, 6)]),
        ],
    )
    def test_placements_of_topicctl(self, strategy: str, more: str, found: Sequence[Any]) -> None:
        text = (DESIRED / "topicctl.yaml").read_text().replace("strategy: cross-rack", f"strategy: {strategy}") + more
        differences = checks.compare(captured(), desired_topics.read(text))
        assert [(one.is_planned, one.count) for one in differences.differences] == found
        assert (differences.request is not None) == any(is_planned for is_planned, _ in found)

    def test_topics_that_there_are_not_are_new_ones(self) -> None:
        text = "{kind: KafkaTopic, metadata: {name: fresh}, spec: {partitions: 3, replicas: 2}}"
        differences = checks.compare(captured(), desired_topics.read(text))
        assert differences.new_topics == [{"name": "fresh", "partitions": 3, "replication_factor": 2}]
        assert differences.request is None

    def test_differences_fail_the_gate(self) -> None:
        done = within_this_process("check", *TEXTS, "--desired", str(DESIRED))
        assert done.returncode == 3
        assert "Kafka removes no partition" in done.stdout

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("a: &x [1]\nb: *x\n", "line 2: expected YAML without aliases"),
            ("a: 1\na: 2\n", "line 2: expected each key once"),
            ("[" * 100, "levels of YAML"),
            ("a: [\n", "expected YAML"),
            ("? [a]\n: 1\n", "expected a text as the key"),
            ("x: 1\n", "expected topics of Strimzi, topicctl, Redpanda"),
            ("kind: KafkaTopic\nmetadata: {name: a/b}\n", "expected the name of a topic"),
            (
                "kind: KafkaTopic\nmetadata: {name: t}\nspec: {partitions: 0}\n",
                "expected a number from 1 on as partitions",
            ),
            (
                "meta: {name: t}\nspec: {partitions: 1, placement: {strategy: cross-rak}}\n",
                "did you mean 'cross-rack'?",
            ),
            (
                "meta: {name: t}\nspec: {partitions: 2, placement: {strategy: static, staticAssignments: [[1]]}}",
                "an entry",
            ),
            ("{kind: KafkaTopic, metadata: {name: t}}\n---\n{kind: KafkaTopic, metadata: {name: t}}", "line 3: "),
        ],
    )
    def test_bad_yaml_names_its_line(self, text: str, reason: str) -> None:
        with pytest.raises(MalformedText, match=r"line [0-9]+: ") as malformed:
            desired_topics.read(text)
        assert reason in malformed.value.detail

    @given(st.text(max_size=60))
    def test_any_text_is_topics_or_a_problem(self, text: str) -> None:
        with suppress(MalformedText):
            assert all(isinstance(topic.strategy, Strategy) for topic in desired_topics.read(text))

    def test_scalars_are_texts_and_tags_make_no_objects(self) -> None:
        [document] = yaml_documents.read("a: no\nb: 010\nc: !!python/object/apply:os.system [x]\n")
        assert document.root == {"a": "no", "b": "010", "c": ["x"]}


@pytest.mark.long
@pytest.mark.slow
def test_every_command_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))
