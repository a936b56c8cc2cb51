"""The `rackplan` command, as its users run it: a process of its own over a data folder of its own."""

import gc
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import httpx
import psutil
import pytest
import typer

from app.cli import app, main
from app.jobs.processes import runs
from app.store import migrations
from tests import databases, forked
from tests.conftest import SAMPLES
from tests.jobs.cluster import quick_java
from tests.reference import walk
from tests.service import NO_AUTHORITIES

RACKPLAN = Path(sys.executable).parent / "rackplan"
TOPIC = {"name": "orders-v2", "partitions": 48, "replication_factor": 3}
START_WITHIN_S = 60
HANGS_AFTER_S = 240


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder that Postgres' account can reach, which pytest's own folders are not for root."""
    with databases.folder_of_postgres() as folder:
        yield folder / "data"


@pytest.fixture
def used_data_dir(data_dir: Path, migrated_data_dir: Path) -> Path:
    """The same with a Postgres that has the newest schema, which takes a second less to start."""
    subprocess.run(["cp", "-a", migrated_data_dir, data_dir], check=True)
    return data_dir


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """The environment of the command; nothing of the tests' own settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
    # Most of the tests need neither a JVM nor slots.
    own = {"DATA_DIR": str(data_dir), "PORT": "0", "SPARK_EARLY": "no", "SOLVER_PROCESSES": "0"}
    own["SPARK_PROPERTIES"] = str(quick_java(data_dir.parent))
    return inherited | {f"RACKPLAN_{name}": value for name, value in own.items()} | settings


