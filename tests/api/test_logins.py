"""Logins at issuers over HTTP, attacked: browsers get sessions, programs get tokens."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import msgspec
import pytest
from httpx import AsyncClient
from structlog.testing import capture_logs

from api.live import NO_TLS, Dsns, LiveApi, make_user, trail
from api.openid import CLIENT, Provider, entry_of, provider
from contexts import async_fixture_of
from weft.api.web_tokens.issuers import read_issuers
from weft.core.access.browser_logins import VALID_S, BrowserLogin
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft.wire.documents.logins import DeviceLoginBegun, DevicePolled, LoginBegun, LoginDone

ADA = "ada@example.org"
CALLBACK = "/login/oidc/callback"


@asynccontextmanager
async def serving(dsn: str, home: Path, *entries: str) -> AsyncIterator[LiveApi]:
    """Serve an api whose people log in at these issuers."""
    home.mkdir(exist_ok=True)
    file = home / "issuers.toml"
    file.write_text("\n".join(entries))
    async with LiveApi(dsn, Settings(home=home, issuers_file=file)) as live:
        yield live


@pytest.fixture
async def api(database: Dsns, tmp_path: Path, openid: Provider) -> AsyncIterator[LiveApi]:
    """Give an api with one issuer, whose user ada is known."""
    await make_user(database["admin"])
    async with serving(database["weft_api"], tmp_path, entry_of(openid)) as live:
        async with live.client() as admin:
            made = await admin.post("/v1/users", json={"name": ADA})
            assert made.status_code == 201, made.text
        yield live


browser = async_fixture_of(
    lambda api: AsyncClient(base_url=api.url, headers={"user-agent": "Firefox"})
)


async def come_back(browser: AsyncClient) -> str:
    """Log in at the issuer; return where it sends the browser."""
    start = await browser.get("/login/oidc/start")
    assert start.status_code == 303, start.text
    async with AsyncClient(verify=NO_TLS) as elsewhere:
        back = await elsewhere.get(start.headers["location"])
    return str(back.headers["location"])


def changed(url: str, **fields: str | None) -> str:
    """Return an address with other parameters."""
    parts = urlsplit(url)
    query = {**dict(parse_qsl(parts.query)), **fields}
    text = urlencode({name: one for name, one in query.items() if one is not None})
    return parts._replace(query=text).geturl()


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def test_browser_logs_in_at_the_issuer_and_has_a_session(
    browser: AsyncClient, api: LiveApi, openid: Provider, database: Dsns
) -> None:
    with capture_logs() as logs:
        page = await browser.get("/login")
        start = await browser.get("/login/oidc/start")
        back = await come_back(browser)
        login = browser.cookies["weft_login"]
        browser.cookies.set("weft_visit", "of-an-expired-session", domain="127.0.0.1")
        won = await browser.get(back)
        who = (await browser.get("/v1/whoami")).json()
        welcome = await browser.get("/login")
    (session,) = (await browser.get("/v1/sessions")).json()["items"]
    async with api.client() as admin:
        users = (await admin.get("/v1/users")).json()["items"]
        told_of = await trail(admin, database)

    assert [(one["action"], one["user"]) for one in told_of][-1:] == [("finish_login", ADA)]
    assert start.headers["location"].startswith(f"{openid.url}/authorize?prompt=login&")
    cookie = start.headers["set-cookie"].partition(";")[2]
    assert cookie == f" Path=/; Max-Age={VALID_S}; HttpOnly; SameSite=Lax"
    assert back.startswith(f"{api.url}{CALLBACK}?")
    assert (won.status_code, won.headers["location"]) == (303, "/ui")
    kept, gone = (one.split("; ") for one in won.headers.get_list("set-cookie")[:2])
    assert kept[0] == f"weft_session={browser.cookies['weft_session']}"
    assert kept[1:] == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Lax"]
    assert gone == ["weft_login=", "Path=/", "Max-Age=0", "HttpOnly", "SameSite=Lax"]
    assert {"weft_login", "weft_visit"}.isdisjoint(browser.cookies)
    assert (who["user"], who["tenant"], who["csrf_token"] is None) == (ADA, "local", False)
    assert ("/login/oidc/start" in page.text, ADA in welcome.text) == (True, True)
    assert (session["browser"], session["address"]) == ("Firefox", "127.0.0.1")
    assert next(one["last_seen_at"] for one in users if one["name"] == ADA)
    told = str(logs)
    code = dict(parse_qsl(urlsplit(back).query))["code"]
    for text in (login, browser.cookies["weft_session"], code, *openid.tokens):
        assert text not in told


async def test_login_opens_one_session(
    browser: AsyncClient,
    api: LiveApi,
    openid: Provider,
    database: Dsns,
    tmp_path: Path,
) -> None:
    """Also on another api, and at an issuer that lets a code be used twice."""
    openid.is_lax = True
    back = await come_back(browser)
    cookie = {"cookie": f"weft_login={browser.cookies['weft_login']}"}
    assert (await browser.get(back)).status_code == 303
    async with (
        serving(database["weft_api"], tmp_path / "second", entry_of(openid)) as second,
        AsyncClient(verify=NO_TLS) as thief,
    ):
        again = [
            await thief.get(back, headers=cookie),
            # The address of the redirect stays the same: the issuer compares it.
            await thief.get(
                back.replace(api.url, second.url),
                headers={**cookie, "host": urlsplit(api.url).netloc},
            ),
        ]

    assert [refused(one) for one in again] == [(401, "API.LOGIN_REFUSED")] * 2
    assert all("session already" in one.json()["detail"] for one in again)


Change = Callable[[str, AsyncClient, Provider], str]


def _claim(**claims: object) -> Change:
    def change(back: str, _: AsyncClient, openid: Provider) -> str:
        openid.claims |= claims
        return back

    return change


def _query(**fields: str | None) -> Change:
    return lambda back, _, __: changed(back, **fields)


def _no_cookie(back: str, browser: AsyncClient, _: Provider) -> str:
    browser.cookies.clear()
    return back


def _other_cookie(back: str, browser: AsyncClient, _: Provider) -> str:
    _own, provider_id, begun = browser.cookies["weft_login"].split(".")
    browser.cookies.clear()
    browser.cookies.set("weft_login", f"{secrets.token_urlsafe(32)}.{provider_id}.{begun}")
    return back


def _moved(**change: Any) -> Change:  # noqa: ANN401 (fields of a login)
    """Come back with the cookie of a login that this server would not have begun, or long ago."""

    def move(back: str, browser: AsyncClient, _: Provider) -> str:
        secret, provider_id, begun = browser.cookies["weft_login"].split(".")
        fields = {"secret": secret, "provider_id": provider_id, "begun_at": int(begun), **change}
        login = BrowserLogin(**fields)
        browser.cookies.clear()
        browser.cookies.set("weft_login", login.cookie)
        return changed(back, state=login.state)

    return move


def _iss_required(back: str, _: AsyncClient, openid: Provider) -> str:
    return changed(back, iss=None)


REFUSED: dict[str, tuple[Change, str]] = {
    "state of another login": (_query(state="0" * 64), "has not begun it"),
    "no state": (_query(state=None), "has not begun it"),
    "no cookie": (_no_cookie, "has not begun it"),
    "cookie of another login": (_other_cookie, "has not begun it"),
    "too late": (_moved(begun_at=int(time.time()) - VALID_S - 9), "too long"),
    "issuer that is gone": (_moved(provider_id="0" * 16), "no longer configured"),
    "verifier of another login": (_moved(begun_at=int(time.time()) - 9), "invalid_grant"),
    "code of nobody": (_query(code="guessed"), "The issuer says invalid_grant: ?[31mno?such"),
    "no code": (_query(code=None), "no code"),
    "another issuer": (_query(iss="https://evil.example"), "of another issuer"),
    "no issuer": (_iss_required, "does not say which issuer"),
    "nonce of another login": (_claim(nonce="other"), "nonce"),
    "wrong audience": (_claim(aud="others"), "another audience"),
    "several audiences": (_claim(aud=[CLIENT, "others"]), "another client"),
    "another client": (_claim(azp="others"), "another client"),
    "token of another issuer": (_claim(iss="https://evil.example"), "of another issuer"),
    "expired": (_claim(exp=1), "expired"),
    "nobody": (_claim(email=None), "names no user"),
    "refusal": (
        _query(code=None, error="access_denied", error_description="\x1b[2J<b>no\u202e"),
        "The issuer says access_denied: ?[2J<b>no?",
    ),
    "refusal of another issuer": (
        _query(code=None, error="access_denied", iss="https://evil.example"),
        "of another issuer",
    ),
}


async def test_what_comes_back_and_is_not_believed(browser: AsyncClient, openid: Provider) -> None:
    openid.description = {"authorization_response_iss_parameter_supported": True}
    usual = dict(openid.claims)
    for what, (change, why) in REFUSED.items():
        openid.claims = dict(usual)
        browser.cookies.clear()
        back = await come_back(browser)
        answer = await browser.get(change(back, browser, openid))

        assert refused(answer) == (401, "API.LOGIN_REFUSED"), (what, answer.text)
        assert why in answer.json()["detail"], (what, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert "weft_session" not in browser.cookies
    openid.claims = usual
    assert (await browser.get(await come_back(browser))).status_code == 303


async def test_user_whom_the_tenant_does_not_know(browser: AsyncClient, openid: Provider) -> None:
    openid.claims = {"email": "eve@example.org"}
    answer = await browser.get(await come_back(browser))

    assert refused(answer) == (401, "API.LOGIN_REFUSED")
    assert answer.json()["title"] == "you are no user here"
    assert "eve@example.org" in answer.json()["detail"]


async def test_nobody_is_led_to_an_address_of_the_request(browser: AsyncClient) -> None:
    """A page of others cannot use this one to lead people to theirs."""
    for name in ("next", "redirect_uri", "return_to"):
        answer = await browser.get("/login/oidc/start", params={name: "https://evil.example"})
        assert answer.status_code == 400
        back = changed(await come_back(browser), **{name: "https://evil.example"})
        answer = await browser.get(back)
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui")


async def test_answers_of_an_issuer_that_are_none(
    browser: AsyncClient, openid: Provider, database: Dsns, tmp_path: Path
) -> None:
    """Redirects are not followed, and nothing that is too large, malformed or strange is used."""
    html: tuple[int, dict[str, str], bytes] = (200, {}, b"<html>")
    for sent in (
        html,
        (500, {}, b""),
        (302, {"location": f"{openid.url}/keys"}, b""),
        (400, {}, b"{}"),
        (200, {}, b'{"id_token": 7}'),
        (200, {}, b" " * (1 << 20) + b"{}"),
        (200, {}, b"[" * 100_000),
    ):
        back = await come_back(browser)
        openid.sent["/token"] = sent
        answer = await browser.get(back)
        assert refused(answer) == (503, "API.ISSUER_NOT_ANSWERING"), sent[:2]
        del openid.sent["/token"]
    config = "/.well-known/openid-configuration"
    wrong: list[dict[str, Any]] = [
        {"issuer": "https://evil.example"},
        {"issuer": openid.url + "/"},
        {"token_endpoint": "http://169.254.169.254/latest"},
        {"token_endpoint": "https://evil.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": openid.url + "/a\r\nx: y"},
        {"device_authorization_endpoint": "file:///etc/passwd"},
        {"token_endpoint": None},
    ]
    for n, description in enumerate(wrong):
        openid.description = description
        home = tmp_path / f"api{n}"
        async with (
            serving(database["weft_api"], home, entry_of(openid)) as live,
            AsyncClient(base_url=live.url, verify=NO_TLS) as client,
        ):
            answer = await client.get("/login/oidc/start")
            assert refused(answer) == (503, "API.ISSUER_NOT_ANSWERING"), description
    openid.sent[config] = html
    async with (
        serving(database["weft_api"], tmp_path / "last", entry_of(openid)) as live,
        AsyncClient(base_url=live.url, verify=NO_TLS) as client,
    ):
        answer = await client.post("/v1/logins", json=begun_with()[0])
        assert refused(answer) == (503, "API.ISSUER_NOT_ANSWERING")


def begun_with(**fields: str) -> tuple[dict[str, str], str]:
    """Return the document of a beginning, and its verifier."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    usual = {
        "redirect_uri": "http://127.0.0.1:40001/callback",
        "state": secrets.token_urlsafe(48),
        "nonce": secrets.token_urlsafe(48),
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    }
    return {**usual, **fields}, verifier


