"""Clients of the real service."""

from collections.abc import Iterator

import httpx
import pytest

from app.api.examples import SNAPSHOT
from rackplan import Client
from tests.service import NO_AUTHORITIES


@pytest.fixture
def rackplan(client: httpx.Client) -> Iterator[Client]:
    """A client of the service, over a database that has the documentation's examples and nothing else."""
    with Client(str(client.base_url), http=httpx.Client(verify=NO_AUTHORITIES)) as rackplan:
        yield rackplan


@pytest.fixture
def snapshot_id(rackplan: Client) -> str:
    """A snapshot of six brokers in three racks."""
    return rackplan.create_snapshot(**SNAPSHOT).id
