"""Which addresses the service may call on behalf of others (server-side request forgery).

A name is resolved, every address that it has is checked, and the connection goes to a checked address: a name that
resolves to something else a moment later changes nothing. URLs are read by the rules of browsers (WHATWG), so that
`http://2130706433`, `http://0177.1` and `http://[::ffff:127.0.0.1]` are the addresses that they mean.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

from pydantic_core import Url

from app.errors.every import TargetNotAllowed, WebhooksDisabled, quoted

IpAddress: TypeAlias = IPv4Address | IPv6Address
IpNetwork: TypeAlias = IPv4Network | IPv6Network
Resolve: TypeAlias = Callable[[str, int], Sequence[IpAddress]]
"""The addresses of a host name for a port; empty if the name cannot be resolved."""

_NAT64 = IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = IPv6Network("2000::/3")


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send a request: to one of `addresses`, in the name of `host`.

    Parameters
    ----------
    authority : the value of the header `Host`.
    path : with the query.
    """

    scheme: str
    host: str
    port: int
    authority: str
    path: str
    addresses: tuple[IpAddress, ...]


@dataclass(frozen=True, slots=True)
class Outbound:
    """Destinations that the operator allows the service to call.

    Parameters
    ----------
    is_enabled : whether it may call anything.
    networks : networks that it may call although they are not public, and without TLS.
    """

    is_enabled: bool = False
    networks: tuple[IpNetwork, ...] = ()

    def require_enabled(self) -> None:
        """Raise `WebhooksDisabled` unless the operator allows calls."""
        if not self.is_enabled:
            raise WebhooksDisabled(
                "this service calls no URL; the operator allows webhooks by RACKPLAN_WEBHOOKS=yes",
                setting="RACKPLAN_WEBHOOKS",
            )

    def target(self, url: str, resolve: Resolve) -> Target:
        """The target of a URL, with the addresses that it has now. Each of them may be called.

        Raises
        ------
        TargetNotAllowed
            The URL has a user name, a password or a fragment, one of its addresses may not be called, or it is not
            https and an address is outside of `networks`. The detail states no address that was resolved.
        """
        parsed = Url(url)
        host = parsed.host or ""
        port = parsed.port or 443
        if parsed.username is not None or parsed.password is not None or parsed.fragment is not None:
            raise TargetNotAllowed("the URL of a webhook has no user name, password or fragment", path=("url",))
        addresses = tuple(resolve(host, port))
        shown = quoted(host)
        if not all(self._is_allowed(address) for address in addresses):
            raise TargetNotAllowed(
                f"{shown} is not a public address; RACKPLAN_WEBHOOK_NETWORKS lists other networks that may be called",
                path=("url",),
                setting="RACKPLAN_WEBHOOK_NETWORKS",
            )
        if parsed.scheme != "https" and not (addresses and all(map(self._is_listed, addresses))):
            raise TargetNotAllowed(
                f"{shown} is called by https only; http is for the networks in RACKPLAN_WEBHOOK_NETWORKS",
                path=("url",),
                setting="RACKPLAN_WEBHOOK_NETWORKS",
            )
        has_default_port = port == (443 if parsed.scheme == "https" else 80)
        return Target(
            scheme=parsed.scheme,
            host=host,
            port=port,
            authority=host if has_default_port else f"{host}:{port}",
            path=(parsed.path or "/") + (f"?{parsed.query}" if parsed.query else ""),
            addresses=addresses,
        )

    def _is_allowed(self, address: IpAddress) -> bool:
        return self._is_listed(address) or is_public(address)

    def _is_listed(self, address: IpAddress) -> bool:
        return any(meant in network for meant in _meant(address) for network in self.networks)


def is_public(address: IpAddress) -> bool:
    """Whether an address is one of the public internet: global unicast, and not a tunnel to another address."""
    *_, meant = _meant(address)
    if isinstance(meant, IPv4Address):
        return meant.is_global and not meant.is_multicast
    is_tunnel = meant.sixtofour is not None or meant.teredo is not None
    return meant in _GLOBAL_UNICAST and meant.is_global and not is_tunnel


def resolved(host: str, port: int) -> tuple[IpAddress, ...]:
    """The addresses of a host by the resolver of the system, each once; empty if it has none."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the codec of host names rejects empty and long labels
        return ()
    return tuple(dict.fromkeys(ip_address(endpoint[0]) for *_, endpoint in found))


def _meant(address: IpAddress) -> Iterator[IpAddress]:
    """The address, and last the IPv4 address that it stands for if it is mapped (`::ffff:…`) or translated (NAT64)."""
    yield address
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            yield address.ipv4_mapped
        elif address in _NAT64:
            yield IPv4Address(int(address) & 0xFFFF_FFFF)
