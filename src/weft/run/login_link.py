"""A link that logs a browser in to the api of a home."""

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from weft.client.http.address import Endpoint, endpoint_of
from weft.client.http.session import HttpSession
from weft.core.errors import WeftError
from weft.run.home import Home

PATIENCE_S: Final = 5.0


@dataclass(frozen=True)
class _Here:
    """Finds the server of a home, wherever variables and files may point."""

    home: Home

    def locate(self) -> Endpoint:
        """Return the server."""
        return endpoint_of(self.home.path)


async def login_link(home: Home) -> str | None:
    """Return a link that logs a browser in as the owner of the home; None: the api makes none."""
    session = HttpSession(_Here(home), patience_s=PATIENCE_S)
    try:
        async with asyncio.timeout(PATIENCE_S):
            answer = await session.request("POST", "/v1/login-links", body=b"{}")
    except (WeftError, TimeoutError):
        return None
    finally:
        session.close()
    return str(json.loads(answer)["url"])