def as_described(answer: httpx.Response, kind: type[msgspec.Struct]) -> Any:  # noqa: ANN401
    """Return an answer, which has the fields that its description names."""
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() == {one.name for one in msgspec.structs.fields(kind)}
    return msgspec.json.decode(answer.content, type=kind)


async def end_of(client: AsyncClient, openid: Provider, **fields: str | None) -> httpx.Response:
    """Log a program in; `fields`: of its second request."""
    document, verifier = begun_with()
    begun = as_described(await client.post("/v1/logins", json=document), LoginBegun)
    query = dict(parse_qsl(urlsplit(begun.url).query))
    back = dict(parse_qsl(urlsplit(openid.authorize(query)).query))
    assert back["state"] == document["state"]
    end = {
        "issuer": begun.issuer,
        "redirect_uri": document["redirect_uri"],
        "code": back["code"],
        "nonce": document["nonce"],
        "code_verifier": verifier,
        "iss": back["iss"],
        "name": "weft login",
        **fields,
    }
    return await client.post("/v1/logins/finish", json=end)


async def test_program_logs_in_and_has_a_token_that_ends(
    browser: AsyncClient, api: LiveApi, openid: Provider, database: Dsns
) -> None:
    done = as_described(await end_of(browser, openid), LoginDone)
    (id_token,) = openid.tokens
    bearer = {"authorization": f"Bearer {done.token}"}
    (listed,) = [
        one
        for one in (await browser.get("/v1/tokens", headers=bearer)).json()["items"]
        if one["name"] == "weft login"
    ]
    as_bearer = await browser.get("/v1/whoami", headers={"authorization": f"Bearer {id_token}"})

    assert (done.tenant, done.user) == ("local", ADA)
    assert 0 <= time.time() + 43_200 - done.expires_at.timestamp() < 60
    assert listed["token_id"] == done.token_id
    async with api.client() as admin:
        told_of = await trail(admin, database)
    assert ("end_login", ADA, None) in [
        (one["action"], one["user"], one["refused"]) for one in told_of
    ]
    # What an issuer says to weft's login is none of weft's api: its audience is another.
    assert as_bearer.status_code == 401


