"""The API under schemathesis: what its document allows, what it forbids, and one operation after another."""

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.schemas import BaseSchema

from app.main import create_app
from app.settings import Settings
from tests.conftest import ROOT

CONFIG = schemathesis.Config.from_path(ROOT / "schemathesis.toml")

bounded = settings(
    max_examples=25,
    deadline=None,
    # What the database holds outlives an example, as it does in service; and generating from a schema takes its time.
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
# Tests are collected by operation before there is a service; `test_document.py` sees to it that it serves the same.
api: BaseSchema = schemathesis.openapi.from_dict(
    create_app(Settings(database_url="postgresql://x/y")).openapi(), config=CONFIG
)


_ATTEMPTS = 3


@pytest.mark.slow
@api.parametrize()
@bounded
def test_each_operation(case: "schemathesis.Case[Any]", client: httpx.Client) -> None:
    """Examples, boundary values and random ones, valid and not: every check of the configuration sees the answer."""
    case.call_and_validate(base_url=str(client.base_url))


@pytest.mark.slow
def test_one_operation_after_another(client: httpx.Client) -> None:
    """The responses of one are requested of the next: created, read, exported, deleted, requested again.

    The database keeps what earlier examples created, so the same draws may meet another state. Hypothesis then gives
    up before any check has failed, and the run is begun again. A check that fails is another error, and ends the test.
    """
    live = schemathesis.openapi.from_url(f"{client.base_url}/openapi.json", config=CONFIG)
    for attempt in range(_ATTEMPTS):
        try:
            live.as_state_machine().run(settings=settings(bounded, stateful_step_count=6))
        except FlakyStrategyDefinition:
            if attempt + 1 == _ATTEMPTS:
                raise
        else:
            return
