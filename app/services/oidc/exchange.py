"""Requests to the issuer: JSON of bounded size in bounded time, from an address that TLS protects, without redirects.

Proxies and authorities of the environment (`HTTPS_PROXY`, `SSL_CERT_FILE`) are the operator's, and are used.
"""

import asyncio
from functools import cached_property
from ssl import SSLContext
from typing import TYPE_CHECKING, Any

import orjson

from app.errors.access import IssuerUnavailable
from app.errors.quotation import quoted
from app.services.oidc.options import require_protected

if TYPE_CHECKING:
    import httpx

ENDS_WITHIN_S = 5.0
LARGEST_ANSWER = 512 * 1024
_JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Exchange:
    """Sends requests to the issuer."""

    async def get(self, url: str) -> dict[str, Any]:
        """The JSON object at an address. Raises `IssuerUnavailable`."""
        status, document = await self.ask("GET", url)
        if status != 200:
            raise IssuerUnavailable(f"the issuer answers {status} at {quoted(url)}")
        return document

    async def ask(self, method: str, url: str, **content: Any) -> tuple[int, dict[str, Any]]:
        """The status and the JSON object of an answer. Raises `IssuerUnavailable`.

        Parameters
        ----------
        content : `data`, the members of a form, and `auth`, name and password of HTTP Basic.
        """
        import httpx  # noqa: PLC0415 -- it takes 0.1 s to import, and most services have no issuer

        try:
            # Reading every authority's certificate takes 30 ms; there is no TLS on loopback.
            verify = self._tls if require_protected(url).startswith("https") else False
            async with (
                asyncio.timeout(ENDS_WITHIN_S),
                httpx.AsyncClient(verify=verify, timeout=ENDS_WITHIN_S, headers=_JSON) as client,
                client.stream(method, url, **content) as response,
            ):
                return response.status_code, await _object(response)
        except TimeoutError:
            raise IssuerUnavailable(f"the issuer has not answered within {ENDS_WITHIN_S:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as failed:
            reason = quoted(str(failed) or type(failed).__name__)
            raise IssuerUnavailable(f"the issuer's answer cannot be used: {reason}") from failed

    @cached_property
    def _tls(self) -> SSLContext:
        """Read once."""
        import httpx  # noqa: PLC0415 -- as above

        return httpx.create_ssl_context()


async def _object(response: "httpx.Response") -> dict[str, Any]:
    content = b""
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise ValueError(f"it has more than {LARGEST_ANSWER} bytes")
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise ValueError("it is not JSON") from None  # its text is not repeated: it may have tokens
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document
