"""A window of a browser that is logged in, and notes what no page of weft may do."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Request

from api.live import TOKEN, LiveApi

ZONE = "Asia/Kolkata"
"""Half an hour beside all whole hours, so that no time is right by chance."""


class Window:
    """One context of a browser: its cookies, and the page that is open in it."""

    def __init__(self, api: LiveApi, context: BrowserContext, page: Page) -> None:
        self.api = api
        self.context = context
        self.page = page
        self.faults: list[str] = []
        """Errors on the console – also what the Content-Security-Policy has refused –, errors of
        scripts, and requests to another host.
        """
        context.on("request", self._note_request)
        context.on(
            "console", lambda said: self.faults.append(said.text) if said.type == "error" else None
        )
        context.on("weberror", lambda one: self.faults.append(str(one.error)))

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.api.url}/"):
            self.faults.append(f"request to {request.url}")

    async def open(self, path: str) -> Page:
        """Open a page; return when it has all it asks for."""
        await self.page.goto(path, wait_until="load")
        return self.page

    async def is_live(self) -> None:
        """Return when the page follows events."""
        await self.page.locator("#live", has_text="Live").wait_for()

    async def open_live(self, path: str) -> Page:
        """Open a page; return when it follows events."""
        page = await self.open(path)
        await self.is_live()
        return page

    async def log_in(self, token: str = TOKEN) -> None:
        """Log in as a person does: with a link, and the button of its page."""
        async with self.api.client(authorization=f"Bearer {token}") as http:
            answer = await http.post("/v1/login-links", json={})
        await self.open(answer.json()["url"])
        await self.page.get_by_role("button", name="Log in").click()
        await self.page.wait_for_url("**/ui")


@contextlib.asynccontextmanager
async def open_window(
    browser: Browser,
    api: LiveApi,
    **options: Any,  # noqa: ANN401 (as Playwright names them)
) -> AsyncIterator[Window]:
    """Open a window that is not logged in."""
    known = {"base_url": api.url, "timezone_id": ZONE, "locale": "en-GB", **options}
    context = await browser.new_context(**known)
    try:
        yield Window(api, context, await context.new_page())
    finally:
        await context.close()
