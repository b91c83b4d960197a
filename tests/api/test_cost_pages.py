"""Costs and shares page by page: over HTTP, and as a browser shows them."""

import base64
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from api.live import Dsns, LiveApi, LiveWorker
from contexts import connected

pytestmark = pytest.mark.slow
N = 120
TODAY = datetime.now(UTC).date()


FILL = """
INSERT INTO weft.tenant_user (tenant_id, name) SELECT {tenant}, 'u' || n
  FROM generate_series(1, {n}) n;
INSERT INTO weft.billing_project (tenant_id, name) SELECT {tenant}, 'p' || n
  FROM generate_series(1, {n}) n;
INSERT INTO weft.usage_sum
  SELECT tenant_id, project_id, 0, (now() AT TIME ZONE 'UTC')::date, 1, project_id, 1, 0, 0
  FROM weft.billing_project WHERE name LIKE 'p%';
INSERT INTO weft.usage_sum SELECT tenant_id, 0, 0, usage_on, 1, sum(cpu), sum(memory), 0, 0
  FROM weft.usage_sum GROUP BY 1, 4;
INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, running_m, n_ready,
  ready_m, load) SELECT {pool}, user_id, tenant_id, true, 1, 1000, 1, 1000, user_id
  FROM weft.tenant_user WHERE name LIKE 'u%';
"""
CROWD = """
INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, running_m)
  SELECT {pool}, {first} + n, {tenant}, false, 1, 1 FROM generate_series(1, 1900) n;
"""
OTHERS = """
UPDATE weft.user_share SET tenant_id = {tenant} + 1, active = true, load = 60
  WHERE user_id > {first};
"""
FIRST_OTHER = 1_000_000


@pytest.fixture
async def dsn(http: AsyncClient, worker: LiveWorker, database: Dsns) -> str:
    """Let many projects use something today, and many users run jobs."""
    await http.post("/v1/batches", json={"jobs": [{}]})
    await worker.claim()
    await _execute(database["admin"], FILL)
    return database["admin"]


async def _execute(dsn: str, text: str) -> None:
    async with connected(dsn) as connection:
        tenant, pool = await connection.fetchrow("SELECT tenant_id, pool_id FROM weft.queue")
        await connection.execute(text.format(tenant=tenant, pool=pool, n=N, first=FIRST_OTHER))


def _made_up(cursor: str, last: int) -> str:
    """Return a cursor of the same list that no page returned."""
    kind, _, _ = base64.urlsafe_b64decode(cursor).decode().partition(":")
    return base64.urlsafe_b64encode(f"{kind}:{last}".encode()).decode()


@pytest.mark.usefixtures("dsn")
async def test_report_has_pages(http: AsyncClient) -> None:
    ask = {"by": "project", "first_day": str(TODAY - timedelta(days=2)), "limit": "100"}
    whole = (await http.get("/v1/billing/report", params={"by": "project"})).json()
    first = (await http.get("/v1/billing/report", params=ask)).json()
    rest = (await http.get("/v1/billing/report", params={**ask, "cursor": first["cursor"]})).json()
    for more in ({"by": "user"}, {"first_day": str(TODAY)}, {"limit": "0"}, {"limit": ""}):
        wrong = {**ask, "cursor": first["cursor"], **more}
        assert (await http.get("/v1/billing/report", params=wrong)).status_code == 400
    days = {**ask, "by": "day", "limit": "1"}
    cursor = (await http.get("/v1/billing/report", params=days)).json()["cursor"]
    for last, status in ((2**31 - 1, 200), (2**31, 400)):
        beyond = {**days, "cursor": _made_up(cursor, last)}
        assert (await http.get("/v1/billing/report", params=beyond)).status_code == status

    assert (len(first["items"]), len(rest["items"])) == (100, N - 100)
    assert rest["cursor"] is whole["cursor"] is None
    names = [one["name"] for one in first["items"] + rest["items"]]
    assert names == [f"p{n}" for n in range(1, N + 1)]
    assert sorted(names) == [one["name"] for one in whole["items"]]


