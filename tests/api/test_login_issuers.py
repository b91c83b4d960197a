"""Logins at issuers: entries in the file, requests, and logouts."""

import asyncio
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from httpx import AsyncClient

from api.live import NO_TLS, LiveApi, make_user, trail
from api.openid import CLIENT, Provider, entry_of
from api.others_providers import ADA, JAVA, PYTHON, OthersProvider, others_provider
from api.test_logins import CALLBACK, api, browser, changed, come_back, refused, serving
from weft.api.web_tokens.bearers import Bearer, IssuerAway
from weft.api.web_tokens.issuer_document import IssuerDocument
from weft.api.web_tokens.issuers import Issuer, read_issuers
from weft.api.web_tokens.providers import RETRY_S
from weft.api.web_tokens.providers import Provider as Asked
from weft.net.failures import Late
from weft.ports.shared_room import SharedRoom
from weft.settings import Settings
from weft.settings.declare import InvalidSetting


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"client_secret_file": "a", "client_secret_env": "B"}, "only one of"),
        ({"client_secret_env": "WEFT_NO_SUCH_VARIABLE"}, "empty or malformed"),
        ({"issuer": "http://login.example"}, "begins with https"),
        ({"client_id": "", "client_secret_env": "B"}, "client_id"),
    ],
)
def test_entry_with_a_mistake(
    tmp_path: Path, openid: Provider, fields: dict[str, str], why: str
) -> None:
    (tmp_path / "issuers.toml").write_text(entry_of(openid, **fields))

    with pytest.raises(InvalidSetting, match=why):
        read_issuers(tmp_path / "issuers.toml")


