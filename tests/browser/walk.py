"""Every page that links lead to, one of each kind."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from playwright.async_api import Page

from browser.window import Window

_NUMBER = re.compile(r"/\d+")
_KNOWN_KINDS = ("/ui/costs/",)
"""What stands behind these is a name."""


def kind_of(path: str) -> str:
    """Return what all pages like this one have in common."""
    for prefix in _KNOWN_KINDS:
        if path.startswith(prefix):
            return prefix
    return _NUMBER.sub("/N", path)


async def every_page(window: Window, *more: str) -> AsyncIterator[tuple[str, Page]]:
    """Open one page of each kind that can be reached from the first; `more`: begin with these."""
    waiting, known = [*more, "/ui"], set[str]()
    while waiting:
        path = waiting.pop(0)
        if kind_of(path) in known:
            continue
        known.add(kind_of(path))
        page = await window.open(path)
        links = await page.locator("a[href^='/ui']:not([download])").evaluate_all(
            "links => links.map(one => one.getAttribute('href'))"
        )
        waiting.extend(urlsplit(link).path for link in links)
        yield path, page
