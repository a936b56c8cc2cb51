"""Who may ask: open until the first key is created, and from then on only with one."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import (
    CHECK_REQUEST,
    EXAMPLE_DELIVERY_ID,
    EXAMPLE_GROUPS_SNAPSHOT_ID,
    EXAMPLE_JOB_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_SWEEP_ID,
    EXAMPLE_WEBHOOK_ID,
    KEYS_REQUEST,
    PLACE,
    SNAPSHOT,
    SWEEP,
    WEBHOOK_REQUEST,
)
from app.errors.requests import ApiKeyInUse
from app.services.api_keys import Scope
from app.store.database import Database
from app.store.tables import TABLES
from tests.api.conftest import RunService, Serve
from tests.api.contract import SNAPSHOT_ID, problem

WEBHOOK = f"/v1/webhooks/{EXAMPLE_WEBHOOK_ID}"
PLAN = f"/v1/plans/{EXAMPLE_PLAN_ID}"
OPERATIONS = {
    Scope.READ: [
        ("GET", "/v1/snapshots", None),
        ("GET", f"/v1/snapshots/{SNAPSHOT_ID}", None),
        ("GET", "/v1/plans", None),
        ("GET", PLAN, None),
        ("GET", f"{PLAN}/partitions", None),
        ("GET", f"{PLAN}/diff", None),
        ("GET", f"{PLAN}/export", None),
        ("GET", f"{PLAN}/picture.svg", None),
        ("GET", "/v1/jobs", None),
        ("GET", f"/v1/jobs/{EXAMPLE_JOB_ID}", None),
        ("GET", "/v1/keys/partitioners", None),
    ],
    Scope.PLAN: [
        ("POST", "/v1/snapshots", SNAPSHOT),
        ("POST", "/v1/plans/replicas", PLACE),
        ("POST", "/v1/checks", CHECK_REQUEST["check"]["value"]),
        ("POST", "/v1/keys/partitions", KEYS_REQUEST["clients"]["value"]),
        ("DELETE", f"/v1/jobs/{EXAMPLE_JOB_ID}", None),
        ("PATCH", PLAN, {"status": "approved"}),
    ],
    Scope.SWEEP: [
        ("POST", "/v1/sweeps", SWEEP),
        ("POST", f"/v1/sweeps/{EXAMPLE_SWEEP_ID}/clones", {}),
        ("DELETE", f"/v1/sweeps/{EXAMPLE_SWEEP_ID}", None),
    ],
    Scope.ADMIN: [
        ("DELETE", PLAN, None),
        ("DELETE", f"/v1/snapshots/{EXAMPLE_GROUPS_SNAPSHOT_ID}", None),
        ("GET", "/v1/webhooks", None),
        ("POST", "/v1/webhooks", WEBHOOK_REQUEST["all"]["value"]),
        ("GET", WEBHOOK, None),
        ("POST", f"{WEBHOOK}/ping", None),
        ("GET", f"{WEBHOOK}/deliveries", None),
        ("POST", f"{WEBHOOK}/deliveries/{EXAMPLE_DELIVERY_ID}/replay", None),
        ("DELETE", WEBHOOK, None),
    ],
}
EVERY = [(scope, *operation) for scope, operations in OPERATIONS.items() for operation in operations]


def _key(database: Database, *scopes: str, name: str = "", valid_for: timedelta | None = None) -> str:
    expires_at = None if valid_for is None else datetime.now(UTC) + valid_for
    with database.begin() as uow:
        _, secret = uow.api_keys.create(name or "-".join(scopes), scopes, expires_at=expires_at)
    return secret


def _bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


class TestOpen:
    """No key was ever created."""

    @pytest.mark.parametrize(("scope", "method", "path", "body"), EVERY)
    def test_anyone_may(self, client: httpx.Client, scope: Scope, method: str, path: str, body: object) -> None:
        assert client.request(method, path, json=body).is_success, scope

    def test_unneeded_credentials_do_no_harm(self, client: httpx.Client) -> None:
        assert client.get("/v1/plans", headers=_bearer("anything")).status_code == 200
        assert client.get("/v1/plans", auth=("user", "password")).status_code == 200


class TestFirstKey:
    """From the first key on."""

    @pytest.mark.parametrize(("scope", "method", "path", "body"), EVERY)
    def test_anonymous(
        self, client: httpx.Client, database: Database, scope: Scope, method: str, path: str, body: object
    ) -> None:
        _key(database, scope)
        response = client.request(method, path, json=body)
        problem(response, 401, "unauthenticated")
        challenges = response.headers["www-authenticate"]
        assert 'Bearer realm="rackplan"' in challenges
        assert 'Basic realm="rackplan"' in challenges

    @pytest.mark.parametrize(("scope", "method", "path", "body"), EVERY)
    def test_each_scope(
        self, client: httpx.Client, database: Database, scope: Scope, method: str, path: str, body: object
    ) -> None:
        """A scope includes those before it; the one before the needed one is not enough."""
        order = list(Scope)
        for granted in order:
            response = client.request(method, path, json=body, headers=_bearer(_key(database, granted)))
            if order.index(granted) < order.index(scope):
                found = problem(response, 403, "forbidden")
                assert (found["scope"], found["scopes"]) == (scope, [granted])
            else:
                assert response.is_success
                break

    @pytest.mark.long
    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/redoc"])
    def test_what_stays_open(self, client: httpx.Client, database: Database, path: str) -> None:
        """Probes have no key, and the document says nothing of anybody's plans."""
        _key(database, "admin")
        assert client.get(path).status_code == 200

    def test_basic(self, client: httpx.Client, database: Database) -> None:
        """Browsers ask for a name and a password; the key is the password, whatever the name."""
        secret = _key(database, "read")
        for user in ("", "me", "some one"):
            assert client.get("/v1/plans", auth=(user, secret)).status_code == 200
        problem(client.get("/v1/plans", auth=(secret, "")), 401, "unauthenticated")
        problem(client.get("/v1/plans", auth=("me", "wrong")), 401, "unauthenticated")

    @pytest.mark.parametrize(
        "value", ["Bearer", "Bearer wrong", "Basic !!!", "Basic =", "Token x", "x", "Bearer \xff\xfe"]
    )
    def test_credentials_that_are_none(self, client: httpx.Client, database: Database, value: str) -> None:
        _key(database, "read")
        response = client.get("/v1/plans", headers={b"Authorization": value.encode("latin-1")})
        assert "www-authenticate" in response.headers
        problem(response, 401, response.json()["code"])

    def test_a_revoked_key(self, client: httpx.Client, database: Database) -> None:
        secret, other = _key(database, "read", name="a"), _key(database, "read", name="b")
        assert client.get("/v1/plans", headers=_bearer(secret)).status_code == 200
        with database.begin() as uow:
            uow.api_keys.revoke("a")
        problem(client.get("/v1/plans", headers=_bearer(secret)), 401, "unauthenticated")
        assert client.get("/v1/plans", headers=_bearer(other)).status_code == 200

    def test_the_caller_is_known_before_the_body_is_validated(self, client: httpx.Client, database: Database) -> None:
        """Otherwise errors in a body would tell a stranger the right form."""
        _key(database, "read")
        problem(client.post("/v1/plans/replicas", json={"topics": 7}), 401, "unauthenticated")
        problem(client.get("/v1/plans/01890a5d-0000-7000-8000-000000000000"), 401, "unauthenticated")

    def test_keys_do_not_share_idempotency_keys(self, client: httpx.Client, database: Database) -> None:
        for name in ("a", "b"):
            headers = _bearer(_key(database, "plan", name=name)) | {"Idempotency-Key": "same"}
            response = client.post("/v1/plans/replicas", json=PLACE | {"labels": {"by": name}}, headers=headers)
            assert response.status_code == 201


