"""A Kafka cluster on loopback: one controller, brokers with racks and two log directories, each a process; its tools.

Starts and stops are bounded. Brokers listen on ports of their own, and everything is below one folder.
"""

import os
import shlex
import signal
import socket
import stat
import struct
import subprocess
import time
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from app.jobs import java
from tests.kafka import commands, jars, jvm
from tests.kafka.jvm import Jvm

CONTROLLER = 100
"""The id of the controller, which is no broker."""
CLUSTER_ID = "rackplan-tests-kafka00"
STARTS_WITHIN_S, STOPS_WITHIN_S, TOOL_WITHIN_S = 180.0, 30.0, 120.0
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
"""A JVM that lives for seconds is done sooner where it compiles once, and little."""
_LEVEL = "-Dorg.slf4j.simpleLogger.defaultLogLevel"
_TOOLS: Mapping[str, str] = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "org.apache.kafka.tools.ConfigCommand",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-storage": "kafka.tools.StorageTool",
}
_BEFORE = {"org.apache.kafka.tools.ConfigCommand": "kafka.admin.ConfigCommand"}
"""Classes of tools by those that later releases have."""


def free_port() -> int:
    """A port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for(condition: Callable[[], bool], *, within_s: float, what: str) -> None:
    """Wait until a condition holds. Raises `TimeoutError` that names it."""
    ends = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > ends:
            raise TimeoutError(f"{what}: not within {within_s:g} s")
        time.sleep(0.1)


def topic_error(port: int, topic: str) -> int:
    """The error of a topic in the metadata of one broker; clients and tools ask any of them.

    By version 4 of the protocol's `Metadata`: an entry of a topic is its error, then its name.
    """
    name = struct.pack(">h", len(topic)) + topic.encode()
    request = struct.pack(">hhihi", 3, 4, 0, -1, 1) + name + b"\0"  # no name of a client, one topic, do not create it
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, connection.makefile("rb") as answers:
        connection.sendall(struct.pack(">i", len(request)) + request)
        answer = answers.read(*struct.unpack(">i", answers.read(4)))
    (error,) = struct.unpack_from(">h", answer, answer.rindex(name) - 2)
    return int(error)


@dataclass(slots=True)
class Node:
    """A controller or broker: its files, and its process while it runs."""

    number: int
    folder: Path
    port: int
    rack: str | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def log_dirs(self) -> list[Path]:
        """Its log directories, in their order."""
        return [self.folder / "a", self.folder / "b"]

    @property
    def printed(self) -> str:
        """Its output so far; the last lines say why it has not started."""
        return (self.folder / "printed.txt").read_text(encoding="utf-8", errors="replace")


@dataclass(slots=True)
class Cluster:
    """A running cluster.

    Parameters
    ----------
    release : of Kafka. clients : the JVM of tools and of members of groups.
    tools : the main classes of tools by their names. jar_files : the class path.
    """

    release: str
    folder: Path
    controller: Node
    clients: Jvm
    tools: Mapping[str, str] = field(repr=False)
    jar_files: Sequence[str] = field(repr=False)
    brokers: dict[int, Node] = field(default_factory=dict)

    @property
    def bin(self) -> Path:
        """Kafka's tools, named as in its distribution."""
        return self.folder / "bin"

    @property
    def commands(self) -> Path:
        """The same tools, executed by the JVM of the clients."""
        return self.folder / "commands"

    @property
    def archive(self) -> Path:
        """The file with the classes that tools have in common, for Java to map."""
        return self.folder / "classes.jsa"

    @property
    def bootstrap(self) -> str:
        """The addresses of the brokers that run."""
        return ",".join(f"127.0.0.1:{port}" for port in self._ports)

    @property
    def _ports(self) -> list[int]:
        return [node.port for node in self.brokers.values() if node.process is not None]

    @property
    def environment(self) -> dict[str, str]:
        """For a shell that runs Kafka's tools."""
        return {**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}

    def tool(self, name: str, *arguments: str) -> str:
        """Run one of Kafka's tools with the address of the cluster. Returns its output.

        Raises `AssertionError` with its output if it fails.
        """
        return self._print(name, "--bootstrap-server", self.bootstrap, *arguments)

    def _print(self, name: str, *arguments: str) -> str:
        done = self.clients.ask("tool", **{"class": self.tools[name], "arguments": arguments})
        assert done["status"] == 0, f"{name} {shlex.join(arguments)}:\n{done['printed']}\n{done['errors']}"
        return str(done["printed"])

    def create_topic(self, name: str, *, partitions: int, factor: int = 3, **configs: object) -> None:
        """Create a topic; names of configurations have `_` for `.`."""
        options = [f"--config={key.replace('_', '.')}={value}" for key, value in configs.items()]
        counts = ["--partitions", str(partitions), "--replication-factor", str(factor)]
        self.tool("kafka-topics", "--create", "--topic", name, *counts, *options)
        wait_for(
            lambda: not any(map(partial(topic_error, topic=name), self._ports)), within_s=30, what=f"{name} is known"
        )

    def fill(self, topic: str, *, records: int, size: int = 1000) -> None:
        """Produce records of some bytes to a topic, over all its partitions."""
        counts = ["--num-records", str(records), "--record-size", str(size), "--throughput", "-1"]
        properties = ["--producer-props", f"bootstrap.servers={self.bootstrap}", "batch.size=4096"]
        properties.append("enable.idempotence=false")  # else batches that wait too long fail all that follow
        self._print("kafka-producer-perf-test", "--topic", topic, *counts, *properties)

    def replicas(self) -> dict[str, list[int]]:
        """The replica list of each partition, as `topic-partition`."""
        lists = {}
        for line in self.tool("kafka-topics", "--describe").splitlines():
            cells = dict(cell.split(": ", 1) for cell in line.strip().split("\t") if ": " in cell)
            if "Partition" in cells:
                lists[f"{cells['Topic']}-{cells['Partition']}"] = [*map(int, cells["Replicas"].split(","))]
        return lists

    def replicas_of(self, topic: str) -> list[list[int]]:
        """The replica lists of a topic, by partition."""
        lists = self.replicas()
        return [lists[f"{topic}-{number}"] for number in range(sum(name.rpartition("-")[0] == topic for name in lists))]

    def directories(self, partitions: Collection[str]) -> dict[tuple[str, int], str]:
        """The log directory of each replica of partitions, by partition and broker."""
        return {
            (replica.name, number): path.name
            for number, node in self.brokers.items()
            for path in node.log_dirs
            for replica in path.iterdir()
            if replica.name in partitions
        }

    def start(self, *numbers: int) -> None:
        """Start brokers, and wait until each has joined."""
        nodes = [self.brokers[number] for number in numbers or self.brokers]
        for node in nodes:
            self._start(node)
        for node in nodes:
            self._await_start(node)

    def revive(self, number: int) -> None:
        """Start a broker unless it runs."""
        if self.brokers[number].process is None:
            self.start(number)

    def stop(self, number: int) -> None:
        """Stop a broker as an operator does."""
        self._end(self.brokers[number], signal.SIGTERM)

    def kill(self, number: int) -> None:
        """Kill a broker."""
        self._end(self.brokers[number], signal.SIGKILL)

    def await_fenced(self, number: int) -> None:
        """Wait until the controller has noticed that a broker is gone."""
        listed = f"(id: {number} "
        wait_for(
            lambda: listed not in self.tool("kafka-broker-api-versions"),
            within_s=STOPS_WITHIN_S,
            what=f"the end of broker {number}",
        )

    def close(self) -> None:
        """End every process."""
        for node in (*self.brokers.values(), self.controller):
            self._end(node, signal.SIGKILL)

    def _end(self, node: Node, number: signal.Signals) -> None:
        if node.process is not None and node.process.poll() is None:
            node.process.send_signal(number)
            try:
                node.process.wait(STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:
                node.process.kill()
                node.process.wait(STOPS_WITHIN_S)
        node.process = None

    def _start(self, node: Node) -> None:
        heap = ["-Xmx200m", "-Xms64m"]
        with (node.folder / "printed.txt").open("wb") as printed:
            command = [
                f"{self.bin}/run.sh",
                *heap,
                f"{_LEVEL}=info",
                "kafka.Kafka",
                str(node.folder / "server.properties"),
            ]
            node.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, cwd=node.folder
            )

    def _await_start(self, node: Node) -> None:
        def has_started() -> bool:
            if node.process is None or node.process.poll() is not None:
                raise AssertionError(f"node {node.number} has ended:\n{node.printed[-3000:]}")
            return "Kafka Server started" in node.printed

        wait_for(has_started, within_s=STARTS_WITHIN_S, what=f"the start of node {node.number}")


