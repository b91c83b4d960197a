"""The tester `http`: passed when a GET of a URL is answered with a status below 400.

Redirections are not followed, the body is not read, and proxies are not used.
"""

import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Final

from weft.core.deliveries.callback_url import parse_callback_url
from weft.core.ends.conditions import Tested
from weft.plugins.testers.connect import connect, reason_of
from weft.ports.tester import StillBlocked, TesterSite

_BAD: Final = 400


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
        with connect(target.host, str(target.port), site) as plain:
            try:
                connection = HTTPConnection(target.host, target.port, timeout=site.timeout_s)
                connection.sock = (
                    ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)
                    if target.scheme == "https"
                    else plain
                )
                headers = {"Host": shown, "Connection": "close", "User-Agent": "weft"}
                connection.request("GET", target.path, headers=headers)
                status = connection.getresponse().status
                connection.close()
            except ssl.SSLError as error:
                raise StillBlocked(f"{shown}: {error.reason or 'TLS failed'}") from error
            except OSError as error:
                raise StillBlocked(f"{shown}: {reason_of(error)}") from error
            except HTTPException as error:
                raise StillBlocked(f"{shown}: the answer is not HTTP") from error
        return Tested(passed=status < _BAD, message=f"{shown} answers with {status}")