class TestExpiry:
    """A key with an expiry is valid until then."""

    def test_only_its_holder_can_distinguish_an_expired_key_from_a_wrong_one(
        self, client: httpx.Client, database: Database
    ) -> None:
        valid = _key(database, "read", name="valid", valid_for=timedelta(minutes=1))
        expired = _key(database, "admin", name="expired", valid_for=timedelta(seconds=-1))
        assert client.get("/v1/plans", headers=_bearer(valid)).status_code == 200
        said = problem(client.get("/v1/plans", headers=_bearer(expired)), 401, "api_key_expired")
        assert said["detail"].startswith("the API key expired at 20")
        rejected = client.post("/v1/plans/replicas", json=PLACE, headers=_bearer(expired))
        problem(rejected, 401, "api_key_expired")
        assert "Bearer" in rejected.headers["www-authenticate"]
        problem(client.get("/v1/plans", headers=_bearer(expired + "x")), 401, "unauthenticated")

    def test_the_expiry_of_the_last_key_opens_nothing(self, client: httpx.Client, database: Database) -> None:
        _key(database, "admin", valid_for=timedelta(seconds=-1))
        problem(client.get("/v1/plans"), 401, "unauthenticated")
        problem(client.get("/v1/plans", headers=_bearer("anything")), 401, "unauthenticated")
        assert client.get("/keys").status_code == 401

    def test_a_revoked_key_is_answered_like_a_wrong_one(self, client: httpx.Client, database: Database) -> None:
        _key(database, "admin", name="other")
        expired = _key(database, "admin", name="expired", valid_for=timedelta(seconds=-1))
        with database.begin() as uow:
            uow.api_keys.revoke("expired")
        problem(client.get("/v1/plans", headers=_bearer(expired)), 401, "unauthenticated")


