"""A team's resources: no other team sees, counts, replays or is notified of."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from uuid import UUID

import httpx
import orjson
import pytest
import sqlalchemy as sa

from app.api.examples import EXAMPLE_SNAPSHOT_ID, SNAPSHOT, SWEEP
from app.services import jobs
from app.services.limits import Limits
from app.store import transaction
from app.store.database import Database
from tests.api.contract import problem
from tests.service import NO_AUTHORITIES

Of = Callable[..., httpx.Client]
TEAMS = ("blue", "green")
BODY = {
    "brokers": [{"id": 1}, {"id": 2}, {"id": 3}],
    "topics": [{"name": "t", "partitions": 3, "replication_factor": 2}],
}
"""A request that names no snapshot."""


@pytest.fixture
def of(address: str, client: httpx.Client, database: Database) -> Iterator[Of]:  # noqa: ARG001 -- its rows are reset
    """A client with a new key of a team."""
    opened = ExitStack()

    def client_of(team: str, scope: str = "admin", **headers: str) -> httpx.Client:
        with database.begin() as uow:
            _, secret = uow.api_keys.create(f"{scope} {len(uow.api_keys.all())}", [scope], team=team)
        given = {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}
        made = httpx.Client(base_url=address, headers=given | headers, timeout=60, verify=NO_AUTHORITIES)
        return opened.enter_context(made)

    with opened:
        yield client_of


def ids(client: httpx.Client, path: str) -> list[str]:
    return [item["id"] for item in client.get(path).json()["items"]]


def test_the_same_content_is_stored_once_a_team(of: Of) -> None:
    """Snapshots and plans are addressed by content: the hash is equal, the resource is not the other's."""
    made = {}
    for team in TEAMS:
        client = of(team)
        stored = client.post("/v1/snapshots", json=SNAPSHOT).json()
        planned = client.post("/v1/plans/replicas", json=BODY | {"labels": {"by": team}})
        assert planned.status_code == 201
        again = client.post("/v1/snapshots", json=SNAPSHOT).json()
        assert again["id"] == stored["id"]
        assert ids(client, "/v1/snapshots") == [stored["id"]]
        assert ids(client, "/v1/plans") == [planned.json()["id"]]
        assert ids(client, f"/v1/plans?label=by%3D{'green' if team == 'blue' else 'blue'}") == []
        made[team] = (stored["id"], planned.json()["id"], planned.json()["hash"])
    assert made["blue"][0] != made["green"][0]
    assert made["blue"][1] != made["green"][1]
    blue, green = of("blue", "read"), of("green", "read")
    etag = blue.get(f"/v1/snapshots/{made['blue'][0]}").headers["etag"]
    assert green.get(f"/v1/snapshots/{made['blue'][0]}", headers={"If-None-Match": etag}).status_code == 404
    assert blue.get(f"/v1/snapshots/{made['blue'][0]}", headers={"If-None-Match": etag}).status_code == 304


