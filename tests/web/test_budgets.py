"""The pages of a cluster and a plan of 1,000 partitions are small; `python -m benchmarks pages` times them."""

import numpy as np
import pytest

from app.core.model import Broker, Cluster, Topic
from app.services import snapshots
from app.services.limits import Limits
from app.store.database import Database
from tests.web.browser import Browser

MOST_BYTES = 250_000


@pytest.fixture
def addresses(browser: Browser, database: Database) -> list[str]:
    """The pages, of a cluster with 30 brokers and 10 topics, and of the removal of a broker from it."""
    random = np.random.default_rng(7)
    topics = []
    for number in range(10):
        lists = np.argsort(random.random((100, 30)), axis=1)[:, :3].astype(np.int32)
        none = np.zeros((100, 0), np.int32)
        ids, sizes = np.arange(100, dtype=np.int32), random.integers(1, 1 << 30, 100)
        topics.append(Topic(f"payments-{number}", ids, lists, lists[:, 0].copy(), lists.copy(), none, none, sizes))
    cluster = Cluster("thousand", tuple(Broker(each, f"az-{each % 3}") for each in range(30)), tuple(topics))
    with database.begin() as uow:
        snapshots.store(uow, cluster, Limits())
    body = '{"cluster": "thousand", "remove_brokers": [3], "balance": {"leaders": "preferred"}}'
    made = browser.ask("POST", "/plan/reassignment", data={"body": body})
    assert made.status_code == 303
    return ["/clusters/thousand", "/clusters/thousand?lose=rack:az-1&measure=leaders", made.headers["location"]]


def test_pages_of_a_thousand_partitions_are_small(browser: Browser, addresses: list[str]) -> None:
    """Without compression."""
    for address in addresses:
        answer = browser.ask("GET", address)
        assert answer.status_code == 200
        assert len(answer.content) <= MOST_BYTES, address
