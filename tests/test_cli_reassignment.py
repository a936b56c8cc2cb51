"""`rackplan plan reassignment`: offline, from the Kafka tools' output; the same core and the same JSON."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.core.model import Cluster
from app.services.limits import Limits
from app.services.plans import draft_plan, plan_json
from app.services.reassignment import EXPORTS, PLANNER, BatchesRequest, ReassignmentRequest, one_batch
from tests.conftest import SAMPLES
from tests.services.reassignments import captured

NAMES = {
    "brokers": "kafka-broker-api-versions",
    "topics": "kafka-topics-describe",
    "log-dirs": "kafka-log-dirs-describe",
}
DOWN = "-two-brokers-down"


@dataclass(frozen=True)
class Done:
    """Output and exit code of a command."""

    status: object
    printed: bytes
    said: str

    @property
    def plan(self) -> dict[str, Any]:
        """The plan that was printed."""
        assert self.status == 0, self.said
        document: dict[str, Any] = json.loads(self.printed)
        return document


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command over the captured texts, within this process: only its first plan loads compiled loops."""

    def run(*arguments: str, **texts: str) -> Done:
        files = {name: SAMPLES / f"{texts.get(name, stem)}.txt" for name, stem in NAMES.items()}
        options = [part for name, file in files.items() for part in (f"--{name}", str(file))]
        monkeypatch.setattr(sys, "argv", ["rackplan", "plan", "reassignment", *options, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        found = capsysbinary.readouterr()
        return Done(ended.value.code or 0, found.out, found.err.decode())

    return run


def cluster() -> Cluster:
    """The captured cluster, by the name that the command gives it."""
    return replace(captured(), name="offline")


def untimed(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without how long it took."""
    return {**plan, "certificate": {name: value for name, value in plan["certificate"].items() if name != "seconds"}}


def rows(plan: Mapping[str, Any]) -> list[list[int]]:
    """The replicas of every partition."""
    return [row for topic in plan["topics"] for row in topic["replicas"]]


class TestPlan:
    """The plan as the API writes it."""

    def test_nothing_moves_where_nothing_changes(self, run: Run) -> None:
        plan = run().plan
        assert (plan["certificate"]["moved_replicas"], plan["certificate"]["optimal"]) == (0, True)
        assert (plan["leader_changes"], plan["batches"]) == (0, [])
        assert rows(plan) == [row for topic in cluster().topics for row in topic.replicas.tolist()]

    def test_removing_105_is_what_the_service_answers_and_the_least(self, run: Run) -> None:
        plan = run("--remove-broker", "105").plan
        request = ReassignmentRequest(remove_brokers=[105])
        service = json.loads(plan_json(draft_plan(PLANNER, request, cluster(), Limits())))
        assert untimed(plan) == untimed(service)
        # The replicas of 105 have to go: no plan moves less than that.
        on_105 = [(topic.replicas == 105).any(axis=1) for topic in cluster().topics]
        least = sum(int(topic.size_bytes[has].sum()) for topic, has in zip(cluster().topics, on_105, strict=True))
        certificate = plan["certificate"]
        assert certificate["moved_replicas"] == sum(int(has.sum()) for has in on_105) == 23
        assert certificate["moved_bytes"] == certificate["lower_bound_bytes"] == least > 0
        assert (certificate["optimal"], certificate["gap"]) == (True, 0.0)
        assert not any(105 in row for row in rows(plan))

    def test_the_topics_of_kafkas_file_are_those_that_move(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "topics-to-move.json"
        file.write_text('{"version":1,"topics":[{"topic":"orders"}]}', encoding="utf-8")
        plan = run("--remove-broker", "105", "--topics-to-move", str(file)).plan
        assert untimed(plan) == untimed(run("--remove-broker", "105", "--topic", "orders").plan)
        file.write_text('{"topics":[{"topic":"orders"},{"topic":"orders"}]}', encoding="utf-8")
        malformed = run("--topics-to-move", str(file))
        assert (malformed.status, malformed.printed) == (2, b"")
        assert "each topic once" in malformed.said

    def test_replicas_of_brokers_that_are_down_are_placed_elsewhere(self, run: Run) -> None:
        texts = {"brokers": NAMES["brokers"] + DOWN, "topics": NAMES["topics"] + DOWN}
        stays = run(**texts).plan
        assert "offline_replicas_stay" in {warning["code"] for warning in stays["warnings"]}
        lost = sum(broker in (105, 108) for row in rows(stays) for broker in row)
        mended = run("--fix-offline-replicas", **texts).plan
        assert mended["certificate"]["moved_replicas"] == lost > 0
        assert not any(broker in (105, 108) for row in rows(mended) for broker in row)
        assert list(map(len, rows(mended))) == list(map(len, rows(stays)))

    def test_a_reassignment_under_way_is_rejected_or_merged(self, run: Run) -> None:
        rejected = run(topics="kafka-topics-describe-reassigning")
        assert (rejected.status, rejected.printed) == (1, b""), "the same command may succeed later"
        assert "are being reassigned already" in rejected.said
        merged = run("--merge-running", topics="kafka-topics-describe-reassigning").plan
        assert "merged_with_running_reassignment" in {warning["code"] for warning in merged["warnings"]}

    def test_infeasible_requests_are_rejected_or_relaxed(self, run: Run) -> None:
        gone = ("--remove-broker", "108", "--remove-broker", "109")
        rejected = run(*gone)
        first, *further = rejected.said.splitlines()
        assert rejected.status == 2
        assert "use1-az4 loses all its brokers" in first
        assert further[0] == "  conflict: remove_brokers: brokers 108, 109 are removed"
        assert '  lifted by: "rack_mode": "safe", which takes the racks that are left' in further
        relaxed = run(*gone, "--relax").plan
        assert relaxed["relaxed"]
        assert not any(broker in (108, 109) for row in rows(relaxed) for broker in row)


class TestRequest:
    """Options state a request's fields, and a file may state all of them instead."""

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("arguments", "body"),
        [
            (
                (
                    *("--add-broker", "110:use1-az4", "--add-broker", "111:use1-az1", "--remove-broker", "105"),
                    *(
                        "--replace-broker",
                        "103=111",
                        "--forbid-broker",
                        "106",
                        "--replication-factor",
                        "orders=4",
                    ),
                    *("--partitions", "orders=30", "--topic", "orders", "--topic", "clicks"),
                    *("--balance", "0.05", "--leaders", "tight", "--throttle", "1000000"),
                    *("--max-moves-in-per-broker", "2"),
                ),
                {
                    "add_brokers": [{"id": 110, "rack": "use1-az4"}, {"id": 111, "rack": "use1-az1"}],
                    "remove_brokers": [105],
                    "replace_brokers": {"103": 111},
                    "forbid_brokers": [106],
                    "replication_factor": {"orders": 4},
                    "partitions": {"orders": 30},
                    "topics": ["orders", "clicks"],
                    "balance": {"replicas": {"tolerance": 0.05}, "leaders": "tight"},
                    "batches": {"max_moves_in_per_broker": 2, "throttle_bytes_per_s": 1_000_000},
                },
            ),
            (
                ("--add-broker", "110:use1-az4", "--receivers", "added"),
                {"add_brokers": [{"id": 110, "rack": "use1-az4"}], "receivers": [110]},
            ),
            (
                ("--receivers", "101,108", "--balance", "0.3"),
                {"receivers": [101, 108], "balance": {"replicas": {"tolerance": 0.3}}},
            ),
            (("--leaders-only", "--leaders", "preferred"), {"leaders_only": True, "balance": {"leaders": "preferred"}}),
            (
                ("--balance", "tight", "--minimise", "replicas", "--rack-mode", "disabled", "--trade-off"),
                {"balance": {"replicas": "tight"}, "minimise": "replicas", "rack_mode": "disabled", "trade_off": True},
            ),
            (
                ("--max-moved-bytes", "5000000", "--relax", "--merge-running", "--fix-offline-replicas"),
                {
                    "max_moved_bytes": 5_000_000,
                    "on_conflict": "relax",
                    "running_reassignment": "merge",
                    "fix_offline_replicas": True,
                },
            ),
            (
                ("--add-broker", "110", "--rack-mode", "safe", "--balance", "keep"),
                {"add_brokers": [{"id": 110}], "rack_mode": "safe", "balance": {"replicas": "keep"}},
            ),
            (
                ("--balance-by", "bytes", "--balance", "0.5"),  # which holds; a band to reach is solved for seconds
                {"balance": {"replicas": {"tolerance": 0.5}, "replicas_by": "bytes"}},
            ),
        ],
    )
    def test_options_and_a_file_are_the_same_plan(
        self, run: Run, tmp_path: Path, arguments: Sequence[str], body: Mapping[str, Any]
    ) -> None:
        file = tmp_path / "request.json"
        file.write_text(json.dumps(body))
        written = run("--request", str(file)).plan
        assert untimed(run(*arguments).plan) == untimed(written)
        for name, value in body.items():
            if not isinstance(value, dict | list):
                assert written["request"][name] == value, name

    def test_a_file_says_what_no_option_does(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "request.json"
        file.write_text(
            '{"pins": [{"topic": "orders", "partition": 0, "replicas": [101, 104, 108]}], "labels": {"a": "b"}}'
        )
        plan = run("--request", str(file)).plan
        orders = next(topic for topic in plan["topics"] if topic["name"] == "orders")
        assert (orders["replicas"][0], plan["labels"]) == ([101, 104, 108], {"a": "b"})

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("{]", "line 1: expected a request in JSON"),
            ("[]", "the body: Input should be"),
            ('{"remove_brokers": [105], "colour": 1}', "/colour: there is no field colour here; 1 given"),
            ('{"snapshot_id": "01890a5d-ac96-774b-bcce-b302099a8057"}', "leave snapshot_id out"),
            ('{"remove_brokers": ["105"]}', "/remove_brokers/0: Input should be a valid integer; '105' given"),
            ('{"balance": {"replicas": {"tolerance": -1}}}', "/balance/replicas/tolerance: Input should be greater"),
            ('{"remove_brokers": [-1], "batches": {"max_partitions": 0}}', "/remove_brokers/0: Input should be"),
            ('{"remove_brokers": [999]}', "there is no broker 999"),
        ],
    )
    def test_a_file_that_is_no_request_names_the_field(self, run: Run, tmp_path: Path, text: str, reason: str) -> None:
        file = tmp_path / "request.json"
        file.write_text(text)
        assert_rejected(run("--request", str(file)), reason)

    def test_a_file_and_options_are_not_combined(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "request.json"
        file.write_text("{}")
        assert_rejected(
            run("--request", str(file), "--relax", "--remove-broker", "105"),
            "options state remove_brokers, on_conflict: they exclude each other",
        )


class TestExports:
    """The files that are handed over, byte by byte as the service writes them."""

    OPTIONS = ("--remove-broker", "105", "--partitions", "orders=30", "--throttle", "1000000")
    REQUEST = ReassignmentRequest(
        remove_brokers=[105], partitions={"orders": 30}, batches=BatchesRequest(throttle_bytes_per_s=1_000_000)
    )

    @pytest.mark.long
    @pytest.mark.parametrize("name", list(EXPORTS))
    def test_each(self, run: Run, tmp_path: Path, name: str) -> None:
        expected = EXPORTS[name](draft_plan(PLANNER, self.REQUEST, cluster(), Limits()), cluster)
        printed = run(*self.OPTIONS, "--export", name)
        assert (printed.status, printed.printed) == (0, expected)
        written = run(*self.OPTIONS, "--export", name, "--output", str(tmp_path / "file"))
        assert (written.status, written.printed) == (0, b"")
        assert (tmp_path / "file").read_bytes() == expected

    def test_a_batch_and_its_inverse(self, run: Run) -> None:
        plan = draft_plan(PLANNER, self.REQUEST, cluster(), Limits())
        options = (*self.OPTIONS, "--export", "batch", "--batch", "2")
        assert run(*options).printed == one_batch(plan, 2, False)
        assert run(*options, "--inverse").printed == one_batch(plan, 2, True) != one_batch(plan, 2, False)

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (("--export", "pdf"), "--export is pdf; it has to be one of reassignment, rollback"),
            (("--export", "batch"), "name its number"),
            (("--export", "batch", "--batch", "1"), "the plan has no batch, since it moves nothing"),
            (("--remove-broker", "105", "--export", "batch", "--batch", "99"), "there is no batch 99"),
            (("--export", "csv", "--batch", "1"), "batch is of the format batch"),
            (("--batch", "1"), "--batch goes with --export batch"),
            (("--inverse",), "--inverse goes with --export batch"),
            (("--export", "replica_assignment"), "no topic of the plan gets new partitions"),
        ],
    )
    def test_what_cannot_be_handed_over(self, run: Run, arguments: Sequence[str], reason: str) -> None:
        assert_rejected(run(*arguments), reason)

    def test_a_file_that_cannot_be_written_is_no_fault_of_the_request(self, run: Run) -> None:
        done = run("--output", "/proc/there-is-no/such-file")
        assert (done.status, done.printed, done.said.count("\n")) == (1, b"", 1)
        assert "The file cannot be written" in done.said


