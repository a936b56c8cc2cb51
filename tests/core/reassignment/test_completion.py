"""Reassignments that Kafka never completes, beside its rule by release as the code of the controller states it."""

from random import Random

import numpy as np
import pytest

from app.core.kafka_versions import Controller, KafkaVersion
from app.core.model import padded
from app.core.reassignment.completion import CompletionRule, completion_rule, incomplete

RELEASES = ("2.4.0", "3.2.0", "3.5.2", "3.7.2", "3.8.0", "3.9.1", "4.0.2", "4.1.2", "4.2.2", "4.3.0", "4.4.0")


def never_completes(
    release: str, controller: Controller | None, lists: tuple[list[int], list[int]], isr: list[int], live: set[int]
) -> bool:
    """The rule in words of sets: replicas that are up join the ISR while one of it is up to copy from.

    Source: `PartitionReassignmentReplicas` of kafka-metadata 3.5.2 to 4.4.0, `PartitionChangeBuilder` of 3.3.2 and
    3.4.1, `KafkaController.isReassignmentComplete` of 2.4 to 3.9.
    """
    current, target = map(set, lists)
    adding, removing = target - current, current - target
    if not adding and not removing:
        return False
    joined = (current | target) & live if live & set(isr) else set(isr)
    number = tuple(map(int, release.split(".")))
    is_kraft = number >= (4, 0) or (number >= (3, 3) if controller is None else controller == "kraft")
    if controller is None and (3, 3) <= number < (4, 0):
        is_kraft = False  # unknown: the stricter rule
    if number >= (4, 3):
        return not adding <= joined or (len(adding) < len(removing) and not target <= joined) or not joined - removing
    if is_kraft and number < (3, 8):
        return not adding <= joined or not joined - removing
    return not target <= joined


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("controller", ["kraft", "zookeeper", None])
def test_every_list_of_five_brokers(release: str, controller: Controller | None) -> None:
    """Random replicas, ISRs and dead brokers; the ISR always has a replica, as Kafka's."""
    random = Random(f"{release} {controller}")
    cases = []
    for _ in range(400):
        current, target = (random.sample(range(5), random.randint(1, 4)) for _ in range(2))
        isr = random.sample(current, random.randint(1, len(current)))
        cases.append((current, target, isr, {broker for broker in range(5) if random.random() < 0.6}))
    rule = completion_rule(KafkaVersion.of(release), controller)
    for current, target, isr, live in cases:
        is_live = np.array([broker in live for broker in range(5)])
        found = incomplete(padded([current]), padded([target]), padded([isr]), is_live, rule)
        never = never_completes(release, controller, (current, target), isr, live)
        assert bool(found.waits[0] | found.has_no_source[0]) == never, (current, target, isr, live)
        assert not found.waits[0] or live & set(isr)
        assert not found.has_no_source[0] or not live & set(isr)


def test_rows_are_independent() -> None:
    """A table of lists of several lengths has the answers of each list alone."""
    random = Random(5)
    lists = [[random.sample(range(6), random.randint(1, 4)) for _ in range(200)] for _ in range(3)]
    is_live = np.array([True, True, False, True, False, True])
    for rule in CompletionRule:
        together = incomplete(padded(lists[0]), padded(lists[1]), padded(lists[2]), is_live, rule)
        for row, each in enumerate(zip(*lists, strict=True)):
            current, target, isr = (padded([one]) for one in each)
            alone = incomplete(current, target, isr, is_live, rule)
            assert (alone.waits[0], alone.has_no_source[0]) == (together.waits[row], together.has_no_source[row])


@pytest.mark.parametrize(
    ("target", "since"),
    [([0, 1, 2, 3], True), ([1, 2, 3], True), ([2, 3, 4], True), ([1, 2], False), ([0, 1, 3], True), ([2, 1, 0], True)],
)
def test_the_examples_of_kafka_19975(target: list[int], since: bool) -> None:
    """Replica 2 of [0, 1, 2] is down. Since 4.3 it may stay, unless fewer replicas are added than removed."""
    is_live = np.array([True, True, False, True, True])
    for release in RELEASES[-4:]:
        rule = completion_rule(KafkaVersion.of(release), None)
        found = incomplete(padded([[0, 1, 2]]), padded([target]), padded([[0, 1]]), is_live, rule)
        completes = since and (release >= "4.3" or 2 not in target or set(target) == {0, 1, 2})
        assert bool(found.waits[0]) != completes
