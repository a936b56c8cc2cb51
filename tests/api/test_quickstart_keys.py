"""The last section of the quickstart, which creates a key: it is run on a service of its own."""

import httpx
import pytest

from app.store.database import Database
from tests.api.conftest import RunService, environment_of
from tests.documents import replay
from tests.test_readme import QUICKSTART, is_of_keys


@pytest.mark.slow
def test_the_quickstart_ends_with_an_open_service(
    scratch: Database, run_service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands can be run again: the key of the last section closes the service, and its end opens it."""
    for name, value in environment_of(scratch).items():
        monkeypatch.setenv(name, value)
    with run_service(scratch) as service:
        replay(QUICKSTART, str(service.client.base_url).rstrip("/"), is_of_keys)
        assert service.client.get("/v1/plans").status_code == httpx.codes.OK
