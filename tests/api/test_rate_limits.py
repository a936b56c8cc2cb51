"""How often, and how many at a time, a key and an address may send requests."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from app.api.examples import PLACE
from app.api.http.rate_limits import Allowance, Buckets, RateLimits
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import problem

HOLDER = "s"
KEY, ADDRESS = Allowance("key", 60, 0), Allowance("address", 60, 0)
ITEM = re.compile(r'"(?P<name>[a-z-]+)"(?P<parameters>(;[a-z]+=("[a-z-]+"|\d+))+)')


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@given(
    rate=st.integers(1, 200),
    pauses=st.lists(st.floats(0, 100, allow_nan=False), min_size=1, max_size=300),
)
def test_no_minute_has_more_than_two_quotas(rate: int, pauses: list[float]) -> None:
    """The quota, and the saved rest: no window of a minute lets through more than twice the rate, and one more.

    And a sender that keeps to the rate is never rejected.
    """
    clock = Clock()
    buckets = Buckets(Allowance("key", rate, 0), now=clock)
    passed = []
    for pause in pauses:
        clock.at += pause
        bucket = buckets.of("sender")
        assert -1e-6 <= bucket.tokens <= rate
        if buckets.rejection(bucket) is None:
            bucket.tokens -= 1
            passed.append(clock.at)
        else:
            assert pause < 60 / rate + 1e-6
    for moment in passed:
        assert sum(moment <= other < moment + 60 for other in passed) <= 2 * rate + 1


@given(st.lists(st.integers(0, 50), max_size=300))
def test_memory_is_bounded(senders: list[int]) -> None:
    """A sender with a request in progress is not forgotten; of the others, the latest are remembered."""
    buckets = Buckets(KEY, most=5)
    busy = buckets.of("busy")
    busy.in_progress = 1
    for sender in senders:
        buckets.of(sender)
        assert len(buckets) <= 5
    assert buckets.of("busy") is busy


def test_retry_after_is_when_the_next_request_passes() -> None:
    clock = Clock()
    buckets = Buckets(Allowance("key", 7, 0), now=clock)
    buckets.of("a").tokens = 0
    failure = buckets.rejection(buckets.of("a"))
    assert failure is not None
    after_s = failure.context["retry_after_s"]
    assert after_s == 9  # 60 / 7 = 8.6
    clock.at += 8.5
    assert buckets.rejection(buckets.of("a")) is not None
    clock.at = 9
    assert buckets.rejection(buckets.of("a")) is None


class TestMiddleware:
    """Over an application that answers at once, or waits."""

    def test_headers_have_the_form_of_the_draft(self) -> None:
        limits = _limits(Allowance("key", 100, 5), Allowance("address", 200, 0))
        (head,) = _sent(limits, _request(client="192.0.2.1", secret=HOLDER))
        policies, left = head["ratelimit-policy"], head["ratelimit"]
        assert policies == '"address";q=200;w=60, "key";q=100;w=60, "concurrent-key";q=5;qu="concurrent-requests"'
        assert left == '"address";r=199;t=1, "key";r=99;t=1'
        assert all(ITEM.fullmatch(item) for header in (policies, left) for item in header.split(", "))

    @pytest.mark.parametrize(
        ("one", "other", "is_same"),
        [
            ({"secret": "a"}, {"secret": "a", "client": "192.0.2.9"}, True),
            ({"secret": "a"}, {"secret": "b", "client": "192.0.2.9"}, False),
            ({"secret": "a"}, {"basic": "ann:a", "client": "192.0.2.9"}, True),
            ({"basic": "ann:a"}, {"basic": "bob:a", "client": "192.0.2.9"}, True),
            ({"client": "192.0.2.1"}, {"client": "192.0.2.1", "port": 9}, True),
            ({"client": "192.0.2.1"}, {"client": "192.0.2.2"}, False),
            ({"client": "2001:db8::1"}, {"client": "2001:db8::ffff"}, True),
            ({"client": "2001:db8::1"}, {"client": "2001:db8:0:1::1"}, False),
            ({"client": "::ffff:192.0.2.1"}, {"client": "192.0.2.1"}, True),
        ],
    )
    def test_what_one_sender_is(self, one: dict[str, object], other: dict[str, object], is_same: bool) -> None:
        limits = _limits(Allowance("key", 1, 0), Allowance("address", 1, 0))
        first, second = _sent(limits, _request(**one)), _sent(limits, _request(**other))
        assert (first[0]["status"], second[0]["status"]) == ("200", "429" if is_same else "200")

    @pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", None])
    def test_this_machine_has_no_limit_of_an_address(self, client: str | None) -> None:
        limits = _limits(KEY, Allowance("address", 1, 1))
        for _ in range(3):
            (head,) = _sent(limits, _request(client=client))
            assert head["status"] == "200"
            assert "ratelimit" not in head

    def test_health_checks_have_no_limit(self) -> None:
        limits = _limits(KEY, Allowance("address", 1, 0))
        assert [_sent(limits, _request(path="/healthz"))[0]["status"] for _ in range(5)] == ["200"] * 5

    def test_a_body_is_not_read(self) -> None:
        async def receive() -> Message:
            raise AssertionError("the body is read")

        limits = _limits(KEY, Allowance("address", 1, 0))
        _sent(limits, _request())
        (head,) = _sent(limits, _request(), receive)
        assert (head["status"], head["retry-after"]) == ("429", "60")

    def test_requests_at_a_time(self) -> None:
        async def run() -> list[str]:
            going = asyncio.Event()

            async def app(_: Scope, __: Receive, send: Send) -> None:
                await going.wait()
                await _answer(send)

            limits = RateLimits(app, per_key=Allowance("key", 0, 2), per_address=ADDRESS, quiet_paths=frozenset())
            waiting = [asyncio.create_task(_heads(limits, _request(client=None, secret=HOLDER))) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()  # a client that leaves is no longer in progress
            await asyncio.wait({waiting[0]})
            waiting.append(asyncio.create_task(_heads(limits, _request(client=None, secret=HOLDER))))
            await asyncio.sleep(0)
            going.set()
            answered = await asyncio.gather(*waiting[1:])
            assert answered[1][0]["retry-after"] == "1"
            return [heads[0]["status"] for heads in answered]

        assert asyncio.run(run()) == ["200", "429", "200"]


class TestService:
    """As a caller sees it."""

    def test_a_key_beyond_its_rate(self, database: Database, serve: Serve) -> None:
        with database.begin() as uow:
            secret = uow.api_keys.create("ci", ["plan"])[1]
        client = serve(database, rate_per_key=2, concurrent_per_key=5)
        headers = {"Authorization": f"Bearer {secret}"}
        first = client.get("/v1/plans", headers=headers)
        assert (first.status_code, first.headers["ratelimit"]) == (200, '"key";r=1;t=30')
        assert client.get("/v1/plans", auth=("me", secret)).status_code == 200
        rejected = client.post("/v1/plans/replicas", json=PLACE, headers=headers)
        found = problem(rejected, 429, "too_many_requests")
        assert (found["limit_name"], found["limit"]) == ("rate_per_key", 2)
        assert 1 <= int(rejected.headers["retry-after"]) <= 30
        assert client.get("/v1/plans").status_code == 401, "another sender"
        assert client.get("/readyz", headers=headers).status_code == 200
        with database.begin() as uow:
            uow.api_keys.create("boss", ["admin"])
        with database.engine.connect() as connection:
            query = "SELECT name, address, code FROM audit_entries WHERE status = 429"
            assert connection.exec_driver_sql(query).all() == [("ci", "127.0.0.1", "too_many_requests")]

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("proxies", "forwarded", "status"),
        [
            ("", "192.0.2.1", 200),
            ("127.0.0.1/32", "192.0.2.1", 429),
            ("127.0.0.1/32", "198.51.100.7, 192.0.2.1", 429),
            ("127.0.0.1/32", "192.0.2.1, 198.51.100.7", 200),
            ("127.0.0.1/32, 198.51.100.0/24", "192.0.2.1, 198.51.100.7", 429),
            ("127.0.0.1/32", "x" * 300, 200),
        ],
    )
    def test_addresses_behind_a_proxy(
        self, database: Database, serve: Serve, proxies: str, forwarded: str, status: int
    ) -> None:
        """The address is the one that the nearest trusted proxy saw; without trusted ones, the connection's."""
        client = serve(database, rate_per_address=1, trusted_proxies=proxies)
        assert client.get("/v1/plans", headers={"X-Forwarded-For": "192.0.2.1"}).status_code == 200
        assert client.get("/v1/plans", headers={"X-Forwarded-For": forwarded}).status_code == status


