"""Visits in a browser: begun and ended by a form, told on each page, and without a form that would
change something.
"""

import asyncio
import re

import httpx

from api.live import DEADLINE_S, EventReader, LiveApi, LiveWorker, add, logged_in
from api.problems import code_of
from api.test_tenants import create
from weft.core.ends.conditions import Ask

FORM = re.compile(r'<form [^>]*method="post" action="([^"]+)"')
COOKIE = "weft_visit"
TOLD = "You look into tenant <b><bdi>acme</bdi></b>."
ALLOWED = {"/logout", "/ui/visit", "/ui/queues/test#test"}
"""What forms of a visit lead to."""


async def press(browser: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    """Send a form with the token of the page."""
    page = await browser.get("/ui")
    token = re.search(r'name="csrf_token" value="([0-9a-f]+)"', page.text)
    assert token is not None, page.text
    return await browser.post(path, data={"csrf_token": token[1], **fields})


async def filled(http: httpx.AsyncClient, worker: LiveWorker) -> tuple[dict[str, str], list[str]]:
    """Make a tenant with all that pages have buttons for; return a header, and the pages."""
    ann = await create(http, "acme")
    jobs = [{"command": ["true"], "name": "theirs", "timeout_s": 60} for _ in range(4)]
    made = await http.post("/v1/batches", json={"name": "theirs", "jobs": jobs}, headers=ann)
    batch = made.json()["id"]
    running, failed, blocked = await worker.claim_and_start(3)
    await worker.end([failed], exit_code=1)
    await worker.block([blocked], Ask("quota", "tcp", {"host": "quota.example", "port": "1"}))
    held = {"action": "hold", "batches": [batch]}
    operation = (await http.post("/v1/batch-actions", json=held, headers=ann)).json()["id"]
    (condition,) = (await http.get("/v1/conditions", headers=ann)).json()["items"]
    paths = [
        "/ui",
        "/ui/batches",
        "/ui/batches?q=all",
        f"/ui/batches/{batch}",
        *(f"/ui/batches/{batch}/jobs/{one.job_id}" for one in (running, failed, blocked)),
        f"/ui/batches/{batch}/groups/0",
        "/ui/incidents",
        "/ui/conditions",
        "/ui/queues",
        f"/ui/conditions/{condition['condition_id']}",
        "/ui/workers",
        "/ui/pools",
        "/ui/pools/default",
        "/ui/costs",
        f"/ui/operations/{operation}",
        "/ui/operations",
    ]
    return ann, paths


async def test_pages_of_a_visit_say_so_and_offer_no_change(
    api: LiveApi, http: httpx.AsyncClient, browser: httpx.AsyncClient, worker: LiveWorker
) -> None:
    ann, paths = await filled(http, worker)
    await http.post("/v1/batches", json={"name": "at home", "jobs": [{}]})
    begun = await press(browser, "/ui/visit", tenant="ACME")
    seen = {path: (await browser.get(path)).text for path in paths}
    forms = {path: set(FORM.findall(text)) for path, text in seen.items()}
    async with logged_in(api, http, ann) as hers:
        usual = [set(FORM.findall((await hers.get(path)).text)) for path in paths]

    assert (begun.status_code, begun.headers["location"]) == (303, "/ui")
    assert {path for path, text in seen.items() if TOLD not in text or "at home" in text} == set()
    assert all("/ui/visit" in one for one in forms.values())
    assert set().union(*forms.values()) == ALLOWED
    assert len(set().union(*usual)) > 12
    assert "theirs" in seen["/ui/batches"]
    assert "/ui/system" not in seen["/ui"]
    assert 'data-user="tester"' in seen["/ui"]


async def test_pages_of_a_visit_offer_no_download(
    api: LiveApi, http: httpx.AsyncClient, browser: httpx.AsyncClient, worker: LiveWorker
) -> None:
    """Those of files come from `/v1`, where a browser is at home: another tenant's costs."""
    ann = await create(http, "acme")
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]}, headers=ann)
    (job,) = await worker.claim_and_start()
    worker.write(job, (1, b"hello\n"))
    await worker.end([job], output=(6, 0))
    page = f"/ui/batches/{made.json()['id']}/jobs/1"
    paths = [page, f"{page}/log", "/ui/costs?project=nowhere"]
    await press(browser, "/ui/visit", tenant="acme")
    offered = {path: 'href="/v1' in (await browser.get(path)).text for path in paths}
    async with logged_in(api, http, ann) as hers:
        usual = {path: 'href="/v1' in (await hers.get(path)).text for path in paths}

    assert offered == dict.fromkeys(paths, False)
    assert usual == dict.fromkeys(paths, True)


