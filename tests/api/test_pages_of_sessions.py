"""The page on which people see in which browsers they are logged in, and end that."""

import asyncio
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from httpx import AsyncClient

from api.live import NO_TLS, LiveApi, add

PAGE = "/ui/sessions"


async def until_logged_out(browser: AsyncClient) -> None:
    """Wait until the api, which is told by a notice, has forgotten a session."""
    async with asyncio.timeout(60):
        while (await browser.get("/ui")).status_code != 401:
            pass


@pytest.fixture
async def browsers(api: LiveApi) -> AsyncIterator[list[AsyncClient]]:
    """Give three browsers that keep cookies."""
    found = [
        AsyncClient(
            base_url=api.url, timeout=60, verify=NO_TLS,
            headers={"origin": api.url, "user-agent": f"{name} <b>1</b>"},
        )
        for name in ("Firefox", "Chrome", "Links")
    ]  # fmt: skip
    yield found
    for one in found:
        await one.aclose()


async def log_in(browser: AsyncClient, http: AsyncClient, headers: dict[str, str]) -> None:
    link = await http.post("/v1/login-links", json={}, headers=headers)
    answer = await browser.post("/login", data={"code": link.json()["url"].partition("=")[2]})
    assert answer.status_code == 303, answer.text


async def press(browser: AsyncClient, path: str) -> httpx.Response:
    """Press a button of the page, with the token that its form has."""
    (token, *_) = re.findall(r'name="csrf_token" value="(\w+)"', (await browser.get("/ui")).text)
    return await browser.post(path, data={"csrf_token": token})


async def test_browsers_are_listed_and_logged_out_one_by_one_and_all_at_once(
    http: AsyncClient, browsers: list[AsyncClient]
) -> None:
    ann = await add(http, "ann")
    bob = await add(http, "bob")
    mine, lost, theirs = browsers
    for browser, headers in ((mine, ann), (lost, ann), (theirs, bob)):
        await log_in(browser, http, headers)
    page = (await mine.get(PAGE)).text
    first, second = [one["session_id"] for one in (await mine.get("/v1/sessions")).json()["items"]]
    (stranger,) = (await theirs.get("/v1/sessions")).json()["items"]
    refused = await press(mine, f"{PAGE}/{stranger['session_id']}/end")
    without_token = await mine.post(f"{PAGE}/{second}/end")
    ended = await press(mine, f"{PAGE}/{second}/end")
    await until_logged_out(lost)
    after = (await mine.get(PAGE)).text
    await log_in(lost, http, ann)
    everywhere = await press(mine, f"{PAGE}/end")

    assert f'href="{PAGE}"' in (await theirs.get("/ui")).text
    assert ("Firefox &lt;b&gt;" in page, "Chrome" in page, "Links" in page) == (True, True, False)
    assert page.count(">this browser<") == 1
    assert f'action="{PAGE}/{first}/end"' in page
    assert (refused.status_code, without_token.status_code) == (404, 403)
    assert (ended.status_code, ended.headers["location"]) == (303, PAGE)
    assert "Chrome" not in after
    assert (everywhere.status_code, everywhere.headers["location"]) == (303, "/login")
    await until_logged_out(mine)
    assert [(await one.get("/ui")).status_code for one in browsers] == [401, 401, 200]


async def test_button_of_this_browser_logs_it_out(
    http: AsyncClient, browsers: list[AsyncClient]
) -> None:
    ann = await add(http, "ann")
    browser = browsers[0]
    await log_in(browser, http, ann)
    (own,) = (await browser.get("/v1/sessions")).json()["items"]
    ended = await press(browser, f"{PAGE}/{own['session_id']}/end")

    assert (ended.status_code, ended.headers["location"]) == (303, "/login")
    await until_logged_out(browser)


async def test_session_with_scopes_sees_no_buttons_that_it_may_not_press(
    http: AsyncClient, browsers: list[AsyncClient]
) -> None:
    """But its own: it may end itself."""
    ann = await add(http, "ann")
    made = await http.post("/v1/tokens", json={"name": "r", "scopes": ["read"]}, headers=ann)
    whole, narrow, _ = browsers
    await log_in(whole, http, ann)
    await log_in(narrow, http, {"authorization": f"Bearer {made.json()['token']}"})
    first, second = [
        one["session_id"] for one in (await whole.get("/v1/sessions")).json()["items"]
    ]
    page = (await narrow.get(PAGE)).text
    refused = [await press(narrow, f"{PAGE}{path}") for path in (f"/{first}/end", "/end")]

    assert re.findall(rf'action="({PAGE}[^"]*)"', page) == [f"{PAGE}/{second}/end"]
    assert [one.status_code for one in refused] == [403, 403]
