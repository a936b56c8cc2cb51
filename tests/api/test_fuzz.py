"""The API under schemathesis: valid requests, invalid ones, and one operation after another.

The cases of an operation take seconds to generate, and schemathesis one to import. Both happen when a test runs, not
when tests are collected, which each of several processes does.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.api.operations import DOCUMENT, OPERATIONS
from tests.conftest import ROOT
from tests.databases import Rows
from tests.profiles import examples

if TYPE_CHECKING:
    from schemathesis import Case, Config
    from schemathesis.schemas import BaseSchema

pytestmark = pytest.mark.filtered

bounded = settings(
    deadline=None,
    # Generating from a schema takes its time.
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
FEW, MANY = 3, 25
"""Random requests of an operation, or runs of several; in addition to the examples that the document has."""
LARGE = frozenset(
    {
        *("check_reassignment", "clone_sweep", "create_snapshot", "create_sweep", "place_keys", "plan_group"),
        *("plan_reassignment", "plan_replicas", "plan_streams", "plan_restart", "plan_consumers", "update_plan"),
        *("create_webhook", "export_audit_log", "export_plan", "list_audit_entries", "list_plans", "list_scenarios"),
        "replay_delivery",
    }
)
"""Operations whose many fields cost schemathesis 1 to 20 s for the first request."""


@cache
def _config() -> "Config":
    from schemathesis import Config  # noqa: PLC0415 -- see above

    return Config.from_path(ROOT / "schemathesis.toml")


@cache
def _api() -> "BaseSchema":
    from schemathesis import openapi  # noqa: PLC0415
    from schemathesis.checks import load_all_checks  # noqa: PLC0415

    load_all_checks()
    return openapi.from_dict(DOCUMENT, config=_config())


CASES = [
    pytest.param(method, path, count, id=f"{operation['operationId']}-{name}", marks=marks)
    for method, path, operation in OPERATIONS
    # No worker runs, and the events of a job that waits for one do not end; `test_jobs.py` follows them.
    if operation["operationId"] != "follow_job"
    for name, count, marks in (("few", FEW, ()), ("many", MANY, pytest.mark.long))
    if name == "many" or operation["operationId"] not in LARGE
]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "count"), CASES)
def test_each_operation(method: str, path: str, count: int, client: httpx.Client) -> None:
    """Examples, boundary values and random ones, valid and not: every check of the configuration sees the answer."""
    from schemathesis.generation.feedback import FeedbackSources  # noqa: PLC0415
    from schemathesis.pytest._test_builder import build_operation_test  # noqa: PLC0415

    def answers(case: "Case[Any]") -> None:
        case.call_and_validate(base_url=str(client.base_url))

    build_operation_test(
        config=_api().config,
        operation=_api()[path][method],
        test_func=answers,
        given_kwargs={},
        feedback=FeedbackSources(),
        explicit_settings=settings(bounded, max_examples=examples(count).max_examples),
    )()


@pytest.mark.slow
@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_one_operation_after_another(client: httpx.Client, rows: Rows, count: int) -> None:
    """The responses of one are requested of the next: created, read, exported, deleted, requested again.

    Each run of operations begins with the same rows, so that the same draws meet the same state.
    """
    from schemathesis import openapi  # noqa: PLC0415

    live = openapi.from_url(
        f"{client.base_url}/openapi.json", config=_config(), timeout=60
    )  # under load the document takes long

    class Runs(live.as_state_machine()):  # type: ignore[misc] # a class that is made of the document
        def setup(self) -> None:
            rows.reset(examples=True)

    Runs.run(settings=settings(bounded, max_examples=examples(count).max_examples, stateful_step_count=6))