async def test_program_with_a_code_of_somebody_else(
    browser: AsyncClient, openid: Provider
) -> None:
    for field, value, why in (
        ("code", "guessed", "invalid_grant"),
        ("code_verifier", "x" * 43, "invalid_grant"),
        ("nonce", "x" * 43, "nonce"),
        ("iss", "https://evil.example", "another issuer"),
        ("redirect_uri", "http://127.0.0.1:40002/callback", "invalid_grant"),
    ):
        answer = await end_of(browser, openid, **{field: value})

        assert refused(answer) == (401, "API.LOGIN_REFUSED"), field
        assert why in answer.json()["detail"], field


async def test_codes_for_programs_come_to_their_own_machine_only(browser: AsyncClient) -> None:
    for uri in (
        "https://evil.example/callback",
        "http://127.0.0.1:1.evil.example/callback",
        "http://127.0.0.1:40001/callback?x",
        "http://localhost:40001/callback",
        "http://127.0.0.1:40001@evil.example/callback",
    ):
        answer = await browser.post("/v1/logins", json=begun_with(redirect_uri=uri)[0])

        assert refused(answer) == (400, "API.WRONG_TYPE"), uri


async def test_code_is_typed_in_elsewhere(browser: AsyncClient, openid: Provider) -> None:
    openid.device_answers = ["authorization_pending", "slow_down"]
    begun = as_described(await browser.post("/v1/device-logins", json={}), DeviceLoginBegun)
    poll = {"issuer": begun.issuer, "device_code": begun.device_code}
    answers = [
        as_described(await browser.post("/v1/device-logins/poll", json=poll), DevicePolled)
        for _ in range(3)
    ]
    openid.device_answers = ["expired_token", "access_denied"]
    ended = [await browser.post("/v1/device-logins/poll", json=poll) for _ in range(2)]

    assert (begun.user_code, begun.verification_uri_complete) == ("WDJB-MJHT", None)
    assert (begun.interval_s, begun.expires_in_s) == (1, 60)
    assert [(one.is_too_fast, one.login is None) for one in answers] == [
        (False, True),
        (True, True),
        (False, False),
    ]
    done = answers[2].login
    assert done is not None
    assert done.user == ADA
    assert [refused(one) for one in ended] == [(401, "API.LOGIN_REFUSED")] * 2
    assert "expired_token" in ended[0].json()["detail"]
    assert "access_denied" in ended[1].json()["detail"]