def rackplan(*arguments: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The command run to its end, in a process."""
    done = forked.run(*arguments, environment=env)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())


def within_this_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command run to its end without the seconds that a process takes to import it."""
    printed, said = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rackplan", *arguments])
        patch.setattr(sys, "stdout", io.TextIOWrapper(printed, "utf-8", write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(said, "utf-8", write_through=True))
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code or 0
        assert isinstance(code, int)
        return subprocess.CompletedProcess(arguments, code, printed.getvalue().decode(), said.getvalue().decode())


class Serving:
    """A `rackplan serve` that says where it listens; a fork, or a process of the command itself."""

    def __init__(self, data_dir: Path, *arguments: str, is_forked: bool = True, **settings: str) -> None:
        self._out = data_dir.parent / f"{token_hex(4)}.out"
        start = self._fork if is_forked else self._command
        self.process = start(["serve", *arguments], environment(data_dir, **settings))
        said = self.said(1)[0]
        listens = re.match(r"Rackplan listens on (http://127\.0\.0\.1:\d+)$", said)
        assert listens, f"it said {said!r} and ended with {self.process.poll()}"
        self.client = httpx.Client(base_url=listens[1], timeout=START_WITHIN_S, verify=NO_AUTHORITIES)

    def _fork(self, arguments: Sequence[str], env: Mapping[str, str]) -> forked.Forked:
        return forked.start(arguments=["rackplan", *arguments], environment=env, out=self._out, err=Path(os.devnull))

    def _command(self, arguments: Sequence[str], env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        with self._out.open("wb") as out:
            # Its own group, as a terminal's foreground job has: a Ctrl-C goes to all of it.
            return subprocess.Popen(
                [RACKPLAN, *arguments], env=env, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
            )

    def said(self, count: int) -> list[str]:
        """The first lines that it prints, once it has printed `count`."""
        ends = time.monotonic() + HANGS_AFTER_S
        while True:
            said = self._out.read_text() if self._out.exists() else ""
            if said.count("\n") >= count:
                return said.splitlines()[:count]
            assert self.process.poll() is None, f"it said {said!r} and ended with {self.process.poll()}"
            assert time.monotonic() < ends, said
            time.sleep(0.02)

    @property
    def family(self) -> list[psutil.Process]:
        """The process and all that it started, Postgres' own processes included."""
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def ctrl_c(self) -> int:
        """Acts like a terminal."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(30)


def command_of(process: psutil.Process) -> list[str]:
    """The command line of a process; empty if it has ended meanwhile, as Postgres' own do at any time."""
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def name_of(process: psutil.Process) -> str:
    """The name of a process; empty if it has ended meanwhile."""
    with suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


def mask(status: str, field: str) -> int:
    """A set of signals in the kernel's description of a process."""
    return int(status.split(f"{field}:")[1].split(maxsplit=1)[0], 16)


def bit(number: signal.Signals) -> int:
    """A signal in such a set."""
    return 1 << number - 1


def is_one_line(said: str) -> bool:
    """Whether a failure is one line, besides Kafka's message."""
    first, *further = said.splitlines()
    return first.startswith("rackplan: ") and all(line.startswith("  Kafka: ") for line in further)


@contextmanager
def serving(data_dir: Path, *arguments: str, is_forked: bool = True, **settings: str) -> Iterator[Serving]:
    """A service for the length of a test, whatever the test does to it."""
    service = Serving(data_dir, *arguments, is_forked=is_forked, **settings)
    family = service.family
    try:
        yield service
    finally:
        service.client.close()
        for process in family:
            with suppress(psutil.NoSuchProcess):  # it may end meanwhile
                if process.status() != psutil.STATUS_ZOMBIE:
                    process.kill()
        service.process.wait(30)


def ended(processes: Sequence[psutil.Process]) -> bool:
    """Whether none of them is left, after a while at most."""
    deadline = time.monotonic() + 20
    while any(map(runs, processes)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.slow
class TestServe:
    """Start, stop, be killed, come back."""

    @pytest.mark.long
    def test_it_says_where_it_is_and_what_to_try_and_ctrl_c_ends_all_of_it(self, data_dir: Path) -> None:
        with serving(data_dir, is_forked=False, RACKPLAN_SOLVER_PROCESSES="1") as service:
            said = service.said(5)
            assert "/docs" in said[2]
            assert subprocess.run(
                ["bash", "-c", said[3].split("first try", 1)[1]], check=True, capture_output=True
            ).stdout
            family = service.family
            assert len(family) > 3, "the API, a worker and a Postgres"
            assert service.ctrl_c() == 0
            assert ended(family)

    @pytest.mark.long
    def test_kill_9_and_starting_again_loses_nothing(self, used_data_dir: Path) -> None:
        with serving(used_data_dir) as service:
            texts = {
                part: (SAMPLES / f"kafka-{name}.txt").read_bytes()
                for part, name in (("brokers", "broker-api-versions"), ("topics", "topics-describe"))
            }
            snapshot = service.client.post("/v1/snapshots", data={"cluster": "prod-eu"}, files=texts)
            body = {"snapshot_id": snapshot.json()["id"], "topics": [TOPIC]}
            plan = service.client.post("/v1/plans/replicas", json=body)
            assert plan.status_code == 201
            worker = [p for p in service.family if "app.worker" in command_of(p)]
            service.process.kill()
            service.process.wait(30)
            assert ended(worker), "a worker ends with what started it"
        began = time.monotonic()
        with serving(used_data_dir, "--no-worker") as service:
            sys.stderr.write(f"started again in {time.monotonic() - began:.1f} s\n")
            again = service.client.get(plan.headers["Location"])
            assert again.content == plan.content
            export = service.client.get(f"{plan.headers['Location']}/export?format=replica_assignment")
            assert export.text.count(",") == 47
            assert service.ctrl_c() == 0

    @pytest.mark.long
    @pytest.mark.skipif(sys.platform != "linux", reason="reads the signals of a process from /proc")
    def test_after_nohup_a_closed_terminal_stops_nothing(self, data_dir: Path) -> None:
        with subprocess.Popen(["nohup", RACKPLAN, "serve"], env=environment(data_dir)) as process:
            signals = Path(f"/proc/{process.pid}/status")
            while not mask(signals.read_text(), "SigCgt") & bit(signal.SIGTERM):
                assert process.poll() is None
                time.sleep(0.02)
            assert mask(signals.read_text(), "SigIgn") & bit(signal.SIGHUP)
            process.terminate()

    def test_keys_are_made_and_revoked_beside_a_running_service(self, used_data_dir: Path) -> None:
        with serving(used_data_dir, "--no-worker") as service:
            assert service.client.get("/v1/plans").status_code == 200
            made = rackplan(
                "keys",
                "create",
                "first",
                "--scope",
                "read",
                "--expires",
                "1d",
                "--json",
                env=environment(used_data_dir),
            )
            assert made.returncode == 0, made.stderr
            assert service.client.get("/v1/plans").status_code == 401
            secret = json.loads(made.stdout)["key"]
            service.client.headers["Authorization"] = f"Bearer {secret}"
            assert service.client.get("/v1/plans").status_code == 200
            listed = rackplan("keys", "list", env=environment(used_data_dir)).stdout
            assert "first\tdefault\tread" in listed
            assert "used 20" in listed
            assert "valid until 20" in listed
            assert secret not in listed
            assert rackplan("keys", "revoke", "first", env=environment(used_data_dir)).returncode == 0
            del service.client.headers["Authorization"]
            assert service.client.get("/v1/plans").status_code == 401, "a service that had a key stays closed"
            unconfirmed = rackplan("keys", "open", env=environment(used_data_dir))
            assert (unconfirmed.returncode, unconfirmed.stdout) == (2, "")
            assert service.client.get("/v1/plans").status_code == 401
            opened = rackplan("keys", "open", "--yes", "--json", env=environment(used_data_dir))
            assert json.loads(opened.stdout) == {"deleted": 1}
            assert service.client.get("/v1/plans").status_code == 200

    def test_an_address_that_others_reach_needs_a_key_first(self, used_data_dir: Path) -> None:
        done = rackplan("serve", env=environment(used_data_dir, RACKPLAN_HOST="0.0.0.0"))  # noqa: S104 — to be rejected
        assert done.returncode == 1
        assert "RACKPLAN_HOST is 0.0.0.0" in done.stderr
        assert "rackplan keys create" in done.stderr

    def test_a_port_in_use_is_one_line_before_anything_starts(self, data_dir: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            done = rackplan("serve", "--port", port, "--data-dir", str(data_dir), env=environment(data_dir.parent))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"rackplan: The address cannot be listened on: port {port} of 127.0.0.1: ")
        assert done.stderr.count("\n") == 1
        assert not data_dir.exists()

    def test_a_bad_option_is_one_line(self, data_dir: Path) -> None:
        done = rackplan("serve", "--port", "http", env=environment(data_dir))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("rackplan: A setting is not valid: RACKPLAN_PORT is 'http': ")
        assert done.stderr.count("\n") == 1

    def test_migrate_up_and_down(self, data_dir: Path) -> None:
        env = environment(data_dir)
        newest = migrations.newest()
        assert rackplan("migrate", env=env).stdout == f"schema: none → {newest}\n"
        down = rackplan("migrate", "--to", "base", "--json", env=env)
        assert json.loads(down.stdout) == {"before": newest, "after": None}


def test_every_command_has_json() -> None:
    """Other commands print JSON alone, write a format, or run until they are stopped."""
    options = {
        " ".join(words): {option for parameter in command.params for option in parameter.opts}
        for words, command in walk(typer.main.get_command(app), [])
    }
    others = {name for name, has in options.items() if not {"--json", "--format"} & has}
    assert others == {
        *("call", "decode", "snapshot", "bench instance", "bench score"),
        *("serve", "worker", "watch"),
    }


class TestPlanReplicas:
    """Offline, from files: the same core and the same JSON."""

    BROKERS = ("--brokers", str(SAMPLES / "kafka-broker-api-versions.txt"))

    def plan(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A topic placed on the captured cluster."""
        return within_this_process("plan", "replicas", *self.BROKERS, *arguments)

    @pytest.mark.parametrize("algorithm", ["admin_utils", "striped", "awareness"])
    def test_it_is_what_the_service_answers(self, client: httpx.Client, algorithm: str) -> None:
        done = self.plan("--topic", "orders-v2:48:3", "--seed", "7", "--algorithm", algorithm, "--cluster", "c")
        texts = {"brokers": (SAMPLES / "kafka-broker-api-versions.txt").read_bytes()}
        snapshot = client.post("/v1/snapshots", data={"cluster": "c"}, files=texts).json()
        body = {"snapshot_id": snapshot["id"], "algorithm": algorithm, "seed": 7, "topics": [TOPIC]}
        online = client.post("/v1/plans/replicas", json=body).json()
        offline = httpx.Response(200, text=done.stdout).json()
        for name in ("topics", "measures", "violations", "warnings", "prediction", "seed", "kind", "engine_version"):
            assert offline[name] == online[name], name
        assert offline.keys() == online.keys()

    def test_garbage_is_collected_again_after_the_imports(self) -> None:
        assert self.plan("--topic", "t:3:2", "--seed", "1").returncode == 0
        assert gc.isenabled()

    def test_a_policy_and_racks_that_there_are_meant_to_be(self) -> None:
        options = ("--topic", "t:4:4", "--algorithm", "awareness", "--policy", "forced", "--seed", "1")
        plan = httpx.Response(200, text=self.plan(*options, "--forced", "use1-az9").stdout).json()
        assert plan["request"]["forced"] == {"rack": ["use1-az9"]}
        assert plan["unassigned"][0]["values"] == {"rack": ["use1-az9"]}
        assert {len(row) for row in plan["topics"][0]["replicas"]} == {3}

    @pytest.mark.slow
    def test_exports(self) -> None:
        options = ("--topic", "t:2:3", "--fixed-start-index", "0", "--export", "replica_assignment")
        assert self.plan(*options).stdout == "101:104:108,104:108:102\n"
        in_a_process = rackplan("plan", "replicas", *self.BROKERS, *options, env=dict(os.environ))
        assert (in_a_process.returncode, in_a_process.stdout) == (0, "101:104:108,104:108:102\n")
        done = rackplan("plan", "replicas", *self.BROKERS, "--topic", "t:2:10", env=dict(os.environ))
        assert (done.returncode, done.stdout) == (2, "")
        assert is_one_line(done.stderr)

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (("--topic", "t:2:10"), "replication factor 10 needs 10 brokers; 9 given"),
            (("--topic", "t:0:1"), "a topic needs 1 partition or more; 0 given"),
            (("--topic", "t"), "--topic is t; it has to be name:partitions:replication_factor"),
            (
                ("--topic", "t:1:1", "--algorithm", "magic"),
                "/algorithm: Input should be 'admin_utils'",
            ),
            (("--topic", "t:1:1", "--algorithm", "awareness", "--policy", "luck"), "/policy: Input should be 'spread'"),
            (("--topic", "t:1:1", "--policy", "spread"), "policy goes with the algorithm awareness"),
            (("--topic", "t:1:1", "--export", "pdf"), "--export is pdf; it has to be one of"),
        ],
    )
    def test_a_refusal_is_one_line(self, arguments: tuple[str, ...], reason: str) -> None:
        done = self.plan(*arguments)
        assert done.returncode == 2
        assert reason in done.stderr
        assert is_one_line(done.stderr)
        assert done.stdout == ""

    @pytest.mark.slow
    def test_a_malformed_text_names_its_line(self, tmp_path: Path) -> None:
        text = tmp_path / "brokers.txt"
        text.write_text("127.0.0.1:9092 (id: 1 rack: a) -> (\n127.0.0.1:9093 (id: two rack: a) -> (\n")
        done = rackplan("plan", "replicas", "--brokers", str(text), "--topic", "t:1:1", env=dict(os.environ))
        assert done.returncode == 2
        assert "line 2" in done.stderr


class TestPlanGroup:
    """Offline, from the Kafka tools' output: the same core and the same JSON."""

    TEXTS = (
        *("--topics", str(SAMPLES / "kafka-topics-describe.txt")),
        *("--brokers", str(SAMPLES / "kafka-broker-api-versions.txt")),
    )
    DESCRIBED = ("--groups", str(SAMPLES / "describe-groups.json"))

    def plan(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A group of the files predicted."""
        return within_this_process("plan", "group", *arguments, *self.TEXTS)

    def test_it_is_what_the_service_answers(self, client: httpx.Client) -> None:
        offline = json.loads(self.plan("billing", *self.DESCRIBED, "--event", "lose_rack=use1-az2").stdout)
        parts = {
            "cluster": "offline",
            "brokers": (SAMPLES / "kafka-broker-api-versions.txt").read_text(),
            "topics": (SAMPLES / "kafka-topics-describe.txt").read_text(),
            "groups": (SAMPLES / "describe-groups.json").read_text(),
        }
        snapshot = client.post("/v1/snapshots", files={name: (None, text) for name, text in parts.items()}).json()
        body = {"snapshot_id": snapshot["id"], "group": "billing", "events": [{"lose_rack": "use1-az2"}]}
        online = client.post("/v1/plans/group", json=body).json()
        # An unstored plan has no id, time, snapshot or hash of one.
        differing = {"id", "created_at", "snapshot_id", "hash", "request"}
        assert {name: offline[name] for name in online.keys() - differing} == {
            name: online[name] for name in online.keys() - differing
        }
        assert offline["assignor"] == "range"

    @pytest.mark.parametrize(
        ("files", "arguments", "said"),
        [
            ((), ("billing",), "a request names either a snapshot"),
            (TEXTS, (), "a request lists members or names a group"),
            ((*TEXTS, *DESCRIBED), ("--request", "{request}"), "a request lists members or names a group"),
        ],
        ids=["no files", "no group", "members beside a group"],
    )
    def test_topics_and_members_have_one_source(
        self, tmp_path: Path, files: tuple[str, ...], arguments: tuple[str, ...], said: str
    ) -> None:
        request = tmp_path / "request.json"
        request.write_text('{"group": "billing", "members": [{"member_id": "a", "topics": ["orders"]}]}')
        done = within_this_process("plan", "group", *(one.format(request=request) for one in arguments), *files)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr

    def test_traffic_has_the_rates_and_prices_of_options(self) -> None:
        options = ("--bytes-per-s", "orders=1.2MB,payments=6e5", "--cross-rack-per-gib", "0.01", "--follower-fetching")
        done = self.plan("billing", *self.DESCRIBED, *options, "--rebalance-seconds", "2", "--event", "rolling_restart")
        found = json.loads(done.stdout)
        traffic = found["traffic"]
        assert (traffic["follower_fetching"], traffic["price"]["cross_rack_per_gib"]) == (True, 0.01)
        assert sum(topic["bytes_per_s"] for topic in traffic["per_topic"]) == 1_800_000
        assert found["steps"][0]["pause"]["seconds"] == 2 * len(found["steps"][0]["rebalances"])

    def test_the_groups_own_assignor_is_the_default(self) -> None:
        tables = ("kafka-consumer-groups-members-verbose.txt", "kafka-consumer-groups-state.txt")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join((SAMPLES / name).read_text() for name in tables))
            file.flush()
            found = json.loads(self.plan("clickstream", "--groups", file.name).stdout)
        assert (found["assignor"], found["moved"]) == ("cooperative-sticky", 0)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("ghost",), "it has billing, clickstream"),
            (("billing", "--assignor", "best"), "/assignor: "),
            (("billing", "--event", "explode=1"), "--event is explode=1"),
            (("billing", "--event", "leave=ghost"), "ghost"),
            (("billing", "--bytes-per-s", "orders=fast"), "--ingress-bytes-per-s is orders=fast"),
            (("billing", "--bytes-per-s", "ordres=1"), "there is no topic ordres; did you mean 'orders'?"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_line(self, arguments: tuple[str, ...], said: str) -> None:
        done = self.plan(*arguments, *self.DESCRIBED)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert is_one_line(done.stderr)


class TestPlanKeys:
    """Offline, from a file with a key a line: the same core and the same JSON."""

    LINES = "alice\nbob\n\nNULL\nalice\r\n"
    KEYS = ("alice", "bob", "", None, "alice")

    def plan(self, file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The file's keys placed in a topic of twelve partitions."""
        return within_this_process("plan", "keys", str(file), "--partitions", "12", *arguments)

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        """The keys, one a line."""
        path = tmp_path / "keys.txt"
        path.write_bytes(self.LINES.encode())
        return path

    @pytest.mark.parametrize(
        ("arguments", "body"),
        [
            ((), {}),
            (
                ("--partitioner", "murmur2_adaptive", "--partitioner", "consistent_random"),
                {"partitioner": ["murmur2_adaptive", "consistent_random"]},
            ),
            (("--compare-partitions", "24", "--compare-partitions", "18"), {"compare_partitions": [24, 18]}),
            (("--partitioner", "random", "--null-keys"), {"partitioner": "random", "null_keys": {}}),
            (
                (
                    *("--partitioner", "murmur2_adaptive", "--seed", "-7", "--available-partition", "3"),
                    *("--available-partition", "5", "--queue-size", "0", "--queue-size", "9"),
                    *("--batch-bytes", "100", "--record-bytes", "60"),
                ),
                {
                    "partitioner": "murmur2_adaptive",
                    "null_keys": {
                        "seed": -7,
                        "available_partitions": [3, 5],
                        "queue_sizes": [0, 9],
                        "batch_bytes": 100,
                        "record_bytes": 60,
                    },
                },
            ),
        ],
    )
    def test_it_is_what_the_service_answers(
        self, client: httpx.Client, file: Path, arguments: tuple[str, ...], body: dict[str, object]
    ) -> None:
        done = self.plan(file, "--null-marker", "NULL", *arguments)
        assert done.returncode == 0, done.stderr
        online = client.post("/v1/keys/partitions", json={"keys": self.KEYS, "partitions": 12} | body)
        assert httpx.Response(200, text=done.stdout).json() == online.json()

    @pytest.mark.long
    @pytest.mark.slow
    def test_numbers_from_the_standard_input(self, client: httpx.Client) -> None:
        command = f"printf '1\\n-2\\n' | {RACKPLAN} plan keys /dev/stdin --partitions 12 --encoding int64"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=90, check=True)
        body = {"keys": [1, -2], "encoding": "int64", "partitions": 12}
        online = client.post("/v1/keys/partitions", json=body)
        assert httpx.Response(200, text=done.stdout).json() == online.json()

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (("--encoding", "int32"), "line 1: key 0 is not a signed number of 32 bits: 'alice'"),
            (("--encoding", "utf16"), "/encoding: Input should be 'utf8', 'base64', 'int32' or 'int64'; 'utf16' given"),
            (("--partitioner", "magic"), "/partitioner: Input should be one of 'murmur2_round_robin'"),
            (("--partitions", "0"), "a topic has 1 to 2147483647 partitions; 0 given"),
            (("--compare-partitions", "-1"), "a topic has 1 to 2147483647 partitions; -1 given"),
            (("--available-partition", "12"), "partition 12 cannot be available; the topic has 0 to 11"),
            (("--queue-size", "1"), "each available partition has a queue: 12 sizes are needed; 1 given"),
        ],
    )
    def test_a_refusal_is_one_line(self, file: Path, arguments: tuple[str, ...], reason: str) -> None:
        done = self.plan(file, *arguments)
        assert done.returncode == 2
        assert reason in done.stderr
        assert is_one_line(done.stderr)
        assert done.stdout == ""

    def test_bytes_that_are_no_text_name_their_line(self, tmp_path: Path) -> None:
        file = tmp_path / "keys.bin"
        file.write_bytes(b"one\n\xff\n")
        done = self.plan(file)
        assert done.returncode == 2
        assert "line 2" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nope",), "No such command 'nope'; `rackplan --help`"),
        (("check", "--nope"), "No such option: --nope; `rackplan check --help`"),
        (("check", "/nope"), "/nope: No such file or directory"),
        (("check",), "expected the text of at least one Kafka tool, found none"),
        (("plan", "reassignment", "--remove-broker", "1"), "expected the text of at least one Kafka tool, found none"),
        (("audit", "export", "--format", "nope"), "'nope' is not one of 'jsonl', 'csv'"),
        (("bench", "instance", "nope"), "there is no instance 'nope'"),
        (("usage",), "set RACKPLAN_URL"),
    ],
)
def test_failures_have_one_form_and_code(arguments: tuple[str, ...], words: str) -> None:
    done = within_this_process(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(r"rackplan: [A-Z][A-Za-z ]+: ", done.stderr)
    assert words in done.stderr


def test_settings_of_the_database_are_judged(data_dir: Path) -> None:
    for arguments, url, words in (
        (("migrate",), "nonsense", "RACKPLAN_DATABASE_URL is no URL of a database"),
        (("worker", "--allow-root"), "", "RACKPLAN_DATABASE_URL is not set"),
    ):
        done = rackplan(*arguments, env=environment(data_dir, RACKPLAN_DATABASE_URL=url))
        assert done.returncode == 1
        assert f"rackplan: A setting is not valid: {words}" in done.stderr


def test_a_revision_that_does_not_exist(used_data_dir: Path) -> None:
    done = rackplan("migrate", "--to", "0000", env=environment(used_data_dir))
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no 0000; the newest is" in done.stderr


@pytest.mark.slow
def test_a_failure_acts_on_no_terminal(data_dir: Path) -> None:
    """Text of options and files is repeated as escapes."""
    hostile = "\x1b]0;owned\x07\x9b31m\u202e"
    failed = rackplan(
        *("plan", "replicas", "--cluster", "c", "--brokers", str(SAMPLES / "kafka-broker-api-versions.txt")),
        *("--topic", hostile),
        env=environment(data_dir),
    )
    assert failed.returncode == 2, failed.stderr
    assert r"\x1b]0;owned\x07\x9b31m\u202e" in failed.stderr
    assert failed.stderr.removesuffix("\n").isprintable()
