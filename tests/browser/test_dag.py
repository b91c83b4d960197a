"""The picture of dependencies in a real browser: it opens group by group, and becomes larger and
smaller, without a mouse as well.
"""

from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from browser.window import Window

pytestmark = pytest.mark.heavy
N_NODES = 1000
GROUPS: dict[str, Any] = {
    "groups": [{"path": "/load"}, {"path": "/load/north"}, {"path": "/join"}],
    "jobs": [
        {"name": "fetch", "command": ["true"], "group": "/load"},
        *(
            {
                "name": f"part-{n}",
                "command": ["true"],
                "group": "/load/north",
                "parents": ["fetch"],
            }
            for n in range(3)
        ),
        {"name": "last", "command": ["true"], "group": "/join", "parents": ["part-0"]},
    ],
}


async def _submit(http: httpx.AsyncClient, document: dict[str, Any]) -> str:
    answer = await http.post("/v1/batches", json=document)
    assert answer.status_code == 201, answer.text
    return f"/ui/batches/{answer.json()['id']}"


async def _nodes(page: Page) -> list[str]:
    found: list[str] = await page.locator(".drawing svg a").evaluate_all(
        "all => all.map(one => one.getAttribute('href').split('/').pop())"
    )
    return found


async def _follow(page: Page, href: str) -> None:
    """Open a node with the keyboard."""
    node = page.locator(f".drawing svg a[href$='{href}']")
    await node.focus()
    async with page.expect_navigation():
        await page.keyboard.press("Enter")


async def test_picture_opens_group_by_group(window: Window, http: httpx.AsyncClient) -> None:
    """A page holds the nodes of its level alone, and `back` leads out again."""
    path = await _submit(http, GROUPS)
    page = await window.open(f"{path}/dag")
    assert await _nodes(page) == ["dag?group=g1", "dag?group=g3"]
    await _follow(page, "?group=g1")
    assert await _nodes(page) == ["dag?group=g2", "dag?group=g1&level=jobs"]
    await _follow(page, "?group=g2")
    assert await _nodes(page) == ["2", "3", "4"]
    await _follow(page, "/jobs/3")
    assert page.url.endswith(f"{path}/jobs/3")
    for _ in range(2):
        await page.go_back()
    assert await _nodes(page) == ["dag?group=g2", "dag?group=g1&level=jobs"]
    assert window.faults == []


async def test_picture_of_a_thousand_nodes_is_zoomed_with_keys_and_keeps_its_size(
    window: Window, http: httpx.AsyncClient
) -> None:
    jobs = [
        {"name": f"n{n}", "command": ["true"], "parents": [n // 2] if n > 1 else []}
        for n in range(1, N_NODES + 2)
    ]
    path = await _submit(http, {"jobs": jobs})
    page = await window.open_live(f"{path}/dag?level=jobs&apart=true")
    assert len(await _nodes(page)) == N_NODES
    assert await page.get_by_role("link", name="more", exact=True).count() == 1
    svg, drawing = page.locator(".drawing svg"), page.locator(".drawing")

    async def width() -> float:
        return float(await svg.get_attribute("width") or 0)

    whole = await width()
    own = await svg.evaluate("one => one.viewBox.baseVal.width")
    assert whole < own
    await drawing.focus()
    await page.keyboard.press("1")
    assert await width() == own
    await page.keyboard.press("+")
    assert await width() == pytest.approx(1.5 * own)
    await page.keyboard.press("-")
    await page.keyboard.press("-")
    assert await width() == pytest.approx(own / 1.5)
    await page.get_by_role("button", name="The whole picture").press("Enter")
    assert await width() == whole
    assert await drawing.evaluate("one => one.scrollWidth <= one.clientWidth")

    # A change of the batch reads the page again, which keeps what the reader chose.
    await svg.evaluate("one => one.dataset.old = 'yes'")
    await http.patch(f"/v1/batches/{path.rpartition('/')[2]}", json={"name": "renamed"})
    await expect(page.get_by_role("heading", name="renamed")).to_be_visible()
    assert await page.locator(".drawing svg[data-old]").count() == 0
    assert await width() == whole
    assert window.faults == []
