"""Tokens of an issuer that runs: accepted ones, and the check that rejects each other one."""

import asyncio
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, OctKey, RSAKey

from app.errors.access import IssuerUnavailable, TokenRejected
from app.services.oidc.issuer import REFRESHED_EVERY_S, RETRIED_EVERY_S, USED_FOR_S, Issuer
from app.services.oidc.options import OidcOptions
from app.services.oidc.tokens import LONGEST_TOKEN, Tokens
from tests import issuer as issuers
from tests.issuer import AUDIENCE, CLIENT, Provider, signed

EC = ECKey.generate_key("P-256", {"kid": "ec", "alg": "ES256"})
RSA = RSAKey.generate_key(2048, {"kid": "rsa", "alg": "RS256"})


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with issuers.running() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider) -> Provider:
    """The provider as it is at first."""
    running.answers_with, running.changes, running.reads = None, {}, 0
    running.rotate()
    return running


def options(provider: Provider, **changed: Any) -> OidcOptions:
    return OidcOptions(**{"oidc_issuer": provider.url, "oidc_audience": AUDIENCE} | changed)


def tokens(provider: Provider, clock: Clock | None = None, **changed: Any) -> Tokens:
    stated = options(provider, **changed)
    return Tokens(stated, Issuer(stated, clock=clock or time.monotonic))


def rejection(verifier: Tokens, token: str) -> TokenRejected:
    with pytest.raises(TokenRejected) as rejected:
        asyncio.run(verifier.of_access(token))
    assert token not in str(rejected.value.detail) or len(token) < 8
    return rejected.value


def encoded(text: bytes) -> str:
    return urlsafe_b64encode(text).decode().rstrip("=")


class TestAccepted:
    """A token that the issuer made for this service."""

    @pytest.mark.parametrize(
        "changed",
        [
            {},
            {"aud": ["another", AUDIENCE]},
            {"header": {"typ": "at+jwt"}},
            {"header": {"typ": "application/AT+JWT"}},
            {"header": {"typ": None}},
            {"header": {"x5t": "a thumbprint, which selects no key"}},
            {"header": {"kid": None}},
            {"nbf": time.time() + 30},
            {"iat": time.time() + 30},
            {"iat": None, "azp": None},
        ],
    )
    def test_a_token_of_the_issuer(self, provider: Provider, changed: dict[str, Any]) -> None:
        assert asyncio.run(tokens(provider).of_access(provider.token(**changed)))["sub"] == "ada"

    def test_one_that_has_expired_within_the_skew(self, provider: Provider) -> None:
        token = provider.token(exp=time.time() - 30)
        assert asyncio.run(tokens(provider).of_access(token))["sub"] == "ada"

    @pytest.mark.parametrize("algorithm", ["RS256", "PS256"])
    def test_rsa(self, provider: Provider, algorithm: str) -> None:
        provider.keys.append(RSAKey.import_key(RSA.as_dict(private=True) | {"alg": algorithm}))
        token = provider.token(header={"alg": algorithm, "kid": "rsa"}, key=RSA)
        assert asyncio.run(tokens(provider).of_access(token))["sub"] == "ada"

    def test_the_party_that_got_it(self, provider: Provider) -> None:
        only = tokens(provider, oidc_authorized_parties=("portal",))
        assert asyncio.run(only.of_access(provider.token(azp="portal")))["azp"] == "portal"
        for party in ("other", None, ["portal"]):
            assert rejection(only, provider.token(azp=party)).context["check"] == "azp"


WRONG_CLAIMS: list[tuple[str, dict[str, Any]]] = [
    ("iss", {"iss": "https://elsewhere.example"}),
    ("iss", {"iss": None}),
    ("aud", {"aud": "another"}),
    ("aud", {"aud": None}),
    ("aud", {"aud": []}),
    ("aud", {"aud": {AUDIENCE: 1}}),
    ("aud", {"aud": AUDIENCE + "x"}),
    ("aud", {"aud": CLIENT}),
    ("exp", {"exp": time.time() - 61}),
    ("exp", {"exp": None}),
    ("exp", {"exp": "9999999999"}),
    ("exp", {"exp": True}),
    ("exp", {"exp": [9999999999]}),
    ("nbf", {"nbf": time.time() + 3600}),
    ("nbf", {"nbf": "now"}),
    ("iat", {"iat": time.time() + 3600}),
    ("sub", {"sub": None}),
    ("sub", {"sub": ""}),
    ("sub", {"sub": "x" * 256}),
    ("sub", {"sub": 7}),
    ("typ", {"header": {"typ": "logout+jwt"}}),
    ("typ", {"header": {"typ": "secevent+jwt"}}),
    ("typ", {"header": {"typ": "dpop+jwt"}}),
    ("typ", {"header": {"typ": 1}}),
    ("jku", {"header": {"jku": "https://evil.example/keys"}}),
    ("x5u", {"header": {"x5u": "https://evil.example/certificate"}}),
    ("x5c", {"header": {"x5c": ["MIIB"]}}),
    ("crit", {"header": {"crit": ["x"], "x": 1}}),
    ("crit", {"header": {"b64": False, "crit": ["b64"]}}),
    ("kid", {"header": {"kid": "unknown"}}),
    ("kid", {"header": {"kid": 7}}),
    ("kid", {"header": {"kid": "x" * 256}}),
]