def _limits(per_key: Allowance, per_address: Allowance) -> RateLimits:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await _answer(send)

    return RateLimits(app, per_key=per_key, per_address=per_address, quiet_paths=frozenset({"/healthz"}))


async def _answer(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _request(
    *, client: object = "192.0.2.1", port: object = 1, secret: object = None, basic: object = None, path: object = "/"
) -> Scope:
    headers = []
    if secret is not None:
        headers.append((b"authorization", f"Bearer {secret}".encode()))
    if basic is not None:
        headers.append((b"authorization", b"Basic " + b64encode(str(basic).encode())))
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b"", "scheme": "http"}
    return scope | {"client": client and (client, port), "server": ("localhost", 80)}


async def _heads(limits: RateLimits, scope: Scope, receive: Callable[[], object] | None = None) -> list[dict[str, str]]:
    heads: list[dict[str, str]] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found = {name.decode().lower(): value.decode() for name, value in message["headers"]}
            heads.append(found | {"status": str(message["status"])})

    await limits(scope, receive, send)  # type: ignore[arg-type] # is not called, or raises
    return heads


def _sent(limits: RateLimits, scope: Scope, receive: Callable[[], object] | None = None) -> list[dict[str, str]]:
    return asyncio.run(_heads(limits, scope, receive))
