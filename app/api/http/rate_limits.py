"""Limits on how often, and how many at a time, an API key and an address may send requests.

A rate is a token bucket of one minute's quota. Responses state it in `RateLimit-Policy` and `RateLimit`, in the form of
draft-ietf-httpapi-ratelimit-headers-10.
"""

import math
import time
from base64 import b64decode
from binascii import Error as Base64Error
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.audit import address_of
from app.api.problems.documents import of_failure
from app.errors.access import TooManyRequests
from app.services.oidc.options import SESSION_COOKIES
from app.store.audit import Actor

WINDOW_S = 60
MOST_BUCKETS = 10_000
"""Senders of one kind that are remembered; of more, the one that was idle for longest begins anew."""
_IPV6_NETWORK = 64
"""Bits of the smallest network that a stranger of IPv6 has: its addresses are one sender."""
_AGAIN_S = 1
"""`Retry-After` if too many requests are in progress."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Quota of each sender of a kind.

    Parameters
    ----------
    name : of the kind of sender, `key` or `address`.
    rate : requests a minute; 0 is no limit. concurrent : requests at a time; 0 is no limit.
    """

    name: str
    rate: int
    concurrent: int

    @property
    def policies(self) -> list[str]:
        """The items of `RateLimit-Policy`."""
        policies = [f'"{self.name}";q={self.rate};w={WINDOW_S}'] if self.rate else []
        return policies + (
            [f'"concurrent-{self.name}";q={self.concurrent};qu="concurrent-requests"'] if self.concurrent else []
        )


@dataclass(slots=True)
class Bucket:
    """The remaining quota of a sender. actor : as authenticated in its last request."""

    tokens: float
    filled_at: float
    in_progress: int = 0
    actor: Actor | None = None


@dataclass(slots=True)
class Buckets:
    """The senders of a kind.

    Parameters
    ----------
    now : a clock that only advances, in seconds.
    """

    allowance: Allowance
    now: Callable[[], float] = time.monotonic
    most: int = MOST_BUCKETS
    _of: "OrderedDict[object, Bucket]" = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._of)

    def of(self, sender: object) -> Bucket:
        """The bucket of a sender, filled up to now."""
        now = self.now()
        bucket = self._of.get(sender)
        if bucket is None:
            bucket = self._of[sender] = Bucket(self.allowance.rate, now)
            self._forget_idle()
        else:
            self._of.move_to_end(sender)
            gained = (now - bucket.filled_at) * self.allowance.rate / WINDOW_S
            bucket.tokens, bucket.filled_at = min(self.allowance.rate, bucket.tokens + gained), now
        return bucket

    def rejection(self, bucket: Bucket) -> TooManyRequests | None:
        """Why a sender may not send another request now; None if it may."""
        name, rate, concurrent = self.allowance.name, self.allowance.rate, self.allowance.concurrent
        if rate and bucket.tokens < 1:
            after_s = max(1, math.ceil((1 - bucket.tokens) * WINDOW_S / rate))
            detail = f"more than {rate} requests a minute of one {name}; send the next one in {after_s} s"
            return TooManyRequests(detail, limit_name=f"rate_per_{name}", limit=rate, retry_after_s=after_s)
        if concurrent and bucket.in_progress >= concurrent:
            detail = f"{concurrent} requests of one {name} are in progress; wait for the answer of one"
            return TooManyRequests(
                detail, limit_name=f"concurrent_per_{name}", limit=concurrent, retry_after_s=_AGAIN_S
            )
        return None

    def remaining(self, bucket: Bucket) -> str:
        """The item of `RateLimit`; its `t` is when the whole quota is there again."""
        full_s = math.ceil((self.allowance.rate - bucket.tokens) * WINDOW_S / self.allowance.rate)
        return f'"{self.allowance.name}";r={int(bucket.tokens)};t={full_s}'

    def _forget_idle(self) -> None:
        """Forget the sender that was idle for longest. One with a request in progress keeps its count."""
        if len(self._of) <= self.most:
            return
        for sender, bucket in self._of.items():
            if bucket.in_progress == 0:
                del self._of[sender]
                return


class RateLimits:
    """Answer 429 to senders beyond their allowance, before a key is looked up or a body is read.

    Addresses of loopback have no allowance of an address: they are processes of this machine, or a proxy that the
    settings do not trust, behind which every client has one address.
    """

    def __init__(
        self, app: ASGIApp, *, per_key: Allowance, per_address: Allowance, quiet_paths: frozenset[str]
    ) -> None:
        self._app, self._quiet_paths = app, quiet_paths
        self._keys, self._addresses = Buckets(per_key), Buckets(per_address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        held = [] if scope["type"] != "http" or scope["path"] in self._quiet_paths else self._buckets(scope)
        if not held:
            await self._app(scope, receive, send)
            return
        for buckets, bucket in held:
            failure = buckets.rejection(bucket)
            if failure is not None:
                if bucket.actor is not None:
                    scope.setdefault("state", {})["actor"] = bucket.actor
                response = of_failure(Request(scope), failure)
                _state(response.headers, held)
                await response(scope, receive, send)
                return
        for _, bucket in held:
            bucket.tokens -= 1
            bucket.in_progress += 1

        async def send_limited(message: Message) -> None:
            if message["type"] == "http.response.start":
                _state(MutableHeaders(scope=message), held)
            await send(message)

        try:
            await self._app(scope, receive, send_limited)
        finally:
            for buckets, bucket in held:
                bucket.in_progress -= 1
                if buckets is self._keys:
                    bucket.actor = scope.get("state", {}).get("actor", bucket.actor)

    def _buckets(self, scope: Scope) -> list[tuple[Buckets, Bucket]]:
        """The buckets that a request takes from: of its address, and of its credentials."""
        senders = ((self._addresses, _network(address_of(scope))), (self._keys, _credentials(scope)))
        return [(buckets, buckets.of(sender)) for buckets, sender in senders if sender and buckets.allowance.policies]


def _state(headers: MutableHeaders, held: list[tuple[Buckets, Bucket]]) -> None:
    """State the policies and the remaining quotas."""
    headers["RateLimit-Policy"] = ", ".join(policy for buckets, _ in held for policy in buckets.allowance.policies)
    remaining = [buckets.remaining(bucket) for buckets, bucket in held if buckets.allowance.rate]
    if remaining:
        headers["RateLimit"] = ", ".join(remaining)


@lru_cache(maxsize=10_000)
def _network(address: str | None) -> str | None:
    """The sender of an address; None for one of this machine."""
    if address is None:
        return None
    known = ip_address(address)
    if isinstance(known, IPv6Address):
        known = known.ipv4_mapped or known
    if known.is_loopback:
        return None
    if isinstance(known, IPv6Address):
        return str(ip_network((known, _IPV6_NETWORK), strict=False))
    return str(known)


def _credentials(scope: Scope) -> bytes | None:
    """A digest of the secret of a request, the same for each way to send it; None without one."""
    scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
    if not given:
        return _session(Request(scope))
    secret = given.encode("utf-8", "surrogateescape")
    if scheme.lower() == "basic":
        try:
            secret = b64decode(given).partition(b":")[2]
        except (Base64Error, ValueError):
            return None
    return sha256(secret).digest()[:16] if secret else None


def _session(request: Request) -> bytes | None:
    """A digest of the cookie of a browser that has signed in; None without one."""
    secret = next((request.cookies[name] for name in SESSION_COOKIES if name in request.cookies), "")
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()[:16] if secret else None
