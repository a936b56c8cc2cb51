"""The service agrees with the small model, on the same instances each time."""

import ast
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.batches import batches
from tests.oracle.bounds import certificate
from tests.oracle.exact import Replicas
from tests.oracle.examine import examine
from tests.oracle.examined import Disagreement, Examined
from tests.oracle.instances import Instance
from tests.oracle.known_sets import known_sets
from tests.oracle.legality import legality, lists_after, values
from tests.oracle.model import read
from tests.oracle.options import OPTIONS
from tests.oracle.service import Answer, plan
from tests.oracle.topics import topic_bands
from tests.oracle.traffic import traffic

FEW, MANY, BUSY = range(len(OPTIONS), 2 * len(OPTIONS)), 2_010, 30
"""Instances of `make test`, one a kind, of `make test-long`, and of each kind that an engine of loads plans."""
BUSY_KINDS = (
    *("limits", "relieve", "relieve_two", "soft_limits", "relieve_soft", "relieve_relax", "resources", "goals"),
    *("tight_by_bytes", "tolerance_by_bytes", "tight_by_throughput", "weights", "cpu_goal"),
)
PROVEN = [
    Instance(0, (), **json.loads(path.read_text(encoding="utf-8")))
    for path in sorted(Path(__file__).with_name("cases").glob("proven/*.json"))
]
"""Instances that were not proven before: 12 partitions on 7 brokers by bytes, two and three goals of one priority."""
AGREED = sorted(Path(__file__).with_name("cases").glob("agreed/*.json"))
"""Instances that disagreed once."""
Found = list[tuple[int, Disagreement]]


def disagreements(instances: Iterable[Instance]) -> Found:
    """Every disagreement, with the seed of its instance."""
    return [(instance.seed, found) for instance in instances for found in examine(instance).disagreements]


@pytest.mark.long
def test_an_instance_of_each_kind_agrees() -> None:
    assert disagreements(Instance.of(seed) for seed in FEW) == []


@pytest.mark.long
def test_hard_instances_are_proven() -> None:
    answers = [plan(instance.snapshot, instance.request).document for instance in PROVEN]
    goals = [goal["gap"] for answer in answers for goal in answer["balance"]["resources"] or ()]
    assert [answer["certificate"]["gap"] for answer in answers] == [0, 0, 0]
    assert goals == [0] * 5
    assert disagreements(PROVEN) == []


@pytest.mark.long
@pytest.mark.parametrize("path", AGREED, ids=lambda path: path.stem)
def test_instances_that_disagreed_agree(path: Path) -> None:
    assert disagreements([Instance(**json.loads(path.read_text(encoding="utf-8")))]) == []


@pytest.mark.parametrize("seed", [208, 401])
def test_known_sets_with_a_broker_on_none(seed: int) -> None:
    """Whether the plan without sets happens to use that broker decides nothing."""
    assert disagreements([Instance.of(seed, "no_new_copysets")]) == []


@pytest.mark.long
def test_limits_at_the_mean_of_the_loads_of_leaders() -> None:
    """The search finds no placement within them; the model does, and of one instance proves the least movement."""
    instance = Instance.of(20, "cpu_limit")
    loads = plan(instance.snapshot, instance.request).document["loads"]
    assert [load["cpu"]["after"] for load in loads.values()] == [0.649] * 5
    assert disagreements([Instance.of(47, "cpu_limit")]) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", [46, 118, 122, 126, 137])
def test_goals_are_those_of_the_best_placement_that_models_find(seed: int) -> None:
    """The model finds the least largest share of CPU, and of the first cluster proves it; the search ends above it."""
    assert disagreements([Instance.of(seed, "cpu_goal")]) == []


@pytest.mark.long
def test_all_instances_agree() -> None:
    assert disagreements(Instance.of(seed) for seed in range(MANY)) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", BUSY_KINDS)
def test_busy_instances_agree(kind: str) -> None:
    assert disagreements(Instance.of(seed, kind) for seed in range(BUSY)) == []


def test_every_kind_has_its_turn() -> None:
    assert {Instance.of(seed).kinds[0] for seed in FEW} == OPTIONS.keys()
    assert len(OPTIONS) >= 95


