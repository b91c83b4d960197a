"""The tester `path`: passed when a path exists, in a directory in which jobs may let us look."""

import os
from collections.abc import Mapping
from pathlib import Path

from weft.core.conditions import Tested
from weft.ports.tester import StillBlocked, TesterSite


class PathTester:
    """Looks at a path on the driver's host. One that hangs, hangs here alone."""

    parameters = ("path",)
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        path = parameters["path"]
        real = Path(os.path.realpath(path))
        roots = [Path(os.path.realpath(root)) for root in site.paths]
        # Also not whether it exists: that is a fact about this host.
        if not os.path.isabs(path) or not any(real.is_relative_to(root) for root in roots):  # noqa: PTH117 (beside realpath)
            raise StillBlocked("the path is in no directory of the setting tester_paths")
        try:
            real.stat()
        except OSError as error:
            raise StillBlocked(f"{path}: {error.strerror}") from error
        return Tested(passed=True, message=f"{path} exists")
