"""Applications of Kafka Streams run the tasks, and have the standbys, that were predicted, under both protocols."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from tests.kafka.cluster import Cluster, wait_for
from tests.kafka.conftest import release
from tests.kafka.membership import SETTLES_WITHIN_S
from tests.kafka.vectors import number

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

TASKS = [f"0_{number}" for number in range(6)]
Tasks: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""By process id, the `active` tasks and those with a `standby`."""


@dataclass(slots=True)
class Application:
    """Instances of an application, by name: each has a stateful task for every partition of its topic, and standbys.

    Parameters
    ----------
    folder : of their state. racks : by name, `client.rack` and the tag `zone`.
    """

    kafka: Cluster
    client: httpx.Client
    protocol: str
    folder: Path
    racks: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The application id, which is the name of its group."""
        return f"app-{self.protocol}"

    def join(self, name: str, rack: str) -> None:
        """Start an instance with a thread."""
        state = self.folder / name
        properties = {
            "application.id": self.name, "client.id": name, "bootstrap.servers": self.kafka.bootstrap,
            "state.dir": str(state), "consumer.client.rack": rack, "metadata.max.age.ms": "500",
        }  # fmt: skip
        if self.protocol == "streams":
            properties["group.protocol"] = "streams"
        else:
            properties |= {
                "num.standby.replicas": "1", "rack.aware.assignment.tags": "zone", "client.tag.zone": rack,
                # An instance that stops does not leave the group: its session ends.
                "consumer.session.timeout.ms": "6000", "consumer.heartbeat.interval.ms": "500",
            }  # fmt: skip
        self.kafka.clients.ask("join", name=name, kind="streams", topics=["events"], properties=properties)
        self.racks[name] = rack
        wait_for(lambda: self._process_file(name).exists(), within_s=SETTLES_WITHIN_S, what=f"the state of {name}")

    def leave(self, name: str) -> None:
        """Stop an instance."""
        self.kafka.clients.ask("leave", name=name)
        del self.racks[name]

    def _process_file(self, name: str) -> Path:
        return self.folder / name / self.name / "kafka-streams-process-metadata"

    def process_id(self, name: str) -> str:
        """The process id of an instance."""
        return str(json.loads(self._process_file(name).read_text())["processId"])

    def tasks(self) -> Tasks:
        """Each instance's own report."""
        described = self.kafka.clients.ask("members")
        return {
            self.process_id(name): {which: described[name][which] for which in ("active", "standby")}
            for name in self.racks
        }

    def member_ids(self) -> Mapping[str, str]:
        """Of a streams group, the ids of its members by their processes."""
        options = ("--describe", "--group", self.name, "--members", "--verbose")
        lines = self.kafka.tool("kafka-streams-groups", *options).splitlines()
        names = next(line.split() for line in lines if "PROCESS" in line)
        rows = [dict(zip(names, line.split(), strict=False)) for line in lines if line.startswith(self.name)]
        return {row["PROCESS"]: row["MEMBER"] for row in rows}

    def clients(self, before: Tasks) -> list[dict[str, Any]]:
        """The instances as a plan takes them, with the tasks that they had before."""
        found: list[dict[str, Any]] = []
        members = self.member_ids() if self.protocol == "streams" else {}
        for name, rack in self.racks.items():
            process = self.process_id(name)
            had = before.get(process, {"active": [], "standby": []})
            previous = {"previous_active": had["active"], "previous_standby": had["standby"]}
            if self.protocol == "streams":
                threads = [{"member_id": members[process], **previous}]
                found.append({"process_id": process, "rack_id": rack, "members": threads})
            else:
                tags = {"zone": rack}
                found.append({"process_id": process, "client_tags": tags, "default_lag": 0, **previous})
        return found

    def predicted(self, before: Tasks) -> Tasks:
        """The predicted tasks of the instances now, from those before."""
        request = {
            "protocol": self.protocol, "kafka_version": self.kafka.release, "tasks": TASKS, "stateful_tasks": TASKS,
            "num_standby_replicas": 1, "clients": self.clients(before),
            "rack_aware_assignment_tags": [] if self.protocol == "streams" else ["zone"],
        }  # fmt: skip
        response = self.client.post("/v1/plans/streams", json=request)
        assert response.status_code == 201, response.text
        return {
            process: {which: sorted(of[which]) for which in ("active", "standby")}
            for process, of in response.json()["assignment"].items()
        }

    def has_joined(self) -> bool:
        """Whether all instances run, and a streams group has them and no others."""
        described = self.kafka.clients.ask("members")
        if any(described[name]["state"] != "RUNNING" for name in self.racks):
            return False
        if self.protocol == "streams":
            return {*self.member_ids()} == {*map(self.process_id, self.racks)}
        return True

    def settles_from(self, before: Tasks, what: str) -> None:
        """Wait until the instances have the predicted tasks, or fail with the actual ones."""
        wait_for(self.has_joined, within_s=SETTLES_WITHIN_S, what=what)
        predicted = self.predicted(before)
        try:
            wait_for(lambda: self.tasks() == predicted, within_s=SETTLES_WITHIN_S, what=what)
        except TimeoutError:
            raise AssertionError(f"{what}:\n{self.tasks()}\nand not as predicted\n{predicted}") from None


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_each_event_is_predicted(three: Cluster, client: httpx.Client, tmp_path: Path, protocol: str) -> None:
    if protocol == "streams" and number(release()) < (4, 2):
        pytest.skip("streams groups are a preview before 4.2")
    application = Application(three, client, protocol, tmp_path)
    three.create_topic("events", partitions=len(TASKS), factor=1)
    if protocol == "streams":
        options = ("--entity-type", "groups", "--entity-name", application.name)
        three.tool("kafka-configs", "--alter", *options, "--add-config", "streams.num.standby.replicas=1")
    try:
        for place, rack in enumerate(("r1", "r2", "r3", "r1")):
            before = application.tasks()
            application.join(f"i{place}", rack)
            application.settles_from(before, f"i{place} joins")
        before = application.tasks()
        application.leave("i1")
        application.settles_from(before, "i1 leaves")
    finally:
        for name in list(application.racks):
            application.leave(name)
        three.tool("kafka-topics", "--delete", "--topic", "events")
