"""The classes of a release answer the stored vectors as they stand there, and fresh cases as we do."""

import json
from pathlib import Path

import pytest

from app.core.kafka_versions import KafkaVersion
from app.formats.groups.consumer_protocol import wraps_errors_in
from tests.conformance.comparison import IDENTITY, run
from tests.kafka import vectors
from tests.kafka.conftest import release, require
from tests.kafka.fresh_cases import fresh

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

FRESH_CASES, SEED = 400, 2
HELD = [
    name
    for name, (_, first, end) in vectors.KINDS.items()
    if vectors.number(first) <= vectors.number(release()) < vectors.number(end)
]


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oracle, compiled for the release."""
    require()
    return vectors.compiled(release(), tmp_path_factory.mktemp("classes"))


@pytest.mark.parametrize("name", HELD)
def test_a_release_answers_as_the_vectors_say(classes: Path, name: str) -> None:
    cases = vectors.stored(name)
    answers = vectors.answered(release(), cases, vectors.KINDS[name][0], classes)
    differ = [case["name"] for case, found in zip(cases, answers, strict=True) if not vectors.is_same(case, found)]
    assert not differ


def test_errors_of_the_consumer_protocol_are_wrapped_as_stated(classes: Path) -> None:
    """KAFKA-20570 is in some patch releases only. Without it, errors of fields have other classes."""
    cases = [
        case for case in vectors.stored("consumer_protocol") if case["expected"].get("error") == "RuntimeException"
    ]
    answers = vectors.answered(release(), cases, "consumer_protocol", classes)
    assert {vectors.is_wrapped(found) for found in answers} == {wraps_errors_in(KafkaVersion.of(release()))}


@pytest.mark.parametrize("name", HELD)
def test_fresh_cases_are_answered_alike(classes: Path, tmp_path: Path, name: str) -> None:
    kind = vectors.KINDS[name][0]
    cases = fresh(vectors.stored(name), kind, count=FRESH_CASES, seed=SEED)
    for case in cases:
        if kind == "consumer_protocol":
            case["input"]["wraps_errors"] = wraps_errors_in(KafkaVersion.of(release()))
        elif kind == "generate":
            case["input"]["kafka_version"] = release()
        elif name == vectors.BY_IDENTITY:
            case["hash_sensitivity"] = IDENTITY
    answers = vectors.answered(release(), cases, kind, classes)
    rows = (json.dumps(case | {"expected": found}) for case, found in zip(cases, answers, strict=True))
    (tmp_path / f"{name}.jsonl").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    [report] = run(tmp_path)
    assert report.cases == FRESH_CASES
    assert not report.mismatches, report.text()