def test_what_another_team_has_cannot_be_named(of: Of) -> None:
    """Neither by id, nor by the name of its cluster: a plan would repeat its input."""
    of("default").post("/v1/snapshots", json=SNAPSHOT | {"cluster": "prod-of-others"})
    blue = of("blue")
    topics = {"topics": [{"name": "t", "partitions": 1, "replication_factor": 1}]}
    problem(
        blue.post("/v1/plans/replicas", json=topics | {"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}),
        404,
        "snapshot_not_found",
    )
    named = problem(
        blue.post("/v1/plans/replicas", json=topics | {"cluster": SNAPSHOT["cluster"]}), 404, "snapshot_not_found"
    )
    assert "did you mean" not in named["detail"]
    assert "prod-of-others" not in blue.get("/").text
    assert blue.get("/clusters/prod-of-others").status_code == 404


def test_keys_of_two_teams_share_no_idempotency_key(of: Of, database: Database) -> None:
    """Also if both keys have one name."""
    for team in TEAMS:
        with database.begin() as uow:
            _, secret = uow.api_keys.create("ci", ["plan"], team=team)
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "same"}
        answer = of(team).post("/v1/plans/replicas", json=BODY | {"labels": {"by": team}}, headers=headers)
        assert answer.status_code == 201
        assert "idempotency-replayed" not in answer.headers


def test_a_job_stores_its_plan_for_the_team_that_sent_it(of: Of, database: Database) -> None:
    blue, green = of("blue"), of("green")
    stored = blue.post("/v1/snapshots", json=SNAPSHOT).json()["id"]
    body = {"snapshot_id": stored, "topics": [{"name": "t", "partitions": 3, "replication_factor": 2}]}
    queued = blue.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"})
    assert queued.status_code == 202
    stolen = green.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"})
    for job in (queued, stolen):
        jobs.run(database, UUID(job.json()["id"]), Limits())
    (plan,) = ids(blue, "/v1/plans")
    assert plan in blue.get(f"/v1/jobs/{queued.json()['id']}").text
    assert ids(green, "/v1/plans") == []
    failed = green.get(f"/v1/jobs/{stolen.json()['id']}").json()
    assert (failed["state"], failed["error"]["code"]) == ("failed", "snapshot_not_found")
    assert green.get(f"/v1/jobs/{queued.json()['id']}/events").status_code == 404


def test_events_reach_the_webhooks_of_the_team_alone(of: Of, database: Database) -> None:
    hooks = {
        team: of(team).post(
            "/v1/webhooks", json={"url": "https://1.1.1.1/x", "events": ["plan.created", "sweep.ended"]}
        )
        for team in TEAMS
    }
    planned = of("blue").post("/v1/plans/replicas", json=BODY).json()
    sweep = of("blue").post("/v1/sweeps", json=SWEEP).json()
    assert of("blue").delete(f"/v1/sweeps/{sweep['id']}").status_code == 200
    with database.begin() as uow:
        bodies = {
            team: [
                orjson.loads(each.body)["data"]
                for each in uow.webhooks.deliveries(UUID(hook.json()["id"]), state=None, before=None, size=9).items
            ]
            for team, hook in hooks.items()
        }
    assert bodies["green"] == []
    assert {each.get("plan_id") or each["sweep_id"] for each in bodies["blue"]} == {planned["id"], sweep["id"]}


def test_share_links_show_what_their_team_has(of: Of, client: httpx.Client) -> None:
    """To anyone, another team included; revoking them is each team's own."""
    links = {}
    for team in TEAMS:
        own = of(team)
        changed = SNAPSHOT | {"cluster": "prod", "topics": [SNAPSHOT["topics"][0] | {"name": f"topic-of-{team}"}]}
        assert own.post("/v1/snapshots", json=changed).status_code == 201
        shared = own.post("/share", data={"kind": "cluster", "name": "prod", "days": "1"}).text
        links[team] = shared.split("share=")[1].split('"')[0].split("&")[0].split("<")[0]
    for reader in (client, of("green", "read")):
        for team in TEAMS:
            page = reader.get(f"/clusters/prod/topics?share={links[team]}")
            assert (page.status_code, f"topic-of-{team}" in page.text) == (200, True), team
    forged = links["blue"].replace(".blue", ".green")
    assert client.get(f"/clusters/prod?share={forged}").status_code == 403
    assert client.get(f"/clusters/prod?share={links['blue']}.x").status_code == 403
    assert of("blue").post("/share/revoke").status_code == 303
    assert client.get(f"/clusters/prod?share={links['blue']}").status_code == 403
    assert client.get(f"/clusters/prod?share={links['green']}").status_code == 200


class TestAllTeams:
    """A key of no team, as operators have it."""

    def test_it_reads_everything_and_plans_for_one_team(self, of: Of) -> None:
        plans = {team: of(team).post("/v1/plans/replicas", json=BODY).json()["id"] for team in TEAMS}
        operator = of(transaction.ALL)
        assert set(plans.values()) <= set(ids(operator, "/v1/plans"))
        assert operator.get(f"/v1/plans/{plans['blue']}").status_code == 200
        changed = {"status": "approved"}
        assert operator.patch(f"/v1/plans/{plans['blue']}", json=changed).status_code == 404, "it plans for `default`"
        blue = of(transaction.ALL, **{"Rackplan-Team": "blue"})
        assert ids(blue, "/v1/plans") == [plans["blue"]]
        assert blue.patch(f"/v1/plans/{plans['blue']}", json=changed).status_code == 200
        assert blue.get(f"/v1/plans/{plans['green']}").status_code == 404
        assert operator.delete(f"/v1/plans/{plans['green']}").status_code == 204

    @pytest.mark.parametrize("name", ["*", "Blue", "a b", "é", "x" * 64, "", "-x"])
    def test_no_name_of_a_team(self, of: Of, name: str) -> None:
        client = of(transaction.ALL)
        answer = client.get("/v1/plans", headers=[(b"Rackplan-Team", name.encode())])
        assert problem(answer, 422, "validation")["detail"].startswith("Rackplan-Team is ")

    def test_a_key_of_a_team_stays_in_it(self, of: Of) -> None:
        assert of("blue", **{"Rackplan-Team": "blue"}).get("/v1/plans").status_code == 200
        problem(of("blue", **{"Rackplan-Team": "green"}).get("/v1/plans"), 403, "forbidden")


class TestKeysPage:
    """Administrators manage the keys of their team."""

    def test_of_a_team(self, of: Of, database: Database) -> None:
        of("green", "read")
        blue = of("blue")
        page = blue.get("/keys").text
        assert "green" not in page
        assert blue.post("/keys", data={"name": "new", "scope": "read"}).status_code == 200
        rejected = blue.post("/keys", data={"name": "newer", "scope": "read", "team": "green"})
        assert (rejected.status_code, "makes keys of this team alone" in rejected.text) == (422, True)
        assert blue.post("/keys", data={"name": "newer", "scope": "read", "team": "*"}).status_code == 422
        with database.begin() as uow:
            assert [key.team for key in uow.api_keys.all() if key.name.startswith("new")] == ["blue"]
            green = next(key for key in uow.api_keys.all() if key.team == "green")
        assert blue.post("/keys/revoke", data={"name": green.name, "team": "green"}).status_code == 422

    def test_of_all_teams(self, of: Of, database: Database) -> None:
        operator = of(transaction.ALL)
        assert 'name="team"' in operator.get("/keys").text
        for team in (*TEAMS, "*"):
            made = operator.post("/keys", data={"name": "same", "scope": "read", "team": team})
            assert made.status_code == 200, team
        wrong = operator.post("/keys", data={"name": "same", "scope": "read", "team": "No Team"})
        assert (wrong.status_code, "is no name of a team" in wrong.text) == (422, True)
        assert operator.post("/keys/revoke", data={"name": "same", "team": "blue"}).status_code == 303
        with database.begin() as uow:
            state = {key.team: key.revoked_at is None for key in uow.api_keys.all() if key.name == "same"}
        assert state == {"blue": False, "green": True, "*": True}


def test_metrics_and_open_pages_name_no_team(of: Of, client: httpx.Client) -> None:
    of("team-blue").post("/v1/snapshots", json=SNAPSHOT | {"cluster": "secret-cluster"})
    for path in ("/metrics", "/readyz", "/openapi.json", "/docs"):
        text = client.get(path).text
        assert "team-blue" not in text
        assert "secret-cluster" not in text


def test_a_service_without_keys_has_the_team_default(client: httpx.Client, database: Database) -> None:
    """Other teams' rows from a time with keys are not opened by revoking them."""
    client.post("/v1/plans/replicas", json=BODY | {"labels": {"of": "all"}})
    with database.engine.begin() as connection:
        assert connection.execute(sa.text("UPDATE plans SET team = 'blue' WHERE labels ? 'of'")).rowcount == 1
        connection.execute(sa.text("UPDATE snapshots SET team = 'blue'"))
    assert ids(client, "/v1/plans?label=of%3Dall") == []
    assert ids(client, "/v1/snapshots") == []
