"""The tester `path`: passed when a path exists, in a directory in which jobs may let us look."""

from collections.abc import Mapping

from weft.core.ends.conditions import Tested
from weft.plugins.testers.directories import allowed_path
from weft.ports.tester import StillBlocked, TesterSite


class PathTester:
    """Looks at a path on the driver's host. One that hangs, hangs here alone."""

    parameters = ("path",)
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        path = parameters["path"]
        try:
            allowed_path(path, site).stat()
        except OSError as error:
            raise StillBlocked(f"{path}: {error.strerror}") from error
        return Tested(passed=True, message=f"{path} exists")