class TestRejections:
    """Bad input is a line on standard error, with the remedy of a conflict below it, and status 2."""

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (("--remove-broker", "999"), "there is no broker 999"),
            (("--remove-broker", "105", "--remove-broker", "105"), "broker 105 is listed twice in remove_brokers"),
            (("--add-broker", "101:use1-az2"), "broker 101 is to be added in the rack use1-az2, and it is up already"),
            (("--remove-rack", "use1-az9"), "no broker is in the rack use1-az9"),
            (("--add-broker", "use1-az1"), "--add-broker is use1-az1; it has to be id:rack, or an id"),
            (("--add-broker", "110"), "rack"),
            (("--replace-broker", "103"), "--replace-broker is 103; it has to be old=new, two ids"),
            (("--replace-broker", "x=111"), "/replace_brokers/x"),
            (("--replace-broker", "103=111", "--replace-broker", "103=112"), "--replace-broker names 103 twice"),
            (("--replication-factor", "orders"), "--replication-factor is orders; it has to be topic=number"),
            (("--replication-factor", "orders=0"), "a replication factor is 1 or more; 0 given"),
            (("--replication-factor", "orders=10"), "needs 10 brokers; 9 exist"),
            (("--replication-factor", "ghost=3"), "there is no topic ghost"),
            (("--partitions", "orders=1"), "Kafka takes no partition away"),
            (("--partitions", "orders=" + "9" * 5000), "it has to be topic=number"),
            (("--topic", "orders", "--replication-factor", "clicks=2"), "topic clicks is not among `topics`"),
            (("--balance", "loud"), "/balance/replicas: Input should be 'tight' or 'keep'; 'loud' given"),
            (("--balance", "-0.1"), "/balance/replicas/tolerance: Input should be greater than or equal to 0"),
            (("--balance", "nan"), "/balance/replicas/tolerance: Input should be a finite number"),
            (("--balance-by", "throughput"), "neither ingress_bytes_per_s nor the snapshot has rates"),
            (("--leaders", "preferred", "--rack-mode", "strict"), "/rack_mode: Input should be 'enforced'"),
            (("--remove-broker", "105", "--max-moved-bytes", "1"), "1 may be moved"),
            (
                ("--leaders-only", "--remove-broker", "105"),
                "leaders_only moves no replica, which remove_brokers requires",
            ),
        ],
    )
    def test_a_refusal_is_one_line(self, run: Run, arguments: Sequence[str], reason: str) -> None:
        assert_rejected(run(*arguments), reason)

    def test_a_number_that_is_none(self, run: Run) -> None:
        done = run("--remove-broker", "x")
        assert (done.status, done.printed) == (2, b"")
        assert "--remove-broker" in done.said

    def test_a_malformed_text_names_its_line(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "topics.txt"
        file.write_text("Topic: t\tPartition: 0\tLeader: x\tReplicas: 1\tIsr: 1\n")
        assert_rejected(run("--topics", str(file)), "line 1")


def assert_rejected(done: Done, reason: str) -> None:
    """Hold a command to have failed in one line with the reason, with details indented below."""
    assert reason in done.said
    assert (done.status, done.printed) == (2, b"")
    first, *below = done.said.splitlines()
    assert first.startswith("rackplan: ")
    assert all(line.startswith("  ") for line in below)