def test_secret_is_not_in_what_is_printed_of_an_entry(
    tmp_path: Path, openid: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLIENT_SECRET", "swordfish")
    (tmp_path / "issuers.toml").write_text(entry_of(openid, client_secret_env="CLIENT_SECRET"))
    (issuer,) = read_issuers(tmp_path / "issuers.toml")

    assert issuer.client_secret == "swordfish"
    assert "swordfish" not in repr(issuer)


class _Nobody:
    async def verify_login(self, token: str, issuer: IssuerDocument, nonce: str | None) -> Bearer:
        raise NotImplementedError


def asked(openid: Provider, now: list[float]) -> Asked:
    document = IssuerDocument(
        tenant="local", issuer=openid.url, audience="weft", pem="x", client_id=CLIENT
    )
    return Asked(Issuer(document, Path()), _Nobody(), SharedRoom(1), clock=lambda: now[0])


async def test_nobody_waits_for_an_issuer_that_others_have_waited_for(
    openid: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs for longer than it is left alone."""
    now = [0.0]

    async def hang(_: str) -> bytes:
        now[0] += RETRY_S + 1
        raise Late

    monkeypatch.setattr("weft.api.web_tokens.providers.fetch", hang)
    one = asked(openid, now)
    came = await asyncio.gather(*(one.begin_device() for _ in range(5)), return_exceptions=True)

    assert list(map(type, came)) == [IssuerAway] * 5
    assert now == [RETRY_S + 1]


async def test_description_counts_for_a_while_when_the_issuer_is_away(openid: Provider) -> None:
    """It is asked again after some seconds, however many people come."""
    now = [0.0]
    one = asked(openid, now)
    ask = {"redirect_uri": "x", "state": "s", "nonce": "n", "challenge": "c"}
    openid.sent["/.well-known/openid-configuration"] = (500, {}, b"")
    with pytest.raises(IssuerAway):
        await one.authorization_url(**ask)
    openid.sent.clear()
    with pytest.raises(IssuerAway):
        await one.authorization_url(**ask)
    now[0] = 6
    url = await one.authorization_url(**ask)
    openid.sent["/.well-known/openid-configuration"] = (500, {}, b"")
    now[0] = 3600

    assert await one.authorization_url(**ask) == url
    now[0] = 3607
    with pytest.raises(IssuerAway):
        await one.authorization_url(**ask)


__all__ = ["api", "browser"]


async def test_trail_tells_whom_the_issuer_has_named(
    browser: AsyncClient, api: LiveApi, openid: Provider, database: dict[str, str]
) -> None:
    """The trail tells whom the issuer has named, and of which tenant; a guess is of nobody."""
    openid.claims = {"email": "eve@example.org"}
    back = await come_back(browser)
    await browser.get(back)
    openid.claims = {"email": "mallory@example.org", "exp": 1}
    await browser.get(await come_back(browser))
    await browser.get(changed(await come_back(browser), code="guessed"))
    await browser.get(changed(back, state="0" * 64))
    openid.claims = {"email": "eve@example.org", "aud": "weft-api"}
    bearer = {"authorization": f"Bearer {openid.id_token(None)}"}
    assert (await browser.get("/v1/whoami", headers=bearer)).status_code == 401
    async with api.client() as admin:
        ours = await trail(admin, database)
        all_ = await trail(admin, database, "?all_tenants=true")

    assert [(one["user"], one["action"], one["path"]) for one in ours if one["refused"]] == [
        ("eve@example.org", "finish_login", CALLBACK),
        ("mallory@example.org", "finish_login", CALLBACK),
        (None, "finish_login", CALLBACK),
        ("eve@example.org", "authenticate", "/v1/whoami"),
    ]
    others = [one for one in all_ if one not in ours]
    assert [(one["tenant"], one["user"], one["refused"]) for one in others] == [
        (None, None, "API.LOGIN_REFUSED")
    ]
    for text in (*openid.tokens, dict(parse_qsl(urlsplit(back).query))["code"], "guessed"):
        assert text not in str(all_)


@pytest.mark.parametrize("leads_back", [False, True])
async def test_browser_is_led_to_the_issuer_to_log_out_there_too(
    database: dict[str, str], tmp_path: Path, openid: Provider, *, leads_back: bool
) -> None:
    """By a link, once; where weft's own address comes in is the operator's word."""
    await make_user(database["admin"])
    entry = entry_of(openid) + "create_users = true\n" + "leads_back = true\n" * leads_back
    async with (
        serving(database["weft_api"], tmp_path, entry) as live,
        AsyncClient(base_url=live.url, headers={"origin": live.url}, verify=NO_TLS) as browser,
        AsyncClient(verify=NO_TLS) as elsewhere,
    ):
        assert (await browser.get(await come_back(browser))).status_code == 303
        who = (await browser.get("/v1/whoami")).json()
        form = {"csrf_token": who["csrf_token"]}
        page = await browser.post("/logout", data=form)
        (link,) = re.findall(r'<a href="([^"]*)">Log out at your issuer', page.text)
        url = html.unescape(link)
        again = await browser.post("/logout", data=form)
        strange = await browser.post("/logout", headers={"cookie": "weft_issuer=" + "0" * 16})
        after = await browser.get("/v1/whoami")
        issuer = await elsewhere.get(url)

    back = {"post_logout_redirect_uri": f"{live.url}/login"} if leads_back else {}
    assert url.startswith(f"{openid.url}/logout?ui=1&")
    assert dict(parse_qsl(urlsplit(url).query)) == {"ui": "1", "client_id": CLIENT, **back}
    assert issuer.headers.get("location") == back.get("post_logout_redirect_uri")
    assert "weft_issuer" not in browser.cookies
    assert after.status_code == 401
    for other in (again, strange):
        assert (other.status_code, "at your issuer" in other.text) == (200, False)


async def test_logout_where_the_issuer_has_no_page_for_it(
    browser: AsyncClient, api: LiveApi, openid: Provider
) -> None:
    openid.description = {"end_session_endpoint": None}
    assert (await browser.get(await come_back(browser))).status_code == 303
    who = (await browser.get("/v1/whoami")).json()
    form = {"csrf_token": who["csrf_token"]}
    page = await browser.post("/logout", data=form, headers={"origin": api.url})

    assert (page.status_code, "at your issuer" in page.text) == (200, False)


async def test_issuer_whose_page_of_logouts_is_no_safe_address(
    browser: AsyncClient, openid: Provider
) -> None:
    openid.description = {"end_session_endpoint": "javascript:alert(1)"}
    answer = await browser.get("/login/oidc/start")

    assert refused(answer) == (503, "API.ISSUER_NOT_ANSWERING")


async def test_looking_at_a_link_does_not_use_it_up(browser: AsyncClient, api: LiveApi) -> None:
    """Scanners of mail ask for its head first, with whatever cookies they were given."""
    back = await come_back(browser)
    looked = [await browser.request(method, back) for method in ("HEAD", "OPTIONS")]
    async with api.client() as admin:
        link = (await admin.post("/v1/login-links", json={})).json()["url"]
    async with AsyncClient() as other:
        seen = [await other.head(link), await other.head(link), await other.get(link)]
        code = dict(parse_qsl(urlsplit(link).query))["code"]
        opened = await other.post(
            f"{api.url}/login", data={"code": code}, headers={"origin": api.url}
        )

    assert [(one.status_code, one.headers["allow"]) for one in looked] == [
        (405, "GET, OPTIONS"),
        (204, "GET, OPTIONS"),
    ]
    assert looked[0].content == b""
    assert (await browser.get(back)).status_code == 303
    assert [one.status_code for one in (*seen, opened)] == [200, 200, 200, 303]


pytestmark = pytest.mark.heavy
WEFT = Path(sys.executable).with_name("weft")
ADDRESS = re.compile(r"^(https?://\S+)$", re.MULTILINE)
DEADLINE_S = 60.0
Visit = Callable[[str], Awaitable[None]]


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Terminal:
    """Runs commands for one server, with a home of its own."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self._environ = {**os.environ, "WEFT_URL": url, "WEFT_HOME": str(home)}
        for name in ("WEFT_TOKEN", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            self._environ.pop(name, None)

    async def run(self, *words: str, visit: Visit | None = None) -> Ended:
        """Run a command; `visit` is called with the address that it prints."""
        process = await asyncio.create_subprocess_exec(
            WEFT, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environ
        )
        assert process.stderr is not None
        said = ""
        try:
            async with asyncio.timeout(DEADLINE_S):
                while visit is not None and (line := await process.stderr.readline()):
                    said += line.decode()
                    if found := ADDRESS.search(said):
                        await visit(found[1])
                        break
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode is not None
        return Ended(process.returncode, out.decode(), said + err.decode())


@pytest.fixture
async def terminal(
    request: pytest.FixtureRequest, database: dict[str, str], tmp_path: Path
) -> AsyncIterator[Terminal]:
    """Give a terminal, and a server with the issuers that a test names as parameter."""
    await make_user(database["admin"])
    file = tmp_path / "issuers.toml"
    file.write_text(request.getfixturevalue("entries"))
    settings = Settings(home=tmp_path / "api", issuers_file=file)
    async with LiveApi(database["weft_api"], settings) as live:
        yield Terminal(live.url, tmp_path / "home")


@pytest.fixture(scope="module", params=[PYTHON, JAVA])
def others(request: pytest.FixtureRequest) -> Iterator[OthersProvider]:
    """Give a provider that others wrote."""
    with others_provider(request.param) as one:
        yield one


@pytest.fixture
def entries(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the entry of an issuer: ours, unless the test asks for one of others."""
    if "others" not in request.fixturenames:
        return entry_of(request.getfixturevalue("openid")) + "create_users = true\n"
    monkeypatch.setenv("CLIENT_SECRET", "any")
    one: OthersProvider = request.getfixturevalue("others")
    return one.entry()


async def _log_in_with_others(others: OthersProvider, url: str) -> None:
    async with httpx.AsyncClient(verify=NO_TLS) as browser:
        page = await browser.post(url, data=dict(others.login))
        assert page.status_code == 302, page.text
        await browser.get(page.headers["location"])


async def _log_in_with_ours(url: str) -> None:
    async with httpx.AsyncClient(follow_redirects=True, verify=NO_TLS) as browser:
        assert (await browser.get(url)).status_code == 200


async def _token_works(terminal: Terminal) -> None:
    """Commands use the token, and logging out revokes it."""
    who = json.loads((await terminal.run("whoami", "--json")).out)
    out = await terminal.run("logout")
    after = await terminal.run("whoami")

    assert (who["user"], who["tenant"]) == (ADA, "local")
    assert (out.code, after.code) == (0, 4)
    assert "the token of `weft login` is revoked" in out.err
    assert "API.UNAUTHENTICATED" in (await terminal.run("whoami", "--json")).err


async def test_browser_logs_out_at_an_issuer_of_others(
    others: OthersProvider, terminal: Terminal
) -> None:
    """By the link on the page; an issuer may ask whether one means it."""
    headers = {"origin": terminal.url}
    async with (
        httpx.AsyncClient(base_url=terminal.url, headers=headers, verify=NO_TLS) as browser,
        httpx.AsyncClient(verify=NO_TLS) as elsewhere,
    ):
        start = await browser.get("/login/oidc/start")
        page = await elsewhere.post(start.headers["location"], data=dict(others.login))
        assert (await browser.get(page.headers["location"])).status_code == 303
        who = (await browser.get("/v1/whoami")).json()
        out = await browser.post("/logout", data={"csrf_token": who["csrf_token"]})
        (link,) = re.findall(r'<a href="([^"]*)">Log out at your issuer', out.text)
        asked = await elsewhere.get(html.unescape(link))
        after = await browser.get("/v1/whoami")

    assert link.startswith(f"{others.issuer}{others.logout_path}?client_id={CLIENT}")
    assert (asked.status_code, after.status_code) == (200, 401)
    assert ("<form" in asked.text) == others.asks_at_logout


async def test_login_at_an_issuer_of_others(others: OthersProvider, terminal: Terminal) -> None:
    done = await terminal.run(
        "login", "--no-browser", "--json", visit=partial(_log_in_with_others, others)
    )

    assert done.code == 0, done.err
    shown = json.loads(done.out)
    assert (shown["user"], shown["url"]) == (ADA, terminal.url)
    assert "token" not in shown
    await _token_works(terminal)


async def test_browser_logs_in_at_an_issuer_of_others(
    others: OthersProvider, terminal: Terminal
) -> None:
    async with httpx.AsyncClient(base_url=terminal.url, verify=NO_TLS) as browser:
        start = await browser.get("/login/oidc/start")
        async with httpx.AsyncClient(verify=NO_TLS) as elsewhere:
            back = await elsewhere.post(start.headers["location"], data=dict(others.login))
        won = await browser.get(back.headers["location"])
        cookies = dict(browser.cookies)
        replayed = await browser.get(
            back.headers["location"], headers={"cookie": start.headers["set-cookie"].split(";")[0]}
        )
        who = (await browser.get("/v1/whoami")).json()

    assert (won.status_code, list(cookies)) == (303, ["weft_session", "weft_issuer"])
    assert who["user"] == ADA
    assert replayed.status_code == 401
    detail = replayed.json()["detail"]
    assert ("invalid_grant" in detail) != others.takes_codes_twice, detail


async def test_second_login_revokes_the_first(terminal: Terminal) -> None:
    """So nobody runs out of tokens by logging in each morning."""
    first = await terminal.run("login", "--no-browser", "--json", visit=_log_in_with_ours)
    second = await terminal.run("login", "--no-browser", visit=_log_in_with_ours)
    listed = json.loads((await terminal.run("token", "ls", "--json")).out)

    assert (first.code, second.code) == (0, 0), second.err
    assert f"you are logged in as {ADA} of tenant local" in second.err
    assert json.loads(first.out)["token_id"] not in [one["token_id"] for one in listed]
    assert len(listed) == 1
    await _token_works(terminal)


async def test_login_with_a_code_where_there_is_no_browser(
    openid: Provider, terminal: Terminal
) -> None:
    done = await terminal.run("login")
    openid.device_answers = ["access_denied"]
    denied = await terminal.run("login", "--device")

    assert done.code == 0, done.err
    assert f"open {openid.url}/device-page" in " ".join(done.err.split())
    assert "WDJB-MJHT" in done.err
    assert denied.code == 4
    assert "access_denied" in denied.err
    await _token_works(terminal)


async def test_login_that_the_issuer_refuses_keeps_nothing(
    openid: Provider, terminal: Terminal, tmp_path: Path
) -> None:
    openid.claims = {"email": "eve@example.org", "aud": CLIENT, "exp": 1}
    done = await terminal.run("login", "--no-browser", visit=_log_in_with_ours)

    assert done.code == 4
    assert "expired" in done.err
    assert not (tmp_path / "home" / "logins").exists()
