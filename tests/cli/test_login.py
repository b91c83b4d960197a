"""`weft login`: the port to which a browser comes, the pace of polls, the token that is kept."""

import asyncio
import os
import signal
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from weft.cli.app import run_command
from weft.cli.login import flows
from weft.cli.login.flows import (
    HEAD_BYTES_MAX,
    Brought,
    LoginNotFinished,
    Loopback,
    log_in_elsewhere,
    log_in_here,
)
from weft.cli.login.keeping import forget_login, keep_login
from weft.client.http.address import Locator, login_file
from weft.client.http.api_routes import ApiRoutes
from weft.client.http.calls import Document
from weft.core.errors import IssuerNotAnswering, LoginRefused

ASKED: Document = {"tenant": None, "issuer": None}
URL = "https://weft.example:443"


async def test_browser_brings_the_code_once() -> None:
    """Others who find the port learn nothing, and do not end the login."""
    async with Loopback("the-state") as one, httpx.AsyncClient() as browser:
        for path, query in (
            ("/callback", {"code": "evil", "state": "guessed"}),
            ("/callback", {"code": "evil"}),
            ("/callback", {"state": "the-state"}),
            ("/favicon.ico", {}),
            ("/other", {"code": "evil", "state": "the-state"}),
        ):
            url = one.redirect_uri.replace("/callback", path)
            assert (await browser.get(url, params=query)).status_code == 404
        good = {"code": "good", "state": "the-state", "iss": "i", "session_state": "x"}
        assert (await browser.post(one.redirect_uri, params=good)).status_code == 404
        page = await browser.get(one.redirect_uri, params=good)
        brought = await one.wait(20)
        again = await browser.get(one.redirect_uri, params={**good, "code": "second"})

    assert one.redirect_uri.startswith("http://127.0.0.1:")
    assert (page.status_code, again.status_code) == (200, 404)
    assert "good" not in page.text
    assert brought == Brought("good", None, None, "i")


