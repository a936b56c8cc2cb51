"""A group of Kafka's own clients on a running cluster, and the service's predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx

from tests.kafka.cluster import Cluster, wait_for

SETTLES_WITHIN_S = 60
Assignment: TypeAlias = Mapping[str, Mapping[str, Sequence[int]]]
"""By member and topic, the partitions in order; topics without any are left out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How the members of a group are configured. tool : describes it."""

    client: str
    tool: str
    properties: Mapping[str, str]


def _partitions(assignment: Assignment) -> list[str]:
    """All partitions that members have, as often as members have them."""
    return sorted(
        f"{topic}-{number}" for of in assignment.values() for topic, numbers in of.items() for number in numbers
    )


def _classic(name: str) -> Kind:
    assignor = f"org.apache.kafka.clients.consumer.{name}Assignor"
    return Kind("consumer", "kafka-consumer-groups", {"partition.assignment.strategy": assignor})


def _consumer(assignor: str) -> Kind:
    return Kind("consumer", "kafka-consumer-groups", {"group.protocol": "consumer", "group.remote.assignor": assignor})


KINDS = {
    "range": _classic("Range"),
    "roundrobin": _classic("RoundRobin"),
    "sticky": _classic("Sticky"),
    "cooperative-sticky": _classic("CooperativeSticky"),
    "uniform": _consumer("uniform"),
    "server-range": _consumer("range"),
    "simple": Kind("share", "kafka-share-groups", {}),
}
"""By the name that a plan has for the assignor."""


@dataclass(frozen=True, slots=True)
class LiveMember:
    """A member: its name, which is its client id, and its metadata for the group."""

    name: str
    topics: Sequence[str]
    rack: str
    instance: str | None = None

    def as_request(self, member_id: str) -> dict[str, Any]:
        """As a plan takes it."""
        return {
            "member_id": member_id, "topics": list(self.topics), "rack_id": self.rack,
            "group_instance_id": self.instance,
        }  # fmt: skip


@dataclass(slots=True)
class LiveGroup:
    """A group and its members, by name.

    Parameters
    ----------
    is_decided : whether the last prediction is the only one; else the plan warns that Kafka may assign otherwise.
    """

    kafka: Cluster
    client: httpx.Client
    assignor: str
    name: str
    members: dict[str, LiveMember] = field(default_factory=dict)
    is_decided: bool = True

    @property
    def kind(self) -> Kind:
        """How its members are configured."""
        return KINDS[self.assignor]

    def join(self, member: LiveMember) -> None:
        """Start a member, and wait until the group has it."""
        properties = {
            "bootstrap.servers": self.kafka.bootstrap, "group.id": self.name, "client.id": member.name,
            "client.rack": member.rack, "metadata.max.age.ms": "500", **self.kind.properties,
        }  # fmt: skip
        if self.kind.client == "consumer":
            properties |= {"heartbeat.interval.ms": "500"} if "group.protocol" not in properties else {}
            properties |= {"group.instance.id": member.instance} if member.instance else {}
        self.kafka.clients.ask(
            "join", name=member.name, kind=self.kind.client, topics=member.topics, properties=properties
        )
        self.members[member.name] = member
        wait_for(
            lambda: set(self.ids()) == set(self.members), within_s=SETTLES_WITHIN_S, what=f"the join of {member.name}"
        )

    def begin(self, member: LiveMember) -> None:
        """Start the first member, and wait until it has all partitions."""
        self.join(member)
        names = [name for name in self.kafka.replicas() if name.rpartition("-")[0] in member.topics]
        wait_for(
            lambda: sum(map(len, self.described()[member.name][1].values())) == len(names),
            within_s=SETTLES_WITHIN_S, what=f"the assignment of {member.name}",
        )  # fmt: skip

    def leave(self, name: str) -> None:
        """Stop a member, which leaves the group unless it is a static one."""
        self.kafka.clients.ask("leave", name=name)
        del self.members[name]

    def described(self) -> Mapping[str, tuple[str, Mapping[str, Sequence[int]]]]:
        """By name of member, its id and partitions, as clients know them themselves."""
        if self.kind.client == "share":
            properties = {"bootstrap.servers": self.kafka.bootstrap}
            answer = self.kafka.clients.ask("share_group", group=self.name, properties=properties)
        else:
            answer = self.kafka.clients.ask("members")
        return {
            name: (each["member_id"], each["partitions"])
            for name, each in answer.items()
            if name in self.members and each["member_id"]
        }

    def ids(self) -> dict[str, str]:
        """The ids of members by their names."""
        return {name: member_id for name, (member_id, _) in self.described().items()}

    def assignment(self) -> Assignment:
        """The partitions of each member, by its id."""
        return dict(self.described().values())

    def snapshot(self) -> str:
        """Store the Kafka tools' output about cluster and group. Returns the snapshot's id."""
        described = [
            self.kafka.tool(self.kind.tool, "--describe", "--group", self.name, *options)
            for options in (("--members", "--verbose"), ("--state",))
        ]
        files = {
            "brokers": self.kafka.tool("kafka-broker-api-versions"),
            "topics": self.kafka.tool("kafka-topics", "--describe"),
            "groups": "".join(described),
        }
        form = {"cluster": (None, "live"), **{name: (name, text) for name, text in files.items()}}
        response = self.client.post("/v1/snapshots", files=form)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def predicted(self, snapshot_id: str, event: dict[str, Any], before: Sequence[LiveMember]) -> Assignment:
        """The predicted partitions of a snapshot's members after an event, by their ids."""
        overrides = [
            {"client_id": each.name, "rack_id": each.rack, "topics": list(each.topics), "client": "java"}
            for each in before
        ]
        response = self.client.post("/v1/plans/group", json={
            "snapshot_id": snapshot_id, "group": self.name, "assignor": self.assignor, "events": [event],
            "member_overrides": overrides, "kafka_version": self.kafka.release,
        })  # fmt: skip
        assert response.status_code == 201, response.text
        assignment = response.json()["steps"][-1]["assignment"]
        self.is_decided = "order_of_sets_decides" not in {each["code"] for each in response.json()["warnings"]}
        return {
            member: {topic: sorted(numbers) for topic, numbers in sorted(topics.items()) if numbers}
            for member, topics in assignment.items()
        }

    def settles_as(self, predicted: Assignment, what: str) -> None:
        """Wait until the members have the predicted assignment, or its partitions if it is not decided, or fail."""

        def has_settled() -> bool:
            found = self.assignment()
            return found == predicted or (
                not self.is_decided
                and found.keys() == predicted.keys()
                and _partitions(found) == _partitions(predicted)
            )

        try:
            wait_for(has_settled, within_s=SETTLES_WITHIN_S, what=what)
        except TimeoutError:
            raise AssertionError(f"{what}:\n{self.assignment()}\nand not as predicted\n{predicted}") from None

    def close(self) -> None:
        """Stop all members."""
        for name in list(self.members):
            self.leave(name)
