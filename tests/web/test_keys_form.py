"""The form that places keys: its answer is the API's, errors are beside their fields."""

import httpx
import pytest

from app.core.keys.partitioners import PARTITIONERS
from app.web.forms.keys import EXAMPLE, MOST_ROWS, MOST_WITHOUT_KEY
from tests.web.browser import Browser, Page


def sent(**typed: object) -> dict[str, object]:
    return {**EXAMPLE, "partitioner": ["murmur2", "consistent_random"], **typed}


def posted(browser: Browser, **typed: object) -> Page:
    answer = browser.ask("POST", "/plan/keys", data=sent(**typed))
    return Page(answer.status_code, answer.headers, answer.text)


def test_the_form_answers_as_the_api_does(browser: Browser, client: httpx.Client) -> None:
    body = {"keys": ["alice", "bob", "carol"], "partitions": 12, "compare_partitions": [24]}
    own = client.post("/v1/keys/partitions", json={**body, "partitioner": ["murmur2", "consistent_random"]}).json()
    page = posted(browser)
    assert page.status == 200
    columns = [each["partition_by_key"] for each in own["partitioners"]]
    for key, *partitions in zip(body["keys"], *columns, strict=True):  # type: ignore[call-overload] # lists
        assert " ".join(map(str, [key, *partitions])) in page.text
    [pair] = own["disagreements"]
    assert f"send {pair['differing_keys']} keys of {pair['keys']} to different partitions" in page.text
    for each in own["partitioners"]:
        assert f"{each['resizes'][0]['moved_keys']} of 3" in page.text
    assert all(name in page.text for name in PARTITIONERS)
    assert browser.get("/plan/keys?example=1").form()["keys"] == "alice\nbob\ncarol"


def test_the_producer_of_records_without_key_is_stated_as_in_the_api(browser: Browser, client: httpx.Client) -> None:
    """Its seed, leaders, queues and racks; an error is beside its field."""
    producer = {"seed": "7", "available_partitions": "0, 2, 5", "queue_sizes": "9, 0, 0", "leader_racks": "a, b, b"}
    producer |= {"client_rack": "b", "rack_aware": "yes"}
    page = posted(browser, keys="", without_key="20", partitioner="murmur2_adaptive", **producer)
    null_keys = {
        "seed": 7,
        "available_partitions": [0, 2, 5],
        "queue_sizes": [9, 0, 0],
        "leader_racks": ["a", "b", "b"],
    }
    body = {"keys": [None] * 20, "partitions": 12, "compare_partitions": [24], "partitioner": ["murmur2_adaptive"]}
    body["null_keys"] = {**null_keys, "client_rack": "b", "rack_aware": True}
    [own] = client.post("/v1/keys/partitions", json=body).json()["partitioners"]
    placed = [row.text.split()[-1] for row in page.all("tr") if row.text.split()[:2] == ["without", "key"]]
    assert placed == [str(partition) for partition in own["partition_by_key"]]
    assert page.by_id("seed").attributes["value"] == "7"
    for wrong in ({"seed": "x"}, {"queue_sizes": "1, 2"}, {"available_partitions": "99"}):
        refused = posted(browser, without_key="2", **wrong)
        [field] = wrong
        assert (refused.status, refused.by_id(field).attributes.get("aria-invalid")) == (422, "true"), refused.text


def test_many_keys_of_any_text_are_listed_in_part(browser: Browser) -> None:
    keys = "\n".join(["<script>", "\u202eabc", *(f"key-{number}" for number in range(MOST_ROWS))])
    page = posted(browser, keys=keys)
    assert (page.status, page.inline_scripts) == (200, [])
    assert f"the first {MOST_ROWS} of {MOST_ROWS + 2}" in page.text


def test_records_without_key_are_placed_by_the_policy_of_the_partitioner(
    browser: Browser, client: httpx.Client
) -> None:
    """With the seed of the request, as the API places them."""
    body = {"keys": ["alice", None, None], "partitions": 12, "compare_partitions": [24], "null_keys": {}}
    own = client.post("/v1/keys/partitions", json={**body, "partitioner": ["murmur2_random"]}).json()
    [placed] = own["partitioners"]
    page = posted(browser, keys="alice", without_key="2", partitioner=["murmur2_random"])
    assert f"placed with the seed {own['seed']}" in page.text
    for partition in placed["partition_by_key"][1:]:
        assert f"without key {partition}" in page.text
    assert "at least 1" not in posted(browser, keys="", without_key="1").text


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"partitions": "0"}, "partitions", "0 given"),
        ({"partitions": "1000001"}, "partitions", "1000000"),
        ({"partitions": "many"}, "partitions", "whole numbers"),
        ({"compare_partitions": "24 x"}, "compare_partitions", "whole numbers"),
        ({"compare_partitions": "1 " * 33}, "compare_partitions", "32"),
        ({"keys": "\n"}, "keys", "required"),
        ({"encoding": "int32", "keys": "1\nx"}, "keys", "key 1"),
        ({"encoding": "utf7"}, "encoding", "utf8"),
        ({"partitioner": ["murmur3"]}, "partitioner", "murmur2"),
        ({"without_key": "some"}, "without_key", "whole numbers"),
        ({"without_key": str(MOST_WITHOUT_KEY + 1)}, "without_key", "100,000"),
    ],
)
def test_what_is_wrong_is_beside_its_field(browser: Browser, typed: dict[str, object], field: str, words: str) -> None:
    page = posted(browser, **typed)
    assert page.status == 422
    assert words in page.by_id(f"{field}-problem").text, page.text[-600:]
