"""`docs/webhooks.md`: the printed verification accepts sent deliveries, and its numbers are the code's."""

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from ipaddress import ip_network
from typing import Any, get_args

import orjson
import pytest

from app.jobs import webhooks as sending
from app.jobs.queue import DELIVERY_CONCURRENCY
from app.jobs.webhooks import Sender
from app.services.outbound import Outbound
from app.services.webhooks import DISABLED_AFTER, JITTER, RETRY_AFTER, Attempt
from app.store.transaction import uuid7
from app.store.webhooks import PING, EventType
from tests.conftest import ROOT
from tests.documents import Document
from tests.receiver import LOOPBACK, receiving

PAGE = Document(ROOT / "docs" / "webhooks.md")
SECRET = "whsec_" + "QUJD" * 10
Verify = Callable[[str, Mapping[str, str], bytes], None]


@pytest.fixture
def verify() -> Verify:
    """The function that the page prints."""
    [source] = [text for kind, text in PAGE.blocks if kind == "python"]
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 — the page's own text
    function: Verify = namespace["verify"]
    return function


def test_the_verification_accepts_what_is_sent_and_nothing_else(verify: Verify) -> None:
    [example] = [text for kind, text in PAGE.blocks if kind == "json"]
    with receiving() as receiver:
        attempt = Attempt(uuid7(), uuid7(), 0, receiver.url, example.strip(), SECRET)
        sender = Sender(Outbound(is_enabled=True, networks=(ip_network(LOOPBACK),)))
        assert asyncio.run(sender.send(attempt)).status == 200
        [request] = receiver.received
    body = request.body.encode()
    verify(SECRET, request.headers, body)
    late = str(int(request.headers["webhook-timestamp"]) - 400)
    for secret, headers, changed in (
        ("whsec_" + "QUJE" * 10, request.headers, body),
        (SECRET, request.headers, body + b" "),
        (SECRET, {**request.headers, "webhook-id": "another"}, body),
        (SECRET, {**request.headers, "webhook-timestamp": late}, body),
    ):
        with pytest.raises(ValueError, match="signature"):
            verify(secret, headers, changed)


def test_the_page_states_the_codes_numbers() -> None:
    [schedule] = re.findall(r"^\| after the attempt before \| (.*) \|$", PAGE.text, re.MULTILINE)
    units = {"s": "seconds", "min": "minutes", "h": "hours"}
    stated = [timedelta(**{units[unit]: int(number)}) for number, unit in map(str.split, schedule.split(" | "))]
    assert tuple(stated) == RETRY_AFTER
    words = " ".join(PAGE.text.split())
    for text in (
        f"up to {JITTER:.0%}".replace("%", " %"),
        f"for {DISABLED_AFTER.days} days",
        f"{DELIVERY_CONCURRENCY} attempts at a time",
        f"2xx within {sending.TIMEOUT_S:.0f} s",
        f"no end within {sending.ENDS_WITHIN_S:.0f} s",
    ):
        assert text in words, text


def test_the_page_lists_every_event() -> None:
    listed = {name.strip("`") for name, _ in PAGE.table("type", "`data`")}
    assert listed == {*get_args(EventType), PING}
    [example] = [orjson.loads(text) for kind, text in PAGE.blocks if kind == "json"]
    [fields] = [fields for name, fields in PAGE.table("type", "`data`") if example["type"] in name]
    assert re.findall(r"`(\w+)`", fields) == list(example["data"])
