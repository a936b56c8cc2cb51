"""The steps of an archive's README, by hand: a shell runs its commands one after another, and makes its checks."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka.cluster import TOOL_WITHIN_S, Cluster, wait_for
from tests.kafka.conftest import release
from tests.kafka.handing import RUNS_WITHIN_S, lists_of, planned, snapshot, unpacked
from tests.kafka.kills import lasting_throttles, throttles

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

THROTTLED: dict[str, Any] = {"batches": {"throttle_bytes_per_s": 5_000_000}}
REMOVED = 5
BACK = "To go back"
BY_BATCH = "batch by batch:"
"""Begins of the parts of a README: the way back, and the steps of it if brokers are cordoned."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Follows the README in `folder`."""

    kafka: Cluster
    folder: Path

    @property
    def readme(self) -> str:
        """Its text, each command in one line."""
        return (self.folder / "README.txt").read_text(encoding="utf-8").replace("\\\n", " ")

    def forth(self) -> None:
        """Take the steps of the plan."""
        self.take(self.readme.partition(BACK)[0])

    def back(self) -> None:
        """Take the steps back by batches if the README has them, else execute `rollback.json`."""
        way = self.readme.partition(BACK)[2]
        if BY_BATCH in way:
            self.take(way.partition(BY_BATCH)[2])
        else:
            self._execute("rollback.json", way)

    def take(self, text: str) -> None:
        """Run the commands of a text and the files that it lists, in order."""
        printed = ""
        lines = text.splitlines()
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            step = line.strip()
            if file := re.match(r" *(?:\d+\. Execute and verify )?(\d+-\w+\.json)", line):
                self._execute(file[1], self.readme)
            elif step == "kafka-server-stop.sh":
                self.kafka.stop(REMOVED)
            elif step.startswith(("kafka-", "for ")) and "--reassignment-json-file" not in step:
                printed = self._run(step)
            elif step == 'Check: every "partitions" is []':
                assert '"partitions":[{' not in printed
                assert '"partitions":[]' in printed
            elif check := re.match("Check: (kafka-.+)", step):
                self._check(check[1], following.strip())

    def _execute(self, file: str, text: str) -> None:
        """Execute a file by the first two commands of a text, the second one until nothing is in progress."""
        execute, verify = (
            re.sub(r"[\w-]+\.json", file, command.strip(), count=1)
            for command in re.findall(r"^  kafka-reassign-partitions.+$", text, re.MULTILINE)[:2]
        )
        self._run(execute)
        wait_for(lambda: "in progress" not in self._run(verify), within_s=RUNS_WITHIN_S, what=file)
        assert "There is no active" not in self._run(verify)

    def _check(self, command: str, expected: str) -> None:
        """Wait until a command prints what the README expects of it."""
        words = re.fullmatch(r"(prints no|prints|no longer lists) ([\w.]+)(, and so for the others)?", expected)
        assert words, expected
        is_there = words[1] == "prints"
        pattern = re.compile(rf"^{words[2]}\b" if words[1] == "no longer lists" else re.escape(words[2]), re.MULTILINE)
        wait_for(
            lambda: bool(pattern.search(self._run(command))) == is_there, within_s=60, what=f"{command} {expected}"
        )

    def _run(self, command: str) -> str:
        command = command.replace("localhost:9092", self.kafka.bootstrap)
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.kafka.environment, capture_output=True, text=True,
            timeout=TOOL_WITHIN_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture
def complete(topics: Cluster) -> Iterator[Cluster]:
    """The cluster, of which the test stops a broker."""
    yield topics
    topics.revive(REMOVED)


@pytest.mark.parametrize(
    "request_",
    [
        {"remove_brokers": [REMOVED], **THROTTLED},
        {"partitions": {"clicks.raw": 6}, "balance": {"replicas": "tight", "leaders": "tight"}},
        {"replication_factor": {"orders": 2, "clicks.raw": 3}, **THROTTLED},
    ],
    ids=["remove a broker", "more partitions", "other factors"],
)
def test_a_shell_takes_the_steps_of_the_readme(
    complete: Cluster, client: httpx.Client, tmp_path: Path, request_: dict[str, Any]
) -> None:
    before = complete.replicas()
    plan = planned(client, snapshot(client, complete), {"kafka_version": release(), **request_})
    wanted = before | lists_of(client, plan)
    operator = Operator(complete, unpacked(client, plan, tmp_path / "plan"))
    operator.forth()
    assert complete.replicas() == wanted
    assert lasting_throttles(complete) == []
    complete.revive(REMOVED)
    operator.back()
    there = complete.replicas()
    assert {name: there[name] for name in before} == before
    assert lasting_throttles(complete) == []


def test_a_shell_takes_the_steps_while_a_broker_is_down(
    complete: Cluster, client: httpx.Client, tmp_path: Path
) -> None:
    """Kafka's tool would wait for the broker with --throttle, and with --verify unless it preserves throttles."""
    before = complete.replicas()
    complete.kill(REMOVED)
    complete.await_fenced(REMOVED)
    request = {"kafka_version": release(), "fix_offline_replicas": True, **THROTTLED}
    plan = planned(client, snapshot(client, complete), request)
    assert plan["batches"]
    operator = Operator(complete, unpacked(client, plan, tmp_path / "plan"))
    assert f"Broker {REMOVED} of the lists is down" in operator.readme
    operator.take(operator.readme.partition("Run the batches")[0])
    wanted = before | lists_of(client, plan)
    listed = {broker for name, after in wanted.items() if after != before[name] for broker in (*before[name], *after)}
    rates = [line for line in throttles(complete) if ".rate=" in line]
    assert len(rates) == 2 * len(listed - {REMOVED})
    operator.forth()
    assert complete.replicas() == wanted
    assert lasting_throttles(complete) == []
    complete.revive(REMOVED)
    operator.back()
    assert complete.replicas() == before
    assert lasting_throttles(complete) == []
