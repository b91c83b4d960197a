"""The tester `http`: passed when a GET of a URL is answered with a status below 400.

Redirections are not followed, and the body is not read.
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Final

from weft.core.deliveries.callback_url import CallbackTarget, parse_callback_url
from weft.core.ends.conditions import Tested
from weft.net.failures import NetFailure, NotConnected
from weft.plugins.testers.connect import SETTING, http_of
from weft.ports.tester import StillBlocked, TesterSite

_BAD: Final = 400
_FIELDS: Final = (("Accept-Encoding", "identity"), ("User-Agent", "weft"))


class HttpTester:
    """Sends one request without a login."""

    parameters = ("url",)
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        try:
            target = parse_callback_url(parameters["url"])
        except ValueError as error:
            raise StillBlocked(f"the parameter url: {error}") from error
        shown = target.authority
        try:
            status = asyncio.run(_status(target, site))
        except NetFailure as failure:
            if isinstance(failure, NotConnected) and not isinstance(failure.why, ssl.SSLError):
                shown = f"{target.host}:{target.port}"
            raise StillBlocked(failure.told(target.host, shown, SETTING)) from failure
        return Tested(passed=status < _BAD, message=f"{shown} answers with {status}")


async def _status(target: CallbackTarget, site: TesterSite) -> int:
    async with http_of(site).asked("GET", target, _FIELDS) as exchange:
        return (await exchange.head()).status