async def test_issuer_without_a_device_endpoint_and_with_a_malformed_one(
    browser: AsyncClient, openid: Provider, database: Dsns, tmp_path: Path
) -> None:
    openid.sent["/device"] = (400, {}, b'{"error": "unauthorized_client"}')
    answer = await browser.post("/v1/device-logins", json={})
    assert refused(answer) == (401, "API.LOGIN_REFUSED")
    for change in ({"user_code": "\x1b[2J"}, {"verification_uri": "javascript:alert(1)"}):
        body = json.dumps({**openid.device(), **change}).encode()
        openid.sent["/device"] = (200, {}, body)
        answer = await browser.post("/v1/device-logins", json={})
        assert refused(answer) == (503, "API.ISSUER_NOT_ANSWERING"), change
    openid.description = {"device_authorization_endpoint": None}
    async with (
        serving(database["weft_api"], tmp_path / "second", entry_of(openid)) as second,
        AsyncClient(base_url=second.url, verify=NO_TLS) as client,
    ):
        answer = await client.post("/v1/device-logins", json={})
    assert refused(answer) == (409, "API.NO_DEVICE_LOGIN")


async def test_issuer_is_that_of_the_tenant(
    database: Dsns, tmp_path: Path, openid: Provider
) -> None:
    """Strangers are not told which tenants there are."""
    await make_user(database["admin"])
    with provider() as other:
        text = entry_of(openid), entry_of(other, tenant="acme", create_users="")
        text = text[0], text[1].replace('create_users = ""', "create_users = true")
        async with (
            serving(database["weft_api"], tmp_path, *text) as live,
            live.client() as admin,
            AsyncClient(base_url=live.url, verify=NO_TLS) as client,
        ):
            made = await admin.post("/v1/tenants", json={"name": "acme", "admin": "ann"})
            assert made.status_code == 201
            page = (await client.get("/login")).text
            none = await client.get("/login/oidc/start")
            theirs = await client.get("/login/oidc/start?tenant=ACME")
            by_name = await client.get("/login/oidc/start", params={"issuer": openid.url})
            unknown = [
                await client.get(f"/login/oidc/start?{query}")
                for query in ("tenant=nobody", f"tenant=acme&issuer={openid.url}")
            ]
            async with AsyncClient(verify=NO_TLS) as elsewhere:
                await client.get("/login/oidc/start?tenant=acme")
                url = (await client.get("/login/oidc/start?tenant=acme")).headers["location"]
                back = (await elsewhere.get(url)).headers["location"]
            assert (await client.get(back)).status_code == 303
            who = (await client.get("/v1/whoami")).json()

    assert refused(none) == (400, "API.ISSUER_AMBIGUOUS")
    assert ('name="issuer"' in page, "acme" in none.text + page) == (True, False)
    assert theirs.headers["location"].startswith(other.url)
    assert by_name.headers["location"].startswith(openid.url)
    assert [refused(one) for one in unknown] == [(404, "API.ISSUER_NOT_FOUND")] * 2
    assert (who["tenant"], who["user"]) == ("acme", ADA)


@pytest.mark.parametrize("methods", [["client_secret_basic"], ["client_secret_post"]])
async def test_client_with_a_secret(
    database: Dsns, tmp_path: Path, openid: Provider, methods: list[str]
) -> None:
    """It goes to the issuer only: no answer and no log has it."""
    openid.secret, openid.auth_methods = "s€cret :".replace("€", "e%"), methods
    (tmp_path / "secret").write_text(f"{openid.secret}\n")
    await make_user(database["admin"])
    entry = entry_of(openid, client_secret_file="secret") + "create_users = true\n"
    with capture_logs() as logs:
        async with (
            serving(database["weft_api"], tmp_path, entry) as live,
            AsyncClient(base_url=live.url, verify=NO_TLS) as client,
        ):
            done = await end_of(client, openid)
            (tmp_path / "secret").unlink()

    assert done.status_code == 200, done.text
    assert openid.secret not in str(logs) + done.text
    with pytest.raises(InvalidSetting, match="secret"):
        read_issuers(tmp_path / "issuers.toml")
