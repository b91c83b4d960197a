"""The tester `ssh`: passed when a server of SSH greets; nobody logs in."""

from collections.abc import Mapping
from typing import Final

from weft.core.ends.conditions import Tested
from weft.plugins.testers.connect import greeted
from weft.ports.tester import StillBlocked, TesterSite

_GREETING: Final = b"SSH-"


class SshTester:
    """Reads how the server begins."""

    parameters = ("host",)
    optional = ("port",)

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        host, port = parameters["host"], parameters.get("port", "22")
        if greeted(host, port, site, len(_GREETING)) != _GREETING:
            raise StillBlocked(f"{host}:{port} does not greet as a server of SSH")
        return Tested(passed=True, message=f"{host}:{port} answers")
