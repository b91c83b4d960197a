"""Sessions of browsers over HTTP, attacked."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from httpx import AsyncClient
from structlog.testing import capture_logs

from api.live import NO_TLS, LiveApi, add
from contexts import async_fixture_of
from weft.settings import Settings

FAR_S = 3600.0


pytestmark = pytest.mark.usefixtures("remember_long")


browser = async_fixture_of(
    lambda api: AsyncClient(
        base_url=api.url,
        headers={"origin": api.url, "user-agent": "Firefox\t" + "x" * 300},
        timeout=60,
        verify=NO_TLS,
    )
)
"""A browser that keeps cookies, and has no token."""


async def _code(http: AsyncClient, **headers: str) -> str:
    answer = await http.post("/v1/login-links", json={}, headers=headers)
    assert answer.status_code == 200, answer.text
    (code,) = parse_qs(urlsplit(answer.json()["url"]).query)["code"]
    return str(code)


async def _log_in(browser: AsyncClient, http: AsyncClient, **headers: str) -> str:
    """Log in as the holder of a token; return what pages send along."""
    answer = await browser.post("/login", data={"code": await _code(http, **headers)})
    assert answer.status_code == 303, answer.text
    return str((await browser.get("/v1/whoami")).json()["csrf_token"])


def _refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def test_link_logs_a_browser_in_once(
    browser: AsyncClient, http: AsyncClient, api: LiveApi
) -> None:
    with capture_logs() as logs:
        answer = await http.post("/v1/login-links", json={})
        url = answer.json()["url"]
        page = await browser.get(url)
        again = await browser.get(url)  # as a mailer does that looks at links
        code = url.partition("code=")[2]
        won = await browser.post("/login", data={"code": code})
        async with AsyncClient(
            base_url=api.url, headers={"origin": api.url}, verify=NO_TLS
        ) as thief:
            replayed = await thief.post("/login", data={"code": code})
            thief_sees = await thief.get("/v1/whoami")
        who = (await browser.get("/v1/whoami")).json()
    session = browser.cookies["weft_session"]

    assert url.startswith(f"{api.url}/login?code=")
    assert code in page.text == again.text
    assert (won.status_code, won.headers["location"]) == (303, "/ui")
    cookie = next(one for one in won.headers.get_list("set-cookie") if session in one)
    assert cookie == f"weft_session={session}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax"
    assert _refused(replayed) == (401, "API.LOGIN_LINK_REFUSED")
    assert thief_sees.status_code == 401
    assert who["user"] == (await http.get("/v1/whoami")).json()["user"]
    assert (await browser.get("/v1/batches")).status_code == 200
    assert who["user"] in (await browser.get("/login")).text
    assert code not in str(logs)
    assert session not in str(logs)


async def test_token_logs_a_browser_in_and_is_told_to_nobody(
    browser: AsyncClient, http: AsyncClient, api: LiveApi
) -> None:
    made = await http.post("/v1/tokens", json={"name": "narrow", "scopes": ["read"]})
    token = made.json()["token"]
    foreign = await browser.post(
        "/login", data={"token": token}, headers={"origin": "https://other.example"}
    )
    in_address = [await browser.get("/login", params={"token": token})]
    in_address.append(await browser.post("/login", params={"token": token}))
    with capture_logs() as logs:
        won = await browser.post("/login", data={"token": f" {token} "})
        wrong = await browser.post(
            "/login", data={"token": "wrong"}, headers={"accept": "text/html"}
        )
    may = await browser.get("/v1/batches")
    who = (await browser.get("/v1/whoami")).json()
    may_not = await browser.post(
        "/v1/batches", json={"jobs": [{}]}, headers={"x-weft-csrf": who["csrf_token"]}
    )
    async with api.client() as stranger:
        form = (await stranger.get("/login")).text

    assert _refused(foreign)[0] == 403
    assert {one.status_code for one in in_address} == {400}
    assert (won.status_code, won.headers["location"]) == (303, "/ui")
    assert token not in won.text + str(won.headers) + str(logs)
    assert (wrong.status_code, wrong.headers["content-type"][:9]) == (401, "text/html")
    assert "The token is unknown" in wrong.text
    assert (may.status_code, may_not.status_code) == (200, 403)
    assert 'type="password" name="token"' in form


async def test_session_is_a_new_one_whatever_cookie_was_there(
    browser: AsyncClient, http: AsyncClient, api: LiveApi
) -> None:
    """Else whoever has planted a cookie would be logged in too (fixation)."""
    browser.cookies.set("weft_session", "planted")
    code = await _code(http)
    won = await browser.post("/login", data={"code": code})

    given = won.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert given not in ("planted", code)
    async with AsyncClient(base_url=api.url, verify=NO_TLS) as thief:
        for planted in ("planted", code):
            thief.cookies.set("weft_session", planted)
            assert (await thief.get("/v1/whoami")).status_code == 401
        # Nor is a session a token, or a token a session.
        as_token = await thief.get("/v1/whoami", headers={"authorization": f"Bearer {given}"})
        assert as_token.status_code == 401
        thief.cookies.set("weft_session", http.headers["authorization"].partition(" ")[2])
        assert (await thief.get("/v1/whoami")).status_code == 401


async def test_login_form_of_another_site_is_refused(
    browser: AsyncClient, http: AsyncClient
) -> None:
    """It would log somebody in as the attacker; the code stays good for its own page."""
    code = await _code(http)
    for origin in ("https://evil.example", "null", ""):
        answer = await browser.post("/login", data={"code": code}, headers={"origin": origin})
        assert _refused(answer) == (403, "API.FOREIGN_REQUEST")
    assert not browser.cookies
    assert (await browser.post("/login", data={"code": code})).status_code == 303


async def test_each_change_needs_origin_and_token_of_the_page(
    browser: AsyncClient, http: AsyncClient, api: LiveApi
) -> None:
    csrf = await _log_in(browser, http)
    good = {"origin": api.url, "x-csrf-token": csrf}
    assert len(csrf) == 64
    changes: tuple[dict[str, str], ...] = (
        {"x-csrf-token": ""},
        {"x-csrf-token": "0" * 64},
        {"origin": ""},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": api.url + ".evil.example"},
        {"origin": api.url.replace("http:", "https:")},
    )
    for change in changes:
        for method, path in (
            ("POST", "/v1/batches"),
            ("PUT", "/v1/queues"),
            ("PATCH", "/v1/batches/1"),
            ("DELETE", "/v1/sessions"),
            ("POST", "/v1/login-links"),
        ):
            answer = await browser.request(method, path, json={}, headers={**good, **change})
            assert _refused(answer) == (403, "API.FOREIGN_REQUEST"), (change, method)
    made = await browser.post("/v1/batches", json={"jobs": [{}]}, headers=good)
    assert made.status_code == 201
    # A token is sent by programs only: it needs neither.
    header = {"authorization": http.headers["authorization"], "origin": "https://evil.example"}
    assert (await browser.post("/v1/batches", json={"jobs": [{}]}, headers=header)).is_success


async def test_form_that_logs_out_needs_both_too(browser: AsyncClient, http: AsyncClient) -> None:
    csrf = await _log_in(browser, http)
    evil = {"origin": "https://evil.example"}
    for data, headers in (({}, {}), ({"csrf_token": "0" * 64}, {}), ({"csrf_token": csrf}, evil)):
        answer = await browser.post("/logout", data=data, headers=headers)
        assert _refused(answer) == (403, "API.FOREIGN_REQUEST")
    session = browser.cookies["weft_session"]
    # A form of another site sends no cookie, and must not remove it.
    foreign = await http.post("/logout", data={}, headers=evil)
    assert _refused(foreign) == (403, "API.FOREIGN_REQUEST")
    assert "set-cookie" not in foreign.headers
    out = await browser.post("/logout", data={"csrf_token": csrf})

    assert (out.status_code, dict(browser.cookies)) == (200, {})
    browser.cookies.set("weft_session", session)
    await _until(401, str(browser.base_url), browser)  # the notice is on its way
    assert (await browser.post("/logout", data={})).status_code == 200


async def _until(status: int, url: str, browser: AsyncClient) -> None:
    """Wait until another api, which is told by a notice, answers so."""
    session = {"cookie": f"weft_session={browser.cookies['weft_session']}"}
    async with asyncio.timeout(60), AsyncClient(base_url=url, verify=NO_TLS) as client:
        while (await client.get("/v1/batches", headers=session)).status_code != status:
            await asyncio.sleep(0)


async def test_sessions_end_everywhere_and_by_number(
    browser: AsyncClient, http: AsyncClient, api: LiveApi, second: LiveApi
) -> None:
    await _log_in(browser, http)
    await _until(200, second.url, browser)
    (one,) = (await http.get("/v1/sessions")).json()["items"]
    ended = await http.delete(f"/v1/sessions/{one['session_id']}")
    await _until(401, second.url, browser)
    await _until(401, api.url, browser)
    gone = await http.delete(f"/v1/sessions/{one['session_id']}")
    revoked = await http.delete(f"/v1/tokens/{one['session_id']}")

    assert (one["browser"], one["address"]) == (("Firefox" + "x" * 300)[:256], "127.0.0.1")
    assert ended.json() == {"n_ended": 1}
    assert _refused(gone) == (404, "API.SESSION_NOT_FOUND")
    assert _refused(revoked) == (404, "API.TOKEN_NOT_FOUND")

    await _log_in(browser, http)
    pending = await _code(http)
    assert (await http.delete("/v1/sessions")).json() == {"n_ended": 1}
    await _until(401, second.url, browser)
    assert (await browser.post("/login", data={"code": pending})).status_code == 401


async def test_every_api_is_told_of_all_that_ends_with_a_token(
    browser: AsyncClient, http: AsyncClient, second: LiveApi
) -> None:
    made = (await http.post("/v1/tokens", json={"name": "a"})).json()
    csrf = await _log_in(browser, http, authorization=f"Bearer {made['token']}")
    page = {"x-csrf-token": csrf}
    token = (await browser.post("/v1/tokens", json={"name": "b"}, headers=page)).json()["token"]
    await _until(200, second.url, browser)
    async with second.client(authorization=f"Bearer {token}") as elsewhere:
        assert (await elsewhere.get("/v1/whoami")).status_code == 200
        await http.delete(f"/v1/tokens/{made['token_id']}")
        await _until(401, second.url, browser)
        async with asyncio.timeout(60):
            while (await elsewhere.get("/v1/whoami")).status_code != 401:
                await asyncio.sleep(0)


async def test_session_has_the_rights_of_its_user_as_they_are_now(
    browser: AsyncClient, http: AsyncClient, api: LiveApi
) -> None:
    token = (await http.post("/v1/users", json={"name": "bob"})).json()["token"]
    csrf = await _log_in(browser, http, authorization=f"Bearer {token}")
    page = {"x-csrf-token": csrf}
    made = await browser.post("/v1/batches", json={"jobs": [{}]}, headers=page)
    assert made.status_code == 201
    await http.patch("/v1/users/bob", json={"role": "viewer"})
    async with asyncio.timeout(60):
        while (await browser.get("/v1/whoami")).json()["role"] != "viewer":
            await asyncio.sleep(0)
    lesser = await browser.post("/v1/batches", json={"jobs": [{}]}, headers=page)
    assert _refused(lesser) == (403, "API.RIGHT_MISSING")
    code = await _code(http, authorization=f"Bearer {token}")
    await http.delete("/v1/users/bob")
    await _until(401, api.url, browser)
    # Neither the session nor the link survives the removal, also if the user comes back.
    await http.post("/v1/users", json={"name": "bob"})
    assert (await browser.get("/v1/whoami")).status_code == 401
    assert (await browser.post("/login", data={"code": code})).status_code == 401


async def test_session_of_a_token_with_scopes_has_these(
    browser: AsyncClient, http: AsyncClient
) -> None:
    made = (await http.post("/v1/tokens", json={"name": "a", "scopes": ["read"]})).json()
    csrf = await _log_in(browser, http, authorization=f"Bearer {made['token']}")
    page = {"x-csrf-token": csrf}
    number = (await browser.get("/v1/whoami")).json()["token_id"]

    for path in ("/v1/sessions", "/v1/sessions/1"):
        assert _refused(await browser.delete(path, headers=page)) == (403, "API.RIGHT_MISSING")
    refused = await browser.post("/v1/batches", json={"jobs": [{}]}, headers=page)
    assert _refused(refused) == (403, "API.RIGHT_MISSING")
    assert (await browser.delete(f"/v1/sessions/{number}", headers=page)).status_code == 200


async def test_page_of_a_link_leads_nowhere_else_and_shows_no_markup(browser: AsyncClient) -> None:
    for path in ("/login?next=//evil.example", "/login?code=a&next=https://evil.example"):
        assert _refused(await browser.get(path)) == (400, "API.INVALID_PARAMETER")
    page = await browser.get("/login", params={"code": "'><script>alert(1)</script>"})
    assert "<script>" not in page.text
    assert page.headers["referrer-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    for code in ("", "x" * 101, "nobody"):
        answer = await browser.post("/login", data={"code": code})
        assert _refused(answer) == (401, "API.LOGIN_LINK_REFUSED")
        assert "location" not in answer.headers
    many = "&".join(f"a{n}=b" for n in range(9))
    assert _refused(await browser.post("/login", content=many))[0] == 400


async def test_proxy_that_speaks_tls_makes_cookie_and_link_secure(
    database: dict[str, str], api: LiveApi, tmp_path: Path
) -> None:
    del api  # which has made the user
    live = LiveApi(
        database["weft_api"], Settings(home=tmp_path / "b", trusted_proxies="127.0.0.1")
    )
    proxy = {
        "x-forwarded-proto": "https",
        "x-forwarded-host": "weft.example",
        "x-forwarded-for": "198.51.100.9",
    }
    async with live, live.client(**proxy) as http:
        url = (await http.post("/v1/login-links", json={})).json()["url"]
        headers = {"origin": "https://weft.example", "authorization": ""}
        won = await http.post("/login", data={"code": url.partition("=")[2]}, headers=headers)
        (one,) = (await http.get("/v1/sessions")).json()["items"]

    assert url.startswith("https://weft.example/login?code=")
    cookie = won.headers.get_list("set-cookie")[0]
    assert cookie.startswith("__Host-weft_session=")
    assert cookie.endswith("; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure")
    assert one["address"] == "198.51.100.9"


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
            base_url=api.url,
            timeout=60,
            verify=NO_TLS,
            headers={"origin": api.url, "user-agent": f"{name} <b>1</b>"},
        )
        for name in ("Firefox", "Chrome", "Links")
    ]
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
