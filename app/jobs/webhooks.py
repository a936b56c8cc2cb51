"""Deliver events to webhooks: one attempt, between two short transactions.

A worker that dies between sending and recording leaves a task that another runs again: the event is sent at least once.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

import httpx
import structlog

from app import __version__
from app.errors.quotation import QUOTED_CHARACTERS, quoted
from app.errors.requests import TargetNotAllowed
from app.services import webhooks
from app.services.outbound import Outbound, Resolve, Target, resolved
from app.services.webhooks import Answer, Attempt
from app.store.database import Database

TIMEOUT_S = 10.0
"""Limit for connecting, and for each piece of an answer."""
ENDS_WITHIN_S = 30.0
"""An attempt takes no longer, however slowly an answer arrives."""
RESPONSE_BYTES = 1024
"""Limit of the bytes of an answer that are read, and shown with the delivery."""
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": f"rackplan/{__version__}"}


class Sender:
    """Makes attempts, to addresses that the operator allows.

    Parameters
    ----------
    outbound : the addresses that may be called.
    resolve : the resolver of host names.
    """

    def __init__(self, outbound: Outbound, *, resolve: Resolve = resolved) -> None:
        self._outbound, self._resolve = outbound, resolve
        # SSL_CERT_FILE and SSL_CERT_DIR are the operator's, as for every program; read once, since that takes 30 ms.
        self._tls = httpx.create_ssl_context()

    async def deliver(self, database: Database, *, delivery_id: UUID, attempts_before: int) -> None:
        """Make one attempt and record it, unless it was made already."""

        def begin() -> Attempt | None:
            with database.begin() as uow:
                return webhooks.begin(uow, delivery_id, attempts_before)

        def record(attempt: Attempt, answer: Answer) -> None:
            with database.begin() as uow:
                webhooks.record(uow, attempt, answer)

        attempt = await asyncio.to_thread(begin)
        if attempt is None:
            return
        answer = await self.send(attempt)
        log = structlog.get_logger()
        (log.info if answer.error is None else log.warning)(
            "webhook.attempted",
            webhook=str(attempt.webhook_id),
            delivery=str(delivery_id),
            attempt=attempts_before + 1,
            status=answer.status,
        )
        await asyncio.to_thread(record, attempt, answer)

    async def send(self, attempt: Attempt) -> Answer:
        """Send an attempt; failures are in the answer."""
        try:
            async with asyncio.timeout(ENDS_WITHIN_S):
                target = await asyncio.to_thread(self._outbound.target, attempt.url, self._resolve)
                return await self._posted(target, attempt)
        except TargetNotAllowed as failure:
            return Answer(error=failure.detail)
        except TimeoutError:
            return Answer(error=f"no complete answer within {ENDS_WITHIN_S:.0f} s")
        except httpx.TimeoutException as late:
            return Answer(error=f"no answer within {TIMEOUT_S:.0f} s ({type(late).__name__})")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as failed:
            return Answer(error=quoted(str(failed) or type(failed).__name__, 2 * QUOTED_CHARACTERS))

    async def _posted(self, target: Target, attempt: Attempt) -> Answer:
        """Send to the first address that accepts a connection."""
        if not target.addresses:
            return Answer(error=f"{quoted(target.host)} cannot be resolved")
        headers = {**_HEADERS, "Host": target.authority, **webhooks.signed_headers(attempt, datetime.now(UTC))}
        # A client of its own: no cookie and no connection of one webhook is used for another.
        async with httpx.AsyncClient(verify=self._tls, trust_env=False, timeout=TIMEOUT_S) as client:
            for address in target.addresses[:-1]:
                try:
                    return await self._sent(client, _url(target, str(address)), target, headers, attempt.body)
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    continue
            return await self._sent(client, _url(target, str(target.addresses[-1])), target, headers, attempt.body)

    @staticmethod
    async def _sent(
        client: httpx.AsyncClient, url: str, target: Target, headers: Mapping[str, str], body: str
    ) -> Answer:
        # The certificate has to match the name, not the address.
        extensions = {"sni_hostname": target.host.strip("[]")}
        content = body.encode()
        async with client.stream("POST", url, content=content, headers=headers, extensions=extensions) as response:
            text = b""
            async for piece in response.aiter_raw():
                text += piece[: RESPONSE_BYTES - len(text)]
                if len(text) == RESPONSE_BYTES:
                    break
            error = None
            if response.is_redirect:
                error = f"the answer is {response.status_code}; redirects are not followed"
            elif not response.is_success:
                error = f"the answer is {response.status_code}"
            return Answer(response.status_code, error, quoted(text.decode("utf-8", "replace"), RESPONSE_BYTES) or None)


def _url(target: Target, address: str) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"{target.scheme}://{host}:{target.port}{target.path}"
