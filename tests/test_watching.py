"""`rackplan watch`: a snapshot whenever a running cluster has changed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import orjson
import pytest
import yaml

from app.formats.snapshots import snapshot_json
from tests import forked
from tests.conftest import ROOT
from tests.documents import Document
from tests.kafka_on_a_wire import closed_port
from tests.test_live_snapshot import REASSIGNING, captured

pytestmark = pytest.mark.slow

WITHIN_S = 60.0


def command(*arguments: str) -> list[str]:
    """The command line of a watch that looks every second."""
    return ["watch", "--every", "1s", *arguments]


def variables(**changed: str) -> dict[str, str]:
    """The environment of the command, without the tests' own settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")} | changed


@contextmanager
def watching(errors: Path, *arguments: str) -> Iterator[forked.Forked]:
    """The command as an operator runs it, with its errors in a file."""
    process = forked.start(
        arguments=["rackplan", *command(*arguments)], environment=variables(), out=Path(os.devnull), err=errors
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(WITHIN_S)


def wait_for(folder: Path, files: int) -> list[Path]:
    """The snapshots in a folder, once there are `files`."""
    until = time.monotonic() + WITHIN_S
    while len(written := sorted(folder.glob("snapshot-*.json"))) < files:
        assert time.monotonic() < until, written
        time.sleep(0.05)
    return written


def once(bootstrap: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """The outcome of `--once`: exit code, output and errors."""
    whole = command("--bootstrap", bootstrap, "--cluster", "nine", "--once", *arguments)
    done = forked.run(*whole, environment=variables(**environment), timeout=WITHIN_S)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_snapshot_for_each_change_and_none_without(tmp_path: Path) -> None:
    cluster, changed = captured(), captured(REASSIGNING)
    folder = tmp_path / "snapshots"
    with cluster.listening() as bootstrap:
        for _ in range(2):
            code, out, err = once(bootstrap, "--folder", str(folder))
            assert (code, err) == (0, "")
        [first] = wait_for(folder, 1)
        assert out == "", "a second run finds the same"
        assert snapshot_json.write(cluster.cluster) + b"\n" == first.read_bytes()
    with changed.listening() as bootstrap:
        code, out, _ = once(bootstrap, "--folder", str(folder))
    _, second = wait_for(folder, 2)
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ {re.escape(str(second))}\n", out)
    assert not list(folder.glob("*.part"))


def test_it_goes_on_while_the_cluster_does_not_answer_and_ends_at_once(tmp_path: Path) -> None:
    """Ctrl-C ends it, also while it waits for the cluster."""
    errors = tmp_path / "errors"
    with captured().listening() as bootstrap, closed_port() as lost:
        with watching(errors, "--bootstrap", f"127.0.0.1:{lost}", "--folder", str(tmp_path)) as process:
            until = time.monotonic() + WITHIN_S
            while not errors.exists() or errors.read_text().count("\n") < 2:
                assert time.monotonic() < until
                time.sleep(0.05)
            lines = errors.read_text().splitlines()
            assert all("trying again in 1 s" in line for line in lines), lines
            process.send_signal(signal.SIGINT)
            assert process.wait(WITHIN_S) != 0
        with watching(errors, "--bootstrap", bootstrap, "--folder", str(tmp_path)) as process:
            wait_for(tmp_path, 1)
            assert process.poll() is None


def test_once_fails_if_the_cluster_does_not_answer(tmp_path: Path) -> None:
    with closed_port() as lost:
        code, out, err = once(f"127.0.0.1:{lost}", "--folder", str(tmp_path))
    assert (code, out) == (1, "")
    assert "The Kafka cluster cannot be read" in err


def test_snapshots_on_a_service(client: httpx.Client) -> None:
    with captured().listening() as bootstrap:
        code, out, err = once(bootstrap, RACKPLAN_URL=str(client.base_url))
    assert (code, err) == (0, "")
    stored = client.get(out.split()[1])
    assert stored.json()["cluster"] == "nine"


@pytest.mark.parametrize("every", ["0", "5d", "-1", "m", "٣m", "99999999"])
def test_durations(every: str) -> None:
    done = forked.run(*command("--bootstrap", "a:1", "--folder", "f", "--every", every), environment=variables())
    assert done.returncode == 2
    assert b"5m" in done.stderr


def test_a_destination_is_required() -> None:
    code, _, err = once("a:1")
    assert code == 2
    assert "--folder or --url" in err


def test_the_cron_job_of_the_documentation_runs_the_command(tmp_path: Path) -> None:
    """It is YAML, and its arguments are the command's."""
    [manifest] = [text for kind, text in Document(ROOT / "docs" / "watch.md").blocks if kind == "yaml"]
    job = yaml.safe_load(manifest)
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    [container] = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    command, watch, *arguments = container["command"]
    assert (command, watch) == ("rackplan", "watch")
    assert "--once" in arguments
    assert {each["name"] for each in container["env"]} == {"RACKPLAN_URL", "RACKPLAN_KEY"}
    with captured().listening() as bootstrap:
        arguments[arguments.index("--bootstrap") + 1] = bootstrap
        code, out, err = once(bootstrap, *arguments[: arguments.index("--once")], "--folder", str(tmp_path))
    assert (code, err) == (0, "")
    assert out


def test_the_documented_command_names_the_admin_client_as_it_is_locked(tmp_path: Path) -> None:
    """`make kafka` installs one requirement of the lock, with its hashes; the next test does so."""
    (tmp_path / "runtime").touch()
    recipe = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "kafka", f"VENV={tmp_path}", "PYTHON=true"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    [listing] = [line for line in recipe.splitlines() if line.startswith("awk ")]
    subprocess.run(["bash", "-c", listing], cwd=ROOT, check=True)
    first, *hashes = (tmp_path / "kafka.lock").read_text().replace("\\\n", "").splitlines()[0].split("--hash=")
    assert first.startswith("kafka-python==")
    assert hashes
    last = recipe.splitlines()[-1]
    assert last.endswith(f"-r {tmp_path}/kafka.lock")
    assert "--require-hashes" in last
    assert "--no-deps" in last


@pytest.mark.long
def test_the_documented_command_installs_the_admin_client(tmp_path: Path) -> None:
    """In a new environment whose other requirements count as installed: kafka-python, as the lock pins it."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    (environment / "runtime").touch()
    made = subprocess.run(
        ["make", "kafka", f"VENV={environment}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    code = "import kafka, json; print(json.dumps(kafka.__version__))"
    version = subprocess.run([environment / "bin" / "python", "-c", code], capture_output=True, check=True).stdout
    assert f"kafka-python=={orjson.loads(version)} " in (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
