"""Which URLs the service calls for others: the meaning of an address decides, whatever its form."""

from ipaddress import IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.requests import TargetNotAllowed, WebhooksDisabled
from app.services.outbound import IpAddress, Outbound, is_public, resolved

ON = Outbound(is_enabled=True)
PRIVATE = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"),
    *("192.0.0.0/29", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4"),
    "240.0.0.0/4",
]
PRIVATE_6 = [
    *("::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2001:db8::/32", "2002::/16", "2001::/32"),
    *("64:ff9b:1::/48", "100::/64", "fd00:ec2::254/128", "::7f00:0/104"),
]


def within(networks: list[str]) -> st.SearchStrategy[IpAddress]:
    """Addresses of these networks, the first and the last of each more often."""
    parsed = [ip_network(network) for network in networks]
    return st.sampled_from(parsed).flatmap(
        lambda network: st.integers(int(network[0]), int(network[-1])).map(type(network[0]))
    )


def forms(address: IpAddress) -> st.SearchStrategy[str]:
    """Hosts of a URL that mean an IPv4 address to some parser or to some router."""
    number = int(address)
    last = f"{number & 0xFFFFFF}"
    octets = address.packed
    return st.sampled_from(
        [
            str(address),
            f"{address}.",
            str(number),
            hex(number),
            f"0{number:o}",
            f"{octets[0]}.{last}",
            f"{octets[0]}.{octets[1]}.{number & 0xFFFF}",
            ".".join(f"0{octet:o}" for octet in octets),
            ".".join(hex(octet) for octet in octets),
            f"0{octets[0]:o}.{hex(octets[1])}.{octets[2]}.{octets[3]}",
            f"%{ord(str(address)[0]):02x}{str(address)[1:]}",
            f"[::ffff:{address}]",
            f"[{IPv6Address(0xFFFF << 32 | number)}]",
            f"[0:0:0:0:0:ffff:{address}]",
            f"[{IPv6Address((0x64FF9B << 96) | number)}]",
            f"[{IPv6Address((0x2002 << 112) | number << 80 | 1)}]",
            f"[::{address}]",
        ]
    )


@given(within(PRIVATE).flatmap(forms), st.sampled_from(["https", "http"]), st.sampled_from(["", ":443", ":8080"]))
def test_no_form_of_an_address_that_is_not_public_is_called(host: str, scheme: str, port: str) -> None:
    with pytest.raises(TargetNotAllowed) as raised:
        ON.target(f"{scheme}://{host}{port}/hook", resolved)
    assert raised.value.path == ("url",)


@given(within(PRIVATE_6))
def test_no_ipv6_address_that_is_not_public_is_called(address: IPv6Address) -> None:
    assert not is_public(address)
    with pytest.raises(TargetNotAllowed):
        ON.target(f"https://[{address}]/hook", resolved)


@given(st.lists(within(PRIVATE), min_size=1, max_size=2), st.integers(0, 2), st.booleans())
def test_one_address_that_is_not_public_is_enough(private: list[IpAddress], place: int, is_secure: bool) -> None:
    """A name can have several addresses; any of them could be called."""
    addresses: list[IpAddress] = [ip_address("93.184.216.34"), ip_address("2606:2800:220:1::")]
    addresses[place:place] = private
    with pytest.raises(TargetNotAllowed) as raised:
        ON.target(f"http{'s' * is_secure}://hooks.example.com/", lambda *_: addresses)
    assert not any(str(address) in raised.value.detail for address in private), (
        "what a name resolves to is not disclosed"
    )


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::", "64:ff9b::808:808"])
def test_public_addresses_are_called_by_https(address: str) -> None:
    target = ON.target("https://hooks.example.com/a/b?c=d", lambda *_: [ip_address(address)])
    assert (target.host, target.port, target.authority, target.path) == (
        *("hooks.example.com", 443, "hooks.example.com", "/a/b?c=d"),
    )
    assert target.addresses == (ip_address(address),)
    with pytest.raises(TargetNotAllowed, match="https only"):
        ON.target("http://hooks.example.com/", lambda *_: [ip_address(address)])


@given(within(["10.2.0.0/16"]).flatmap(forms))
def test_listed_networks_are_called_without_tls(host: str) -> None:
    """In every form that means the IPv4 address itself; not through tunnels, which lead elsewhere."""
    listed = Outbound(is_enabled=True, networks=(ip_network("10.2.0.0/16"),))
    is_tunnel = host.startswith(("[2002:", "[::1", "[::a"))
    if is_tunnel:
        with pytest.raises(TargetNotAllowed):
            listed.target(f"http://{host}:8080/hook", resolved)
    else:
        target = listed.target(f"http://{host}:8080/hook", resolved)
        assert len(target.addresses) == 1
        assert target.authority.endswith(":8080")


@pytest.mark.parametrize("url", ["https://me@a.example/", "https://me:pw@a.example/", "https://a.example/#part"])
def test_urls_with_credentials_or_fragments(url: str) -> None:
    with pytest.raises(TargetNotAllowed, match="no user name, password or fragment"):
        ON.target(url, lambda *_: [])


def test_names_that_cannot_be_resolved() -> None:
    """They may be later, and are checked then; http needs an address that is listed."""
    assert ON.target("https://no-such-host.invalid/", resolved).addresses == ()
    assert resolved("a" * 64 + ".example", 443) == resolved("a..b", 443) == ()
    with pytest.raises(TargetNotAllowed):
        ON.target("http://no-such-host.invalid/", resolved)


def test_localhost_by_name() -> None:
    with pytest.raises(TargetNotAllowed):
        ON.target("https://localhost/", resolved)


def test_nothing_is_called_unless_the_operator_allows_it() -> None:
    with pytest.raises(WebhooksDisabled, match="RACKPLAN_WEBHOOKS"):
        Outbound().require_enabled()
    ON.require_enabled()
