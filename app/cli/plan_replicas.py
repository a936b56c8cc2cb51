"""`rackplan plan replicas`: new topics on the cluster that files describe."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.cli.offline import Texts, printed, require
from app.core.model import NewTopic
from app.core.replicas.awareness.rules import Policy
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.errors.requests import ConflictingFields
from app.services.plans import draft_plan
from app.services.replicas import EXPORTS, PLAN_KIND, PLANNER, ReplicasRequest
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the command that choose a placement, as typed."""

    algorithm: str | None = None
    rack_mode: str | None = None
    fixed_start_index: int | None = None
    seed: int | None = None
    policy: str | None = None
    forced_racks: Sequence[str] = ()
    kafka_version: str | None = None

    def request(self, topics: Sequence[NewTopic]) -> ReplicasRequest:
        """The request to the service. Raises `ConflictingFields` if a choice is unknown."""
        require("algorithm", self.algorithm, tuple(PLACEMENTS))
        require("rack-mode", self.rack_mode, tuple(RackMode))
        require("policy", self.policy, tuple(Policy))
        return ReplicasRequest(
            topics=topics,
            algorithm=self.algorithm,
            rack_mode=None if self.rack_mode is None else RackMode(self.rack_mode),
            fixed_start_index=self.fixed_start_index,
            seed=self.seed,
            kafka_version=self.kafka_version,
            options={
                name: value
                for name, value in (("policy", self.policy), ("forced", {"rack": self.forced_racks}))
                if value is not None and (name != "forced" or self.forced_racks)
            },
        )


def place(topics: list[str], *, texts: Texts, cluster: str, choices: Choices, export: str | None) -> bytes:
    """Place topics on the cluster that the files describe; the plan as the API writes it, or one of the exports.

    Raises what the service does, and `ConflictingFields` if the value of an option is unknown.
    """
    require("export", export, tuple(EXPORTS))
    request = choices.request([_topic(text) for text in topics])
    described = texts.cluster(cluster)
    plan = draft_plan(PLANNER, request, described, Settings().limits)
    if export is not None:
        return EXPORTS[export](plan, lambda: described)
    return printed(PLAN_KIND.to_json(plan))


def _topic(text: str) -> NewTopic:
    name, *numbers = text.split(":")
    if not name or len(numbers) not in (2, 3) or not all(part.lstrip("-").isdigit() for part in numbers):
        raise ConflictingFields(f"--topic is {text}; it has to be name:partitions:replication_factor", path=("topic",))
    return NewTopic(name, *map(int, numbers))
