"""The commands on a service: the same words, their output, and their exit codes."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml

from app.cli.api_commands import update_plan
from app.cli.service import operations
from tests.client.test_document import OPERATIONS
from tests.conftest import SAMPLES
from tests.test_cli import rackplan, within_this_process

TEXTS = (str(SAMPLES / "kafka-topics-describe.txt"), str(SAMPLES / "kafka-broker-api-versions.txt"))
Run = Callable[..., Any]


@pytest.fixture
def run(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command on the service of the tests."""
    monkeypatch.setenv("RACKPLAN_URL", str(client.base_url).rstrip("/"))
    return within_this_process


@pytest.mark.long
def test_files_become_a_snapshot_and_plans_are_stored(run: Run, client: httpx.Client) -> None:
    done = run("plan", "reassignment", *TEXTS, "--cluster", "prod-eu", "--remove-broker", "105")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert client.get(f"/v1/plans/{plan['id']}").json()["hash"] == plan["hash"]
    assert plan["certificate"]["moved_replicas"] == 23
    newest = json.loads(run("plan", "reassignment", "--cluster", "prod-eu", "--remove-broker", "105").stdout)
    by_id = ("plan", "reassignment", "--snapshot", plan["snapshot_id"], "--remove-broker", "105")
    assert newest["hash"] == plan["hash"] == json.loads(run(*by_id).stdout)["hash"]
    assert plan["id"] in run("plans", "list", "--cluster", "prod-eu").stdout
    assert json.loads(run("plans", "show", plan["id"]).stdout)["id"] == plan["id"]
    exported = run("plans", "export", plan["id"], "--format", "kubernetes").stdout
    assert [one["kind"] for one in yaml.safe_load_all(exported)] == ["ConfigMap", "Job"]
    assert run(*by_id, "--export", "kubernetes").stdout == exported
    assert run("check", "--cluster", "prod-eu").returncode == 0


def test_the_progress_of_a_plan(run: Run) -> None:
    """By default at the newest snapshot of the plan's cluster, which is the one that it was made from."""
    plan = json.loads(run("plan", "reassignment", *TEXTS, "--cluster", "prod-eu", "--remove-broker", "105").stdout)
    printed = run("plans", "progress", plan["id"])
    assert printed.returncode == 0, printed.stderr
    assert "not_started" in printed.stdout
    assert "batch/1" in printed.stdout
    found = json.loads(run("plans", "progress", plan["id"], "--snapshot", plan["snapshot_id"], "--json").stdout)
    assert (found["state"], found["next"]) == ("not_started", "batch/1")
    batch = ("plans", "export", plan["id"], "--format", "batch", "--batch", "1")
    assert run(*batch, "--from", plan["snapshot_id"]).stdout == run(*batch).stdout
    back = run("plans", "export", plan["id"], "--format", "rollback", "--from", plan["snapshot_id"])
    assert (back.returncode, "nothing to execute" in back.stderr) == (2, True)
    assert run("plans", "progress", plan["id"], "--snapshot", "x", "--cluster", "y").returncode == 2


def test_the_ledger(run: Run, client: httpx.Client, tmp_path: Path) -> None:
    plan = json.loads(run("plan", "reassignment", *TEXTS, "--cluster", "prod-eu", "--remove-broker", "105").stdout)
    log = tmp_path / "run.log"
    log.write_text(f"2026-11-26T10:00:00Z plan {plan['hash']}\n")
    found = json.loads(run("plans", "progress", plan["id"], "--log", str(log), "--json").stdout)
    assert [warning["code"] for warning in found["warnings"]] == ["log_not_recorded"]
    log.write_text("hello\n")
    refused = run("plans", "progress", plan["id"], "--log", str(log))
    assert (refused.returncode, "line 1: hello" in refused.stderr) == (2, True)
    assert run("plans", "progress", plan["id"], "--log", str(tmp_path / "none")).returncode == 2
    found = json.loads(run("ledger", "--cluster", "prod-eu", "--json").stdout)
    assert found == client.get("/v1/ledger", params={"cluster": "prod-eu"}).json()
    assert found["count"] == 0
    assert "unknown" in run("ledger", "--cluster", "prod-eu").stdout