async def test_visit_of_a_browser_begins_and_ends_with_a_form(
    http: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await create(http, "acme")
    system = await browser.get("/ui/system")
    foreign = await browser.post("/ui/visit", data={"tenant": "acme"})
    missing = await press(browser, "/ui/visit", tenant="nowhere")
    begun = await press(browser, "/ui/visit", tenant="acme")
    visited = await browser.get("/ui")
    of_api = (await browser.get("/v1/whoami")).json()
    refused = await press(browser, "/ui/saved-queries", name="x", q="all")
    of_site = await browser.get("/ui/system")
    other = await press(browser, "/ui/visit", tenant="local")
    at_home = await browser.get("/ui")
    await press(browser, "/ui/visit", tenant="acme")
    ended = await press(browser, "/ui/visit", tenant="")

    assert '<option value="acme">' in system.text
    assert (foreign.status_code, code_of(foreign)) == (403, "API.FOREIGN_REQUEST")
    assert (missing.status_code, code_of(missing)) == (404, "API.TENANT_NOT_FOUND")
    cookie = begun.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=acme; Path=/; Max-Age=")
    assert cookie.endswith("; HttpOnly; SameSite=Lax")
    assert TOLD in visited.text
    assert (of_api["tenant"], of_api["user"]) == ("local", "tester")
    assert (refused.status_code, code_of(refused)) == (403, "API.NOT_IN_VISIT")
    assert (of_site.status_code, code_of(of_site)) == (403, "API.NOT_IN_VISIT")
    assert other.status_code == ended.status_code == 303
    assert "You look into" not in at_home.text
    assert f"{COOKIE}=; Path=/; Max-Age=0" in ended.headers["set-cookie"]
    assert COOKIE not in browser.cookies


async def test_logout_ends_the_visit(http: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await create(http, "acme")
    await press(browser, "/ui/visit", tenant="acme")
    before = COOKIE in browser.cookies
    await press(browser, "/logout")

    assert before
    assert COOKIE not in browser.cookies


async def test_login_begins_no_visit(http: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    """A session that has expired leaves the cookie of its visit."""
    await create(http, "acme")
    await press(browser, "/ui/visit", tenant="acme")
    before = COOKIE in browser.cookies
    del browser.cookies["weft_session"]
    link = await http.post("/v1/login-links", json={})
    code = {"code": link.json()["url"].partition("code=")[2]}
    won = await browser.post("/login", data=code)

    assert before
    assert won.status_code == 303
    assert COOKIE not in browser.cookies
    assert TOLD not in (await browser.get("/ui")).text


async def test_cookie_counts_for_nothing_where_it_opens_nothing(
    api: LiveApi, http: httpx.AsyncClient
) -> None:
    """Else whoever has lost the role would be shut out until it is forgotten."""
    ann = await create(http, "acme")
    root = await add(http, "root", role="admin")
    async with logged_in(api, http, root) as browser:
        await press(browser, "/ui/visit", tenant="acme")
        told = [TOLD in (await browser.get("/ui")).text]
        lowered = await http.patch("/v1/users/root", json={"role": "user"})
        async with asyncio.timeout(DEADLINE_S):
            while "<bdi>root</bdi></a><span>, user" not in (page := await browser.get("/ui")).text:
                await asyncio.sleep(0)
        told.append(TOLD in page.text)
    async with logged_in(api, http, ann) as hers:
        hers.cookies.set(COOKIE, "local")
        theirs = await hers.get("/ui")

    assert lowered.status_code == 200
    assert told == [True, False]
    assert theirs.status_code == 200
    assert "You look into" not in theirs.text


async def test_pages_of_a_visit_are_kept_live_by_its_events(
    http: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    ann = await create(http, "acme")
    made = await http.post("/v1/batches", json={"jobs": [{}]}, headers=ann)
    await press(browser, "/ui/visit", tenant="acme")
    async with browser.stream("GET", f"/ui/events?batch={made.json()['id']}") as stream:
        reader = EventReader(stream)
        await http.post(f"/v1/batches/{made.json()['id']}/hold", json={}, headers=ann)
        _, _, data = await reader.next()

    assert "batch.held" in data
