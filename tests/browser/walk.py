"""Every page of the application, one of each kind."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from playwright.async_api import Page

from browser.window import Window
from weft.api.app import ROUTES
from weft.api.html.assets import PREFIX
from weft.ports.extension import parts

_NOT_PAGES = {
    f"{PREFIX}/{{digest}}/{{name}}",
    "/ui/events",
    "/ui/batches/{b}/jobs/{j}/log/live",
    "/ui/batches/{b}/dag.svg",
    "/ui/batches/{b}/groups/{g}/tree",
    "/ui/batch-actions/count",
}
"""Parts of pages, streams and pictures."""


def _page_routes() -> dict[str, re.Pattern[str]]:
    """Return what the paths of each kind of page look like."""
    found = {}
    of_extensions = [route for part in parts("api") for route in part.routes]
    for handler in [*ROUTES, *of_extensions]:
        if handler.method == "GET":
            for route in handler.path_formats:
                if route.startswith("/ui") and route not in _NOT_PAGES:
                    found[route] = re.compile(re.sub(r"\{\w+}", "[^/]+", route))
    return found


async def every_page(window: Window, *more: str) -> AsyncIterator[tuple[str, Page]]:
    """Open one page of each kind: those to which links lead from the first one, or from `more`;
    there must be no others.
    """
    routes = _page_routes()
    left, others = set(routes), set[str]()
    waiting = [*more, "/ui"]
    while waiting:
        path = waiting.pop(0)
        kinds = {one for one, pattern in routes.items() if pattern.fullmatch(path.split("?")[0])}
        if path in others or (kinds and not kinds & left):
            continue
        left -= kinds
        if not kinds:
            others.add(path)
        page = await window.open(path)
        links = await page.locator("a[href^='/ui']:not([download])").evaluate_all(
            "links => links.map(one => one.getAttribute('href'))"
        )
        waiting.extend(urlsplit(link).path for link in links)
        yield path, page
    assert not left, f"no link leads to {sorted(left)}"