@pytest.mark.parametrize("kind", ["replicas", "group"])
def test_a_plan_is_the_same_with_and_without_a_service(run: Run, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    groups = str(SAMPLES / "describe-groups.json")
    options = {"replicas": ("--topic", "t:6:3", "--seed", "7", *TEXTS), "group": ("billing", groups, *TEXTS)}[kind]
    online = json.loads(run("plan", kind, *options, "--cluster", "c").stdout)
    monkeypatch.delenv("RACKPLAN_URL")
    offline = json.loads(run("plan", kind, *options, "--cluster", "c").stdout)
    same = {"topics", "assignment", "measures", "violations", "seed", "prediction"} & offline.keys()
    assert {name: online[name] for name in same} == {name: offline[name] for name in same}


def test_usage(run: Run, client: httpx.Client) -> None:
    (usage,) = client.get("/v1/usage").json()["teams"]
    assert json.loads(run("usage", "--json").stdout) == [usage]
    printed = run("usage").stdout
    assert all(name in printed for name in usage)
    assert f"{usage['plans']['used']} of 100000" in printed


def test_keys(run: Run, tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text("a\nb\n")
    placed = json.loads(run("plan", "keys", str(tmp_path / "keys.txt"), "--partitions", "12,").stdout or "{}")
    assert placed == {}, "12, is no number"
    placed = json.loads(run("plan", "keys", str(tmp_path / "keys.txt"), "--partitions", "12").stdout)
    assert placed["keys"] == 2


def test_sweeps_and_jobs(run: Run, tmp_path: Path) -> None:
    definition = {
        "kind": "placement_draws",
        "brokers": [{"id": broker, "rack": "abc"[broker % 3]} for broker in range(3)],
        "topics": [{"name": "t", "partitions": 3, "replication_factor": 2}],
        "seeds": {"first": 1, "count": 5},
    }
    (tmp_path / "sweep.json").write_text(json.dumps(definition))
    started = json.loads(run("sweep", "run", str(tmp_path / "sweep.json"), "--json").stdout)
    assert (started["state"], started["scenarios"]) == ("queued", 5)
    assert started["id"] in run("sweep", "list").stdout
    assert "cancelled" in run("sweep", "cancel", started["id"]).stdout
    watched = run("sweep", "show", started["id"], "--watch")
    assert (watched.returncode, "was cancelled" in watched.stderr) == (1, True)
    assert run("jobs", "list", "--json").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("plan", "replicas", "--topic", "t:1:99", "--cluster", "prod-eu", *TEXTS), 2, "needs 99 brokers"),
        (("plan", "reassignment", "--cluster", "ghost", "--remove-broker", "1"), 1, "ghost"),
        (("check", "--cluster", "ghost"), 1, "there is no snapshot of the cluster ghost"),
        (("plans", "show", "01890a5d-ac9a-7d4e-8b21-000000000000"), 1, "Plan not found"),
        (("jobs", "show", "x"), 2, "valid UUID"),
        (("jobs", "show", "01890a5d-ac9a-7d4e-8b21-000000000000"), 1, "Job not found"),
    ],
)
def test_problems_of_the_service_are_printed(run: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_a_conflict_is_printed_with_what_lifts_it(run: Run) -> None:
    done = run("plan", "reassignment", *TEXTS, "--remove-broker", "108,109")
    assert done.returncode == 2
    assert "\n  conflict: remove_brokers: brokers 108, 109 are removed\n" in done.stderr
    assert "\n  lifted by: " in done.stderr


def test_without_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RACKPLAN_URL", raising=False)
    missing = within_this_process("plans", "list")
    assert (missing.returncode, "set RACKPLAN_URL" in missing.stderr) == (2, True)
    away = within_this_process("jobs", "show", "x", "--url", "http://127.0.0.1:1")
    assert (away.returncode, "The service is not available" in away.stderr) == (1, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_completes_commands_in_a_shell(shell: str) -> None:
    environment = {**os.environ, "_RACKPLAN_COMPLETE": f"source_{shell}"}
    script = rackplan("--show-completion", shell, env=environment)
    assert "rackplan" in script.stdout
    assert "complete" in script.stdout or "compdef" in script.stdout


def test_every_operation_has_a_command(run: Run) -> None:
    """`rackplan call` has each by its id."""
    assert set(operations()) >= set(OPERATIONS)
    unknown = run("call", "list_webhook")
    assert (unknown.returncode, "list_webhooks" in unknown.stderr) == (2, True)


def test_operations_are_called_by_their_ids(run: Run, tmp_path: Path) -> None:
    body = tmp_path / "plan.json"
    body.write_text(
        json.dumps({"brokers": [{"id": 1}], "topics": [{"name": "t", "partitions": 1, "replication_factor": 1}]})
    )
    plan = json.loads(run("call", "plan_replicas", "seed=7", "--body", str(body)).stdout)
    assert plan["seed"] == 7
    assert json.loads(run("call", "get_plan", f"plan_id={plan['id']}").stdout)["hash"] == plan["hash"]
    rows = run("call", "list_plan_partitions", f"plan_id={plan['id']}").stdout.splitlines()
    assert [json.loads(row)["partition"] for row in rows] == [0]
    assert run("call", "draw_plan", f"plan_id={plan['id']}").stdout.startswith("<svg")
    assert run("call", "export_plan", f"plan_id={plan['id']}", "format=csv").stdout.startswith("topic,")
    assert run("call", "delete_plan", f"plan_id={plan['id']}").returncode == 0
    assert run("call", "get_plan", f"plan_id={plan['id']}").returncode == 1
    for wrong in (("get_plan",), ("get_plan", "plan_id"), ("get_plan", "plan=1")):
        assert run("call", *wrong).returncode == 2


def test_a_snapshot_is_stored_and_a_plan_of_it_approved(run: Run) -> None:
    stored = json.loads(run("snapshots", "create", *TEXTS, "--cluster", "approved-one", "--json").stdout)
    assert stored["partitions"] == 117
    plan = json.loads(run("plan", "reassignment", "--snapshot", stored["id"], "--remove-broker", "105").stdout)
    assert json.loads(run("plans", "approve", plan["id"], "--json").stdout)["status"] == "approved"
    changed = run("plans", "update", plan["id"], "--status", "executing", "--notes", "go", "--label", "a=b", "--json")
    document = json.loads(changed.stdout)
    assert (document["status"], document["notes"], document["labels"]) == ("executing", "go", {"a": "b"})
    assert json.loads(run("plans", "update", plan["id"], "--label", "a=", "--json").stdout)["labels"] == {}
    assert run("plans", "update", plan["id"], "--status", "aproved").returncode == 2


def test_a_label_with_two_values_is_rejected() -> None:
    """A plan has one value of it: the last one counted, in silence."""
    with pytest.raises(typer.BadParameter, match="has one value"):
        update_plan(None, "01890a5d-ac96-774b-bcce-b302099a8057", status=None, notes=None, label=["team=a", "team=b"])
