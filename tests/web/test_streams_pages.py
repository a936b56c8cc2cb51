"""The pages of Streams plans: events in words, and the reason why a task is not ideal."""

from typing import Any

import orjson
import pytest

from tests.web.browser import Browser

CLIENTS = [
    {"process_id": f"00000000-0000-0000-0000-00000000000{number}", "client_tags": {"zone": zone}}
    for number, zone in ((1, "a"), (2, "a"))
]
TASKS = ["0_0", "0_1"]


def page_of(browser: Browser, tab: str, **fields: Any) -> str:
    """The text of a tab of a plan with these fields."""
    body = {"tasks": TASKS, "stateful_tasks": TASKS, "clients": CLIENTS, "assignor": "high_availability", **fields}
    made = browser.ask("POST", "/plan/streams", data={"body": orjson.dumps(body).decode()})
    return browser.get(f"{made.headers['location']}/{tab}".removesuffix("/")).text


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"lose_client": CLIENTS[0]["process_id"]}, f"{CLIENTS[0]['process_id']} is lost"),
        ({"lose_tag": {"tag": "zone", "value": "a"}}, "zone=a is lost"),
        ({"deploy_at_once": {}}, "All clients are restarted together"),
        ({"rolling_deploy": {}}, f"{CLIENTS[0]['process_id']} is restarted"),
        ({"scale_in": [CLIENTS[0]["process_id"]]}, f"{CLIENTS[0]['process_id']} leaves"),
    ],
)
def test_an_event_is_in_words(browser: Browser, event: dict[str, Any], words: str) -> None:
    clients = [*CLIENTS, {"process_id": "00000000-0000-0000-0000-000000000003", "client_tags": {"zone": "b"}}]
    assert words in page_of(browser, "events", clients=clients, events=[event])


def test_a_task_that_is_not_ideal_says_why(browser: Browser) -> None:
    """Both copies are in the only zone; the sentence about the prediction is that of the classic protocol."""
    fields: dict[str, Any] = {"num_standby_replicas": 1, "rack_aware_assignment_tags": ["zone"]}
    assert "2 copies in zone=a" in page_of(browser, "tasks", **fields)
    assert "The group's leader computes exactly this" in page_of(browser, "", **fields)
