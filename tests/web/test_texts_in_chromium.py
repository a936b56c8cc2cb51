"""Names of any text in a browser: long, of right-to-left scripts and overrides, of emoji."""

from urllib.parse import quote

import httpx
import pytest

from tests.web.chromium import Visit

pytestmark = [pytest.mark.slow, pytest.mark.long]

RACKS = ["r" * 249, "مرحبا\u202e", "🚀" * 60, "az <b>d</b>"]
CLUSTER = "مرحبا 🚀 \u202eabc"
TOPIC = "t" * 249
MOST_PIXELS = 6000


def test_names_of_any_text_do_not_widen_pages(client: httpx.Client, visit: Visit) -> None:
    """The cluster, a broker and a topic of it, the form, a plan, the lists: at both widths, within the height."""
    partitions = [
        {"partition": p, "replicas": [p % 12, (p + 1) % 12, (p + 2) % 12], "isr": [p % 12]} for p in range(24)
    ]
    body = {
        "cluster": CLUSTER,
        "brokers": [{"id": broker, "rack": RACKS[broker % 4]} for broker in range(12)],
        "topics": [{"name": TOPIC, "partitions": partitions}],
    }
    assert client.post("/v1/snapshots", json=body).status_code == 201
    request = {"cluster": CLUSTER, "remove_brokers": [3], "labels": {RACKS[1]: RACKS[2]}}
    plan = client.post("/v1/plans/reassignment", json=request).json()["id"]
    cluster = f"/clusters/{quote(CLUSTER, safe='')}"
    pages = ["/", cluster, f"{cluster}?lose=broker:3&topic={TOPIC}&broker=4", f"/plans/{plan}", "/plans"]
    for address in pages:
        for width in (390, 1280):
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.open(address, until="h1")
            size = visit.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            assert size[0] <= width, (address, size)
            assert size[1] <= MOST_PIXELS, (address, size)
    assert visit.complaints == []
