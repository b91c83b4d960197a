"""A link that logs a browser in to the api of a home."""

import asyncio
import json
from contextlib import closing
from typing import Final

from weft.client.http.address import endpoint_of
from weft.client.http.session import HttpSession
from weft.core.errors import WeftError
from weft.run.home import Home

PATIENCE_S: Final = 5.0


async def login_link(home: Home) -> str | None:
    """Return a link that logs a browser in as the owner of the home; None: the api makes none."""
    try:  # wherever variables and files may point
        session = HttpSession(endpoint_of(home.path), patience_s=PATIENCE_S)
        with closing(session):
            async with asyncio.timeout(PATIENCE_S):
                answer = await session.request("POST", "/v1/login-links", body=b"{}")
    except (WeftError, TimeoutError):
        return None
    return str(json.loads(answer)["url"])