class TestRejected:
    """Each token is one of the issuer but for one thing, and the problem names the check."""

    @pytest.mark.parametrize(("check", "changed"), WRONG_CLAIMS)
    def test_claims_and_headers(self, provider: Provider, check: str, changed: dict[str, Any]) -> None:
        assert rejection(tokens(provider), provider.token(**changed)).context["check"] == check

    @pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", "HS256", "HS384", "HS512", "ES512", "RS1", "", 7])
    def test_algorithms_that_are_not_allowed(self, provider: Provider, name: object) -> None:
        _, payload, signature = provider.token().split(".")
        for last in (signature, ""):
            token = f"{encoded(json.dumps({'alg': name}).encode())}.{payload}.{last}"
            assert rejection(tokens(provider), token).context["check"] in ("alg", "form")

    def test_hmac_by_the_public_key(self, provider: Provider) -> None:
        """Algorithm confusion: whoever has the public key, which anybody can read, has the secret of an HMAC."""
        provider.keys = [*provider.keys, RSA, EC]
        for key in (RSA, EC):
            for secret in (key.as_pem(private=False), key.as_der(private=False), str(key.as_dict()).encode()):
                header = {"alg": "HS256", "kid": key.kid}
                token = provider.token(header=header, key=secret)  # the library takes no public key for a secret
                assert rejection(tokens(provider), token).context["check"] == "alg"

    def test_a_key_of_another_algorithm(self, provider: Provider) -> None:
        """A token states RS256 and the id of a key for ES256; a token states PS256 where the key is for RS256."""
        provider.keys.append(RSA)
        token = provider.token(header={"alg": "RS256"}, key=RSA)
        assert rejection(tokens(provider), token).context["check"] == "kid"
        token = provider.token(header={"alg": "PS256", "kid": "rsa"}, key=RSA)
        assert rejection(tokens(provider), token).context["check"] == "kid"

    def test_a_key_in_the_token(self, provider: Provider) -> None:
        own = ECKey.generate_key("P-256", {"kid": "own"})
        header = {"jwk": own.as_dict(private=False)}
        assert rejection(tokens(provider), provider.token(header=header, key=own)).context["check"] == "jwk"

    def test_a_key_of_another(self, provider: Provider) -> None:
        own = ECKey.generate_key("P-256", {"kid": str(provider.keys[0].kid)})
        assert rejection(tokens(provider), provider.token(key=own)).context["check"] == "signature"

    @pytest.mark.parametrize("key", [OctKey.generate_key(256, {"kid": "shared"}), RSAKey.generate_key(2048)])
    def test_keys_that_are_not_for_signatures(self, provider: Provider, key: OctKey | RSAKey) -> None:
        parameters = {"kid": "shared", "use": "enc" if key.key_type == "RSA" else "sig"}
        provider.keys.append(type(key).import_key({**key.as_dict(private=True), **parameters}))
        algorithm = {"oct": "HS256", "RSA": "RS256"}[key.key_type]
        token = provider.token(header={"alg": algorithm, "kid": "shared"}, key=key)
        assert rejection(tokens(provider), token).context["check"] in ("alg", "kid")

    @pytest.mark.parametrize(
        ("check", "token"),
        [
            ("length", "e" * (LONGEST_TOKEN + 1)),
            ("form", ""),
            ("form", "."),
            ("form", ".."),
            ("form", "a.b.c"),
            ("form", "a.b.c.d.e"),
            ("form", "é.é.é"),
            ("form", f"{encoded(b'[]')}.{encoded(b'{}')}.x"),
            ("form", f"{encoded(b'[' * 2000)}.{encoded(b'{}')}.x"),
            ("form", f"{encoded(b'{')}.{encoded(b'{}')}.x"),
        ],
    )
    def test_what_is_no_token(self, provider: Provider, check: str, token: str) -> None:
        assert rejection(tokens(provider), token).context["check"] == check
        assert provider.reads == 0, "the issuer is not contacted for what cannot be a token"

    @pytest.mark.parametrize("payload", [b"[]", b"7", b"{", b"[" * 5000, b"\xff", b'{"exp": NaN}', b'{"exp": 1e999}'])
    def test_claims_that_are_no_object(self, provider: Provider, payload: bytes) -> None:
        token = signed({"alg": "ES256", "kid": provider.keys[0].kid}, payload, provider.keys[0])
        assert rejection(tokens(provider), token).context["check"] in ("form", "iss")

    def test_a_service_without_an_audience(self, provider: Provider) -> None:
        pages = tokens(provider, oidc_audience=None, oidc_client_id=CLIENT, public_url="http://localhost:8080")
        assert rejection(pages, provider.token()).context["check"] == "aud"


