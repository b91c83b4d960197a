"""What stands in a body never holds up others, whoever sends it."""

import pytest
from httpx import AsyncClient

from api.live import LiveApi
from weft.api.http.browsers import FORM
from weft.api.http.decoding import JSON, MSGPACK
from weft.api.http.requests import STRANGER_BYTES_MAX
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


@pytest.mark.parametrize("media", [JSON, MSGPACK, FORM])
async def test_of_strangers_no_route_reads_a_large_body(api: LiveApi, media: str) -> None:
    """Those without a right ask for no token; all others refuse before they read."""
    stranger = AsyncClient(base_url=api.url, headers={"content-type": media, "origin": api.url})
    async with stranger:
        for route in api.app.router.routes:
            if route.method not in CHANGING:
                continue
            for path in route.path_formats:
                is_open = api.app.rights[f"{route.method} {path}"] is None
                for size in (STRANGER_BYTES_MAX, STRANGER_BYTES_MAX + 1):
                    answer = await stranger.request(route.method, path, content=b"%" * size)
                    is_large = size > STRANGER_BYTES_MAX
                    assert answer.status_code < 500, (path, answer.text)
                    if is_open and route.method == "POST" and path not in UNREAD:
                        assert (answer.status_code in {413, 415}) >= is_large, (path, answer.text)


UNREAD = ("/logout",)
"""Routes for strangers that read no body without a session."""