@contextmanager
def running(
    folder: Path,
    racks: Sequence[str | None],
    *,
    release: str = jars.NEWEST,
    first: int = 1,
    besides: Sequence[Path] = (),
    **settings: object,
) -> Iterator[Cluster]:
    """A cluster with one broker for each of `racks`, with ids from `first`, until the context ends.

    Parameters
    ----------
    besides : artifacts that brokers have besides the release's.
    settings : of the brokers, in place of the usual ones; names have `_` for `.`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with jvm.started(release, folder, QUICK) as clients:
        jar_files = [f"{jars.resolve(release)}/*", *map(str, besides)]
        controller = _node(folder, CONTROLLER, None)
        cluster = Cluster(release, folder, controller, clients, main_classes(release), jar_files)
        for number, rack in enumerate(racks, first):
            cluster.brokers[number] = _node(folder, number, rack)
        write_tools(cluster.bin, cluster.tools, cluster.jar_files, cluster.archive)
        nodes = [cluster.controller, *cluster.brokers.values()]
        for node in nodes:
            _write_properties(cluster, node, settings)
            properties = str(node.folder / "server.properties")
            cluster._print("kafka-storage", "format", "--cluster-id", CLUSTER_ID, "--config", properties)
        try:
            cluster._start(cluster.controller)
            cluster.start()
            _archive_classes(cluster)
            with commands.served(cluster.commands, cluster.tools, clients):
                yield cluster
        finally:
            cluster.close()


def _node(folder: Path, number: int, rack: str | None) -> Node:
    node = Node(number, folder / f"node-{number}", free_port(), rack)
    node.folder.mkdir()
    return node


def _write_properties(cluster: Cluster, node: Node, settings: Mapping[str, object]) -> None:
    is_controller = node is cluster.controller
    name = "CONTROLLER" if is_controller else "PLAINTEXT"
    usual: dict[str, object] = {
        "process.roles": "controller" if is_controller else "broker",
        "node.id": node.number,
        "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{cluster.controller.port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{name}://127.0.0.1:{node.port}",
        "log.dirs": ",".join(map(str, node.log_dirs[: 1 if is_controller else 2])),
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "offsets.topic.num.partitions": 4,
        "offsets.topic.replication.factor": 1,
        "group.initial.rebalance.delay.ms": 0,
        "controlled.shutdown.enable": "true",
        "broker.session.timeout.ms": 6000,
        "log.cleaner.enable": "false",
        "num.network.threads": 1,
        "num.io.threads": 2,
        "num.replica.fetchers": 1,
        "replica.fetch.wait.max.ms": 100,
        "log.segment.bytes": 8 * 2**20,
    }
    if node.rack is not None:
        usual["broker.rack"] = node.rack
    usual |= {key.replace("_", "."): value for key, value in settings.items()}
    lines = "".join(f"{key}={value}\n" for key, value in usual.items())
    (node.folder / "server.properties").write_text(lines, encoding="utf-8")


def write_tools(folder: Path, tools: Mapping[str, str], jar_files: Sequence[str], archive: Path) -> None:
    """Write Kafka's tools, whose artifacts come without the scripts of its distribution, into a new folder.

    Parameters
    ----------
    tools : the main classes by name. archive : of classes; Java goes on without it.
    """
    folder.mkdir()
    runtime = java.find()
    options = f"{shlex.join(QUICK)} -XX:${{CLASSES:-SharedArchiveFile}}={shlex.quote(str(archive))}"
    path = shlex.quote(os.pathsep.join(jar_files))
    scripts = {"run": f'exec {shlex.quote(str(runtime.executable))} {options} -cp {path} "$@"\n'}
    for name, main in tools.items():
        scripts[name] = f'exec {shlex.quote(str(folder))}/run.sh {_LEVEL}=error {main} "$@"\n'
    for name, line in scripts.items():
        script = folder / f"{name}.sh"
        script.write_text(f"#!/bin/sh\n{line}", encoding="utf-8")
        script.chmod(stat.S_IRWXU)


def _archive_classes(cluster: Cluster) -> None:
    """Store the classes that tools load: each later start takes half of the time. Without the file, Java goes on."""
    command = [f"{cluster.bin}/kafka-topics.sh", "--bootstrap-server", cluster.bootstrap, "--describe"]
    environment = {**os.environ, "CLASSES": "ArchiveClassesAtExit"}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=TOOL_WITHIN_S)


def main_classes(release: str) -> dict[str, str]:
    """The classes of the tools that a release has, by the names of their scripts."""
    classes: set[str] = set()
    for path in jars.resolve(release).glob("kafka*.jar"):
        with zipfile.ZipFile(path) as archive:
            classes.update(name.removesuffix(".class").replace("/", ".") for name in archive.namelist())
    named = {name: main if main in classes else _BEFORE.get(main, main) for name, main in _TOOLS.items()}
    return {name: main for name, main in named.items() if main in classes}
