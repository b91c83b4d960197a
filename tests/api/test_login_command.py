"""`weft login` against a server and issuers that run: ours, and one that somebody else wrote."""

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

import httpx
import pytest

from api.live import NO_TLS, LiveApi, make_user
from api.openid import CLIENT, Provider, entry_of
from api.others_providers import ADA, JAVA, PYTHON, OthersProvider, others_provider
from weft.settings import Settings

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
