"""The tester `tcp`: passed when a connection to host and port can be made."""

from collections.abc import Mapping

from weft.core.ends.conditions import Tested
from weft.plugins.testers.connect import greeted
from weft.ports.tester import TesterSite


class TcpTester:
    """Connects, and hangs up."""

    parameters = ("host", "port")
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Try the addresses that may be reached."""
        host, port = parameters["host"], parameters["port"]
        greeted(host, port, site)
        return Tested(passed=True, message=f"{host}:{port} answers")
