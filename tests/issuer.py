"""A small OpenID Connect provider for tests, on loopback, in a thread and an event loop of its own.

It supports sign-ins and resource servers: discovery, keys that rotate, authorization code flow with PKCE, which
it demands, a token endpoint that authenticates its client, and RP-initiated logout. Whatever is not right is an error,
as at a provider in service; tokens that are wrong are made by `token` alone.
"""

import hmac
import json
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from secrets import token_urlsafe
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import uvicorn
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

AUDIENCE, CLIENT, SECRET = "rackplan-api", "rackplan-pages", "s3cret/with+signs"
_SESSION = "provider-session"


@dataclass(frozen=True)
class Code:
    """The grant of an authorization code."""

    user: str
    redirect_uri: str
    challenge: str
    nonce: str


@dataclass
class Provider:
    """The provider, while it runs.

    Parameters
    ----------
    users : claims of each person by name. redirects, returns : addresses that are registered for the client.
    reads : how often the keys were read. listed : published in place of the keys.
    answers_with : status of every answer, if it is not to work. changes : of the discovery document.
    id_claims : changes of ID tokens. ended : the subjects of sessions that were ended.
    """

    url: str = ""
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    redirects: set[str] = field(default_factory=set)
    returns: set[str] = field(default_factory=set)
    secret: str | None = SECRET
    reads: int = 0
    answers_with: int | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    id_claims: dict[str, Any] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    listed: list[Any] = field(default_factory=list)
    _codes: dict[str, Code] = field(default_factory=dict)
    _sessions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rotate()

    def rotate(self, *, keep: bool = False) -> None:
        """Sign with a new key from now on; `keep` publishes the earlier ones as well."""
        key = ECKey.generate_key("P-256", {"kid": token_urlsafe(8), "use": "sig", "alg": "ES256"})
        self.keys = [key, *(self.keys if keep else [])]

    def token(
        self,
        *,
        header: Mapping[str, Any] | None = None,
        key: Key | bytes | None = None,
        **changed: Any,
    ) -> str:
        """An access token of the issuer; a claim that is changed to None is left out."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "azp": "some-client",
            "iat": now,
            "exp": now + 300,
            "team": "default",
            "roles": ["admin"],
        } | changed
        head = {"typ": "JWT", "alg": "ES256", "kid": self.keys[0].kid} | dict(header or {})
        head = {name: value for name, value in head.items() if value is not None}
        stated = {name: value for name, value in claims.items() if value is not None}
        return signed(head, json.dumps(stated).encode(), key or self.keys[0])

    async def discovery(self, _: Request) -> Response:
        document = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "end_session_endpoint": f"{self.url}/end-session",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
        }
        return JSONResponse(document | self.changes, self.answers_with or 200)

    async def published(self, _: Request) -> Response:
        self.reads += 1
        listed = self.listed or [key.as_dict(private=False) for key in self.keys]
        return JSONResponse({"keys": listed}, self.answers_with or 200)

    async def authorize(self, request: Request) -> Response:
        """The form of the person's name; a browser that has signed in here before goes on at once."""
        query = dict(request.query_params)
        if query.get("client_id") != CLIENT or query.get("redirect_uri") not in self.redirects:
            return HTMLResponse("unknown client or address", 400)  # never a redirect
        wrong = self._wrong(query)
        if wrong:
            return self._back(query, error=wrong)
        user = self._sessions.get(request.cookies.get(_SESSION, ""))
        if request.method == "POST":
            form = parse_qs((await request.body()).decode())
            user = form.get("user", [""])[0]
            if user not in self.users:
                return self._back(query, error="access_denied", error_description="<b>nobody</b> knows this name")
        if user is None:
            action = escape(f"/authorize?{request.url.query}")
            return HTMLResponse(
                f'<form method="post" action="{action}"><input name="user"><button>Log in</button></form>'
            )
        code, session = token_urlsafe(16), token_urlsafe(16)
        self._codes[code] = Code(user, query["redirect_uri"], query["code_challenge"], query["nonce"])
        self._sessions[session] = user
        answer = self._back(query, code=code)
        answer.set_cookie(_SESSION, session, httponly=True)
        return answer

    @staticmethod
    def _wrong(query: Mapping[str, str]) -> str:
        if query.get("response_type") != "code":
            return "unsupported_response_type"
        if "openid" not in query.get("scope", "").split():
            return "invalid_scope"
        is_right = query.get("code_challenge_method") == "S256" and len(query.get("code_challenge", "")) == 43
        return "" if is_right and query.get("nonce") and query.get("state") else "invalid_request"

    def _back(self, query: Mapping[str, str], **answer: str) -> Response:
        parameters = urlencode(answer | {"state": query.get("state", ""), "iss": self.url})
        return RedirectResponse(f"{query['redirect_uri']}?{parameters}", 303)

    async def exchanged(self, request: Request) -> Response:
        """The token endpoint: a code is used once, by the client, with the verifier."""
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        if self.answers_with is not None:
            return JSONResponse({"error": "temporarily_unavailable"}, self.answers_with)
        if not self._is_client(request, form):
            return JSONResponse({"error": "invalid_client"}, 401)
        code = self._codes.pop(form.get("code", ""), None)
        challenge = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
        is_right = code is not None and form.get("redirect_uri") == code.redirect_uri and challenge == code.challenge
        if code is None or not is_right or form.get("grant_type") != "authorization_code":
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = {"sub": code.user, "preferred_username": code.user, "nonce": code.nonce, "azp": None, "aud": CLIENT}
        own = {"team": None, "roles": None} | self.users[code.user]
        return JSONResponse(
            {
                "id_token": self.token(**(claims | own | self.id_claims)),
                "access_token": self.token(sub=code.user, **own),
                "token_type": "Bearer",
                "expires_in": 300,
            }
        )

    def _is_client(self, request: Request, form: Mapping[str, str]) -> bool:
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        if self.secret is None:
            return not scheme and form.get("client_id") == CLIENT
        name, _, secret = b64decode(encoded).decode().partition(":")
        return scheme == "Basic" and (unquote_plus(name), unquote_plus(secret)) == (CLIENT, self.secret)

    async def end_session(self, request: Request) -> Response:
        hint = request.query_params.get("id_token_hint", "")
        claims = jwt.decode(hint, self.keys[0], ["ES256"]).claims if hint else {}
        self.ended.append(str(claims.get("sub", "")))
        self._sessions.pop(request.cookies.get(_SESSION, ""), None)
        back = request.query_params.get("post_logout_redirect_uri", "")
        answer: Response = RedirectResponse(back, 303) if back in self.returns else HTMLResponse("logged out")
        answer.delete_cookie(_SESSION)
        return answer


def signed(header: Mapping[str, Any], payload: bytes, key: Key | bytes) -> str:
    """A token with any header and payload, and any secret of an HMAC; the library's own function makes none that is
    wrong.
    """
    content = b".".join(map(urlsafe_b64encode, (json.dumps(header).encode(), payload))).replace(b"=", b"")
    if isinstance(key, bytes):
        signature = hmac.digest(key, content, "sha256")
    else:
        signature = jws.JWSRegistry.algorithms[header["alg"]].sign(content, key)
    return f"{content.decode()}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


@contextmanager
def running() -> Iterator[Provider]:
    """A provider on a free port, until the context ends."""
    provider = Provider()
    app = Starlette(
        routes=[
            Route("/.well-known/openid-configuration", provider.discovery),
            Route("/keys", provider.published),
            Route("/authorize", provider.authorize, methods=["GET", "POST"]),
            Route("/token", provider.exchanged, methods=["POST"]),
            Route("/end-session", provider.end_session),
        ]
    )
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the provider did not start"
        thread.join(0.01)
    provider.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join(20)


def parameters_of(address: str) -> dict[str, str]:
    """The parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
