"""The pipeline of plans: guarantees for every kind, shown by a kind of the test's own and by the real ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from pydantic import TypeAdapter

from app.core.kafka_versions import NEWEST, KafkaRange, KafkaVersion
from app.core.model import Broker, Cluster, NewTopic, Placement
from app.errors import Json
from app.errors.requests import ConflictingFields, DuplicateBroker, LimitExceeded, UnsupportedKafkaVersion
from app.services import replicas
from app.services.limits import Limits
from app.services.plans import Allowance, Planner, Site, draft_plan
from app.services.plans.answers import PlanAnswer
from app.services.plans.kinds import KINDS
from app.services.plans.record import digest, seed_of
from tests import draws as st

CLUSTER = Cluster("c", tuple(Broker(broker, f"r{broker % 3}") for broker in range(6)))


@dataclass(frozen=True, slots=True)
class Dice:
    """A request for a number of the generator; without a seed it is derived from the request."""

    seed: int | None = None
    snapshot_id: UUID | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    kafka_version: str | None = None

    @property
    def canonical(self) -> dict[str, Json]:
        return {"seed": self.seed}


class DiceAnswer(PlanAnswer, kw_only=True):
    """The number."""

    number: int


@dataclass(frozen=True, slots=True)
class _DicePlanner(Planner[Dice, Dice, int]):
    steps: list[str] = field(default_factory=list)
    faults: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "dice"

    @property
    def reader(self) -> TypeAdapter[Dice]:
        return TypeAdapter(Dice)

    def check_site(self, request: Dice) -> None:
        raise AssertionError(f"{request} is planned on a cluster that the caller has")

    def check(self, request: Dice, limits: Limits) -> None:
        self.steps.append("check")
        limits.check_count("topics", request.labels, path=("labels",))

    def resolve(self, request: Dice, site: Site, allowance: Allowance) -> Dice:
        self.steps.append(f"resolve on {site.cluster_name}")
        allowance.check_work(10**9, path=("labels",))
        return request

    def releases(self, _: Dice) -> KafkaRange:
        return KafkaRange("4.0.1", "4.4")

    def with_seed(self, problem: Dice, seed: int) -> Dice:
        return problem if problem.seed is not None else replace(problem, seed=seed)

    def solve(self, problem: Dice) -> int:
        self.steps.append("solve")
        return problem.seed or 0

    def violations(self, problem: Dice, solution: int) -> Sequence[str]:
        self.steps.append(f"verify {solution == problem.seed}")
        return self.faults

    def answer(self, problem: Dice, solution: int) -> DiceAnswer:
        self.steps.append("measure")
        return DiceAnswer(prediction="replay", seed=problem.seed, number=solution, warnings=[])

    def placements(self, problem: Dice, solution: int) -> Sequence[Placement]:
        return [Placement(str(problem.seed == solution), 0, np.zeros((1, 1), np.int32))]


class TestOneWay:
    def test_each_step_follows_the_one_before(self) -> None:
        planner = _DicePlanner()
        draft_plan(planner, Dice(7), CLUSTER, Limits())
        assert planner.steps == ["check", "resolve on c", "solve", "verify True", "measure"]

    def test_a_plan_with_a_violation_is_never_made(self) -> None:
        planner = _DicePlanner(faults=("a broker has two replicas", "another"))
        with pytest.raises(RuntimeError, match="a broker has two replicas; another"):
            draft_plan(planner, Dice(7), CLUSTER, Limits())
        assert "measure" not in planner.steps

    def test_the_brokers_of_the_callers_cluster_are_checked_first(self) -> None:
        planner = _DicePlanner()
        with pytest.raises(DuplicateBroker):
            draft_plan(planner, Dice(7), Cluster("c", (Broker(1), Broker(1))), Limits())
        assert not planner.steps


class TestHashes:
    def test_the_hash_is_of_the_request_before_a_seed_is_derived(self) -> None:
        """A request that sends the derived seed is for a replay, which is another plan."""
        plan = draft_plan(_DicePlanner(), Dice(), CLUSTER, Limits())
        unseeded = {**plan.request, "seed": None}
        assert plan.hash == digest(unseeded).hex()
        assert plan.request["seed"] == plan.answer["seed"] == seed_of(digest(unseeded))
        assert draft_plan(_DicePlanner(), Dice(seed_of(digest(unseeded))), CLUSTER, Limits()).hash != plan.hash

    def test_the_order_of_labels_does_not_count(self) -> None:
        first, second = (
            draft_plan(_DicePlanner(), Dice(1, labels=labels), CLUSTER, Limits())
            for labels in ({"a": "1", "b": "2"}, {"b": "2", "a": "1"})
        )
        assert first.hash == second.hash
        assert list(second.request["labels"]) == ["a", "b"]  # type: ignore[arg-type] # JSON object

    def test_the_seed_has_as_many_bits_as_the_generator_uses(self) -> None:
        assert seed_of(bytes([255] * 32)) == 2**48 - 1


class TestReleases:
    """The release of Kafka is resolved once, for every kind: the request's, else the snapshot's, else the newest."""

    @given(
        requested=st.none() | st.sampled_from(["2.4", "3.9.1", "4.0", "4.0.1", "4.4"]),
        recorded=st.none() | st.sampled_from(["3.9.0", "4.0.1", "4.3.0"]),
    )
    def test_a_request_overrides_its_snapshot(self, requested: str | None, recorded: str | None) -> None:
        cluster = replace(CLUSTER, kafka_version=recorded)
        plan = draft_plan(_DicePlanner(), Dice(1, kafka_version=requested), cluster, Limits())
        stated = requested or recorded
        expected = KafkaVersion.of(stated) if stated else NEWEST
        assert plan.request["kafka_version"] == str(expected)
        holds = KafkaVersion(4, 0, 1) <= expected
        assert plan.answer["kafka"] == ({"from": "4.0.1", "to": "4.4"} if holds else None)

    def test_a_release_as_the_snapshot_has_it_is_the_same_request(self) -> None:
        cluster = replace(CLUSTER, kafka_version="4.1.0")
        first, second = (
            draft_plan(_DicePlanner(), Dice(1, kafka_version=stated), cluster, Limits()) for stated in (None, "4.1")
        )
        assert first.hash == second.hash

    def test_what_is_not_supported_is_rejected_before_the_problem_is_resolved(self) -> None:
        planner = _DicePlanner()
        with pytest.raises(UnsupportedKafkaVersion) as raised:
            draft_plan(planner, Dice(1, kafka_version="2.3"), CLUSTER, Limits())
        assert (raised.value.path, planner.steps) == (("kafka_version",), ["check"])


class TestAllowance:
    def test_what_is_too_large_to_answer_at_once_names_the_way(self) -> None:
        with pytest.raises(LimitExceeded, match="Prefer: respond-async") as raised:
            Allowance(Limits(max_sync_partitions=5)).check_work(6, path=("topics",))
        assert raised.value.path == ("topics",)
        assert raised.value.context["limit_name"] == "max_sync_partitions"

    def test_a_job_is_not_limited_by_it(self) -> None:
        Allowance(Limits(max_sync_partitions=5), is_job=True).check_work(6, path=("topics",))


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_registered_under_the_name_of_its_planner(kind: str) -> None:
    assert KINDS[kind].planner.kind == kind


class TestOptions:
    """A placement algorithm's options travel as one value, which the registry reads."""

    REQUEST = replicas.ReplicasRequest(
        [NewTopic("t", 3, 2)], brokers=list(CLUSTER.brokers), algorithm="awareness", options={"attributes": ["rack"]}
    )

    def test_a_job_stores_them_as_a_caller_writes_them(self) -> None:
        stored = replicas.PLANNER.stored(self.REQUEST)
        assert stored["attributes"] == ["rack"]
        assert "options" not in stored
        assert replicas.PLANNER.restored(stored) == self.REQUEST

    def test_defaults_are_part_of_the_canonical_request(self) -> None:
        plan = draft_plan(replicas.PLANNER, replace(self.REQUEST, brokers=None), CLUSTER, Limits())
        without = draft_plan(replicas.PLANNER, replace(self.REQUEST, brokers=None, options={}), CLUSTER, Limits())
        assert plan.hash == without.hash
        assert plan.request["policy"] == "spread"

    def test_an_option_of_another_algorithm_is_rejected(self) -> None:
        with pytest.raises(ConflictingFields, match="attributes goes with the algorithm awareness") as raised:
            draft_plan(replicas.PLANNER, replace(self.REQUEST, brokers=None, algorithm="striped"), CLUSTER, Limits())
        assert raised.value.path == ("attributes",)