@pytest.fixture(scope="module")
def verified(running: Provider) -> tuple[Tokens, str]:
    """A verifier, and a token that it accepts."""
    running.answers_with, running.changes = None, {}
    verifier, token = tokens(running), running.token()
    asyncio.run(verifier.of_access(token))
    return verifier, token


@given(st.data())
def test_a_token_that_is_changed_anywhere_is_rejected(verified: tuple[Tokens, str], data: st.DataObject) -> None:
    """The signature is of every character of header and payload; a signature in another form is invalid."""
    verifier, token = verified
    position = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters(min_codepoint=32, max_codepoint=126).filter(lambda c: c != token[position]))
    changed = token[:position] + other + token[position + 1 :]
    if position == len(token) - 1 and other.isalnum():  # the last character of 64 bytes has four bits without meaning
        return
    rejection(verifier, changed)


@given(st.text() | st.lists(st.binary(max_size=60), min_size=3, max_size=3).map(lambda p: ".".join(map(encoded, p))))
def test_any_text_is_rejected(verified: tuple[Tokens, str], text: str) -> None:
    rejection(verified[0], text)


class TestKeys:
    """The documents are read when they are needed, and no more often than stated."""

    def test_many_tokens_read_them_once(self, provider: Provider) -> None:
        verifier = tokens(provider)

        async def verify() -> None:
            await asyncio.gather(*(verifier.of_access(provider.token()) for _ in range(20)))

        asyncio.run(verify())
        assert provider.reads == 1

    def test_rotation(self, provider: Provider) -> None:
        """A token with a new key is accepted at once, if the keys were not read a moment before."""
        clock = Clock()
        verifier = tokens(provider, clock)
        old = provider.token()
        asyncio.run(verifier.of_access(old))
        provider.rotate(keep=True)
        clock.seconds += RETRIED_EVERY_S
        asyncio.run(verifier.of_access(provider.token()))
        asyncio.run(verifier.of_access(old))
        assert provider.reads == 2

    def test_a_key_that_the_issuer_withdraws(self, provider: Provider) -> None:
        clock = Clock()
        verifier = tokens(provider, clock)
        old = provider.token()
        asyncio.run(verifier.of_access(old))
        provider.rotate()
        clock.seconds += REFRESHED_EVERY_S
        asyncio.run(verifier.of_access(old))
        clock.seconds += 1
        assert rejection(verifier, old).context["check"] == "kid"

    def test_unknown_ids_make_no_more_requests(self, provider: Provider) -> None:
        clock = Clock()
        verifier = tokens(provider, clock)
        for number in range(50):
            rejection(verifier, provider.token(header={"kid": f"unknown-{number}"}))
        assert provider.reads == 1
        clock.seconds += RETRIED_EVERY_S
        for number in range(50):
            rejection(verifier, provider.token(header={"kid": f"unknown-{number}"}))
        assert provider.reads == 2

    def test_an_issuer_that_does_not_answer(self, provider: Provider) -> None:
        """Keys that are known go on for a day; a token with another one may be valid, so that it is not rejected."""
        clock = Clock()
        verifier = tokens(provider, clock)
        known = provider.token()
        asyncio.run(verifier.of_access(known))
        provider.answers_with = 500
        provider.rotate(keep=True)
        for seconds in (RETRIED_EVERY_S, REFRESHED_EVERY_S, USED_FOR_S - REFRESHED_EVERY_S - RETRIED_EVERY_S - 1):
            clock.seconds += seconds
            asyncio.run(verifier.of_access(known))
            with pytest.raises(IssuerUnavailable):
                asyncio.run(verifier.of_access(provider.token()))
        clock.seconds += 2
        with pytest.raises(IssuerUnavailable):
            asyncio.run(verifier.of_access(known))
        provider.answers_with = None
        clock.seconds += RETRIED_EVERY_S
        asyncio.run(verifier.of_access(provider.token()))

    @pytest.mark.parametrize(
        "changes",
        [
            {"issuer": "https://elsewhere.example"},
            {"issuer": None},
            {"jwks_uri": None},
            {"jwks_uri": ["x"]},
            {"jwks_uri": "http://192.0.2.1/keys"},
            {"jwks_uri": "file:///etc/passwd"},
            {"jwks_uri": "http://[::1"},
            {"more": "x" * 600_000},
        ],
    )
    def test_a_discovery_document_that_is_wrong(self, provider: Provider, changes: dict[str, Any]) -> None:
        provider.changes = changes
        with pytest.raises(IssuerUnavailable):
            asyncio.run(tokens(provider).of_access(provider.token()))
        assert provider.reads == 0

    @pytest.mark.parametrize("spoil", [{"x": 7}, {"crv": "P-999"}, {"x": ""}, {"kty": "RSA"}])
    def test_a_key_that_cannot_be_read_is_left_out(
        self, provider: Provider, spoil: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        good = provider.keys[0]
        bad = dict(good.as_dict(private=False)) | spoil
        monkeypatch.setattr(provider, "listed", [bad, "no key", None, good.as_dict(private=False)])
        assert asyncio.run(tokens(provider).of_access(provider.token()))["sub"] == "ada"
