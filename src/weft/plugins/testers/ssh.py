"""The tester `ssh`: passed when a server of SSH greets; nobody logs in."""

from collections.abc import Mapping
from typing import Final

from weft.core.ends.conditions import Tested
from weft.plugins.testers.connect import connect, reason_of
from weft.ports.tester import StillBlocked, TesterSite

_GREETING: Final = b"SSH-"
_LINE_BYTES_MAX: Final = 255


class SshTester:
    """Reads the first line that the server sends."""

    parameters = ("host",)
    optional = ("port",)

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        host, port = parameters["host"], parameters.get("port", "22")
        with connect(host, port, site) as connection, connection.makefile("rb") as file:
            try:
                line = file.readline(_LINE_BYTES_MAX)
            except OSError as error:
                raise StillBlocked(f"{host}:{port}: {reason_of(error)}") from error
        if not line.startswith(_GREETING):
            raise StillBlocked(f"{host}:{port} does not greet as a server of SSH")
        return Tested(passed=True, message=f"{host}:{port} answers")
