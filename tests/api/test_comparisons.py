"""`POST /v1/plans/{id}/diff`: a plan beside a reassignment of another origin."""

import json
from typing import Any

import httpx
import pytest

from tests.api.contract import UNKNOWN_ID, problem
from tests.api.test_progress import Case

PROPOSAL = "{{orders-{0}, oldLeader: 1, [1, 2, 3] -> {1}}}\n"


@pytest.fixture
def case(client: httpx.Client) -> Case:
    return Case(client, "compared")


def _planned(case: Case) -> dict[tuple[str, int], list[int]]:
    export = case.client.get(f"/v1/plans/{case.plan['id']}/export").json()
    return {(one["topic"], one["partition"]): one["replicas"] for one in export["partitions"]}


def _compared(case: Case, text: str, **query: str) -> dict[str, Any]:
    path, headers = f"/v1/plans/{case.plan['id']}/diff", {"Content-Type": "text/plain"}
    answer = case.client.post(path, content=text, headers=headers, params=query)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_a_plan_is_no_other_than_its_own_file(case: Case) -> None:
    file = case.client.get(f"/v1/plans/{case.plan['id']}/export").text
    found = _compared(case, file)
    assert (found["items"], found["warnings"]) == ([], [])
    assert found["summary"]["replicas_added"] == 0
    as_json = case.client.post(f"/v1/plans/{case.plan['id']}/diff", json={"output": file})
    assert as_json.json() == found


def test_another_list_of_one_partition_is_the_difference(case: Case) -> None:
    """Of every other partition the file has the lists of the plan; the text's are those before."""
    planned = _planned(case)
    (topic, partition), replicas = next(iter(planned.items()))
    other = [broker for broker in range(2, 8) if broker not in replicas][:1] + replicas[1:]
    lists = planned | {(topic, partition): other}
    file = {"partitions": [{"topic": t, "partition": p, "replicas": lists[t, p]} for t, p in lists]}
    found = _compared(case, f"Look at this:\n{json.dumps(file)}\n")
    assert [(one["topic"], one["partition"], one["before"], one["after"]) for one in found["items"]] == [
        (topic, partition, other, replicas)
    ]
    assert found["summary"]["replicas_added"] == 1
    assert [one["code"] for one in found["warnings"]] == ["lines_skipped"]


def test_what_a_proposal_does_not_name_is_as_it_was(case: Case) -> None:
    """Every partition that the plan moves differs but the one that the proposal moves alike."""
    planned = _planned(case)
    same = next(key for key in planned if key[0] == "orders")
    found = _compared(case, PROPOSAL.format(same[1], planned[same]), page_size="1000")
    assert {(one["topic"], one["partition"]) for one in found["items"]} == planned.keys() - {same}
    first = _compared(case, PROPOSAL.format(same[1], planned[same]), page_size="1")
    assert first["items"] == found["items"][:1]
    assert first["next_page_token"] is not None


def test_what_is_no_reassignment_of_the_cluster_is_rejected(case: Case) -> None:
    path, headers = f"/v1/plans/{case.plan['id']}/diff", {"Content-Type": "text/plain"}

    def rejected(text: str, code: str, at: str = path) -> dict[str, Any]:
        return problem(case.client.post(at, content=text, headers=headers), 404 if at != path else 422, code)

    rejected(PROPOSAL.format(0, [99]), "illegal_reassignment")
    rejected("nothing of this kind\n", "malformed_text")
    verified = "Status of partition reassignment:\nReassignment of partition orders-0 is completed.\n"
    assert "--verify" in rejected(verified, "conflicting_fields")["detail"]
    rejected(PROPOSAL.format(0, [2]), "plan_not_found", f"/v1/plans/{UNKNOWN_ID}/diff")
