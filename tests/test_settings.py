"""Settings: read from the environment, with the limits that `Limits` declares."""

import pytest
from pydantic import ValidationError

from app.services.limits import Limits
from app.settings import Settings


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"RACKPLAN_{name.upper()}", raising=False)


def test_every_limit_is_a_setting_with_the_same_default_and_minimum() -> None:
    assert Settings().limits == Limits()
    for name, field in Limits.model_fields.items():
        assert Settings.model_fields[name].description == field.description
        assert Settings.model_fields[name].metadata == field.metadata


@pytest.mark.parametrize("name", sorted(Limits.numbers()))
def test_a_limit_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"RACKPLAN_{name.upper()}", "1234")
    assert getattr(Settings().limits, name) == 1234
    monkeypatch.setenv(f"RACKPLAN_{name.upper()}", "0")
    with pytest.raises(ValidationError, match=name):
        Settings()


@pytest.mark.parametrize("name", ["allowed_origins", "allowed_hosts", "dataset_roots"])
@pytest.mark.parametrize(
    ("text", "values"), [("a", ("a",)), ("a, b,,c ", ("a", "b", "c")), ("", ()), ('["a"]', ('["a"]',))]
)
def test_a_list_is_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, values: tuple[str, ...]
) -> None:
    monkeypatch.setenv(f"RACKPLAN_{name.upper()}", text)
    assert getattr(Settings(), name) == values


def test_limits_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Limits().max_brokers = 1  # type: ignore[misc] # the test is that it fails