@pytest.mark.parametrize(
    "sent", [b"\r\n\r\n", b"\xff" * 99 + b"\r\n\r\n", b"x" * 3 * HEAD_BYTES_MAX]
)
async def test_whatever_comes_to_the_port(sent: bytes) -> None:
    async with Loopback("s") as one:
        port = int(one.redirect_uri.rpartition(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        await reader.read()
        writer.close()
        async with httpx.AsyncClient() as browser:
            await browser.get(one.redirect_uri, params={"state": "s", "code": "c"})
        assert (await one.wait(20)).code == "c"


async def test_who_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "HEAD_S", 0.05)
    async with Loopback("s") as one:
        port = int(one.redirect_uri.rpartition(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()


class _Server:
    """Answers as the api does; `polls` are the answers of the device endpoint."""

    def __init__(self, *polls: object) -> None:
        self.asked: dict[str, Any] = {}
        self.polls = list(polls)
        self.url = "https://login.example/authorize"

    async def begin_login(self, **document: object) -> Document:
        self.asked = document
        return {"issuer": "https://login.example", "url": self.url}

    async def end_login(self, **document: object) -> Document:
        return document

    async def begin_device_login(self, **_: object) -> Document:
        return {
            "issuer": "i",
            "device_code": "d",
            "user_code": "u",
            "verification_uri": "v",
            "expires_in_s": 60,
            "interval_s": 5,
        }

    async def poll_device_login(self, **_: object) -> Document:
        found = self.polls.pop(0)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, dict)
        return found


async def _log_in(**brought: str) -> Document:
    """Log in with a browser that brings this."""
    server = _Server()
    visits = []

    async def visit() -> None:
        async with httpx.AsyncClient() as browser:
            query = {"state": server.asked["state"], **brought}
            await browser.get(server.asked["redirect_uri"], params=query)

    def show(_: str) -> None:
        visits.append(asyncio.create_task(visit()))

    return await log_in_here(server, ASKED, "weft login", show, within_s=20)


async def test_code_is_handed_to_the_server_with_its_verifier() -> None:
    done = await _log_in(code="c", iss="https://login.example")

    assert (done["code"], done["iss"]) == ("c", "https://login.example")
    assert len(done["code_verifier"]) == 64


@pytest.mark.parametrize(
    ("brought", "why"),
    [
        ({"error": "access_denied", "error_description": "no"}, "issuer says access_denied: no"),
        ({"code": "c", "iss": "https://evil.example"}, "another issuer"),
    ],
)
async def test_answer_that_lets_nobody_in(brought: dict[str, str], why: str) -> None:
    with pytest.raises(LoginRefused) as refused:
        await _log_in(**brought)

    assert why in refused.value.detail


async def test_nobody_comes_in_time() -> None:
    with pytest.raises(LoginNotFinished) as ended:
        await log_in_here(_Server(), ASKED, "n", lambda _: None, within_s=0)

    assert ended.value.code == "CLI.LOGIN_NOT_FINISHED"


async def test_page_that_is_none_is_not_opened() -> None:
    server = _Server()
    server.url = "javascript:alert(1)"
    with pytest.raises(LoginRefused):
        await log_in_here(server, ASKED, "n", pytest.fail, within_s=0)


WAIT: Document = {"is_too_fast": False, "login": None}


@pytest.mark.parametrize(
    ("polls", "waits"),
    [
        ([WAIT, {"login": {"user": "ada"}}], [5, 5]),
        ([{**WAIT, "is_too_fast": True}, WAIT, {"login": {"user": "ada"}}], [5, 10, 10]),
        ([IssuerNotAnswering("x"), {"login": {"user": "ada"}}], [5, 10]),
    ],
    ids=["interval", "slow_down", "away"],
)
async def test_polls_keep_their_pace(polls: list[object], waits: list[float]) -> None:
    """That of the issuer, slower by 5 s when it says so (RFC 8628, 3.5)."""
    slept: list[float] = []

    async def sleep(wait_s: float) -> None:
        slept.append(wait_s)

    done = await log_in_elsewhere(
        _Server(*polls), ASKED, "n", lambda _: None, sleep, lambda: sum(slept)
    )

    assert (done["user"], slept) == ("ada", waits)


async def test_code_that_nobody_types_in_ends() -> None:
    slept: list[float] = []

    async def sleep(wait_s: float) -> None:
        slept.append(wait_s)

    with pytest.raises(LoginNotFinished):
        await log_in_elsewhere(
            _Server(*[WAIT] * 99), ASKED, "n", lambda _: None, sleep, lambda: sum(slept)
        )
    assert sum(slept) < 60


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("WEFT_URL", "WEFT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WEFT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_login_counts_for_its_server_only(home: Path) -> None:
    """It is kept where nobody else may read it; a token that is named counts more."""
    keep_login(home, URL, {"token": "weft_x", "token_id": 7})
    file = login_file(home, URL)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert Locator(url="https://weft.example/").locate().token == "weft_x"
    for other in (
        "http://weft.example",
        "https://weft.example:444",
        "https://weft.example/x",
        "https://evil.example",
    ):
        assert Locator(url=other).locate().token is None
    assert Locator(url=URL, token="named").locate().token == "named"
    for broken in (
        b"",
        b"{}",
        b"[" * 100_000,
        b'{"url": "x", "token": "\xc3\xa9", "token_id": 1}',
    ):
        file.write_bytes(broken)
        assert Locator(url=URL).locate().token is None
    forget_login(home, URL)
    assert not file.exists()


def test_login_needs_a_server(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["login", "--json"]) == 4
    told = capsys.readouterr().err
    assert "CLI.LOGIN_NOT_NEEDED" in told
    assert "WEFT_URL" in told
    assert not home.exists()


def test_interrupt_ends_the_login(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is kept, and the port is closed."""
    ports = []

    async def begin(self: object, **document: Any) -> Document:  # noqa: ANN401
        ports.append(document["redirect_uri"])
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        return {"issuer": "i", "url": "https://login.example/?" + urlencode({"a": "b"})}

    monkeypatch.setattr(ApiRoutes, "begin_login", begin)
    monkeypatch.setenv("WEFT_URL", URL)
    ended = run_command(["login", "--no-browser"])

    assert ended == 130
    assert "https://login.example/?a=b" in capsys.readouterr().err
    assert not (home / "logins").exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(ports[0])