async def _two_pages(browser: AsyncClient, path: str) -> tuple[str, str]:
    """Return the first page of a list, and the one to which it leads."""
    first = await browser.get(path)
    (following,) = re.findall(rf'href="({path}\?[^"]*cursor=[^"]*?)(?:#[a-z]+)?"', first.text)
    second = await browser.get(following.replace("&amp;", "&"))
    assert "From the first" in second.text
    return first.text, second.text


@pytest.mark.usefixtures("dsn")
async def test_page_of_costs_shows_the_last_30_days_page_by_page(browser: AsyncClient) -> None:
    first, second = await _two_pages(browser, "/ui/costs")
    one_day = await browser.get("/ui/costs", params={"last_day": "2026-01-31", "by": "day"})
    long = await browser.get("/ui/costs", params={"first_day": "2020-01-01"})
    home = await browser.get("/ui")

    assert f'name="first_day" value="{TODAY - timedelta(days=29)}"' in first
    assert f'name="last_day" value="{TODAY}"' in first
    assert ">All pages<" in first
    assert "More projects" in first
    assert f"<bdi>p{N}</bdi></td>" not in first
    assert f"<bdi>p{N}</bdi></td>" in second
    assert f'name="first_day" value="{date(2026, 1, 2)}"' in one_day.text
    assert "Nothing was used from 2026-01-02 to 2026-01-31" in one_day.text
    assert long.status_code == 422
    assert "too many days" in long.text
    assert "report.csv" in long.text
    assert "These are the dearest of the first 100" in home.text
    assert "all of it cost" in home.text


async def test_costs_name_their_currency_and_draw_parts_of_all(
    browser: AsyncClient, api: LiveApi
) -> None:
    """A single row has no bar: it would always be full."""
    before = (await browser.get("/ui/costs")).text
    object.__setattr__(api.settings, "currency", "EUR<")
    after = (await browser.get("/ui/costs")).text

    assert "setting <code>currency</code>" in before
    assert "Cost, EUR&lt;" in after
    assert "<code>currency</code>" not in after
    assert 'class="of-attribute"' in after
    assert "<svg" not in after


async def _walk(http: AsyncClient) -> tuple[list[Any], list[int]]:
    """Return all shares, page by page, and the users with whom pages end."""
    found: list[Any] = []
    last: list[int] = []
    cursor = None
    while True:
        ask = {"limit": "50"} | ({} if cursor is None else {"cursor": cursor})
        page = (await http.get("/v1/pools/default/shares", params=ask)).json()
        found += page["items"]
        cursor = page["cursor"]
        if cursor is None:
            return found, last
        last.append(int(base64.urlsafe_b64decode(cursor).decode().rpartition("/")[2]))


async def test_page_of_a_pool_shows_shares_page_by_page(
    browser: AsyncClient, http: AsyncClient, dsn: str
) -> None:
    first, second = await _two_pages(browser, "/ui/pools/default")
    found, _ = await _walk(http)
    for wrong in ("x", "dToxLzA=", "dTpuYW4vMQ=="):
        answer = await http.get("/v1/pools/default/shares", params={"cursor": wrong})
        assert answer.status_code == 400

    assert "20 more have work here" in first
    assert f"<bdi>u{N}</bdi>" not in first
    assert f"<bdi>u{N}</bdi>" in second
    assert [one["user"] for one in found] == [f"u{n}" for n in range(1, N + 1)]
    assert {one["fair_cpu"] for one in found} == {1.0}
    await _execute(dsn, CROWD)
    many = await http.get("/v1/pools/default/shares", params={"limit": "1"})
    assert many.json()["items"][0]["fair_cpu"] is None
    await _execute(dsn, OTHERS)
    found, last = await _walk(http)
    assert [one["user"] for one in found] == [f"u{n}" for n in range(1, N + 1)]
    assert {one["fair_cpu"] for one in found} == {None}
    assert (len(last), max(last) < FIRST_OTHER) == (2, True)
    assert "More than 1,000 users" in (await browser.get("/ui/pools/default")).text