class TestLastKey:
    """A service that had a key stays closed until its operator opens it."""

    def test_revoking_the_last_key_opens_nothing(self, client: httpx.Client, database: Database) -> None:
        secret = _key(database, "admin")
        with database.begin() as uow:
            uow.api_keys.revoke("admin")
        for headers in ({}, _bearer(secret), _bearer("anything")):
            problem(client.get("/v1/plans", headers=headers), 401, "unauthenticated")
            problem(client.post("/v1/plans/replicas", json=PLACE, headers=headers), 401, "unauthenticated")
            assert client.get("/keys", headers=headers).status_code == 401
        assert client.get("/v1/plans", headers=_bearer(_key(database, "read"))).status_code == 200

    def test_only_revoked_keys_are_forgotten(self, client: httpx.Client, database: Database) -> None:
        _key(database, "admin")
        _key(database, "read")
        with database.begin() as uow:
            uow.api_keys.revoke("admin")
        with pytest.raises(ApiKeyInUse, match="the key read is not revoked"), database.begin() as uow:
            uow.api_keys.forget_revoked()
        with database.begin() as uow:
            assert len(uow.api_keys.all()) == 2
            uow.api_keys.revoke("read")
            assert uow.api_keys.forget_revoked() == 2
        assert client.get("/v1/plans").status_code == 200

    def test_an_address_that_others_reach_is_never_open(self, database: Database, serve: Serve) -> None:
        client = serve(database, host="0.0.0.0")  # noqa: S104 -- only the setting: the server listens on loopback
        problem(client.get("/v1/plans"), 401, "unauthenticated")
        problem(client.post("/v1/plans/replicas", json=PLACE), 401, "unauthenticated")
        assert client.get("/v1/plans", headers=_bearer(_key(database, "read"))).status_code == 200


class TestLastUse:
    """It is recorded to the minute."""

    def test_once_a_minute(self, client: httpx.Client, database: Database) -> None:
        secret = _key(database, "read")
        assert self._last_use(database) is None
        assert client.get("/v1/plans", headers=_bearer(secret)).status_code == 200
        first = self._last_use(database)
        assert first is not None
        assert client.get("/v1/plans", headers=_bearer(secret)).status_code == 200
        assert self._last_use(database) == first
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET last_used_at = now() - interval '61 s'"))
        assert client.get("/v1/plans", headers=_bearer(secret)).status_code == 200
        again = self._last_use(database)
        assert again is not None
        assert again > first - timedelta(seconds=61)
        assert again != first

    def test_a_read_does_not_wait_for_it(self, client: httpx.Client, database: Database) -> None:
        """Another transaction has the key's row locked: the use is recorded by a later request."""
        secret = _key(database, "read")
        with database.engine.begin() as connection:
            connection.execute(sa.text("SELECT FROM api_keys FOR UPDATE"))
            assert client.get("/v1/plans", headers=_bearer(secret), timeout=5).status_code == 200
        assert self._last_use(database) is None

    def test_a_rejected_key_is_not_used(self, client: httpx.Client, database: Database) -> None:
        expired = _key(database, "read", valid_for=timedelta(seconds=-1))
        problem(client.get("/v1/plans", headers=_bearer(expired)), 401, "api_key_expired")
        assert self._last_use(database) is None

    @staticmethod
    def _last_use(database: Database) -> datetime | None:
        with database.begin() as uow:
            (key,) = uow.api_keys.all()
        return key.last_used_at


class TestSecrets:
    """A secret is shown once, to whoever made the key."""

    def test_nowhere_in_the_database(self, client: httpx.Client, database: Database) -> None:
        secret = _key(database, "admin")
        headers = _bearer(secret) | {"Idempotency-Key": "k"}
        assert client.post("/v1/plans/replicas", json=PLACE, headers=headers).status_code == 201
        assert client.get("/v1/plans", auth=("me", secret)).status_code == 200
        with database.engine.connect() as connection:
            for table in TABLES:
                rows = connection.scalars(sa.text(f"SELECT t::text FROM {table} t")).all()  # noqa: S608 — ours
                assert not any(secret in row or secret.encode().hex() in row for row in rows), table
                assert table != "api_keys" or len(rows) == 1

    def test_nowhere_in_the_log(self, scratch: Database, run_service: RunService) -> None:
        """Neither of a request that is answered, nor of one that is rejected, nor of one that fails."""
        secret, wrong = _key(scratch, "admin"), "rackplan_not-a-key-at-all"
        with run_service(scratch, RACKPLAN_LOG_LEVEL="debug") as service:
            assert service.client.get("/v1/plans", headers=_bearer(secret)).status_code == 200
            assert service.client.get("/v1/plans", auth=("me", secret)).status_code == 200
            assert service.client.get("/v1/plans", headers=_bearer(wrong)).status_code == 401
            with scratch.engine.begin() as connection:
                connection.execute(sa.text("ALTER TABLE plans RENAME TO elsewhere"))
            failed = problem(service.client.get("/v1/plans", headers=_bearer(secret)), 500, "internal_error")
        log = service.log.read_text()  # complete once the service has ended
        assert failed["request_id"] in log, "the log has the details under this id"
        assert "UndefinedTable" in log
        assert secret not in log
        assert wrong not in log
