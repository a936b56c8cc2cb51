"""The check of locks and licences finds errors; the document of components is the same each time."""

import json

import pytest

from tests import supply_chain
from tests.supply_chain import LOCKS, ROOT, pins, problems, sbom

TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in LOCKS}
RUNTIME = TEXTS["requirements.lock"]


def test_every_requirement_is_a_pin() -> None:
    assert {"fastapi", "pyspark", "opentelemetry-sdk"} <= {pin.name for pin in pins(RUNTIME)}
    assert [pin.name for pin in pins(TEXTS["requirements-fuzz.lock"])] == ["atheris"]
    assert pins(TEXTS["requirements-fuzz.lock"])[0].marker


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("fastapi==", "fastapi>=", "pinned"),
        ("fastapi==", "fastapi @ https://example.org/", "names an address"),
        ("uvicorn==", "uvicorn==9", "is not what is tested"),
    ],
)
def test_a_changed_lock_is_noticed(before: str, after: str, said: str) -> None:
    changed = TEXTS | {"requirements.lock": RUNTIME.replace(before, after)}
    assert any(said in problem for problem in problems(changed))


def test_a_package_without_a_hash_is_noticed() -> None:
    bare = "fastapi==1.0 \\\n    # via nothing\n"
    assert "requirements-build.lock: fastapi has no hash" in list(problems(TEXTS | {"requirements-build.lock": bare}))


def test_a_licence_that_is_not_allowed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supply_chain, "license_of", lambda _: "AGPL-3.0-only")
    assert any(p == "fastapi: its licence is AGPL-3.0-only, which is not allowed" for p in problems(TEXTS))


def test_the_document_of_components_is_the_same_each_time() -> None:
    document = json.loads(sbom(RUNTIME))
    assert sbom(RUNTIME) == sbom(RUNTIME)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert len(document["components"]) == len(pins(RUNTIME)) > 50
    assert all(component["licenses"][0]["expression"] for component in document["components"])
    assert sbom(RUNTIME.replace("fastapi==", "fastapi==1")) != sbom(RUNTIME)