def test_the_model_imports_nothing_of_the_core() -> None:
    for path in Path(__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        assert not [name for name in imported if name.startswith("app.core")], path
        if path.name not in {"service.py", "test_groups.py"}:
            assert not [name for name in imported if name.split(".")[0] == "app"], path


KINDS_OF_LAWS = {
    "batch_disk": "batches are legal and end as planned",
    "log_dirs_limit_of_one_path": "log directories are legal",
    "no_new_copysets": "moved is the exact least on known sets",
    "reads": "sent bytes are right",
    "topic_replicas_of_one": "the excess of topics is the exact least",
}
"""Kinds with a law of their own."""


@pytest.mark.parametrize(("kind", "law"), KINDS_OF_LAWS.items())
def test_kinds_of_which_few_are_among_all_instances(kind: str, law: str) -> None:
    examined = [examine(Instance.of(seed, kind)) for seed in range(12)]
    assert [each.disagreements for each in examined if each.disagreements] == []
    assert sum(law in each.compared for each in examined) >= 4


SNAPSHOT = {
    "cluster": "oracle",
    "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}, {"id": 3, "rack": "b"}],
    "topics": [{"name": "t", "partitions": [{"partition": 0, "replicas": [1, 2], "isr": [1, 2], "size_bytes": 7}]}],
}


def _after(examined: Examined) -> Replicas:
    return lists_after(examined.instance, examined.answer.document)


DRAIN = Instance(0, (), SNAPSHOT, {"remove_brokers": [2]})


def changed(**changes: Any) -> Examined:
    """The plan of `DRAIN` with other fields, held to the laws of one plan."""
    answer = plan(DRAIN.snapshot, DRAIN.request, with_files=True)
    examined = Examined(DRAIN, Answer(200, answer.document | changes, answer.batches, answer.rollbacks))
    model, after = read(DRAIN.snapshot, DRAIN.request), lists_after(DRAIN, examined.answer.document)
    legality(examined, model, after)
    values(examined, model, after)
    batches(examined, model, after)
    certificate(examined)
    return examined


class TestWrongAnswers:
    """A plan that is changed by hand disagrees."""

    def test_the_plan_itself_agrees(self) -> None:
        assert changed().disagreements == []

    @pytest.mark.parametrize(
        ("replicas", "law"),
        [
            ([1, 2], "lists are legal"),
            ([1, 1], "lists are legal"),
            ([1], "lists are legal"),
            ([3, 1], "leader_changes is right"),
        ],
    )
    def test_other_lists(self, replicas: list[int], law: str) -> None:
        topics = [{"name": "t", "first_partition_id": 0, "replicas": [replicas]}]
        assert law in {found.law for found in changed(topics=topics).disagreements}

    @pytest.mark.parametrize(
        ("fields", "law"),
        [
            ({"moved_bytes": 8}, "moved_bytes is right"),
            ({"lower_bound_bytes": 8}, "the bound is at most the value"),
            ({"lower_bound_bytes": 6}, "optimal is a bound that is reached"),
            ({"gap": 0.5}, "the gap is right"),
        ],
    )
    def test_other_certificates(self, fields: dict[str, Any], law: str) -> None:
        written = plan(DRAIN.snapshot, DRAIN.request).document["certificate"] | fields
        assert law in {found.law for found in changed(certificate=written).disagreements}

    @pytest.mark.parametrize(
        ("kind", "path", "law"),
        [
            ("reads", ("cross_rack", "consumers", "after_bytes_per_s"), "bytes between racks are right"),
            ("no_new_copysets", ("certificate", "moved_bytes"), "moved is the exact least on known sets"),
            ("topic_replicas_of_one", ("certificate", "moved_bytes"), "moved is the exact least"),
            (
                "topic_replicas_of_one",
                ("balance", "replicas", "per_topic", "excess"),
                "the excess of topics is the exact least",
            ),
        ],
    )
    def test_other_figures(self, kind: str, path: tuple[str, ...], law: str) -> None:
        examined = next(each for seed in range(12) if law in (each := examine(Instance.of(seed, kind))).compared)
        *parents, name = path
        parent = reduce(getitem, parents, examined.answer.document)
        parent[name] += 1 << 46
        model, after = read(examined.instance.snapshot, examined.instance.request), _after(examined)
        traffic(examined, model, after)
        known_sets(examined, model, after)
        topic_bands(examined, model)
        assert law in {found.law for found in examined.disagreements}

    def test_a_disk_that_is_smaller(self) -> None:
        """Broker 3 receives 7 bytes, which is all of its disk, but not of 90 % of it."""
        request = DRAIN.request | {"capacity": {"*": {"disk_bytes": 7}}, "batches": {"max_disk_share": 1}}
        answer = plan(DRAIN.snapshot, request, with_files=True)
        for share, laws in ((1, set()), (0.9, {"batches are legal and end as planned"})):
            instance = replace(DRAIN, request=request | {"batches": {"max_disk_share": share}})
            examined = Examined(instance, answer)
            batches(examined, read(DRAIN.snapshot, request), lists_after(DRAIN, answer.document))
            assert {found.law for found in examined.disagreements} == laws

    def test_a_rollback_that_restores_something_else(self) -> None:
        answer = changed().answer
        wrong = [{key: [3, 2] for key in lists} for lists in answer.rollbacks]
        examined = Examined(DRAIN, replace(answer, rollbacks=wrong))
        batches(examined, read(DRAIN.snapshot, DRAIN.request), lists_after(DRAIN, answer.document))
        assert {found.law for found in examined.disagreements} == {"batches are legal and end as planned"}
