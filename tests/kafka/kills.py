"""Kills at random while the script of an archive runs: of the script, and of brokers, one at a time.

At the end every list is the plan's, or after a rollback the snapshot's; no throttle is left, and no reassignment runs.
On the way no partition is below its `min.insync.replicas`, since never more than one broker is down.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.kafka.cluster import Cluster, wait_for
from tests.kafka.handing import environment

HEALS_WITHIN_S, ENDS_WITHIN_S, STARTS = 120.0, 240.0, 10
MOST_IDLE_S, MOST_DOWN_S = 3.0, 8.0
THROTTLES = ("", "", "", "", "1000000", "0")
"""Of each start of the script; the plan's if empty."""
IN_ROUND = 12
"""Kills while a plan is executed, or undone, at most."""


def throttles(kafka: Cluster) -> list[str]:
    """The throttles of brokers and topics."""
    described = [kafka.tool("kafka-configs", "--describe", "--entity-type", kind) for kind in ("brokers", "topics")]
    return [line.strip() for text in described for line in text.splitlines() if "throttled" in line]


def lasting_throttles(kafka: Cluster) -> list[str]:
    """The throttles that stay: a broker that has just started may answer from before their removal."""
    ends = time.monotonic() + 30
    while (found := throttles(kafka)) and time.monotonic() < ends:
        time.sleep(0.5)
    return found


@dataclass(slots=True)
class Killer:
    """Runs the script in `folder`, and kills.

    Parameters
    ----------
    least_isr : `min.insync.replicas` by topic. killed : the killed ones, in order.
    """

    kafka: Cluster
    chance: random.Random
    folder: Path
    least_isr: Mapping[str, int]
    killed: list[str] = field(default_factory=list)

    def run(self, *options: str, kills: int) -> None:
        """Run the script until all is complete; kill up to as often on the way, and the script once more.

        What is killed starts each tool by itself, as in operation; the rest is done by tools that share a JVM.
        """
        script = self._started(*options)
        for _ in range(kills):
            time.sleep(self.chance.uniform(0, MOST_IDLE_S))
            if script.poll() == 0:
                break
            if self.chance.random() < 0.5:
                self._kill_script(script)
            else:
                self._kill_broker()
            if script.poll() is not None:
                script = self._started(*options)
        if script.poll() is None:
            self._kill_script(script)
        for _ in range(STARTS):
            if script.returncode == 0:
                break
            script = self._started(*options, KAFKA_BIN=str(self.kafka.commands))
            if script.wait(ENDS_WITHIN_S) != 0:
                wait_for(self._is_healthy, within_s=HEALS_WITHIN_S, what="the return of replicas")
        assert script.returncode == 0, self.report()

    def check(self, wanted: Mapping[str, list[int]]) -> None:
        """Raise `AssertionError` unless the lists are these, nothing is on its way, and no throttle is left."""
        there = self.kafka.replicas()
        assert {name: there[name] for name in wanted} == wanted, self.report()
        left = lasting_throttles(self.kafka)
        assert left == [], f"{left}\n{self.report()}"
        running = self.kafka.tool("kafka-reassign-partitions", "--list")
        assert "replicas:" not in running, f"{running}\n{self.report()}"

    def report(self) -> str:
        """The killed brokers and the script's output."""
        return f"killed {self.killed}\n{(self.folder / 'printed.txt').read_text(errors='replace')[-6000:]}"

    def _started(self, *options: str, **settings: str) -> subprocess.Popen[bytes]:
        ports = ",".join(f"127.0.0.1:{node.port}" for node in self.kafka.brokers.values())
        throttle = self.chance.choice(THROTTLES)
        self._print(f"--- THROTTLE={throttle}")
        with (self.folder / "printed.txt").open("ab") as printed:
            return subprocess.Popen(
                ["bash", "run.sh", *options], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=printed,
                stderr=subprocess.STDOUT, start_new_session=True,
                env=environment(self.kafka, KAFKA_BOOTSTRAP=ports, THROTTLE=throttle, **settings),
            )  # fmt: skip

    def _kill_script(self, script: subprocess.Popen[bytes]) -> None:
        number = self.chance.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
        self._note(f"script {number.name}")
        os.killpg(script.pid, number)
        script.wait(ENDS_WITHIN_S)

    def _kill_broker(self) -> None:
        wait_for(self._is_healthy, within_s=HEALS_WITHIN_S, what="the return of replicas")
        broker = self.chance.choice(list(self.kafka.brokers))
        self._note(f"broker {broker}")
        self.kafka.kill(broker)
        ends = time.monotonic() + self.chance.uniform(0, MOST_DOWN_S)
        while time.monotonic() < ends:
            self._is_healthy()
        self.kafka.start(broker)

    def _note(self, what: str) -> None:
        self.killed.append(what)
        self._print(f"--- {what}")

    def _print(self, line: str) -> None:
        with (self.folder / "printed.txt").open("a") as printed:
            printed.write(f"{line}\n")

    def _is_healthy(self) -> bool:
        """Whether all replicas that are not being added are in sync. Raises if one is below its min ISR."""
        is_healthy = True
        for line in self.kafka.tool("kafka-topics", "--describe").splitlines():
            cells = dict(cell.split(": ", 1) for cell in line.strip().split("\t") if ": " in cell)
            if cells.get("Topic") not in self.least_isr or "Partition" not in cells:
                continue
            replicas, isr, adding = (
                {*filter(None, cells.get(name, "").split(","))} for name in ("Replicas", "Isr", "Adding Replicas")
            )
            assert len(isr) >= self.least_isr[cells["Topic"]], f"{line}\n{self.report()}"
            is_healthy &= replicas - adding <= isr
        return is_healthy
