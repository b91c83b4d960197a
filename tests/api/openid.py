"""An OpenID provider that is strict, has a device endpoint, and lies when a test asks it to."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from joserfc import jwk, jwt

from web_server import Answer, Question, web_server

KEY = jwk.ECKey.generate_key("P-256", {"kid": "k1"})
CLIENT = "weft-client"


class Provider:
    """What the provider knows, and how it answers. `claims` are added to each ID token."""

    def __init__(self) -> None:
        self.url = ""
        self.secret: str | None = None
        self.auth_methods = ["client_secret_basic"]
        self.description: dict[str, Any] = {}
        """What it says of itself otherwise than it is."""
        self.claims: dict[str, Any] = {"email": "ada@example.org"}
        self.is_lax = False
        """It lets a code be used twice."""
        self.codes: dict[str, dict[str, str]] = {}
        self.device_answers: list[str] = []
        """The errors of the next polls; then somebody has typed the code in."""
        self.sent: dict[str, tuple[int, dict[str, str], bytes]] = {}
        """By path: what it answers instead."""
        self.tokens: list[str] = []

    def id_token(self, nonce: str | None) -> str:
        usual = {"iss": self.url, "aud": CLIENT, "sub": "1", "exp": int(time.time()) + 600}
        claims = {**usual, **({} if nonce is None else {"nonce": nonce}), **self.claims}
        token = jwt.encode({"alg": "ES256", "kid": "k1"}, claims, KEY)
        self.tokens.append(token)
        return token

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?prompt=login",
            "token_endpoint": f"{self.url}/token",
            "device_authorization_endpoint": f"{self.url}/device",
            "end_session_endpoint": f"{self.url}/logout?ui=1",
            "token_endpoint_auth_methods_supported": self.auth_methods,
            **self.description,
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Log somebody in at once; return where the browser goes on."""
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], "iss": self.url, "session_state": "x"}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def token(self, form: dict[str, str], authorization: str | None) -> tuple[int, dict[str, Any]]:
        if not self._is_client(form, authorization):
            return 401, {"error": "invalid_client"}
        if form["grant_type"].endswith("device_code"):
            if self.device_answers:
                return 400, {"error": self.device_answers.pop(0)}
            return 200, {"id_token": self.id_token(None), "token_type": "Bearer"}
        asked = self.codes.get(form["code"])
        if not self.is_lax:
            self.codes.pop(form["code"], None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if (
            asked is None
            or asked["redirect_uri"] != form["redirect_uri"]
            or asked["code_challenge"] != challenge
        ):
            return 400, {"error": "invalid_grant", "error_description": "\x1b[31mno\nsuch <code>"}
        return 200, {"id_token": self.id_token(asked["nonce"]), "access_token": "a"}

    def _is_client(self, form: dict[str, str], authorization: str | None) -> bool:
        if authorization is not None:
            pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            client, _, secret = pair.partition(":")
            given = (unquote_plus(client), unquote_plus(secret))
            return "client_secret_basic" in self.auth_methods and given == (CLIENT, self.secret)
        return (form.get("client_id"), form.get("client_secret")) == (CLIENT, self.secret)

    def logged_out(self, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Return what a browser is answered that logs out."""
        back = query.get("post_logout_redirect_uri")
        return (200, {}, b"") if back is None else (302, {"location": back}, b"")

    def device(self) -> dict[str, Any]:
        return {
            "device_code": "d-code",
            "user_code": "WDJB-MJHT",
            "interval": 1,
            "expires_in": 60,
            "verification_uri": f"{self.url}/device-page",
        }


@contextmanager
def provider() -> Iterator[Provider]:
    """Serve a provider."""
    one = Provider()

    def answer(asked: Question) -> Answer:
        parts = urlsplit(asked.path)
        told = one.sent.get(parts.path if asked.method == "GET" else asked.path)
        if told is not None:
            status, headers, body = told
            return Answer(body, status, headers)
        if asked.method == "POST":
            return posted(asked)
        match parts.path:
            case "/authorize":
                url = one.authorize(dict(parse_qsl(parts.query)))
                return Answer(b"", 302, {"location": url})
            case "/logout":
                status, headers, body = one.logged_out(dict(parse_qsl(parts.query)))
                return Answer(body, status, headers)
            case "/keys":
                return as_json(200, {"keys": [KEY.as_dict(private=False)]})
            case "/.well-known/openid-configuration":
                return as_json(200, one.discovery())
        return as_json(404, {})

    def posted(asked: Question) -> Answer:
        if asked.path != "/token":
            return as_json(200, one.device())
        form = dict(parse_qsl(asked.body.decode()))
        return as_json(*one.token(form, asked.headers.get("authorization")))

    def as_json(status: int, document: dict[str, Any]) -> Answer:
        return Answer(json.dumps(document).encode(), status, {"content-type": "application/json"})

    with web_server(answer) as one.url:
        yield one


def entry_of(one: Provider, tenant: str = "local", **fields: str) -> str:
    """Return the entry of the provider in a file of issuers."""
    usual = {
        "tenant": tenant,
        "issuer": one.url,
        "audience": "weft-api",
        "user_claim": "email",
        "jwks_url": f"{one.url}/keys",
        "client_id": CLIENT,
        **fields,
    }
    return "[[issuers]]\n" + "".join(f'{name} = "{value}"\n' for name, value in usual.items())
